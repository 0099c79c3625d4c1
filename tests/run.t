# gavel run from the outside, without a terminal: agents of every protocol and of every bad habit
# (tests/tools/fake_agent.c), several at once, decided on, stopped, restarted, killed, lied by.
. "$srcdir/tests/tap.sh"
slow 'agents that gavel runs'

scripts=$srcdir/tests/fixtures/agents
HOME=$tmp
USER=ann
XDG_CONFIG_HOME=$tmp/config
SECRET_TOKEN=hidden
MY_SETTING=shown
export HOME USER XDG_CONFIG_HOME SECRET_TOKEN MY_SETTING
unset VISUAL EDITOR NO_COLOR
umask 022
cd "$tmp" || exit 99

# ---- what one does again and again ----

# run KEYS WORD...: gavel run with these keys, which end with Q; screens as the keys save them
run() {
	printf '%s' "$1" >keys
	shift
	timeout 60 "$GAVEL" run --headless --size 100x24 --keys keys "$@" >out 2>err
	run_code=$?
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	[ "$run_code" = 0 ] || { echo "exit code $run_code"; cat out err; return 1; }
}

# agent KEYS LINE...: the same with a fake agent called dev of these lines
agent() {
	agent_keys=$1
	shift
	run "$agent_keys" --agent dev -- "$FAKE_AGENT" "$@"
}

# wrote TEXT [NAME]: the agent has; told TEXT [NAME]: it was
wrote() { grep -qF -- "$1" "$captures/${2-dev}.ndjson" || { cat "$captures/${2-dev}.ndjson"; return 1; }; }
# what its capture has of that: lines behind a tab, without the records of the holder
told_lines() { sed -n '/^\t{"gavel":/d; s/^\t//p' "$captures/${1-dev}.ndjson"; }
told() {
	told_lines ${2+"$2"} | grep -qF -- "$1" && return 0
	cat "$captures/${2-dev}.ndjson"
	return 1
}

# shows FILE TEXT: a saved screen does
shows() {
	sed '/^---$/,$d' "$1" | grep -qF -- "$2" && return 0
	cat "$1"
	return 1
}

ask='{"type":"request:ask-user","id":"q-1","timestamp":"{now}","payload":{"question":"Which one?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}}'
save=':save-screen'

# ---- starting ----

says() { grep -qF -- "$1" err || { cat out err; return 1; }; }
fails() { wanted=$1; shift; "$@" >out 2>err; [ $? = "$wanted" ] || { cat out err; return 1; }; }

ok 'no terminal' fails 2 "$GAVEL" run -- true
ok '... and what to do about it' says '--detach starts agents without one'
ok 'no agent' fails 2 "$GAVEL" run --headless
ok '... and how to give one' says 'gavel run -- COMMAND'
ok 'no such agent' fails 2 "$GAVEL" run --headless --agent nobody
ok '... by its name' says 'no agent "nobody"'
ok 'no such program' fails 2 "$GAVEL" run --headless -- ./nonexistent
ok '... with the reason' says './nonexistent'
ok '... and what it would not have seen' says 'SECRET_TOKEN'
ok 'a bad name' fails 2 "$GAVEL" run --headless --agent 'a/b' -- true
ok '... is said' says 'is no name for an agent'
ok 'a value for --env' fails 2 "$GAVEL" run --headless --env A=b -- true
is 'nothing is left of those' '' "$(find "$XDG_STATE_HOME" -type f 2>/dev/null)"

ok 'a line without its end is shown after a while' \
	agent '4<until:half a li><until:incomplete>Q' 'say up' 'partial half a li' 'wait-for-line'

ok 'words and environment' agent '<until:ended>Q' show-args show-env -- 'a b' '; rm -rf /' '$(id)' --headless
ok '... no shell reads them' wrote '$(id)'
ok '... and gavel takes none of them' wrote '--headless'
ok '... secrets are withheld' sh -c '! grep -q SECRET_TOKEN "$1"' sh "$captures/dev.ndjson"
ok '... what is not listed, too' sh -c '! grep -q MY_SETTING "$1"' sh "$captures/dev.ndjson"
ok '--env lets through' run '<until:ended>Q' --env MY_SETTING --agent dev -- "$FAKE_AGENT" show-env
ok '... by name' wrote MY_SETTING=shown
is 'captures are for nobody else' 'drwx------' "$(ls -ld "$captures" | cut -c 1-10)"
is '... each of them' '' "$(find "$captures" -type f ! -perm 600)"

# ---- every protocol ----

