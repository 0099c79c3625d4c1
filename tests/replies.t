# Reply files, case by case: where a line belongs that no journal here knows, two people with one file,
# messages that come twice, logs that hold both directions. tests/conversation.t found most of these.
. "$srcdir/tests/tap.sh"
slow 'replies'

USER=ann
HOME=$tmp
export USER HOME
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99

# ---- messages ----

# task ID SECOND; result ID SECOND CONFIDENCE [STATUS]; judged ID SECOND DECISION [BY]
task() {
	echo "{\"task_id\":\"$1\",\"task_type\":\"content\",\"priority\":\"low\",\"context\":{},\"acceptance_criteria\":[\"ok\"],\"created_at\":\"2026-03-02T09:05:$2Z\",\"status\":\"pending\"}"
}
result() {
	echo "{\"task_id\":\"$1\",\"status\":\"${4:-success}\",\"confidence_score\":$3,\"output\":{\"type\":\"text\",\"payload\":{\"text\":\"$3\"}},\"traces\":\"t\",\"artifacts\":[],\"created_at\":\"2026-03-02T09:05:$2Z\"}"
}
judged() {
	echo "{\"task_id\":\"$1\",\"decision\":\"$3\",\"rationale\":\"low confidence\",\"state_version\":\"v$2\",\"created_at\":\"2026-03-02T09:05:$2Z\"${4:+,\"x-gavel\":{\"by\":\"$4\"\}}}"
}

# request ITERATION; response ITERATION RAISED ACKED [PROCESSING_STATUS]; failed ITERATION ACKED;
# empty = none. $wrap = the session that a tool's line is of
request() {
	echo "{\"protocol_version\":\"1.2\",\"iteration\":$1,\"artifact\":{\"media_type\":\"text/plain\",\"content\":\"$artifact\"}}"
}
artifact='The first version.'
wrap=
wrapped() {
	if [ -z "$wrap" ]; then
		cat
	else
		sed "s/[\\\\\"]/\\\\&/g; s/.*/{\"type\":\"text\",\"timestamp\":1772442000000,\"sessionID\":\"$wrap\",\"part\":{\"id\":\"p\",\"sessionID\":\"$wrap\",\"messageID\":\"m\",\"type\":\"text\",\"text\":\"&\"}}/"
	fi
}
acks() {
	[ -z "$1" ] || printf ',"applied_feedback_ack":{"items":[{"id":"%s","processing_status":"%s"}]}' "$1" "${2:-acknowledged}"
}
response() {
	raised=
	[ -z "$2" ] || raised="{\"id\":\"$2\",\"aspect\":\"a\",\"description\":\"d\",\"recommendation\":\"r\"}"
	echo "{\"protocol_version\":\"1.2\",\"iteration\":$1,\"status\":\"success\"$(acks "$3" "${4-}"),\"feedback\":{\"confidence\":{\"level\":\"high\",\"justification\":\"x\"},\"positive_points\":[],\"areas_for_improvement\":[$raised],\"general_summary\":\"s\"}}" | wrapped
}
failed() {
	echo "{\"protocol_version\":\"1.2\",\"iteration\":$1,\"status\":\"error\"$(acks "$2"),\"error\":{\"code\":\"INTERNAL_ERROR\",\"message\":\"m\"}}" | wrapped
}

# input LANE ITERATION [NOTES]; output WORDS
input() {
	echo "{\"context\":{\"feature_id\":\"$1\",\"workflow\":\"plan\",\"iteration\":$2},\"paths\":{\"feature_root\":\"s/\"},\"task\":{\"action\":\"create\",\"params\":{}},\"prior_context\":[${3-}]}"
}
output() {
	echo "{\"success\":false,\"summary\":\"$1\",\"artifacts\":[],\"notes\":[\"$1\"],\"recommendation\":\"retry\"}"
}

# ---- what is done and asked ----

# says PERSON ITEM VERB [--correct]: about $log, each person with their own journals
says() {
	echo "Version $3 of $2." >artifact.md
	"$GAVEL" decide --journal="$1" --as="$1" ${4-} --deliver --explain='So.' --artifact=artifact.md "$log" "$2" "$3" \
		>out 2>&1 || { code=$?; cat out; return $code; }
}

