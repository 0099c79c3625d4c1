# Golden screens: the demo session in every view, at several sizes, as text and roles, drawn by the
# program without a terminal. `make goldens` draws them anew; read the difference like code.
. "$srcdir/tests/tap.sh"

goldens=$(cd "$srcdir" && pwd)/tests/screens
cd "$GAVEL_DATADIR" || exit 99

# name, then the keys that lead there
screens='inbox
item <Enter>
inbox-reading <Tab><Space>
timeline 2
timeline-zoomed 2+++<Left>
timeline-mark 2jjjll
timeline-mark-opened 2jjjll<Enter>
ledger 3
ledger-loop 3:41<Enter>
loop 3:41<Enter><Enter>
diff 3jd
messages 4
message 4jjjjj<Enter>
message-raw 4jjjjj<Enter>r
problem !!
agents 5
decisions 6
task 2/PK-2<Enter><Enter>
task-messages 2/PK-2<Enter><Enter>G
agent 5/dev-02<Enter><Enter>
session 2gg<Enter>
narrowed 2/PK-2<Enter>&
narrowed-inbox :narrow task PK-3<Enter>
sessions 0
help ?
help-origin ?G
search 4/passkey<Enter>
filter \kind:question<Enter>
no-match \nosuchword<Enter>
refused a
split-beside |
split-larger >>>
prompt :fil<Tab>
prompt-command :re
prompt-filter 4\kind:
sorted 5sss
sideways 4<Right><Right>
bookmarks 4:40<Enter>:bookmark a note<Enter>:bookmarks<Enter>
wrapped 4/passkey<Enter>N
no-file :14<Enter>vy
replay-start R<Home>
replay-inbox R:seek #90<Enter>
replay-timeline R:seek #90<Enter>2
replay-ledger R:seek #90<Enter>3
replay-messages R:seek 09:20<Enter>4
replay-agents R:seek 09:20<Enter>5
replay-refused R:seek 30%<Enter>a
replay-playing R<Home>>>:skip 20s<Enter><Space><wait:30000>
replay-loop R:seek #31<Enter>L:seek #90<Enter>L}'

# These at large sizes, too.
large=' inbox item timeline ledger loop diff messages message agents decisions sessions task agent session help '

# draw NAME KEYS SIZE FILE [OPTION...]: of $logs
logs=demo.ndjson
draw() {
	keys=$2
	size=$3
	file=$4
	shift 4
	printf '%s' "$keys" >"$tmp/keys"
	rm -f "$XDG_STATE_HOME/gavel/screen.json" # where the preview was put
	"$GAVEL" $logs --headless --size="$size" --keys="$tmp/keys" --screen="$file" "$@" 2>&1
}

printf '%s\n' "$screens" >"$tmp/list"
while read -r name keys; do
	variants='80x24 120x36 60x15 80x24-ascii'
	case $large in
	*" $name "*) variants="$variants 160x48 200x60" ;;
	esac
	for variant in $variants; do
		size=${variant%-ascii}
		option=
		[ "$size" = "$variant" ] || option=--ascii
		golden=$goldens/$name-$variant.txt
		said=$(draw "$name" "$keys" "$size" "$tmp/screen" $option)
		if [ -n "${GAVEL_REGENERATE-}" ]; then
			mkdir -p "$goldens" && cp "$tmp/screen" "$golden"
		fi
		is "$name at $variant" '' "$said$(diff "$golden" "$tmp/screen" 2>&1)"
	done
done <"$tmp/list"

