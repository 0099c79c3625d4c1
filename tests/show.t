# gavel show and gavel demo from the outside: views, time travel, filters, sizes, exit codes.
. "$srcdir/tests/tap.sh"

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99

exit_of() {
	wanted=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat "$tmp/err"; return 1; }
}

for view in inbox timeline ledger messages agents decisions summary; do
	ok "show $view" exit_of 0 "$GAVEL" show "$view" "$demo"
	ok "show $view has something to say" [ -s out ]
	for size in 60x200 80x24 120x36 200x60; do
		"$GAVEL" show "$view" --size=$size "$demo" >out
		ok "show $view keeps to ${size%x*} columns" [ "$(wc -L <out)" -le "${size%x*}" ]
		ok "show $view keeps to ${size#*x} rows" [ "$(wc -l <out)" -le "${size#*x}" ]
	done
	ok "show $view as json" exit_of 0 "$GAVEL" show "$view" --format=json "$demo"
	is "show $view --ascii is ASCII" 0 "$("$GAVEL" show "$view" --ascii "$demo" | LC_ALL=C tr -d '\n\040-\176' | wc -c)"
	is "show $view without colour has no escapes" 0 "$("$GAVEL" show "$view" "$demo" | LC_ALL=C tr -dc '\033' | wc -c)"
	ok "show $view with colour has" sh -c '"$GAVEL" show "$1" --color=always "$2" | grep -q "$(printf "\033\\[")"' sh "$view" "$demo"
	is "NO_COLOR wins over a terminal's wish, not over --color=always" 0 "$(NO_COLOR=1 "$GAVEL" show "$view" "$demo" | LC_ALL=C tr -dc '\033' | wc -c)"
	ok "show $view of nothing" exit_of 0 "$GAVEL" show "$view" /dev/null
done

"$GAVEL" show inbox --format=json "$demo" >inbox
ok 'the inbox has items' [ "$(wc -l <inbox)" -ge 10 ]
ok 'all of them open' sh -c '! grep -v "\"verdict\":\"none\"" inbox'
"$GAVEL" show inbox --all --format=json "$demo" >all
ok '--all has more' [ "$(wc -l <all)" -gt "$(wc -l <inbox)" ]
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed 's/^{"id":"\([^"]*\)".*/\1/')
	"$GAVEL" show item "$id" --format=json "$demo" >item 2>err || break
	"$GAVEL" show item "$id" "$demo" >text 2>>err || break
	rev=$(printf '%s\n' "$line" | grep -o '"rev":"sha256:[0-9a-f]*"')
	grep -qF "$rev" item || { echo "$id: rev differs" >err; break; }
done <inbox
is 'each item can be shown by its id, with the same rev' '' "$(cat err)"
ok 'no such item: exit 1' exit_of 1 "$GAVEL" show item nobody "$demo"
ok 'no such view: exit 2' exit_of 2 "$GAVEL" show everything "$demo"
ok 'no view: exit 2' exit_of 2 "$GAVEL" show
ok 'no such file: exit 2' exit_of 2 "$GAVEL" show inbox nowhere

ok 'before the beginning' exit_of 0 "$GAVEL" show inbox --at='#0' --format=json "$demo"
is 'nothing is open' 0 "$(wc -l <out)"
is '--at=#N counts messages' 50 "$("$GAVEL" show messages --at='#50' --format=json "$demo" | wc -l)"
ok 'a wrong --at: exit 2' exit_of 2 "$GAVEL" show inbox --at=soon "$demo"
is 'what a time looks like is told' 'gavel: --since=yesterday: not a time; give 10:15, 2026-01-26, 2026-01-26T10:15Z or ms since 1970' "$("$GAVEL" show inbox --since=yesterday "$demo" 2>&1)"
ok '... and --until likewise: exit 2' exit_of 2 "$GAVEL" check --until=soon "$demo"
ok 'a filter' sh -c '"$GAVEL" show inbox --filter=kind:question --format=json "$1" | grep -c "\"kind\":\"question\"" | grep -qvx 0' sh "$demo"
is 'and only that' 0 "$("$GAVEL" show inbox --filter=kind:question --format=json "$demo" | grep -vc '"kind":"question"')"
ok 'a wrong filter: exit 2' exit_of 2 "$GAVEL" show inbox --filter=knd:question "$demo"

