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
ok 'the page says whom it goes to' soon says 'agent:lead#1-'
soon confirmed
ok 'and it goes there' soon wrote lead.ndjson 'let in'
press 'J='
ok 'a question is answered in a line' soon says 'answer'
press '2<Enter>'
soon says 'agent:dev#1-'
soon confirmed
ok 'and the agent has the answer' soon wrote dev.ndjson 'got b'
task=$(captured lead.ndjson.replies.ndjson | sed -n 's/.*"task":{"id":"\([^"]*\)".*/\1/p')
press ":assign $task dev<Enter>"
ok 'a task is given' soon wrote dev.ndjson "has $task"
press ':restart short<Enter>'
ok 'an agent begins anew' soon says 'short has ended: exit code 3'
resize 60x15
ok 'in a small terminal' soon says 'Inbox'
resize 100x24
press Q
ok 'Q says whom it waits for' soon says 'waiting for '
ok 'those that can, leave' soon says 'waiting for rude'
press Q
ok 'Q again ends it' soon says 'exit code 0'
ok 'and the terminal is as before' soon tty_is_as_before
ok 'where everything is kept is told' says 'what the agents wrote is in'

# the terminal goes away: gavel and its agents with it
start 80x24 "$FOLLOWING" run --agent dev -- "$FAKE_AGENT" show-ids stall
soon says 'messages'
soon wrote dev.ndjson 'pid '
child=$(captured dev.ndjson | sed -n 's/^pid \([0-9]*\) .*/\1/p')
t kill-session -t "s$scene"
ok 'without a terminal nothing goes on' soon gone "$child"

scenes_end
