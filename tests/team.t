# The store of a team: made, checked and trimmed by its owner; what agents and reviewers may do with it,
# and that nothing else is possible.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

team() {
	"$GAVEL" team "$@" >out 2>err
}
cd "$tmp" || exit 99

# ---- addresses ----

refused() { # NAME URL WORDS
	ok "$1" sh -c '! "$GAVEL" team check "$1" 2>err && grep -q "$2" err' sh "$2" "$3"
}
refused 'a password in the address' 'postgresql://ann:secret@h/team' 'has a password in it'
ok '... is not repeated' sh -c '! grep -q secret err'
refused 'a password as a setting' 'postgresql://h/team?password=secret' 'has a password in it'
refused 'a setting whose name is disguised' 'postgresql://h/team?p%61ssword=x' 'without %'
refused 'a weak sslmode' 'postgresql://h/team?sslmode=require' 'does not make sure who answers'
refused 'sslmode=disable' 'postgresql://h,h2/team?sslmode=disable' 'does not make sure who answers'
refused 'an escape that is none' 'postgresql://h/team?source=%4' 'hexadecimal'
refused 'a source without a name' 'postgresql://h/team?source=' 'names no source'
refused 'no server' "postgresql:///team?host=$tmp" 'no connection to postgresql:///team?host='
refused 'what is no address' "$tmp/file" 'begins with postgresql://'
ok 'no such action' sh -c '! "$GAVEL" team drop postgresql:/// 2>err && grep -q "init, check or trim" err'

# ---- init, check ----

ok 'a server' team_start
team_made=1
ok 'check where there is no store' sh -c '! "$GAVEL" team check "$1" >out' sh "$(team_url)"
ok '... says what to do' grep -q '^problem  schema   no store.*gavel team init' out
ok 'init' team init "$(team_url)"
ok '... says so' grep -q 'the store was made, version 1' out
ok '... and how to make logins' grep -q '^create role ann login in role gavel_reviewer;' out
ok 'init again' team init "$(team_url)"
ok '... changes nothing' grep -q 'the store is there, version 1' out
sql boss 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role cat login in role gavel_reviewer' 'create role dan login' \
	'create role edge login in role gavel_agent' 'create role other login in role gavel_agent'
ok 'check' team check "$(team_url)"
ok '... of fsync' grep -q '^ok       fsync    fsync is on' out
ok '... of the standby' grep -q '^caution  standby' out
ok '... of rights' grep -q '^ok       rights' out
ok '... of events' grep -q '^ok       events   all 0 events' out
ok 'as JSON' team check --format=json "$(team_url)"
ok '... one object a line' grep -q '^{"check":"fsync","state":"ok","words":"fsync is on"}$' out
# A program that only keeps the write-ahead log is a standby as far as the server knows.
standby_is() { # LOGIN WORDS: what check says of the standby, as far as WORDS go
	"$GAVEL" team check "$(team_url "$1")" | grep '^[a-z]* *standby' | cut -c 1-"${#2}"
}
sql postgres "alter system set synchronous_standby_names = 'standby'" 'select pg_reload_conf()' >/dev/null
is 'a standby that is away' 'problem  standby  synchronous_standby_names is ' "$(standby_is boss "problem  standby  synchronous_standby_names is ")"
team_as mkdir "$team_dir/wal"
team_as "$team_bin/pg_receivewal" -D "$team_dir/wal" --synchronous --no-loop \
	-d "host=$team_dir user=postgres application_name=standby" >receivewal 2>&1 &
receivewal=$!
tries=0
until [ "$(sql postgres 'select sync_state from pg_stat_replication')" = sync ] || [ $tries -gt 500 ]; do
	tries=$((tries + 1))
	sleep 0.02
