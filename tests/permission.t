# What a real agent waits for, as people and scripts decide it: tool calls, questions and plans of a capture.
# The bytes are those of the recordings; nothing is sent that was not on the pre-flight page.
. "$srcdir/tests/tap.sh"

HOME=$tmp
export HOME
unset VISUAL EDITOR NO_COLOR
cd "$tmp" || exit 99
cp "$GAVEL_FIXTURES/agents/waiting.ndjson" . || exit 99
{
	cat waiting.ndjson
	echo '{"type":"control_cancel_request","request_id":"2c507d54-ea50-44d2-85c5-71eea85b02c4"}'
	printf '\t{"gavel":"exit","n":1,"code":0,"t":1794902300000}\n'
} >over.ndjson

bash=2c507d54-ea50-44d2-85c5-71eea85b02c4
edit=2d3eb450-37ca-41ba-b173-c4477f96707e
question=13be4264-27ae-4761-8699-2f2ff6da8c8c
plan=ad74055d-0a09-439e-82e4-77994d7257da

# field NAME: of JSON objects, a value that has no comma, brace or bracket in it
field() { sed -n "s/.*\"$1\":\([^],}]*\).*/\1/p"; }
# decide ITEM VERB [OPTION...]: delivered to a new file
decide() {
	rm -rf journal replies
	item=$1
	verb=$2
	shift 2
	"$GAVEL" decide waiting.ndjson "$item" "$verb" --deliver --as=ann --journal=journal --reply=replies "$@" >out 2>err
	code=$?
}
# sent NAME WANTED: the answer inside the last reply
sent() {
	is "$1" "0 {\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"$item\",\"response\":$2}}" \
		"$code $(tail -n 1 replies 2>/dev/null)"
}
# refused NAME WHY
refused() {
	is "$1" "1 gavel: $item: $2" "$code $(cat err)"
	ok '... and nothing is sent' [ ! -e replies ]
}

# ---- what is told of it ----

is 'the inbox: kinds and verbs' \
	"permission accept,always,partial,reject,stop,escalate
permission accept,always,partial,reject,stop,escalate
question reject,stop,answer,escalate
plan accept,reject,stop,escalate" \
	"$("$GAVEL" show inbox --format=json waiting.ndjson | sed 's/.*"kind":"\([a-z]*\)".*"verbs":\[\([^]]*\)\].*/\1 \2/; s/"//g')"
is 'a page: where it runs' '"/home/u/proj"' "$("$GAVEL" show item $bash --format=json waiting.ndjson | field folder)"
is '... what was done before, newest first' 'Bash: touch a2.txt|Bash: touch p1.txt|Read: /home/u/proj/README.md' \
	"$("$GAVEL" show item $bash --format=json waiting.ndjson | sed 's/.*"recent":\[\([^]]*\)\].*/\1/; s/{"line":[0-9]*,"summary":"\([^"]*\)"},*/\1|/g; s/|$//')"
is '... not what came later' 'Read: /home/u/proj/README.md' \
	"$("$GAVEL" show item 00c439b8-eceb-48db-922a-971d5e9da1e8 --format=json waiting.ndjson | sed 's/.*"recent":\[{"line":[0-9]*,"summary":"\([^]]*\)"}\].*/\1/')"
is 'agents: asked, unasked' '3 1
0 0' "$("$GAVEL" show agents --format=json waiting.ndjson | sed 's/.*"asked":\([0-9]*\),"unasked":\([0-9]*\),.*/\1 \2/')"
is '... as of then' '1 0' \
	"$("$GAVEL" show agents --at='#9' --format=json waiting.ndjson | sed -n '1s/.*"asked":\([0-9]*\),"unasked":\([0-9]*\),.*/\1 \2/p')"
is '... in the summary' 3,1 "$("$GAVEL" show summary --format=json waiting.ndjson | sed 's/.*"asked":\([0-9]*\),"unasked":\([0-9]*\),.*/\1,\2/')"
is '... in the report' '| `claude` | 17 | 0 | 0 | 0 | $0.0000 | 3 | 1 |' "$("$GAVEL" show report waiting.ndjson | grep '^| .claude. | 17')"

# ---- decide ----

