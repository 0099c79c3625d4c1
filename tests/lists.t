# Lists in the UI, what needs a process: the configuration read again, themes, bookmarks over restarts.
. "$srcdir/tests/tap.sh"

cp "$GAVEL_DATADIR/demo.ndjson" "$tmp/log" || exit 99
cd "$tmp" || exit 99

# ui KEYS [OPTION...]: what these keys lead to, into the file screen
ui() {
	printf '%s' "$1" >keys
	shift
	"$GAVEL" "$@" --headless --size=100x30 --keys=keys --screen=screen log
}

shows() {
	grep -qF -- "$1" screen
}

# ---- :theme and :reload ----

mkdir -p config/gavel
printf '{ "theme": "light", "keys": { "Z": "help" } }\n' >config/gavel/config.json
ok 'a theme that the configuration names' ui '' --color=always
mv screen light
ok ':theme' ui ':theme dark<Enter><Esc>' --color=always
mv screen dark
ok '... changes the colours' sh -c '! cmp -s light dark'
ok ':reload' ui ':theme dark<Enter>:reload<Enter>1<Esc>' --color=always
grep -v '^ *$' screen | sed '$d' >again
grep -v '^ *$' light | sed '$d' >before
ok '... brings back those of the file' sh -c 'head -n 25 again >a; head -n 25 before >b; cmp a b'
ok 'a file without a fault' ui ':reload<Enter>'
ok '... is said to be read' shows 'was read again: keys, theme and notices'
ok 'a key of the file' ui ':reload<Enter>Z'
ok '... is bound again' shows 'half a page down'

# the screen is saved over the configuration, which is none then
cp config/gavel/config.json good
ui ':save-screen config/gavel/config.json<Enter>:reload<Enter>' 2>errors
ok 'a broken file is told with its place' shows 'config/gavel/config.json:1:2: not JSON'
ok '... on stderr, too' grep -q 'config.json:1:2: ' errors
cp good config/gavel/config.json
ui ':save-screen config/gavel/config.json<Enter>:reload<Enter>Z' 2>errors
ok '... and its keys are gone' sh -c '! grep -q "half a page down" screen'
rm config/gavel/config.json

# ---- bookmarks ----

ok 'bookmarks are set' ui '4:40<Enter>ba "note"<Enter>:50<Enter>banother<Enter>:60<Enter>b<Enter>'
cp log before
ok 'and there after a restart' ui ':bookmarks<Enter>'
ok '... with their notes' shows 'a "note"'
ok '... all of them' [ "$(grep -c ' #[456]0 ' screen)" -eq 3 ]
ok 'one is removed' ui ':bookmarks<Enter>jb'
ok '... for good' ui ':bookmarks<Enter>'
ok '... it alone' sh -c '! grep -q another screen && grep -q note screen'
ok 'a log that has grown' sh -c 'head -n 5 before >>log'
ok '... keeps them' ui ':bookmarks<Enter>'
ok '... where they were' shows 'a "note"'
sed 's/e/E/' before >log # other messages at the same places
ok 'other messages' ui ':bookmarks<Enter>'
ok '... have none' shows 'There are no bookmarks here.'
cp before log
ok 'with --read-only' ui '4:70<Enter>bunkept<Enter>' --read-only
ok '... it is said that they are not kept' shows 'until the end only: read-only'
ui ':bookmarks<Enter>'
ok '... and they are not' sh -c '! grep -q unkept screen'
ok 'the log was not written to' cmp log before
ok 'journal list does not mind the file' "$GAVEL" journal list
ok 'nor does purge' "$GAVEL" purge

# ---- completion ----

# hints KEYS: the line above the prompt; asks KEYS: the prompt
hints() {
	ui "$1" && sed '/^---$/,$d' screen | sed -n 29p | sed 's/   .*//; s/^ //'
}
asks() {
	ui "$1" && sed '/^---$/,$d' screen | sed -n 30p | sed 's/ *$//'
}
is ': Tab lists the first commands' 'down  up  top  bottom  half-down  half-up  page-down  page-up  scroll  …' "$(hints ':<Tab>')"
is '... and again takes the first' ':down' "$(asks ':<Tab><Tab>')"
is 'Tab completes what is common' ':next' "$(asks ':nex<Tab>')"
is '... and lists what begins so' 'next  next-open  next-problem  next-error  next-caution  next-event  …' "$(hints ':nex<Tab>')"
is '... a name that was typed has its help' 'next match' "$(hints ':next')"
is 'further Tabs go through them' ':next-problem' "$(asks ':nex<Tab><Tab><Tab>')"
is '... which any other key ends' ':next-problemx' "$(asks ':nex<Tab><Tab><Tab>x')"
is '... and round' ':quit' "$(asks ':qu<Tab><Tab><Tab><C-w>quit')"
is 'Tab on an empty why: takes a code' 'why: out_of_scope' "$(asks 'x<Tab>' | sed 's/.*, //')"
is '... and the next one' 'why: infeasible' "$(asks 'x<Tab><Tab>' | sed 's/.*, //')"

