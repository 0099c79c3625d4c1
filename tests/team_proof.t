# What an item of a team shows is in the log of its agents, or that is said and nobody decides on it: history
# that was changed in the database, and a machine that opens items of its own making.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

demo=$GAVEL_DATADIR/demo.ndjson
team_begin 'create role ann login in role gavel_reviewer' 'create role edge login in role gavel_agent' \
	'create role eve login in role gavel_agent'
ann=$(team_url ann)

ship() { # NAME LOGIN LOG [OPTION...]
	name=$1 login=$2 log=$3
	shift 3
	timeout 60 "$GAVEL" ship --to="$(team_url "$login")" --no-follow --as-source="$name" "$@" "$log" >ship.out 2>&1 ||
		tap_comment <ship.out
}
ask() { # NUMBER QUESTION
	printf '{"type":"event:question","id":"00000000-0000-4000-8000-%012d","timestamp":"2026-03-17T09:30:45.775Z","agentId":"planner-1","payload":{"question":"%s"}}\n' "$1" "$2"
}
id_of() { # TITLE
	sql ann "select max(id) from gavel.item where title like '%$1%'"
}
# Changes what nobody may change: who administers the server can.
forge() { # STATEMENT...
	sql postgres 'set session_replication_role = replica' "$@"
}
in_log() { # TITLE: what show says of it, as JSON
	"$GAVEL" show inbox --all --format=json "$ann" | grep "\"title\":\"[^\"]*$1" | sed 's/.*"in_log"://; s/}}$//' | sort -u
}
says() { # WORDS: in the last output
	grep -q -- "$1" out || { cat out; false; }
}
answer() { # NUMBER
	"$GAVEL" decide --deliver "$ann" "00000000-0000-4000-8000-$(printf %012d "$1")" answer --answer=a >out 2>&1
}
refused() {
	! answer "$@"
}

# ---- what is there ----

for n in 1 2 3 4 5 6 7; do ask $n "Question $n?"; done >log.ndjson
ship demo edge "$demo"
ship log edge log.ndjson
is 'what a machine has shipped is in its log' true,\"doubt\":null "$(in_log '')"
"$GAVEL" show item 00000000-0000-4000-8000-000000000001 "$ann" >out
ok '... which needs no words' sh -c '! grep -q "log *not in\|cannot be checked" out'
is '... and is decided' 0 "$(answer 7; echo $?)"

# ---- a history that was changed ----

at=$(($(ask 1 "Question 1?" | wc -c) * 1)) # each line has that many bytes
forge "update gavel.line set bytes = replace(encode(bytes, 'escape'), 'Question 2', 'Question X')::bytea"
is 'a line that was changed' "false,\"doubt\":\"not in the log of log: the line at byte $at says something else\"" "$(in_log 'Question 2')"
ok '... is not decided' refused 2
ok '... which is said' says "not in the log of log: the line at byte $at says something else; ask whoever runs its agents"
forge "delete from gavel.line where encode(bytes, 'escape') like '%Question 3%'"
is 'a line that was removed' "false,\"doubt\":\"not in the log of log: the line at byte $((2 * at)) was removed from the store\"" "$(in_log 'Question 3')"
ok '... is not decided' refused 3
four=$(id_of 'Question 4')
forge "update gavel.item set body = replace(encode(body, 'escape'), 'Question 4', 'Question Y')::bytea where id = $four"
words='not in the log of log: its title or revision is not that of its message'
is 'an item that was changed' "false,\"doubt\":\"$words\"" "$(in_log 'Question Y')"
ok '... is not decided' refused 4
ok '... which is said' says "$words"
five=$(id_of 'Question 5')
forge "update gavel.item set body = replace(encode(body, 'escape'), '\"title\":\"Question 5', '\"title\":\"Question Z')::bytea where id = $five"
is 'a title that was changed' "false,\"doubt\":\"$words\"" "$(in_log 'Question Z')"
forge "update gavel.item set rev = 'sha256:0' where id = $(id_of 'Question 6')"
is 'a revision that was changed' "false,\"doubt\":\"$words\"" "$(in_log 'Question 6')"
is 'nothing else' "true,\"doubt\":null" "$(in_log 'Question 1')"
"$GAVEL" show item 00000000-0000-4000-8000-000000000002 "$ann" >out
ok 'the page of an item says so' says 'not in the log of log'
"$GAVEL" show inbox --size=140 "$ann" >out
ok '... and its row' says 'not in log .*Question 2'
cat >keys <<-EOF
	<until:not in log>/Question 2<Enter>1<until:not in the log of log>:save-screen screen.txt<Enter>
EOF
ok 'a key' timeout 60 "$GAVEL" --headless --keys=keys --screen=screen --size=120x40 "$ann"
is '... claims nothing' '' "$(sql ann "select holder from gavel.item where title = 'Question 2?'")"
is 'nothing of that was decided' 1 "$(sql ann 'select count(*) from gavel.decision')"

# ---- a machine that lies ----