ok 'orchestrator' run "<until:task>a<until:staged>\$<wait:400>y<until:question>=2<Enter><wait:400>y4f<until:answer: jwt>Q" \
	--agent worker-1 -- "$FAKE_AGENT" -f "$scripts/orchestrator.script"
ok '... is told that its task is queued' told '"status":"queued"' worker-1
ok '... uses the answer' wrote 'answer: jwt' worker-1
ok '... hears who there is' told '"agents":[]' worker-1
ok '... leaves when it is told to' wrote leaving worker-1
ok '... both sides pass check' "$GAVEL" check "$captures/worker-1.ndjson"
ok '... and so does the journal' "$GAVEL" journal verify
ok '... which knows who asked for what' grep -q '"state":"ASKED".*"agent":"worker-1".*"type":"request:query-tasks".*"ruling":"answer"' "$XDG_STATE_HOME"/gavel/*/journal-000001

query='say {"type":"request:query-tasks","id":"twice","timestamp":"{now}","payload":{}}'
ok 'an id is answered once' agent '4<until:said twice>Q' "$query" 'wait-for-line twice' "$query" 'say said twice' 'wait-for-line'
ok '... and why not again is recorded' sh -c 'grep -h "\"ruling\":\"nothing\"" "$XDG_STATE_HOME"/gavel/*/journal-000001 | grep -q "its id is that of an earlier request"'

ok 'collaboration' run '<until:blocked>a<until:staged>$<wait:400>y6<until:, acknowledged>Q' \
	--agent col -- "$FAKE_AGENT" -f "$scripts/collaboration.script"
ok '... is assigned again' told '"message_type":"task_assignment"' col
ok 'envelope' run '<until:retry>a<until:staged>$<wait:400>y6<until:has ended>Q' \
	--agent env -- "$FAKE_AGENT" -f "$scripts/envelope.script"
ok '... gets its next input' told '"iteration":2' env
echo '# Login' >artifact.md
ok 'feedback' run '<until:improvement>xNot now.<Enter><until:staged>$<wait:400>y6<until:has ended>Q' \
	--artifact artifact.md --agent fb -- "$FAKE_AGENT" -f "$scripts/feedback.script"
ok '... gets its next Request' told '"applied_feedback"' fb
ok 'handoff' run '<until:escalation>a<until:staged>$<wait:400>y<until:has ended>Q' \
	--agent ho -- "$FAKE_AGENT" -f "$scripts/handoff.script"
ok '... gets its Decision' grep -qF 'decision approve' "$captures/ho.stderr"

# ---- the orchestrator's answers ----

req() { printf 'say {"type":"request:%s","id":"%s","timestamp":"{now}","payload":%s}' "$1" "$2" "$3"; }
ok 'answers that need no person' agent '4f<until:late>Q' \
	"$(req get-task r-1 '{"taskId":"none"}')" 'wait-for-line r-1' \
	"$(req dance r-2 '{}')" 'wait-for-line r-2' \
	"$(req get-task r-3 '{}')" 'wait-for-line r-3' \
	"$(req ask-user r-4 '{"question":"Now?","timeout":50}')" 'wait-for-line r-4' \
	"$(req query-agents r-1 '{}')" "$(req query-agents r-5 '{}')" 'wait-for-line r-5' 'say late'
