# gavel replay from the outside: what it refuses, films written as asciicasts, the report, the figures of
# the summary; logs whose clocks are wrong.
. "$srcdir/tests/tap.sh"
slow 'films'

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99
cp "$demo" demo.ndjson
esc=$(printf '\033')

exit_of() {
	wanted=$1
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat err; return 1; }
}

ok 'without a terminal: exit 2' exit_of 2 "$GAVEL" replay demo.ndjson
ok 'it says what else there is' grep -q -e --export err
ok 'without a log: exit 2' exit_of 2 "$GAVEL" replay --headless
ok 'too fast: exit 2' exit_of 2 "$GAVEL" replay --headless --speed=1001 demo.ndjson
ok 'too slow: exit 2' exit_of 2 "$GAVEL" replay --headless --speed=0.05 demo.ndjson
ok 'no such log: exit 2' exit_of 2 "$GAVEL" replay --headless nowhere

# screen KEYS [OPTION...]: the text of the last screen
screen() {
	printf '%s' "$1" >keys
	shift
	"$GAVEL" replay --headless --size=100x30 --keys=keys --screen=screen "$@" demo.ndjson 2>&1
	sed '/^---$/,$d' screen
}

is 'it plays from the beginning' 1 "$(screen '' | grep -c '▶ 1x  0:00/.*#0/208')"
is 'and at the end it stops' 1 "$(screen '<wait:3000000>' | grep -c 'paused .*#208/208')"
is '--speed and --at' 1 "$(screen '' --speed=50 --at='#90' | grep -c '▶ 50x .*#90/208')"
is '--at as seek takes it: before the end' '#171/208' "$(screen '' --at=-10m | grep -o '#[0-9]*/208')"
is '... after the start' '#59/208' "$(screen '' --at=+10m | grep -o '#[0-9]*/208')"
is '... a percentage' "$(screen ':seek 40%<Enter>' | grep -o '#[0-9]*/208')" "$(screen '' --at=40% | grep -o '#[0-9]*/208')"
for at in blah -10x 101% '#x' ''; do
	ok "... not \"$at\": exit 2" exit_of 2 "$GAVEL" replay --headless --at="$at" demo.ndjson
done
is 'show --at before the end' "$("$GAVEL" show state --at=2026-03-17T09:37:00Z demo.ndjson)" "$("$GAVEL" show state --at=-10m demo.ndjson)"
ok '... not what is no span' exit_of 2 "$GAVEL" show state --at=-10x demo.ndjson
is 'at the end it is what it is without a replay' "$(printf '' >keys; "$GAVEL" --headless --size=100x27 --keys=keys --screen=screen demo.ndjson; sed -n '3,20p' screen)" "$(screen '<End>' | sed -n '3,20p')"
is 'the title counts loops that do not converge' 1 "$(screen '<End>' | sed 1q | grep -c ' ⚠1 not converging ')"
is '... as of the moment' 0 "$(screen ':seek #189<Enter>' | sed 1q | grep -c 'not converging')"
is '... from the answer on that shows it' 1 "$(screen ':seek #190<Enter>' | sed 1q | grep -c ' ⚠1 not converging ')"
is 'an item of such a loop says so' 1 "$(screen '<End>/Order number and<Enter><Enter>' | grep -c 'came back · ⚠ loop not converging')"
is 'the preview of its heading says why' 1 "$(screen '<End>3:41<Enter>' | grep -c '^why  *4 open after iteration 4, no fewer than the 4 after iteration 3')"
is '... as of the moment' 1 "$(screen ':seek #195<Enter>3:41<Enter>' | grep -c '^why  *4 open after iteration 3, no fewer than')"
is 'nothing is decided' 1 "$(screen '<End><Space>a' | grep -c 'replay: nothing is sent')"
ok 'no journal was made' [ ! -e "$XDG_STATE_HOME/gavel" ]
ok 'nor a reply' [ ! -e demo.ndjson.replies.ndjson ]

