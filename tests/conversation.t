# Both sides of whole conversations: tests/tools/play speaks for the agents, a made-up person decides
# with gavel, and books are kept of what has to be shown. After every turn the inbox is compared with
# the books, and the state with that of every other way to open the same files. PLAY_SEEDS, PLAY_TURNS
# and PLAY_DIALECTS play more, or less; PLAY_KEEP is a folder for the files.
. "$srcdir/tests/tap.sh"
slow 'conversations'

TURNS=${PLAY_TURNS:-6}
SEEDS=${PLAY_SEEDS:-1 2 3 4 5 6}
DIALECTS=${PLAY_DIALECTS:-feedback collaboration handoff envelope orchestrator}
USER=ann
HOME=$tmp
export USER HOME
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99

# value NAME: of each JSON line, "null" without quotes
value() {
	sed "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/; s/\"//g"
}

# ---- the people ----

# gavel_of PERSON COMMAND ARGUMENT...: with the journals of that person
gavel_of() {
	person=$1
	command=$2
	shift 2
	"$GAVEL" "$command" --journal="$tmp/journals-$person" "$@"
}

# choose SEED: of the open items, some verbs to say: ID VERB KIND SESSION
choose() {
	most=3
	[ "$dialect" != envelope ] || most=1 # an output answers one input, and does not say which
	gavel_of "$who" show inbox --format=json "$log" | awk -v x="$1" -v books="$books" -v prompt="$prompt" \
		-v last="$(wc -l <"$log")" -v most="$most" '
	function below(n) { x = (x * 16807) % 2147483647; return int(x / 7) % n }
	function text(name) {
		if (!match($0, "\"" name "\":\"[^\"]*\"")) return "null"
		return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
	}
	BEGIN {
		x = x * 7919 + 17; below(2); below(2)
		while ((getline line < books) > 0) {
			split(line, w, " ")
			if (w[1] == "raise") at[w[3]] = w[6]
		}
	}
	{
		id = text("id")
		match($0, /"verbs":\[[^]]*\]/)
		verbs = substr($0, RSTART + 9, RLENGTH - 10)
		gsub(/"/, "", verbs)
		n = split(verbs, verb, ",")
		roll = below(100); pick = below(n) + 1
		if (verb[pick] ~ /escalate|dismiss/) pick = below(n) + 1
		if (prompt && at[id] != last) next
		if (n && roll < 75 && chosen++ < most) print id, verb[pick], text("kind"), text("session")
	}'
}

# words_for VERB KIND: the options that it needs, one a line
words_for() {
	case $1 in
	answer) echo '--answer=one' ;;
	reject | partial) echo "--explain=Not.so.in.turn.$turn" ;;
	escalate) printf '%s\n' '--explain=Beyond.me.' "--escalate-to=$tmp/$name.queue" ;;
	esac
	case $2 in
	improvement) echo "--artifact=$tmp/$name.md" ;;
	esac
}

# one_by_one: each decision is sent at once; else all together. A feedback turn has one Request.
one_by_one() {
	[ $((seed % 2)) = 1 ] && [ "$dialect" != feedback ]
}

# decide_one ID VERB KIND SESSION: 0 = staged or sent
decide_one() {
	set -- "$1" "$2" --format=json --as="$who" $(words_for "$2" "$3") "$log" "$1" "$2"
	shift 2
	one_by_one && set -- --deliver "$@"
	gavel_of "$who" decide "$@" >>"$name.out" 2>"$name.err"
}

# enter_books: what was decided, by the list $name.said
enter_books() {
	while read -r id verb kind session; do
		case $verb in
		dismiss) echo "told $verb $id $who" ;;
		*) echo "said $verb $id $who" ;;
		esac
	done <"$name.said" >>"$books"
	[ "$dialect" = feedback ] || return 0
	# a Request was written: what it leaves out is overtaken
	awk '$2 != "escalate" && $2 != "dismiss" { print "overtake " ($4 ~ /^ses_/ ? $4 : "-") }' \
		"$name.said" | sort -u >>"$books"
}