done
for pair in 'boss|caution  standby  synchronous_standby_names is ' 'postgres|ok       standby  1 synchronous standby'; do
	is "a standby, as ${pair%%|*} sees it" "${pair#*|}" "$(standby_is "${pair%%|*}" "${pair#*|}")"
done
sql postgres 'grant pg_read_all_stats to boss'
is '... with the role for it' 'ok       standby  1 synchronous standby' "$(standby_is boss 'ok       standby  1 synchronous standby')"
sql postgres 'revoke pg_read_all_stats from boss' 'alter system reset synchronous_standby_names' 'select pg_reload_conf()' >/dev/null
sql postgres 'select pg_terminate_backend(pid) from pg_stat_replication' >/dev/null
wait $receivewal
ok 'init by somebody else' sh -c '! "$GAVEL" team init "$1" 2>err && grep -q "permission denied" err' sh "$(team_url ann)"

# ---- what an edge does ----

one() { # LOGIN STATEMENT: its one row
	sql "$1" "$2" 2>&1 | head -n 1
}
ship_open() { # LOGIN [HEAD [SIZE [SKIP]]]
	one "$1" "select id, number, next, mark_seq, mark = sha256(convert_to('[]' || chr(10), 'UTF8')) from gavel.ship_open('log', ${2-null}, ${3-0}, ${4-0})"
}
is 'a source' '1|1|0||' "$(ship_open edge)"
is '... is the same again' '1|1|0||' "$(ship_open edge)"
is '... has the log that comes first' '1|1|0||' "$(ship_open edge "'h1'")"
two_lines="array[convert_to('{\"a\"}' || chr(10), 'UTF8'), convert_to('[]' || chr(10), 'UTF8')]"
is 'lines' '9|0' "$(one edge "select * from gavel.ship(1, 0, $two_lines)")"
is '... said again are said once' '9|0' "$(one edge "select * from gavel.ship(1, 0, $two_lines)")"
is '... are at their offsets' '0 6' "$(sql ann 'select seq from gavel.line order by seq' | tr '\n' ' ' | sed 's/ $//')"
is '... goes on behind the last line' '1|1|9|6|t' "$(ship_open edge "'h1'" 20)"
is 'another log of that name' '4|2|0||' "$(ship_open edge "'h2'" | sed 's/^[0-9]*/4/')"
is 'a shorter log that begins the same' 3 "$(ship_open edge "'h1'" 4 | cut -d '|' -f 2)"
is 'a log that turned out to be another' 4 "$(ship_open edge "'h1'" 20 3 | cut -d '|' -f 2)"
is 'a source of somebody else' 'ERROR:  the source log is shipped by edge' "$(ship_open other)"
is '... takes no lines' 'ERROR:  source 1 is not one of other' "$(one other "select * from gavel.ship(1, 9, array['x']::bytea[])")"

wait_for() { # CONDITION
	tries=0
	while [ "$(one ann "$1")" != t ] && [ $tries -lt 500 ]; do
		tries=$((tries + 1))
		sleep 0.02
	done
}
open() { # KEY REV [NEED [BUNDLE [DUE]]]: prints id and state
	one edge "select * from gavel.open_item(1, '$1', '$2', 'finding', 'T', '{}', '${4-}', ${3-1}, ${5-null})"
}
is 'an item' '1|open' "$(open a r1)"
is '... again' '1|open' "$(open a r1)"
is '... with other words is another' '2|open' "$(open a r2)"
is '... and the older one is withdrawn' 'withdrawn' "$(one ann 'select state from gavel.item where id = 1')"
is '... until it is back' '1|open' "$(open a r1)"
is 'withdrawn by somebody else' f "$(one other "select gavel.withdraw(1, 'x')")"
is 'withdrawn' t "$(one edge "select gavel.withdraw(1, 'closed by the agent')")"
is 'back with the other words' '2|open' "$(open a r2)"

# ---- decide(): every answer ----

claim() { # LOGIN ITEM [SECONDS]: outcome and fence
	one "$1" "select outcome, fence from gavel.claim($2, ${3-60})"
}
decide() { # LOGIN ITEM FENCE REV VERB [DRAFT]
	one "$1" "select * from gavel.decide($2, $3, '$4', '$5', '${6-{\}}')"
}
is 'open' '3|open' "$(open b r1)"
is 'nobody has claimed it' 'lost|' "$(decide ann 3 0 r1 accept)"
is 'claimed' 'yours|1' "$(claim ann 3)"
is '... again is the same claim' 'yours|1' "$(claim ann 3)"
is '... not by another' 'held|1' "$(claim bob 3)"
is '... who is told by whom' ann "$(one bob 'select who from gavel.claim(3, 60)')"
is '... cannot decide' 'lost|ann' "$(decide bob 3 1 r1 accept)"
is 'an older fence' 'lost|ann' "$(decide ann 3 0 r1 accept)"
is 'another rev' 'changed|' "$(decide ann 3 1 r0 accept)"
is 'a verb that is none' 'ERROR:  no verb eat' "$(decide ann 3 1 r1 eat)"
is 'decided' 'decided|ann' "$(decide ann 3 1 r1 accept)"
is '... again' 'yours|ann' "$(decide ann 3 1 r1 accept)"
is '... with other words' 'already|ann accept' "$(decide ann 3 1 r1 accept '{"x":1}')"
is '... by another' 'already|ann accept' "$(decide bob 3 1 r1 accept)"
is 'claimed when decided' 'decided|1' "$(claim bob 3)"
is 'withdrawn' 'withdrawn|' "$(decide ann 1 0 r1 accept)"
is 'unknown' 'unknown|' "$(decide ann 99 0 r1 accept)"
is 'a lease of a second' 'yours|1' "$(claim ann 2 1)"
wait_for "select until < clock_timestamp() from gavel.item where id = 2"
is '... lapses' 'lost|' "$(decide ann 2 1 r2 accept)"
is '... and another may claim' 'yours|2' "$(claim bob 2)"
is 'beat' 2 "$(one bob "select item from gavel.beat('{2,3}', '{2,1}', 60)")"
is 'release' t "$(one bob 'select gavel.release(2, 2)')"
is '... twice' f "$(one bob 'select gavel.release(2, 2)')"

is 'an item for two' '4|open' "$(open c r1 2)"
claim ann 4 >/dev/null
is 'the first' 'second|1 of 2' "$(decide ann 4 1 r1 accept '{"words":"yes"}')"
is '... again' 'second|1 of 2' "$(decide ann 4 1 r1 accept '{"words":"yes"}')"
is '... cannot claim it again' 'voted|1' "$(claim ann 4)"
claim bob 4 >/dev/null
is 'other words' 'differs|' "$(decide bob 4 2 r1 accept '{"words":"no"}')"
is 'another verb' 'differs|' "$(decide bob 4 2 r1 partial '{"words":"yes"}')"
is 'the same' 'decided|bob' "$(decide bob 4 2 r1 accept '{"words":"yes"}')"
is '... by both' '{ann,bob}' "$(one ann 'select deciders from gavel.decision where item = 4')"
is 'a need of 0' '5|open' "$(open d r1 0)"
is '... is 1' 1 "$(one ann 'select need from gavel.item where id = 5')"
open e r1 2 >/dev/null
claim ann 6 >/dev/null; decide ann 6 1 r1 accept >/dev/null; claim bob 6 >/dev/null
is 'one refuses alone' 'decided|bob' "$(decide bob 6 2 r1 reject)"
is '... under their own name' '{bob}' "$(one ann 'select deciders from gavel.decision where item = 6')"

ok 'a server that forgets' sh -c 'sql() { "$1/psql" -h "$2" -U ann -d team -XqAt -c "set synchronous_commit = off; select gavel.decide(5, 0, '\''r1'\'', '\''accept'\'', '\''{}'\'')" 2>&1; }; sql "$@" | grep -q "could forget decisions"' sh "$team_bin" "$team_dir"

