# A decision is for the words that were shown: what an agent says later under the same id is shown and
# asked anew, from the outside. tests/unit/test_revision changes every value of every kind of item.
. "$srcdir/tests/tap.sh"
USER=ann
HOME=$tmp
export USER HOME
cd "$tmp" || exit 99

# rev LOG ID: its revision; page LOG ID: its page
rev() {
	"$GAVEL" show item --format=json "$2" "$1" | grep -o '"rev":"[^"]*"'
}
page() {
	COLUMNS=200 "$GAVEL" show item --format=text "$2" "$1"
}
# waits LOG: how many items do
waits() {
	"$GAVEL" show inbox --format=json "$1" | grep -c '"verdict":"none"'
}
shows() {
	page "$1" "$2" | grep -qF -- "$3"
}

# decision RATIONALE TIME; result TRACES TIME
decision() {
	printf '{"task_id":"T","decision":"escalate","rationale":"%s","state_version":"v1","created_at":"2026-01-01T%sZ"}\n' "$1" "$2"
}
result() {
	printf '{"task_id":"T","status":"success","confidence_score":0.8,"output":{"type":"text"},"traces":"%s","artifacts":[],"created_at":"2026-01-01T%sZ"}\n' "$1" "$2"
}

decision 'Fix a typo?' 10:00:00 >hand.ndjson
ok 'a person accepts' "$GAVEL" decide --deliver hand.ndjson T accept
is 'nothing waits' 0 "$(waits hand.ndjson)"
decision 'Fix a typo?' 10:00:00 >>hand.ndjson
is 'nor when the same is said again' 0 "$(waits hand.ndjson)"
decision 'DROP the production database?' 10:00:00 >>hand.ndjson
is 'other words under the same id wait' 1 "$(waits hand.ndjson)"
ok '... and are shown' shows hand.ndjson T 'DROP the production database?'
ok '... as open' shows hand.ndjson T '○ open'
ok 'they can be decided' "$GAVEL" decide --deliver --explain=No hand.ndjson T reject
is '... and do not wait then' 0 "$(waits hand.ndjson)"

result 'Wrote the post' 10:00:00 >both.ndjson
before=$(rev both.ndjson T)
ok 'a decision on a Result is staged' "$GAVEL" decide both.ndjson T accept
decision 'Too bold?' 10:01:00 >>both.ndjson
ok 'with the Decision, the Result is shown' shows both.ndjson T 'Wrote the post'
ok '... and the Decision' shows both.ndjson T 'Too bold?'
ok '... which is another revision' [ "$(rev both.ndjson T)" != "$before" ]
ok 'what was staged is refused' sh -c '! "$GAVEL" decide --deliver both.ndjson >out 2>&1 && grep -q "it has changed since it was shown" out'
ok '... and not sent' [ ! -e both.ndjson.replies.ndjson ]
with=$(rev both.ndjson T)
{ result 'Deleted the post' 10:00:00; decision 'Too bold?' 10:01:00; } >other.ndjson
ok 'the revision covers the Result' [ "$(rev other.ndjson T)" != "$with" ]

# response SUMMARY
response() {
	printf '{"protocol_version":"1.2","iteration":1,"status":"success","feedback":{"confidence":{"level":"high","justification":"Read it."},"positive_points":[],"areas_for_improvement":[{"id":"scope-0001","aspect":"Scope","description":"Too wide","recommendation":"Cut it"}],"general_summary":"%s"}}\n' "$1"
}
response 'Fine.' >feed.ndjson
echo text >plan.md
ok 'an improvement is rejected' "$GAVEL" decide --deliver --artifact=plan.md --explain=No feed.ndjson scope-0001 reject
is '... and does not wait' 0 "$(waits feed.ndjson)"
response 'Fine, once the database is dropped.' >>feed.ndjson
is 'it waits when what its page shows is another summary' 1 "$(waits feed.ndjson)"
ok '... which is shown' shows feed.ndjson scope-0001 'once the database is dropped'

tap_end