ok 'gavel LOG prints the inbox' sh -c '"$GAVEL" "$1" >a && "$GAVEL" show inbox "$1" >b && cmp a b' sh "$demo"
ok 'so does a pipe' sh -c '"$GAVEL" <"$1" >a && [ -s a ]' sh "$demo"
ok 'gavel demo' exit_of 0 "$GAVEL" demo
ok 'prints inbox and summary' sh -c '"$GAVEL" show inbox --size=100 "$1" >a && "$GAVEL" show summary --size=100 "$1" >b && [ "$(wc -l <out)" -ge "$(cat a b | wc -l)" ]' sh "$demo"

# What was decided here.
ok '... from the build folder, wherever one is' sh -c 'cd / && env -u GAVEL_DATADIR "$GAVEL" demo | cmp - "$1"' sh "$tmp/out"
mkdir -p elsewhere/data
cp "$GAVEL" elsewhere/gavel
echo '{}' >elsewhere/data/other.ndjson
mkdir -p here/data
echo '{"other":"demo"}' >here/data/demo.ndjson
ok '... never from the current folder' sh -c 'cd here && if env -u GAVEL_DATADIR ../elsewhere/gavel demo >../out 2>&1; then ! grep -q 1.message ../out; else grep -q "GAVEL_DATADIR names" ../out; fi'
is 'an option before the command' "$("$GAVEL" demo --ascii --size=100)" "$("$GAVEL" --ascii --size 100 demo)"
is '... with a value' "$("$GAVEL" show inbox --color=always "$demo")" "$("$GAVEL" --color=always show inbox "$demo")"
is '... and its help' "$("$GAVEL" show --help)" "$("$GAVEL" --help show)"
ok '... is one of the command' exit_of 2 "$GAVEL" --strict show inbox "$demo"
ok '... as it says' grep -q 'show takes no --strict' err
echo '{}' >show
ok 'after -- no word is a command' exit_of 0 "$GAVEL" --no-follow -- show
rm show
ok 'a mistyped command' exit_of 2 "$GAVEL" shwo inbox "$demo"
is '... is suggested' 'gavel: shwo: no such file or command; did you mean show?' "$(cat err)"
ok '... after options, too' exit_of 2 "$GAVEL" --ascii dmeo
is '... is suggested' 'gavel: dmeo: no such file or command; did you mean demo?' "$(cat err)"
cp "$demo" shwo
ok '... unless a file is called so' exit_of 0 "$GAVEL" shwo
rm shwo
ok 'a missing log is a missing log' exit_of 2 "$GAVEL" log-of-today
is '... like none of them' 'gavel: log-of-today: No such file or directory; check the name' "$(cat err)"
ok 'help of a mistyped command' exit_of 2 "$GAVEL" help replya
is '... suggests it' 'gavel: no command replya; did you mean replay?' "$(cat err)"

