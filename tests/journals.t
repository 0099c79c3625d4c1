# Whose word counts: configuration and state folders that somebody else can write to are refused.
. "$srcdir/tests/tap.sh"
cd "$tmp" || exit 99

log=log.ndjson
cp "$GAVEL_DATADIR/demo.ndjson" $log
replies=$log.replies.ndjson
inbox() { # KIND: the first item of that kind
	"$GAVEL" show inbox --format=json $log | grep "\"kind\":\"$1\"" | sed -n '1s/^{"id":"\([^"]*\)".*/\1/p'
}
finding=$(inbox finding)
escalation=$(inbox escalation)

exit_of() { # CODE COMMAND...
	code=$1
	shift
	"$@" >out 2>err </dev/null
	[ $? = "$code" ] && return
	cat out err
	return 1
}

said() { # WORDS
	grep -qF -- "$1" err || { cat err && return 1; }
}

# ---- places that others can write to ----

# refused NAME SENTENCE: by every command that would obey what is there; nothing is written
refused() {
	while read -r words; do
		# shellcheck disable=SC2086
		ok "$1: $words: exit code 2" exit_of 2 "$GAVEL" $words
		ok "$1: $words: says why" said "$2"
	done <<-END
		decide --deliver $log $finding accept
		show inbox $log
		check $log
		$log --headless
		replay $log --headless
		run --headless -- true
	END
	ok "$1: nothing is sent" [ ! -e $replies ]
}

mkdir -p config/gavel
echo '{ "as": "mallory", "thresholds": { "approve": 0.1, "human": 0.1 } }' >config/gavel/config.json
chmod 666 config/gavel/config.json
refused 'a configuration that others write' "$tmp/config/gavel/config.json: others can write to it; chmod go-w $tmp/config/gavel/config.json"
chmod 664 config/gavel/config.json
ok 'or its group: exit code 2' exit_of 2 "$GAVEL" show inbox $log
mv config/gavel/config.json named.json
ok 'named: exit code 2' exit_of 2 "$GAVEL" show inbox --config=named.json $log
ok 'named: says why' said 'named.json: others can write to it; chmod go-w named.json'
ok 'a device is no such file' exit_of 0 "$GAVEL" show inbox --config=/dev/null $log
chmod go-w named.json
ok 'after chmod it is obeyed' exit_of 0 "$GAVEL" show inbox --config=named.json $log
if [ "$(id -u)" = 0 ]; then
	chown 12345 named.json
	ok "another user's: exit code 2" exit_of 2 "$GAVEL" show inbox --config=named.json $log
	ok "another user's: says why" said 'named.json: belongs to another user'
else
	skip "another user's" 'only root can give a file away'
fi
for words in 'help config' '--version' 'show --help'; do
	# shellcheck disable=SC2086
	ok "$words works all the same" exit_of 0 "$GAVEL" $words
done

mkdir -p -m 755 state/gavel
ok 'a state folder that all can read' exit_of 0 "$GAVEL" decide $log "$escalation" accept
chmod 777 state/gavel
refused 'a state folder that others write' "$tmp/state/gavel: others can write to it; chmod go-w $tmp/state/gavel"
for words in 'journal list' 'journal verify' 'journal repair' purge; do
	# shellcheck disable=SC2086
	ok "a state folder that others write: $words: exit code 2" exit_of 2 "$GAVEL" $words
done
ok 'another one is fine' exit_of 0 "$GAVEL" show inbox --journal=mine $log
chmod 755 state/gavel
ok 'after chmod it is used' exit_of 0 "$GAVEL" journal list
chmod 777 state
ok 'the folder above it is not judged' exit_of 0 "$GAVEL" journal list
chmod 755 state
mkdir given
chmod 775 given
ok '--journal: exit code 2' exit_of 2 "$GAVEL" decide --journal=given $log "$finding" accept
ok '--journal: says why' said 'given: others can write to it; chmod go-w given'
is '--journal: nothing is in it' '' "$(ls given)"
rm -rf given
mkdir -m 700 state/gavel/captures
chmod 777 state/gavel/captures
refused 'captures that others write' "$tmp/state/gavel/captures: others can write to it; chmod go-w $tmp/state/gavel/captures"
ok 'captures that others write: purge: exit code 2' exit_of 2 "$GAVEL" purge
rmdir state/gavel/captures
if [ "$(id -u)" = 0 ]; then
	chown 12345 state/gavel
	ok "another user's state: exit code 2" exit_of 2 "$GAVEL" show inbox $log
	ok "another user's state: says why" said "$tmp/state/gavel: belongs to another user"
	chown 0 state/gavel
else
	skip "another user's state" 'only root can give a folder away'
fi

tap_end
