# The scripts of the fake agent speak their protocols: what they say passes check, before they are
# answered and, where the answer is not part of what they say next, after it.
. "$srcdir/tests/tap.sh"
slow 'the scripted agent'

scripts=$srcdir/tests/fixtures/agents

# Prints what check has against the script $1 when it reads $2. Notes are allowed: the log lacks what
# was answered.
faults() {
	printf '%s\n' "$2" | "$FAKE_AGENT" -f "$scripts/$1.script" >"$tmp/$1.ndjson" 2>/dev/null ||
		echo "$1 failed"
	"$GAVEL" check "$tmp/$1.ndjson" 2>&1 | grep -v -e '^0 errors, 0 warnings' -e ': note: '
}

yes='{"type":"response:success","payload":{"answer":"jwt"}}'
bye='{"type":"notify:shutdown"}'

for dialect in collaboration envelope feedback handoff orchestrator; do
	is "$dialect: unanswered" '' "$(faults $dialect '')"
done
is 'orchestrator: answered' '' "$(faults orchestrator "$yes
$yes
$yes
$yes
$bye")"
ok 'orchestrator: what was answered is used' grep -q 'answer: jwt' "$tmp/orchestrator.ndjson"
ok 'orchestrator: leaves when told to' grep -q leaving "$tmp/orchestrator.ndjson"
is 'feedback: answered' '' "$(faults feedback '{"iteration":2}')"
is 'envelope: answered' '' "$(faults envelope '{"context":{}}')"
is 'handoff: answered' '' "$(faults handoff '{"decision":"approve"}')"

tap_end
