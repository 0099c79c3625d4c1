# One state, however a log is opened: every recording that there is, by itself and after a person has
# decided something in it. `gavel show state` prints a hash of all views. tests/conversation.t does the
# same for whole conversations. Of the rules' cases every fifteenth is taken; STATES_EVERY=1 takes all, STATES_SKIP=1 none.
. "$srcdir/tests/tap.sh"
slow 'states of recordings'
[ -z "${STATES_SKIP-}" ] || { skip 'states of recordings' 'STATES_SKIP is set'; tap_end; exit 0; }

USER=ann
HOME=$tmp
export USER HOME
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99

# state JOURNAL ARGUMENT...
state() {
	journal=$1
	shift
	"$GAVEL" show state --no-cache --journal="$tmp/$journal" "$@"
}

# same WHAT JOURNAL ARGUMENT...: leads to $wanted
same() {
	what=$1
	shift
	got=$(state "$@" 2>errors)
	[ "$got" = "$wanted" ] && return 0
	echo "$what: $got, not $wanted"
	cat errors
	return 1
}

# cached JOURNAL FILE: from an image, and while it is written
cached() {
	for image in new old; do
		# what writes the image outlives what prints: the end of its output is waited for
		got=$({ GAVEL_CACHE_MIN=1 GAVEL_CACHE_TELL=1 "$GAVEL" show state --journal="$tmp/$1" "$2" 2>&1 >&3 |
			cat >told; } 3>&1)
		[ "$got" = "$wanted" ] || { echo "$image image: $got, not $wanted"; cat told; return 1; }
	done
}

# anyhow JOURNAL: $log by every way that needs no other journal; $brief: without threads and cache
anyhow() {
	same 'LOG LOG' "$1" "$log" "$log" && same 'at its end' "$1" --at="#$last" "$log" || return 1
	[ -z "$brief" ] || return 0
	for threads in 1 2 8; do
		same "$threads threads" "$1" --threads=$threads "$log" || return 1
	done
	cached "$1" "$log"
}

# Without its journal, nothing tells where a reply was said: an output envelope does not name its input,
# and a Request that is sent again after an error has the same bytes as the first one.
cannot_be_told() {
	case $kind/$(grep -c '"success":' "$log") in
	retry/1 | escalation/1) return 1 ;;
	retry/* | error/*) return 0 ;;
	escalation/0) return 1 ;; # a hand-off
	escalation/*) return 0 ;;
	esac
	return 1
}

# undecided: the log alone
undecided() {
	wanted=$(state nobody "$log") || return 1
	anyhow nobody && same 'its folder' nobody "$(dirname "$log")" || return 1
	: >"$log.replies.ndjson"
	same 'an empty reply file' nobody "$log" && same 'given' nobody "$log" "$log.replies.ndjson" &&
		same 'given first' nobody "$log.replies.ndjson" "$log" && same 'in a folder' nobody "$(dirname "$log")"
	code=$?
	rm "$log.replies.ndjson"
	return $code
}

# decide: the first open item that takes a verb which is said to its agents; $id, 1 = there is none
decide() {
	echo 'The next version.' >artifact.md
	"$GAVEL" show inbox --format=json --journal="$tmp/ann" "$log" 2>/dev/null |
		sed 's/^{"id":"\([^"]*\)".*"kind":"\([a-z]*\)".*"opened":{"line":\([0-9]*\).*"verbs":\[\([^]]*\)\].*/\3 \2 \1 \4/; s/"//g' >open
	while read -r line kind id verbs; do
		for verb in reject accept answer; do
			case ,$verbs, in
			*,$verb,*) ;;
			*) continue ;;
			esac
			set -- --explain=So. --artifact=artifact.md
			[ $verb != answer ] || set -- --answer=one
			"$GAVEL" decide --no-cache --journal="$tmp/ann" --as=ann --deliver "$@" "$log" "$kind:$id" $verb >out 2>&1 && return 0
		done
	done <open
	return 1
}

verdicts() { # JOURNAL ARGUMENT...
	journal=$1
	shift
	"$GAVEL" show inbox --all --format=json --no-cache --journal="$tmp/$journal" "$@" |
		sed 's/^{"id":"\([^"]*\)".*"verdict":"\([a-z]*\)".*/\1 \2/' | sort
}

# decided: after one decision, with its journal and without
decided() {
	set -- "$log".*replies.ndjson
	wanted=$(state ann "$log") || return 1
	[ "$wanted" != "$before" ] || { echo 'the decision has not changed the state'; return 1; }
	anyhow ann && same 'LOG REPLIES' ann "$log" "$@" && same 'REPLIES LOG' ann "$@" "$log" || return 1
	if ! cannot_be_told; then
		verdicts ann "$log" >verdicts.ann
		verdicts nobody "$log" | diff verdicts.ann - || return 1
	fi
	# without a journal the reply stands behind what it answers: at the end, if that is the last message
	[ "$line" = "$(wc -l <"$log")" ] && ! cannot_be_told || wanted=$(state nobody "$log") || return 1
	same 'no journal' nobody "$log" && same 'no journal, LOG REPLIES' nobody "$log" "$@" &&
		same 'no journal, REPLIES LOG' nobody "$@" "$log" && same 'no journal, its folder' nobody "$(dirname "$log")" &&
		same 'no journal, 8 threads' nobody --threads=8 "$log" || return 1
	[ -n "$brief" ] || cached nobody "$log"
}

# recording NAME FILE
count=0 taken=0
recording() {
	count=$((count + 1))
	mkdir -m 755 "$tmp/$count"
	log=$count/log.ndjson
	cp "$2" "$log"
	last=$("$GAVEL" show messages --format=json --no-cache --journal="$tmp/nobody" "$log" | wc -l)
	ok "$1: one state" undecided
	before=$(state ann "$log")
	if decide; then
		taken=$((taken + 1))
		ok "$1: one state after $verb of $id" decided
	fi
	rm -rf "$tmp/$count" ann nobody
}

brief=
recording demo "$srcdir/data/demo.ndjson"
for file in "$srcdir"/tests/fixtures/examples/*/*.ndjson "$srcdir"/tests/fixtures/examples/*/*.json \
	"$srcdir"/tests/fixtures/streams/*/*.ndjson "$srcdir"/tests/fixtures/hostile/*.ndjson \
	"$srcdir"/../shared/streams/*.ndjson "$srcdir"/../shared/agents/streams/*.ndjson; do
	[ ! -f "$file" ] || recording "$(basename "$(dirname "$file")")/$(basename "$file")" "$file"
done

# The cases of the rules: the messages of each are a log.
mkdir -m 755 cases
for file in "$srcdir"/tests/fixtures/rules/*.cases; do
	awk -v to="cases/$(basename "$file" .cases)" '
	/^(break|keep)/ { close(out); out = to "-" sprintf("%03d", ++n) ".ndjson"; next }
	/^\{/ && out { print >out }' "$file"
done
brief=1
cksum cases/*.ndjson | sort -u -k 1,2 | sed 's/^[^ ]* [^ ]* //' | sort |
	awk -v every="${STATES_EVERY:-15}" 'NR % every == 1 || every == 1' >list
while read -r file <&5; do
	recording "$(basename "$file" .ndjson)" "$file"
done 5<list
ok 'something was decided in many of them' [ "$taken" -ge 10 ]

tap_end