# by_keys: the same in the terminal UI, all in one go
by_keys() {
	gavel_of "$who" show inbox --format=json "$log" |
		sed 's/^{"id":"\([^"]*\)".*"session":"\([^"]*\)".*/\1 \2/' >"$name.rows"
	while read -r id verb kind session; do
		case $verb in
		accept) keys=a ;;
		reject) keys="xNot.so.in.turn.$turn<Enter>" ;;
		partial) keys="pNot.so.in.turn.$turn<Enter>" ;;
		answer) keys='=one<Enter>' ;;
		escalate) keys='eBeyond.me.<Enter>' ;;
		dismiss) keys=D ;;
		esac
		echo ":$(grep -nxF "$id $session" "$name.rows" | cut -d: -f1)<Enter>$keys"
	done <"$name.chosen" >"$name.keys"
	echo '$<wait:400>Gyy<wait:400>' >>"$name.keys"
	gavel_of "$who" "$log" --headless --no-follow --size=120x36 --keys="$name.keys" --screen="$name.screen" \
		--as="$who" --artifact="$tmp/$name.md" --escalate-to="$tmp/$name.queue" >"$name.out" 2>&1 ||
		{ cat "$name.out"; return 1; }
	cp "$name.chosen" "$name.said"
	enter_books
}

# decisions: $who decides some of what is open
decisions() {
	choose "$((seed * 100 + turn))" >"$name.chosen"
	: >"$name.said"
	echo "Version of turn $turn." >"$name.md"
	[ -s "$name.chosen" ] || return 0
	[ -z "$hands" ] || { by_keys; return; }
	while read -r id verb kind session; do
		if decide_one "$id" "$verb" "$kind" "$session"; then
			echo "$id $verb $kind $session" >>"$name.said"
		elif [ -n "$pair" ] && grep -q 'not clear which input' "$name.out"; then
			: >"$name.out" # what another person put in lies between
		else
			echo "$verb $id: $(tail -n 1 "$name.out") $(cat "$name.err")"
			return 1
		fi
	done <"$name.chosen"
	[ -s "$name.said" ] || return 0
	one_by_one || gavel_of "$who" decide --as="$who" --deliver --escalate-to="$tmp/$name.queue" "$log" \
		>"$name.out" 2>&1 || { cat "$name.out"; return 1; }
	enter_books
}

# ---- what is compared ----

# unclear PERSON: the lines of outputs of which that person is told that they may answer several inputs.
# An output envelope does not name its input, and another person's journal has the order.
unclear() {
	[ "$dialect" = envelope ] && [ "$1" != ann ] || return 0
	gavel_of "$1" check "$log" | sed -n "s/^$log:\([0-9]*\): .*\[envelope\/output-ambiguous\].*/\1/p" | tr '\n' ' '
}