ok '... not found' told '"correlationId":"r-1"'
ok '... NOT_FOUND' told '"code":"NOT_FOUND"'
ok '... INVALID_MESSAGE_TYPE' told '"code":"INVALID_MESSAGE_TYPE"'
ok '... INVALID_REQUEST' told '"code":"INVALID_REQUEST"'
ok '... TIMEOUT' told '"code":"TIMEOUT"'
ok '... it sees itself' told '"agents":[{"id":"dev","status":"idle","capabilities":[],"currentTask":null}]'
is '... one answer to one id' 5 "$(told_lines | grep -c '"correlationId"')"
ok '... TIMEOUT is journalled' grep -q '"state":"TOLD".*TIMEOUT' "$XDG_STATE_HOME"/gavel/*/journal-000001

{
	i=0
	while [ $i -lt 150 ]; do
		req query-agents "f-$i" '{}'
		echo
		i=$((i + 1))
	done
	echo 'wait-for-line "f-149"' # with its quotes: an id of random digits may have f-149 in it
	echo 'say enough'
} >flood.script
ok 'over 100 messages a second' agent '4f<until:enough>Q' -f flood.script
is '... a hundred are answered' 100 "$(told_lines | grep -c response:success)"
refused=$(told_lines | grep -c UNAUTHORIZED)
is '... the others refused' 50 "$refused"
[ "$refused" = 50 ] || # what was said instead
	told_lines | grep -oE '"(type|code)":"[^"]*"' | sort | uniq -c | sed 's/^/# /'

ok 'a task is cancelled' agent '5<until:task-7>:cancel task-7 not needed<Enter><until:is told>4f<until:cancelled!>Q' \
	'say {"type":"event:progress","id":"p-1","timestamp":"{now}","payload":{"taskId":"task-7","progress":0.5,"message":"half"}}' \
	'wait-for-line task-cancelled' 'say cancelled!' 'wait-for-line shutdown'
ok '... with the reason' told '"taskId":"task-7","reason":"not needed"'
ok '... and is told to end by its protocol' told '"type":"notify:shutdown"'

# ---- several, and bad habits ----

cat >several.json <<X
{ "agents": [
  { "name": "asks", "command": ["$FAKE_AGENT", "say $(printf '%s' "$ask" | sed 's/"/\\"/g')", "wait-for-line q-1", "say got {last:answer}", "stall"] },
  { "name": "floods", "command": ["$FAKE_AGENT", "flood 3000000", "say flooded", "stall"] },
  { "name": "crashes", "command": ["$FAKE_AGENT", "say hello", "crash"] },
  { "name": "unruly", "command": ["$FAKE_AGENT", "-f", "$scripts/unruly.script"] },
  { "name": "deaf", "command": ["$FAKE_AGENT", "say $(printf '%s' "$ask" | sed 's/"/\\"/g; s/q-1/q-2/')", "stall"] },
  { "name": "missing", "command": ["./nonexistent"] },
] }
X
ok 'several at once' run "5<until:SIGSEGV>$save agents<Enter>:filter agent:deaf<Enter>1<until:question>=1<Enter><wait:400>y6<until:not reading for 0:0>$save held<Enter>:filter agent:asks<Enter>1<until:question>=1<Enter><wait:400>y6<until:, sent>4f:filter got<Enter><until:got a>QQ" \
	--config several.json
ok '... one that does not start is told of' says 'missing: cannot run ./nonexistent'
ok '... the crash is shown' shows agents SIGSEGV
ok '... not reading is told' shows held 'deaf: not reading for 0:0'
ok '... others are answered meanwhile' wrote 'got a' asks
is '... nothing of a flood is lost' 3000008 "$(grep -av "^	" "$captures/floods.ndjson" | wc -c | tr -d ' ')"
left=$(sed -n 's/^child //p' "$captures/unruly.ndjson")
ok '... Q twice leaves nobody, not even what others left' sh -c '[ -n "$1" ] && ! grep "^State:.[^ZX]" "/proc/$1/status" 2>/dev/null' sh "$left"

ok 'died in the middle' agent "<until:question>=1<Enter><wait:400>y6<until:after reading 5 of>$save died<Enter>Q" \
	"say $ask" 'read-slow 5' 'exit 3'
ok '... may have arrived' grep -q '"state":"HELD".*"certain":false' "$XDG_STATE_HOME"/gavel/*/journal-000001
ok '... the exit code is shown' agent "5<until:exit 3>Q" 'exit 3'

ok 'the next incarnation is another one' agent "<until:question>:restart<Enter><until:running again><wait:200>=1<Enter><until:restarted>$save again<Enter>Q" \
	"say {\"type\":\"request:ask-user\",\"id\":\"{uuid}\",\"timestamp\":\"{now}\",\"payload\":{\"question\":\"Who am I?\",\"timeout\":300000}}" 'wait-for-line answer' 'say heard'
is '... and was told nothing but to end' 0 "$(told_lines | grep -c answer)"

ok 'the selected agent is stopped after a question' agent '5<until:X stop  U restart>X<until:stop dev? y does>n<wait:200>'"$save kept<Enter>"':stop<Enter><until:stop dev? y does>y<until:SIGTERM>XUQ' \
	'say hello' 'close-stdin' stall
ok 'the title says that agents run' shows kept ' live '
ok '... not by any other answer' shows kept 'dev'
is '... which leaves it as it is' 0 "$(grep -c 'ending\|SIGTERM\|ended' kept)"
ok 'the selected agent is restarted' agent '5<until:started>U<until:restart dev? y does>y<until:running again>Q' 'say hello' stall
ok 'stopped by command' agent '5<until:started>:stop dev<Enter><until:SIGTERM>Q' 'say hello' 'close-stdin' stall
ok 'ignores TERM: a second Q kills' agent '4<until:hello>Q<until:waiting for dev>Q' 'ignore-term' 'say hello' stall

# ---- passed on ----