decide $bash accept
sent accept '{"behavior":"allow","updatedInput":{"command":"npm run build","description":"Build the project"}}'
decide $bash always
sent 'always: the first rule' '{"behavior":"allow","updatedInput":{"command":"npm run build","description":"Build the project"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm run build"}],"behavior":"allow","destination":"localSettings"}]}'
decide $bash always --offer=3
sent 'always: another one' '{"behavior":"allow","updatedInput":{"command":"npm run build","description":"Build the project"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}'
"$GAVEL" decide waiting.ndjson $bash always --offer=3 --as=ann --journal=journal --reply=replies --format=json >out 2>err
is 'the same again' 'true' "$(field repeated <out)"
ok 'another rule is another decision' [ "$("$GAVEL" decide waiting.ndjson $bash always --offer=1 --as=ann --journal=journal --reply=replies 2>&1 >/dev/null | grep -c 'already decided: accepted by ann')" = 1 ]
decide $bash always --rule='Bash(npm run *)'
ok 'always: a rule of one'\''s own' grep -q '"ruleContent":"npm run \*"' replies
decide $bash reject --explain='Not now.'
sent reject '{"behavior":"deny","message":"Not now."}'
decide $bash stop --explain='Enough.'
sent stop '{"behavior":"deny","message":"Enough.","interrupt":true}'
decide $bash stop
refused 'stop without a reason' 'a rejection needs a reason code or an explanation'
printf '{\n  "command": "npm run build --dry-run"\n}\n' >input.json
decide $bash partial --edit=input.json
sent 'partial: the edited input' '{"behavior":"allow","updatedInput":{"command":"npm run build --dry-run"}}'
echo '["ls"]' >input.json
decide $bash partial --edit=input.json
refused 'an input that is no object' 'the edited input is no JSON object'
decide $bash partial --edit=nowhere.json
refused 'no such file' 'nowhere.json: No such file or directory; check the name and who may read it'
decide $plan always
refused 'a verb that it does not take' "can't always allow this; available: accept, reject, stop, escalate"
decide $plan accept
ok 'a plan' grep -q '"behavior":"allow"' replies
decide $question answer --answer=JWT --answer='Linux, Windows'
ok 'several questions: an answer each' grep -q '"answers":{"Which auth method should we use?":"JWT","Which platforms?":"Linux, Windows"}' replies
decide $question answer --answer= --answer='Linux'
ok 'one of them is left out' grep -q '"answers":{"Which platforms?":"Linux"}' replies
decide $question answer --answer=JWT --answer=Linux --answer=x
refused 'more answers than questions' 'more answers than questions; give --answer once for each, in their order'
is 'decisions: which rule' 3 "$(decide $bash always --offer=3; "$GAVEL" show decisions --format=json --journal=journal --reply=replies waiting.ndjson | grep '"verb":"always"' | field option)"

# ---- it is no longer asked ----

# late ITEM: what decide says on the capture in which it is over
late() {
	"$GAVEL" decide over.ndjson "$1" accept --deliver --journal=late --reply=late.replies 2>&1
	echo " $?"
}
is 'taken back' "gavel: $bash: too late: the agent took it back, or somebody else answered
 1" "$(late $bash)"
is 'the agent is gone' "gavel: $edit: too late: the agent ended
 1" "$(late $edit)"
is 'the inbox says so' "withdrawn the agent took it back, or somebody else answered
expired the agent ended
expired the agent ended
expired the agent ended" \
	"$("$GAVEL" show inbox --all --format=json over.ndjson | grep '"why"' | sed 's/.*"verdict":"\([a-z]*\)".*"why":"\([^"]*\)".*/\1 \2/')"
is 'the history, too' '"withdrawn"' "$("$GAVEL" show item $bash --format=json over.ndjson | sed 's/.*"history"/"history"/' | grep -o '"what":"withdrawn"' | field what)"

# An answer that was sent, and then it was taken back: too late.
decide $bash accept
{ cat waiting.ndjson; sed -n 23p over.ndjson; } >bounced.ndjson
cp bounced.ndjson waiting2 && mv waiting.ndjson waiting1 && cp waiting2 waiting.ndjson
is 'sent, then withdrawn: bounced' 'withdrawn bounced' \
	"$("$GAVEL" show inbox --all --format=json --journal=journal --reply=replies waiting.ndjson | grep "$bash" | sed 's/.*"verdict":"\([a-z]*\)".*"delivery":"\([a-z]*\)".*/\1 \2/')"
ok '... its page says so' sh -c '"$GAVEL" show item '$bash' --journal=journal --reply=replies waiting.ndjson | grep -q "withdrawn: the agent took it back, or somebody else answered · too late: ✓ accepted by ann"'
ok '... and the decisions' sh -c '"$GAVEL" show decisions --size=200 --journal=journal --reply=replies waiting.ndjson | grep -q "bounced .*too late: the agent"'
mv waiting1 waiting.ndjson

# ---- the screen ----

