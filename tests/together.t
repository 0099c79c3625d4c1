# Several people decide at the same time, each with a journal of their own, on one log with one reply
# file: numbers are given once, nothing is decided twice, nothing is lost.
. "$srcdir/tests/tap.sh"
slow 'people who decide at the same time'

HOME=$tmp
USER=ann
export HOME USER
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99

PEOPLE='ann bob cid'
ITEMS=8

# message NUMBER FROM TO TYPE PAYLOAD, of the collaboration protocol
agent() {
	echo "{\"agent_id\":\"$1\",\"agent_type\":\"$1\"}"
}
message() {
	printf '{"message_id":"00000000-0000-4000-8000-%012d","timestamp":"2026-01-26T10:00:%02dZ","sequence_number":%d,"from_agent":%s,"to_agent":%s,"message_type":"%s","payload":{%s}}\n' \
		"$1" "$1" "$1" "$(agent "$2")" "$(agent "$3")" "$4" "$5"
}

# Each task has a review with one finding, so that each decision is a message with a number of its own.
collaboration_log() {
	for i in $(seq $ITEMS); do
		message $((3 * i - 2)) architect developer task_assignment "\"task\":{\"task_id\":\"T$i\",\"task_description\":\"d\",\"context\":{\"specs\":[],\"reference_files\":[]},\"constraints\":{\"scope\":[\"**\"],\"testing_required\":true,\"must_not_break\":[]},\"acceptance_criteria\":[]},\"priority\":\"low\""
		message $((3 * i - 1)) architect reviewer status_query "\"query_type\":\"task_status\",\"task_id\":\"T$i\""
		message $((3 * i)) reviewer architect review_result "\"review_id\":\"R$i\",\"task_id\":\"T$i\",\"verdict\":\"changes_requested\",\"findings\":[{\"finding_id\":\"f-$i\",\"severity\":\"minor\",\"category\":\"bug\",\"location\":{\"file\":\"a.c\"},\"description\":\"d\",\"rationale\":\"r\"}],\"verification\":{\"tests\":{\"passed\":true},\"type_check\":{\"passed\":true},\"custom\":{}},\"summary\":\"s\""
	done
}

orchestrator_log() {
	for i in $(seq $ITEMS); do
		printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-%012d","timestamp":"2026-02-04T14:30:00Z","agentId":"a-1","payload":{"question":"Which?","options":[],"timeout":600000}}\n' "$i"
	done
}

handoff_log() {
	for i in $(seq $ITEMS); do
		printf '{"task_id":"T%d","task_type":"content","priority":"low","context":{},"acceptance_criteria":["ok"],"created_at":"2026-03-02T09:05:%02dZ","status":"pending"}\n' "$i" "$i"
		printf '{"task_id":"T%d","status":"success","confidence_score":0.8,"output":{"type":"text","payload":{"text":"t"}},"traces":"t","artifacts":[],"created_at":"2026-03-02T09:05:%02dZ"}\n' "$i" $((i + ITEMS))
	done
}

feedback_log() {
	echo '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":"one"}}'
	printf '{"protocol_version":"1.2","iteration":1,"status":"success","feedback":{"confidence":{"level":"high","justification":"x"},"positive_points":[],"areas_for_improvement":['
	for i in $(seq $ITEMS); do
		printf '%s{"id":"improve-%d","aspect":"a","description":"d","recommendation":"r"}' "$([ "$i" = 1 ] || echo ,)" "$i"
	done
	echo '],"general_summary":"s"}}'
}

# ids of open items in the order of that person: everybody begins elsewhere. Where 3 divides their number,
# some are there twice.
ids() {
	"$GAVEL" show inbox --format=json --journal="$1" "$log" | sed 's/^{"id":"\([^"]*\)".*/\1/' |
		awk -v from="$2" '{ id[NR] = $0 } END { for (i = 0; i < NR; i++) print id[(i * 3 + from) % NR + 1] }'
}

