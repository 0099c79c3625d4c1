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
tap_end