# ---- what leaves ----

outbox() {
	sql edge "select item, verb, who, last from gavel.outbox('{1}')" | tr '\n' ' '
}
is 'the outbox' '3|accept|ann| 4|accept|ann, bob| 6|reject|bob| ' "$(outbox)"
is '... of somebody else' '' "$(sql other "select item from gavel.outbox('{1}')")"
sql edge "select gavel.report(3, 'sent', '', 'bytes')" "select gavel.report(3, 'sent', '', 'bytes')" \
	"select gavel.report(4, 'held', 'no reader', null)" "select gavel.report(4, 'held', 'no reader', null)" \
	"select gavel.report(6, 'refused', 'gone', null)" >/dev/null
is 'what is reported leaves it' '4|accept|ann, bob|held ' "$(outbox)"
is 'each report counts once' '3|sent 4|held 6|refused ' "$(sql ann 'select item, what from gavel.outcome order by item, n' | tr '\n' ' ')"
is 'a report of somebody else' 'ERROR:  item 4 is not of a source of other' "$(one other "select gavel.report(4, 'sent', '', null)")"
is 'what is refused is asked again' '7|open' "$(open e r1)"
is '... once' '7|open' "$(open e r1)"
one edge "select gavel.withdraw(7, '')" >/dev/null
is 'settled' t "$(one ann "select gavel.settle(4, 'resend')")"
is '... once' f "$(one bob "select gavel.settle(4, 'resend')")"
is '... as the edge is told' '4|accept|ann, bob|resend ' "$(outbox)"
sql edge "select gavel.report(4, 'sent', '', 'bytes')" "select gavel.report(4, 'held', 'late', null)" >/dev/null
is '... and sent' '' "$(outbox)"

