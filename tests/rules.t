# Every rule the sources can report has, in tests/fixtures/rules, a case that breaks it and one that
# keeps it, and every case there is of a rule the sources know. test_rules runs the cases.
. "$srcdir/tests/tap.sh"

dialects=$(sed -n 's/^[[:space:]]ROW([A-Z]*, \([a-z]*\)).*/\1/p' "$srcdir/src/event/record.h" | paste -sd'|' -)

# RULE("x") of file $1, with the prefix that the file or a header it includes gives.
tabled() {
	grep -q 'RULE("' "$1" || return 0
	headers=$(sed -n "s|^#include \"\\(.*\\)\"|$srcdir/src/\\1|p" "$1")
	# shellcheck disable=SC2086 # one word a header
	prefix=$(sed -n 's|^#define RULE(id) "\(.*/\)" id.*|\1|p' "$1" $headers)
	grep -o 'RULE("[^"]*")' "$1" | sed "s|RULE(\"\\(.*\\)\")|${prefix:-no prefix in $1: }\\1|"
}

# "dialect/x", "json/x" and "text/x" that stand in file $1 as they are
literal() {
	grep -v '^#' "$1" | grep -oE "\"(json|$dialects)/[^\"]+\"" | tr -d '"'
}

for file in "$srcdir"/src/dialect/*.[ch] "$srcdir"/src/model/*.[ch]; do
	tabled "$file"
	literal "$file"
done | LC_ALL=C sort -u >"$tmp/known"

# "break RULE" and "keep RULE" for each case
awk '
	/^== / { rule = $2 }
	rule != "" && ($1 == "break" && NF == 4 || $0 == "keep") { print $1, rule }
' "$srcdir"/tests/fixtures/rules/*.cases | LC_ALL=C sort -u >"$tmp/cases"
sed -n 's/^break //p' "$tmp/cases" >"$tmp/broken"
sed -n 's/^keep //p' "$tmp/cases" >"$tmp/kept"
sed -n 's/^== //p' "$srcdir"/tests/fixtures/rules/*.cases | LC_ALL=C sort >"$tmp/tested"

# A search that finds nothing would let everything pass.
ok 'the rules are found in the sources' [ "$(wc -l <"$tmp/known")" -ge 300 ]
for start in json text feedback envelope collaboration handoff orchestrator; do
	ok "rules of $start are found" grep -q "^$start/[a-z0-9]" "$tmp/known"
done
is 'each RULE has the prefix of its dialect' '' "$(grep -vE "^(json|text|$dialects)/[^ ]+\$" "$tmp/known")"
is 'each rule has a case that breaks it' '' "$(LC_ALL=C comm -23 "$tmp/known" "$tmp/broken")"
is 'each rule has a case that keeps it' '' "$(LC_ALL=C comm -23 "$tmp/known" "$tmp/kept")"
is 'each case is of a rule that exists' '' "$(LC_ALL=C comm -13 "$tmp/known" "$tmp/tested")"
is 'each rule has one place' '' "$(uniq -d "$tmp/tested")"

misplaced=$(for file in "$srcdir"/tests/fixtures/rules/*.cases; do
	name=$(basename "$file" .cases)
	[ "$name" = json ] && name='(json|text)'
	sed -n 's/^== //p' "$file" | grep -vE "^$name/"
done)
is 'each rule is in the file of its dialect' '' "$misplaced"

tap_end