# row PERSON ITEM: VERDICT BY DELIVERY, as that person sees it
row() {
	"$GAVEL" show inbox --all --format=json --journal="$1" "$log" | grep -F "{\"id\":\"$2\"," |
		sed 's/.*"verdict":"\([a-z]*\)","by":\("[^"]*"\|null\),"delivery":"\([a-z]*\)".*/\1 \2 \3/; s/"//g'
}

state() { # PERSON [ARGUMENT...]
	person=$1
	shift
	"$GAVEL" show state --no-cache --journal="$person" "$@"
}

# all_see ITEM VERDICT: whoever looks
all_see() {
	for viewer in ann bob nobody; do
		seen=$(row $viewer "$1")
		[ "${seen%% *}" = "$2" ] || { echo "$viewer sees: $seen"; return 1; }
	done
}

n=0
fresh() {
	n=$((n + 1))
	log=log$n.ndjson
	replies=$log.replies.ndjson
}

# ---- handoff ----

fresh
{ task T1 01; result T1 02 0.80; judged T1 03 escalate; } >$log
ok 'a person decides what a judge escalated' says ann T1 accept
ok 'everybody sees that' all_see T1 accepted
is 'without the journal, too' "$(state ann $log)" "$(state nobody $log)"
ok 'a second person cannot decide otherwise' sh -c '! "$@"' sh "$GAVEL" decide --journal=bob --as=bob --deliver --explain=No. $log T1 reject
is 'one Decision is written' 1 "$(wc -l <$replies)"

fresh
{ task T1 01; result T1 02 0.80; task T2 03; } >$log
ok 'a decision not right behind its Result' says ann T1 reject
result T1 10 0.81 >>$log
ok 'the next Result is decided by somebody else' says bob T1 accept
ok 'everybody sees the second decision' all_see T1 accepted

fresh
{ task T1 01; result T1 02 0.30 failure; } >$log
ok 'a failure is rejected' says ann T1 reject
result T1 02 0.30 failure >>$log
is 'the same Result again asks nothing' 'rejected ann sent' "$(row ann T1)"
result T1 12 0.30 failure >>$log
is 'another one does' 'none null none' "$(row ann T1)"

fresh
{ task T1 11; result T1 12 0.80; } >$log
{ judged T1 01 approve ann; judged T9 20 reject ann; } >$replies
is 'a Decision older than the Result does not close it' 'none null none' "$(row nobody T1)"
judged T1 21 approve eve >>$replies
is 'a later one does' 'accepted eve sent' "$(row nobody T1)"
is 'in any order' "$(state nobody $log)" "$(state nobody $replies $log)"

fresh
{ task T1 01; result T1 02 0.80; } >$log
ok 'decided, with the replies elsewhere' "$GAVEL" decide --journal=ann --as=ann --deliver --reply=away.ndjson $log T1 accept
is 'the journal knows where' 'accepted ann sent' "$(row ann T1)"
is 'as --reply does' "$(state ann $log)" "$(state nobody --reply=away.ndjson $log)"
is 'a file of another name has not a person'\''s word' 'none null none' "$(row nobody T1)"
mkfifo fifo
cp $log piped.ndjson
exec 5<>fifo 6<fifo # open for reading before anything is sent
cat <&6 5>&- >got &
exec 6<&-
ok 'decided, through a FIFO' "$GAVEL" decide --journal=ann --as=ann --deliver --reply=fifo piped.ndjson T1 accept
exec 5>&-
wait $!
is 'it is read there' 1 "$(grep -c '"T1"' got)"
is 'the state is the same' "$(state ann $log)" "$(state ann piped.ndjson)"

fresh
{ task T1 01; result T1 02 0.80; } >$log
ok 'a decision' says ann T1 reject
ok 'is corrected' says ann T1 accept --correct
result T1 10 0.81 >>$log
ok 'the next Result is decided, too' says ann T1 reject
is 'the correction stands with what it corrects, also without the journal' "$(state ann $log)" "$(state nobody $log)"

# ---- feedback ----

fresh
{ request 1; response 1 point-aaa ''; } >$log
ok 'an improvement is accepted' says ann point-aaa accept
response 2 '' point-aaa unknown_id >>$log
is 'it bounces' 'none null bounced' "$(row ann point-aaa)"
ok 'it is decided again, without any --correct' says ann point-aaa reject
ok 'everybody sees that' all_see point-aaa rejected
is 'without the journal, too' "$(state ann $log)" "$(state nobody $log)"

