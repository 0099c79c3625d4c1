# What messages, file names and the command line say is shown and never obeyed: places that a message
# names, and bytes that would steer a terminal.
. "$srcdir/tests/tap.sh"

demo=$GAVEL_DATADIR/demo.ndjson
USER=ann
export USER
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99
cp "$demo" log.ndjson

exit_of() {
	wanted=$1
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat out err; return 1; }
}
said() { cat out err | grep -qF -- "$1" || { cat out err; return 1; }; }
# what a person sees of a saved screen, as one line
seen() { sed '/^---$/,$d' "$1" | tr -s ' \n' '  '; }
shows() { seen "$1" | grep -qF -- "$2" || { cat "$1"; return 1; }; }
# ui LOG KEYS [OPTION...]: the UI with these keys, and its last screen
ui() {
	printf '%s' "$2" >keys
	ui_log=$1
	shift 2
	"$GAVEL" "$ui_log" --headless --no-follow --size=120x40 --keys=keys --screen=screen.txt "$@" >out 2>err
}

# ---- a reply path that a message names ----

finding=$("$GAVEL" show inbox --format=json log.ndjson | sed -n 's/^{"id":"\([^"]*\)","dialect":"collaboration","kind":"finding".*/\1/p' | head -n 1)
"$GAVEL" decide --as=ann --deliver --explain='Beyond me.' --escalate-to=queue.ndjson log.ndjson "$finding" escalate >/dev/null
# forge FILE PATH [CHANNEL]: a queue whose entry says that answers go there
forge() {
	sed "s|\"reply\":{\"channel\":\"file\",\"path\":\"[^\"]*\"|\"reply\":{\"channel\":\"${3-file}\",\"path\":\"$2\"|" queue.ndjson >"$1"
}
item_of() { "$GAVEL" show inbox --format=json "$1" | sed -n 's/^{"id":"\([^"]*\)".*/\1/p' | tail -n 1; }

echo 'alias ls=ls' >bashrc
forge victim.ndjson "$tmp/bashrc"
entry=$(item_of victim.ndjson)
ok 'a script does not answer to a path that a message names' exit_of 1 "$GAVEL" decide --deliver victim.ndjson "$entry" accept
ok '... and says so' said "the reply goes to $tmp/bashrc, named by a message; confirm it with --reply"
ok 'the UI opens the page' ui victim.ndjson '$<wait:400>'
ok '... which refuses a file that is none of gavel' shows screen.txt "bashrc, named by a message, is a file that exists and is no reply file; give --reply PATH"
ok '... whatever is typed' ui victim.ndjson '$<wait:400>yyy'
is '... and nothing was appended' 'alias ls=ls' "$(cat bashrc)"

mkfifo pipe
forge fifo.ndjson "$tmp/pipe" fifo
"$GAVEL" decide fifo.ndjson "$entry" accept >/dev/null 2>&1
ok 'nor is a FIFO written to' ui fifo.ndjson '$<wait:400>'
ok '... and the page says why' shows screen.txt 'is a FIFO; give --reply PATH'
: >open.replies.ndjson
chmod 0666 open.replies.ndjson
forge open.ndjson "$tmp/open.replies.ndjson"
"$GAVEL" decide open.ndjson "$entry" accept >/dev/null 2>&1
ok 'nor a reply file of everybody' ui open.ndjson '$<wait:400>'
ok '... and the page says why' shows screen.txt 'is a file that is not yours alone'
ok '... whatever is typed' ui open.ndjson '$<wait:400>yyy'
is '... which is empty still' '' "$(cat open.replies.ndjson)"

long=$tmp/a-folder-with-a-rather-long-name/and-another-one-below-it/that-nobody-would-look-at-twice/somewhere/below
mkdir -p "$long"
forge new.ndjson "$long/new.ndjson"
"$GAVEL" decide new.ndjson "$entry" accept >/dev/null 2>&1
ok 'a file that gavel would make' ui new.ndjson '$<wait:400>y'
ok '... needs a confirmation of its own' shows screen.txt 'named by a message: '
ok '... and the page has the whole path' sh -c 'sed "/^---\$/,\$d" screen.txt | tr -d " \n" | grep -qF -- "$1"' sh "$long/new.ndjson"
ok '... y alone writes nothing' [ ! -e "$long/new.ndjson" ]
ok '... nor does another key' ui new.ndjson '$<wait:400>ynQ'
ok '... not that either' [ ! -e "$long/new.ndjson" ]
ok 'confirmed' ui new.ndjson '$<wait:400>yy'
is '... it is written once' 1 "$(wc -l <"$long/new.ndjson")"
: >mine.replies.ndjson
forge mine.ndjson "$tmp/mine.replies.ndjson"
"$GAVEL" decide mine.ndjson "$entry" accept >/dev/null 2>&1
ok 'a reply file is appended to' ui mine.ndjson '$<wait:400>yy'
is '... once' 1 "$(wc -l <mine.replies.ndjson)"

# an entry among the messages of an ordinary log: y for what one decides there is no y for it
cp "$demo" mixed.ndjson
forge forged.ndjson "$tmp/planted.ndjson"
cat forged.ndjson >>mixed.ndjson
"$GAVEL" decide mixed.ndjson "escalation:$entry" accept >/dev/null 2>&1
"$GAVEL" decide mixed.ndjson "finding:$finding" accept >/dev/null 2>&1
ok 'a forged entry in a log' ui mixed.ndjson '$<wait:400>'
ok '... is on another page than the rest' sh -c '! grep -q planted screen.txt'
ok '... which says that there is one' shows screen.txt 'More goes to places that are named by messages'
ok 'y for the rest' ui mixed.ndjson '$<wait:400>yyy'
ok '... sends that' [ "$(wc -l <mixed.ndjson.replies.ndjson)" = 1 ]
ok '... and not the other' [ ! -e planted.ndjson ]
ok 'which has its own page' ui mixed.ndjson '$<wait:400>'
ok '... with its place' shows screen.txt "$tmp/planted.ndjson"
ok '... and its own confirmation' ui mixed.ndjson '$<wait:400>yy'
is '... that writes it' 1 "$(wc -l <planted.ndjson)"

tap_end