printf '%s' "<until:question>eNot mine.<Enter><until:staged>\$<until:caution><wait:400>$save haste.txt<Enter>y<until:escalated>$save passed.txt<Enter>6<until:escalated>4f<until:came back>1j<until:1 to send>$save back.txt<Enter>\$<until:someone else><wait:400>$save send.txt<Enter>y4<until:got b>1<until:Nothing waits>$save sent.txt<Enter>Q" >keys
timeout 60 "$GAVEL" run --headless --size 100x24 --keys keys --escalate-to queue.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" \
	'wait-for-line q-1' 'say got {last:answer}' stall >out 2>err &
pid=$!
i=0
while [ ! -s queue.ndjson ] && [ $i -lt 200 ]; do
	i=$((i + 1))
	sleep 0.1
done
ok 'passed on: the queue says that only gavel can answer' grep -q '"reply":{"channel":"stdin"}' queue.ndjson
ok '... the second reviewer answers' "$GAVEL" decide --as bob queue.ndjson q-1 answer --answer b --deliver
wait $pid
is '... the first confirms, and the agent has it' 0 $?
captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
ok '... as it was decided' wrote 'got b'
ok '... once' [ "$(told_lines | grep -c '"correlationId":"q-1"')" = 1 ]
ok 'pre-flight says how much time is left to whoever is asked' shows haste.txt 'caution: expires in 4:5'
ok '... and what happens then' shows haste.txt '; then the agent gets TIMEOUT'
ok 'what was passed on stays in the inbox' shows passed.txt 'escalated 1 ·'
ok '... with its words' shows passed.txt 'Which one?'
ok 'an answer that came back is in the title' shows back.txt '1 to send'
ok '... and in the inbox' shows back.txt 'to send 1 ·'
ok '... pre-flight has the question, the answer and who says so' shows send.txt '"q-1 Which one?": B, says bob'
ok '... once it is sent it is not any more' shows sent.txt 'Nothing waits'
"$GAVEL" show item q-1 "$captures/dev.ndjson" >page
ok '... the record names who has answered' grep -qF 'answered by bob (reply file): B' page
ok '... and who has escalated it, why' grep -qF 'escalated by ann to queue.ndjson: Not mine.' page
"$GAVEL" show item q-1 --journal=nobody queue.ndjson >page
ok 'the second reviewer reads the same end of it' grep -qF 'then the agent gets TIMEOUT' page

# nobody answers
brief=$(printf '%s' "$ask" | sed 's/300000/3000/')
ok 'what was passed on expires' run "<until:question>eNot mine.<Enter><until:staged>\$<wait:400>y<until:escalated><until:expired: the agent gets TIMEOUT><until:expired 1>${save} over.txt<Enter>Q" \
	--escalate-to late.ndjson --agent dev -- "$FAKE_AGENT" "say $brief" 'wait-for-line TIMEOUT' 'say heard' stall
ok '... and is shown as such' shows over.txt 'expired 1 ·'
"$GAVEL" show item q-1 "$captures/dev.ndjson" >page
ok '... the history tells that gavel did it' grep -qF 'expired by gavel' page
is '... and says so once' 1 "$(sed -n '/^History/,/^$/p' page | grep -c expired)"
ok '... and no reply file' sh -c '! grep -q "by reply file" page'

# answers ID VALUE: a line as the second reviewer's gavel writes it
answers() {
	printf '{"type":"response:success","id":"r-%s","correlationId":"%s","timestamp":"2026-02-06T12:00:00Z","payload":{"answer":"%s"}}\n' \
		"$1" "$1" "$2"
}
told_nothing() { ! told_lines | grep -q '"correlationId":"q-1"'; }
# answered at once: the agent knows then that its question was read
query='{"type":"request:query-tasks","id":"f-1","timestamp":"{now}","payload":{}}'

answers q-1 b >open.ndjson.replies.ndjson
chmod 0666 open.ndjson.replies.ndjson
ok 'answers that anybody may have written are not read' \
	run "<until:question>eNot mine.<Enter><until:staged>\$<wait:400>y6<until:escalated>4<until:can be written by others>\$<until:nothing is staged>${save} open.txt<Enter>Q" \
	--escalate-to open.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" stall
ok '... the screen says why' shows open.txt 'answers from the queue are not read: the file can be written by others; chmod go-w it'
ok '... the agent is told nothing' told_nothing
ok '... and it is said once' [ "$(grep -c 'not read' err)" = 1 ]

answers q-1 b >elsewhere
ln -s elsewhere link.ndjson.replies.ndjson
ok '... nor through a link' run "<until:question>4<until:is a symbolic link>Q" --escalate-to link.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" stall