fresh
{ request 1; response 1 point-aaa ''; } >$log
ok 'an improvement is accepted' says ann point-aaa accept
response 1 point-aaa '' >>$log
is 'the same Response again asks nothing' 'accepted ann sent' "$(row ann point-aaa)"
response 2 '' point-aaa >>$log
is 'and the next one still acknowledges' 'accepted ann acknowledged' "$(row ann point-aaa)"

fresh
{ request 1; response 1 point-aaa ''; } >$log
ok 'an improvement is accepted' says ann point-aaa accept
failed 2 point-aaa >>$log
ok 'the Request that failed is sent again, by another person' says bob error@3 accept
is 'the two are equal' 1 "$(sort -u $replies | wc -l)"
ok 'everybody sees that' all_see error@3 accepted
is 'who decided first did' 'accepted ann acknowledged' "$(row ann point-aaa)"
is 'and it stays acknowledged' acknowledged "$(row bob point-aaa | sed 's/.* //')"

fresh
{ request 1; response 1 point-aaa ''; } >$log
ok 'an improvement is accepted' says ann point-aaa accept
cat $replies >>$log
is 'the log holds the Request, too: it is still hers' 'accepted ann sent' "$(row ann point-aaa)"
response 2 '' point-aaa >>$log
is 'and acknowledged' 'accepted ann acknowledged' "$(row ann point-aaa)"

fresh
{
	artifact=One request 1
	wrap=ses_one response 1 one-aaaa ''
	artifact=Two request 1
	wrap=ses_two response 1 two-aaaa ''
} >$log
ok 'two sessions: the first' says bob one-aaaa accept
wrap=ses_one response 2 one-bbbb one-aaaa >>$log
ok 'two sessions: once more' says bob one-bbbb accept
ok 'two sessions: the second' says ann two-aaaa accept
wrap=ses_one response 3 one-cccc one-bbbb >>$log
wrap=ses_two response 2 two-bbbb two-aaaa >>$log
ok 'two sessions: its next turn' says ann two-bbbb accept
for item in one-aaaa one-bbbb two-aaaa two-bbbb; do
	ok "everybody sees $item" all_see $item accepted
done

fresh
{ request 1; response 1 point-aaa ''; } >$log
cp $log "other$log"
is 'the name of a log is not in its state' "$(state nobody $log)" "$(state nobody "other$log")"

# ---- envelope ----

fresh
{ input A 1; output one; } >$log
ok 'an output is rejected' says bob retry@2 reject
output two >>$log
is 'the next output is no proof that it arrived' 'rejected bob sent' "$(row bob retry@2)"
ok 'which is rejected by somebody else' says ann retry@3 reject
ok 'everybody sees the second' all_see retry@3 rejected

fresh
{ input A 1; output one; output one; } >$log
is 'the same output again asks nothing' 1 "$("$GAVEL" show inbox --all --format=json $log | wc -l)"

fresh
{ input A 1; output one; } >$log
ok 'an output is rejected' says ann retry@2 reject
ok 'that is corrected' says ann retry@2 accept --correct
is 'the correction is shown' 'accepted ann sent' "$(row ann retry@2)"

fresh
{ input A 1; output one; input B 1; output two; } >$log
ok 'an output is rejected' says ann retry@2 reject
input C 1 >>$log
output three >>$log
"$GAVEL" decide --journal=ann --as=ann --explain=No. $log retry@6 reject >out 2>&1
ok 'an output of two inputs says which of them is a reply' sh -c '! grep -q "not clear which" out || grep -q "of the replies" out'

# ---- collaboration ----

