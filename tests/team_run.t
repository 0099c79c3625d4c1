# gavel run --team: a team decides what running agents of all dialects ask. Each ask is in the team's inbox,
# its answer is said to the agent once, whatever happens to gavel in between, and the captures are in the
# store byte for byte. The agents are scripted stand-ins (tests/tools/fake_dialects.c).
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

HOME=$tmp
export HOME
trap '"$GAVEL" agents stop --all >/dev/null 2>&1; team_stop; rm -rf "$team_dir" "$tmp"' EXIT
team_begin 'create role ann login in role gavel_reviewer' 'create role edge login in role gavel_agent'
to=$(team_url edge) ann=$(team_url ann)

says() { grep -qF -- "$1" err || { cat out err; return 1; }; }
fails() { wanted=$1; shift; "$@" >out 2>err; [ $? = "$wanted" ] || { cat out err; return 1; }; }
until_true() { # COMMAND...
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || return 1
		sleep 0.05
	done
}
answers() { [ "$(sql ann "$1" 2>&1)" = "$2" ]; }
open_items() { # LIKE: of sources that are called so
	echo "select count(*) from gavel.item i join gavel.source s on s.id = i.source where i.state = 'open' and s.name like '%$1'"
}
outcomes() { # WHAT LIKE
	echo "select count(*) from gavel.outcome o join gavel.item i on i.id = o.item join gavel.source s on s.id = i.source where o.what = '$1' and s.name like '%$2'"
}
decide() { "$GAVEL" decide --deliver "$ann" "$@" >out 2>&1 || { cat out; return 1; }; }
# What a capture has that its agent was told, without the records of its holder.
told() { sed -n '/^\t{"gavel":/d; s/^\t//p' "$1"; }
says_once() { # CAPTURE TEXT: the agent was told that in one line
	[ "$(told "$1" | grep -cF -- "$2")" = 1 ] || { cat "$1"; return 1; }
}
is_shipped() { # CAPTURE: the store has its bytes
	answers "select encode(sha256(string_agg(bytes, '' order by seq)), 'hex') from gavel.line where source =
		(select id from gavel.source where name like '%:$1')" "$(sha256sum <"$1" | cut -c 1-64)"
}
# The shipper has asked for decisions, $since a while ago, and got none.
asked_again() {
	[ "$(sql postgres "select count(*) from pg_stat_activity where usename = 'edge' and query like '%gavel.outbox%' and
		state = 'idle' and query_start > timestamptz '$since' + interval '1100 ms'")" = 1 ]
}
# begin WORD...: in the background, as $gavel; folder and captures are those of its agents
begin() {
	"$GAVEL" "$@" >live.out 2>live.err &
	gavel=$!
}
newest() { # AGENT: sets folder and capture, once it has both
	until_true sh -c 'ls -d "$XDG_STATE_HOME"/gavel/captures/*-'"$gavel"'/'"$1"'.ndjson' >ls.out 2>/dev/null || cat live.err
	capture=$(cat ls.out)
	folder=${capture%/*}
}
end() {
	kill "-${1-TERM}" $gavel
	wait $gavel 2>/dev/null
}
ended() { ! [ -e "/proc/$gavel" ] || grep -q '^State:.Z' "/proc/$gavel/status"; }
finish() { # gavel's exit code; it ends by itself
	until_true ended || kill -KILL "$gavel"
	wait $gavel
}
question() { # ID
	printf 'say {"type":"request:ask-user","id":"%s","timestamp":"{now}","payload":{"question":"Which, %s?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}}' "$1" "$1"
}
query='say {"type":"request:query-agents","id":"w-1","timestamp":"{now}","payload":{}}'

# ---- what is refused, before an agent is started ----

ok '--detach' fails 2 "$GAVEL" run --team="$to" --detach -- "$FAKE_AGENT" stall
ok '... is told what to do' says 'give --detach only, then gavel ship'
ok 'a queue besides' fails 2 "$GAVEL" run --team="$to" --escalate-to=queue -- "$FAKE_AGENT" stall
ok 'a password' fails 2 "$GAVEL" run --team=postgresql://edge:x@h/team -- "$FAKE_AGENT" stall
ok '... is refused' says 'has a password in it'
ok 'a source' fails 2 "$GAVEL" run --team="$(team_url edge source=x)" -- "$FAKE_AGENT" stall
ok '--items without a team' fails 2 "$GAVEL" run --items=kind:question -- "$FAKE_AGENT" stall
is 'no agent runs' '' "$("$GAVEL" agents --format=json)"

# ---- what goes wrong behind the start ----

: >file
ok 'a journal that cannot be written' fails 2 "$GAVEL" run --team="$to" --journal=file/journal --agent=leo -- "$FAKE_AGENT" stall
ok '... its agent goes on, which is said' says 'leo goes on; gavel ship '
capture=$(sed -n 's/.* goes on; gavel ship \([^ ]*\) .*/\1/p' err)
ok 'no server' fails 2 timeout 60 "$GAVEL" ship --no-follow --to="postgresql://edge@/team?host=$tmp" "$capture"
ok '... is said' says 'no connection to postgresql:///team'
"$GAVEL" agents stop leo >/dev/null

# ---- four dialects, from the configuration ----

words() { # WORD...: as JSON
	for word; do
		printf ',"%s"' "$(printf %s "$word" | sed 's/"/\\"/g')"
	done
}
mkdir -p config/gavel
cat >config/gavel/config.json <<-END
	{"agents":[
	{"name":"clio","command":["$FAKE_AGENT","claude two"],"dialect":"claude","prompt":"go"},
	{"name":"cody","command":["$FAKE_AGENT","codex ask"],"dialect":"codex","prompt":"go"},
	{"name":"ace","command":["$FAKE_AGENT","acp ask"],"dialect":"acp","prompt":"go"},
	{"name":"orla","command":["$FAKE_AGENT"$(words 'stderr no log' "$query" 'wait-for-line w-1' "$(question q-1)" 'wait-for-line q-1' 'say {"type":"event:progress","id":"e-1","timestamp":"{now}","payload":{}}' 'wait-for-line shutdown')]}]}
END
begin run --team="$to"
ok 'what four agents ask' wait_for "$(open_items .ndjson)" 5
newest clio
"$GAVEL" show inbox --format=json "$ann" >inbox.json
is '... is from them' 'ace clio clio cody orla' "$(sed 's/.*"agent":"\([^"]*\)".*/\1/' inbox.json | sort | xargs)"
is '... each a source' 4 "$(sql ann "select count(*) from gavel.source")"
is '... that is its capture' "$(hostname):$folder/clio.ndjson" "$(sql ann "select name from gavel.source where name like '%clio.ndjson'")"
ok '... of its own journal' fails 3 "$GAVEL" decide --deliver "$capture" ask-1 accept
ok 'what needs no person is answered' says_once "$folder/orla.ndjson" '"correlationId":"w-1"'
ok 'claude: accept' decide clio:ask-1 accept
ok 'codex: accept' decide cody:th-1/call-1 accept
ok 'acp: reject' decide ace:ses-1/call-1 reject --explain='Not like that.'
ok 'a question: answer' decide q-1 answer --answer=b
ok 'they are sent' wait_for "$(outcomes sent .ndjson)" 4
ok '... and real agents prove it' wait_for "$(outcomes acked .ndjson)" 3
ok 'claude was told, once' says_once "$folder/clio.ndjson" '"request_id":"ask-1","response":{"behavior":"allow"'
ok 'codex' says_once "$folder/cody.ndjson" '"result":{"decision":"accept"}'
ok 'acp' says_once "$folder/ace.ndjson" '"outcome":{"outcome":"selected"'
ok '... and why, as the next prompt' until_true says_once "$folder/ace.ndjson" '"text":"Not like that."'
ok 'orchestrator' says_once "$folder/orla.ndjson" '"answer":"b"'
is 'the store has what was said' "$(told "$folder/orla.ndjson" | grep '"answer":"b"')" \
	"$(sql ann "select encode(bytes, 'escape') from gavel.outcome where item = (select id from gavel.item where title = 'Which, q-1?') and bytes is not null")"
"$GAVEL" agents stop --all >out 2>&1
finish
is 'it ends when the agents have ended' 0 $?
is '... as it says' 4 "$(grep -c 'has ended: ' live.err)"
ok '... and what is not decided waits no more' wait_for "$(open_items .ndjson)" 0
for name in clio cody ace orla; do
	ok "$name: all that the capture has" is_shipped "$folder/$name.ndjson"
done
rm config/gavel/config.json

# ---- killed: before the decision, and between saying and reporting ----

begin run --team="$to" --agent=kim --dialect=claude --prompt=go -- "$FAKE_AGENT" 'claude two'
ok 'two asks' wait_for "$(open_items kim.ndjson)" 2
newest kim
end KILL
ok 'one is decided while nobody is there' decide kim:ask-1 accept
is '... and not said' 0 "$(told "$capture" | grep -c '"request_id":"ask-1"')"
begin ship --to="$to" "$folder"
ok 'gavel ship says it' wait_for "$(outcomes acked kim.ndjson)" 1
mkfifo commands
"$team_bin/psql" -h "$team_dir" -U boss -d team -Xq <commands >/dev/null 2>&1 &
holder=$!
exec 7>commands
echo 'begin; lock table gavel.outcome in share mode;' >&7
ok 'while nobody can report' wait_for "select count(*) from pg_locks where relation = 'gavel.outcome'::regclass and mode = 'ShareLock' and granted" 1
ok '... the other one is decided' decide kim:ask-2 reject --explain=no
ok '... and said' until_true says_once "$capture" '"request_id":"ask-2"'
end KILL
sql postgres "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'edge'" >/dev/null
wait_for "select count(*) from pg_stat_activity where usename = 'edge'" 0
exec 7>&-
wait $holder
is '... not reported' 1 "$(sql ann "$(outcomes sent kim.ndjson)")"
ok 'the next one' timeout 60 "$GAVEL" ship --no-follow --to="$to" "$capture"
is '... reports it' 2 "$(sql ann "$(outcomes sent kim.ndjson)")"
ok '... and says nothing twice' says_once "$capture" '"request_id":"ask-1"'
ok '... of either' says_once "$capture" '"request_id":"ask-2"'
ok '... and has shipped all' is_shipped "$capture"
"$GAVEL" agents stop kim >/dev/null
ok 'the folder, when it has ended' timeout 60 "$GAVEL" ship --no-follow --to="$to" "$folder"
ok '... has the same source' is_shipped "$capture"

# ---- a long capture: nothing is told before it is read ----

begin run --team="$to" --agent=fay --dialect=claude --prompt=go -- "$FAKE_AGENT" "claude $(printf '%060000d' 0 | sed 's/0/w /g')ask"
ok 'an ask at its end' wait_for "$(open_items fay.ndjson)" 1
newest fay
end KILL
begin ship --to="$to" "$capture"
ok 'the next shipper ships the rest' until_true is_shipped "$capture"
ok '... the answer' decide fay:ask-1 accept
ok '... is said' wait_for "$(outcomes acked fay.ndjson)" 1
end
ok '... once' says_once "$capture" '"request_id":"ask-1"'
is 'nothing was taken back in between' 0 "$(sql ann "select count(*) from gavel.event where what = 'withdrawn' and item in (select id from gavel.item where source = (select id from gavel.source where name like '%fay.ndjson'))")"
"$GAVEL" agents stop fay >/dev/null

# ---- a source that the store could not take at first ----

"$team_bin/psql" -h "$team_dir" -U boss -d team -Xq <commands >/dev/null 2>&1 &
holder=$!
exec 7>commands
echo 'begin; lock table gavel.source in share mode;' >&7
ok 'while no source can be added' wait_for "select count(*) from pg_locks where relation = 'gavel.source'::regclass and mode = 'ShareLock' and granted" 1
begin run --team="$to" --agent=kay --dialect=claude --prompt=go -- "$FAKE_AGENT" 'claude ask' 7>&-
ok '... an agent is told of' until_true grep -q 'its items are not shipped yet: ' live.out
exec 7>&-
wait $holder
ok '... and shipped when one can, though it says nothing more' wait_for "$(open_items kay.ndjson)" 1
end
"$GAVEL" agents stop kay >/dev/null

# ---- agents of --detach: answers that waited ----

"$GAVEL" run --detach --format=json --agent dora -- "$FAKE_AGENT" "$query" "$(question q-2)" 'wait-for-line w-1' 'wait-for-line q-2' >out 2>err
capture=$(sed -n 's/.*"capture":"\([^"]*\)".*/\1/p' out)
"$GAVEL" run --detach --format=json --agent other -- "$FAKE_AGENT" stall >out 2>err
begin ship --to="$to" "$capture"
ok 'its question' wait_for "$(open_items dora.ndjson)" 1
ok 'its request is answered' until_true says_once "$capture" '"correlationId":"w-1"'
ok 'a second shipper' fails 3 "$GAVEL" ship --to="$to" "$capture"
ok '... is told who ships it' says 'another gavel decides here'
ok 'the answer' decide q-2 answer --answer=a
finish
is 'it ends with the agent' 0 $?
ok '... which has got it' says_once "$capture" '"answer":"a"'
is '... as the store knows' 1 "$(sql ann "$(outcomes sent dora.ndjson)")"
ok '... with all its lines' is_shipped "$capture"
is 'who was not named is left alone' 0 "$(sql ann "select count(*) from gavel.source where name like '%other.ndjson'")"
"$GAVEL" agents stop other >/dev/null

# ---- an agent that ends before its question is answered ----

begin run --team="$to" --agent=eve -- "$FAKE_AGENT" "$(question q-4)" 'wait-for-line shutdown'
ok 'a question' wait_for "$(open_items eve.ndjson)" 1
"$GAVEL" agents stop eve >/dev/null
finish
is 'it waits no more' 0 "$(sql ann "$(open_items eve.ndjson)")"
is '... as the team is told' 'its agent has ended' "$(sql ann "select note from gavel.event where what = 'withdrawn' and item = (select id from gavel.item where title = 'Which, q-4?')")"

# ---- the UI ----

cat >keys <<-'END'
	<until:touch f1>a<until:read-only: the team decides: gavel postgresql://><wait:800><Esc>
	:reply elsewhere<Enter><until:nothing can be sent><until:accept on ask-1 by ann>Q
END
"$GAVEL" run --headless --size 150x24 --keys keys --team="$to" --agent=una --dialect=claude --prompt=go -- \
	"$FAKE_AGENT" 'claude ask' >live.out 2>live.err &
gavel=$!
ok 'with the UI, too' wait_for "$(open_items una.ndjson)" 1
newest una
ok '... the team answers' decide una:ask-1 accept
finish
is '... and the UI refuses' '0 ' "$? $(grep -v 'what the agents wrote' live.err)"
ok 'told once' says_once "$capture" '"request_id":"ask-1"'
is '... acknowledged' 1 "$(sql ann "$(outcomes acked una.ndjson)")"
ok '... and all is in the store when it ends' is_shipped "$capture"

# ---- an agent that reads no answer, and dies ----

cat >keys <<-'END'
	<until:accept on ask-1 by ann>6<until:ask-1><until:has ended>:resend<Enter><until:the team decides>Q
END
"$GAVEL" run --headless --size 150x24 --keys keys --team="$to" --agent=dee --dialect=claude --prompt=go -- \
	"$FAKE_AGENT" 'claude unread:gone' >live.out 2>live.err &
gavel=$!
ok 'an ask' wait_for "$(open_items dee.ndjson)" 1
newest dee
ok '... is decided' decide dee:ask-1 accept
ok '... and written' wait_for "$(outcomes sent dee.ndjson)" 1
: >gone
finish
is '... the UI sends nothing by itself' '0 ' "$? $(grep -v 'what the agents wrote' live.err)"
is '... and the team is told that it was not read' 'sent refused' "$(sql ann "select what from gavel.outcome o join gavel.item i on i.id = o.item where i.source = (select id from gavel.source where name like '%dee.ndjson') order by n" | xargs)"
begin run --team="$to" --no-lines --items=kind:permission --agent=dan --dialect=claude --prompt=go -- "$FAKE_AGENT" 'claude unread:gone.too'
ok 'without the UI' wait_for "$(open_items dan.ndjson)" 1
ok '... as well' decide dan:ask-1 accept
ok '... written' wait_for "$(outcomes sent dan.ndjson)" 1
since=$(sql postgres 'select clock_timestamp()')
ok '... and nothing is to be done' until_true asked_again
: >gone.too
finish
is '... without lines, as was asked' 0 "$(sql ann "select count(*) from gavel.line l join gavel.source s on s.id = l.source where s.name like '%dan.ndjson'")"
is '... told before it ends' 1 "$(sql ann "$(outcomes refused dan.ndjson)")"

# ---- the server goes away ----

cat >keys <<-'END'
	<until:touch f1>4<until:what the team decides waits>Q
END
"$GAVEL" run --headless --size 150x24 --keys keys --team="$to" --agent=ned --dialect=claude --prompt=go -- \
	"$FAKE_AGENT" 'claude ask' >live.out 2>live.err &
gavel=$!
ok 'an ask' wait_for "$(open_items ned.ndjson)" 1
newest ned
team_stop
finish
is 'a server that is gone is shown' 0 $?
ok '... and what is missing, said' grep -q "not everything is in the store; gavel ship $folder --to=" live.err
ok 'the server again' team_go
ok 'ship the rest' timeout 60 "$GAVEL" ship --no-follow --to="$to" "$folder"
ok '... all of it' is_shipped "$capture"
ok '... and nobody waits' answers "$(open_items ned.ndjson)" 0
ok 'the history is proven' "$GAVEL" team check "$(team_url)"

tap_end