for k in f g h; do open $k r1 1 turn1 >/dev/null; done
for i in 8 9; do claim ann $i >/dev/null; decide ann $i 1 r1 accept >/dev/null; done
is 'a bundle waits for its last item' '' "$(outbox)"
is '... or for a person' 2 "$(one bob 'select gavel.dispatch_bundle(8)')"
is '... who sends what there is' '8|accept|ann| 9|accept|ann| ' "$(outbox)"
open i r1 1 turn2 >/dev/null; open j r1 1 turn2 >/dev/null
claim ann 11 >/dev/null; decide ann 11 1 r1 accept >/dev/null
edge_withdraws=$(one edge "select gavel.withdraw(12, 'closed')")
is 'withdrawn items are not waited for' 't 8 9 11' "$edge_withdraws $(sql edge "select item from gavel.outbox('{1}')" | tr '\n' ' ' | sed 's/ $//')"

# ---- levels ----

sql boss 'create role lead' 'grant lead to cat' "insert into gavel.ladder values (0, 'gavel_reviewer', '1 hour'), (1, 'lead', '1 hour')" >/dev/null
is 'an item that is late' '13|open' "$(open k r1 1 '' "clock_timestamp() - interval '1 s'")"
is '... rises' 1 "$(one ann 'select gavel.tick()')"
is '... once' 0 "$(one edge 'select gavel.tick()')"
is '... out of reach' 'above|0' "$(claim ann 13)"
is '... of those below' 'yours|1' "$(claim cat 13)"
is 'the top' top "$(one cat "select gavel.escalate(13, 1, 'help')")"
is 'above' 'above|' "$(decide ann 13 1 r1 accept)"
claim ann 5 >/dev/null
is 'escalated by a person' raised "$(one ann "select gavel.escalate(5, 1, 'help')")"
is '... who has no claim then' lost "$(one ann "select gavel.escalate(5, 1, 'help')")"
open q r1 >/dev/null
is 'what has no deadline rises, too' t "$(one ann "select due between now() + interval '59 min' and now() + interval '61 min' from gavel.item where key = 'q'")"
open q2 r1 1 '' "now() + interval '1 min'" >/dev/null
is '... at the earlier of the two' t "$(one ann "select due < now() + interval '2 min' from gavel.item where key = 'q2'")"
sql boss 'delete from gavel.ladder' >/dev/null

# ---- limits ----

sql boss 'update gavel.source set open_max = 1' >/dev/null
is 'too many items' 'ERROR:  the source log has 4 open items, which is all it may have' "$(open z r1 | sed 's/ 1 open/ 4 open/')"
sql boss 'update gavel.source set open_max = 1000, rate = 10, room = 0, filled = clock_timestamp()' >/dev/null
is 'too many lines' '9|t' "$(one edge "select next, wait_ms between 50 and 1000 from gavel.ship(1, 9, array['0123456789']::bytea[])")"
sql boss 'update gavel.source set rate = 4194304, room = 1e8' >/dev/null

# ---- rights ----

