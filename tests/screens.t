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
search 4/passkey<Enter>
filter \kind:question<Enter>
no-match \nosuchword<Enter>
read-only a
prompt :fil<Tab>'

# draw NAME KEYS SIZE FILE [OPTION...]
draw() {
	keys=$2
	size=$3
	file=$4
	shift 4
	printf '%s' "$keys" >"$tmp/keys"
	"$GAVEL" demo.ndjson --headless --size="$size" --keys="$tmp/keys" --screen="$file" "$@" 2>&1
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

# Smaller than it can be: one polite line, whatever is typed.
for size in 59x15 60x14 40x10 10x3 1x1; do
	draw small '24/x<Enter>?q:2<Enter>' "$size" "$tmp/screen" >"$tmp/said"
	is "$size: nothing goes wrong" '' "$(cat "$tmp/said")"
done
draw small '' 40x10 "$tmp/screen"
is 'a small screen says so' 'gavel needs 60x15; this is 40x10' "$(sed -n 1p "$tmp/screen")"

tap_end
