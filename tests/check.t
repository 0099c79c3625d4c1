# gavel check from the outside: formats, exit codes, sources, bad input.
. "$srcdir/tests/tap.sh"

# exit_of WANTED COMMAND...
exit_of() {
	wanted=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat "$tmp/out" "$tmp/err"; return 1; }
}

good='{"type":"event:log","id":"5337e14e-4ca2-463b-9c66-46f0b061f9ac","timestamp":"2026-02-04T14:30:00Z","payload":{"level":"info","message":"hello"}}'
bad='{"type":"event:log","id":"6337e14e-4ca2-463b-9c66-46f0b061f9ac","timestamp":"2026-02-04T14:30:01Z","payload":{"level":"loud","message":"hello"}}'
warn='{"type":"event:log","id":"evt-1","timestamp":"2026-02-04T14:30:01Z","payload":{"level":"info","message":"hello"}}'

printf '%s\n' "$good" >"$tmp/good"
printf '%s\n' "$good" "$bad" >"$tmp/bad"
printf '%s\n' "$warn" >"$tmp/warn"
cd "$tmp" || exit 99

ok 'a good log: exit 0' exit_of 0 "$GAVEL" check good
is 'the closing count' '0 errors, 0 warnings, 0 notes in 1 message (orchestrator 1)' "$(cat out)"
ok 'an error: exit 1' exit_of 1 "$GAVEL" check bad
is 'text form' 'bad:2: error: /payload/level: "loud" is not one of: info, warn, error [orchestrator/log-level]' "$(sed -n 1p out)"
ok 'a warning: exit 0' exit_of 0 "$GAVEL" check warn
ok 'a warning with --strict: exit 1' exit_of 1 "$GAVEL" check --strict warn
ok 'no such file: exit 2' exit_of 2 "$GAVEL" check nowhere
ok 'and one line that says so' grep -q '^gavel: nowhere: ' err
ok 'one file missing, the other still checked' exit_of 2 "$GAVEL" check nowhere bad
ok 'its errors are printed' grep -q '^bad:2: error' out
ok 'an unknown option: exit 2' exit_of 2 "$GAVEL" check --nonsense good
ok 'an option of another command: exit 2' exit_of 2 "$GAVEL" check --at='#1' good
ok 'a wrong format: exit 2' exit_of 2 "$GAVEL" check --format=xml good
ok 'a wrong filter: exit 2' exit_of 2 "$GAVEL" check --filter=kind good --filter=colour:red

record='{"line":2,"dialect":"orchestrator","kind":"event:log","valid":false,"diagnostics":[{"rule":"orchestrator/log-level","severity":"error","pointer":"/payload/level","message":"\"loud\" is not one of: info, warn, error"}]}'
is 'json: a record for a message with diagnostics' "$record" "$("$GAVEL" check --format=json bad)"
is 'json --all: a record for every message' 2 "$("$GAVEL" check --format json --all bad | wc -l)"
is 'a valid message has an empty list' '{"line":1,"dialect":"orchestrator","kind":"event:log","valid":true,"diagnostics":[]}' "$("$GAVEL" check --format=json --all good)"
is 'several files: the source is named' '"source":"bad"' "$("$GAVEL" check --format=json good bad | grep -o '"source":"[a-z]*"')"
is 'standard input' "$record" "$("$GAVEL" check --format=json <bad)"
is 'standard input as -, through a pipe' "$record" "$(cat bad | "$GAVEL" check --format=json -)"
is 'a filter leaves out the rest' 0 "$("$GAVEL" check --format=json --all --filter=loud good | wc -l)"

printf '\357\273\277%s\r\n\r\n   \n%s' "$good" "$bad" >odd
is 'BOM, CRLF, blank lines, no last newline' '1 4' "$("$GAVEL" check --format=json --all odd | sed 's/.*"line":\([0-9]*\).*/\1/' | paste -sd' ')"
printf '%s\n' 'plain text' '{"a":1}' '[1' '"text"' 'null' >mixed
is 'text and JSON of no known shape' 'text/log unknown/json text/log unknown/json unknown/json' \
	"$("$GAVEL" check --format=json --all mixed | sed 's/.*"dialect":"\([a-z]*\)","kind":"\([a-z]*\)".*/\1\/\2/' | paste -sd' ')"

printf '{"messages": [\n  %s,\n  %s\n]}\n' "$good" "$bad" >session.json
is 'a document: lines are elements' "$record" "$("$GAVEL" check --format=json session.json)"

