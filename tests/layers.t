# Which folder of src/ includes which: only the ones that data passes before it. Two know even
# less: the model no bytes, protocols or clocks, the views nothing that could block.
. "$srcdir/tests/tap.sh"

may_include() {
	case $1 in
	base) echo base ;;
	json) echo base json ;;
	loop) echo base json loop ;;
	source) echo base json loop source ;;
	wire) echo base json loop source wire ;;
	event) echo base json event ;;
	dialect) echo base json wire event dialect ;;
	model) echo base event model ;;
	decide) echo base json loop source wire event dialect model decide ;;
	ui) echo base json wire event dialect model decide ui ;;
	term) echo base ui term ;;
	cmd) echo base json loop source wire event dialect model decide ui term cmd ;;
	*) return 1 ;;
	esac
}

# Prints each include of folder $1 that the list does not allow.
strangers() {
	allowed=" $(may_include "$1") " || { echo "src/$1 is not in the list of this test"; return; }
	grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$srcdir/src/$1"/*.[ch] |
	while IFS= read -r line; do
		path=${line#*\"}
		case $allowed in
		*" ${path%%/*} "*) ;;
		*) echo "$line" ;;
		esac
	done
}

for folder in "$srcdir"/src/*/; do
	folder=$(basename "$folder")
	set -- "$srcdir/src/$folder"/*.[ch]
	[ -e "$1" ] || [ -e "${2-}" ] || continue
	is "$folder includes only what it may" '' "$(strangers "$folder")"
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
ok 'at most one file includes curses' [ "$curses" -le 1 ]

tap_end
