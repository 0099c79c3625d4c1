# The cache of big logs, here also of small ones: what comes out of it is what reading gives, whatever
# happened to the log or to the image meanwhile.
. "$srcdir/tests/tap.sh"
slow 'the cache of big logs'

GAVEL_CACHE_MIN=1 GAVEL_CACHE_TELL=1
export GAVEL_CACHE_MIN GAVEL_CACHE_TELL
cd "$tmp" || exit 99
umask 022

# A process that outlives the one which prints writes the image: the end of what it tells is waited for.
run() { # ARGUMENTS…
	{ "${gavel-$GAVEL}" "$@" 2>&1 >&3 | cat >"${told-told}"; } 3>&1
}

state() { # FILE…
	run show state "$@"
}

fresh() {
	"$GAVEL" show state --no-cache "$@" 2>/dev/null
}

# What the cache was told to have done, the last thing first.
told() {
	sed -n 's/^gavel: cache: //p' told | tail -n "${1-1}" | head -n 1
}

image() {
	ls cache/gavel/*.image
}

i=0
while [ $i -lt 8 ]; do
	i=$((i + 1))
	cat "$GAVEL_DATADIR/demo.ndjson"
done >log
wanted=$(fresh log)
ok 'without the cache there is none' [ ! -e cache ]
is 'the first time' "$wanted" "$(state log)"
is 'an image is made' written "$(told)"
is 'the second time' "$wanted" "$(state log)"
is 'it is used' "used: $(wc -c <log) of $(wc -c <log) bytes are known" "$(told)"
is 'nobody else can read it' 600 "$(stat -c %a "$(image)")"
"$GAVEL" show inbox --all --format=json log >cached 2>/dev/null
"$GAVEL" show inbox --all --format=json --no-cache log >read
ok 'a view is the same, byte by byte' cmp cached read
for keys in '' 2 3 4 5; do
	printf '%s' "$keys" >keys
	"$GAVEL" log --headless --keys=keys --screen=cached >/dev/null 2>told
	is "the UI used it ($keys)" used "$(told | sed 's/:.*//')"
	"$GAVEL" log --headless --keys=keys --screen=read --no-cache >/dev/null
	ok "its screen is the same ($keys)" cmp cached read
done
rm "$(image)"
run log --headless --keys=keys --screen=cached >/dev/null
ok 'the UI makes one' image
state log >/dev/null

# ---- images that are no good ----

spoiled() { # WHAT HOW IT IS NOTICED
	is "$1: the result is right" "$wanted" "$(state log)"
	is "$1: noticed" "not used: $2" "$(told 2)"
	is "$1: made anew" written "$(told)"
}

flip() { # FILE OFFSET
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\$(printf %o $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# head, files, parts, names, the model, and everywhere in its memory
size=$(wc -c <"$(image)")
for at in 0 8 16 24 32 40 48 56 60 64 68 80 130 150 200 250 400 600 1000 2000 4000 6000 8000 65536 65544 \
	$((size / 7)) $((size / 5)) $((size / 3)) $((size / 2)) $((size - 70000)) $((size - 1)); do
	flip "$(image)" $at
	got=$(state log)
	case $(told 2) in
	'not used: the image is damaged'* | 'not used: the image is of another gavel') ;;
	*) got="not noticed: $(told 2)" ;;
	esac
	is "a wrong byte at $at" "$wanted" "$got"
done
for n in 0 1 71 72 500 $((size / 2)) $((size - 1)) $((size + 1)); do
	truncate -s $n "$(image)"
	spoiled "an image of $n bytes" 'the image is damaged, or of another gavel'
done
head -c "$size" /dev/urandom >"$(image)"
spoiled 'an image of noise' 'the image is damaged, or of another gavel'
chmod 644 "$(image)"
spoiled 'an image that others may read' 'the image belongs to others'
rm -rf cache
state log >/dev/null
name=$(image)
mv "$name" away
ln -s "$PWD/away" "$name"
spoiled 'a link' 'there is no image'
cp "$GAVEL" other
printf x >>other
is 'another build' "$wanted" "$(gavel=./other state log)"
is 'another build does not use it' 'not used: the image is of another gavel' "$(told 2)"
state log >/dev/null
rm cache/gavel/seed
is 'without the seed' "$wanted" "$(state log)"
is 'it is not used' 'not used' "$(told 2 | sed 's/:.*//')"
is 'with a new seed' "$wanted" "$(state log)"
is 'it is used again' used "$(told | sed 's/:.*//')"
chmod 755 cache/gavel
is 'a folder that others can read does' "$wanted" "$(state log)"
chmod 777 cache/gavel
is 'one that others can write to is not used' "$wanted" "$(state log)"
is 'and it is said' 'no folder' "$(told | sed 's/:.*//')"
chmod 700 cache/gavel

# ---- logs that are not what they were ----

cp log old
head -c 3000 "$GAVEL_DATADIR/demo.ndjson" | grep . | head -n 4 >more
cat more >>log
wanted=$(fresh log)
is 'a log that has grown' "$wanted" "$(state log)"
is 'only the tail is read' "used: $(wc -c <old) of $(wc -c <log) bytes are known" "$(told)"
# changed in the middle of what the image covers, and grown
cat more >>log
state log >/dev/null
cp log before
head -c 300000 before >changed
printf '\n\n\n\n\n\n\n\n' >>changed
tail -c +300009 before >>changed
cat more >>changed
cat changed >log
ok 'a log that was changed in its middle and has grown is another one' \
	[ "$(fresh before)" != "$(fresh log)" ]
is 'it is read as it is' "$(fresh log)" "$(state log)"
is 'all of it' 'not used: the log was changed in place' "$(told 2)"
printf 'X' | dd of=log bs=1 seek=300 conv=notrunc 2>/dev/null
is 'a change at its beginning is seen' "$(fresh log)" "$(state log)"
is 'as a change in place' 'not used: the log was changed in place' "$(told 2)"
wanted=$(fresh log)
touch -d '2026-01-01' log
is 'a log with another time' "$wanted" "$(state log)"
is 'is the same log' used "$(told | sed 's/:.*//')"
# rewritten in place, of the same size, with its time set back: at the beginning, and in the middle
for at in 300 300000 $(($(wc -c <log) - 70000)); do
	touch -r log stamp
	flip log $at
	touch -r stamp log
	wanted=$(fresh log)
	spoiled "a log that was changed at $at with its time set back" 'the log was changed in place'
done
cp old log
wanted=$(fresh log)
spoiled 'a log that is shorter' 'the log has another size'
cp old rotated
mv log log.1
mv rotated log
cat more >>log
is 'another file under its name' "$(fresh log)" "$(state log)"
is 'has no image' 'not used: there is no image' "$(told 2)"
is 'the log under another name' "$(fresh log.1)" "$(state log.1)"
is 'has none either' 'not used: there is no image' "$(told 2)"
printf '{"half":' >>log
is 'a line that is not complete' "$(fresh log)" "$(state log)"
is 'is not known' used "$(told | sed 's/:.*//')"
printf '1}\n' >>log
is 'when it is complete it is read' "$(fresh log)" "$(state log)"
printf '{"half":' >begun
is 'a log without a complete line' "$(fresh begun)" "$(state begun)"
cp old a && cp more b
is 'two logs' "$(fresh a b)" "$(state a b)"
is 'have one image' written "$(told)"
is 'two logs again' "$(fresh a b)" "$(state a b)"
is 'use it' used "$(told | sed 's/:.*//')"
cat more >>b
is 'the second has grown' "$(fresh a b)" "$(state a b)"
is 'and its tail is read' used "$(told | sed 's/:.*//')"
cat more >>a
is 'the first has grown' "$(fresh a b)" "$(state a b)"
is 'which changes all that follows' 'not used: the log has another size' "$(told 2)"
is 'with another limit' "$(fresh --max-line=2k a b)" "$(state --max-line=2k a b)"
is 'it is another image' 'not used: there is no image' "$(told 2)"

# ---- together ----

cp old log
wanted=$(fresh log)
rm -rf cache
for n in 1 2 3 4; do
	told=told.$n state log >state.$n &
done
wait
for n in 1 2 3 4; do
	is "four at once: $n" "$wanted" "$(cat state.$n)"
done
is 'and one after them' "$wanted" "$(state log)"
is 'finds an image' used "$(told | sed 's/:.*//')"
is 'nothing is left over' 0 "$(ls cache/gavel | grep -c part)"
mkdir -p conf/gavel
echo '{"cache": 0}' >conf/gavel/config.json
rm -rf cache
is 'no cache, as configured' "$wanted" "$(XDG_CONFIG_HOME=$PWD/conf state log)"
ok 'leaves nothing behind' [ ! -e cache ]
echo '{"cache": 1}' >conf/gavel/config.json
for n in 1 2 3 4; do
	cp old many.$n
	XDG_CONFIG_HOME=$PWD/conf state many.$n >/dev/null
done
ok 'the cache keeps to its size' [ "$(cat cache/gavel/*.image | wc -c)" -le 1048576 ]
XDG_CONFIG_HOME=$PWD/conf state many.4 >/dev/null
is 'the newest is kept' used "$(told | sed 's/:.*//')"

# ---- figures, which are kept with it ----

cp old log
rm -rf cache
same_summary() { # WHAT ARGUMENTS…
	what=$1
	shift
	run show summary "$@" log >cached
	"$GAVEL" show summary "$@" --no-cache log >read
	ok "$what" cmp cached read
}
same_summary 'a summary, the first time'
same_summary 'a summary, the second time'
same_summary 'the same of a beginning' '--at=#100'
same_summary 'the same with a filter' '--filter=dialect:feedback'
run show summary log >before
item=$("$GAVEL" show inbox --format=json --filter=kind:improvement log 2>/dev/null |
	sed -n '1s/^{"id":"\([^"]*\)".*/\1/p')
ok 'a decision' "$GAVEL" decide log "$item" reject --explain=no
same_summary 'the same with a decision made here'
ok 'of which it tells' sh -c '! cmp -s before cached'
cat more >>log
same_summary 'the same of a log that has grown'

# ---- every fixture, and what a journal expects of a log ----

for file in $(find "$GAVEL_FIXTURES" -name '*.ndjson' -o -name '*.json' -o -name '*.log' | sort); do
	first=$(state "$file") second=$(state "$file") wanted=$(fresh "$file")
	[ "$wanted $wanted" = "$first $second" ] || echo "$file"
done >different
is 'every fixture is the same read, the first and the second time' '' "$(cat different)"
sh "$srcdir/tests/proof.t" >proof 2>&1
is 'proofs are found in what the cache has, too' 0 "$(grep -c '^not ok' proof)"
ok 'all of them' grep -q '^1\.\.' proof

tap_end
