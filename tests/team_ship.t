# gavel ship: lines at their offsets, items, and what the team decides said once, whatever happens to the
# shipper in between.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

demo=$GAVEL_DATADIR/demo.ndjson
team_begin 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role edge login in role gavel_agent'
to=$(team_url edge)

ship() { # until all is said and reported
	timeout 60 "$GAVEL" ship --to="$to" --no-follow "$@" >out 2>err
}
begin() { # in the background, as $shipper
	"$GAVEL" ship --to="$to" "$@" >live.out 2>live.err &
	shipper=$!
}
end() {
	kill "${1--TERM}" $shipper
	wait $shipper 2>/dev/null
}
accept() { # ITEM-ID [VERB [MEMBERS]]: by ann, as gavel would
	sql ann "select outcome from gavel.claim($1, 60)" "select outcome || ' ' || who from gavel.decide($1,
		(select fence from gavel.item where id = $1), (select rev from gavel.item where id = $1), '${2-accept}',
		'{\"verb\":\"${2-accept}\"${3-}}')" | tail -n 1
}
item() { # LIKE: id of an open item whose key is like that
	sql ann "select id from gavel.item where state = 'open' and key like '$1' limit 1"
}

# ---- a log ----

cp "$demo" log.ndjson
ok 'ship' ship --as-source=demo log.ndjson
is '... complains of nothing' '' "$(cat err)"
is 'the lines, joined, are the log' "$(sha256sum <log.ndjson | cut -c 1-64)" \
	"$(sql ann "select encode(sha256(string_agg(bytes, '' order by seq)), 'hex') from gavel.line")"
is '... one row a line' "$(wc -l <log.ndjson)" "$(sql ann 'select count(*) from gavel.line')"
"$GAVEL" show inbox --format=json --no-cache log.ndjson | sed -n 's/.*"rev":"\(sha256:[0-9a-f]*\)".*/\1/p' | sort >revs
ok 'some items wait' [ "$(wc -l <revs)" -gt 10 ]
is '... and are in the store, with their revs' "$(cat revs)" "$(sql ann "select rev from gavel.item where state = 'open'" | sort)"
sql ann "select encode(body, 'escape') from gavel.item where key like '%question%' limit 1" >body
ok '... and an entry that a queue could have' sh -c 'grep -q "\"x-gavel\":{\"by\":" body && grep -q "\"original\":" body && grep -q "\"rev\":\"sha256:" body'
before=$(sql ann 'select max(n) from gavel.event')
ok 'ship again' ship --as-source=demo log.ndjson
is '... tells nothing new' "$before|$(wc -l <log.ndjson)" \
	"$(sql ann "select (select max(n) from gavel.event) || '|' || count(*) from gavel.line")"
tail -n 1 log.ndjson >>log.ndjson
ok 'a line more' ship --as-source=demo log.ndjson
is '... is one row more' "$(wc -l <log.ndjson)" "$(sql ann 'select count(*) from gavel.line')"
is 'names of sources' demo "$(sql ann 'select name from gavel.source')"

# ---- what is decided ----