id=a1b2c3d4-0000-4000-8000-000000000001
mkdir queue
printf '{\n "task_id": "%s", "task_type": "post", "priority": "high", "context": {},\n "acceptance_criteria": [], "created_at": "2026-02-04T10:00:00Z", "status": "pending"\n}\n' "$id" >"queue/task-$id.json"
printf '{"task_id":"%s","status":"success","confidence_score":0.95,"output":{},"traces":"t","artifacts":[],"created_at":"2026-02-04T10:01:00Z"}' "$id" >"queue/result-$id.json"
printf '# Notes\n\nlooks fine\n' >"queue/review-$id.md"
is 'a directory of hand-off files' 'decision 0 result 1 task 1 log 1' \
	"$("$GAVEL" check --format=json --all queue | awk '/"task"/{t++} /"result"/{r++} /"log"/{l++} END {print "decision 0 result", r, "task", t, "log", l}')"
mv "queue/task-$id.json" "queue/task-b1b2c3d4-0000-4000-8000-000000000001.json"
ok 'task_id against the file name' sh -c '"$GAVEL" check queue | grep -q "warning: /task_id: .*naming-task_id"'

"$GAVEL" check --format=sarif bad good >out
is 'sarif: exit code' 1 $?
ok 'sarif: version, rule, level, place' sh -c 'grep -q "\"version\":\"2.1.0\"" out && grep -q "\"ruleId\":\"orchestrator/log-level\",\"level\":\"error\"" out && grep -q "\"uri\":\"bad\"},\"region\":{\"startLine\":2}" out && tail -n 1 out | grep -q "]}]}"'

head -c 300000 /dev/urandom >noise
ok 'noise is log lines, not a crash' exit_of 0 "$GAVEL" check noise
ok 'and a banner' grep -q 'noise: binary?' err
head -c 1000000 /dev/zero | tr '\0' '[' >deep
ok 'a million brackets' exit_of 0 "$GAVEL" check deep
ok 'are said to be too deep' grep -q 'json/depth' out
head -c 3000000 /dev/zero | tr '\0' x >long
ok 'a line over the limit' exit_of 0 "$GAVEL" check --max-line=1M long
ok 'is told with its size' grep -q 'oversize, 3000000 bytes' out
: >empty
ok 'an empty file' exit_of 0 "$GAVEL" check empty
ok 'output to a full disk is an error' sh -c '"$GAVEL" check bad >/dev/full 2>err; [ $? = 2 ] && grep -q "cannot write" err'
mkdir hostile.d
printf '%s\n' "$bad" >"hostile.d/$(printf 'a\033]0;x\007.ndjson')"
head -c 3000 /dev/urandom >"hostile.d/$(printf 'b\033[31m.log')"
ok 'nor one of a file name' sh -c '"$GAVEL" check hostile.d 2>&1 | LC_ALL=C tr -d "\n\040-\176\200-\377" | wc -c | grep -qx " *0"'
printf '%s\n' '{"type":"event:log\u001b]0;x\u0007","id":"1","timestamp":"\u001b[31m","payload":{}}' >hostile
ok 'no control byte reaches the terminal' sh -c '"$GAVEL" check hostile | LC_ALL=C tr -d "\n\040-\176" | wc -c | grep -qx " *0"'

awk 'BEGIN {
	printf "{\"type\":\"event:log\",\"id\":\"5337e14e-4ca2-463b-9c66-46f0b061f9ac\",\"timestamp\":\"2026-02-04T14:30:00Z\","
	printf "\"payload\":{\"level\":\"loud\",\"message\":\"hello\"}"
	for (i = 0; i < 350; i++)
		printf ",\"m%d\":%d", i, i
	print "}" }' >many
"$GAVEL" check many >out
is 'many notes of one kind are counted' '1 error, 0 warnings, 350 notes in 1 message (orchestrator 1)' "$(tail -n 1 out)"
is 'a hundred of them are listed' 'many:1: note: /m99: not a field of the protocol [orchestrator/base-unlisted-field]' "$(grep note: out | sed -n 100p)"
is 'and one line tells how many are not' 'many:1: note: 250 more notes of this kind are not listed [orchestrator/base-unlisted-field]' "$(grep note: out | sed -n 101,102p)"
ok 'what else is wrong is listed' grep -q 'many:1: error: /payload/level' out
"$GAVEL" check --format=json many >out
is 'json has their number' 1 "$(grep -c '"pointer":"","message":"250 more notes of this kind are not listed","counted":250}' out)"
"$GAVEL" check --format=sarif many >out
is 'and so has sarif' 1 "$(grep -c '"occurrenceCount":250,"locations"' out)"
sed 's/,"m101.*}/}/' many >few
is 'a single one' 'few:1: note: 1 more note of this kind is not listed [orchestrator/base-unlisted-field]' "$("$GAVEL" check few | grep more)"

tap_end
