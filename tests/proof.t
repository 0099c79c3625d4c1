# What proves that a decision has arrived: an acknowledgement in the log, from whom it was for. Others'
# claims are shown and change nothing; an unknown id brings the item back.
. "$srcdir/tests/tap.sh"

USER=ann
export USER
cd "$tmp" || exit 99

agent() { # ID TYPE
	printf '{"agent_id":"%s","agent_type":"%s"}' "$1" "$2"
}

# collaboration MESSAGE_ID SEQUENCE FROM TO TYPE PAYLOAD [MORE]
collaboration() {
	printf '{"message_id":"%s","timestamp":"2026-01-26T10:%02d:00Z","sequence_number":%d,' "$1" "$2" "$2"
	printf '"from_agent":%s,"to_agent":%s,"message_type":"%s","payload":%s%s}\n' "$3" "$4" "$5" "$6" "${7-}"
}

delivery() { # LOG ITEM
	"$GAVEL" show inbox --all --format=json "$1" |
		sed -n "s/^{\"id\":\"$2\".*\"delivery\":\"\([a-z]*\)\".*/\1/p"
}

# Settling happens in a run that may write.
settle() {
	"$GAVEL" decide "$1" --deliver >/dev/null 2>&1
}

architect=$(agent chief architect)
dev=$(agent dev-1 developer)
reviewer=$(agent rev-1 reviewer)
u=00000000-0000-4000-8000-00000000000
passed='{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}}'
review() {
	{
		collaboration ${u}1 1 "$architect" "$dev" task_assignment '{"task":{"task_id":"T1","task_description":"d","context":{"specs":[],"reference_files":[]},"constraints":{"scope":["**"],"testing_required":true,"must_not_break":[]},"acceptance_criteria":["c"]},"priority":"high"}'
		collaboration ${u}2 2 "$dev" "$architect" task_completion '{"task_id":"T1","status":"completed","changes":{"files_created":[],"files_modified":[],"files_deleted":[]},"summary":"s","self_review":{"tests_run":true,"tests_passed":true,"type_check_passed":true}}'
		collaboration ${u}3 3 "$architect" "$reviewer" review_request '{"review_id":"R1","task_id":"T1","scope":{"files":[],"focus_areas":[]},"criteria":{"must_pass_tests":true,"must_pass_type_check":true},"context":{"task_description":"d","acceptance_criteria":["c"]}}'
		collaboration ${u}4 4 "$reviewer" "$architect" review_result '{"review_id":"R1","task_id":"T1","verdict":"changes_requested","findings":[{"finding_id":"F1","severity":"minor","category":"style","location":{"file":"a.c"},"description":"d","rationale":"r"}],"verification":'"$passed"',"summary":"s"}'
	} >"$1"
	"$GAVEL" decide "$1" R1/F1 reject --explain=no --deliver >/dev/null
	id=$(sed -n 's/^{"message_id":"\([^"]*\)".*/\1/p' "$1.replies.ndjson")
}

review log
is 'a rejected finding is sent' sent "$(delivery log R1.F1)"
collaboration ${u}5 5 "$dev" "$architect" acknowledgment '{}' ",\"reply_to\":\"$id\"" >>log
settle log
is 'an acknowledgement from somebody else changes nothing' sent "$(delivery log R1.F1)"
ok 'it is shown as a claim' sh -c '"$GAVEL" show decisions --size=220 log | grep -q "claims to acknowledge it, from dev-1"'
collaboration ${u}6 6 "$reviewer" "$architect" acknowledgment '{}' ',"reply_to":"'"${u}9"'"' >>log
settle log
is 'one for another message neither' sent "$(delivery log R1.F1)"
collaboration ${u}7 7 "$reviewer" "$architect" acknowledgment '{}' ",\"reply_to\":\"$id\"" >>log
settle log
is 'one from the reviewer is the proof' acknowledged "$(delivery log R1.F1)"
ok 'the journal has it' sh -c '"$GAVEL" journal list | grep -q " acknowledged "'
ok 'and is whole' "$GAVEL" journal verify

wrapped() { # TIME RESPONSE
	printf '{"type":"text","timestamp":%s,"sessionID":"ses_1","part":{"type":"text","text":"%s"}}\n' "$1" \
		"$(printf '%s' "$2" | sed 's/"/\\"/g')"
}

turn() { # ITERATION ITEMS MORE
	printf '{"protocol_version":"1.2","iteration":%s,"status":"success","feedback":{"confidence":{"level":"high","justification":"j"},"positive_points":[],"areas_for_improvement":[%s],"general_summary":"g"}%s}' \
		"$1" "$2" "${3-}"
}

point() {
	printf '{"id":"%s","aspect":"a","description":"d","recommendation":"r"}' "$1"
}

loop() { # LOG STATUS
	{
		echo '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":"x"}}'
		wrapped 1761021546835 "$(turn 1 "$(point unclear-scope-01),$(point missing-tests-02)")"
	} >"$1"
	wrapped 1761021547000 "$(turn 2 '' ',"applied_feedback_ack":{"items":[{"id":"unclear-scope-01","processing_status":"acknowledged"}]}')" >forged
	cp "$1" early
	cat forged >>early
	"$GAVEL" decide "$1" unclear-scope-01 reject --explain=no --deliver >/dev/null
	wrapped 1761021548000 "$(turn 2 '' ',"applied_feedback_ack":{"items":[{"id":"unclear-scope-01","processing_status":"'"$2"'"}]}')" >>"$1"
	settle "$1"
}

loop known acknowledged
is 'a feedback decision is acknowledged by its id' acknowledged "$(delivery known unclear-scope-01)"
loop unknown unknown_id
is 'an unknown id bounces' bounced "$(delivery unknown unclear-scope-01)"
ok 'and the item is open again' sh -c '"$GAVEL" show inbox --size=200 unknown | grep -q unclear-scope-01'
is 'an acknowledgement of what nobody decided is none' none "$(delivery early unclear-scope-01)"
ok 'check says so' sh -c '"$GAVEL" check early | grep -q "acknowledges a decision on .*unclear-scope-01.* that is not in this log"'

tap_end
