# Which journal belongs to a log, by path and by identity; and whose word counts: configuration and
# state folders that somebody else can write to are refused.
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

# ---- one file, one journal ----

decided() { # NAME LOG: the finding is decided, and another answer is refused
	ok "$1: it is not open" sh -c '! "$GAVEL" show inbox --format=json "$1" | grep -qF "{\"id\":\"$2\""' sh "$2" "$finding"
	ok "$1: another answer: exit code 1" exit_of 1 "$GAVEL" decide --deliver --reply=$replies --explain=No. "$2" "$finding" reject
	ok "$1: says so" said 'already decided: accepted by ann'
	is "$1: one reply" 1 "$(wc -l <$replies)"
	is "$1: one journal" 1 "$(ls state/gavel/*/journal-000001 | wc -l)"
}

"$GAVEL" decide --as=ann --deliver $log "$finding" accept >/dev/null
is 'its identity is recorded once' 1 "$(grep -c '"state":"OPEN"' state/gavel/*/journal-000001)"
decided 'the same name' $log
ln $log hard.ndjson
decided 'a hard link' hard.ndjson
ln -s $log soft.ndjson
decided 'a symbolic link' soft.ndjson
mkfifo keys
"$GAVEL" $log --headless --keys=keys >/dev/null 2>&1 &
exec 6>keys # gavel has opened it, and with it its journal
ok 'a hard link: locked as well: exit code 3' exit_of 3 "$GAVEL" decide hard.ndjson "$escalation" accept
ok 'a hard link: says by whom' said 'another gavel decides here: process'
echo Q >&6
exec 6>&-
wait
rm hard.ndjson soft.ndjson
mkdir elsewhere
mv $log elsewhere/renamed.ndjson
decided 'renamed' elsewhere/renamed.ndjson
ok 'renamed: something else is decided' exit_of 0 "$GAVEL" decide --as=ann --deliver elsewhere/renamed.ndjson "$escalation" accept
is 'renamed: beside it' 1 "$(wc -l <elsewhere/renamed.ndjson.replies.ndjson)"
is 'renamed: in the same journal' 1 "$(ls state/gavel/*/journal-000001 | wc -l)"
find state -exec touch -d '2 months ago' {} +
"$GAVEL" purge >/dev/null
is 'renamed: purge knows where it is' 1 "$(ls state/gavel/*/journal-000001 | wc -l)"

# another log took its place: by path as ever, and the old one by its identity
cp "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" $log
ok 'rotated: the new one is decided' exit_of 0 "$GAVEL" decide --as=ann --deliver $log "$(inbox escalation)" accept
is 'rotated: it is in the same journal' 1 "$(ls state/gavel/*/journal-000001 | wc -l)"
is 'rotated: what is there' 2 "$(wc -l <$replies)"
ok 'rotated: the old one is still decided' exit_of 1 "$GAVEL" decide --deliver --explain=No. elsewhere/renamed.ndjson "$finding" reject
ok 'rotated: says so' said 'already decided: accepted by ann'
cp "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" other.ndjson
"$GAVEL" decide --as=ann --deliver other.ndjson "$("$GAVEL" show inbox --format=json other.ndjson 2>/dev/null | sed -n '1s/^{"id":"\([^"]*\)".*/\1/p')" accept >/dev/null 2>&1
is 'over another: which has a journal' 2 "$(ls state/gavel/*/journal-000001 | wc -l)"
mv elsewhere/renamed.ndjson other.ndjson
ok 'over another: it is still decided' exit_of 1 "$GAVEL" decide --deliver --explain=No. other.ndjson "$finding" reject
ok 'over another: says so' said 'already decided: accepted by ann'
mv other.ndjson $log
rm -rf $replies other* elsewhere/*
cat state/gavel/*/journal-000001 >open
ok 'its identity is in the journal' grep -q '"file":{"dev":[0-9]*,"ino":[0-9]*,"born":[0-9]*,"head":"[0-9a-f]\{64\}"}' open

# ---- a copy ----

rm -rf state
"$GAVEL" decide --as=ann --deliver $log "$finding" accept >/dev/null
cp $log copy.ndjson
notice="begins like $tmp/$log, where 1 item was decided by ann; see gavel journal list"
ok 'a copy: show' exit_of 0 "$GAVEL" show inbox --format=json copy.ndjson
ok 'a copy: says so' said "gavel: copy.ndjson: $notice"
ok 'a copy: its item is open' grep -qF "{\"id\":\"$finding\"" out
ok 'a copy: nothing is said of the log itself' exit_of 0 "$GAVEL" show inbox $log
is 'a copy: indeed' '' "$(cat err)"
"$GAVEL" decide --as=ann --deliver $log "$escalation" accept >/dev/null
"$GAVEL" decide --as=bob --deliver $log review-PK-3/F-2 accept >/dev/null
ok 'a copy: decide' exit_of 0 "$GAVEL" decide --as=ann copy.ndjson "$finding" accept
ok 'a copy: says what was decided there' said "begins like $tmp/$log, where 3 items were decided by ann and others; see gavel journal list"
is 'a copy: has a journal of its own' 2 "$(ls state/gavel/*/journal-000001 | wc -l)"
ok 'a copy: with a journal of its own' exit_of 0 "$GAVEL" show inbox copy.ndjson
ok 'a copy: it is said again' said "begins like $tmp/$log, where 3 items"
"$GAVEL" copy.ndjson --headless --keys=/dev/null --screen=screen >/dev/null 2>&1
ok 'a copy: the UI says so' grep -q 'begins like ' screen
rm -rf state copy.ndjson* $replies

# ---- journals of 0.1.0 ----

# Without identity, as 0.1.0 wrote it.
downgrade() { # JOURNAL
	hash=0000000000000000000000000000000000000000000000000000000000000000
	sed 's/^[^ ]* //; s/,"file":{[^}]*}//; s/,"decides":\[[^]]*\]//' "$1" >texts
	while IFS= read -r text; do
		hash=$(printf '%s%s' $hash "$text" | sha256sum | cut -c1-64)
		printf '%s %s\n' $hash "$text"
	done <texts >"$1"
}
"$GAVEL" decide --as=ann --deliver $log "$finding" accept >/dev/null
downgrade state/gavel/*/journal-000001
rm -rf state/gavel/by-head
ok 'of 0.1.0: it is right' exit_of 0 "$GAVEL" journal verify
ok 'of 0.1.0: it has no identity' sh -c '! grep -q "\"file\":{" state/gavel/*/journal-000001'
decided 'of 0.1.0' $log
ok 'of 0.1.0: another decision' exit_of 0 "$GAVEL" decide --as=ann --deliver $log "$escalation" accept
mv $log renamed.ndjson
decided_lines=$(wc -l <$replies)
ok 'of 0.1.0: from then on it is found: exit code 1' exit_of 1 "$GAVEL" decide --deliver --reply=$replies --explain=No. renamed.ndjson "$finding" reject
ok 'of 0.1.0: says so' said 'already decided: accepted by ann'
is 'of 0.1.0: nothing is sent' "$decided_lines" "$(wc -l <$replies)"
mv renamed.ndjson $log
rm -rf state $replies

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
