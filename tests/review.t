# gavel review: turns of a scripted reviewer, one process each. Every turn looks at what it is told, as a
# real one would; what a real tool has written is played as it was recorded.
. "$srcdir/tests/tap.sh"
slow 'reviews in turns'

streams=$srcdir/tests/fixtures/streams/feedback
cd "$tmp" || exit 99
printf '# Plan\nDark mode.\n' >plan.md

# The wrapper line of a text, and a Response in it: iteration, items, acknowledged ids.
wrap() {
	printf 'say {"type":"text","timestamp":%s,"sessionID":"%s","part":{"type":"text","text":"%s"}}\n' \
		"${3:-1794786742741}" "$1" "$2"
}
quote() {
	sed 's/[\\"]/\\&/g'
}
item() {
	printf '{"id":"%s","aspect":"Scope","description":"%s","recommendation":"Say more."}' "$1" "$2"
}
response() { # iteration, items, acks
	printf '{"protocol_version":"1.2","iteration":%s,"status":"success","feedback":{"confidence":{"level":"high","justification":"j"},"positive_points":[],"areas_for_improvement":[%s],"general_summary":"Fine."}%s}' \
		"$1" "$2" "${3:+,\"applied_feedback_ack\":{\"items\":[$3]}}"
}
ack() {
	printf '{"id":"%s","processing_status":"acknowledged"}' "$1"
}
answer() { # session, iteration, items, acks
	wrap "$1" "$(response "$2" "$3" "${4-}" | quote)"
}

# Reads a script, and begins a review by it from nothing.
script() {
	{
		echo read-input
		echo 'expect {"protocol_version":"1.2","iteration":'
		echo refuse session
		echo "turns $tmp/count"
		cat
	} >reviewer
	rm -rf count state
}
# Plays the keys on standard input; $1: a word for the last screen. Others are options.
review() {
	screen=$1
	shift
	cat >keys
	"$GAVEL" review --artifact plan.md --as ann --headless --keys keys --screen "$screen" \
		--size 120x30 "$@" -- "$FAKE_AGENT" -f reviewer -- run --session '{session}' \
		2>"$screen.err"
	code=$?
	[ $code = 0 ] || sed 's/^/# /' "$screen.err"
	return $code
}
shows() { # screen, text
	grep -q -F -e "$2" "$1" || {
		sed '/^---/,$d' "$1"
		false
	}
}
log() {
	set -- state/gavel/captures/*/*.ndjson
	echo "$1"
}
runs() {
	[ "$(wc -c <count)" -eq "$1" ]
}
states() { # of the journal's records, without how they are called
	sed 's/^[0-9a-f]* {"state":"\([A-Z]*\)".*/\1/' state/gavel/*/journal-* | tr '\n' ' '
}

# ---- two turns and a third ----