cp "$demo" log.ndjson
item=$(sed -n 's/^{"id":"\([^"]*\)","dialect":"orchestrator","kind":"question".*/\1/p' inbox | head -n 1)
finding=review-PK-3/F-2
field() { # NAME ID VIEW SOURCE...
	name=$1 id=$2 view=$3
	shift 3
	"$GAVEL" show "$view" --all --format=json "$@" | grep -F "\"$id\"" | head -n 1 | grep -o "\"$name\":[^,]*" | head -n 1
}
ok 'a decision is staged' exit_of 0 "$GAVEL" decide --as=ann log.ndjson "$finding" accept
is 'it is told' '"delivery":"staged"' "$(field delivery "$finding" inbox log.ndjson)"
is 'with its verdict' '"verdict":"accepted"' "$(field verdict "$finding" inbox log.ndjson)"
is 'and who decided' '"by":"ann"' "$(field by "$finding" inbox log.ndjson)"
ok 'the item is open still' sh -c '"$GAVEL" show inbox --format=json log.ndjson | grep -qF "\"$1\""' sh "$finding"
ok 'a decision is sent' exit_of 0 "$GAVEL" decide --as=ann --answer=yes --deliver log.ndjson "$item" answer
is 'it is told too' '"delivery":"sent"' "$(field delivery "$item" inbox log.ndjson)"
is 'there is nothing more to decide' '"verbs":[]' "$(field verbs "$item" inbox log.ndjson)"
ok 'the item is not open any more' sh -c '! "$GAVEL" show inbox --format=json log.ndjson | grep -qF "{\"id\":\"$1\""' sh "$item"
ok 'its history has the decision' sh -c '"$GAVEL" show item "$1" --format=json log.ndjson | grep -q "\"by\":\"ann\",\"verdict\":\"answered\",\"delivery\":\"sent\"}]"' sh "$item"
is 'before it was decided it is not there' 0 "$("$GAVEL" show decisions --at='#206' --format=json log.ndjson | grep -c '"by":"ann"')"
"$GAVEL" show decisions --format=json log.ndjson >decisions
is 'decisions made here come first' "$finding $item" "$(sed -n 's/.*"item":"\([^"]*\)".*"by":"ann".*/\1/p' decisions | paste -sd ' ')"
is 'in the log there are others' "$(wc -l <decisions)" "$(($(grep -c '"delivery":null,"line":[1-9]' decisions) + 2))"
ok 'a letter tells where it went' grep -q '"channel":"file","path":"/.*/log.ndjson.replies.ndjson","bytes":[1-9][0-9]*,"tries":1,"why":null' decisions
ok 'the text has them too' sh -c '"$GAVEL" show decisions log.ndjson | grep -q " ann .*answered"'
is 'the summary counts them' '"staged":1,"recorded":0,"sent":1' "$("$GAVEL" show summary --format=json log.ndjson | grep -o '"staged":1,"recorded":0,"sent":1')"

# What was sent may be among the messages, too; another's word of the same kind is another decision.
"$GAVEL" show decisions --format=json log.ndjson log.ndjson.replies.ndjson >both
is 'a decision that is read again is listed once' "$(wc -l <decisions)" "$(wc -l <both)"
is '... in the text, too' 1 "$("$GAVEL" show decisions --size=200 log.ndjson log.ndjson.replies.ndjson | grep -c "$(echo "$item" | cut -c 1-20)")"
deciders() { "$GAVEL" show summary --format=json "$@" | grep -o '"agent_decisions":{[^}]*}'; }
is '... and counted once' "$(deciders log.ndjson)" "$(deciders log.ndjson log.ndjson.replies.ndjson)"
sed 's/answeredAt":"2/answeredAt":"3/' log.ndjson.replies.ndjson >not-mine.ndjson
is "without the journal it is another's" '"by":"reply file"' "$("$GAVEL" show decisions --journal=nobodys --format=json log.ndjson | grep "\"item\":\"$item\"" | grep -o '"by":"[^"]*"')"
mkdir apart
cp log.ndjson apart
is "another's is listed" 1 "$("$GAVEL" show decisions --format=json --reply=not-mine.ndjson apart/log.ndjson | grep -c "\"item\":\"$item\"")"

# The same log, however it is named and whatever is read with it.
cp log.ndjson other.ndjson
for names in ./log.ndjson "$tmp/log.ndjson" 'other.ndjson log.ndjson' 'log.ndjson other.ndjson' 'log.ndjson log.ndjson.replies.ndjson'; do
	# shellcheck disable=SC2086
	is "two decisions in $names" 2 "$("$GAVEL" show inbox --all --format=json $names | grep -c '"by":"ann","delivery":"s')"
done
is 'another log has none' 0 "$("$GAVEL" show inbox --all --format=json other.ndjson | grep -c '"by":"ann"')"
ok 'decided once more under another name, it is the same decision' exit_of 0 "$GAVEL" decide --as=ann --answer=yes --deliver "$tmp/log.ndjson" "$item" answer
is 'nothing more was written' 1 "$(wc -l <log.ndjson.replies.ndjson)"
sed 's/ a / one /g; s/ the / that /g' other.ndjson >log.ndjson
is 'of another log under the same name nothing is decided' 0 "$("$GAVEL" show inbox --all --format=json log.ndjson | grep -c '"by":"ann"')"
cp other.ndjson log.ndjson

