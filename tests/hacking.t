# HACKING.md names files and functions; each must exist where it says. A name in backquotes followed by
# a file in brackets, `name` (`folder/file.c`), is a function or macro of that file.
. "$srcdir/tests/tap.sh"

page=$srcdir/HACKING.md

# Prints the paths in backquotes that are not below src/, tests/ or the top.
lost_files() {
	grep -oE '`[a-z_A-Z0-9./]+`' "$page" | tr -d '`' | grep -E '/|\.[cht]$' | grep -vE 'NAME|^\.|^/|^--|/$' |
	LC_ALL=C sort -u | while read -r path; do
		for place in "$path" "src/$path" "tests/unit/$path" "tests/$path"; do
			[ ! -e "$srcdir/$place" ] || continue 2
		done
		find "$srcdir/src" -name "$path" | grep -q . || echo "$path"
	done
}
is 'every file that HACKING.md names is there' '' "$(lost_files)"

# Prints "NAME FILE" for each function of the text; line ends do not matter.
functions() {
	tr '\n' ' ' <"$page" | grep -oE '`[a-z_0-9]+`,? +\(`[a-z_]+/[a-z_0-9]+\.[ch]`|`[a-z_0-9]+` in +`[a-z_]+/[a-z_0-9]+\.[ch]`' |
	sed -E 's/`([a-z_0-9]+)`.*`([^`]+)`/\1 \2/'
}

lost_functions() {
	functions | while read -r name file; do
		grep -qE "(^|[^a-z_0-9])$name\(|^struct $name \{|define $name\(" "$srcdir/src/$file" ||
			echo "$name is not in $file"
	done
}
ok 'the walks name functions' [ "$(functions | wc -l)" -ge 35 ]
is 'every function is in the file that HACKING.md says' '' "$(lost_functions)"

# Each walk has at most ten steps.
steps() {
	sed -n "/^## $1\$/,/^## /p" "$page" | grep -cE '^[0-9]+\. '
}
for walk in "A message's way in" "A decision's way out"; do
	ok "$walk: at most ten steps" [ "$(steps "$walk")" -ge 5 -a "$(steps "$walk")" -le 10 ]
done

# Every folder of src/ has a row, in the order of the makefile's libraries.
is 'the table of folders is complete and in order' \
	"$(sed -n 's|^\tsrc/lib\([a-z]*\)\.a.*|\1|p' "$srcdir/Makefile.am" | tr '\n' ' ')" \
	"$(sed -n 's/^| `src\/\([a-z]*\)` |.*/\1/p' "$page" | tr '\n' ' ')"

tap_end
