# Recordings of a real codex: every line is of the dialect and none an error, in a log of one direction,
# as a conversation, and in the rollouts that codex keeps itself; what it asked, and what became of that.
. "$srcdir/tests/tap.sh"

recordings=$srcdir/tests/fixtures/agents
captures=$XDG_STATE_HOME/gavel/captures/run
mkdir -p -m 700 "$XDG_STATE_HOME/gavel" "$XDG_STATE_HOME/gavel/captures" "$captures"

# Errors, and lines that are not codex's, of the log $1; the broken line of codex-answer-bad is text.
faults() {
	"$GAVEL" check --all --format=json "$1" | grep -e '"valid":false' -e '"dialect":"[^c]' |
		grep -v '"dialect":"text","kind":"log","valid":true.*json/syntax'
}

# kind, verdict and delivery of all items of $1, a line each
items() {
	"$GAVEL" show inbox --all --format=json "$1" | sed \
		's/.*"kind":"\([a-z]*\)".*"verdict":"\([a-z]*\)".*"delivery":"\([a-z]*\)".*/\1 \2 \3/'
}

: >"$tmp/faults"
: >"$tmp/with_items"
for both in "$recordings"/codex-*.both.ndjson; do
	name=$(basename "$both" .both.ndjson)
	capture=$captures/$name.ndjson
	"$TO_CAPTURE" codex codex <"$both" >"$capture" || echo "$name" >>"$tmp/faults"
	grep -v '^	' "$capture" >"$tmp/$name.out.ndjson"
	grep '^	' "$capture" | grep -v '^	{"gavel"' | cut -c2- >"$tmp/$name.in.ndjson"
	for log in "$capture" "$tmp/$name.out.ndjson" "$tmp/$name.in.ndjson"; do
		faults "$log" | sed "s|^|$log: |" >>"$tmp/faults"
	done
	"$GAVEL" show inbox --all "$tmp/$name.in.ndjson" | grep permission >>"$tmp/with_items"
done
is 'both directions, alone and together: all of codex, no errors' '' "$(cat "$tmp/faults")"
is 'what a client says raises nothing' '' "$(cat "$tmp/with_items")"

for log in "$recordings"/codex-rollout-*.jsonl; do
	faults "$log"
	items "$log"
	"$GAVEL" check "$log" | grep -e warning: -e note:
done >"$tmp/rollouts"
is 'rollouts: all of codex, and nothing to decide' '' "$(cat "$tmp/rollouts")"

# ---- what became of it ----

is 'accepted' 'permission accepted acknowledged' "$(items "$captures/codex-accept.ndjson")"
is 'a change of files' 'permission accepted acknowledged' "$(items "$captures/codex-patch-accept.ndjson")"
is 'declined' 'permission rejected acknowledged' "$(items "$captures/codex-decline.ndjson")"
is 'declined with a reason' 'permission rejected acknowledged' \
	"$(items "$captures/codex-decline-with-reason.ndjson")"
is 'cancelled' 'permission rejected acknowledged' "$(items "$captures/codex-cancel.ndjson")"
is 'a question' 'question answered acknowledged' "$(items "$captures/codex-request-input.ndjson")"
is 'answered elsewhere' 'permission withdrawn none' "$(items "$captures/codex-attach-tui-answers.ndjson")"
for end in eof-pending killed nobody; do
	is "$end: nobody can answer it any more" 'permission expired none' \
		"$(items "$captures/codex-$end.ndjson")"
done
is 'resumed: not asked again' '' "$(items "$captures/codex-killed-resumed.ndjson")"
is 'only what can be used is proven' 'permission rejected sent
permission rejected sent
permission accepted acknowledged' "$(items "$captures/codex-answer-bad.ndjson")"
is '... and the rest is told' '4' \
	"$("$GAVEL" check "$captures/codex-answer-bad.ndjson" | grep -c 'warning: .*codex/answer-request')"
is 'in a log the client has said it' 'permission accepted none' \
	"$(cat "$captures/codex-accept.ndjson" | sed '1d;/^	{"gavel"/d;s/^	//' >"$tmp/both.ndjson" &&
		items "$tmp/both.ndjson")"

# ---- without asking ----

# the same call, if nobody had been asked
grep -v -e requestApproval -e '"decision"' -e serverRequest/resolved "$captures/codex-accept.ndjson" >"$captures/unasked.ndjson"
ok 'what ran without asking is noted with the mode' sh -c '"$0" check "$1" |
	grep "note: .*was run without asking: the mode is \"on-request\""' \
	"$GAVEL" "$captures/unasked.ndjson"
sed 's/"on-request"/"untrusted"/' "$captures/unasked.ndjson" >"$captures/untrusted.ndjson"
ok '... and warned about where the mode asks' sh -c '"$0" check "$1" |
	grep "warning: .*was run without asking, although"' "$GAVEL" "$captures/untrusted.ndjson"
for kind in session execpolicy; do
	ok "$kind: ... or with what allowed it" sh -c '"$0" check "$1" |
		grep "note: .*was run without asking; line [0-9]* of the replies allows some calls for good"' \
		"$GAVEL" "$captures/codex-accept-$kind.ndjson"
done
is 'looking is no change' '' \
	"$("$GAVEL" check "$captures/codex-plain-command.ndjson" | grep -v '^0 errors, 0 warnings, 0 notes')"

# ---- tasks, costs, words ----

"$GAVEL" show timeline --format=json "$captures/codex-answer-bad.ndjson" >"$tmp/tasks"
is 'a turn is a task' '3' "$(grep -c '"state":"completed"' "$tmp/tasks")"
"$GAVEL" show timeline --size=120x20 "$captures/codex-answer-bad.ndjson" >"$tmp/timeline"
for words in go again third; do
	ok "... named by its prompt: $words" grep -q "#SC:cx-cmd# $words .*codex" "$tmp/timeline"