# as_booked [PERSON]: the inbox shows what the books say. Who decided stands in messages of two
# protocols; in the others only the journal of that person tells.
as_booked() {
	viewer=${1:-ann}
	"$PLAY" items "$books" >"$name.wanted"
	gavel_of "$viewer" show inbox --all --format=json "$log" >"$name.json" || return 1
	awk -v viewer="$viewer" -v unclear=" $(unclear "$viewer")" -v named="$(case $dialect in collaboration | handoff) echo 1 ;; esac)" '
	function text(name) {
		if (!match($0, "\"" name "\":(\"[^\"]*\"|null)")) return "-"
		found = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
		gsub(/"/, "", found)
		return found == "null" ? "-" : found
	}
	NR == FNR {
		if (index(unclear, " " substr($1, index($1, "@") + 1) " ")) { hidden[$1] = 1; next }
		if ($4 ~ /^(ann|bob)$/ && $4 != viewer) {
			# what was only noted or queued, nobody else knows
			if ($5 == "recorded" || ($3 == "escalated" && !named)) { hidden[$1] = 1; next }
			if (!named) $4 = "*"
		}
		wanted[$1] = $2 " " $3 " " $4 " " $5
		by[$1] = $4
		next
	}
	hidden[text("id")] { next }
	{
		who = by[text("id")] == "*" ? "*" : text("by")
		got = text("kind") " " text("verdict") " " who " " text("delivery")
		if (got != wanted[text("id")]) {
			print text("id") ": wanted " wanted[text("id")] ", got " got
			wrong = 1
		}
		delete wanted[text("id")]
	}
	END {
		for (id in wanted) { print id ": not shown, wanted " wanted[id]; wrong = 1 }
		exit wrong
	}' "$name.wanted" "$name.json"
}

# ledger_as_booked: the ledger says the same as the inbox, for what it has
ledger_as_booked() {
	gavel_of ann show ledger --format=json "$log" >"$name.ledger" || return 1
	gavel_of ann show inbox --all --format=json "$log" >"$name.json" || return 1
	for file in ledger json; do
		sed 's/^{"id":"\([^"]*\)".*"kind":"\([a-z]*\)".*"verdict":"\([a-z]*\)","by":\("[^"]*"\|null\),"delivery":"\([a-z]*\)".*/\1 \2 \3 \4 \5/' \
			"$name.$file" | sort >"$name.$file.rows"
	done
	grep -vxFf "$name.json.rows" "$name.ledger.rows"
	[ $? = 1 ]
}

# same_state WHAT ARGUMENT...: leads to $state, that of the arguments $first
same_state() {
	what=$1
	shift
	other=$(gavel_of ann show state "$@") || { echo "$what: exit code $?"; return 1; }
	[ "$other" = "$state" ] && return 0
	echo "$what: another state"
	for view in inbox ledger decisions messages; do
		all=
		[ $view != inbox ] || all=--all
		gavel_of ann show $view $all --format=json $first >"$name.one" 2>&1
		gavel_of ann show $view $all --format=json "$@" >"$name.two" 2>&1
		diff "$name.one" "$name.two" | cut -c 1-1000 | head -n 6
	done
	return 1
}

# as_first ARGUMENT...: what same_state compares with
as_first() {
	first="$*"
	state=$(gavel_of ann show state "$@")
}

# any_order: the log and its replies in every order, with any number of threads
any_order() {
	as_first "$log" || return 1
	same_state 'LOG LOG' "$log" "$log" || return 1
	set -- "$log".*replies.ndjson
	[ -e "$1" ] || return 0
	same_state 'LOG REPLIES' "$log" "$@" && same_state 'REPLIES LOG' "$@" "$log" &&
		same_state 'REPLIES LOG LOG REPLIES' "$@" "$log" "$log" "$@" || return 1
	for threads in 1 2 8; do
		same_state --threads=$threads --threads=$threads "$log" || return 1
	done
}

# cached: from the image of the turn before, and from one of this turn
cached() {
	as_first "$log" || return 1
	for image in old new; do
		# what writes the image outlives what prints: the end of its output is waited for
		other=$({ GAVEL_CACHE_MIN=1 GAVEL_CACHE_TELL=1 gavel_of ann show state "$log" 2>&1 >&3 |
			cat >"$name.told"; } 3>&1)
		[ "$other" = "$state" ] || { echo "$image image: another state"; cat "$name.told"; return 1; }
	done
}

# as_it_was: what was the newest state in each turn is still the one as of then
as_it_was() {
	awk 'NR > 1 && $2 != lines { print line } { line = $0; lines = $2 } END { print line }' "$name.states" >"$name.last"
	while read -r then lines state; do
		other=$(gavel_of ann show state --at="#$lines" "$log")
		[ "$other" = "$state" ] || { echo "turn $then, --at=#$lines: another state"; return 1; }
	done <"$name.last"
}

# rotated: replies to what is not in the log any more change nothing in the rest of it
rotated() {
	[ -e "$log.replies.ndjson" ] || return 0
	tail -n "$(($(wc -l <"$log") / 3))" "$log" >"rest-$log"
	cp "$log.replies.ndjson" "rest-$log.replies.ndjson"
	for file in "$log" "rest-$log"; do
		gavel_of nobody show inbox --all --format=json "$file" |
			sed 's/^{"id":"\([^"]*\)".*"verdict":"\([a-z]*\)".*/\1 \2/' | grep -v @ | sort >"$file.rows"
	done
	grep -vxFf "$log.rows" "rest-$log.rows"
	[ $? = 1 ]
}

# folders: copies in a folder, whatever their names, times and order
folders() {
	set -- "$log".*replies.ndjson
	[ -e "$1" ] || return 0
	rm -rf one two
	mkdir -m 755 one two
	cp "$log" "$@" one
	for file in "$@" "$log"; do
		cp "$file" "two/zz-$file"
	done
	touch -d 2026-01-01T00:00:00Z "two/zz-$log"
	touch -d 2026-01-02T00:00:00Z one/*replies*
	as_first --journal=nobodys one
	same_state 'another name' --journal=nobodys two || return 1
	as_first --journal=nobodys "one/$log"
	same_state 'all by name' --journal=nobodys one/* || return 1
	same_state 'folder and file' --journal=nobodys one
}

# without_journal: where each reply stands right behind what it answers, the messages tell all
without_journal() {
	as_first "$log" || return 1
	same_state 'no journal' --journal=nobodys "$log"
}

# verdicts_without_journal: anywhere else they tell at least what was decided
verdicts_without_journal() {
	for journal in "$tmp/journals-ann" nobodys; do
		"$GAVEL" show inbox --all --format=json --journal="$journal" "$log" |
			sed 's/^{"id":"\([^"]*\)".*"verdict":"\([a-z]*\)".*/\1 \2/' | sort >"$name.$(basename "$journal")"
	done
	# what was only noted or queued, no message tells
	sed -n 's/^\(told [a-z]*\|said escalate\) \([^ ]*\).*/\2/p' "$books" >"$name.quiet"
	case $dialect in
	collaboration | handoff) sed -n 's/^told [a-z]* \([^ ]*\).*/\1/p' "$books" >"$name.quiet" ;;
	esac
	diff "$name.journals-ann" "$name.nobodys" | grep '^[<>]' | grep -vFf "$name.quiet"
	[ $? = 1 ]
}

