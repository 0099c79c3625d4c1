# Scenes in a real terminal: logs by a pipe, and logs that go on.
. "$srcdir/tests/scenes.sh"

# ---- a log by a pipe ----

start 80x24 sh -c 'cat demo.ndjson | "$GAVEL"'
look 'a pipe is read, keys come from the terminal' 80x24 '' sh -c '"$GAVEL" "$@" <demo.ndjson' sh
press '4jj<Enter>'
look 'many of them' 80x24 '4jj<Enter>' sh -c '"$GAVEL" "$@" <demo.ndjson' sh
press Q
ok 'Q ends it, all is well' soon says 'exit code 0'
ok 'and the terminal is as before' soon tty_is_as_before

# A pipe from which little comes holds up nothing: keys, sizes and signals are answered.
slowly='{ cat demo.ndjson; until [ -e go ]; do sleep 0.05; done; } | "$GAVEL"'
rm -f go
start 80x24 sh -c "$slowly"
ok 'a pipe that does not end: a screen' soon says '[1 Inbox]'
press 3
ok 'a pipe that does not end: keys' soon says '[3 Ledger]'
resize 100x30
press '?'
ok 'a pipe that does not end: sizes' soon says 'half a page down'
press Q
ok 'a pipe that does not end: Q gives the terminal back' soon tty_is_as_before
: >go
ok 'a pipe that does not end: exit code 0' soon says 'exit code 0'
rm -f go
start 80x24 sh -c "{ cat demo.ndjson; until [ -e go ]; do sleep 0.05; done; } | sh -c 'echo \$\$ >child; exec \"\$GAVEL\"'"
soon says '[1 Inbox]'
kill -TERM "$(cat child)"
ok 'a pipe that does not end: SIGTERM' soon gone "$(cat child)"
: >go
soon gone "$(cat child)"

# What is said while reading must not be written over the screen.
awk 'BEGIN { for (i = 0; i < 50; i++) printf "\001\002\377\376\n" }' >binary
watch 80x24 "$GAVEL" binary
look 'a file of rubbish' 80x24 '' sh -c '"$GAVEL" binary "$@" 2>/dev/null' sh

# What is seen of a long log while it is read is, in the end, what there is: without a key the first
# line, and with one typed before anything was read, no older state of an item.
for n in 1 2 3 4 5 6 7 8 9 10; do
	cat demo.ndjson
done >many.ndjson
start 80x24 "$GAVEL" many.ndjson
soon loaded
look 'a long log starts at its top' 80x24 '' "$GAVEL" many.ndjson
gate=1
start 80x24 "$GAVEL" many.ndjson
gate=
press '<Enter>3'
soon loaded
look 'a key while it reads' 80x24 3 "$GAVEL" many.ndjson

# ---- a log that goes on ----

head -n 150 demo.ndjson >grows.ndjson
start 100x24 "$FOLLOWING" grows.ndjson
ok 'a log is followed' soon title_says ' followed .* 150 messages'
sed -n '151,208p' demo.ndjson >>grows.ndjson
ok 'what comes is shown, and makes it live' soon title_says ' live .* 208 messages'
ok 'and new items are told' soon says 'new items, the last: '
press P
ok 'P pauses' soon title_says paused
ok '... and says so' soon says 'paused: new messages are buffered; P resumes'
sed -n '1,2p' demo.ndjson >>grows.ndjson
press P
ok 'and goes on' soon title_says '210 messages'
mv grows.ndjson grows.1
sed -n '3,4p' demo.ndjson >grows.ndjson
ok 'after a rotation the next one is read' soon title_says '212 messages'
: >grows.ndjson
sed -n '5,5p' demo.ndjson >>grows.ndjson
ok 'after it was emptied, too' soon title_says '213 messages'
press 4
ok 'a log that has become live opens at the end of its messages' soon says '213/213'
press f
sed -n '6,9p' demo.ndjson >>grows.ndjson
ok 'f stays at the end of the messages' soon says '217/217'
printf '{"type":"event:log","id":"1' >>grows.ndjson
ok 'half a line is shown after a while' soon says incomplete
press g
printf '2","timestamp":"2026-03-17T09:48:00Z","payload":{"level":"info","message":"whole"}}\n' >>grows.ndjson
ok 'half a line waits for its end' soon title_says '218 messages'
press G
ok 'and is then one message' soon says '218/218'
press Q
ok 'Q ends it' soon says 'exit code 0'

# A question that waits for three seconds: it opens, nears its end, and is over.
: >asks.ndjson
printf '#!/bin/sh\ncat >>"$1"\n' >tell
chmod +x tell
printf '{ "notices": { "terminal": ["bell"], "command": ["%s/tell", "%s/told"] } }' "$PWD" "$PWD" >notices.json
told() { [ "$(sed 's/^{"event":"\([a-z]*\)".*"rest":\([0-9]*\)}$/\1 \2/' told | tr '\n' ' ')" = "$1" ]; }
start 120x24 "$FOLLOWING" --config=notices.json asks.ndjson
ok 'an empty log is followed' soon title_says ' followed '
printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-000000000001","timestamp":"%s","agentId":"agent-1","payload":{"question":"Now or never?","options":[],"timeout":3000}}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >>asks.ndjson
ok 'a question opens' soon says 'until it expires at'
ok 'its end is near' soon says '"Now or never?" expires in'
ok 'it expires, and that is told' soon says '"Now or never?" expired: the agent continues unanswered'
ok 'and is seen in the inbox' soon says 'over '
ok 'a program of the person was told each time' soon told 'opened 0 near 0 expired 0 '
press 5
ok 'who asked was seen a moment ago' soon says 'agent-1'
press Q
ok 'Q ends that, too' soon says 'exit code 0'
mkdir -p queue
start 80x24 "$FOLLOWING" queue
ok 'an empty folder is followed' soon title_says ' followed '
sed -n '/"confidence_score"/{p;q;}' demo.ndjson >queue/result-1.json
ok 'a file that appears is read' soon title_says '1 message'
press Q
rm -f fifo
mkfifo fifo
start 80x24 "$FOLLOWING" fifo
ok 'a FIFO is followed' soon title_says ' followed '
sed -n '1,5p' demo.ndjson >fifo
ok 'its first writer is read' soon title_says '5 messages'
sed -n '6,7p' demo.ndjson >fifo
ok 'and the next one' soon title_says '7 messages'
press Q
ok 'Q ends that' soon says 'exit code 0'

scenes_end
