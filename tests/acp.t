# Recordings of real ACP agents, as captures: what a person sees of them, and what deciding writes.
. "$srcdir/tests/tap.sh"

recordings=$srcdir/tests/fixtures/agents
cd "$tmp" || exit 99

# A capture of recording $1, named after it.
capture() {
	"$TO_CAPTURE" "$(echo "$1" | cut -d- -f2)" acp <"$recordings/$1.both.ndjson" >"$1.ndjson"
}

for file in "$recordings"/acp-*.both.ndjson; do
	capture "$(basename "$file" .both.ndjson)"
done
ok 'there are captures of four agents' [ "$(find . -name 'acp-*.ndjson' | wc -l)" -ge 60 ]

"$GAVEL" check --format=json --all ./acp-*.ndjson >all
is 'every line is acp, but for those that were broken on purpose' '4 text' \
	"$(sed -n 's/.*"dialect":"\([a-z]*\)".*/\1/p' all | grep -v '^acp$' | sort | uniq -c | sed 's/^ *//')"
is 'none of them has an error' 0 "$(grep -c '"severity":"error"' all)"
is 'only bad and late answers warn' 'acp-claude-answer-bad acp-claude-cancel acp-codex-answer-bad acp-codex-cancel acp-gemini-answer-bad acp-gemini-cancel acp-opencode-answer-bad acp-opencode-cancel' \
	"$(grep '"severity":"warning"' all | sed 's/.*"source":"\([^"]*\)".*/\1/' | xargs -n1 basename -s .ndjson | sort -u | paste -sd' ' -)"

is 'nothing waits after the agent has ended' 'Nothing waits for a decision.' \
	"$("$GAVEL" show inbox acp-opencode-eof-pending.ndjson | tail -1)"

# The agent still waits: its capture up to its ask.
grep -v '"gavel":"exit"' acp-opencode-eof-pending.ndjson >waits.ndjson
item=ses_e17728249ffegUPVpHaK8EX6Yw/call_3t4rd0q81h
"$GAVEL" show inbox --format=json waits.ndjson >inbox
ok 'what waits is a permission' grep -q "\"id\":\"$item\",\"dialect\":\"acp\",\"kind\":\"permission\"" inbox
ok '... of the agent that the capture names, in its turn' grep -q '"task":"prompt-3","agent":"opencode"' inbox
ok '... with the verbs that the ask allows' grep -q '"verbs":\["accept","always","reject","stop","escalate"\]' inbox
"$GAVEL" show item "$item" waits.ndjson >page
ok 'its page has the command' grep -q '^command  *mkdir -p made && date > made/x.txt$' page
ok '... its folder, from the message before it' grep -q '^folder  *' page
ok '... and what is offered for good' grep -q '^always  *1  Always allow$' page

ok 'a rejection is delivered' "$GAVEL" decide waits.ndjson "$item" reject --explain='Not there' --deliver
is '... as the option of its kind' \
	'{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"reject"}}}' \
	"$(cat waits.ndjson.replies.ndjson)"
ok '... and cannot be taken back' \
	sh -c "! '$GAVEL' decide waits.ndjson $item accept --deliver 2>refusal && grep -q 'cannot be taken back\|already decided' refusal"

grep -v '"gavel":"exit"' acp-gemini-eof-pending.ndjson >stops.ndjson
stopped=$("$GAVEL" show inbox --format=json stops.ndjson | sed 's/^{"id":"\([^"]*\)".*/\1/')
ok 'a turn is stopped' "$GAVEL" decide stops.ndjson "$stopped" stop --explain='Enough' --deliver
is '... by a notification, and then the answer' 'session/cancel
{"outcome":"cancelled"}' \
	"$(sed 's/.*"method":"\([^"]*\)".*/\1/; s/.*"outcome":\({.*}\)}}$/\1/' stops.ndjson.replies.ndjson)"

"$GAVEL" show agents --format=json acp-opencode-answer-bad.ndjson >agents
ok 'tokens and costs are counted' grep -q '"cost":0.00736' agents
is 'turns are tasks, titled by their prompts' 'prompt-3 #SC:oc-bash# go
prompt-4 #SC:oc-bash# again
prompt-5 #SC:oc-bash# third' \
	"$("$GAVEL" show timeline acp-opencode-answer-bad.ndjson | sed -n 's/^\(prompt-[0-9] #SC:oc-bash# [a-z]*\) .*/\1/p')"

tap_end