sound() {
	set -- "$log".*replies.ndjson
	[ -e "$1" ] || set --
	gavel_of ann check "$log" "$@" >"$name.check"
	! grep ': error: ' "$name.check"
}

sums() {
	cat "$log" "$log".*replies.ndjson "$name.queue" 2>/dev/null | cksum
}

# refused PERSON VERB: of the item $id, and nothing is written
refused() {
	gavel_of "$1" decide --format=json --as="$1" --deliver $(words_for "$2" "$kind") "$log" "$id" "$2" \
		>"$name.again" 2>&1
	code=$?
	[ $code = 1 ] && [ "$before" = "$(sums)" ] && return 0
	echo "$1, $2 after $verb $id: exit code $code"
	cat "$name.again"
	return 1
}

# said_again: the same decision is repeated, another one is refused; neither writes anything
said_again() {
	read -r id verb kind session <"$name.said" || return 0
	before=$(sums)
	gavel_of "$who" decide --format=json --as="$who" --deliver $(words_for "$verb" "$kind") "$log" "$id" "$verb" \
		>"$name.again" 2>&1 || { echo "$verb $id again: exit code $?"; cat "$name.again"; return 1; }
	grep -q '"repeated":true' "$name.again" || { echo 'not repeated'; cat "$name.again"; return 1; }
	[ "$before" = "$(sums)" ] || { echo "$verb $id again has written something"; return 1; }
	for other in accept reject answer dismiss; do
		[ $other = "$verb" ] || refused "$who" $other || return 1
	done
	case $verb in
	escalate | dismiss) return 0 ;; # others do not know
	esac
	[ "$who" = ann ] && them=bob || them=ann
	grep -q "^\(told [a-z]*\|said escalate\) $id $them" "$books" && return 0
	for other in accept reject answer dismiss; do
		[ $other = "$verb" ] || refused $them $other || return 1
	done
}

# corrected: the decision is taken back and another one sent, where the protocol can say so; once
corrected() {
	read -r id verb kind session <"$name.said" || return 0
	case $verb/$kind in
	*/question | */blocked | */verdict | escalate/* | dismiss/*) return 0 ;;
	reject/*) other=accept ;;
	*) other=reject ;;
	esac
	before=$(sums)
	for round in first second; do
		gavel_of ann decide --format=json --as=ann --deliver --correct $(words_for $other "$kind") "$log" "$id" $other \
			>"$name.again" 2>&1
		code=$?
		case $dialect in
		feedback | orchestrator)
			[ $code = 1 ] && [ "$before" = "$(sums)" ] && continue
			;;
		*)
			[ $round = second ] || { [ $code = 0 ] && [ "$before" != "$(sums)" ] &&
				echo "said $other $id ann" >>"$books" && before=$(sums) && continue; }
			[ $code = 0 ] && [ "$before" = "$(sums)" ] && grep -q '"repeated":true' "$name.again" && continue
			;;
		esac
		echo "$round time, $other after $verb $id: exit code $code"
		cat "$name.again"
		return 1
	done
	as_booked
}

# told_alike: text and JSON agree on what has become of each decision. Long ids are cut in text.
told_alike() {
	gavel_of ann show decisions --format=json "$log" |
		sed 's/.*"item":"\([^"]*\)".*"delivery":\("[a-z]*"\|null\).*/\1 \2/; s/"//g; s/null/-/' |
		awk '{ print substr($1, 1, 20), $2 }' | sort >"$name.json"
	gavel_of ann show decisions --size=400x2000 "$log" | awk '
	NR == 1 { next }
	{
		word = "-"
		if (match($0, /(acknowledged|bounced|recorded|staged|held|sent) +[a-z]+  /)) {
			word = substr($0, RSTART)
			sub(/ .*/, "", word)
		}
		sub(/^.* (improvement|error|finding|change|verdict|question|blocked|escalation|retry|task)  +/, "")
		print substr($1, 1, 20), word
	}' | sort >"$name.text"
	# of agents' decisions only the text says how they were answered
	grep -v ' -$' "$name.json" >"$name.json.said"
	awk 'NR == FNR { said[$1] = 1; next } $1 in said' "$name.json.said" "$name.text" >"$name.text.said"
	awk 'NR == FNR { said[$1] = said[$1] " " $2; next } { n[$1]++; if (index(said[$1], $2) == 0) { print; bad = 1 } } END { exit bad }' "$name.text.said" "$name.json.said"
}

