# What happens when the machine has no more of something: room on the disk, memory, stack; what an
# agent leaves behind; and many of one thing.
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

# least OPTION FROM: the first limit with which the program begins at all
least() {
	size=$2
	until (ulimit "$1" "$size" && "$GAVEL" --version) >/dev/null 2>&1; do
		size=$((size + size / 50))
		[ "$size" -lt 1000000 ] || return 1
	done
	enough=0
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
# of gavel, and of the process that holds the agent's pipes; other tests have agents of that name
raise() {
	[ ! -e "/proc/$pid" ] || prlimit --pid "$pid" --fsize=unlimited:unlimited
	for holder in $(pgrep -f "gavel-holder dev 1 .*$tmp"); do
		prlimit --pid "$holder" --fsize=unlimited:unlimited
	done
}
# what the agent said, of all that its capture has
kept() { grep -v '^	' "$captures/dev.ndjson" >kept; cmp words kept; }

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
	ok 'not a byte is lost, none is there twice' kept

	talk '<until:cannot keep its output>Q<until:Q quits>Q'
	wait $pid
	is 'who leaves all the same' 0 $?
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	ok 'is told what waits' grep -q "^gavel: dev: its last output waits for room in $captures: File too large" err
	raise
	ok 'and that is kept when there is room' soon kept
fi

# ---- a process that leaves its agent ----

gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }
ends_with_it() {
	printf '4<until:child >Q' >keys
	"$GAVEL" run --headless --keys keys --agent dev -- "$FAKE_AGENT" "$@" >out 2>err || return 1
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	pid=$(sed -n 's/^child //p' "$captures/dev.ndjson")
	[ -n "$pid" ] && gone "$pid"
}
ok 'a process in a session of its own ends with its agent' ends_with_it fork-away wait-for-line
ok 'also when the agent has ended before' ends_with_it fork-away 'exit 0'

# ---- many of one thing ----

# Seconds of a processor, not of a clock: a busy machine changes nothing. What looks at all findings
# or tasks for each of them takes several times as long as is given.
many() { awk -v shape="$1" -v n="$2" -f "$srcdir/tests/bench/shapes.awk" >many.ndjson; }
in_time() {
	(
		ulimit -t "$seconds"
		exec "$GAVEL" "$@" >out 2>err
	)
	code=$?
	[ $code -le 1 ] || { echo "exit code $code"; cat err; return 1; }
}
# a build with a sanitizer is slower
seconds=4
least -v 2000 || seconds=20

many findings 60000
for view in inbox ledger timeline 'item r-1/f-7' report; do
	ok "60000 findings in one message: show $view" in_time show $view many.ndjson
done
ok '... check' in_time check many.ndjson
printf 'jjjjjjjjjjjjjjjjjjjj' | sed 's/j/j:save-screen s<Enter>/g; s/$/Q/' >keys
ok '... twenty keys' in_time --headless --no-follow --keys keys many.ndjson
many findings 20000 # each is synced to the disk
printf 'M;a<until:20000 in all>Q' >keys
ok '20000 are accepted at once' in_time --headless --no-follow --keys keys many.ndjson
ok '... and sent' in_time decide many.ndjson --deliver
many cycle 150000
for view in timeline messages agents; do
	ok "150000 tasks that depend on each other: show $view" in_time show $view many.ndjson
done
ok '... check' in_time check many.ndjson
many asks 100000
for view in inbox agents messages; do
	ok "100000 permissions that nobody answers: show $view" in_time show $view many.ndjson
done
ok '... check' in_time check many.ndjson

# ---- no memory, no stack ----

cp "$GAVEL_DATADIR/demo.ndjson" demo.ndjson || exit 99
printf '2j3j4j5j6/x<Enter>g<Enter><Esc>Q' >keys
ulimit -c 0

# limited OPTION KILOBYTES WORD...: the exit code, in $code. 0, 1, or 2 with a sentence is well.
limited() {
	rm -rf "$XDG_STATE_HOME" "$XDG_CACHE_HOME"
	limit_option=$1 limit_size=$2
	shift 2
	(
		ulimit "$limit_option" "$limit_size"
		exec "$GAVEL" "$@" >out 2>err </dev/null
	) 2>/dev/null
	code=$?
	case $code in
	0 | 1) return 0 ;;
	2) grep -q '^gavel: .*; ' err && return 0 ;;
	esac
	echo "ulimit $limit_option $limit_size; gavel $*: exit code $code"
	cat err
	return 1
}

# at_every_limit OPTION FROM: with more and more of it, until every command has enough
at_every_limit() {
	size=$2
	short=0
	until [ "$enough" = 4 ]; do
		[ "$size" -lt 1000000 ] || { echo "$size is not enough"; return 1; }
		enough=0
		limited "$1" "$size" show inbox demo.ndjson || return 1
		[ $code != 0 ] || enough=$((enough + 1))
		limited "$1" "$size" check demo.ndjson || return 1
		[ $code = 2 ] || enough=$((enough + 1))
		limited "$1" "$size" decide demo.ndjson review-PK-4 reject --explain=No. --deliver || return 1
		[ $code = 2 ] || enough=$((enough + 1))
		limited "$1" "$size" --headless --no-follow --keys keys demo.ndjson || return 1
		[ $code = 2 ] || enough=$((enough + 1))
		[ $enough = 4 ] || short=$((short + 1))
		size=$((size + size / 50))
	done
	echo "$short limits were too low"
	[ "$short" -gt 3 ]
}

if least -v 2000; then
	ok 'without memory: the sentence and exit code 2, or a result' at_every_limit -v "$size"
else
	skip 'without memory' 'the program does not begin with a limit; it has a sanitizer'
fi
if least -s 50; then
	ok 'without stack: the same' at_every_limit -s "$size"
else
	skip 'without stack' 'the program does not begin with a limit'
fi

tap_end
