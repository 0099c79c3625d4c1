# Names before numbers: tasks, items and answers are called by their words; ids that programs made up
# are shown only where nothing else names a thing, and shortened.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
cp "$GAVEL_DATADIR/demo.ndjson" log.ndjson
uuid='[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-'

# keys SIZE KEYS: the screen after them
keys() {
	printf '%s' "$2" >typed
	"$GAVEL" --headless --size="$1" --keys=typed --screen=shown log.ndjson && sed '/^---$/,$d' shown
}

# ---- the timeline ----

for size in 60 80 120 200; do
	"$GAVEL" show timeline --size=$size log.ndjson >out
	is "timeline at $size: no UUIDs" 0 "$(grep -cE "$uuid" out)"
	ok '... an id that people use stands before the words' grep -q '^PK-1 Credential' out
	ok '... a task that another message names' grep -q '^Provision a passkey' out
	ok '... a workflow and its feature' grep -q '^specify 014-pass' out
done
echo '{"type":"event:progress","id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-01-26T10:00:00Z","agentId":"a","payload":{"taskId":"deadbeef-0000-4000-8000-000000000001","progress":0.5}}' >bare.ndjson
ok 'what nothing names has 8 characters of its id' sh -c '"$GAVEL" show timeline --size=120 bare.ndjson | grep -q "^deadbeef  "'
sed 's/PK-1/11111111-1111-4111-8111-111111111111/g' log.ndjson >made-up.ndjson
ok 'a dependency whose id is made up, by its words' sh -c '"$GAVEL" show timeline --size=120 made-up.ndjson | grep -q "^  needs Credential store: migr"'
before=0
for size in 60 70 80 99 100 120 139 140 160 200; do
	"$GAVEL" show timeline --size=$size log.ndjson | sed -n 's/^\(PK-1 [^…]*\).*/\1/p' >words
	now=$(sed 's/   *dev-01.*//' words | wc -m)
	ok "no fewer words at $size" [ "$now" -ge "$before" ]
	before=$now
done

# ---- the decisions, on the screen: printed, they have whole ids ----

for size in 60x40 80x40 120x40 160x40; do
	keys $size 6O >out
	is "decisions at $size: no UUIDs" 0 "$(grep -cE "$uuid" out)"
	ok '... an item by its words' grep -q 'Count a passkey sig' out
	[ $size = 60x40 ] || ok '... an answer by its label' grep -q 'No, as' out
	ok '... one day: no date' grep -q '^ time ' out
done
ok 'why a person refused' sh -c '"$GAVEL" show decisions --size=160 log.ndjson | grep -q "✗ rejected .*Sent again, the last"'
keys 200x40 6O >out
ok 'to whom' grep -q '^ 09:26:53 *orchestrator *planner-1 ' out
question=$("$GAVEL" show inbox --format=json log.ndjson | sed -n 's/^{"id":"\([^"]*\)".*load_test has held.*/\1/p')
"$GAVEL" decide --as=ann log.ndjson "$question" answer --answer=wait >/dev/null
keys 160x40 6O >out
ok 'an own answer by its label' grep -q 'ann .*answered .*load_test has held .*Leave it, try' out
ok '... with its date, since it is of another day' grep -qE '^▸20[0-9]{2}-[0-9]{2}-[0-9]{2} .* ann ' out
ok '... as all are' grep -q '^ 2026-03-17 *09:30:45 ' out

# ---- messages ----

rm -rf "$XDG_STATE_HOME"
ok 'what is staged' sh -c 'printf "%s\n" "$1" | grep -qF "accept is staged: \"Second attempt: same t"' sh "$(keys 80x24 jja)"
ok 'what was undone' sh -c 'printf "%s\n" "$1" | grep -qF "undone: accept of \"Second attempt: same t"' sh "$(keys 80x24 u)"
ok 'what was refused, of several' sh -c 'printf "%s\n" "$1" | grep -qF "nothing was staged; \"load_test has held"' sh "$(keys 80x24 'mjjm;a')"

# ---- help ----

keys 120x80 '4?' >out
ok 'keys in columns' grep -qE '^  j <Down> +next line +.* +[0-9] ' out
ok 'the heads of the page' grep -q '^  chk  .*E error' out
ok '... and its abbreviations' grep -q '^  dial  .*orch orchestrator' out
ok '... then all commands with their names' sh -c 'sed -n "/ all commands/,\$p" out | grep -qE "^  j <Down> +down +next line"'
is 'not those of other pages' 0 "$(grep -c '^  sev ' out)"
keys 120x80 '2?' >out
ok 'the marks of the timeline' grep -q '^  on a lane  .*V assigned again.*╱ stall' out
keys 120x80 '3?' >out
ok 'the letters of the ledger' grep -q '^  a cell  .*R raised' out
is 'as many columns as fit' '1 2 3 4' "$(for size in 60x20 80x20 120x20 160x20; do
	keys $size '?' | sed -n '4{s,half a page,half,;p}' | grep -oE '(next|previous|first|last|half|a page|scroll|open the|back:|switch|maximise|items|tasks|feedback|every|agents|decisions)' | wc -l
done | tr '\n' ' ' | sed 's/ $//')"

tap_end