# What was decided is part of the film.
"$GAVEL" decide --as=ann --explain='Too much.' demo.ndjson review-PK-3/F-1 reject --deliver >out 2>err
is 'it is there at the end' 1 "$(screen '<End>6' | grep -c ' ann .*rejected')"
is 'and not before' 0 "$(screen '<Home>6' | grep -c ' ann ')"

# ---- films as asciicasts ----

# What is on the screen in the end: the last of what was written to each row.
last_screen() {
	sed "s/$esc\[\([0-9]*\);1H/\n@\1 /g" | sed "s/$esc\[[0-9;?]*[a-zA-Z]//g" | tr -d '\r' |
		awk '/^@[0-9]+ / { n = substr($1, 2) + 0; sub(/^@[0-9]+ /, ""); row[n] = $0; if (n > most) most = n }
			END { for (i = 1; i <= most; i++) { sub(/ +$/, "", row[i]); print row[i] } }'
}
# What a cast writes, without asciinema.
unpack() {
	sed -n '2,$s/^\[[0-9.]*, "o", "\(.*\)"\]$/\1/p' "$1" |
		sed "s/\\\\u001b/$esc/g; s/\\\\r//g; s/\\\\n//g; s/\\\\\"/\"/g; s/\\\\\\\\/\\\\/g" | tr -d '\n'
}

printf 4 >keys
ok 'a film is written' exit_of 0 "$GAVEL" replay --export=film.cast --size=90x28 --speed=100 --keys=keys demo.ndjson
is 'how long it is' 1 "$(grep -c '^film.cast: [0-9]* frames, 0:0[67]$' out)"
is 'its header' 1 "$(sed -n 1p film.cast | grep -c '^{"version":2,"width":90,"height":28,')"
is 'every other line is an event' 0 "$(sed 1d film.cast | grep -vcE '^\[[0-9]+\.[0-9]{3}, "o", ".*"\]$')"
is 'in the order of time' '' "$(sed 1d film.cast | sed 's/^\[\([0-9.]*\),.*/\1/' | sort -nc 2>&1)"
screen '4<wait:20000>' --size=90x28 --speed=100 | sed 's/ *$//' >wanted
unpack film.cast | last_screen >got
is 'it ends with the screen at the end' '' "$(diff wanted got)"
ok 'twice as slow, twice as long' sh -c '"$GAVEL" replay --export=slow.cast --size=90x28 --speed=50 demo.ndjson | grep -qE "0:1[34]$"'
printf '2<wait:2000>' >keys
"$GAVEL" replay --export=keys.cast --size=90x28 --speed=100 --keys=keys demo.ndjson >out
is 'with keys typed first' 1 "$(unpack keys.cast | last_screen | grep -c '\[2 Timeline\]')"
ok 'into no folder: exit 2' exit_of 2 "$GAVEL" replay --export=no/where.cast demo.ndjson
# it wants a terminal, which script(1) makes
if command -v asciinema >/dev/null && command -v script >/dev/null; then
	HOME=$tmp TERM=xterm-256color script -qec 'asciinema cat film.cast' /dev/null </dev/null >cat.out 2>err
	last_screen <cat.out >got
	is 'asciinema plays it as it is' '' "$(diff wanted got)$(cat err)"
else
	skip 'asciinema plays it as it is' 'there is no asciinema, or no script, here'
fi

# ---- clocks ----

# log NAME TIME...: questions at these times; - = none
log() {
	name=$1 n=0
	shift
	for time; do
		n=$((n + 1))
		[ "$time" = - ] && stamp= || stamp="\"timestamp\":\"$time\","
		echo "{\"id\":\"q$n\",\"type\":\"event:question\",$stamp\"source\":\"w\",\"payload\":{\"question\":\"Q$n?\"}}"
	done >"$name"
}
# length LOG: of the film
length() { "$GAVEL" replay --headless --size=100x30 --screen=screen "$@" 2>&1; sed -n 's/.* 0:00\/\([^ ]*\).*/\1/p' screen; }

