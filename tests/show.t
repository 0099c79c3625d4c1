# gavel show and gavel demo from the outside: views, time travel, filters, sizes, exit codes.
. "$srcdir/tests/tap.sh"

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99

exit_of() {
	wanted=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat "$tmp/err"; return 1; }
}

for view in inbox timeline ledger messages agents summary; do
	ok "show $view" exit_of 0 "$GAVEL" show "$view" "$demo"
	ok "show $view has something to say" [ -s out ]
	for size in 60x200 80x24 120x36 200x60; do
		"$GAVEL" show "$view" --size=$size "$demo" >out
		ok "show $view keeps to ${size%x*} columns" [ "$(wc -L <out)" -le "${size%x*}" ]
		ok "show $view keeps to ${size#*x} rows" [ "$(wc -l <out)" -le "${size#*x}" ]
	done
	ok "show $view as json" exit_of 0 "$GAVEL" show "$view" --format=json "$demo"
	is "show $view --ascii is ASCII" 0 "$("$GAVEL" show "$view" --ascii "$demo" | LC_ALL=C tr -d '\n\040-\176' | wc -c)"
	is "show $view without colour has no escapes" 0 "$("$GAVEL" show "$view" "$demo" | LC_ALL=C tr -dc '\033' | wc -c)"
	ok "show $view with colour has" sh -c '"$GAVEL" show "$1" --color=always "$2" | grep -q "$(printf "\033\\[")"' sh "$view" "$demo"
	is "NO_COLOR wins over a terminal's wish, not over --color=always" 0 "$(NO_COLOR=1 "$GAVEL" show "$view" "$demo" | LC_ALL=C tr -dc '\033' | wc -c)"
	ok "show $view of nothing" exit_of 0 "$GAVEL" show "$view" /dev/null
done

"$GAVEL" show inbox --format=json "$demo" >inbox
ok 'the inbox has items' [ "$(wc -l <inbox)" -ge 10 ]
ok 'all of them open' sh -c '! grep -v "\"verdict\":\"none\"" inbox'
"$GAVEL" show inbox --all --format=json "$demo" >all
ok '--all has more' [ "$(wc -l <all)" -gt "$(wc -l <inbox)" ]
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed 's/^{"id":"\([^"]*\)".*/\1/')
	"$GAVEL" show item "$id" --format=json "$demo" >item 2>err || break
	"$GAVEL" show item "$id" "$demo" >text 2>>err || break
	rev=$(printf '%s\n' "$line" | grep -o '"rev":"sha256:[0-9a-f]*"')
	grep -qF "$rev" item || { echo "$id: rev differs" >err; break; }
done <inbox
is 'each item can be shown by its id, with the same rev' '' "$(cat err)"
ok 'no such item: exit 1' exit_of 1 "$GAVEL" show item nobody "$demo"
ok 'no such view: exit 2' exit_of 2 "$GAVEL" show everything "$demo"
ok 'no view: exit 2' exit_of 2 "$GAVEL" show
ok 'no such file: exit 2' exit_of 2 "$GAVEL" show inbox nowhere

ok 'before the beginning' exit_of 0 "$GAVEL" show inbox --at='#0' --format=json "$demo"
is 'nothing is open' 0 "$(wc -l <out)"
is '--at=#N counts messages' 50 "$("$GAVEL" show messages --at='#50' --format=json "$demo" | wc -l)"
ok 'a wrong --at: exit 2' exit_of 2 "$GAVEL" show inbox --at=soon "$demo"
ok 'a filter' sh -c '"$GAVEL" show inbox --filter=kind:question --format=json "$1" | grep -c "\"kind\":\"question\"" | grep -qvx 0' sh "$demo"
is 'and only that' 0 "$("$GAVEL" show inbox --filter=kind:question --format=json "$demo" | grep -vc '"kind":"question"')"
ok 'a wrong filter: exit 2' exit_of 2 "$GAVEL" show inbox --filter=knd:question "$demo"

ok 'gavel LOG prints the inbox' sh -c '"$GAVEL" "$1" >a && "$GAVEL" show inbox "$1" >b && cmp a b' sh "$demo"
ok 'so does a pipe' sh -c '"$GAVEL" <"$1" >a && [ -s a ]' sh "$demo"
ok 'gavel demo' exit_of 0 "$GAVEL" demo
ok 'prints inbox and summary' sh -c '"$GAVEL" show inbox --size=100 "$1" >a && "$GAVEL" show summary --size=100 "$1" >b && [ "$(wc -l <out)" -ge "$(cat a b | wc -l)" ]' sh "$demo"

ok '--help' exit_of 0 "$GAVEL" --help
ok 'of a command' exit_of 0 "$GAVEL" check --help
ok 'help of a command' exit_of 0 "$GAVEL" help show
ok 'help config prints the example' sh -c '"$GAVEL" help config | cmp - "$GAVEL_DATADIR/config.example.json"'
ok 'of none there is: exit 2' exit_of 2 "$GAVEL" help nonsense
ok '--version' exit_of 0 "$GAVEL" --version
"$GAVEL" --help >help
"$GAVEL" help man >man
is 'the manual lists the options of --help' "$(grep -o '^  --[a-z-]*' help | tr -d ' ')" "$(sed -n '/^\.SH OPTIONS/,/^\.SH KEYS/s/^\.BI //p' man | sed 's/\\//g; s/ =.*//')"
ok 'help fits 80 columns' [ "$(wc -L <help)" -le 80 ]

tap_end
