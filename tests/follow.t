# gavel show --follow: records as they come, from logs, FIFOs, pipes and folders; each once, at once; and
# when it ends. Nothing here sleeps: reading a line waits for it, and `timeout` ends what hangs.
. "$srcdir/tests/tap.sh"
slow 'what comes while it is shown'

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99

# follow ARGUMENT...: its output is read with next, on descriptor 4
follow() {
	rm -f output
	mkfifo output
	timeout 20 "$GAVEL" show "$@" --follow >output 2>errors &
	follower=$!
	exec 4<output
}

next() {
	line=
	IFS= read -r line <&4 || line="(end of output) $(cat errors)"
}

# The next COUNT lines, away.
skip_lines() {
	n=0
	while [ $n -lt "$1" ]; do
		next
		n=$((n + 1))
	done
}

done_following() {
	exec 4<&-
	kill "$follower"
	wait "$follower" 2>waited
}

ask() { # ID [TIME]
	printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-%012d","timestamp":"%s","agentId":"agent-1","payload":{"question":"Which %s?","options":[],"timeout":600000}}\n' "$1" "${2-2026-02-04T14:30:00Z}" "$1"
}

answer() { # ID OF
	printf '{"type":"response:success","id":"00000000-0000-4000-8000-%012d","timestamp":"2026-02-04T14:30:05Z","correlationId":"00000000-0000-4000-8000-%012d","payload":{"answer":"yes"}}\n' "$1" "$2"
}

field() { # NAME: of the line
	printf '%s\n' "$line" | grep -o "\"$1\":[^,}]*" | head -n 1
}

# Messages of a log.
ask 1 >log
follow messages --format=json log
next
is 'what is there comes first' '"number":1' "$(field number)"
ask 2 >>log
next
is 'then what comes' '"number":2' "$(field number)"
printf '%s' "$(ask 3)" >>log
ask 4 >beside
printf '\n' >>log
next
is 'a line in two writes is one record' '"number":3 "errors":0' "$(field number) $(field errors)"
mv log log.1
ask 5 >log
next
is 'from the next file under the name, too' '"number":4' "$(field number)"
done_following

# The inbox.
ask 1 >log
follow inbox --format=json log
next
is 'an open item' '"verdict":"none"' "$(field verdict)"
ask 2 >>log
next
is 'one that opens' '"id":"00000000-0000-4000-8000-000000000002" "verdict":"none"' "$(field id) $(field verdict)"
answer 3 1 >>log
next
is 'one that is answered' '"id":"00000000-0000-4000-8000-000000000001" "verdict":"answered"' "$(field id) $(field verdict)"
ok 'a decision made elsewhere' "$GAVEL" decide --as=ann --answer=no log 00000000-0000-4000-8000-000000000002 answer
next
is 'is told' '"verdict":"answered" "by":"ann" "delivery":"staged"' "$(field verdict) $(field by) $(field delivery)"
id=$("$GAVEL" show decisions --format=json log | sed -n 's/^{"id":"\([^"]*\)".*"by":"ann".*/\1/p')
ok 'it is taken back' "$GAVEL" journal void "$id"
next
is 'and is open again' '"verdict":"none" "delivery":"none"' "$(field verdict) $(field delivery)"
ask 4 '2020-01-01T00:00:00Z' >>log
next
is 'no clock expires what a recording says' '"id":"00000000-0000-4000-8000-000000000004" "verdict":"none"' "$(field id) $(field verdict)"
answer 5 9 >>log
next
done_following
is 'what expired is told as that' '"id":"00000000-0000-4000-8000-000000000004" "verdict":"expired"' "$(field id) $(field verdict)"

# Decisions, as text.
rm -rf "$XDG_STATE_HOME"
{ ask 1; answer 2 1; ask 3; } >log
follow decisions --size=140 log
skip_lines 2
ok 'the decisions there are' [ "${line#*answered}" != "$line" ]
ok 'one is made' "$GAVEL" decide --as=ann --answer=no log 00000000-0000-4000-8000-000000000003 answer
next
ok 'it is printed' [ "${line#* ann *staged}" != "$line" ]
ok 'and delivered' "$GAVEL" decide --as=ann log --deliver
next
while [ "${line#*recorded}" != "$line" ]; do next; done # seen or not
ok 'which is printed too' [ "${line#* ann *sent}" != "$line" ]
done_following

# FIFOs, pipes, folders.
mkfifo fifo
follow messages --format=json fifo
exec 5>fifo
ask 1 >&5
next
is 'a FIFO' '"number":1' "$(field number)"
exec 5>&-
exec 5>fifo
ask 2 >&5
next
is 'waits for the next writer' '"number":2' "$(field number)"
exec 5>&-
done_following

