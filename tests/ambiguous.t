# Names that stand twice in a message, from the outside: such a message closes nothing, what it asks in
# either reading waits and cannot be decided, its page and check tell both values, and any number of
# threads reads it so. tests/unit/test_ambiguous has every field of every dialect.
. "$srcdir/tests/tap.sh"
USER=ann
HOME=$tmp
export USER HOME
cd "$tmp" || exit 99

waits() {
	"$GAVEL" show inbox --format=json "$1" | grep -c '"verdict":"none"'
}
shows() {
	COLUMNS=200 "$GAVEL" show item "$2" "$1" | grep -qF -- "$3"
}
refused() {
	! "$GAVEL" decide --deliver --explain=x --answer=x "$@" >out 2>&1 && grep -q 'cannot be decided' out
}

cat >hand.ndjson <<'END'
{"task_id":"T","status":"success","confidence_score":0.8,"output":{},"traces":"Wrote it","artifacts":[],"created_at":"2026-01-01T10:00:00Z"}
{"task_id":"T","decision":"reject","decision":"approve","rationale":"r","state_version":"v1","created_at":"2026-01-01T10:01:00Z"}
END
is 'a doubled decision closes nothing' 1 "$(waits hand.ndjson)"
ok 'check says so, with both values' sh -c '! "$GAVEL" check hand.ndjson >out && grep -q "hand.ndjson:2: error.*duplicate name, with the values \"reject\" and \"approve\"" out'
ok 'the item can still be decided' "$GAVEL" decide --deliver hand.ndjson T accept
is '... and is' 0 "$(waits hand.ndjson)"

cat >ask.ndjson <<'END'
{"type":"event:log","type":"request:ask-user","id":"q-1","timestamp":"2026-01-01T10:00:00Z","agentId":"w","payload":{"question":"Fix a typo?","question":"DROP the database?"}}
END
is 'a doubled type hides no question' 1 "$(waits ask.ndjson)"
ok '... which cannot be decided' refused ask.ndjson q-1 answer
ok 'its page shows one value' shows ask.ndjson q-1 'Fix a typo?'
ok '... and the other' shows ask.ndjson q-1 'DROP the database?'
ok '... of the type, too' shows ask.ndjson q-1 '"event:log" and "request:ask-user"'
ok '... and what that means' shows ask.ndjson q-1 'cannot be decided'

# Enough for several chunks, with escapes in what is read a second time.
awk 'BEGIN {
	for (i = 0; i < 10000; i++) {
		s = "\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":1,\\\"status\\\":\\\"success\\\",\\\"feedback\\\":{\\\"confidence\\\":{\\\"level\\\":\\\"high\\\",\\\"justification\\\":\\\"a\\\\nb\\\"},\\\"positive_points\\\":[],\\\"areas_for_improvement\\\":[{\\\"id\\\":\\\"scope-" i "-00\\\",\\\"aspect\\\":\\\"A\\\\tb\\\",\\\"description\\\":\\\"d\\\\nd\\\",\\\"recommendation\\\":\\\"r\\\"" (i % 3 ? "" : ",\\\"id\\\":\\\"other-" i "-00\\\"") "}],\\\"general_summary\\\":\\\"s\\\"}"
		printf "{\"type\":\"text\",\"timestamp\":%d,\"sessionID\":\"s%d\",\"part\":{\"id\":\"p\",\"type\":\"text\",\"text\":\"{%s}\"}}\n", 1770375600000 + i, i, s
		printf "{\"type\":\"request:ask-user\",\"id\":\"q\\u002d%d\",\"timestamp\":\"2026-01-01T10:00:00Z\",\"payload\":{\"question\":\"a\\nb\"%s}}\n", i, i % 5 ? "" : ",\"question\":\"c\\\"d\""
	}
}' >big.ndjson
state=$("$GAVEL" show state --no-cache --threads=1 big.ndjson)
ok 'a state is told' [ -n "$state" ]
for threads in 2 4; do
	is "$threads threads read the same" "$state" "$("$GAVEL" show state --no-cache --threads=$threads big.ndjson)"
done
is 'both readings of each are there' 23334 "$("$GAVEL" show inbox --all --format=json big.ndjson | wc -l)"

tap_end
