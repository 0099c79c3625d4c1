# A team's inbox: what waits in the store is read, claimed and decided by several people, each with a gavel
# and a journal of their own; what they do is seen by the others, and what the store refuses is said.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

demo=$GAVEL_DATADIR/demo.ndjson
team_begin 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role edge login in role gavel_agent' 'create role lead nologin in role gavel_reviewer' \
	'create role lea login in role lead, gavel_reviewer'
ann=$(team_url ann) bob=$(team_url bob)
cp "$demo" log.ndjson

ship() {
	timeout 60 "$GAVEL" ship --to="$(team_url edge)" --no-follow --as-source=demo log.ndjson >ship.out 2>&1 ||
		tap_comment <ship.out
}
item_id() { # LIKE: the newest item whose key is like that
	sql ann "select max(id) from gavel.item where key like '%$1%'"
}
decide() { # URL ITEM VERB...
	"$GAVEL" decide --deliver "$@" >out 2>&1
}
says() { # WORDS: in the last output
	grep -q -- "$1" out || { cat out; false; }
}
# A gavel on a key file; what is on its screen at the end is in NAME.txt.
keys() { # NAME URL
	cat >"$1.keys"
	timeout 60 "$GAVEL" --headless --keys="$1.keys" --screen="$1.screen" --size=120x40 "$2" >"$1.out" 2>&1
	set -- "$1" $?
	sed '/^---$/,$d' "$1.screen" >"$1.txt"
	[ "$2" = 0 ] || { tap_comment <"$1.out"; return 1; }
}
# A gavel in the background that waits for what others do. Its screen shows WORDS once it is there.
waits() { # NAME URL WORDS
	(keys "$1" "$2" <<-EOF
		<until:$3>
	EOF
	) >/dev/null 2>&1 &
	eval "waiting_$1=$!"
}
came() { # NAME: it has seen what it waited for
	eval "wait \$waiting_$1"
}
exists() {
	tries=0
	while [ ! -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || return 1
		sleep 0.05
	done
}

# ---- reading ----

ok 'an empty store' "$GAVEL" show inbox "$ann"
ship
count() { # items that wait, and are not past what the agents said
	sql ann "select count(*) from gavel.item where state = 'open' and (due is null or due > clock_timestamp())"
}
open=$(count)
ok 'its items are shown' "$GAVEL" show inbox --format=json "$ann"
"$GAVEL" show inbox --format=json "$ann" >inbox.json
is '... all of them' "$open" "$(grep -c . inbox.json)"
is '... in sessions that name their source' "$open" "$(grep -c '"session":"[^"]*demo"' inbox.json)"
senders() { # all who ask; items with a deadline are past it by now
	sed 's/.*"agent":\([^,]*\),.*/\1/' "$1" | sort -u
}
"$GAVEL" show inbox --format=json --no-cache log.ndjson >local.json
is '... from those who ask in the log' "$(senders local.json)" "$(senders inbox.json)"
ok 'check finds nothing wrong' sh -c '"$GAVEL" check "$1" >out' sh "$ann"
ok '... at all' says '^0 errors, 0 warnings, 0 notes in'
ok 'no server' sh -c '! "$GAVEL" show inbox "$1" 2>err' sh "postgresql://ann@/team?host=$tmp"
ok '... is said' grep -q 'No such file or directory' err
ok 'a password in the address' sh -c '! "$GAVEL" show inbox postgresql://ann:x@h/team 2>err'
ok '... is refused' grep -q 'has a password in it' err
ok 'a store and a file together' sh -c '"$GAVEL" show sessions "$1" "$2" >out && grep -q demo out' sh "$ann" "$demo"

# ---- an event while others are read ----

# Reading the event SLOW takes a second; when the events are read is noted.
sql boss 'create table slow (n bigint)' 'create table looked (n bigint, at timestamptz)' \
	"create function looks(n bigint) returns bool language plpgsql security definer set search_path = public as \$\$ begin insert into looked values (n, clock_timestamp()); perform pg_sleep(1) from slow s where s.n = looks.n; return true; end \$\$" \
	'alter table gavel.event enable row level security' 'create policy looks on gavel.event for select using (looks(n))'
(keys eager "$ann" <<-EOF
	<until:open>:save-screen eager_up<Enter><until:@bob>
EOF
) &
eager=$!
ok 'a gavel that reads events' exists eager_up
sql boss 'insert into slow select n + 1 from gavel.head' \
	"select gavel.tell('claimed', (select min(id) from gavel.item where state = 'open'), 'x')" >/dev/null
ok '... slowly' wait_for "select count(*) from pg_stat_activity where wait_event = 'PgSleep'" 1
sql bob "select outcome from gavel.item i, gavel.claim(i.id, 60) where i.id = (select min(id) from gavel.item where kind = 'question' and state = 'open')" >/dev/null
ok '... sees what comes meanwhile' wait $eager
is '... as soon as it has read them, and not with its next look' t "$(sql boss "
	select later.at - slow.at < interval '1.7 s' from looked slow join looked later on later.n = slow.n + 1 where slow.n = (select n from slow)")"
sql boss 'drop policy looks on gavel.event' 'alter table gavel.event disable row level security'
sql bob "select gavel.release(id, fence) from gavel.item where holder = 'bob'" >/dev/null

# ---- the lines of a source ----

"$GAVEL" show state "$demo" >wanted
ok 'one source' sh -c '"$GAVEL" show messages --format=json "$1" >out' sh "$(team_url ann source=demo)"
is '... has all its messages' "$("$GAVEL" show messages --format=json log.ndjson --no-cache | wc -l)" "$(wc -l <out)"
# Nothing was analyzed yet: that is when a planner would rather sort.
if sql postgres "load 'auto_explain'" 2>plan; then
	sql postgres "alter role ann set session_preload_libraries = 'auto_explain'" \
		"alter role ann set auto_explain.log_min_duration = 0"
	ok 'lines are read in the order of their index' "$GAVEL" show messages "$(team_url ann source=demo)"
	sed -n '/Query Text: select seq, bytes.* from gavel.line/,/^[0-9-]* /p' "$team_dir/log" >plan
	ok '... by a plan' grep -q 'Index Scan' plan
	ok '... that sorts nothing' sh -c '! grep Sort$ plan'
	ok '... nor reads all' sh -c '! grep -e "Seq Scan" -e "Bitmap" plan'
	sql postgres 'alter role ann reset all'
else
	skip 'the plan by which lines are read' 'no auto_explain'
fi
ok 'a source that is none' sh -c '! "$GAVEL" show inbox "$1" 2>err' sh "$(team_url ann source=nowhere)"
ok '... names those that are' grep -q 'no source nowhere; it has demo' err
ok 'lines are only read' sh -c '! "$GAVEL" decide "$1" PK-5 accept --deliver 2>err' sh "$(team_url ann source=demo)"
ok '... which is said' grep -q "decide in the team's inbox" err

"$GAVEL" show messages --follow "$ann" >follow.out 2>&1 &
follow=$!

# ---- deciding ----

ok 'a decision' decide "$ann" PK-5 accept
ok '... is sent' says 'PK-5: accept, sent to'
is '... is in the store' 'accept ann' "$(sql ann "select verb || ' ' || array_to_string(deciders, ',') from gavel.decision where item = $(item_id PK-5)")"
is '... as the words that an edge reads' '{"verb":"accept"}' "$(sql ann "select draft from gavel.decision where item = $(item_id PK-5)")"
ok '... again' decide "$ann" PK-5 accept
ok '... is said to be the same' says 'already; nothing new was written'
ok 'somebody else' sh -c '! "$GAVEL" decide --deliver "$1" PK-5 reject --explain=no 2>out' sh "$bob"
ok '... is told by whom' says 'already decided: accepted by ann'
"$GAVEL" show decisions "$ann" >out
is '... which ann has made once' 1 "$(grep -c ' ann .*accepted .*PK-5' out)"
"$GAVEL" show decisions "$bob" >out
ok '... and sees it among the decisions' grep -q 'ann .*accepted .*PK-5' out
ship
is 'the edge has said it' sent "$(sql ann "select what from gavel.outcome where item = $(item_id PK-5)")"
"$GAVEL" show inbox --all --format=json "$ann" >out
ok '... as JSON has it' says '"id":"PK-5".*"team":{"item":[0-9]*,"source":"demo".*"outcome":"sent","note":.*"said":"{'
"$GAVEL" show item PK-5 "$ann" >out
ok '... and its bytes come back' says 'said .*"message_id"'
"$GAVEL" journal list >out
ok 'the journal knows that it was said' says 'PK-5 .*#'

said() {
	tries=0
	until grep -q 'approve: accept' follow.out; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { cat follow.out; return 1; }
		sleep 0.05
	done
}
ok 'show --follow prints what is decided' said
kill -9 $follow
wait $follow 2>/dev/null
touch -d '1 hour ago' temporary/gavel-team-* # the next run removes it

# ---- claims ----

sql bob "select gavel.claim($(item_id F-2), 100)" >/dev/null
ok 'what bob has claimed' sh -c '! "$GAVEL" decide --deliver "$1" review-PK-3/F-2 accept >out 2>&1' sh "$ann"
ok '... is held, with his name' says 'not delivered: bob has claimed it, for another 1:'
"$GAVEL" show inbox --size=140 "$ann" --all >out
ok '... and is shown so' says '@bob'
sql bob "select gavel.release($(item_id F-2), 1)" >/dev/null
ok 'the same decision, once he has released it' decide "$ann" review-PK-3/F-2 accept
ok '... is sent' says 'sent to'

claimed="select holder from gavel.item where id = $(item_id C-1)"
waits seen "$bob" '@ann'
ok 'claiming by key' keys claim "$ann" <<-EOF
	<until:Abort the cond>/Abort the cond<Enter>t<until:is claimed>
	<until:@ann>
EOF
ok '... is seen by others' came seen
is '... in the store, too' ann "$(sql ann "$claimed")"
ok 'a verb on it' keys taken "$bob" <<-EOF
	<until:Abort the cond>/Abort the cond<Enter>a<until:ann has claimed it>
EOF
ok 'the same key' keys release "$ann" <<-EOF
	<until:@ann>/Abort the cond<Enter>t<until:is released><wait:300>
EOF
is '... releases it' '' "$(sql ann "$claimed")"
ok 'a verb' keys verb "$ann" <<-EOF
	<until:Abort the cond>/Abort the cond<Enter>a<until:staged><until:@ann>
EOF
is '... claims first' ann "$(sql ann "$claimed")"
waits live "$bob" " $(($(count) - 1)) open"
ok 'sending what is staged' keys send "$ann" <<-EOF
	<until:staged>\$<until:C-1><wait:400>y<until:1 sent>
EOF
is '... decides it' ann "$(sql ann "select array_to_string(deciders, ',') from gavel.decision where item = $(item_id C-1)")"
ok '... and bob sees it' came live

ok 'check finds no error in it' "$GAVEL" check "$ann"

# ---- two persons ----

sql boss "update gavel.item set need = 2 where key like '%review-PK-4%'"
four=$(item_id PK-4)
ok 'the first of two' decide "$ann" review-PK-4 accept
is '... is a vote' '1 open' "$(sql ann "select (select count(*) from gavel.vote where item = $four) || ' ' || state from gavel.item where id = $four")"
"$GAVEL" show inbox --size=140 "$bob" >out
ok '... shown beside the item' says '1/2'
ok 'other words' sh -c '! "$GAVEL" decide --deliver "$1" review-PK-4 accept --explain=other >out 2>&1' sh "$bob"
ok '... are refused' says 'somebody has voted with other words'
"$GAVEL" journal void "$("$GAVEL" journal list | sed -n 's/^\([0-9a-f]*\) .*held .*PK-4.*/\1/p')" >out 2>&1
ok 'the same words' decide "$bob" review-PK-4 accept
is '... decide' 'ann, bob' "$(sql ann "select array_to_string(deciders, ', ') from gavel.decision where item = $four")"

# ---- withdrawn, other words, risen ----

one=$(item_id 'supervisor-not')
waits gone "$bob" " $(($(count) - 1)) open"
sql edge "select gavel.withdraw($one, 'closed')" >/dev/null
ok 'what is withdrawn is gone from the screen' came gone
ok 'what was withdrawn' sh -c '! "$GAVEL" decide --deliver "$1" supervisor-not-involved-10 accept >out 2>&1' sh "$ann"
ok '... is not found, or said to be' sh -c 'grep -q "no item\|withdrawn\|too late" out || { cat out; false; }'
sql boss "insert into gavel.ladder values (0, 'gavel_reviewer', '1 hour'), (1, 'lead', '1 hour')"
up=$(item_id call-back)
sql boss "update gavel.item set due = clock_timestamp() - interval '1 second' where id = $up"
sql ann 'select gavel.tick()' >/dev/null
is 'a due item rises' 1 "$(sql ann "select level from gavel.item where id = $up")"
"$GAVEL" show inbox --size=140 "$ann" >out
ok '... is shown so' says '\^1'
ok '... is above ann' sh -c '! "$GAVEL" decide --deliver "$1" call-back-optional-09 accept >out 2>&1' sh "$ann"
ok '... who is told so' says 'has risen to a level that you do not decide on'
ok '... but not above lea' decide "$(team_url lea)" call-back-optional-09 accept

# ---- what the edge holds ----

held=$(item_id C-1)
sql postgres "insert into gavel.outcome select item, max(n) + 1, 'held', 'edge', 'nobody reads the FIFO' from gavel.outcome
	where item = $held group by item union all select $held, 1, 'held', 'edge', 'nobody reads the FIFO'
	where not exists (select from gavel.outcome where item = $held)"
ok 'what is held can be sent again' keys held "$(team_url lea)" <<-EOF
	<until:open>A<until:verdict>/Abort the cond<Enter><until:held>:team resend<Enter><until:sent again><wait:300>
EOF
is '... as the store has it' resend "$(sql ann "select what from gavel.outcome where item = $held order by n desc limit 1")"
ok 'a login without rights' sh -c '! "$GAVEL" show inbox "$1" 2>err' sh "$(sql boss 'create role dan login'; team_url dan)"
ok '... is told so' grep -q 'permission denied' err

# ---- the server fails ----

ok 'a lost server' keys lost "$ann" <<-EOF
	<until:open>:save-screen before<Enter><until:saved>
EOF
team_stop fast
ok 'no server at the start' sh -c '! "$GAVEL" show inbox "$1" 2>err' sh "$ann"
ok 'the screen comes all the same' keys none "$ann" <<-EOF
	<until:no connection>
EOF
team_go
ok 'deciding goes on when it is back' decide "$ann" call-takes-too-long-05 accept

# The server's processes: stopped, they keep the connection and say nothing.
freeze() {
	main=$(head -n 1 "$team_dir/data/postmaster.pid")
	kill -"$1" "$main" $(pgrep -P "$main")
}
(keys slow "$bob" <<-EOF
	<until:Order number>:save-screen loaded<Enter>jk<until:no answer for>/date of birth<Enter>a<until:is staged>
EOF
) &
slow=$!
ok 'a gavel' exists loaded
freeze STOP
ok 'a server that does not answer stops no key' wait $slow
freeze CONT
ok 'what was staged is sent' sh -c '"$GAVEL" decide --deliver "$1" >out 2>&1' sh "$bob"
ok '... when it does again' says 'identity-proof-too-weak-01: accept, sent'

(keys back "$bob" <<-EOF
	<until:30 days>:save-screen loaded2<Enter><until:no connection for 0:03>/30 days<Enter>a<until:is staged>:save-screen staged<Enter>
	<until:@ann>\$<until:recipient><wait:400>y<until:1 sent>
EOF
) &
back=$!
ok 'a gavel' exists loaded2
team_stop immediate
ok 'what is decided without a server is staged' exists staged
team_go
sql ann "select gavel.claim($(item_id F-1), 100)" >/dev/null
ok '... and sent once it is back' wait $back
is '... as the store has it' bob "$(sql ann "select array_to_string(deciders, ',') from gavel.decision where item = $(item_id session-lifetime)")"

# ---- a store that went back ----

sql postgres "set session_replication_role = replica" \
	"update gavel.event set hash = '\\x00' where n = (select max(n) from gavel.event)"
"$GAVEL" journal list --format=json >journal.json
grep -rh '"state":"SEEN"' "$XDG_STATE_HOME/gavel" | tail -n 1 >seen
ok 'the newest event is in the journal' test -s seen
sql postgres "set session_replication_role = replica" "update gavel.event set hash = '\\x00'"
ok 'a changed history' sh -c '! "$GAVEL" decide --deliver "$1" recovery-flow-missing-02 accept >out 2>&1' sh "$ann"
ok '... stops deciding' says 'the store went back: event [0-9]* is not what we saw'
ok '... until a person accepts it' keys accept "$ann" <<-EOF
	<until:went back>:team accept<Enter><until:it is the store now>
EOF

is 'nothing is left behind' 0 "$(find temporary -name 'gavel-team-*' | wc -l)"
tap_end