# The state of a session is the same wherever its log lies.
state() { "$GAVEL" show state "$@"; }
is 'a hash of the state' 64 "$(state "$demo" | tr -d '\n' | wc -c)"
is 'the same under another name' "$(state "$demo")" "$(state apart/log.ndjson)"
ok 'not the same where things were decided' [ "$(state "$demo")" != "$(state log.ndjson)" ]
is 'replies given or not' "$(state log.ndjson)" "$(state log.ndjson log.ndjson.replies.ndjson)"
is 'in any order' "$(state log.ndjson)" "$(state log.ndjson.replies.ndjson log.ndjson)"
is 'the same through a pipe' "$(state "$demo")" "$(state <"$demo")"
is 'as of a message it is that of a log which ends there' "$(head -n 70 "$demo" | state)" "$(state --at='#70' "$demo")"
for i in $(seq 40); do cat "$demo"; done >big.ndjson
is 'the same with one thread and with several' "$(state --threads=1 big.ndjson)" "$(state --threads=3 big.ndjson)"
{
	cat "$demo"
	seq 1000 2200 | sed 's/.*/{"type":"request:ask-user","id":"&","agentId":"a","timestamp":"2026-01-26T10:00:00Z","payload":{"question":"&?"}}/'
} >many.ndjson
is 'many items are counted as few are' "$("$GAVEL" show summary --filter=-zqxz many.ndjson)" \
	"$("$GAVEL" show summary many.ndjson)"
ok 'one message more makes a difference' [ "$(state --at='#70' "$demo")" != "$(state --at='#71' "$demo")" ]
ok 'one byte makes a difference' [ "$(state "$demo")" != "$(sed 's/ the / teh /' "$demo" | state)" ]
is 'as json' "{\"state\":\"$(state --at='#70' "$demo")\",\"messages\":70}" "$(state --at='#70' --format=json "$demo" | sed 's/,"now":[0-9]*//')"