said=$(draw read-only a 80x24 "$tmp/screen" --read-only)
[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/screen" "$goldens/read-only-80x24.txt"
is '--read-only' '' "$said$(diff "$goldens/read-only-80x24.txt" "$tmp/screen" 2>&1)"

# What is decided: each screen with a journal of its own. The replies have no place to go, so nothing is
# ever written, and what is confirmed is held.
decided='inbox-staged jjajmm
inbox-all-marked M
item-staged jja<Enter>
answer =
why :14<Enter>x
why-code :14<Enter>xou<Tab>: Later.<Enter>
reason :14<Enter>xNo.<Enter>C
preflight jja:6<Enter>xToo early.<Enter>:5<Enter>D$
preflight-end jja:6<Enter>xToo early.<Enter>:5<Enter>D$<wait:400>G
preflight-incomplete :5<Enter>eNot mine.<Enter>$
preflight-sure :17<Enter>a$<wait:400>y
quit jjaQ
bulk-refused M;a
held jja:5<Enter>D$<wait:400>y
recovery jja:6<Enter>xToo early.<Enter>$<wait:400>y|g
decisions-own jja:5<Enter>D$<wait:400>y|q6'

# The day, the clock on the wall and the letters' ids are others each time.
mask() {
	sed 's/at [0-2][0-9]:[0-5][0-9]:[0-5][0-9], /at --:--:--, /
		s/[01][0-9]-[0-3][0-9]\( *\)[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\( *ann \)/mm-dd\1--:--:--\2/
		s/[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\( *ann \)/--:--:--\1/
		s/^[0-9a-f]\{12\} HELD/------------ HELD/
		s/waits for [0-9a-f]\{12\}/waits for ------------/' "$1"
}

printf '%s\n' "$decided" >"$tmp/list"
while IFS=' ' read -r name keys; do
	for variant in 80x24 120x36 60x15 80x24-ascii; do
		size=${variant%-ascii}
		option=
		[ "$size" = "$variant" ] || option=--ascii
		golden=$goldens/$name-$variant.txt
		rm -rf "$tmp/journal"
		said=
		rest="$keys|"
		while [ -n "$rest" ]; do # | ends the program and starts it again
			said=$said$(draw "$name" "${rest%%|*}" "$size" "$tmp/screen" --as=ann \
				--journal="$tmp/journal" --reply=/gavel/nowhere/replies.ndjson $option)
			rest=${rest#*|}
		done
		mask "$tmp/screen" >"$tmp/masked"
		[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/masked" "$golden"
		is "$name at $variant" '' "$said$(diff "$golden" "$tmp/masked" 2>&1)"
	done
done <"$tmp/list"

# Who said what, and claims to be whom: a log with a reply file, and one agent's own output.
trust='trust-sessions
trust-inbox 1A
trust-item 1jj<Enter>
trust-messages 4
trust-message 4j<Enter>
trust-agents 5
trust-decisions 6'

mkdir "$tmp/trust" && cp "$GAVEL_FIXTURES"/trust/* "$tmp/trust" && cd "$tmp/trust" || exit 99
logs='dev-1.ndjson session.ndjson'
printf '%s\n' "$trust" >"$tmp/list"
while IFS=' ' read -r name keys; do
	for variant in 80x24 120x36 60x15 80x24-ascii; do
		size=${variant%-ascii}
		option=
		[ "$size" = "$variant" ] || option=--ascii
		golden=$goldens/$name-$variant.txt
		said=$(draw "$name" "$keys" "$size" "$tmp/screen" $option)
		[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/screen" "$golden"
		is "$name at $variant" '' "$said$(diff "$golden" "$tmp/screen" 2>&1)"
	done
done <"$tmp/list"
logs=demo.ndjson
cd "$GAVEL_DATADIR" || exit 99

# What a real agent waits for: a capture with a tool call, an edit, questions and a plan. Then the same
# when it has taken one of them back and ended.
agents='permission-inbox
permission-item <Enter>
permission-edit j<Enter>
permission-preflight a<wait:400>
permission-always *1<Enter><wait:400>
permission-offers *
permission-stop TNot now.<Enter><wait:400>
permission-bulk mm;
permission-bulk-preflight mm;a<wait:400>
permission-agents 5
permission-agent 5<Enter>
questions jj<Enter>
questions-first jj=
questions-next jj=2<Enter>
questions-preflight jj=2<Enter>1,3<Enter><wait:400>
plan jjj<Enter>
over-inbox A
over-item Aj<Enter>
over-ended Ajj<Enter>
over-refused Aja'

# agent_screen NAME KEYS SIZE [OPTION...]
agent_screen() {
	case $1 in
	over-*) logs=over.ndjson ;;
	*) logs=waiting.ndjson ;;
	esac
	rm -rf "$tmp/journal"
	name=$1
	keys=$2
	size=$3
	shift 3
	said=$(draw "$name" "$keys" "$size" "$tmp/screen" --as=ann --journal="$tmp/journal" \
		--reply=/gavel/nowhere/replies.ndjson "$@")
	mask "$tmp/screen" >"$tmp/masked"
}

mkdir "$tmp/agents" && cp "$GAVEL_FIXTURES/agents/waiting.ndjson" "$tmp/agents" && cd "$tmp/agents" || exit 99
{
	cat waiting.ndjson
	echo '{"type":"control_cancel_request","request_id":"2c507d54-ea50-44d2-85c5-71eea85b02c4"}'
	printf '\t{"gavel":"exit","n":1,"code":0,"t":1794902300000}\n'
} >over.ndjson
printf '%s\n' "$agents" >"$tmp/list"
while IFS=' ' read -r name keys; do
	for variant in 60x15 80x24 120x36 160x48 200x60 80x24-ascii 80x24-dark 80x24-light 80x24-mono; do
		golden=$goldens/$name-$variant.txt
		case $variant in
		*-ascii) agent_screen "$name" "$keys" 80x24 --ascii ;;
		*-*)
			echo "{ \"theme\": \"${variant#*-}\" }" >"$tmp/config.json"
			agent_screen "$name" "$keys" 80x24 --color=always --config="$tmp/config.json"
			;;
		*) agent_screen "$name" "$keys" "$variant" ;;
		esac
		[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/masked" "$golden"
		is "$name at $variant" '' "$said$(diff "$golden" "$tmp/masked" 2>&1)"
	done
done <"$tmp/list"
logs=demo.ndjson
cd "$GAVEL_DATADIR" || exit 99

# The same with colours: what the dark, the light and the monochrome theme make of the roles.
for theme in dark light mono; do
	echo "{ \"theme\": \"$theme\" }" >"$tmp/config.json"
	printf '%s\n' "$screens" >"$tmp/list"
	while read -r name keys; do
		case $large in
		*" $name "*) ;;
		*) continue ;;
		esac
		golden=$goldens/$name-80x24-$theme.txt
		said=$(draw $name "$keys" 80x24 "$tmp/screen" --color=always --config="$tmp/config.json")
		[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/screen" "$golden"
		is "$name in the $theme theme" '' "$said$(diff "$golden" "$tmp/screen" 2>&1)"
	done <"$tmp/list"
done

# Keys of one's own: what is shown names them.
cat >"$tmp/config.json" <<'END'
{ "keys": { "a": "quit", "X": "accept", "u": null, "U": "undo", "$": null, "Z": "deliver",
	    "q": null, "<Esc>": null, "<F4>": "back", "6": null, "0": "decisions", "1": null,
	    "?": "recover", "H": "help", "<F5>": "resend", "z": "nonsense" } }
END

# own NAME KEYS LINE WANTED: that line of the screen begins so
own() {
	rm -rf "$tmp/journal"
	draw own "$2" 110x24 "$tmp/screen" --as=ann --journal="$tmp/journal" \
		--reply=/gavel/nowhere/replies.ndjson --config="$tmp/config.json" >"$tmp/said"
	got=$(sed -n "$3p" "$tmp/screen")
	case $got in
	"$4"*) got=$4 ;;
	esac
	is "own keys: $1" "$4" "$got"
}
own tabs '' 2 '  Sessions [Inbox] 2 Timeline  3 Ledger  4 Messages  5 Agents  0 Decisions'
is 'own keys: what is wrong with them' 1 "$(grep -c 'no command "nonsense"; H lists them$' "$tmp/said")"
own 'what can be decided' jj 23 ' X accept  x reject  e escalate  m mark  z snooze '
own 'what is staged' jjX 24 ' accept is staged: "Second attempt: same timeout after 3 questions. Worker faile…"; U undo, Z review and send'
own 'and in the line of keys' jjX 23 ' Z deliver  U undo  X accept  x reject  e escalate '
own 'quitting' jjXa 24 ' 1 staged, not sent (kept). y quits, Z reviews'
own 'from there on to the page' jjXaZ 4 ' This will be written. y sends it, F4 keeps it staged.'
own 'its keys' jjXaZ 23 ' y send  F4 back, nothing is sent '
own 'no match' '\nosuchword<Enter>' 3 '  No line matches the filter. F4 clears it.'
own 'filtered' '\nosuchword<Enter>' 24 ' filtered; F4 clears the filter'
own 'held' 'jjXZ<wait:400>y' 24 ' 0 sent, 1 held; 0 shows why, F5 tries again'
own 'recovery' 'jjXZ<wait:400>y?' 23 ' y finish them  U abandon what is held  F4 leave them '
own 'an item' 'jj<Enter>' 23 ' X x e decide  F4 back  d diff  [ ] iteration '
own 'decisions' 0 23 ' Enter open  U undo / abandon  Z deliver  :resend '
own 'snoozing' 'jj:defer<Enter>' 24 ' snoozed until nearly due or changed; A lists it, z wakes it'

# Where the preview was put is remembered, with the journals; the configuration is left alone.
again() { # SIZE KEYS: without forgetting; the first row with a border between the two
	printf '%s' "$2" >"$tmp/keys"
	"$GAVEL" demo.ndjson --headless --size="$1" --keys="$tmp/keys" --screen="$tmp/screen" >"$tmp/said" 2>&1
	sed '/^---$/,$d' "$tmp/screen" | grep -c '│'
}
kept=$XDG_STATE_HOME/gavel/screen.json
rm -f "$kept"
is 'below at first' 0 "$(again 120x36 '')"
is 'it is put beside' 32 "$(again 120x36 '|')"
is '... also the next time' 32 "$(again 120x36 '')"
is '... also on a smaller screen' 20 "$(again 80x24 '')"
is 'with its size' '{"split":"beside","beside":45}' "$(again 120x36 '>' >/dev/null; cat "$kept")"
ok 'the configuration is not touched' [ ! -e "$XDG_CONFIG_HOME/gavel" ]
is 'auto forgets it' '{"split":"auto"}' "$(again 120x36 ':split auto<Enter>' >/dev/null; cat "$kept")"
for text in '' '{' '[]' '{"split":7,"beside":"x","below":4000}' '{"split":"sideways","beside":-1}'; do
	printf '%s' "$text" >"$kept"
	is "a file with '$text' is no harm" '0 ' "$(again 120x36 '') $(cat "$tmp/said")"
done
rm -f "$kept" && mkdir "$kept"
again 120x36 '|' >/dev/null
ok 'what cannot be kept is said' grep -q 'not kept for the next time: .*screen.json: ' "$tmp/screen"
rmdir "$kept"
ok 'and nothing is left of the attempt' [ -z "$(find "$XDG_STATE_HOME/gavel" -name 'screen.json*')" ]
draw demo-split '|' 120x36 "$tmp/screen" --journal="$tmp/other" >/dev/null
ok '--journal keeps it there' [ -e "$tmp/other/screen.json" -a ! -e "$kept" ]

# Smaller than it can be: one polite line, whatever is typed.
for size in 59x15 60x14 40x10 10x3 1x1; do
	draw small '24/x<Enter>?q:2<Enter>' "$size" "$tmp/screen" >"$tmp/said"
	is "$size: nothing goes wrong" '' "$(cat "$tmp/said")"
done
draw small '' 40x10 "$tmp/screen"
is 'a small screen says so' 'gavel needs 60x15; this is 40x10' "$(sed -n 1p "$tmp/screen")"

tap_end