script <<END
turn 1
expect-args run
expect "iteration":1,"artifact":{"media_type":"text/markdown","content":"# Plan\\nDark mode.\\n","artifact_ref":"sha256:
refuse applied_feedback
say-file $streams/opencode-tool.ndjson
turn 2
expect-args run --session ses_e1e6140efffeVUrUeaAbXj2e42
expect "iteration":2,"artifact":{"media_type":"text/markdown","content":"# Plan\\nDark mode for the toolbar.\\n"
expect "applied_feedback":{"items":[{"id":"scope-definition-lacks-detail-01","status":"accepted"},{"id":"accessibility-concerns-02","status":"rejected","reason_code":"other","explanation":"too early"}]}
$(answer ses_e1e6140efffeVUrUeaAbXj2e42 2 "$(item performance-impact-03 'Still no budget.')" \
	"$(ack scope-definition-lacks-detail-01),$(ack accessibility-concerns-02)")
turn 3
expect-args run --session ses_e1e6140efffeVUrUeaAbXj2e42
expect "iteration":3
expect "items":[{"id":"performance-impact-03","status":"accepted"}]
$(answer ses_e1e6140efffeVUrUeaAbXj2e42 3 '' "$(ack performance-impact-03)")
END
ok 'the first turn is asked for by the command' review one <<'END'
<until:turn 1 answered>
4
END
ok 'the steps, tools, tokens and the cost are told' shows one 'turn 1 answered in 0:0'
ok 'and added up' shows one '3870 tokens  $0.0055  decide, then $'
ok 'what the reviewer does is shown' shows one 'bash completed: ls -1'
ok 'what was asked is part of the log' shows one 'iteration 1, 0 decisions,'

printf '# Plan\nDark mode for the toolbar.\n' >plan.md
ok 'the same command goes on' review two <<'END'
<until:was answered>
w
:save-screen changes<Enter>
q
a j xtoo early<Enter>
<until:2 of 3 decided>
$
<wait:350>
:save-screen preflight<Enter>
y
<until:1 other item leaves the inbox undecided; y again>
y
<until:turn 2 answered>
3
END
ok 'what changed on the disk is shown' shows changes '+ Dark mode for the toolbar.'
ok 'and against what' shows changes 'plan.md · turn 1 → on the disk'
ok 'the page says what will be run' shows preflight ses_e1e6140efffeVUrUeaAbXj2e42
ok 'and what stays behind' shows preflight '1 other item of this turn is open'
ok 'the ledger has both turns' shows two '#1 ───#2'
ok 'an item that came back' shows two '▲SB'
ok 'deliveries are proven' sh -c 'grep -q ACKED state/gavel/*/journal-000001'
ok 'a third turn; unchanged, accepting asks twice' review three <<'END'
<until:was answered>
a $
<wait:350>
:save-screen sure<Enter>
y
<until:y again>
y
<until:turn 3 answered>
END
ok 'it says why' shows sure 'it is the same as in the last turn; edit it'
ok 'nothing is left' shows three 'nothing is left to decide; $ asks again'
ok 'three processes' runs 3
ok 'nothing is wrong with the log' "$GAVEL" check --strict "$(log)"
is 'everything went out once' 'OPEN INTENT ATTEMPT SENT DRAFT DRAFT INTENT ATTEMPT SENT ACKED DRAFT INTENT ATTEMPT SENT ACKED ' "$(states)"
ok 'the log can be looked at later' sh -c '"$GAVEL" show ledger "$1" >ledger && grep -q "#3" ledger' - "$(log)"
ok 'where it is was told' grep -q "this review is kept in $tmp/state/gavel/captures/plan.md-" three.err

# ---- what can go wrong ----

failed() { # name, script of turn 1, words of the line, kind in the log; more: also try again
	script <<END
turn 1
$2
turn 2
expect "iteration":1
$(answer ses_2 1 '')
END
	ok "$1: is told with what to do" review failed <<END
<until:$3>
<until:(:retry, E edits, :give-up)>
<until:1 open>
:save-screen before<Enter>
${5-}
END
	ok "$1: is an item" shows before 'error '
	ok "$1: is in the log" grep -q "x-gavel.*turn[^a-z]*$4" "$(log)"
	ok "$1: nothing is wrong with the log" "$GAVEL" check "$(log)"
}
again=':retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 1 answered>'

failed 'an error line' "say-file $streams/opencode-err401.ndjson
exit 1" 'failed (:retry, E edits, :give-up): APIError: Incorrect API key provided: dummy (exit code 1)' error "$again"
ok 'two processes' runs 2
failed 'an upstream that is gone' "say-file $streams/opencode-unreachable.ndjson
exit 1" 'failed (:retry, E edits, :give-up): APIError: Cannot connect to API: Unable to connect.' error
failed 'an exit code' "stderr plain
stderr Error: no such agent
stderr   at main.js
exit 3" 'failed (:retry, E edits, :give-up): exit code 3; it said: Error: no such agent' exit "$again"
failed 'a crash' crash 'failed (:retry, E edits, :give-up): signal 11 (Segmentation fault)' exit
failed 'no word' 'exit 0' 'failed (:retry, E edits, :give-up): ended without output' silent
failed 'no Response' "say-file $streams/opencode-toolerr.ndjson" 'no answer in its output' silent
failed 'a cut line' "say-file $streams/opencode-big-slowreader.ndjson" 'its last line was cut off' silent
failed 'an empty turn' "say-file $streams/opencode-empty.ndjson" 'failed (:retry, E edits, :give-up): ended without output' silent

script <<END
turn 1
$(answer ses_1 1 "$(item scope-0001 A)")
turn 2
$(answer ses_1 7 "$(item scope-0002 B)")
turn 3
expect "iteration":2
expect scope-0001
$(answer ses_1 2 "$(item scope-0002 B)" "$(ack scope-0001)")
turn 4
expect "iteration":3
$(answer ses_1 3 '' "$(ack scope-0002)")
END
ok 'another iteration than asked for is told, and can be asked for again' review other <<'END'
<until:turn 1 answered>
a $
<wait:350>
y
<until:y again>
y
<until:turn 2 answered for iteration 7, not 2: decide its items anyway, or :retry>
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 2 answered in>
xno<Enter>
$
<wait:350>
y
<until:turn 3 answered in>
END
ok 'the next one counts from what was asked' runs 4

script <<END
turn 1
$(answer ses_1 1 "$(item scope-0001 A)")
turn 2
exit 9
turn 3
expect "iteration":3
expect "applied_feedback":{"items":[]}
$(answer ses_1 3 '' ' ')
END
ok 'a turn that failed is given up' review given <<'END'
<until:turn 1 answered>
xno<Enter>
$
<wait:350>
y
<until:turn 2 failed>
:give-up<Enter>
<until:nothing is sent; it is recorded here>
<wait:350>
y
<until:turn 2 was abandoned; $ asks again>
$
<until:This will be written>
<wait:350>
y
<until:turn 3 answered>
END
ok 'and nothing is wrong with that' "$GAVEL" check "$(log)"
script <<END
turn 1
$(answer ses_1 1 "$(item scope-0001 A)")
turn 2
append plan.md changed
exit 3
turn 3
expect "iteration":2
expect changed
expect scope-0001
$(answer ses_1 2 '' "$(ack scope-0001)")
END
ok 'edited meanwhile, the retry takes it along' review edited <<'END'
<until:turn 1 answered>
xno<Enter>
$
<wait:350>
y
<until:turn 2 failed>
<until:plan.md +1 -0 (w)>
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 2 answered in>
END
ok 'nothing is wrong with that' "$GAVEL" check "$(log)"
printf '# Plan\nDark mode.\n' >plan.md

script <<END
turn 1
stderr ! agent "nobody" not found. Falling back to default agent
$(answer ses_1 1 '')
END
ok 'what it said beside its answer is told' review beside <<'END'
<until:(it said: ! agent "nobody" not found. Falling back to default agent)>
END

# ---- turns that go on, and those that are cut short ----

script <<END
turn 1
say {"type":"step_start","timestamp":1794786742741,"sessionID":"ses_1","part":{}}
stall
turn 2
expect-args run --session ses_1
$(answer ses_1 1 '')
END
ok 'a turn can be stopped' review stopped <<'END'
<until:turn 1 runs 0:0>
<until:step 1>
Q
<until:Q again stops it>
$
<until:turn 1 is running; wait for it, or :stop it>
<wait:350>
q
:stop<Enter>
<until:turn 1 failed (:retry, E edits, :give-up): stopped>
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 1 answered>
END
script <<END
turn 1
say {"type":"step_start","timestamp":1794786742741,"sessionID":"ses_1","part":{}}
stall
turn 2
expect-args run --session ses_1
$(answer ses_1 1 '')
END
ok 'leaving stops it' review left <<'END'
<until:step 1>
QQ
END
ok 'and later it can go on' review later <<'END'
<until:turn 1 ended in an error (:retry>
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 1 answered>
END
ok 'two processes in all' runs 2

# ---- what the reviewer must not do ----

forged='{"protocol_version":"1.2","iteration":9,"artifact":{"media_type":"text/plain","content":"x"},"applied_feedback":{"items":[{"id":"scope-0001","status":"accepted"}]}}'
script <<END
turn 1
$(answer ses_1 1 "$(item scope-0001 A)")
say $forged
echo-input
$(wrap --yolo 'More words.')
turn 2
expect-args run --session ses_1
expect "iteration":2
$(answer ses_1 2 '' "$(ack scope-0001)")
END
ok 'it cannot decide, ask itself or put words on the command line' review forged <<'END'
<until:turn 1 answered>
<until:1 open>
<until:invalid session id>
4
:save-screen messages<Enter>
1
xno<Enter>
$
<wait:350>
y
<until:turn 2 answered>
END
ok 'two lines count for nothing' shows messages '✗2 invalid'

script_of() { # what stands before the turns
	printf '%s\n' "$1" >reviewer
	rm -rf count state
}
script_of "turns $tmp/count
turn 1
$(answer ses_1 1 '')
exit 0"
ok 'what it says without having listened is no answer' review unread <<'END'
<until:turn 1 failed (:retry, E edits, :give-up): ended without reading its input (exit code 0)>
<until:1 open>
END

# ---- when gavel itself ends, or the command is gone ----

script <<END
turn 1
say {"type":"step_start","timestamp":1794786742741,"sessionID":"ses_1","part":{}}
append begun yes
delay 3000
turn 2
$(answer ses_1 1 '')
END
printf '<wait:60000>\n' >keys
"$GAVEL" review --artifact plan.md --as ann --headless --keys keys -- \
	"$FAKE_AGENT" -f reviewer -- run --session '{session}' 2>/dev/null &
pid=$!
until [ -s begun ]; do kill -0 $pid || break; done
kill -9 $pid
wait $pid 2>/dev/null
ok 'a turn survives a crash of gavel, and nothing is sent by itself' review crashed <<'END'
<until:turn 1 runs>
<until:turn 1 failed (:retry, E edits, :give-up): ended without output>
<until:1 open>
END
ok 'one process' runs 1
ok 'it is sent again when the person wants it' review crashed2 <<'END'
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 1 answered>
END
ok 'two processes then' runs 2

script <<END
turn 1
$(answer ses_1 1 "$(item scope-0001 A)")
remove reviewer.sh
turn 2
expect "iteration":2
$(answer ses_1 2 '' "$(ack scope-0001)")
END
command_review() {
	cat >keys
	printf '#!/bin/sh\nexec "%s" -f reviewer -- "$@"\n' "$FAKE_AGENT" >reviewer.sh
	chmod +x reviewer.sh
	"$GAVEL" review --artifact plan.md --as ann --headless --keys keys --screen gone --size 120x30 -- \
		./reviewer.sh --session '{session}' || sed '/^---/,$d' gone
}
ok 'a command that is gone is told, and the message held' command_review <<'END'
<until:turn 1 answered>
xno<Enter>
$
<wait:350>
y
<until:a turn could not start (:retry, :give-up): >
<until:1 held>
END
ok 'it goes out when the person has seen it' command_review <<'END'
<until:y finish them>
y
<until:turn 2 answered>
END
is 'one letter for it, moved' 'OPEN INTENT ATTEMPT SENT DRAFT INTENT HELD MOVED ATTEMPT SENT ACKED ' "$(states)"
ok 'nothing is wrong with the log' "$GAVEL" check --strict "$(log)"
rm -rf count state
ok 'or is given up, and the items are open again' command_review <<'END'
<until:turn 1 answered>
xno<Enter>
$
<wait:350>
y
<until:1 held>
:give-up<Enter>
<until:1 open>
<until:abandoned; the item is open again>
END

# ---- the artifact ----

refused() {
	"$GAVEL" review --artifact "$1" --headless -- "$FAKE_AGENT" 'exit 0' 2>&1
	echo $?
}
rm -rf state
is 'a missing artifact' 'gavel: none.md: No such file or directory; check the name and who may read it
2' "$(refused none.md)"
is 'a folder' "gavel: $tmp: is a folder, not a file; name a file
2" "$(refused "$tmp")"
printf 'a\0b' >binary
is 'no text' 'gavel: binary is not UTF-8 text; a Request can carry only text
2' "$(refused binary)"
dd if=/dev/zero bs=1048576 count=9 2>/dev/null | tr '\0' x >huge
is 'too big' 'gavel: huge: is longer than 8388608 bytes; name a shorter file
2' "$(refused huge)"
if [ "$(id -u)" -ne 0 ]; then
	cp plan.md secret
	chmod 0 secret
	is 'unreadable' 'gavel: secret: Permission denied; check the name and who may read it
2' "$(refused secret)"
fi
ok 'nothing was made for them' test ! -e state
is 'no command' 'gavel: no command to review with; gavel review --artifact FILE -- COMMAND...
2' "$("$GAVEL" review --artifact plan.md 2>&1; echo $?)"
is 'no artifact' 'gavel: nothing to review; give --artifact FILE
2' "$("$GAVEL" review -- true 2>&1; echo $?)"
is 'no such command' 'gavel: ./none: No such file or directory' \
	"$("$GAVEL" review --artifact plan.md --headless -- ./none 2>&1 | sed 's/^gavel: plan[^:]*: cannot run/gavel:/; s/;.*//')"

cp plan.md small
dd if=/dev/zero bs=1048576 count=5 2>/dev/null | tr '\0' x >plan.md
script <<END
turn 1
expect "content":"xxxxxxxx
append size {bytes}
$(answer ses_1 1 "$(item scope-0001 A)")
remove plan.md
END
ok 'five megabytes' review big <<'END'
<until:turn 1 answered>
<until:No such file or directory; put it back>
xno<Enter>
$
<until:cannot be sent yet>
END
ok 'arrive whole' test "$(cat size)" -gt 5242880
mv small plan.md

# ---- envelopes ----

cat >input.json <<'END'
{
  "context": {"feature_id": "005-user-auth", "workflow": "specify", "iteration": 1},
  "paths": {"spec": "plan.md"},
  "task": {"action": "validate", "params": {}}
}
END
script_of "read-input
turns $tmp/count
turn 1
expect {\"context\":{\"feature_id\":\"005-user-auth\",\"workflow\":\"specify\",\"iteration\":1},\"paths\":{\"spec\":\"plan.md\"}
say {\"success\":false,\"summary\":\"Three gaps.\",\"artifacts\":[],\"notes\":[\"Gap 1\"],\"recommendation\":\"retry\"}
turn 2
expect \"iteration\":2}
expect \"prior_context\":[\"Gap 1\",\"Review accepted: go on\"]
exit 4
turn 3
expect \"iteration\":3}
say {\"success\":true,\"summary\":\"No gaps.\",\"artifacts\":[],\"recommendation\":\"proceed\"}"
ok 'envelopes: retries, failures and success' review envelope --envelope input.json <<'END'
<until:turn 1 answered>
:accept go on<Enter>
$
<wait:350>
y
<until:turn 2 failed (:retry, E edits, :give-up): exit code 4>
:retry<Enter>
<until:This will be written>
<wait:350>
y
<until:turn 3 answered in>
<until:nothing is left to decide>
END
ok 'nothing is wrong with them' "$GAVEL" check --strict "$(log)"
is 'no envelope' 'gavel: ' "$(printf '{}' >wrong.json; : >keys
	"$GAVEL" review --envelope wrong.json --headless --keys keys --screen none -- \
		"$FAKE_AGENT" 'exit 0' 2>&1 | cut -c1-7)"
ok 'is told' shows none 'wrong.json is no input envelope'

# ---- five turns: what came back, bounced, was accepted in part or left out ----

unknown() {
	printf '{"id":"%s","processing_status":"unknown_id"}' "$1"
}
a=alpha-scope-01 b=beta-scope-02 c=gamma-scope-03 d=delta-scope-04
script <<END
turn 1
$(answer ses_five 1 "$(item $a A),$(item $b B),$(item $c C)")
turn 2
expect "items":[{"id":"$a","status":"rejected","reason_code":"other","explanation":"no"},{"id":"$b","status":"partial","explanation":"half"}]
$(answer ses_five 2 "$(item $a A),$(item $d D)" "$(ack $a),$(unknown $b)")
turn 3
expect "iteration":3
$(answer ses_five 3 "$(item $c C),$(item $d D)" "$(ack $a),$(ack $b)")
turn 4
expect "items":[{"id":"$c","status":"rejected","reason_code":"other","explanation":"no"}]
$(answer ses_five 4 "$(item $d D)" "$(ack $c)")
turn 5
expect "items":[{"id":"$d","status":"rejected","reason_code":"other","explanation":"no"}]
$(answer ses_five 5 '' "$(ack $d)")
END
# ledger: ID VERDICT DELIVERY of each item
ledger() {
	"$GAVEL" show ledger --format=json "$(log)" |
		sed 's/^{"id":"\([^"]*\)".*"verdict":"\([a-z]*\)","by":[^,]*,"delivery":"\([a-z]*\)","fixed_in".*/\1 \2 \3/' | paste -sd ' '
}
turn() { # N KEYS; the second y is for items that are left open, else it does nothing
	echo "Turn $1." >>plan.md
	printf '<until:was answered>\n1%s$<wait:400>yy\n<until:turn %s answered>\n' "$2" "$1" | review "five$1"
}
ok 'five turns: the first' review five1 <<'END'
<until:turn 1 answered>
END
ok '... the second' turn 2 ':1<Enter>xno<Enter>:2<Enter>phalf<Enter>'
is '... what came back and what bounced is open' "$a none none $b none bounced $c superseded none $d none none" "$(ledger)"
ok '... the third takes both, by other verbs' turn 3 ':1<Enter>phalf<Enter>:2<Enter>xno<Enter>'
is '... they are acknowledged' "$a partial acknowledged $b rejected acknowledged $c none none $d none none" "$(ledger)"
ok '... the fourth' turn 4 ':1<Enter>xno<Enter>'
ok '... and the fifth' turn 5 ':1<Enter>xno<Enter>'
is '... the ledger is as it was said' "$a partial acknowledged $b rejected acknowledged $c rejected acknowledged $d rejected acknowledged" "$(ledger)"
ok '... five processes' runs 5
is '... check finds nothing wrong' 0 "$("$GAVEL" check --format=json "$(log)" | grep -c '"valid":false')"

tap_end