# ---- the play ----

for dialect in $DIALECTS; do
	for seed in $SEEDS; do
		name=$dialect-$seed
		log=$name.ndjson
		books=$name.books
		# seeds 0, 1 and 2 modulo 3: what the last message raised is decided at once; two people; one
		prompt= pair= hands=
		# in seed 6 a person sits at the terminal; questions with a deadline have a page each there
		[ "$seed $dialect" = '6 orchestrator' ] || [ "$seed" != 6 ] || hands=1
		case $((seed % 3)) in
		0) prompt=1 ;;
		1) pair=1 ;;
		esac
		for turn in $(seq "$TURNS"); do
			at="$dialect, seed $seed, turn $turn"
			who=ann
			[ -z "$pair" ] || [ $((turn % 3)) != 0 ] || who=bob
			"$PLAY" "$dialect" "$seed" "$turn" "$log" "$books" || exit 99
			ok "$at: what the agents said is shown" as_booked
			ok "$at: $who decides" decisions
			ok "$at: what was decided is shown" as_booked
			# without ids, an output that comes again behind a person's input is another one
			[ -z "$pair" ] || [ "$dialect$((seed % 4))" = envelope0 ] ||
				ok "$at: to another person, too" as_booked bob
			ok "$at: the ledger agrees" ledger_as_booked
			ok "$at: the messages are sound" sound
			ok "$at: in any order, one state" any_order
			ok "$at: from the cache, too" cached
			[ -z "$prompt" ] || ok "$at: without a journal, the same state" without_journal
			# an output envelope does not say which input it is for: there, order is all
			[ -n "$prompt" ] || [ "$dialect" = envelope ] ||
				ok "$at: without a journal, the same verdicts" verdicts_without_journal
			ok "$at: once said, it stands" said_again
			[ -n "$prompt$pair" ] || ok "$at: unless it is corrected" corrected
			echo "$turn $(wc -l <"$log") $(gavel_of ann show state "$log")" >>"$name.states"
		done
		# a line of another person stands behind what it answers, and not where it came
		[ -n "$pair" ] || ok "$dialect, seed $seed: as it was in each turn" as_it_was
		[ "$dialect" = envelope ] || ok "$dialect, seed $seed: the end of the log alone" rotated
		ok "$dialect, seed $seed: folders" folders
		ok "$dialect, seed $seed: decisions in words and as JSON" told_alike
		[ -z "${PLAY_KEEP-}" ] || { mkdir -p "$PLAY_KEEP" && cp -r "$tmp/$name".* journals-* "$PLAY_KEEP"; }
	done
done

# ---- live ----

# Somebody follows the conversation: what comes is in the order in which it is read later.
PAIRS='s/.*"line":\([0-9]*\),"source":"\([^"]*\)".*/\2:\1/'

# follow_up: reads from the follower until it has printed all that was written
follow_up() {
	written=$(cat "$log" "$log".*replies.ndjson 2>/dev/null | wc -l)
	while [ "$printed" -lt "$written" ]; do
		IFS= read -r line <&4 || return 1
		echo "$line" >>"$name.live"
		printed=$((printed + 1))
	done
}

for dialect in $DIALECTS; do
	seed=2 prompt= pair= hands= who=ann
	name=live-$dialect
	log=$name.ndjson
	books=$name.books
	printed=0
	missing=
	: >"$log"
	mkfifo "$name.fifo"
	timeout 12 "$GAVEL" show messages --format=json --journal="$tmp/journals-ann" --follow "$log" >"$name.fifo" 2>"$name.errors" &
	follower=$!
	exec 4<"$name.fifo"
	for turn in 1 2 3; do
		"$PLAY" "$dialect" "$seed" "$turn" "$log" "$books" || exit 99
		follow_up || missing="the agents' in turn $turn"
		decisions >/dev/null
		follow_up || missing="the person's in turn $turn"
	done
	exec 4<&-
	kill "$follower" 2>/dev/null
	wait "$follower" 2>/dev/null
	is "live, $dialect: all is shown" '' "$missing"
	sed "$PAIRS" "$name.live" >"$name.came"
	gavel_of ann show messages --format=json "$log" | sed "$PAIRS" >"$name.read"
	ok "live, $dialect: in the order in which it is read again" diff "$name.came" "$name.read"
done

tap_end
