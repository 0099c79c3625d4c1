# Recordings of the real Claude Code (tests/fixtures/agents): all of it is understood, each ask is an
# item with what became of it, and an answer counts as acknowledged only if Claude has used it.
. "$srcdir/tests/tap.sh"

fixtures=$srcdir/tests/fixtures/agents
folder=$XDG_STATE_HOME/gavel/captures/1-1
mkdir -p "$folder" "$tmp/logs"
cd "$folder" || exit 99

# As captures: both directions, and how the process ended. As logs: one direction alone.
for file in "$fixtures"/claude-*.both.ndjson; do
	name=$(basename "$file" .both.ndjson)
	"$TO_CAPTURE" claude claude <"$file" >"$name"
	grep -v '^	' "$name" >"$tmp/logs/$name.stdout"
	sed -n 's/^	\({"type":.*\)/\1/p' "$name" >"$tmp/logs/$name.stdin"
done
ok 'there are recordings' [ "$(ls | wc -l)" -ge 42 ]

# What check says of a file: its last line.
counts() {
	"$GAVEL" check "$1" | sed -n '$p'
}

# ---- dialect

for name in *; do
	case $name in
	claude-malformed) continue ;; # on purpose: a broken line ends Claude
	esac
	ok "$name: all of the conversation is Claude's, without errors" \
		sh -c 'echo "$1" | grep -Eq "^0 errors, .* in [0-9]+ messages \(claude [0-9]+\)$"' _ \
		"$(counts "$name")"
done
is 'a broken line is told' '0 errors, 2 warnings, 0 notes in 9 messages (claude 8, text 1)' "$(counts claude-malformed)"

for log in "$tmp"/logs/*; do
	case $log in
	*/claude-malformed.stdin | */claude-unknown-type.stdin) continue ;;
	esac
	ok "$(basename "$log"): all of one direction alone is, too" \
		sh -c 'echo "$1" | grep -Eq "^0 errors, .* in [0-9]+ messages? \(claude [0-9]+\)$"' _ \
		"$(counts "$log")"
done
is 'a type of nobody is kept as it is' '0 errors, 0 warnings, 0 notes in 3 messages (claude 2, unknown 1)' "$(counts "$tmp/logs/claude-unknown-type.stdin")"
ok '... in a capture as Claude'\''s' sh -c '"$GAVEL" show messages --format=json claude-unknown-type | grep -q "\"kind\":\"x_gavel\""'

for log in "$fixtures"/claude-*.jsonl; do
	name=$(basename "$log")
	ok "transcript $name: all of it is Claude's, without errors and warnings" \
		sh -c 'echo "$1" | grep -Eq "^0 errors, 0 warnings, .* in [0-9]+ messages \(claude [0-9]+\)$"' _ \
		"$(counts "$log")"
	is "transcript $name: raises no items" '' "$("$GAVEL" show inbox --all --format=json "$log")"
done

# ---- items

# "KIND VERDICT DELIVERY TITLE" of each item of a capture.
items() {
	"$GAVEL" show inbox --all --format=json "$1" |
		sed 's/.*"kind":"\([^"]*\)".*"title":"\([^"]*\)".*"verdict":"\([^"]*\)".*"delivery":"\([^"]*\)".*/\1 \3 \4 \2/'
}

while read -r name wanted; do
	is "$name: $wanted" "$wanted" "$(items "claude-$name" | paste -sd'|' -)"