first=$(item '%/finding:%')
is 'a decision' 'decided ann' "$(accept "$first" reject ',"reason_code":"out_of_scope"')"
sql ann "select gavel.dispatch_bundle($first)" >/dev/null
ok 'ship' ship --as-source=demo log.ndjson
is '... has sent it' sent "$(sql ann "select what from gavel.outcome where item = $first")"
is '... with these bytes' 1 "$(sql ann "select encode(bytes, 'escape') from gavel.outcome where item = $first" | grep -cFf - log.ndjson.replies.ndjson)"
is '... by ann' 1 "$(grep -c 'ann' log.ndjson.replies.ndjson)"
is '... as the journal says, too' "$first" "$("$GAVEL" journal list --format=json | grep -c '"by":"ann"' >/dev/null; grep -rhao '"team":"[^"]*' "$XDG_STATE_HOME/gavel" | head -n 1 | sed 's|.*/||')"
ok 'ship again' ship --as-source=demo log.ndjson
is '... does not send it twice' 1 "$(wc -l <log.ndjson.replies.ndjson)"

second=$(item '%/question:%')
is 'a decision that cannot be said' 'decided ann' "$(accept "$second" answer ',"answer":""')"
ok 'ship' ship --as-source=demo log.ndjson
is '... is refused' refused "$(sql ann "select what from gavel.outcome where item = $second")"
is '... and asked again' '1|open' "$(sql ann "select try, state from gavel.item where key = (select key from gavel.item where id = $second) and id <> $second")"

# ---- while it runs: claims, bundles, acknowledgments, things that close by themselves ----

cat >talk.ndjson <<'EOF'
{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":"x"}}
EOF
answer() { # ITERATION ITEMS ACKS
	printf '{"protocol_version":"1.2","iteration":%s,"status":"success","feedback":{"confidence":{"level":"high","justification":"j"},"positive_points":[],"areas_for_improvement":[%s],"general_summary":"g"}%s}\n' "$1" "$2" "${3-}"
}
area() {
	printf '{"id":"scope-0%s","aspect":"a","description":"d %s","recommendation":"r"}' "$1" "$1"
}
begin --as-source=talk --artifact=artifact.txt talk.ndjson
wait_for "select count(*) from gavel.source where name = 'talk'" 1
echo y >artifact.txt
answer 1 "$(area 1),$(area 2)" >>talk.ndjson
talk="source = (select id from gavel.source where name = 'talk')"
ok 'a second one' sh -c 'timeout 20 "$GAVEL" ship --to="$1" --no-follow talk.ndjson 2>err; [ $? -eq 3 ]' sh "$to"
ok '... is told who ships it' grep -q 'another gavel' err
ok 'items open while it runs' wait_for "select count(*) from gavel.item where $talk and state = 'open'" 2
one=$(item '%scope-01@%') two=$(item '%scope-02@%')
accept "$one" reject ',"reason_code":"out_of_scope"' >/dev/null
is 'one of a turn waits for the other' '' "$(sql edge "select item from gavel.outbox(array(select id from gavel.ship_open('talk', null, 0, 0)))")"
accept "$two" reject ',"reason_code":"out_of_scope"' >/dev/null
ok '... and both leave' wait_for "select count(*) from gavel.outcome where what = 'sent' and item in ($one, $two)" 2
is '... as one message' "1 $(wc -c <talk.ndjson.replies.ndjson)" \
	"$(wc -l <talk.ndjson.replies.ndjson) $(sql ann "select distinct octet_length(bytes) from gavel.outcome where what = 'sent' and item in ($one, $two)")"
answer 2 "$(area 3)" ',"applied_feedback_ack":{"items":[{"id":"scope-01","processing_status":"acknowledged"},{"id":"scope-02","processing_status":"acknowledged"}]}' >>talk.ndjson
ok 'what the agents acknowledge is reported' wait_for "select count(*) from gavel.outcome where what = 'acked' and item in ($one, $two)" 2
three=$(item '%scope-03@%')
end
ok 'it ends when asked to' [ $? -eq 0 ]
answer 3 '' >>talk.ndjson
begin --as-source=talk talk.ndjson
ok 'what was closed meanwhile is withdrawn, or still waits' wait_for "select count(*) from gavel.item where $talk and state = 'open'" \
	"$("$GAVEL" show inbox --format=json talk.ndjson | wc -l)"
end

# ---- a FIFO that takes the replies, without and with a reader ----

ask() { # NUMBER
	printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-26T10:00:00Z","payload":{"question":"Which one, %d?","options":[{"value":"a","label":"A"},{"value":"b","label":"B"}]}}\n' "$1" "$1"
}
decide_all() {
	sql ann "do \$\$ declare i record; c record; begin
		for i in select id, rev from gavel.item where state = 'open' and kind = 'question' and title like 'Which one, %' order by id loop
			select * into c from gavel.claim(i.id, 60);
			if c.outcome = 'yours' then
				perform gavel.decide(i.id, c.fence, i.rev, 'answer', '{\"verb\":\"answer\",\"answer\":\"a\"}');
			end if;
		end loop; end \$\$"
}
mkfifo -m 600 fifo
ask 1 >fifo.ndjson
ok 'ship with a FIFO' ship --reply=fifo fifo.ndjson
decide_all
ok 'nobody reads it' ship --reply=fifo fifo.ndjson
last=$(sql ann 'select max(item) from gavel.decision')
is '... so it is held' held "$(sql ann "select what from gavel.outcome where item = $last")"
ok '... and again' ship --reply=fifo fifo.ndjson
is '... told once' 1 "$(sql ann "select count(*) from gavel.outcome where item = $last")"
timeout 30 cat fifo >received &
reader=$!
sql bob "select gavel.settle($last, 'resend')" >/dev/null
ok 'resent' ship --reply=fifo fifo.ndjson
wait $reader
is '... it arrives' 1 "$(grep -c '"00000000-0000-4000-8000-000000000001"' received)"
is '... once' 'held resend sent' "$(sql ann "select what from gavel.outcome where item = $last order by n" | paste -sd ' ')"

# ---- a stream ----

ask 2 >lines
ok 'a pipe' sh -c 'cat lines | timeout 60 "$0" ship --to="$1" --no-follow --as-source=pipe --reply=pipe.replies -' "$GAVEL" "$to"
decide_all
ok '... again, as a log of its own' sh -c 'cat lines | timeout 60 "$0" ship --to="$1" --no-follow --as-source=pipe --reply=pipe.replies -' "$GAVEL" "$to"
is '... of the same source' "pipe pipe#2" "$(sql ann "select name from gavel.source where name like 'pipe%' order by 1" | paste -sd ' ')"
is '... whose decision was said' 1 "$(grep -c '"00000000-0000-4000-8000-000000000002"' pipe.replies)"

# ---- a directory of hand-off files ----

task=11111111-1111-4111-8111-111111111111
mkdir folder
sed -n 1p "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" >folder/task-$task.json
sed -n 2p "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" >folder/result-$task.json
ok 'a directory' ship --as-source=folder folder
is '... each file is a source' "folder folder/result-$task.json folder/task-$task.json" \
	"$(sql ann "select name from gavel.source where name like 'folder%' order by 1" | paste -sd ' ')"
is '... with its bytes' "$(sha256sum <folder/task-$task.json | cut -c 1-64)" \
	"$(sql ann "select encode(sha256(bytes), 'hex') from gavel.line where source = (select id from gavel.source where name = 'folder/task-$task.json')")"
waiting=$(sql ann "select id from gavel.item where source = (select id from gavel.source where name = 'folder') and state = 'open' limit 1")
ok '... and an item' [ -n "$waiting" ]
accept "$waiting" reject ',"explanation":"No."' >/dev/null
ok 'ship' ship --as-source=folder folder
is '... the decision is a file' 1 "$(ls folder | grep -c '^decision-')"
is '... as the store knows' "$(sha256sum <"$(ls folder/decision-*)" | cut -c 1-64)" \
	"$(sql ann "select encode(sha256(bytes), 'hex') from gavel.outcome where item = $waiting and what = 'sent'")"

# ---- a log that is cut, or replaced ----

head -n 20 "$demo" >cut.ndjson
ship --as-source=cut --items='kind:none' cut.ndjson
head -n 5 "$demo" >cut.ndjson
ship --as-source=cut cut.ndjson
sed '2s/.*/{}/' "$demo" | head -n 30 >cut.ndjson
ship --as-source=cut cut.ndjson
is 'three logs of one name' 'cut 20|cut#2 5|cut#3 30' "$(sql ann "select s.name || ' ' || count(*) from gavel.source s join gavel.line l on l.source = s.id where s.name like 'cut%' group by s.name order by 1" | paste -sd '|')"

# ---- a log that is rotated while it is shipped ----

head -n 7 "$demo" >rot.ndjson
begin --as-source=rot rot.ndjson
lines_of() { # SOURCE
	echo "select count(*) from gavel.line where source = (select id from gavel.source where name = '$1')"
}
ok 'a log' wait_for "$(lines_of rot)" 7
sed -n 8p "$demo" >>rot.ndjson
mv rot.ndjson rot.ndjson.1
sed -n 9,20p "$demo" >rot.ndjson
ok 'the new one' wait_for "$(lines_of 'rot#2')" 12
sed -n 21p "$demo" >>rot.ndjson.1
ok '... and what still comes to the old one' wait_for "$(lines_of rot)" 9
end
sed -n 22p "$demo" >>rot.ndjson
ok 'the next shipper' ship --as-source=rot rot.ndjson
is '... goes on with the new one' 'rot 9|rot#2 13' "$(sql ann "select s.name || ' ' || count(*) from gavel.source s join gavel.line l on l.source = s.id where s.name like 'rot%' group by s.name order by 1" | paste -sd '|')"

# ---- a server that does not answer ----

ask 4 >slow.ndjson
begin --as-source=slow slow.ndjson
ok 'a question' wait_for "select count(*) from gavel.item where title like '%, 4?'" 1
decide_all
ok '... is answered' wait_for "select count(*) from gavel.outcome where what = 'sent' and item = (select id from gavel.item where title like '%, 4?')" 1
backends=$(sql postgres "select pid from pg_stat_activity where usename = 'edge'")
team_as kill -STOP $backends
ask 5 >>slow.ndjson
ok 'a connection that hangs is replaced' wait_for "select count(*) from gavel.item where title like '%, 5?'" 1
ok '... as it says' grep -q 'connected again' live.out
team_as kill -KILL $backends 2>/dev/null
wait_for 'select 1' 1
decide_all
tries=0
until [ "$(wc -l <slow.ndjson.replies.ndjson)" = 2 ] || [ $tries -ge 400 ]; do tries=$((tries + 1)); sleep 0.05; done
is '... also when that made the server start again' 2 "$(wc -l <slow.ndjson.replies.ndjson)"
end

# ---- killed between sending and reporting ----

ask 3 >late.ndjson
ok 'a question' ship --as-source=late late.ndjson
decide_all
mkfifo commands
"$team_bin/psql" -h "$team_dir" -U boss -d team -Xq <commands >/dev/null 2>&1 &
holder=$!
exec 7>commands
echo 'begin; lock table gavel.outcome in share mode;' >&7
ok 'while nobody can report' wait_for "select count(*) from pg_locks where relation = 'gavel.outcome'::regclass and mode = 'ShareLock' and granted" 1
begin --as-source=late late.ndjson
tries=0
until [ -s late.ndjson.replies.ndjson ] || [ $tries -ge 400 ]; do tries=$((tries + 1)); sleep 0.02; done
end -KILL
sql postgres "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'edge'" >/dev/null
wait_for "select count(*) from pg_stat_activity where usename = 'edge'" 0
exec 7>&-
wait $holder
last=$(sql ann 'select max(item) from gavel.decision')
is 'the shipper is killed' '' "$(sql ann "select what from gavel.outcome where item = $last")"
ok 'the next one' ship --as-source=late late.ndjson
is '... reports' sent "$(sql ann "select what from gavel.outcome where item = $last")"
is '... and says nothing twice' 1 "$(wc -l <late.ndjson.replies.ndjson)"

# ---- killed at any moment ----

# Questions come, are decided, and are said, while the shipper is killed, and the server once. In the end each
# was answered once and each line is there once.
n=100
random_ms() {
	printf '0.%03d' "$(($(od -An -N2 -tu2 /dev/urandom) % 500))"
}
: >hard.ndjson
kills=0
while [ $kills -lt "${SHIP_KILLS:-12}" ]; do
	for i in 1 2 3 4; do
		n=$((n + 1))
		ask $n >>hard.ndjson
	done
	begin --as-source=hard hard.ndjson
	sleep "$(random_ms)"
	decide_all
	sleep "$(random_ms)"
	[ $kills -ne 5 ] || { team_stop; team_go; }
	end -KILL
	kills=$((kills + 1))
done
decide_all
ok 'after all the kills' ship --as-source=hard hard.ndjson
decide_all
ok '... and what was left' ship --as-source=hard hard.ndjson
sed -n 's/.*"\(00000000-0000-4000-8000-[0-9]*\)".*/\1/p' hard.ndjson | sort >asked
grep -o '00000000-0000-4000-8000-[0-9]*' hard.ndjson.replies.ndjson | sort >answered
is 'each question is answered, and once' "$(cat asked)" "$(cat answered)"
is 'each line is there, and once' "$(sha256sum <hard.ndjson | cut -c 1-64)" "$(sql ann "select encode(sha256(string_agg(bytes, '' order by seq)), 'hex') from gavel.line where source = (select id from gavel.source where name = 'hard')")"
is 'each is reported as sent' "$(wc -l <asked)" "$(sql ann "select count(*) from gavel.outcome where what = 'sent' and item in (select id from gavel.item where source = (select id from gavel.source where name = 'hard'))")"
ok 'the history is proven' "$GAVEL" team check "$(team_url)"

tap_end