log back 2026-01-01T10:00:00Z 2026-01-01T09:00:00Z 2026-01-01T10:00:04Z
is 'a clock that goes back: time stands still' 0:04 "$(length back)"
log still 2026-01-01T10:00:00Z 2026-01-01T10:00:00Z 2026-01-01T10:00:00Z
is 'one that stands still: a second each' 0:02 "$(length still)"
log years 2026-01-01T10:00:00Z 2055-01-01T10:00:00Z 2026-01-01T10:00:05Z
is 'one that jumps by years: one gap, left out' 0:05 "$(length years)"
is 'and marked' 1 "$(printf '.' >keys; length years --keys=keys >/dev/null; grep -c '┆ .* left out' screen)"
log none - - - -
is 'none at all: a second each' 0:03 "$(length none)"
for name in back still years none; do
	for k in 0 1 2 3; do
		head -n "$k" "$name" >part
		is "$name as of #$k is a log that ends there" "$("$GAVEL" show state part)" "$("$GAVEL" show state --at="#$k" "$name")"
	done
done

# ---- what if ----

mkdir what-if && cd what-if || exit 99
cp "$demo" log.ndjson
finding=review-PK-3/F-1
question=d7c0df31-ad91-457f-92cf-c4fc845e3ea4
decide() { "$GAVEL" decide --deliver "$@" >out 2>err || cat err; }
fork() { # WHERE FOLDER
	printf ':seek %s<Enter>:fork %s<Enter>' "$1" "$2" >keys
	"$GAVEL" replay --headless --keys=keys --screen=screen log.ndjson
	sed -n '24p' screen
}
decide --as=ann --explain='Too much.' log.ndjson "$finding" reject
decide --as=ann --answer=wait log.ndjson "$question" answer
cp log.ndjson.replies.ndjson replies.before
is 'a fork is told' 1 "$(fork 100% all | grep -c 'the fork is all; gavel show decisions --against=all')"
ok 'it is the log' cmp log.ndjson all/log.ndjson
fork '#90' part >/dev/null
is 'or its beginning' "$(head -n 90 log.ndjson | cksum)" "$(cksum <part/log.ndjson)"
mkdir folder
i=0
while [ $((i += 1)) -le 200 ]; do
	echo "{\"task_id\":\"T$i\",\"status\":\"success\",\"confidence_score\":0.8,\"output\":{},\"traces\":\"\",\"created_at\":\"2026-02-06T11:01:00Z\"}" >folder/result-T$i.json
done
printf ':seek 100%%<Enter>:fork wide<Enter>' >keys
(ulimit -n 160; "$GAVEL" replay folder --headless --keys=keys --screen=screen)
is 'a folder of more files than can be open' 200 "$(ls wide/folder | wc -l | tr -d ' ')"
is 'never into a folder that is there' 1 "$(fork '#90' part | grep -c 'a fork needs a folder of its own')"
decide --as=bob --journal=all/journal all/log.ndjson "$finding" accept
decide --as=ann --journal=all/journal --answer=wait all/log.ndjson "$question" answer
ok 'comparing' exit_of 0 "$GAVEL" show decisions --against=all log.ndjson
is 'what was decided otherwise' '≠ review-PK-3/F-1 (finding)
  - rejected by ann, sent
  + accepted by bob, sent' "$(grep -A2 '≠' out)"