# on_screen KEYS: with a new journal, or $old; prints the screen
old=
on_screen() {
	[ -n "$old" ] || rm -rf journal replies
	printf '%s' "$1" >keys
	"$GAVEL" waiting.ndjson --no-follow --headless --size=100x24 --keys=keys --screen=screen --as=ann \
		--journal=journal --reply=replies 2>&1
	sed '/^---$/,$d' screen
}
lines_of() { wc -l 2>/dev/null <replies | tr -d ' '; }

on_screen 'a<wait:400>y' >screen.txt
is 'one verb key, then y' 1 "$(lines_of)"
on_screen 'a<wait:400>q' >screen.txt
ok 'without y nothing is sent' [ ! -e replies ]
ok '... and it stays staged' grep -q '1 staged' screen.txt
on_screen 'mm;a<wait:400>y' >screen.txt
is 'marked ones go out together' 2 "$(lines_of)"
ok '... and are told as one' grep -q '2 sent' screen.txt
on_screen 'a<wait:400>qja<wait:400>y' >screen.txt
is 'what was staged before is not sent along' "1 $edit" "$(lines_of) $(field request_id <replies | tr -d '"')"
ok '... but stays staged' grep -q '1 staged' screen.txt
old=1 on_screen '$<wait:400>y' >screen.txt
is '... and goes out with the others' 2 "$(lines_of)"
on_screen 'mm;a<wait:400>x<wait:400>y' >screen.txt
is 'a dropped one is not sent' "1 $edit" "$(lines_of) $(field request_id <replies | tr -d '"')"
on_screen ':always 3<Enter><wait:400>y' >screen.txt
ok ':always N' grep -q '"updatedPermissions":\[{"type":"setMode"' replies
on_screen '*Bash(npm *)<Enter><wait:400>y' >screen.txt
ok '* asks for the rule where there are several' grep -q '"ruleContent":"npm \*"' replies
on_screen '*<Enter><wait:400>y' >screen.txt
ok '... the first unless one is chosen' grep -q '"ruleContent":"npm run build"' replies
on_screen 'j*<wait:400>y' >screen.txt
ok '... and does not where there is one' grep -q '"updatedPermissions":\[{"type":"setMode"' replies
on_screen 'TEnough.<Enter><wait:400>y' >screen.txt
ok 'T stops the turn' grep -q '"interrupt":true' replies
on_screen ':partial {"command":"ls"}<Enter><wait:400>y' >screen.txt
ok ':partial INPUT' grep -q '"updatedInput":{"command":"ls"}' replies
on_screen ':partial ls<Enter>' >screen.txt
ok '... must be an object' grep -q 'the edited input is no JSON object: nothing was staged' screen.txt
on_screen 'mm;p' >screen.txt
ok 'inputs are edited one at a time' grep -q 'each call has an input of its own; edit one at a time' screen.txt
on_screen 'jj=2<Enter>3, 1<Enter><wait:400>y' >screen.txt
ok 'questions are asked one after the other' grep -q '"answers":{"Which auth method should we use?":"JWT","Which platforms?":"Windows, Linux"}' replies
on_screen 'jj=Passkeys<Enter><Enter><wait:400>y' >screen.txt
ok '... free text, and none' grep -q '"answers":{"Which auth method should we use?":"Passkeys"}' replies
on_screen 'jj=2<Enter><Esc>' >screen.txt
ok '... Esc leaves all of them' grep -q 'nothing was staged' screen.txt
on_screen 'jj=<Enter><Enter>' >screen.txt
ok '... no answer at all is none' grep -q 'an answer needs its text: nothing was staged' screen.txt

# ---- escalated ----

rm -rf journal replies
"$GAVEL" decide waiting.ndjson $bash escalate --explain='Ask ops.' --deliver --as=ann --journal=journal --reply=replies \
	--escalate-to=queue.ndjson >out 2>err
is 'escalate: only the queue is told' "0 1 no" "$? $(wc -l <queue.ndjson | tr -d ' ') $([ -e replies ] && echo yes || echo no)"
is '... and it stays escalated' 'escalated' \
	"$("$GAVEL" show inbox --all --format=json --journal=journal --reply=replies waiting.ndjson | grep "$bash" | field verdict | tr -d '"')"
"$GAVEL" decide queue.ndjson "$("$GAVEL" show inbox --format=json queue.ndjson | field id | tr -d '"')" accept --deliver --as=bob \
	--journal=ops --reply=replies >out 2>err
is 'a second reviewer answers' "0 $bash" "$? $(field request_id <replies | tr -d '"')"
is '... which decides it' 'accepted' \
	"$("$GAVEL" show inbox --all --format=json --journal=journal --reply=replies waiting.ndjson | grep "$bash" | field verdict | tr -d '"')"

tap_end
