# What happens when the machine has no more of something: room on the disk.
. "$srcdir/tests/tap.sh"
slow 'what happens at the limits of the machine'

HOME=$tmp
USER=ann
export HOME USER
cd "$tmp" || exit 99

soon() {
	tries=1200
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# shows FILE TEXT: a saved screen does, however its lines are broken
shows() {
	tr -s ' \n' ' ' <"$1" | grep -qF -- "$2" || { cat "$1"; return 1; }
}

# ---- no room for what an agent says ----

# a log line a time, and the question last
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "{\"type\":\"log\",\"n\":%d,\"text\":\"%060d\"}\n", i, i }' >words
cat >>words <<END
{"type":"request:ask-user","id":"q-1","timestamp":"$(date -u +%Y-%m-%dT%H:%M:%SZ)","payload":{"question":"Which one?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}}
END
talk() {
	rm -f full.txt
	printf '%s' "$1" >keys
	(
		ulimit -S -f 64 # blocks of 512 bytes
		exec "$GAVEL" run --headless --size 100x24 --keys keys --agent dev -- \
			"$FAKE_AGENT" "say-file $tmp/words" stall >out 2>err
	) &
	pid=$!
}
raise() { prlimit --pid "$pid" --fsize=unlimited:unlimited; }

if ! command -v prlimit >/dev/null 2>&1; then
	skip 'a full disk' 'there is no prlimit'
else
	talk '<until:cannot keep its output>:save-screen full.txt<Enter><until:Which one?>:save-screen later.txt<Enter>QQ'
	ok 'a full disk is on the screen' soon [ -s full.txt ]
	ok '... with the folder' shows full.txt "$XDG_STATE_HOME/gavel/captures/"
	ok '... the reason, and that nothing is lost' \
		shows full.txt 'File too large; it waits until there is room, nothing is lost'
	ok 'there is room again' raise
	wait $pid
	is 'and everything goes on' 0 $?
	ok 'the question is asked' shows later.txt 'Which one?'
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	ok 'not a byte is lost, none is there twice' cmp words "$captures/dev.ndjson"

	talk '<until:cannot keep its output>Q<until:leaves now and loses it>Q'
	wait $pid
	is 'who leaves all the same' 0 $?
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	lost=$(($(wc -c <words) - $(wc -c <"$captures/dev.ndjson")))
	ok 'is told how much that costs' \
		grep -q "^gavel: dev: the last $lost bytes of what it wrote are lost: " err
fi

tap_end