# A hand-off folder: results as they appear, whole or in pieces; decisions go back as files.
result() { # SCORE
	printf '{"status":"success","confidence_score":%s,"output":{"type":"text","payload":{"text":"Half."}},"traces":"Half of it.","created_at":"2026-02-04T14:30:00Z"}\n' "$1"
}
id=8b0f8a3e-6a4b-4c43-9a53-8f8b37a3a1c
mkdir queue
follow inbox --format=json queue
result 0.75 >queue/.new
mv queue/.new "queue/result-${id}1.json"
next
is 'a result in a folder' '"dialect":"handoff" "kind":"escalation" "severity":null' "$(field dialect) $(field kind) $(field severity)"
result 0.71 | cut -c 1-40 | tr -d '\n' >"queue/result-${id}2.json"
result 0.72 >queue/.new
mv queue/.new "queue/result-${id}3.json"
next
is 'one that is half written is waited for, not the others' "\"source\":\"queue/result-${id}3.json\"" "$(field source)"
result 0.71 | cut -c 41- >>"queue/result-${id}2.json"
next
is 'and read when it is whole' "\"source\":\"queue/result-${id}2.json\" \"verdict\":\"none\"" "$(field source) $(field verdict)"
item=$(field id | cut -d '"' -f 4)
ok 'a decision on it' "$GAVEL" decide --as=ann --explain=Fine. --deliver queue "$item" accept
next
is 'is told' '"verdict":"accepted" "by":"ann"' "$(field verdict) $(field by)"
done_following
is 'it is one file, and nothing is left beside it' 1 "$(find queue -type f ! -name 'result-*' ! -name 'review-*' | grep -c 'queue/decision-[0-9a-f-]*\.json$')"
is 'no other' 0 "$(find queue -type f ! -name 'result-*' ! -name 'review-*' ! -name 'decision-*' | wc -l)"
is 'a pipe ends' "$(wc -l <"$demo")" "$(cat "$demo" | timeout 20 "$GAVEL" show messages --follow --format=json - | wc -l)"
is 'a pipe that ends in a line: TRUNCATED' 2 "$({ ask 1; ask 2 | tr -d '\n}'; } | timeout 20 "$GAVEL" show messages --follow --format=json - | wc -l)"

# An item that is passed on twice, and answered from above, as each of the three sees it.
item=00000000-0000-4000-8000-000000000001
# until_is VERDICT: the next record of the item that has this verdict
until_is() {
	next
	while case $line in *'"verdict":"'"$1"'"'* | '(end'*) false ;; esac; do
		next
	done
}
mkdir tiers
ask 1 >tiers/log
follow inbox --all --format=json --journal=ann tiers/log
next
"$GAVEL" decide --journal=ann --as=ann --explain=Hm. --escalate-to=tiers/q1 --deliver tiers/log $item escalate >/dev/null
until_is escalated
is 'passed on: the first sees it' '"verdict":"escalated" "by":"ann"' "$(field verdict) $(field by)"
"$GAVEL" decide --journal=bob --as=bob --explain=Hm. --escalate-to=tiers/q2 --deliver tiers/q1 $item escalate >/dev/null
"$GAVEL" decide --journal=eve --as=eve --answer=yes --reply=tiers/log.replies.ndjson --deliver tiers/q2 $item answer >/dev/null
until_is answered
is 'answered from above: the first sees it' '"verdict":"answered" "by":"eve" "delivery":"sent"' "$(field verdict) $(field by) $(field delivery)"
done_following
for person in 'bob q1' 'eve q2'; do
	is "... ${person% *} has nothing left" '' "$("$GAVEL" show inbox --format=json --journal="${person% *}" "tiers/${person#* }")"
done
is '... and it is so when it is opened again' "$("$GAVEL" show state --journal=ann tiers/log)" "$("$GAVEL" show state --journal=nobody tiers/log)"

# Another process sends two letters; the second is read before its journal says that it was sent.
mkdir sending
{ ask 1; ask 2; } >sending/log
for n in 1 2; do
	"$GAVEL" decide --journal=sender --as=ann --answer=yes sending/log 00000000-0000-4000-8000-00000000000$n answer >/dev/null
done
"$GAVEL" decide --journal=sender --deliver sending/log >/dev/null
journal=$(echo sender/*/journal-000001)
mv "$journal" whole
mv sending/log.replies.ndjson sent
attempt=$(grep -n '"ATTEMPT"' whole | sed -n '2s/:.*//p')
follow messages --format=json --journal=sender sending/log
skip_lines 2
head -n $((attempt - 1)) whole >"$journal"
cat sent >sending/log.replies.ndjson
next
is 'a letter that is sent elsewhere' '"number":2 "reply":1' "$(field number) $(field reply)"
tail -n +"$attempt" whole >>"$journal"
next
is 'one whose journal came later than its line' '"number":2 "reply":2' "$(field number) $(field reply)"
done_following

# The end.
is 'with head it ends' 0 "$(timeout 20 "$GAVEL" show messages --follow log 2>&1 | head -n 1 | grep -c gavel:)"
rm -f output
mkfifo output
env --default-signal=INT "$GAVEL" show messages --follow --format=json log >output 2>errors &
follower=$!
exec 4<output
next
kill -INT "$follower"
wait "$follower"
is 'SIGINT ends it' 130 $?
is 'quietly' '' "$(cat errors)"
exec 4<&-
for refused in agents summary timeline ledger; do
	ok "no --follow for $refused" sh -c '! "$GAVEL" show "$1" --follow log 2>err && grep -q "^gavel: --follow" err' sh $refused
done
ok 'nor with --at' sh -c '! "$GAVEL" show messages --follow --at="#1" log 2>err && grep -q "^gavel: --follow" err'

tap_end