fresh
agent() { echo "{\"agent_id\":\"$1\",\"agent_type\":\"$1\"}"; }
message() { # NUMBER FROM TO TYPE PAYLOAD
	echo "{\"message_id\":\"00000000-0000-4000-8000-00000000000$1\",\"timestamp\":\"2026-01-26T10:00:0$1Z\",\"sequence_number\":$1,\"from_agent\":$(agent "$2"),\"to_agent\":$(agent "$3"),\"message_type\":\"$4\",\"payload\":{$5}}"
}
{
	message 1 architect developer task_assignment '"task":{"task_id":"T1","task_description":"d","context":{"specs":[],"reference_files":[]},"constraints":{"scope":["**"],"testing_required":true,"must_not_break":[]},"acceptance_criteria":[]},"priority":"low"'
	message 2 reviewer architect review_result '"review_id":"R1","task_id":"T1","verdict":"rejected","findings":[{"finding_id":"f-1","severity":"minor","category":"bug","location":{"file":"a.c"},"description":"d","rationale":"r"}],"verification":{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}},"summary":"s"'
} >$log
ok 'a verdict is accepted' says ann R1 accept
is 'by a person, as she sees it' 'accepted ann sent' "$(row ann R1)"
is 'and as others do' 'accepted ann sent' "$(row nobody R1)"
cp $replies verdict.ndjson
fresh
cp verdict.ndjson $replies
{ cat verdict.ndjson; message 5 reviewer architect acknowledgment ''; } >$log
is 'the log repeats a reply to what was rotated away: it raises nothing' '' "$("$GAVEL" show inbox --all --format=json --journal=nobody $log)"
ok 'it is told what it is' sh -c '"$1" check --journal=nobody $2 | grep -q "^$2:1: note: .*repeats what was said in the replies"' sh "$GAVEL" $log

# ---- the cache ----

# cached: the state, after the image was written
cached() {
	{ GAVEL_CACHE_MIN=1 GAVEL_CACHE_TELL=1 "$GAVEL" show state --journal=nobody $log 2>&1 >&3 | cat >told; } 3>&1
}
fresh
{ input A 1; output one; } >$log
input Z 5 '"Review rejected: No."' >$replies
is 'a line that answers nothing known' "$(state nobody $log)" "$(cached)"
{ input B 1; output two; } >>$log
is 'stands at the end, also when the log has grown' "$(state nobody $log)" "$(cached)"

# ---- check, and decisions in words ----

fresh
{ request 1; response 1 point-aaa ''; } >$log
says ann point-aaa accept
response 2 point-bbb '' >>$log
"$GAVEL" check --journal=nobody $log $replies >checked
ok 'check names the line of the replies' grep -q "of the replies" checked
is 'check reads the replies of a log, too' "$("$GAVEL" check --journal=nobody $log $replies)" "$("$GAVEL" check --journal=nobody $log)"

# told ITEM: its delivery in words and as JSON, to somebody else
told() {
	"$GAVEL" show decisions --size=300x100 --journal=nobody $log | grep -F " $1 " |
		grep -oE 'acknowledged|bounced|sent' | head -n 1
	"$GAVEL" show decisions --format=json --journal=nobody $log | grep -F "\"$1\"" |
		sed 's/.*"delivery":"*\([a-z]*\).*/\1/'
}
fresh
{ request 1; response 1 point-aaa ''; } >$log
says ann point-aaa accept
is 'sent, in words and as JSON' 'sent sent' "$(told point-aaa | paste -sd ' ')"
response 2 '' point-aaa >>$log
is 'acknowledged, in words and as JSON' 'acknowledged acknowledged' "$(told point-aaa | paste -sd ' ')"

# ---- files ----

out() { "$GAVEL" show messages --format=json --journal=nobody "$@" | grep -c '"direction":"out"'; }
fresh
{ task T1 01; result T1 02 0.80; task T2 03; result T2 04 0.80; } >$log
judged T1 05 approve eve >said
ln -s said $replies
is 'a link that was not given is not followed' 0 "$(out $log)"
is 'one that was given is' 1 "$(out $log $replies)"
is 'in any order' 1 "$(out $replies $log)"
rm $replies
judged T1 05 approve eve | tr -d '\n' >$replies
is 'a last line without newline counts' 1 "$(out $log)"
judged T1 05 approve eve >$log.1.replies.ndjson
judged T2 06 reject eve >>$log.1.replies.ndjson
cp $log $log.1
rm $replies
is 'the replies of a rotated log are not those of the log' 0 "$(out $log)"
is 'but its own' 2 "$(out $log.1)"
rm $log.1
# ---- a last line without a newline ----

