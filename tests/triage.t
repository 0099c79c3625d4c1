# Deciding at speed, without a terminal: what a refused verb does to the keys behind it, the
# pre-flight page, marks, undo and redo, snoozing, advancing.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
cp "$GAVEL_DATADIR/demo.ndjson" demo.ndjson || exit 99

# keys KEYS [OPTION...]: the program on demo.ndjson; what was on the screen at the end is in `screen`
keys() {
	printf '%s\n' "$1" >keys
	shift
	"$GAVEL" demo.ndjson --no-follow --headless --size=80x24 --keys=keys --screen=saved --as=ann \
		"$@" >out 2>&1 || cat out
	sed '/^---$/,$d' saved >screen
}

# fresh KEYS [OPTION...]: the same, and nothing was decided before
fresh() {
	rm -rf "$XDG_STATE_HOME" demo.ndjson.*
	keys "$@"
}

says() {
	grep -qF -- "$1" screen || { cat screen; false; }
}

lacks() {
	! says "$1" >/dev/null || { cat screen; false; }
}

title() {
	sed -n 1p screen | grep -qF -- "$1" || { cat screen; false; }
}

# ---- a refused verb ----

fresh ':8<Enter>=wait<Enter>'
ok 'a refused verb: its words are no commands' says "can't answer this item"
ok '... nothing is staged, no page is opened' title '18 open  !2 due  ✗3 invalid'
fresh ':8<Enter>=wait<Enter><wait:499>a<wait:1>a'
ok '... until its message was shown for half a second' title ' 1 staged '
fresh ':8<Enter>=<Down><Down><Up>'
ok '... keys that are no text work at once' says ' 9/18 '
fresh ';axy<Enter>'
ok 'a verb on nothing that is marked is not for the selected item' title '18 open  !2 due  ✗3'
fresh 'M;=all of it<Enter>'
ok 'a verb that one of the marked refuses: neither' says 'nothing was staged; '
ok '... nor its words' title '18 open  !2 due  ✗3'
fresh 'R=wait<Enter>'
ok 'in a replay neither' says 'this is a replay, nothing is sent'

# ---- leaving ----

fresh ':8<Enter>aQ'
ok 'what is staged is kept' says '1 staged, not sent (kept). y quits'
printf ':8<Enter>aQ' >keys
"$GAVEL" demo --headless --size=80x24 --keys=keys --screen=saved
sed '/^---$/,$d' saved >screen
ok 'not in the demo, and it does not say so' says '1 staged, not sent (the demo keeps nothing). y quits'
"$GAVEL" demo --headless --size=80x24 --keys=keys --screen=saved --journal=kept
sed '/^---$/,$d' saved >screen
ok '... unless the journal is one of your own' says '1 staged, not sent (kept). y quits'

tap_end
