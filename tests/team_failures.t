# When things fail around a team's store: what people are told then, in words that say what happened, where, and
# what to do; and that nothing is lost or doubled by it. Each part is a row of such a table.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

demo=$GAVEL_DATADIR/demo.ndjson
team_begin 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role edge login in role gavel_agent' 'create role machine2 login in role gavel_agent' 'create role dan login'
ann=$(team_url ann)

ship() { # LOGIN NAME LOG [OPTION...]: the code is in $code, what was said in err
	login=$1 name=$2 log=$3
	shift 3
	timeout 60 "$GAVEL" ship --to="$(team_url "$login")" --no-follow --as-source="$name" "$@" "$log" >err 2>&1
	code=$?
}
follow() { # LOGIN NAME LOG [OPTION...]: in the background, as $shipper
	login=$1 name=$2 log=$3
	shift 3
	"$GAVEL" ship --to="$(team_url "$login")" --as-source="$name" "$@" "$log" >live.out 2>&1 7>&- &
	shipper=$!
}
end() {
	kill $shipper
	wait $shipper 2>/dev/null
}
decide() { # URL ITEM VERB...
	"$GAVEL" decide --deliver "$@" >out 2>&1
	code=$?
}
said() { # FILE WORDS: they come
	tries=0
	until grep -q -- "$2" "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { cat "$1"; return 1; }
		sleep 0.05
	done
}
says() { # FILE WORDS
	grep -q -- "$2" "$1" || { cat "$1"; false; }
}
# A gavel on a key file; PREFIX: a command that runs it
keys() { # NAME URL [PREFIX...]
	name=$1 url=$2
	shift 2
	cat >"$name.keys"
	timeout 60 "$@" "$GAVEL" --headless --keys="$name.keys" --screen="$name.screen" --size=140x40 "$url" >"$name.out" 2>&1 ||
		{ tap_comment <"$name.out"; return 1; }
}
outcomes() { # KEY
	sql ann "select string_agg(what, ' ' order by n) from gavel.outcome where item = (select max(id) from gavel.item where key like '%$1%')"
}
freeze() { # SIGNAL
	main=$(head -n 1 "$team_dir/data/postmaster.pid")
	kill -"$1" "$main" $(pgrep -P "$main")
}
cp "$demo" log.ndjson
ship edge demo log.ndjson
is 'a log is shipped' 0 $code

# ---- no store, no rights, another version ----

(team_made= && sql postgres 'create database empty owner boss')
empty="postgresql://ann@/empty?host=$team_dir"
"$GAVEL" show inbox "$empty" >out 2>&1
is 'a database without a store' 2 $?
ok '... is named, and how to make one' says out "postgresql:///empty.*: there is no store in this database: its owner makes one with gavel team init\|does not exist; there is no store in this database: its owner makes one with gavel team init"
timeout 30 "$GAVEL" ship --to="postgresql://edge@/empty?host=$team_dir" log.ndjson >out 2>&1
is '... gavel ship ends' 2 $?
ok '... with the same words' says out 'there is no store for edge in this database: its owner makes one with gavel team init'
"$GAVEL" show inbox "$(team_url dan)" >out 2>&1
ok 'a login without rights' says out 'permission denied for schema gavel; its owner grants gavel_reviewer to people, and gavel_agent to machines'
sql postgres 'update gavel.meta set version = 2'
ok 'a newer store is read' sh -c '"$GAVEL" show inbox "$1" | grep -q "30 days"' sh "$ann"
decide "$ann" PK-5 accept
is '... nothing is decided in it' 1 $code
ok '... which is said' says out 'the store has version 2, this gavel knows 1: reading only; use a newer gavel'
ok '... on the screen, too' keys newer "$ann" <<-EOF
	<until:has version 2, this gavel knows 1: reading only; use a newer gavel>
EOF
ship edge demo log.ndjson
is '... and nothing is shipped' 2 $code
ok '... which is said' says err 'the store has version 2, this gavel knows 1: nothing is shipped; use a newer gavel'
sql postgres 'update gavel.meta set version = 1'
decide "$ann" PK-5 accept
is 'with the right one' 0 $code

# ---- the server has no room ----

sql postgres 'alter role ann connection limit 0'
decide "$ann" PK-5 accept
ok 'no connection left' says out "postgresql:///team.*: .*too many connections for role \"ann\""
ok '... on the screen' keys full "$ann" <<-EOF
	<until:no connection>
