# Several sessions at once: the view of sessions, what tells them apart in the others, source: and session:.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
mkdir logs other

# ask ID MINUTE AGENT [TIMEOUT]
ask() {
	printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-%012d","timestamp":"2026-02-04T14:%02d:00Z","agentId":"%s","payload":{"question":"Question %d?","options":[]%s}}\n' \
		"$1" "$2" "$3" "$1" "${4:+,\"timeout\":$4}"
}
# step SESSION SECOND: a line of a feedback session
step() {
	printf '{"type":"step_start","timestamp":17702154%02d000,"sessionID":"%s","part":{"id":"p","messageID":"m","sessionID":"%s","type":"step-start"}}\n' "$2" "$1" "$1"
}
# work ID MINUTE: a task whose result needs a person
work() {
	printf '{"task_id":"T%d","task_type":"content","priority":"low","context":{},"acceptance_criteria":["ok"],"created_at":"2026-02-04T14:%02d:00Z","status":"pending"}\n' "$1" "$2"
	printf '{"task_id":"T%d","status":"success","confidence_score":0.8,"output":{"type":"text","payload":{"text":"Result %d"}},"traces":"t","artifacts":[],"created_at":"2026-02-04T14:%02d:30Z"}\n' "$1" "$1" "$2"
}
long=ses_e1e619054ffea0xj8gsEpSewJr
uuid=3f0c4f1e-1111-4222-8333-944455556666
{ work 1 20; echo 'no JSON'; work 2 21; } >logs/late.ndjson
ask 3 10 dev 86400000 >logs/early.ndjson
{ step $long 1; echo 'a line of text'; } >logs/feed.ndjson
{ step $uuid 2; } >logs/uuid.ndjson
work 4 15 >other/early.ndjson

show() {
	"$GAVEL" show "$@" --no-cache
}
field() {
	sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p" | tr -d '"' | paste -sd ' '
}
all='logs/early.ndjson logs/feed.ndjson logs/late.ndjson logs/uuid.ndjson other/early.ndjson'
show sessions $all --format=json >all.json
is 'a session is an object; what is due comes first, then what is open' \
	"logs/early.ndjson other/early.ndjson logs/late.ndjson $long $uuid" "$(field session <all.json)"
is 'names that the screen shows' 'early.ndjson early.ndjson late.ndjson sEpSewJr 3f0c4f1e' "$(field short <all.json)"
is 'open' '1 1 2 0 0' "$(field open <all.json)"
is 'due' '1 0 0 0 0' "$(field due <all.json)"
is 'a line without a session counts for the only one of its file' '1 2 5 2 1' "$(field messages <all.json)"
is 'agents' '2 3 3 1 1' "$(field agents <all.json | sed 's/\[[^]]*\]//g')"
is 'every field' 'activity agents cached cost dialects due first in invalid last line line loop_state loops messages not_converging open out session short source time time tokens tokens tokens' \
	"$(head -1 all.json | grep -o '"[a-z_]*":' | tr -d '":' | sed 's/_\(in\|out\|cached\)$/\n\1/' | LC_ALL=C sort | paste -sd ' ')"
is 'a filter leaves sessions out' "$long" "$(show sessions $all --format=json --filter=source:feed.ndjson | field session)"
is 'as of a message' '1' "$(show sessions $all --format=json --at='#1' | wc -l)"

is 'session: takes lines that name none' 2 "$(show messages $all --format=json --filter=session:$long | wc -l)"
is 'source: takes a file' 5 "$(show messages $all --format=json --filter=source:late.ndjson | wc -l)"
is 'source: takes a path, where names are the same' 2 "$(show messages $all --format=json --filter=source:other/early.ndjson | wc -l)"
is 'source: in check' '0 errors, 0 warnings, 0 notes in 1 message (feedback 1)' \
	"$("$GAVEL" check $all --filter=source:uuid.ndjson | tail -1)"

# screen SIZE KEYS SOURCE...
screen() {
	size=$1
	printf '%s' "$2" >keys
	shift 2
	"$GAVEL" "$@" --headless --no-cache --size="$size" --keys=keys --screen=screen || echo "exit $?"
	sed '/^---$/,$d' screen
}
has() {
	grep -qF -- "$1" screen
}
screen 100x20 '' $all >/dev/null
ok 'several sources begin with the sessions' has '[0 Sessions]'
ok 'the path tells two files of one name apart' has ' other/early'
screen 100x20 '' logs/late.ndjson >/dev/null
ok 'one source begins with the inbox' has '[1 Inbox]'
screen 100x20 '0' logs/late.ndjson >/dev/null
ok '0 shows the sessions' has '[0 Sessions]'
screen 100x20 '' logs >/dev/null
ok 'a folder is one source' has '[1 Inbox]'
screen 100x30 'jj<Enter>' $all >/dev/null
ok 'Enter opens the page of the session' has 'logs/late.ndjson'
ok 'with its items' has ' T2'
ok 'and no others' sh -c '! grep -q "Question 3\| T4" screen'
screen 100x20 'jj&1' $all >/dev/null
ok '& limits the views to the session' sh -c 'sed 1q screen | grep -q " › session \(logs/\)\?late.ndjson "'
is 'to its items' '2 late late' "$(awk '/blocked on you/ { print $4 } / escalation / { print $(NF - 1) }' screen | paste -sd ' ')"
ok 'and no others, then' sh -c '! grep -q "Question 3\|other/" screen'
screen 100x20 "jjj&4" $all >/dev/null
ok 'a line without a session belongs to the only one of its file' sh -c 'grep -q "a line of text" screen && ! grep -q "no JSON" screen'
screen 100x20 'jj&1<Esc>' $all >/dev/null
ok 'Esc widens' sh -c 'grep -q "Question 3" screen && grep -q " other/" screen'
screen 100x20 '1' $all >/dev/null
ok 'the inbox says whose item it is' has 'late.ndjson'
screen 80x40 '4' $all >/dev/null
ok 'so do messages' has '…sEpSewJr'
ok 'a UUID is its first 8 characters' has '3f0c4f1e '
screen 80x24 '5' $all >/dev/null
is 'agents of one name are told apart' 2 "$(grep -c 'worker .*other/ea\|worker .* late' screen)"
is 'files of one name are, too' 2 "$(sed '/^---/,$d' screen | grep -c 'logs/ea')"
show messages $all --size=180x40 >screen
ok 'line numbers have their file' sh -c 'grep " 2 .*feed.ndjson" screen | grep -q "a line of text"'
screen 100x40 '1j<Enter>' $all >/dev/null
ok 'on the page of an item, too' sh -c 'grep "line 2 " screen | grep -q "· other/early.ndjson"'
screen 100x40 '1j<Enter>' logs/late.ndjson >/dev/null
ok 'where there is only one source, it is not repeated' sh -c '! grep "line 5 " screen | grep -q "· late"'
screen 60x15 '' $all >/dev/null
ok 'the current tab keeps its word at 60 columns' sh -c 'sed -n 2p screen | grep -q "^\[0 Sessions\]1 Inbox"'
screen 60x15 '6' $all >/dev/null
ok 'the tabs of 0.1.0 are whole at 60 columns' sh -c 'sed -n 2p screen | grep -q "1 Inbox.*5 Agents\[6 Decisions\]"'

screen 100x20 '' $all >/dev/null
ok 'the title counts several sources' sh -c 'sed -n 1p screen | grep -q "gavel  5 sources: early.ndjson feed"'
screen 100x20 '4:2<Enter>' $all >/dev/null
ok ':N goes to that line of the selected file' sh -c 'grep -q "^line 1 of logs/early" screen'
screen 100x20 '4j:2<Enter>' $all >/dev/null
ok 'of whichever file' sh -c 'grep -q "^line 2 of other/early" screen'

# Sessions that are hard to tell apart.
mkdir twins
step ses_aaaaaaaa11112222333344445555 1 >twins/checkout-api.ndjson
step ses_bbbbbbbb11112222333344445555 2 >twins/checkout-web.ndjson
step ses_cccccccc11112222333366665555 3 >twins/checkout-web-old.ndjson
step ses_dddddddd11112222333377775555 4 >>twins/checkout-web-old.ndjson
echo text >>twins/checkout-web-old.ndjson
step same 5 >twins/x.ndjson
step same 6 >twins/y.ndjson
show sessions twins/*.ndjson --size=160x40 | tail -n +2 | cut -d' ' -f1 | LC_ALL=C sort >names
is 'as much of an id as tells it apart, or the source' \
	'checkout-web-old.ndjson ses_aaaaaaaa11112222333344445555 ses_bbbbbbbb11112222333344445555 x.ndjson:same y.ndjson:same …66665555 …77775555' \
	"$(paste -sd ' ' names)"
for i in api web old; do
	work 1 10 >twins/opencode-$i.ndjson
done
show messages twins/opencode-*.ndjson --size=80x40 >screen
is 'of files only what differs, where there is little room' '…api …old …web' \
	"$(grep -o '…\(api\|web\|old\)' screen | LC_ALL=C sort -u | paste -sd ' ')"

screen 100x20 '' "$srcdir"/tests/fixtures/streams/feedback/opencode-*.ndjson >/dev/null
ok 'names of sources are whole at 100 columns' sh -c 'grep -q " opencode-tool.ndjson " screen && grep -q " opencode-toolerr.ndjson " screen'
screen 200x20 '' "$srcdir"/tests/fixtures/streams/feedback/opencode-*.ndjson >/dev/null
ok '... and no wider than that at 200' grep -q ' session     source  \{20,40\}open ' screen

# At 80 columns rows say whose they are, and no word for a state and no end of an id is cut.
sed 's/"2026-03-17T/"2026-03-12T/g' "$GAVEL_DATADIR/demo.ndjson" | grep -v ses_ >before.ndjson
screen 80x24 6 before.ndjson "$GAVEL_DATADIR/demo.ndjson" >/dev/null
ok 'decisions of several days: date, verdict and session' grep -q '03-17 09:44:20 .* ✓ accepted .* …1GxlBNgo ' screen
screen 80x60 1G before.ndjson "$GAVEL_DATADIR/demo.ndjson" >/dev/null
ok 'items' grep -q ' improvement provider .* …1GxlBNgo [^ ]' screen

# The order does not depend on how files are given.
mkdir mixed
cp logs/late.ndjson mixed/a.ndjson
cp logs/early.ndjson mixed/b.ndjson
cp other/early.ndjson mixed/c.ndjson
lines() {
	show "$1" mixed --format=json | sed 's/"session":"[^"]*"//;s/"source":"[^"]*"//' >folder
	shift
	show "$@" --format=json | sed 's/"session":"[^"]*"//;s/"source":"[^"]*"//' >given
	cmp folder given
}
for view in inbox messages; do
	ok "$view: files as a folder of them" lines $view $view mixed/a.ndjson mixed/b.ndjson mixed/c.ndjson
	ok "$view: in any order" lines $view $view mixed/c.ndjson mixed/b.ndjson mixed/a.ndjson
done
echo '{"no":"time"}' >mixed/0.ndjson
is 'what has no time stays behind what was given before it' 'mixed/b.ndjson mixed/0.ndjson mixed/a.ndjson' \
	"$(show messages mixed/a.ndjson mixed/b.ndjson mixed/0.ndjson --format=json | field source | tr ' ' '\n' | uniq | paste -sd ' ')"

tap_end
