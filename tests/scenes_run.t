# Scenes in a real terminal: agents that gavel runs.
. "$srcdir/tests/scenes.sh"

# the captures of the newest run
captured() {
	cat "$(ls -td "$XDG_STATE_HOME"/gavel/captures/* | head -n 1)/$1"
}
wrote() { captured "$1" | grep -qF -- "$2"; }

# y on the page, which takes none at first
confirmed() {
	says 'q back, nothing is sent' || return 0
	press y
	return 1
}

# A request waits for 30 seconds, which is little on a busy machine: the clock of these agents is ahead.
say='say {"type":"request:%s","id":"%s","timestamp":"{now+200}","payload":%s}'
submit=$(printf "$say" submit-task s-1 '{"type":"x","name":"Fix it","description":"d","payload":{},"requiredRole":"worker","requiredCapabilities":[],"dependencies":[],"priority":2}')
ask=$(printf "$say" ask-user q-1 '{"question":"Which one?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}')
cat >agents.json <<X
{ "agents": [
  { "name": "lead", "command": ["$FAKE_AGENT", $(printf '%s' "$submit" | sed 's/"/\\"/g; s/.*/"&"/'), "wait-for-line s-1", "say let in", "wait-for-line shutdown", "exit 0"] },
  { "name": "dev", "command": ["$FAKE_AGENT", $(printf '%s' "$ask" | sed 's/"/\\"/g; s/.*/"&"/'), "wait-for-line q-1", "say got {last:answer}", "wait-for-line task-assigned", "say has {last:taskId}", "wait-for-line shutdown"] },
  { "name": "rude", "command": ["$FAKE_AGENT", "try-tty", "stderr not on the screen", "ignore-term", "close-stdin", "stall"] },
  { "name": "short", "command": ["$FAKE_AGENT", "exit 3"] },
] }
X

not_asked() { ! says 'l leaves'; }

start 100x24 "$FOLLOWING" run --config agents.json
ok 'two agents ask' soon title_says '2 open'
press 5
ok 'how they stand' soon says 'exit 3'
screen >now
ok 'nothing of theirs is written over the screen' sh -c '! grep -q "not on the screen" now'
press 1
soon says 'Fix it'
press '/Fix it<Enter>a'
ok 'a decision is staged' soon title_says '1 staged'
press '$'
ok 'the page says whom it goes to' soon says 'lead.ndjson#1'
soon confirmed
ok 'and it goes there' soon wrote lead.ndjson 'let in'
press 'J='
ok 'a question is answered in a line' soon says 'answer'
press '2<Enter>'
soon says 'dev.ndjson#1'
soon confirmed
ok 'and the agent has the answer' soon wrote dev.ndjson 'got b'
task=$(captured lead.ndjson | sed -n 's/.*"task":{"id":"\([^"]*\)".*/\1/p')
press ":assign $task dev<Enter>"
ok 'a task is given' soon wrote dev.ndjson "has $task"
press ':restart short<Enter>'
ok 'an agent begins anew' soon says 'short has ended: exit code 3'
resize 60x15
ok 'in a small terminal' soon says 'Inbox'
resize 100x24
press Q
ok 'Q asks what becomes of the agents' soon says '3 agents run: l leaves them running, s stops them'
press n
ok 'any other key goes back' soon not_asked
press Qs
ok 'stopping says whom it waits for' soon says 'waiting for '
ok 'those that can, leave' soon says 'waiting for rude'
press Q
ok 'Q again ends it' soon says 'exit code 0'
ok 'and the terminal is as before' soon tty_is_as_before
ok 'where everything is kept is told' says 'what the agents wrote is in'

# Agents outlive the screen: the terminal is closed, the session is hung up, gavel is killed, or the
# person leaves, while a question waits. Whoever comes back answers it, and the agent goes on.
question='say {"type":"request:ask-user","id":"q-1","timestamp":"{now}","payload":{"question":"Which one?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}}'
asking() {
	start 80x24 "$FOLLOWING" run --agent dev -- "$FAKE_AGENT" show-ids "$question" 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line'
	soon title_says '1 open'
	soon wrote dev.ndjson 'pid '
	child=$(captured dev.ndjson | sed -n 's/^pid \([0-9]*\) .*/\1/p')
}
# come_back HOW: answers, and sees the agent go on; then it is stopped
come_back() {
	ok "$1: the agent goes on" kill -0 "$child"
	start 80x24 "$FOLLOWING" "$(ls -td "$XDG_STATE_HOME"/gavel/captures/* | head -n 1)/dev.ndjson"
	ok "$1: its question still waits" soon title_says '1 open'
	soon says 'Which one?'
	press '=2<Enter>'
	soon says 'dev.ndjson#1'
	soon confirmed
	ok "$1: it has the answer" soon wrote dev.ndjson 'got b'
	press Q
	soon says 'l leaves it running'
	press s
	ok "$1: stopped" soon says 'exit code 0'
	ok "$1: nothing of it is left" soon gone "$child"
}
asking
t kill-session -t "s$scene"
come_back 'a closed terminal'
asking
kill -HUP -- "-$(ps -o sid= -p "$(cat pid)" | tr -d ' ')"
soon gone "$(cat pid)"
come_back 'a hang-up'
asking
kill -KILL "$(cat pid)"
soon gone "$(cat pid)"
come_back 'a killed gavel'
asking
press Q
soon says 'l leaves it running'
press l
ok 'left: where to find it is told' soon says 'goes on; gavel '
come_back 'left'

scenes_end