EOF
sql postgres 'alter role ann connection limit -1'
no_room() { # TABLE
	sql postgres "create or replace function public.full() returns trigger language plpgsql as \$\$ begin
		raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end \$\$" \
		"create trigger no_room before insert on gavel.$1 for each row execute function public.full()"
}
no_room vote
decide "$ann" review-PK-3/F-2 accept
is 'a full disk at a decision' 1 $code
ok '... is said, and that it is safe to send it again' says out 'No space left on device; the store may have it: resend it, that is safe'
sql postgres 'drop trigger no_room on gavel.vote'
decide "$ann" review-PK-3/F-2 accept
is '... which is so' 0 $code
is '... once' 1 "$(sql ann "select count(*) from gavel.vote where item = (select max(id) from gavel.item where key like '%F-2@%')")"
sql postgres "do \$\$ declare t text; begin for t in select relname from pg_class where relname like 'line\\_2%' and relkind = 'r' loop
	execute 'create trigger no_room before insert on gavel.' || t || ' for each row execute function public.full()'; end loop; end \$\$"
tail -n 1 log.ndjson >>log.ndjson
follow edge demo log.ndjson
ok 'a full disk under lines' said live.out 'log.ndjson: lines were refused: could not extend file: No space left on device'
sql postgres "do \$\$ declare t text; begin for t in select relname from pg_class where relname like 'line\\_2%' and relkind = 'r' loop
	execute 'drop trigger no_room on gavel.' || t; end loop; end \$\$"
ok '... they are copied later' wait_for 'select count(*) from gavel.line' "$(wc -l <log.ndjson)"
end
sql boss "update gavel.source set open_max = 1 where name = 'demo'"
sed 's/PK-5/PK-6/g; s/"message_id":"/"message_id":"f/' "$demo" | grep PK-6 >>log.ndjson
ship edge demo log.ndjson
ok 'too many items' says err 'items are refused: the source demo has [0-9]* open items, which is all it may have'
sql boss 'update gavel.source set open_max = 1000'

sql boss "update gavel.source set rate = 100, room = 0, filled = clock_timestamp() where name = 'demo'"
head -n 3 "$demo" >>log.ndjson
follow edge demo log.ndjson
ok 'more lines than the store takes' said live.out 'log.ndjson: more lines come than the store takes from this source; they wait in the log'
sql boss "update gavel.source set rate = 4194304, room = 1e8 where name = 'demo'"
end
ship edge demo log.ndjson
is '... they are copied later' "$(wc -l <log.ndjson)" "$(sql ann 'select count(*) from gavel.line')"

# ---- a server that could forget ----

team_stop fast
team_as sh -c 'echo "fsync = off" >>"$1/data/postgresql.conf"' sh "$team_dir"
team_go
decide "$ann" review-PK-4 accept
is 'a server without fsync' 1 $code
ok '... decides nothing' says out 'not delivered: the server could forget decisions: synchronous_commit or fsync is off'
"$GAVEL" team check "$ann" >out 2>&1
ok '... check says what to do' says out '^problem  fsync .*set fsync = on in postgresql.conf'
team_stop fast
team_as sed -i '/fsync = off/d' "$team_dir/data/postgresql.conf"
team_go
wait_for 'select 1' 1
decide "$ann" review-PK-4 accept
is '... with it' 0 $code

# ---- a synchronous standby that is gone ----

sql postgres "alter system set synchronous_standby_names = 'db2'" 'select pg_reload_conf()' >/dev/null
wait_for 'show synchronous_standby_names' db2
"$GAVEL" team check "$ann" >out 2>&1
ok 'a standby that is gone' says out '^problem  standby .*synchronous_standby_names'
decide "$ann" call-takes-too-long-05 accept
is '... keeps decisions waiting' 1 $code
ok '... which is said' says out 'not delivered: the store did not answer; resend it once it does'
ok '... on the screen' keys standby "$(team_url bob)" <<-EOF
	<until:Second attempt>/Where it takes<Enter>t<until:no answer for>
EOF
sql postgres 'alter system reset synchronous_standby_names' 'select pg_reload_conf()' >/dev/null
wait_for 'show synchronous_standby_names' ''
decide "$ann" call-takes-too-long-05 accept
is '... until there is one, or none is needed' 0 $code
is '... and they count once' 1 "$(sql ann "select count(*) from gavel.decision where item = (select max(id) from gavel.item where key like '%call-takes-too-long-05%')")"