ok 'which fields of the messages differ' grep -q '^  +   /message_type = "task_assignment"$' out
is 'what was decided alike' "= $question (question)" "$(grep '^=' out)"
"$GAVEL" show decisions --against=all/journal --format=json log.ndjson >out
is 'as json' 2 "$(grep -c '^{"item":.*"differences":\[.*\]}$' out)"
ok 'with both messages' grep -q '"same":false,"here":{"verdict":"rejected".*"there":{"verdict":"accepted"' out
decide --as=bob --journal=part/journal part/log.ndjson "$("$GAVEL" show inbox --format=json part/log.ndjson | sed -n 's/^{"id":"\([^"]*\)".*"kind":"escalation".*/\1/p' | head -n 1)" accept
"$GAVEL" show decisions --against=part log.ndjson >out
is 'an agent decided it here' 1 "$(grep -c '^  - rejected by judge (in the log), line [0-9]*$' out)"
is 'decided here only' 2 "$(grep -c '^  + not decided$' out)"
ok 'no journal: exit 2' exit_of 2 "$GAVEL" show decisions --against=nowhere log.ndjson
ok 'other views cannot: exit 2' exit_of 2 "$GAVEL" show inbox --against=all log.ndjson
ok 'nothing of it reached anybody' cmp replies.before log.ndjson.replies.ndjson
cd ..

# ---- the report, and the figures ----

ok 'a report' exit_of 0 "$GAVEL" show report --format=md "$demo"
is 'has a table of what waits' 1 "$(grep -c '^## Waiting for a decision$' out)"
is 'a row for each' "$("$GAVEL" show inbox --format=json "$demo" | wc -l)" "$(sed -n '/^## Waiting/,/^## Decided/p' out | grep -c '^| .*`')"
is 'every row of a table has the cells of its heading' '' "$(awk -F'[^\\\\][|]' '/^\|/ { if (!n) n = NF; if (NF != n) print NR": "$0 } !/^\|/ { n = 0 }' out)"
ok 'json is not one: exit 2' exit_of 2 "$GAVEL" show report --format=json "$demo"
ok 'other views are no Markdown: exit 2' exit_of 2 "$GAVEL" show inbox --format=md "$demo"
cat >hostile <<'X'
{"id":"q|1","type":"event:question","timestamp":"2026-01-01T00:00:00Z","source":"a","payload":{"question":"x | ``<img src=x>`` @all\n# head [l](http://x) \\| end `"}}
X
row=$("$GAVEL" show report hostile | grep 'question' | tail -n 1)
is 'what messages say stays in its cell, and in code' '| 0:00 |  | question | `agent` | ``` x \| ``<img src=x>`` @all^J# head [l](http://x) \ \| end ` ``` | `q\|1` |' "$row"

"$GAVEL" show summary --format=json "$demo" >summary
ok 'time to decision' grep -q '"time_to_decision":{"decisions":11,"median":20423,"longest":48468}' summary
ok 'decisions of agents by verdict' grep -q '"agent_decisions":{"accepted":16,"rejected":5,' summary
ok 'how long each took' sh -c '"$GAVEL" show decisions --format=json "$1" | grep -q "\"took\":48468,"' sh "$demo"
ok 'loops' grep -q '"loops":{"count":7,"not_converging":1,"diverging":\[{"session":"[^"]*","task":null,"iterations":4,"reason":"not_falling","open":\[4,3,4,4\],"came_back":\[{"id":"identity-proof-too-weak-01","times":3,"iteration":4},' summary
ok 'tokens and cost by agent' grep -q '"by_agent":\[{"agent":"provider","session":"ses_371f36fae7b7cimvWIXBy83raL","tokens_in":9920,' summary
ok '... as text: equal names with their session' sh -c '"$GAVEL" show summary "$1" | grep -q "by agent .* provider (1GxlBNgo) 15k tokens   provider (XBy83raL) 12k tokens"' sh "$demo"
is 'a person has decided one of these' 1 "$("$GAVEL" show summary --format=json demo.ndjson | grep -c '"decisions":{"accepted":0,"rejected":1,')"
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
log live "$now" "$now"
"$GAVEL" decide --as=ann --answer=yes --deliver live q2 answer >out 2>err
ok 'how long a person took, while the session went on' sh -c '"$GAVEL" show decisions --format=json live | grep -qE "\"by\":\"ann\".*\"took\":[0-9]+,"'
is 'not long after' 1 "$("$GAVEL" show decisions --format=json demo.ndjson | grep '"by":"ann"' | grep -c '"took":null,')"

tap_end
