# Golden screens: the demo session in every view, at three sizes, as text and roles, drawn by the
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
diff 3jd
messages 4
message 4jjjjj<Enter>
message-raw 4jjjjj<Enter>r
problem !!
agents 5
decisions 6
help ?
help-origin ?G
search 4/passkey<Enter>
filter \kind:question<Enter>
no-match \nosuchword<Enter>
refused a
prompt :fil<Tab>
prompt-command :re
prompt-filter 4\kind:
sorted 5sss
sideways 4<Right><Right>
bookmarks 4:40<Enter>:bookmark a note<Enter>:bookmarks<Enter>
wrapped 4/passkey<Enter>N
no-file :8<Enter>vy
replay-start R<Home>
replay-inbox R:seek #90<Enter>
replay-timeline R:seek #90<Enter>2
replay-ledger R:seek #90<Enter>3
replay-messages R:seek 09:20<Enter>4
replay-agents R:seek 09:20<Enter>5
replay-refused R:seek 30%<Enter>a
replay-playing R<Home>>>:skip 20s<Enter><Space><wait:30000>
replay-loop R:seek #31<Enter>L:seek #90<Enter>L}'

# draw NAME KEYS SIZE FILE [OPTION...]: of $logs
logs=demo.ndjson
draw() {
	keys=$2
	size=$3
	file=$4
	shift 4
	printf '%s' "$keys" >"$tmp/keys"
	"$GAVEL" $logs --headless --size="$size" --keys="$tmp/keys" --screen="$file" "$@" 2>&1
}

printf '%s\n' "$screens" >"$tmp/list"
while read -r name keys; do
	for variant in 80x24 120x36 60x15 80x24-ascii; do
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
why :8<Enter>x
why-code :8<Enter>xou<Tab>: Later.<Enter>
reason :8<Enter>xNo.<Enter>C
preflight jja:7<Enter>xToo early.<Enter>:6<Enter>D$
preflight-end jja:7<Enter>xToo early.<Enter>:6<Enter>D$<wait:400>G
preflight-incomplete :6<Enter>eNot mine.<Enter>$
preflight-sure :15<Enter>a$<wait:400>y
quit jjaQ
bulk-refused M;a
held jja:6<Enter>D$<wait:400>y
recovery jja:7<Enter>xToo early.<Enter>$<wait:400>y|g
decisions-own jja:6<Enter>D$<wait:400>y|q6'

# The clock on the wall and the letters' ids are others each time.
mask() {
	sed 's/at [0-2][0-9]:[0-5][0-9]:[0-5][0-9], /at --:--:--, /
		s/[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\( *ann \)/--:--:--\1/
		s/^[0-9a-f]\{12\} HELD/------------ HELD/
		s/behind [0-9a-f]\{12\}/behind ------------/' "$1"
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
trust='trust-inbox A
trust-item jj<Enter>
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

# The same with colours: what the dark, the light and the monochrome theme make of the roles.
for theme in dark light mono; do
	echo "{ \"theme\": \"$theme\" }" >"$tmp/config.json"
	for name in inbox ledger; do
		keys=
		[ $name = inbox ] || keys=3
		golden=$goldens/$name-80x24-$theme.txt
		said=$(draw $name "$keys" 80x24 "$tmp/screen" --color=always --config="$tmp/config.json")
		[ -z "${GAVEL_REGENERATE-}" ] || cp "$tmp/screen" "$golden"
		is "$name in the $theme theme" '' "$said$(diff "$golden" "$tmp/screen" 2>&1)"
	done
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
own tabs '' 2 ' [Inbox] 2 Timeline  3 Ledger  4 Messages  5 Agents  0 Decisions'
is 'own keys: what is wrong with them' 1 "$(grep -c 'no command "nonsense"; H lists them$' "$tmp/said")"
own 'what can be decided' jj 23 ' X accept  x reject  e escalate  m mark  z put off '
own 'what is staged' jjX 24 ' accept is staged; U undoes it, Z looks at it and sends it'
own 'and in the line of keys' jjX 23 ' Z deliver  U undo  X accept  x reject  e escalate '
own 'quitting' jjXa 24 ' 1 staged, not sent; they are kept. y quits, Z looks at them'
own 'from there on to the page' jjXaZ 3 'This will be written. y sends it, F4 goes back and sends nothing.'
own 'its keys' jjXaZ 23 ' y send  F4 back, nothing is sent '
own 'no match' '\nosuchword<Enter>' 3 '  Nothing here matches the filter. F4 shows all again.'
own 'filtered' '\nosuchword<Enter>' 24 ' filtered; F4 or an empty filter shows all again'
own 'held' 'jjXZ<wait:400>y' 24 ' 0 sent, 1 held; 0 shows why, F5 tries again'
own 'recovery' 'jjXZ<wait:400>y?' 23 ' y finish them  U give up what is held  F4 leave them '
own 'an item' 'jj<Enter>' 23 ' X x e decide  F4 back  d diff  [ ] iteration '
own 'decisions' 0 23 ' Enter open  U undo or give up  Z deliver  :resend '
own 'putting off' 'jj:defer<Enter>' 24 ' put off until it is nearly due or changes; A lists it, z brings it back'

# Smaller than it can be: one polite line, whatever is typed.
for size in 59x15 60x14 40x10 10x3 1x1; do
	draw small '24/x<Enter>?q:2<Enter>' "$size" "$tmp/screen" >"$tmp/said"
	is "$size: nothing goes wrong" '' "$(cat "$tmp/said")"
done
draw small '' 40x10 "$tmp/screen"
is 'a small screen says so' 'gavel needs 60x15; this is 40x10' "$(sed -n 1p "$tmp/screen")"

tap_end