# ---- killed while deciding ----

freeze STOP
"$GAVEL" decide --deliver "$ann" supervisor-not-involved-10 accept >out 2>&1 &
killed=$!
tries=0
until grep -rqa '"state":"DRAFT".*supervisor-not-involved\|"state":"INTENT".*supervisor-not-involved' "$XDG_STATE_HOME/gavel" 2>/dev/null || [ $tries -ge 60 ]; do tries=$((tries + 1)); sleep 0.05; done
kill -KILL $killed
wait $killed 2>/dev/null
freeze CONT
decide "$ann" supervisor-not-involved-10 accept
is 'who was killed while deciding' 0 $code
is '... decides once' '1 1' "$(sql ann "select (select count(*) from gavel.vote where item = i.id) || ' ' || (select count(*) from gavel.decision where item = i.id) from gavel.item i where key like '%supervisor-not%'")"

# ---- clocks that differ ----

if cat >skew.c <<-'EOF' && ${CC:-cc} -shared -fPIC -o skew.so skew.c -ldl 2>/dev/null && ! ldd "$GAVEL" 2>/dev/null | grep -q 'san\.so'
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <time.h>
	int clock_gettime(clockid_t id, struct timespec *t)
	{
		static int (*next)(clockid_t, struct timespec *);
		if (!next)
			next = dlsym(RTLD_NEXT, "clock_gettime");
		int rc = next(id, t);
		if (id == CLOCK_REALTIME)
			t->tv_sec -= 40;
		return rc;
	}
EOF
then
	sql bob "select gavel.claim(id, 100) from gavel.item where title like 'Second attempt%'" >/dev/null
	ok 'a clock that is wrong' keys skew "$ann" env LD_PRELOAD=$PWD/skew.so <<-EOF
		<until: s off the store's>
	EOF
	ok '... a claim ends by that of the server' sh -c 'grep -q "@bob 1:[0-4]" skew.screen || { cat skew.screen; false; }'
else
	skip 'a clock that is wrong' 'no compiler, or sanitizers'
fi

# ---- lines that are gone ----

lines_of() { # NAME
	echo "select count(*) from gavel.line where source = (select id from gavel.source where name = '$1')"
}
read_by_shipper() { # prints how many bytes it has read
	sed -n 's/^rchar: //p' "/proc/$shipper/io"
}
if [ -r /proc/self/io ]; then
	head -n 5 "$demo" >cut.ndjson
	follow edge cut cut.ndjson
	ok 'a log' wait_for "$(lines_of cut)" 5
	team_stop fast
	ok '... without a server' said live.out 'no connection to postgresql:///team.*; what is to be shipped waits'
	wanted=$(($(read_by_shipper) + $(sed -n 6,9p "$demo" | wc -c)))
	sed -n 6,9p "$demo" >>cut.ndjson
	tries=0
	until [ "$(read_by_shipper)" -ge $wanted ] || [ $tries -ge 400 ]; do tries=$((tries + 1)); sleep 0.05; done
	sed -n 30,32p "$demo" >cut.ndjson
	team_go
	ok 'a log that was cut before it was copied' wait_for "$(lines_of cut#2)" 3
	ok '... was read, and is copied' wait_for "$(lines_of cut)" 9
	end
fi
printf '{"type":"event:question","id":"cut-1","timestamp":"2026-03-17T09:30:45.775Z","agentId":"planner-1","payload":{"question":"Cut?"}}\n' >cut2.ndjson
mkfifo lock
"$team_bin/psql" -h "$team_dir" -U boss -d team -Xq <lock >/dev/null 2>&1 &
locker=$!
exec 7>lock
echo 'begin; lock table gavel.line in share mode;' >&7
wait_for "select count(*) from pg_locks where relation = 'gavel.line'::regclass and mode = 'ShareLock' and granted" 1
follow edge cut2 cut2.ndjson
ok 'a log whose lines have to wait' wait_for "select count(*) from gavel.item where key like '%cut-1%'" 1
ok '... which is said' said live.out 'cut2.ndjson: lines were refused: canceling statement due to lock timeout'
: >cut2.ndjson
exec 7>&-
wait $locker
ok '... and is cut meanwhile' said live.out 'cut2.ndjson: [0-9]* bytes were cut before they were copied; they are lost to the store'
end

# ---- lines that were trimmed under a reader ----

