# gavel purge: what is old goes, what is in use, unfinished or not gavel's own stays.
. "$srcdir/tests/tap.sh"

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
state=$XDG_STATE_HOME/gavel

purge() {
	"$GAVEL" purge "$@" >out 2>err
}

aged() { # PATH...: last changed long ago, folders too
	for path in "$@"; do
		find "$path" -exec touch -h -d '100 days ago' {} +
	done
}

listing() {
	find "$state" cache outside 2>/dev/null | sort
}

ok 'where there is nothing' purge
is 'nothing is removed' 'removed: 0 captures, 0 journals, 0 cache files, 0B' "$(cat out)"

# Captures, and things that only look like some.
mkdir -p "$state/captures/old" "$state/captures/new" "$state/captures/running" "$state/captures/strange/folder" outside/run cache/gavel/sub
for run in old new running strange; do
	cp "$demo" "$state/captures/$run/agent.ndjson"
	echo oops >"$state/captures/$run/agent.stderr"
done
cp "$demo" outside/run/mine.ndjson
echo mine >outside/file
ln -s "$tmp/outside/run" "$state/captures/linked"
ln -s "$tmp/outside" "$state/linked"
echo x >cache/gavel/old
echo x >cache/gavel/sub/old
echo x >cache/gavel/new
ln -s "$tmp/outside/file" cache/gavel/linked
ln -s "$tmp/outside" cache/gavel/linked-folder

# Journals: of a log that is there, of one that is gone, of one that is gone with something staged, and
# of a capture with something staged.
item=review-PK-3/F-2
for log in here gone staged; do
	cp "$demo" $log.ndjson
	"$GAVEL" decide --as=ann $log.ndjson "$item" accept >said 2>&1
done
for log in here gone; do
	id=$("$GAVEL" show decisions --format=json $log.ndjson | sed -n 's/^{"id":"\([^"]*\)".*"by":"ann".*/\1/p')
	"$GAVEL" journal void "$id" >said 2>&1 || cat said
done
mkdir "$state/captures/undecided"
cp "$demo" "$state/captures/undecided/agent.ndjson"
"$GAVEL" decide --as=ann "$state/captures/undecided/agent.ndjson" "$item" accept >said 2>&1
rm gone.ndjson staged.ndjson
is 'four journals' 4 "$(ls "$state" | grep -vc 'by-head\|captures\|linked')"
aged "$state" cache outside
touch "$state/captures/new/agent.ndjson" cache/gavel/new

listing >before
ok '--dry-run' purge --dry-run
listing >after
is 'removes nothing' '' "$(diff before after)"
cp out would

if command -v flock >/dev/null; then
	exec 5<"$state/captures/running/agent.ndjson"
	flock 5
else
	rm -r "$state/captures/running"
fi
ok 'purge' purge
exec 5<&-
listing >after
gone=$(diff before after | sed -n 's/^< //p' | sed "s|$state/||" | sed 's/[0-9a-f]\{32,\}/HASH/g' | sort)
is 'an old capture, an old journal without a source and its entry in the index, and old caches are gone' 'HASH
HASH/journal-000001
HASH/lock
by-head/HASH/HASH
cache/gavel/old
cache/gavel/sub
cache/gavel/sub/old
captures/old
captures/old/agent.ndjson
captures/old/agent.stderr' "$(printf '%s\n' "$gone" | grep -v running)"
is 'nothing else has come' '' "$(diff before after | grep '^>')"
is 'it says what and how much' 'removed: 1 capture, 1 journal, 2 cache files' "$(tail -n 1 out | cut -d , -f 1-3)"
ok 'and what stays' grep -q 'kept [0-9]* old ones* in use or unfinished' out
ok 'as --dry-run had said it would' grep -q "would remove $state/captures/old (" would
ok 'what is staged can still be seen' sh -c '"$GAVEL" journal list --format=json | grep -c "\"delivery\":\"staged\"" | grep -qx 2'
ok 'once nobody holds it' purge
ok 'the other capture goes too' [ ! -e "$state/captures/running" ]
ok '--older-than' purge --older-than=0s
ok 'what was new is old then' [ ! -e "$state/captures/new" ]
ok 'what is unfinished is not' [ -e "$state/captures/undecided/agent.ndjson" ]
ok 'nor what a link leads to' [ -e outside/run/mine.ndjson ]
# a purge that was ended in the middle
mkdir -m 700 "$state/.purged-half" "$state/captures/.purged-half"
: >"$state/.purged-half/journal-000001"
: >"$state/captures/.purged-half/agent.ndjson"
ok 'what an earlier one has begun' purge --dry-run
ok '... stays with --dry-run' [ -e "$state/.purged-half/journal-000001" ]
ok '... and is finished' purge
is '... in both places' '' "$(find "$state" -name '.purged-*')"
for age in '' 30 d -1d 3x; do
	ok "--older-than=$age is refused" sh -c '! "$GAVEL" purge --older-than="$1" 2>err && grep -q "^gavel: --older-than" err' sh "$age"
done
ok 'names are refused' sh -c '! "$GAVEL" purge somewhere 2>err && grep -q "^gavel: purge takes no names" err'

# a running agent, and the socket of a holder that was killed
"$GAVEL" run --detach --format=json --agent dev -- sh -c 'read x' >out 2>err
pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' out)
run=$(sed -n 's|.*"capture":"\([^"]*\)/dev.ndjson".*|\1|p' out)
aged "$run"
ok 'the capture of a running agent' purge --older-than=0s
ok '... stays' [ -e "$run/dev.ndjson" ]
kill -9 "$(ps -o ppid= -p "$pid" | tr -d ' ')"
while kill -0 "$pid" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$pid/status"; do sleep 0.02; done
aged "$run"
ok 'that of a killed holder' [ -S "$run/dev.sock" ]
ok '... goes' purge
ok '... with its socket' [ ! -e "$run" ]

tap_end