if [ "$(id -u)" = 0 ]; then
	mkdir -p config/gavel
	answers q-1 b >theirs.ndjson.replies.ndjson
	chown nobody theirs.ndjson.replies.ndjson
	ok '... nor of another user' run "<until:question>4<until:belongs to a user who is not>Q" \
		--escalate-to theirs.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" stall
	echo '{ "reviewers": ["nobody"] }' >config/gavel/config.json
	ok '... unless the configuration names them' run "<until:new question>4<until:not escalated: ignored>Q" \
		--escalate-to theirs.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" "say $query" 'wait-for-line f-1' \
		"append theirs.ndjson.replies.ndjson $(answers q-1 b)" stall
	rm -r config
else
	skip '... nor of another user' 'only root gives files away'
	skip '... unless the configuration names them' 'only root gives files away'
fi

ok 'an answer to what was never escalated' \
	run "<until:new question>4<until:not escalated: ignored>\$<until:nothing is staged>Q" \
	--escalate-to never.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" "say $query" 'wait-for-line f-1' \
	"append never.ndjson.replies.ndjson $(answers q-1 b)" stall
ok '... is shown as such' says 'never.ndjson.replies.ndjson: an answer for dev to something that was not escalated is ignored'
ok '... and changes nothing' told_nothing

# one answer from the queue, one decision of one's own: two pages, two confirmations
second='{"type":"event:question","id":"q-2","timestamp":"{now}","payload":{"question":"And now?"}}'
printf '%s' "<until:And now>eNot mine.<Enter><until:staged>\$<wait:400>y<until:came back>J=none<Enter><until:staged>\$<until:This will be><wait:400>${save} own.txt<Enter>y4<until:got none>\$<until:someone else><wait:400>${save} theirs.txt<Enter>y4<until:got b>Q" >keys
timeout 60 "$GAVEL" run --headless --size 100x40 --keys keys --escalate-to both.ndjson --agent dev -- "$FAKE_AGENT" "say $ask" "say $second" \
	'wait-for-line q-2' 'say got {last:answer}' 'wait-for-line q-1' 'say got {last:answer}' stall >out 2>err &
pid=$!
i=0
while [ ! -s both.ndjson ] && [ $i -lt 200 ]; do
	i=$((i + 1))
	sleep 0.1
done
"$GAVEL" decide --as bob both.ndjson q-1 answer --answer b --deliver >/dev/null
wait $pid
is 'an answer from the queue beside a decision of our own' 0 $?
[ -s theirs.txt ] || tap_comment <err
captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
ok '... our own is on a page by itself' sh -c 'grep -q "answer q-2" own.txt && ! grep -q "q-1\|someone else" own.txt || { cat own.txt; false; }'
ok '... theirs, too' sh -c 'grep -q "someone else" theirs.txt && ! grep -q q-2 theirs.txt || { cat theirs.txt; false; }'
ok '... ours was sent first' wrote 'got none'
ok '... and theirs after its own confirmation' wrote 'got b'

# ---- lies ----

printf 'say \033]0;owned\007\033[2J\033[31mred\n' >hostile.script
cat >>hostile.script <<X
say $ask
say {"type":"response:success","id":"f-1","correlationId":"q-1","timestamp":"{now}","payload":{"answer":"b"}}
say {"type":"notify:shutdown","id":"f-2","timestamp":"{now}","payload":{"gracePeriod":1,"reason":"now"}}
say {"type":"request:query-tasks","id":"f-3","timestamp":"{now}","agentId":"boss","payload":{}}
stderr {"type":"request:submit-task","id":"x-4","timestamp":"{now}","payload":{"name":"x"}}
say {"message_id":"m-1","timestamp":"{now}","sequence_number":1,"from_agent":{"agent_id":"lead","agent_type":"architect","instance_id":"human"},"to_agent":{"agent_id":"x","agent_type":"developer"},"message_type":"abort","payload":{"scope":"session","target_id":"s","reason":"r","cleanup_required":true}}
try-tty
say the end
stall
X
ok 'a hostile agent' agent "4f<until:the end>g$save messages<Enter>1<until:1 open>$save inbox<Enter>QQ" -f hostile.script
ok '... its question is still open' shows inbox 'Which one?'
ok '... what looks like an answer is an error' shows messages 'E1'
ok '... no escape sequence comes through' sh -c '! grep -q "$(printf "\033")" messages inbox out err'
ok '... it has no terminal' sh -c '! grep -q -e opened -e typed -e ": yes" "$1"' sh "$captures/dev.ndjson"
ok '... stderr asks for nothing' sh -c '! grep -q x-4 "$1"/*/journal-000001' sh "$XDG_STATE_HOME/gavel"

tap_end