# Another program may be writing it. gavel begins its own reply with a newline then; what it shows while
# it runs is what is read again later: the same number of a line, and each line once.
printf ':1<Enter>a$<wait:400>Gy<wait:400>4' >last.keys
for end in whole torn; do
	fresh
	{ task T1 01; result T1 02 0.80; judged T1 03 escalate; task T2 04; result T2 05 0.80; judged T2 06 escalate; } >$log
	judged T2 07 approve bob | tr -d '\n' >$replies
	[ $end = whole ] || printf '{"task_id":"T2","decision":"appro' >$replies
	"$GAVEL" $log --journal=ann --as=ann --headless --no-follow --size=120x30 --keys=last.keys --screen=screen.txt --filter=id:T1 >out 2>&1
	is "$end: the reply is written below it" 2 "$(wc -l <$replies)"
	is "$end: it is line 2 at once" 1 "$(grep -c '^ *>2 .*approve' screen.txt)"
	is "$end: and when it is read again" 2 "$("$GAVEL" show messages --format=json --journal=ann $log | sed -n 's/.*"line":\([0-9]*\),.*"direction":"out".*/\1/p' | sort -n | tail -n 1)"
done

fresh
{ task T1 01; result T1 02 0.80; judged T1 03 escalate; } >$log
cp $log second.ndjson
judged T1 04 approve ann >both.ndjson
for command in 'show inbox' check 'show messages'; do
	"$GAVEL" $command --journal=nobody --reply=both.ndjson $log second.ndjson >out 2>err
	is "$command: one reply file for two sources is refused" 2 $?
	ok "$command: it says what to do" grep -q '^gavel: --reply names the reply file of one source, and here are 2; name one of them, or leave' err
done
"$GAVEL" second.ndjson $log --reply=both.ndjson --headless --keys=/dev/null --screen=screen.txt >out 2>err
is 'in the UI, too' 2 $?
ok 'it says so there, too' grep -q 'names the reply file of one source' err
is 'the reply file itself is no source' "$(state nobody --reply=both.ndjson $log)" "$(state nobody --reply=both.ndjson $log both.ndjson)"
is 'in any order' "$(state nobody --reply=both.ndjson $log)" "$(state nobody --reply=both.ndjson both.ndjson $log)"
is 'replies never go into the log' "$("$GAVEL" show messages --journal=nobody $log | wc -l)" "$("$GAVEL" show messages --journal=nobody --reply=$log $log | wc -l)"

# a letter behind the same message does not hide another person's line
fresh
{ task T1 01; result T1 02 0.80; task T2 03; result T2 04 0.80; } >$log
ok 'one decides' says ann T1 accept
judged T2 06 reject eve >>$replies
is 'another decides something else' 'rejected eve sent' "$(row ann T2)"

# what was staged on an item that is closed meanwhile does not stay staged for ever
fresh
{ request 1; response 1 point-aaa ''; } >$log
"$GAVEL" decide --journal=ann --as=ann --explain=No. $log point-aaa reject >/dev/null
ok 'somebody else sends the Request' says bob point-aaa reject
"$GAVEL" decide --journal=ann --as=ann --deliver $log >out 2>&1
is 'what was staged cannot be sent' 1 $?
ok 'and why not' grep -q 'the Request of iteration 2 is written\|already decided\|no longer open' out
"$GAVEL" decide --journal=ann --as=ann --deliver $log >out 2>&1
is 'and is not staged any more' 0 $?

# an accepted finding that is rejected after all: developer and reviewer hear of it
fresh
says_to() { # N FROM TYPE TO TYPE MESSAGE_TYPE PAYLOAD
	echo "{\"message_id\":\"00000000-0000-4000-8000-00000000000$1\",\"timestamp\":\"2026-03-02T09:05:0${1}Z\",\"sequence_number\":$1,\"from_agent\":{\"agent_id\":\"$2\",\"agent_type\":\"$3\"},\"to_agent\":{\"agent_id\":\"$4\",\"agent_type\":\"$5\"},\"message_type\":\"$6\",\"payload\":$7}"
}
{
	says_to 1 arch architect dev developer task_assignment '{"task":{"task_id":"T1","task_description":"Draw","context":{"specs":[],"reference_files":[]},"constraints":{"scope":["**"],"testing_required":false,"must_not_break":[]},"acceptance_criteria":[]},"priority":"low"}'
	says_to 2 arch architect rev reviewer review_request '{"review_id":"R1","task_id":"T1","scope":{"files":[],"focus_areas":[]},"criteria":{"must_pass_tests":true,"must_pass_type_check":true},"context":{"task_description":"Draw","acceptance_criteria":[]}}'
	says_to 3 rev reviewer arch architect review_result '{"review_id":"R1","task_id":"T1","verdict":"changes_requested","findings":[{"finding_id":"f-1","severity":"minor","category":"bug","location":{"file":"a.c"},"description":"d","rationale":"r"}],"verification":{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}},"summary":"s"}'
} >$log
ok 'a finding is accepted' says ann R1/f-1 accept
for i in 1 2 3; do
	ok "and rejected after all, time $i" says ann R1/f-1 reject --correct
