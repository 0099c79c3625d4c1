# Which folder of src/ may see which: only those that data passes before it. What counts is the whole
# chain of includes, so a header cannot let a folder in through the back door. Some folders see even
# less than the order allows: the model no bytes and no protocol, journal and channel no decision,
# views nothing that could block.
. "$srcdir/tests/tap.sh"

low='base json loop source wire event dialect model'
may_see() {
	case $1 in
	base) echo base ;;
	json) echo base json ;;
	loop) echo base loop ;;
	team) echo base loop team ;;
	holder) echo base holder ;;
	source) echo base source ;;
	wire) echo base json source wire ;;
	event) echo base event ;;
	dialect) echo base json event dialect ;;
	model) echo base event model ;;
	journal) echo base json journal ;;
	channel) echo base loop source channel ;;
	decide) echo "$low journal channel decide" ;;
	encode) echo "$low journal channel decide encode" ;;
	draw) echo base draw ;;
	term) echo base draw term ;;
	view) echo base json event dialect model journal channel decide encode draw view ;;
	app) echo base json event dialect model journal channel decide encode draw view app ;;
	config) echo base json source wire draw config ;;
	session) echo "$low journal channel decide encode draw view config session" ;;
	ship) echo "$low journal channel decide encode draw view config session team ship" ;;
	watch) echo "$low journal channel decide encode draw term view app config session team ship watch" ;;
	agents) echo "$low journal channel decide encode draw term view app config session team ship watch agents" ;;
	cmd) echo "$low journal channel decide encode draw term view app config session team ship watch agents cmd" ;;
	*) return 1 ;;
	esac
}

# All pairs "FILE HEADER" of the tree, each header being one that FILE includes by any chain. A folder
# below another one (json/quick) counts as that one.
all_includes() {
	(cd "$srcdir/src" && grep -rHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' .) |
	sed -E 's|^\./([^:]*):[^"]*"([^"]*)".*|\1 \2|' |
	awk '{ direct[$1] = direct[$1] " " $2; files[$1] = 1 }
	function visit(root, file,    list, n, i) {
		n = split(direct[file], list, " ")
		for (i = 1; i <= n; i++)
			if (!((root, list[i]) in seen)) {
				seen[root, list[i]] = 1
				print root, list[i]
				visit(root, list[i])
			}
	}
	END { for (f in files) visit(f, f) }' | LC_ALL=C sort
}

includes=$(all_includes)
ok 'includes are found' [ "$(echo "$includes" | wc -l)" -gt 500 ]

# Prints each file of folder $1 that sees a header which the list does not allow.
strangers() {
	allowed=" $(may_see "$1") " || { echo "src/$1 is not in the list of this test"; return; }
	echo "$includes" | grep "^$1/" | while read -r file header; do
		case $allowed in
		*" ${header%%/*} "*) ;;
		*) echo "$file sees $header" ;;
		esac
	done
}

for folder in "$srcdir"/src/*/; do
	folder=$(basename "$folder")
	is "$folder sees only what it may" '' "$(strangers "$folder")"
done

# The quick parser has a folder of its own, and one header for all others.
is 'only its one header is included from outside json/quick' '' \
	"$(grep -rnE '#[[:space:]]*include[[:space:]]*"json/quick/' "$srcdir/src" |
		grep -v "^$srcdir/src/json/quick/" | grep -v '"json/quick/quick\.h"')"
is 'which nobody but json includes' '' \
	"$(grep -rlE '#[[:space:]]*include[[:space:]]*"json/quick/' "$srcdir/src" | grep -v "^$srcdir/src/json/")"
is 'json/quick includes only base and json' '' \
	"$(grep -nE '#[[:space:]]*include[[:space:]]*"' "$srcdir"/src/json/quick/*.[ch] | grep -vE '"(base|json)/')"

curses=$(grep -rlE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<n?curses' "$srcdir/src" | wc -l)
is 'one file includes curses' 1 "$curses"

libpq=$(grep -rlE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<libpq' "$srcdir/src" | wc -l)
is 'one file includes libpq' 1 "$libpq"

# What is printed goes through one door, which lets nothing through that a terminal would obey. Two
# sentences of base are printed when nothing else can be trusted any more.
is 'only draw/say.c prints' '' \
	"$(cd "$srcdir/src" && grep -rnE '[(,] *(stdout|stderr) *[,)]|(^|[^a-z_])(v?printf|puts|putchar|perror) *\(' --include='*.[ch]' . |
		grep -vE '^\./(draw/say|base/err|base/mem)\.[ch]:|(fflush|ferror)\(stdout\)|__attribute__|/\* for printf')"

# One word for one thing.
is 'no struct tag is defined twice' '' \
	"$(grep -rhoE '^struct [a-z_0-9]+ \{' "$srcdir/src" | LC_ALL=C sort | uniq -d)"
is 'no two files have one base name' '' \
	"$(find "$srcdir/src" -name '*.c' | sed 's|.*/||' | LC_ALL=C sort | uniq -d)"
is 'no file has over 700 lines' '' \
	"$(find "$srcdir/src" -name '*.[ch]' -exec awk 'END { if (FNR > 700) print FILENAME, FNR }' {} \;)"

tap_end