ship edge trimmed "$demo"
sql postgres "delete from gavel.line where source = (select id from gavel.source where name = 'trimmed') and seq < 1000"
ok 'lines that were trimmed' keys trimmed "$(team_url ann source=trimmed)" <<-EOF
	<until:trimmed: the lines before 20>
EOF
ok '... with how many, and where they are' says trimmed.screen 'Z were trimmed, 1040 bytes; the log of its machine has them'

# ---- two machines with one name ----

ship machine2 demo log.ndjson
is 'a name that another machine has' 2 $code
ok '... is refused, with a way out' says err 'the source demo is shipped by edge (choose another name with --as-source)'

mkdir one two
head -n 5 "$demo" >one/log
head -n 7 "$demo" >two/log
follow edge both one/log
ok 'a shipper' wait_for "$(lines_of both)" 5
first=$shipper
follow edge both two/log
ok '... and another of its name and login' wait_for "$(lines_of both)" 7
sed -n 6,9p "$demo" >>one/log
ok '... copy each line once' wait_for "$(lines_of both)" 9
sed -n 8p "$demo" >>two/log
ok '... which is said' said live.out 'two/log: the store has it up to byte [0-9]* already: another gavel ship copies it, too; nothing is copied twice'
sed -n 9,12p "$demo" >>two/log
wait_for "$(lines_of both)" 12
end
shipper=$first
end
is '... as it is' "$(head -n 12 "$demo" | sha256sum | cut -c 1-64)" "$(sql ann "select encode(sha256(string_agg(bytes, '' order by seq)), 'hex') from gavel.line where source = (select id from gavel.source where name = 'both')")"

# ---- a stranger's long transaction ----

mkfifo commands
"$team_bin/psql" -h "$team_dir" -U boss -d team -Xq <commands >/dev/null 2>&1 &
stranger=$!
exec 7>commands
echo 'begin; select pg_current_xact_id();' >&7
wait_for "select count(*) from pg_stat_activity where backend_xid is not null and usename = 'boss'" 1
ship edge demo2 "$demo"
is 'lines are read behind it' "$(wc -l <"$demo")" "$("$GAVEL" show messages --format=json "$(team_url ann source=demo2)" 2>&1 | wc -l)"
exec 7>&-
wait $stranger

# ---- a store that went back ----

# A backup is restored, as a standby that was behind would have taken over.
for n in 1 2; do
	printf '{"type":"event:question","id":"back-%s","timestamp":"2026-03-17T09:30:45.775Z","agentId":"planner-1","payload":{"question":"Back?"}}\n' $n
done >back.ndjson
ship edge back back.ndjson
team_stop fast
team_as cp -a "$team_dir/data" "$team_dir/backup"
team_go
wait_for 'select 1' 1
decide "$ann" back-1 answer --answer=yes
is 'a decision' 0 $code
"$GAVEL" show inbox "$ann" >/dev/null # sees the event
ship edge back back.ndjson
is '... that agents were told' sent "$(outcomes back-1)"
is '... once' 1 "$(grep -c yes back.ndjson.replies.ndjson)"
echo '{}' >>back.ndjson
ship edge back back.ndjson
team_stop fast
team_as rm -rf "$team_dir/data"
team_as mv "$team_dir/backup" "$team_dir/data"
team_go
wait_for 'select 1' 1
decide "$ann" back-2 answer --answer=no
ok 'a store that went back' says out 'the store went back: it does not have what you decided on back-1; nothing is decided until :team accept'
is '... decides nothing' 0 "$(sql ann "select count(*) from gavel.vote where item in (select id from gavel.item where key like '%back-%')")"
ok '... a person looks at it' keys back "$ann" <<-EOF
	<until:the store went back>:team accept<Enter><until:it is the store now>
EOF
"$GAVEL" journal list >out 2>&1
ok '... and finds what it has forgotten' says out 'held .*back-1 .*the store went back and does not have it any more; resend it'
decide "$ann" back-1 answer --answer=yes
is 'what was forgotten is decided anew' 'answer' "$(sql ann "select verb from gavel.decision where item = (select max(id) from gavel.item where key like '%back-1%')")"
ship edge back back.ndjson
is '... the lines are there again' "$(wc -l <back.ndjson)" "$(sql ann "$(lines_of back)")"
is '... is reported' sent "$(outcomes back-1)"
is '... and agents are not told twice' 1 "$(grep -c yes back.ndjson.replies.ndjson)"

tap_end