# Each of these must be refused to the login. What a statement would do does not matter, so transactions
# are not needed: nothing gets through.
forbidden() {
	for table in meta source line item vote decision dispatch outcome ladder head event; do
		column=$(sql boss "select attname from pg_attribute where attrelid = 'gavel.$table'::regclass order by attnum desc limit 1")
		printf '%s\n' "insert into gavel.$table overriding system value select * from gavel.$table" \
			"update gavel.$table set $column = $column" "delete from gavel.$table" \
			"truncate gavel.$table" "drop table gavel.$table" "alter table gavel.$table add x int" \
			"create trigger t before insert on gavel.$table execute function gavel.never()" \
			"do \$\$ begin lock table gavel.$table in exclusive mode; end \$\$"
	done
	sql boss "select 'delete from gavel.' || relname from pg_class where relnamespace = 'gavel'::regnamespace and relname like 'line_2%' and relkind = 'r'"
	printf '%s\n' "select gavel.tell('decided', 1, 'x')" 'select gavel.make_days()' \
		"select gavel.trim_lines('0 s')" 'select gavel.own_source(1)' 'select gavel.never()' \
		'select gavel.lease(1)' 'set role boss' 'set session authorization boss' \
		'create table gavel.t (x int)' 'create function gavel.f() returns int language sql as $$ select 1 $$' \
		'drop schema gavel cascade' 'drop function gavel.never cascade' 'alter schema gavel rename to g' \
		'grant gavel_reviewer to dan' 'create role eve' 'set session_replication_role = replica' \
		"copy (select 1) to '$team_dir/x'" "select pg_read_file('postgresql.conf')"
}
for_agents() {
	printf '%s\n' 'select gavel.claim(1, 1)' "select gavel.decide(1, 1, 'r', 'accept', '')" \
		"select gavel.beat('{1}', '{1}', 1)" 'select gavel.release(1, 1)' 'select gavel.dispatch_bundle(1)' \
		"select gavel.settle(1, 'resend')" "select gavel.escalate(1, 1, '')" \
		"select gavel.tail(0, 0, 0, '-infinity', 1)" 'select * from gavel.line' 'select * from gavel.item' \
		'select * from gavel.decision' 'select * from gavel.event' 'select * from gavel.source'
}
for_reviewers() {
	printf '%s\n' "select gavel.ship_open('x', null, 0, 0)" "select gavel.own_items('{1}')" "select gavel.ship(1, 0, '{}')" "select gavel.withdraw(1, '')" \
		"select gavel.open_item(1, 'k', 'r', 'k', 't', '', '', 1, null)" "select gavel.outbox('{1}')" \
		"select gavel.report(1, 'sent', '', null)"
}
allowed() { # LOGIN: prints the statements of the standard input that are not refused
	sort -u >statements
	sed 's/$/;/' statements | "$team_bin/psql" -h "$team_dir" -U "$1" -d team -X -q -A -t -v VERBOSITY=verbose \
		>said 2>&1
	# each has one line of its own that says why
	[ "$(grep -c 'ERROR:  42501' said)" = "$(wc -l <statements)" ] && return
	while read -r statement; do
		sql "$1" "$statement" >said 2>&1 && echo "$statement"
		grep -qE 'permission denied|must (be (owner|superuser|member)|have admin option)' said || { echo "$statement"; cat said; }
	done <statements
}
forbidden >all
is 'many things are tried' yes "$([ "$(wc -l <all)" -gt 100 ] && echo yes)"
is 'an agent may not' '' "$({ cat all; for_agents; } | allowed edge)"
is 'a reviewer may not' '' "$({ cat all; for_reviewers; } | allowed ann)"
is 'a stranger may not' '' "$({ cat all; for_agents; for_reviewers; } | allowed dan)"
for table in event decision vote outcome dispatch; do
	is "not even the owner changes what is in $table" 3 "$(
		for verb in "update gavel.$table set item = item" "delete from gavel.$table" "truncate gavel.$table cascade"; do
			sql boss "$verb" 2>&1
		done | grep -c 'what was decided is never changed')"
done

# ---- the chain ----