# person NAME VERB...: decides all items of their list, each with the next of the verbs
person() {
	name=$1
	shift
	while read -r id; do
		"$GAVEL" decide --journal="$name" --as="$name" --format=json --deliver --explain="By.$name." \
			$(case $1 in answer) echo "--answer=$name" ;; esac) --artifact=artifact.md "$log" "$id" "$1" >>"$name.out" 2>>"$name.err"
		echo "$? $id $1" >>"$name.codes"
		verb=$1
		shift
		set -- "$@" "$verb"
	done <"$name.ids"
}

# all_decide VERB...: everybody at once, when all have listed all items
all_decide() {
	rm -f ./*.out ./*.err ./*.codes
	echo two >artifact.md
	from=0
	for one in $PEOPLE; do
		ids $one $((from * 2)) >$one.ids
		from=$((from + 1))
	done
	for one in $PEOPLE; do
		person $one "$@" &
		first=$1
		shift
		set -- "$@" "$first"
	done
	wait
}

# each decision was taken (0) or refused (1); nothing is held or left staged
outcomes() {
	! cat ./*.codes | grep -v '^[01] ' || { cat ./*.err; return 1; }
	! grep -h '"delivery":"\(held\|staged\)"' ./*.out
}

# as many are taken as there are items, each by one person
taken_once() {
	cat ./*.codes | sed -n 's/^0 \([^ ]*\) .*/\1/p' | sort >taken
	ids nobody 0 | sort >left
	[ ! -s left ] || { echo 'still open:'; cat left; return 1; }
	[ "$(sort -u taken | wc -l)" = "$ITEMS" ] && [ "$(wc -l <taken)" = "$ITEMS" ] && return 0
	cat taken ./*.out ./*.err
	return 1
}

numbers() {
	sed -n 's/.*"sequence_number":\([0-9]*\).*/\1/p' "$log.replies.ndjson" | sort -n >numbers
	first=$((3 * ITEMS + 1))
	seq $first $((first + $(wc -l <"$log.replies.ndjson") - 1)) | diff - numbers
}

# once NAME: each value of that member of a line is there once
once() {
	sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$log.replies.ndjson" | sort | uniq -d >twice
	[ ! -s twice ] || { cat twice; return 1; }
}

sound() {
	"$GAVEL" check --journal=nobody "$log" >check.out
	! grep ': error: ' check.out
}

# everybody sees the same, with any journal
one_truth() {
	for one in $PEOPLE nobody; do
		"$GAVEL" show inbox --all --format=json --journal=$one "$log" |
			sed 's/^{"id":"\([^"]*\)".*"verdict":"\([a-z]*\)".*/\1 \2/' | sort >verdicts.$one
		diff verdicts.ann verdicts.$one || return 1
	done
}

for round in 1 2 3; do
	log=collaboration$round.ndjson
	collaboration_log >$log
	all_decide accept reject partial
	ok "collaboration $round: each was decided or refused" outcomes
	ok "collaboration $round: each once" taken_once
	ok "collaboration $round: sequence numbers" numbers
	ok "collaboration $round: task ids" once task_id
	ok "collaboration $round: messages are sound" sound
	ok "collaboration $round: one truth" one_truth

	log=orchestrator$round.ndjson
	orchestrator_log >$log
	all_decide answer
	ok "orchestrator $round: each was answered or refused" outcomes
	ok "orchestrator $round: each once" taken_once
	ok "orchestrator $round: no request has two answers" once correlationId
	ok "orchestrator $round: messages are sound" sound

	log=handoff$round.ndjson
	handoff_log >$log
	all_decide accept reject
	ok "handoff $round: each was decided or refused" outcomes
	ok "handoff $round: each once" taken_once
	ok "handoff $round: one Decision a task" once task_id
	ok "handoff $round: messages are sound" sound
	ok "handoff $round: one truth" one_truth

	log=feedback$round.ndjson
	feedback_log >$log
	all_decide reject accept
	ok "feedback $round: each was decided or refused" outcomes
	is "feedback $round: one Request" 1 "$(wc -l <$log.replies.ndjson)"
	ok "feedback $round: messages are sound" sound
	ok "feedback $round: one truth" one_truth
done

tap_end