done <<END
allow permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
allow-always permission accepted acknowledged Bash: touch a1.txt
allow-edited permission partial acknowledged Bash: mkdir -p made && date > made/x.txt
allow-one-suggestion permission accepted acknowledged Bash: touch a1.txt|permission accepted acknowledged Bash: touch a2.txt
allow-own-rule permission accepted acknowledged Bash: touch a1.txt
deny permission rejected acknowledged Write: /home/u/proj/notes.txt
deny-interrupt permission rejected acknowledged Bash: mkdir -p made && date > made/x.txt
edit-diff permission accepted acknowledged Edit: /home/u/proj/README.md
parallel permission accepted acknowledged Bash: touch p1.txt|permission rejected acknowledged Bash: touch p2.txt|permission accepted acknowledged Write: /home/u/proj/p3.txt
question question answered acknowledged Which auth method should we use?
question-free question answered acknowledged Which auth method should we use?
question-list question answered acknowledged Which auth method should we use?
question-none question accepted acknowledged Which auth method should we use?
question-declined question rejected acknowledged Which auth method should we use?
plan-approve plan accepted acknowledged Plan
plan-reject plan rejected acknowledged Plan
subagents permission accepted acknowledged Bash: touch suba.txt|permission accepted acknowledged Bash: touch subb.txt
queued-prompts permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
ack-echo permission accepted acknowledged Bash: touch a1.txt|permission rejected acknowledged Bash: touch a2.txt
answer-twice permission accepted acknowledged Bash: touch a1.txt|permission accepted acknowledged Bash: touch a2.txt
answer-wrong permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
answer-bad-behavior permission rejected sent Bash: mkdir -p made && date > made/x.txt
answer-bad-empty permission rejected sent Bash: mkdir -p made && date > made/x.txt
answer-bad-empty-echo permission rejected acknowledged Bash: mkdir -p made && date > made/x.txt
answer-bad-nomsg permission rejected sent Bash: mkdir -p made && date > made/x.txt
answer-error permission rejected sent Bash: mkdir -p made && date > made/x.txt
cancel permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
stdio-and-hook permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
hook-first permission withdrawn none Bash: mkdir -p made && date > made/x.txt
interrupt-pending permission withdrawn none Bash: mkdir -p made && date > made/x.txt
eof-pending permission withdrawn none Bash: mkdir -p made && date > made/x.txt
nobody permission withdrawn none Bash: mkdir -p made && date > made/x.txt
killed permission expired none Bash: mkdir -p made && date > made/x.txt
malformed permission expired none Bash: mkdir -p made && date > made/x.txt
set-mode permission accepted acknowledged Write: /home/u/proj/notes.txt
sdk-hooks permission accepted acknowledged Bash: mkdir -p made && date > made/x.txt
init
interrupt
tasks
eof-early
killed-resumed
END

# The echo is the answer where the answer itself is not in the log.
is 'a log of its output alone: the echo tells the verdict' 'permission accepted|permission rejected' \
	"$(items "$tmp/logs/claude-ack-echo.stdout" | cut -d' ' -f1,2 | paste -sd'|' -)"

# Answers that Claude ignored are told as such.
warnings() {
	"$GAVEL" check "claude-$1" | sed -n 's/^.*: warning: [^ ]* \(.*\) \[.*/\1/p' | paste -sd'|' -
}
is 'wrong id, second answer, late answer' 'answers "no-such-id", which was not asked|a second answer to line 8; agents use the first|a second answer to line 18; agents use the first' "$(warnings ack-echo)"
is 'two more answers to one ask' 'a second answer to line 7; agents use the first|a second answer to line 7; agents use the first' "$(warnings answer-twice)"
is 'an answer after the ask was withdrawn' 'line 8 asks no more; the agent ignores this' "$(warnings interrupt-pending)"
is 'an answer that Claude cannot use' '"maybe" is neither allow nor deny; Claude takes it for a denial' "$(warnings answer-bad-behavior)"
is "hooks' answers are none to an ask" '' "$(warnings sdk-hooks)"

# ---- deciding

# Decides the first ask of a recording as the person there did: the same bytes.
decided() {
	name=$1
	shift
	log=$tmp/$name.log
	sed '/"can_use_tool"/q' "$tmp/logs/claude-$name.stdout" >"$log"
	id=$(sed -n 's/^{"type":"control_request","request_id":"\([^"]*\)".*/\1/p' "$log")
	"$GAVEL" decide "$log" "$id" "$@" --as=ann --deliver >/dev/null &&
		cat "$log.replies.ndjson"
}

# What the recording's client said first.
recorded() {
	sed -n '/^{"type":"control_response"/{p;q;}' "$tmp/logs/claude-$1.stdin"
}