# Replies are read with the log that they reply to.
session_of() { "$GAVEL" show messages --format=json "$@" | tail -n 1 | grep -o '"session":"[^"]*"'; }
mkdir logs
cp log.ndjson log.ndjson.replies.ndjson logs
cp log.ndjson.replies.ndjson sent
is 'by name' '"session":"log.ndjson"' "$(session_of log.ndjson log.ndjson.replies.ndjson)"
is 'whatever comes first' '"session":"log.ndjson"' "$(session_of log.ndjson.replies.ndjson log.ndjson)"
is 'by an option' 'out' "$("$GAVEL" show messages --format=json --reply=sent apart/log.ndjson | grep -o '"direction":"out"' | cut -d'"' -f4)"
is 'not by what they say' '"session":"sent"' "$(session_of apart/log.ndjson sent)"
is 'in a directory, too' '"source":"logs/log.ndjson.replies.ndjson"' "$("$GAVEL" show messages --format=json logs | grep '"direction":"out"' | grep -o '"source":"[^"]*"')"
before=$("$GAVEL" check log.ndjson | tail -n 1 | sed 's/, [0-9]* notes*.*//')
is 'check finds nothing wrong in them' "$before" "$("$GAVEL" check log.ndjson log.ndjson.replies.ndjson | tail -n 1 | sed 's/, [0-9]* notes*.*//')"

# A journal that cannot be read is told, and the log is shown.
journal=$(ls "$XDG_STATE_HOME"/gavel/*/journal-000001)
cp "$journal" kept
sed -i '2s/DRAFT/DRAFF/' "$journal"
ok 'a damaged journal does not keep the log from being shown' exit_of 0 "$GAVEL" show inbox log.ndjson
is 'it is told in one sentence' 1 "$(grep -c '^gavel: .*damaged' err)"
cat kept >"$journal"

# Where things came from, and what they claim: a log with its reply file, decided on here, too; and what
# one agent wrote.
mkdir trust
cp "$GAVEL_FIXTURES"/trust/* trust
# ends VIEW SOURCE PATTERN [OPTION...]: "trust" and what follows it, of the lines with that pattern
ends() {
	view=$1 source=trust/$2 pattern=$3
	shift 3
	"$GAVEL" show "$view" --format=json "$@" "$source" | grep "$pattern" | sed 's/.*\("trust"\)/\1/'
}
of_item() { # ID WANTED
	is "trust of $1 in the inbox" "$2" "$(ends inbox session.ndjson "^{\"id\":\"$1\"" --all)"
	is "... as an item" "$2" "$("$GAVEL" show item "$1" --format=json trust/session.ndjson | sed 's/.*\("trust"\)/\1/')"
}
of_item MENTION-3 '"trust":"log","claims":null}'
ok 'one is decided here' exit_of 0 "$GAVEL" decide --as=ann --deliver --reply=trust/ann.ndjson trust/session.ndjson MENTION-3 accept
of_item MENTION-1 '"trust":"log","claims":null}'
of_item MENTION-2 '"trust":"reply","claims":null}'
of_item MENTION-3 '"trust":"journal","claims":null}'
of_item MENTION-4 '"trust":"log","claims":"human"}'
of_decision() { is "trust of the decision on $1" "$2" "$(ends decisions session.ndjson "\"item\":\"$1\"")"; }
of_decision MENTION-1 '"trust":"log","claims":null}'
of_decision MENTION-2 '"trust":"reply","claims":null}'
of_decision MENTION-3 '"trust":"journal","claims":null}'
of_decision MENTION-4 '"trust":"log","claims":"human"}'
of_agent() { is "trust of $2" "$3" "$(ends agents "$1" "\"agent\":\"$2\"")"; }
of_agent session.ndjson worker '"trust":"log","claims":null}'
of_agent session.ndjson judge '"trust":"log","claims":null}'
of_agent session.ndjson ann '"trust":"journal","claims":null}'
of_agent session.ndjson bob '"trust":"reply","claims":null}'
of_agent session.ndjson mallory '"trust":"log","claims":"human"}'
of_agent dev-1.ndjson dev-1 '"trust":"agent","claims":null}'
is '... before anybody claimed anything' '"trust":"log","claims":null}' "$(ends agents session.ndjson worker --at='#9')"
of_message() { is "trust of line $2 of $1" "$3" "$(ends messages "$1" "\"line\":$2,\"source\":\"trust/$1\"")"; }
of_message session.ndjson 9 '"trust":"log","claims":null,"not_its_role":false}'
of_message session.ndjson 10 '"trust":"log","claims":"human","not_its_role":false}'
is '... of a reply' '"trust":"reply","claims":null,"not_its_role":false}' "$(ends messages session.ndjson '"from":"bob"')"
is '... of what was said here' '"trust":"journal","claims":null,"not_its_role":false}' "$(ends messages session.ndjson '"from":"ann"')"
of_message dev-1.ndjson 2 '"trust":"agent","claims":null,"not_its_role":false}'
of_message dev-1.ndjson 3 '"trust":"agent","claims":"orchestrator","not_its_role":true}'
of_message dev-1.ndjson 4 '"trust":"agent","claims":"lead","not_its_role":false}'
of_message dev-1.ndjson 5 '"trust":"agent","claims":null,"not_its_role":false}'
of_message dev-1.ndjson 7 '"trust":"agent","claims":"human","not_its_role":true}'
is 'what one agent raises' 3 "$(ends inbox dev-1.ndjson . | grep -c '"trust":"agent"')"
is '... with whom it claims to be' '"trust":"agent","claims":"lead"}' "$(ends inbox dev-1.ndjson 000003)"
# The same in words.
words() { # WANTED ID [SOURCE]
	"$GAVEL" show item "$2" --size=100 "trust/${3-session.ndjson}" >item
	ok "$2: $1" grep -qF -- "$1" item
}
words 'raised by worker  task' MENTION-1
words '✗ rejected by judge (in the log) at 09:10:00' MENTION-1
words 'line 9  ✗ rejected by judge (in the log)' MENTION-1
words '✓ accepted by bob (reply file) at 09:12:00, sent' MENTION-2
words '✓ accepted by ann at ' MENTION-3
words 'reply 1  ✓ accepted by ann' MENTION-3
is '... and no origin' 0 "$(grep -c 'ann (' item)"
words '⚠ unverified human · ✓ accepted by judge (in the log)' MENTION-4
words 'raised by dev-1 (its own output)' 7a1e0000-0000-4000-8000-000000000001 dev-1.ndjson
words 'line 3  ✗ not its role, by dev-1 (its own output)' 7a1e0000-0000-4000-8000-000000000001 dev-1.ndjson
words "one agent's own output decides nothing" MIG-1 dev-1.ndjson
"$GAVEL" show item 7a1e0000-0000-4000-8000-000000000001 --at='#1' trust/dev-1.ndjson >item
is 'not before it was said' 0 "$(grep -c 'not its role' item)"
{
	cat trust/dev-1.ndjson
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do
		sed -n "3s/000000000002/0000000001$i/p" trust/dev-1.ndjson
	done
} >trust/again.ndjson
words 'and 3 more, not its role either' 7a1e0000-0000-4000-8000-000000000001 again.ndjson
is 'the newest ones are listed' 20 "$(grep -c '✗ not its role' item)"
{
	cat trust/session.ndjson
	sed -n 13p trust/session.ndjson | sed 's/mallory","agent_type":"architect/ghost","agent_type":"reviewer/; s/"instance_id":"human"/"instance_id":"g"/; s/000000000103/000000000199/; s/000000000102/000000000104/; s/"sequence_number":3/"sequence_number":9/'
} >trust/ghost.ndjson
words '✗ not its role, by ghost (in the log)' 7a1e0000-0000-4000-8000-000000000104 ghost.ndjson
ok '... for the reason that its rule gives' grep -qF 'no architect has spoken to it' item
ok 'what is decided is refused with who did, and where' exit_of 1 "$GAVEL" decide --as=ann trust/session.ndjson MENTION-1 accept
ok '... in the log' grep -qF 'rejected by judge (in the log)' err
ok '... in a reply file' sh -c '! "$GAVEL" decide --as=ann trust/session.ndjson MENTION-2 reject --explain=No. 2>&1 | grep -vF "accepted by bob (reply file)"'
is 'the report has it, too' '| `judge` (in the log) |' "$("$GAVEL" show report trust/session.ndjson | grep MENTION-1 | grep -o '| `judge`[^|]*|')"
is 'agents: a person' 1 "$("$GAVEL" show agents --size=200 trust/session.ndjson | grep -cE '^bob +▸ person ')"
is 'agents: somebody who claims to be one' 1 "$("$GAVEL" show agents --size=200 trust/session.ndjson | grep -cE '^mallory +⚠ unverified human ')"
is 'decisions by origin' 'journal log reply log log' "$("$GAVEL" show decisions --size=200 trust/session.ndjson | grep -oE '(□|▸|■|◂) [a-z]+' | sed 's/.* //' | tr '\n' ' ' | sed 's/ $//')"
is 'a filter by origin' 1 "$("$GAVEL" show inbox --all --filter=trust:journal --format=json trust/session.ndjson | wc -l)"
is '... by what is not its role' 2 "$("$GAVEL" show messages --filter=is:not-its-role --format=json trust/dev-1.ndjson | wc -l)"
is 'the state is the same without a journal' "$("$GAVEL" show state --reply=trust/ann.ndjson trust/session.ndjson)" \
	"$("$GAVEL" show state --journal=nobodys --reply=trust/ann.ndjson trust/session.ndjson)"

# what it cost, in all and by task: that of the sender when it was reported, else by session
usage() { printf '{"type":"step_finish","timestamp":%s,"part":{"id":"p","messageID":"m","type":"step-finish","reason":"stop","cost":%s,"tokens":{"total":30,"input":10,"output":20,"reasoning":0,"cache":{"read":5,"write":0}}}}\n' "$1" "$2"; }
said() { printf '{"message_id":"b4f65dcd-895a-4a20-bafe-96c67c9c45%s","timestamp":"2026-03-17T09:0%s:00.000Z","sequence_number":%s,"from_agent":{"agent_id":"%s","agent_type":"developer"},"to_agent":{"agent_id":"%s","agent_type":"developer"},"message_type":"%s","payload":%s,"correlation_id":"c"}\n' "$@"; }
{
	usage 1773738032702 0.0625
	said 01 1 1 architect-main provider task_assignment '{"task":{"task_id":"T-1","task_description":"One"},"priority":"high"}'
	usage 1773738132702 0.5
	said 02 2 1 provider architect-main task_progress '{"task_id":"T-1","progress_percent":10,"current_step":"x"}'
	usage 1773738132703 0.25
	said 03 3 2 provider architect-main task_completion '{"task_id":"T-1","status":"completed"}'
	usage 1773738232702 0.125
} >cost.ndjson
"$GAVEL" show summary --format=json cost.ndjson >out
is 'cost by task' '{"task":"T-1","session":"cost.ndjson","tokens_in":20,"tokens_out":40,"tokens_cached":10,"cost":0.750000},{"task":null,"session":"cost.ndjson","tokens_in":20,"tokens_out":40,"tokens_cached":10,"cost":0.187500}' \
	"$(sed 's/.*"by_task":\[\(.*\)\]}$/\1/' out)"
is '... as text' '  by task            2  T-1 $0.7500   cost.ndjson $0.1875' "$("$GAVEL" show summary --size=100 cost.ndjson | grep 'by task')"
is '... as of then' '[{"task":null,"session":"cost.ndjson","tokens_in":10,"tokens_out":20,"tokens_cached":5,"cost":0.062500}]' \
	"$("$GAVEL" show summary --at='#2' --format=json cost.ndjson | sed 's/.*"by_task":\(.*\)}$/\1/')"
is 'agents: a total' 'total of 2 7 40 80 $0.938' "$("$GAVEL" show agents --size=100 cost.ndjson | awk 'END { print $1, $2, $3, $5, $6, $7, $8 }')"
is '... of those that are shown' 0 "$("$GAVEL" show agents --filter=agent:provider cost.ndjson | grep -c total)"
i=0
while [ $((i += 1)) -le 700 ]; do
	said 01 1 1 "$i-an-agent-with-a-rather-long-name" architect-main task_progress '{}'
done >many.ndjson
"$GAVEL" show agents --size=80 many.ndjson >out
is '700 agents have a row each, a heading and a total' '700 703 80 total of 701' "$(grep -c 'an-agent' out) $(wc -l <out) $(wc -L <out) $(tail -n 1 out | cut -c1-12)"
ok '... and a state beside a name that is cut' [ "$(grep -cE '^.{1,24}… +[^ ]+ idle' out)" = 700 ]

# what a recording of last year asks is as old as it was when that ended, beside another one
sed 's/"2026-03-17T/"2025-03-10T/g' "$demo" | grep -v ses_ >year.ndjson
ages() { "$GAVEL" show inbox --size=100 "$@" | grep -E 'Needs a redesign|Which share' | awk '{ print $1 }' | sort | tr '\n' ' '; }
is 'ages in a recording' '!3:55 17m29 ' "$(ages "$demo")"
is '... of another year, beside it' '!3:55 !3:55 17m29 17m29 ' "$(ages year.ndjson "$demo")"
is '... in any order' '!3:55 !3:55 17m29 17m29 ' "$(ages "$demo" year.ndjson)"
is '... and who was seen when' '17m29 17m29 ' "$("$GAVEL" show agents --size=100 year.ndjson "$demo" | grep '^reviewer-02' | grep -o '[0-9]\+m[0-9]\+' | tr '\n' ' ')"
is '... and what they do' 'planner-1 busy dev-01 working planner-1 busy dev-01 working' \
	"$("$GAVEL" show agents --size=100 year.ndjson "$demo" | grep -E '^(planner-1|dev-01) ' | awk '{ print $1, $4 }' | paste -sd ' ')"
is '... and which tasks run' 2 "$("$GAVEL" show timeline --size=100 year.ndjson "$demo" | grep -c '^PK-7 .* ▶ ')"
sed 's/"2026-03-17T09/"2026-03-16T23/' "$demo" | grep -v ses_ >day.ndjson
is '... one that ended less than a day before shares its clock' '10h17' "$(ages day.ndjson "$demo" | grep -o '10h[0-9]*')"

ok '--help' exit_of 0 "$GAVEL" --help
ok 'of a command' exit_of 0 "$GAVEL" check --help
ok 'help of a command' exit_of 0 "$GAVEL" help show
ok 'help config prints the example' sh -c '"$GAVEL" help config | cmp - "$GAVEL_DATADIR/config.example.json"'
ok 'of none there is: exit 2' exit_of 2 "$GAVEL" help nonsense
ok '--version' exit_of 0 "$GAVEL" --version
"$GAVEL" --help >help
"$GAVEL" help man >man
is 'the manual lists the options of --help' "$(grep -o '^  --[a-z-]*' help | tr -d ' ')" "$(sed -n '/^\.SH OPTIONS/,/^\.SH KEYS/s/^\.BI //p' man | sed 's/\\//g; s/ =.*//')"
is 'and the commands' "$(sed -n 's/^       gavel \([a-z]*\) .*/\1/p' help | sort)" "$(sed -n '/^\.SH SYNOPSIS/,/^\.SH COMMANDS/s/^\.B gavel \([a-z]*\)$/\1/p' man | sort)"
ok 'a backslash is one on the page too' grep -qF '.B "\e  :filter"' man
# in the build folder, or as the release archive has them
made() { [ -e "${GAVEL%/*}/$1" ] && echo "${GAVEL%/*}/$1" || echo "$srcdir/$1"; }
is 'nothing on the page waits to be filled in' 0 "$(grep -c '@[A-Z]*@' "$(made man/gavel.1)")"
is 'the page has what the tables say now' '' "$(grep -vxFf "$(made man/gavel.1)" man)"
for shell in bash:gavel zsh:_gavel fish:gavel.fish; do
	ok "and so has the completion of ${shell%:*}" sh -c '"$GAVEL" help "$1" | cmp - "$2"' - "${shell%:*}" "$(made data/completion/"${shell#*:}")"
done
ok 'help fits 80 columns' [ "$(wc -L <help)" -le 80 ]

# what is shown is what can be decided: by the same thresholds, and as far as the same lines are read
echo '{"task_id":"T1","status":"success","confidence_score":0.8,"output":{},"traces":"Tried","created_at":"2026-02-06T11:01:00Z"}' >result.ndjson
echo '{ "thresholds": { "approve": 0.75, "human": 0.7 } }' >bold.json
echo '{ "max_line": 20 }' >short.json
is 'a result that a person judges' 1 "$("$GAVEL" show inbox --format=json result.ndjson | wc -l)"
is '... is none with other thresholds' 0 "$("$GAVEL" show inbox --config=bold.json --format=json result.ndjson | wc -l)"
ok 'the longest line is as configured' sh -c '"$GAVEL" show messages --config=short.json result.ndjson | grep -q oversize'
ok '... for check, too' sh -c '"$GAVEL" check --config=short.json result.ndjson | grep -q oversize'
ok '... unless the command line says another' sh -c '! "$GAVEL" check --config=short.json --max-line=1M result.ndjson | grep -q oversize'
echo '{ "max_lin": 20 }' >wrong.json
ok 'what is wrong in the configuration is told' exit_of 0 "$GAVEL" show inbox --config=wrong.json result.ndjson
ok '... with its place' grep -q 'wrong.json:1:3: no setting "max_lin"' err

# a review that was rejected twice: whether it says the same again
review() {
	printf '{"message_id":"m-%s","timestamp":"2026-01-01T00:00:0%sZ","sequence_number":%s,' "$1" "$1" "$1"
	printf '"from_agent":{"agent_id":"r","agent_type":"reviewer"},"to_agent":{"agent_id":"a","agent_type":"architect"},'
	printf '"message_type":"review_result","correlation_id":"c","payload":{"review_id":"r-0","task_id":"t-0",'
	printf '"verdict":"rejected","findings":%s,"summary":"Again.","required_changes":[]}}\n' "$2"
}
came_back() {
	{ review 1 "$1"; review 2 "$2"; } >twice.ndjson
	"$GAVEL" show item r-0 twice.ndjson | sed -n 's/.*▲ came back\(, reworded\)\{0,1\} in iteration 2.*/back\1/p'
}
is 'the same review again' back "$(came_back '[{"finding_id":"f","description":"x"}]' '[{"description":"x","finding_id":"f"}]')"
is '... with another finding' 'back, reworded' "$(came_back '[{"finding_id":"f","description":"x"}]' '[{"finding_id":"f","description":"y"}]')"
is '... with what is no finding' 'back, reworded' "$(came_back '["x"]' '["y"]')"
is '... with what are no findings' 'back, reworded' "$(came_back '"x"' '"y"')"

tap_end