done
is 'three messages in all' 3 "$(wc -l <$replies)"
is 'to developer, reviewer and developer' 'dev rev dev' "$(sed 's/.*"to_agent":{"agent_id":"\([^"]*\)".*/\1/' $replies | paste -sd ' ')"
is 'with numbers in one order' '4 5 6' "$(sed 's/.*"sequence_number":\([0-9]*\).*/\1/' $replies | paste -sd ' ')"
is 'which check finds sound' 0 "$("$GAVEL" check --journal=ann --format=json $log | grep -c "\"source\":\"$replies\".*\"valid\":false")"
is 'and everybody sees' rejected "$(row nobody R1/f-1 | sed 's/ .*//')"

# a folder takes a correction, too
mkdir hand
task T1 01 >hand/task-T1.json
result T1 02 0.80 >hand/result-T1.json
log=hand
ok 'decided in a folder' says ann T1 reject
ok 'corrected there' says ann T1 accept --correct
is 'that is shown' 'accepted ann sent' "$(row ann T1)"

# ---- what a second reviewer answers ----

id=d7c0df31-ad91-457f-92cf-c4fc845e3ea4
cp "$GAVEL_DATADIR/demo.ndjson" first.ndjson
page() { "$GAVEL" show item $id --journal="$1" "$2" >page; }
on_page() { grep -qF -- "$1" page || { cat page; return 1; }; }
off_page() { ! grep -qF -- "$1" page || { cat page; return 1; }; }
line_of() { grep -nF -- "$1" page | sed -n '1s/:.*//p'; }

ok 'a question is passed on' "$GAVEL" decide --as=eve --journal=eve --deliver --escalate-to=second.ndjson --explain='Ann?' first.ndjson $id escalate
ok 'its page' page eve first.ndjson
ok '... says why' on_page 'why     Ann?'
ok '... and its history to which queue, by whom' on_page 'escalated by eve to second.ndjson: Ann?'
ok 'the entry of the queue' page ann second.ndjson
ok '... has the question before who escalated it' [ "$(line_of 'question  ')" -lt "$(line_of 'escalated by  eve')" ]
ok '... and the options' [ "$(line_of 'options  ')" -lt "$(line_of 'escalated by  eve')" ]
ok 'ann answers' "$GAVEL" decide --as=ann --journal=ann --deliver --reply=first.ndjson.replies.ndjson --option=1 second.ndjson $id answer
ok 'the page of the first one' page eve first.ndjson
ok '... says who answered, as the reply file claims' on_page 'answered by ann (reply file) at '
ok '... and what' on_page 'answer  Terminate it'
ok '... but not why it was escalated as the reason' off_page 'why     '
ok '... its history has the answer' on_page 'answered by ann (reply file): Terminate it'
ok '... and the escalation' on_page 'escalated by eve to second.ndjson: Ann?'
ok '... in that order, newest first' [ "$(line_of '(reply file): Terminate it')" -lt "$(line_of 'escalated by eve')" ]
{ cat "$GAVEL_DATADIR/demo.ndjson" first.ndjson.replies.ndjson; } >claim.ndjson
ok 'the same line in the log' page nobody claim.ndjson
ok '... is an answer' on_page '✓ answered'
ok '... that names nobody' off_page 'answered by ann'
cp "$GAVEL_DATADIR/demo.ndjson" refused.ndjson
ok 'another one is passed on' "$GAVEL" decide --as=eve --journal=eve --deliver --escalate-to=third.ndjson refused.ndjson $id escalate
ok '... and rejected' "$GAVEL" decide --as=ann --journal=ann --deliver --reply=refused.ndjson.replies.ndjson --explain=Never. third.ndjson $id reject
ok '... the page of the first one' page eve refused.ndjson
ok '... says by whom' on_page 'rejected by ann (reply file) at '
ok '... and why' on_page 'why     Never.'

tap_end