done
ok 'a turn that was cancelled' sh -c '"$0" show timeline --format=json "$1" |
	grep "\"state\":\"cancelled\""' "$GAVEL" "$captures/codex-cancel.ndjson"
ok 'rollouts have turns with titles, too' sh -c '"$0" show timeline --size=120x20 "$1" |
	grep "#SC:cx-cmd# go .*completed"' "$GAVEL" "$recordings/codex-rollout-accept.jsonl"
for log in "$captures/codex-accept.ndjson" "$recordings/codex-rollout-accept.jsonl"; do
	ok "tokens are counted once: $(basename "$log")" sh -c '"$0" show agents --format=json "$1" |
		grep "\"tokens_in\":468,\"tokens_out\":112,\"tokens_cached\":2000"' "$GAVEL" "$log"
done
ok 'a plan is shown' sh -c '"$0" show messages --size=120x60 "$1" | grep "plan: # Plan"' \
	"$GAVEL" "$captures/codex-proposed-plan.ndjson"

exec_log() {
	cat <<-'EXEC'
		{"type":"thread.started","thread_id":"01a1e884-bef9-7443-a491-7ce85f7b946b"}
		{"type":"turn.started"}
		{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'touch a'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
		{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'touch a'","aggregated_output":"","exit_code":0,"status":"completed"}}
		{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Done."}}
		{"type":"turn.completed","usage":{"input_tokens":1234,"cached_input_tokens":1000,"output_tokens":56}}
	EXEC
}
exec_log >"$tmp/exec.ndjson"
is 'codex exec: all of codex' '' "$(faults "$tmp/exec.ndjson")"
ok '... where nobody is asked' sh -c '"$0" check "$1" | grep "note: .*codex exec, which asks nobody"' \
	"$GAVEL" "$tmp/exec.ndjson"
is '... nor is anything to decide' '' "$(items "$tmp/exec.ndjson")"

# ---- detection ----

cat >"$tmp/others.ndjson" <<'EOF2'
{"method":"GET","path":"/index.html","status":200}
{"method":"POST","params":{"a":1},"level":"info"}
{"id":5,"result":"ok","level":"info"}
{"id":5,"error":"failed","time":1}
{"id":5,"result":1,"error":2}
{"id":{"a":1},"result":1}
{"result":1}
{"type":"item.shipped","item":{}}
{"type":"user","name":"ann"}
{"params":{}}
EOF2
is 'what is not of codex is not taken for it' '' \
	"$("$GAVEL" check --all --format=json "$tmp/others.ndjson" | grep '"dialect":"codex"')"

# ---- deciding ----

sed '/"gavel":"exit"/d' "$captures/codex-nobody.ndjson" >"$tmp/waits.ndjson"
item=$("$GAVEL" show inbox --format=json "$tmp/waits.ndjson" | sed 's/.*"id":"\([^"]*\)".*/\1/')
thread=${item%/*}
turn=$(sed -n 's/.*"turn\/started".*"turn":{"id":"\([^"]*\)".*/\1/p' "$tmp/waits.ndjson")
is 'all that can be said' '"verbs":["accept","always","reject","stop","escalate"]' \
	"$("$GAVEL" show inbox --format=json "$tmp/waits.ndjson" | grep -o '"verbs":[^]]*]')"
ok 'decided' "$GAVEL" decide "$tmp/waits.ndjson" "$item" reject --explain='use build/' --deliver
is 'the reason, above all numbers that were told, then the answer' \
	"{\"id\":4,\"method\":\"turn/steer\",\"params\":{\"threadId\":\"$thread\",\"expectedTurnId\":\"$turn\",\"input\":[{\"type\":\"text\",\"text\":\"use build/\"}]}}
{\"id\":0,\"result\":{\"decision\":\"decline\"}}" "$(cat "$tmp/waits.ndjson.replies.ndjson")"
is 'it is said' 'permission rejected sent' "$(items "$tmp/waits.ndjson")"
is '... once' 'refused' "$("$GAVEL" decide "$tmp/waits.ndjson" "$item" accept --deliver >/dev/null 2>&1 || echo refused)"

# A second reviewer has only the queue.
grep -v '"gavel":"exit"' "$captures/codex-patch-accept.ndjson" | sed '/"decision":"accept"/,$d' |
	sed '$d' >"$tmp/patch.ndjson"
item=$("$GAVEL" show inbox --format=json "$tmp/patch.ndjson" | sed 's/.*"id":"\([^"]*\)".*/\1/')
ok 'escalated' "$GAVEL" decide "$tmp/patch.ndjson" "$item" escalate --explain='not mine' \
	--escalate-to="$tmp/queue.ndjson" --deliver
is '... nothing is said, the agent waits' 'no' "$([ -s "$tmp/patch.ndjson.replies.ndjson" ] && echo yes || echo no)"
queued=$("$GAVEL" show inbox --format=json "$tmp/queue.ndjson" | sed 's/.*"id":"\([^"]*\)".*/\1/')
"$GAVEL" show item "$queued" "$tmp/queue.ndjson" >"$tmp/queued"
ok 'the second reviewer sees the diff' grep -q '+# project' "$tmp/queued"
ok '... and answers' "$GAVEL" decide "$tmp/queue.ndjson" "$queued" reject --explain='too much' \
	--reply="$tmp/second.ndjson" --deliver
ok '... with a number above those that were told' grep -q '^{"id":4,"method":"turn/steer"' "$tmp/second.ndjson"
ok '... in the words of codex' grep -q '^{"id":0,"result":{"decision":"decline"}}$' "$tmp/second.ndjson"

tap_end