# ---- what the message line says ----

is 'a search without a match, after Enter' ' not found: zzqq' "$(asks '/zzqq<Enter>')"
is '... among messages' ' not found: zzqq' "$(asks '4/zzqq<Enter>')"
is 'no search, no word of it' '' "$(asks '/zzqq<Esc>')"
is 'the name of a column' ' sorted by "sev"; S turns it round' "$(asks ss)"
is ':sort COLUMN' ' sorted by "kind"; S turns it round' "$(asks ':sort kind<Enter>')"
is '... of another list, its name completed' ' sorted by "msgs", descending; S turns it round' "$(asks '5:sort ms<Tab><Enter>')"
is '... one that there is not' ' no column "blah" to sort by; there are time, sev, kind, from' "$(asks ':sort blah<Enter>')"
is 'a command without arguments takes none' ' inbox takes no argument' "$(asks ':inbox blah<Enter>')"
is 'the mark of the order takes no letter of a head at the right' 1 "$(ui '5:sort msgs<Enter>' && sed -n 3p screen | grep -c '▼msgs')"
is 'a verb of two words' " can't accept this item in part; available: reject, answer, escalate" "$(asks p)"
for key in A r '|' f; do
	ok "$key where it has no effect" sh -c 'case $1 in " not available here; "*) ;; *) exit 1 ;; esac' - "$(asks "0$key")"
done
is 'r on the page of a message' ' raw' "$(asks '4<Enter>r')"
is 'A in the inbox' ' every item' "$(asks A)"
is 'y on a session' ' copied log' "$(asks 0y)"
is 'the title of a narrowed view counts everything' 1 "$(ui '0jj&1' && sed 1q screen | grep -c ' open in all ')"

is 'on the page of a task: to it' ' only "task PK-2"; Esc shows everything again' "$(asks '2/PK-2<Enter><Enter>&')"
is '... from any of its rows' ' only "task PK-2"; Esc shows everything again' "$(asks '2/PK-2<Enter><Enter>jjj&')"
ui ':narrow task PK-2<Enter>1'
ok 'an empty inbox of a narrowed view tells of what is closed' shows 'A shows its 9 closed items.'
ui ':narrow task PK-2<Enter>1A'
is '... and so many there are' 9 "$(sed -n 's/^ closed \([0-9]*\) .*/\1/p' screen)"
ui ':narrow task PK-1<Enter>1'
ok '... where there is something' sh -c 'grep -q "^ *Nothing here belongs" screen && ! grep -q "A shows" screen'

cp log demo
{ printf '{"a":%d}\n' 1 2 3; echo text; sed -n 3p demo; } >log
ui 1
ok 'messages of no known protocol: the empty inbox counts them' shows '4 of 5 messages are of no known protocol.'
{ printf '{"a":%d}\n' 1 2; sed -n 3,4p demo; } >log
ui 1
ok '... if they are the most' sh -c 'grep -q "Nothing waits" screen && ! grep -q "no known protocol" screen'
mv demo log

# ---- narrow screens ----

# small KEYS: the message line of the smallest screen
small() {
	printf '%s' "$1" >keys
	"$GAVEL" --headless --size=60x15 --keys=keys --screen=screen log
	sed -n 15p screen
}
is 'O where no preview has room' ' no preview is shown here; the list has all of the room' "$(small O | sed 's/ *$//')"
is '| there' ' no preview is shown here; it needs a taller terminal' "$(small '|' | sed 's/ *$//')"

small() {
	printf '%s' "$1" >keys
	"$GAVEL" --headless --size=60x15 --keys=keys --screen=screen log
}
small '='
ok 'the options of a question are cut evenly' shows ' 1  Terminate it = terminate   2  Leave it, try again at n…'
small '<Enter>'
ok 'what comes at the deadline is not cut' sh -c 'grep -q "until it expires at 09:47:40 *$" screen && grep -q "^ *then the agent continues unanswered *$" screen'
small 6
ok 'the current tab has both brackets' sh -c 'sed -n 2p screen | grep -q "Agents\[6 Decisions\]$"'

# ---- headings of groups ----

ui OG
ok 'no row is left below the last line while a heading is scrolled away' sh -c 'sed -n 28p screen | grep -q "^▸" && sed -n 4p screen | grep -q "^ due 2 "'
ui 'O\finding<Enter>\<C-u><Enter>'
ok 'what comes above the selection of a list at its top is shown' sh -c 'sed -n 4p screen | grep -q "^ due 2 " && sed -n 5p screen | grep -q "!0:40" && grep -q "^▸.* finding " screen'

# ---- help in a replay ----

ui 'R?'
ok 'its keys come first' [ "$(sed -n 3p screen)" = ' replay' ]
ok '... and alone: s skips there' sh -c 'sed -n "1,/^ on this page/p" screen >keys.txt; grep -q " s  *skip idle" keys.txt && ! grep -q " s  *sort the list\|<Space>  scroll" keys.txt'
ui '?'
ok 'elsewhere s sorts' sh -c 'grep -q " s  *sort the list" screen'
tap_end