# Items of eve's own making: with the body of an item of another machine, and with lines that say something else.
open_as_eve() { # SOURCE KEY STATEMENT-FOR-BODY
	sql eve "select gavel.ship_open('$1', 'h', 0, 0)" >/dev/null
	sql boss "grant select on gavel.item, gavel.source to eve"
	sql eve "select gavel.open_item((select id from gavel.source where name = '$1'), '$2', rev, kind, 'x', $3, '', 1, null)
		from gavel.item where title = 'Question 1?'" >/dev/null
	sql boss "revoke select on gavel.item, gavel.source from eve"
}
renamed() { # NAME: the body of question 1 with another number
	echo "replace(encode(body, 'escape'), '00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-0000000000$1')"
}
own="(select id from gavel.source where name = 'eve')"
open_as_eve eve k1 "($(renamed 21))::bytea"
doubt() { # NUMBER
	"$GAVEL" show inbox --all --format=json "$ann" | grep "\"id\":\"[^\"]*0000000000$1" | sed 's/.*"in_log"://; s/}}$//'
}
is 'an item that names a line of another machine' 'false,"doubt":"not in the log of eve: the line that it names is in a log of another machine"' "$(doubt 21)"
ok '... is not decided' refused 21
# where the line is to be, once it has come
open_as_eve eve k2 "regexp_replace($(renamed 22), '\"log\":.*\$', '\"log\":[{\"source\":' || $own || ',\"offset\":0}]}}')::bytea"
is 'a line that has not come' 'null,"doubt":"cannot be checked yet: its line has not come to the store"' "$(doubt 22)"
cat >waits.keys <<-EOF
	<until:open>/000000000022<Enter>:save-screen loaded<Enter><until:not in log>:save-screen seen<Enter>
EOF
timeout 60 "$GAVEL" --headless --keys=waits.keys --screen=screen --size=140x60 "$(team_url ann)" >waits.out 2>&1 &
waiting=$!
tries=0
until [ -e loaded ] || [ $tries -ge 400 ]; do tries=$((tries + 1)); sleep 0.05; done
long=$(ask 22 "Something else, and longer than what the item says?" | tr -d '\n')
sql eve "select gavel.ship(id, 0, array['$long' || E'\\n', E'{}\\n']::bytea[]) from gavel.ship_open('eve', 'h', 0, 0)" >/dev/null
ok '... and says something else' wait $waiting
is '... is not what the item says' 'false,"doubt":"not in the log of eve: the line at byte 0 says something else"' "$(doubt 22)"
# what cannot be: no number makes the others unknown
open_as_eve eve k3 "regexp_replace($(renamed 23), '\"log\":.*\$', '\"log\":[{\"source\":9007199254740993,\"offset\":9007199254740993}]}}')::bytea"
open_as_eve eve k4 "regexp_replace($(renamed 24), '\"log\":.*\$', '\"log\":[{\"source\":1,\"offset\":-1}]}}')::bytea"
is 'a place beyond any log' 'null,"doubt":"cannot be checked: its machine does not say where in the log it is"' "$(doubt 23)"
is '... and before' "$(doubt 23)" "$(doubt 24)"
is '... others are proven all the same' "true,\"doubt\":null" "$("$GAVEL" show inbox --all --format=json "$ann" | grep '"source":"demo"' | sed 's/.*"in_log"://; s/}}$//' | sort -u)"

# ---- where there are no lines ----

ask 31 'Without lines?' >none.ndjson
ship none edge none.ndjson --no-lines
is 'a machine that copies no lines' 'null,"doubt":"cannot be checked: its machine does not say where in the log it is"' "$(in_log 'Without lines')"
is '... is believed' 0 "$(answer 31; echo $?)"
ok '... but not about where replies go' [ ! -e none.ndjson.replies.ndjson ]
ship none edge none.ndjson --no-lines
ok '... which its machine knows itself' [ -s none.ndjson.replies.ndjson ]
ask 32 'Trimmed?' >trimmed.ndjson
ship trimmed edge trimmed.ndjson
forge "delete from gavel.line where source = (select id from gavel.source where name = 'trimmed')"
is 'lines that were trimmed' 'null,"doubt":"cannot be checked: its line was trimmed"' "$(in_log 'Trimmed')"
"$GAVEL" show item 00000000-0000-4000-8000-000000000032 "$ann" >out
ok '... which the page says' says 'cannot be checked: its line was trimmed'
is '... are no reason not to decide' 0 "$(answer 32; echo $?)"

# ---- what was staged before ----

ask 41 'Staged?' >staged.ndjson
ship staged edge staged.ndjson
is 'a draft' 0 "$("$GAVEL" decide "$ann" 00000000-0000-4000-8000-000000000041 answer --answer=a >out 2>&1; echo $?)"
forge "update gavel.line set bytes = '{}'::bytea || repeat(' ', 1000)::bytea where source = (select id from gavel.source where name = 'staged')"
ok '... on what is found to be untrue' sh -c '! "$GAVEL" decide --deliver "$1" >out 2>&1' sh "$ann"
ok '... does not leave' says 'not in the log of staged'
is '... the store has no vote' 0 "$(sql ann "select count(*) from gavel.vote where item = $(id_of 'Staged')")"

tap_end