ok 'the chain' team check "$(team_url)"
ok '... is proven' grep -q '^ok       events   all [0-9]* events are proven' out
ok '... for a reviewer, too' team check "$(team_url ann)"
sql postgres "alter table gavel.event disable trigger never" "update gavel.event set who = 'bob' where n = 9" >/dev/null
ok 'a changed event' sh -c '! "$GAVEL" team check "$1" >out' sh "$(team_url)"
ok '... is found' grep -q '^problem  events   event 8 is the last that is proven' out
sql postgres "delete from gavel.event where n = 5" >/dev/null
ok 'a missing event' sh -c '! "$GAVEL" team check "$1" >out' sh "$(team_url)"
ok '... is found' grep -q '^problem  events   after event 4 one is missing' out
sql postgres 'grant insert on gavel.vote to gavel_reviewer' >/dev/null
ok 'a right too many' sh -c '! "$GAVEL" team check "$1" >out' sh "$(team_url)"
ok '... is found' grep -q '^problem  rights   role gavel_reviewer may insert vote' out
ok 'init' team init "$(team_url)"
ok '... takes it back' sh -c '"$GAVEL" team check "$1" >out; grep -q "^ok       rights" out' sh "$(team_url)"

# ---- reading all lines ----

# Transaction ids get a digit more on the way; lines are found in their order all the same.
sql postgres "create or replace procedure public.burn(up_to bigint) language plpgsql as \$\$
begin while pg_current_xact_id()::text::bigint < up_to loop commit; end loop; end \$\$" >/dev/null
now=$(sql boss 'select pg_current_xact_id()')
edge_of=1000
while [ "$edge_of" -le "$((now + 20))" ]; do edge_of=${edge_of}0; done
[ "$edge_of" -gt 10000 ] || sql postgres "call public.burn($edge_of - 10)" >/dev/null
sql boss 'truncate gavel.line' 'update gavel.source set next = 0' >/dev/null
i=0
while [ $i -lt 30 ]; do
	echo "select gavel.ship(1, $((i * 3)), array[convert_to('$((i + 10))' || chr(10), 'UTF8')]);"
	i=$((i + 1))
done | PGOPTIONS= "$team_bin/psql" -h "$team_dir" -U edge -d team -XqAt >/dev/null 2>&1
is 'a digit more' 2 "$(sql ann 'select count(distinct length(xid::text)) from gavel.line')"
is 'the tail, line by line' "$(i=10; while [ $i -lt 40 ]; do echo $i; i=$((i + 1)); done)" "$(
	cursor='0, 0, 0' lines=0
	while lines=$((lines + 1)) && [ $lines -lt 50 ] && row=$(sql ann "select xid || ', ' || source || ', ' || seq || '|' || convert_from(bytes, 'UTF8') from gavel.tail($cursor, '-infinity', 1)") && [ -n "$row" ]; do
		cursor=${row%%|*}
		echo "${row#*|}"
	done | grep .)"

# ---- trim ----

ok 'trim of nothing old' team trim "$(team_url)"
ok '... says so' grep -q 'removed the lines of 0 days' out
sql postgres "create table gavel.line_20200101 (like gavel.line including all)" \
	"alter table gavel.line_20200101 owner to boss" \
	"alter table gavel.line attach partition gavel.line_20200101 for values from ('2020-01-01 00:00+00') to ('2020-01-02 00:00+00')" >/dev/null
ok 'trim' team trim --keep=30d "$(team_url)"
ok '... says how much' grep -q 'removed the lines of 1 day$' out
is '... keeps the newer' 30 "$(sql ann 'select count(*) from gavel.line')"
ok 'trim by somebody else' sh -c '! "$GAVEL" team trim "$1" 2>err && grep -q "permission denied" err' sh "$(team_url ann)"
ok '--keep is checked' sh -c '! "$GAVEL" team trim --keep=x "$1" 2>err && grep -q "^gavel: --keep=x: must be" err' sh "$(team_url)"

# ---- a newer store ----

sql postgres 'update gavel.meta set version = 2' >/dev/null
ok 'a newer store' sh -c '! "$GAVEL" team init "$1" 2>err' sh "$(team_url)"
ok '... is left alone' grep -q 'has version 2, this gavel knows 1: use a newer gavel' err

tap_end