is 'accept' "$(recorded allow)" "$(decided allow accept)"
is 'accept a plan' "$(recorded plan-approve)" "$(decided plan-approve accept)"
is 'reject' "$(recorded deny)" "$(decided deny reject --explain='Rejected by reviewer: keep notes in docs/')"
is 'reject and stop' "$(recorded deny-interrupt)" "$(decided deny-interrupt stop --explain='Stop. This is not what I asked for.')"
is 'always, the first offer' "$(recorded allow-one-suggestion)" "$(decided allow-one-suggestion always)"
is 'answer' "$(recorded question)" "$(decided question answer --answer='JWT
Linux, macOS')"
is 'answer in words of one'\''s own' "$(recorded question-free)" "$(decided question-free answer --answer='mTLS, because of the audit
Linux')"
is 'decline to answer' "$(recorded question-declined)" "$(decided question-declined reject --explain='The person declined to answer; decide yourself.')"
cat "$tmp/allow.log.replies.ndjson" >"$tmp/echo"
cat "$tmp/echo" >>"$tmp/allow.log" # as --replay-user-messages does
is 'what Claude repeats is acknowledged' 'permission accepted acknowledged' "$(items "$tmp/allow.log" | cut -d' ' -f1-3)"

# ---- what ran without asking

notes() {
	"$GAVEL" check "claude-$1" | sed -n 's/^.*: note: [^ ]* \(.*\) \[claude\/tool-unasked\]/\1/p' | paste -sd'|' -
}
is 'after "always"' '"Bash" was run without asking: allowed by "rules"' "$(notes allow-always)"
is 'after a rule of our own' '"Bash" was run without asking: allowed by "rules"' "$(notes allow-own-rule)"
is 'after a change of the mode' '"Write" was run without asking: allowed by "mode"' "$(notes set-mode)"
is 'reading a file is not worth a note' '' "$(notes edit-diff)"
is 'what was asked for is none' '' "$(notes allow)"

# ---- tasks, agents, usage

tasks() {
	"$GAVEL" show timeline --size=100x30 "$1" | sed -n 's/^\([^─]*[^ ]\) *claude  *\([^ ]\).*/\1 \2/p' | paste -sd'|' -
}
is 'turns are named by their prompts, tasks by their subjects' \
	'turn 1 #SC:cl-tasks# go ✓|task 1 Read spec ✓|task 2 Write code ○|turn 2 #SC:cl-todo# go ✓' "$(tasks claude-tasks)"
is '... in a transcript, too' \
	'turn 1 #SC:cl-tasks# go ✓|task 1 Read spec ✓|task 2 Write code ○|turn 2 #SC:cl-todo# go ✓' "$(tasks "$fixtures/claude-tasks.jsonl")"
is 'an interrupted turn is cancelled, the next one is not' \
	'turn 1 #SC:cl-slow# go ×|turn 2 #SC:cl-hi# again ✓' "$(tasks claude-interrupt)"
is 'a killed one is cancelled' 'turn 1 #SC:cl-bash# go ×' "$(tasks claude-killed)"
is 'a prompt that joins a turn begins none' 'turn 1 #SC:cl-bash# go ✓' "$(tasks claude-queued-prompts)"
is 'repeated prompts give titles where nothing else does' 'turn 1 #SC:cl-bash# go ✓' "$(tasks "$tmp/logs/claude-queued-prompts.stdout")"

"$GAVEL" show agents --format=json claude-subagents >agents
ok 'subagents have names' sh -c 'grep -q "\"agent\":\"Worker A\"" agents && grep -q "\"agent\":\"Worker B\"" agents'
ok '... and tasks' sh -c '"$GAVEL" show timeline claude-subagents | grep -q "^Worker A  *Worker A  *✓"'
ok '... are told who asks' sh -c '"$GAVEL" show inbox --all --format=json claude-subagents | grep -q "\"agent\":\"Worker B\""'

cost() {
	"$GAVEL" show summary "$1" | sed -n 's/^tokens  *\(.*\)$/\1/p'
}
is 'the cost is a running total, tokens are per turn' '$0.0129   1.6k in   392 out   7.0k cached' "$(cost claude-tasks)"
is "the transcript of the same session says the same" '$0.0129   1.6k in   392 out   7.0k cached' "$(cost "$fixtures/claude-tasks.jsonl")"

# ---- the page

"$GAVEL" show item "$("$GAVEL" show inbox --all --format=json claude-edit-diff | sed 's/.*"id":"\([^"]*\)","dialect.*/\1/')" claude-edit-diff >page
ok 'an edit is shown as a diff' sh -c 'grep -q "^diff  *-# proj$" page && grep -q "^  *+# project$" page'
ok '... and what "always" would mean' grep -q '^always  1  mode acceptEdits  for this session' page

tap_end
