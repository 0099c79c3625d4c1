# Time in a log is a claim: whose message passes a deadline, which times are believed, and whose
# deadline it is.
. "$srcdir/tests/tap.sh"

USER=ann
HOME=$tmp
export USER HOME
cd "$tmp" || exit 99

# ask AGENT ID CLOCK TIMEOUT [QUESTION]: on 2026-02-04; - for an agent without a name
ask() {
	name=
	[ "$1" = - ] || name="\"agentId\":\"$1\","
	printf '{"type":"request:ask-user","id":"%s","timestamp":"2026-02-04T%sZ",%s"payload":{"question":"%s","options":[],"timeout":%s}}\n' \
		"$2" "$3" "$name" "${5-Which one?}" "$4"
}

# note AGENT TIME: a log event
note() {
	name=
	[ "$1" = - ] || name="\"agentId\":\"$1\","
	notes=$((${notes-0} + 1))
	printf '{"type":"event:log","id":"n-%s","timestamp":"%s",%s"payload":{"level":"info","message":"hello"}}\n' \
		"$notes" "$2" "$name"
}

# notify TIME: of the orchestrator
notify() {
	printf '{"type":"notify:shutdown","id":"s-1","timestamp":"%s","payload":{"reason":"done","gracePeriod":1000}}\n' "$1"
}

# answer ID CLOCK
answer() {
	printf '{"type":"response:success","id":"a-%s","timestamp":"2026-02-04T%sZ","correlationId":"%s","payload":{"answer":"this","metadata":{"answeredAt":"2026-02-04T%sZ"}}}\n' \
		"$1" "$2" "$1" "$2"
}

# since TIME: milliseconds since 10:00 that day
since() {
	[ "$1" = null ] && echo null || echo $(($1 - 1770199200000))
}

# verdicts LOG [OPTION...]: ID VERDICT DEADLINE of all items, sorted
verdicts() {
	"$GAVEL" show inbox --all --format=json "$@" |
		sed 's/^{"id":"\([^"]*\)".*"deadline":\([^,]*\),"verdict":"\([^"]*\)".*/\1 \3 \2/' | sort |
		while read -r id verdict deadline; do echo "$id $verdict $(since "$deadline")"; done
}

# state LOG [OPTION...]
state() {
	"$GAVEL" show state --format=json "$@" | sed 's/.*"state":"\([^"]*\)".*/\1/'
}

# now LOG [OPTION...]: the recording's
now() {
	since "$("$GAVEL" show state --format=json "$@" | sed 's/.*"now":\([^,}]*\).*/\1/')"
}

# screen LOG: what a newly opened UI shows
screen() {
	: >keys
	"$GAVEL" --headless --size=120x24 --keys=keys --screen=screen "$@" >/dev/null 2>&1
	cat screen
}

# ---- one line must not expire what others have asked ----

{ ask dev q-1 10:00:00 600000; note evil 2099-01-01T00:00:00Z; } >log
is 'a time far ahead expires nothing of others' 'q-1 none 600000' "$(verdicts log)"
is 'nor is it now' 0 "$(now log)"
is 'the screen shows it as open' 1 "$(screen log | grep -c ' 1 open ')"
is 'and not as expired' 0 "$(screen log | grep -c expired)"
ok 'the question can be answered' "$GAVEL" decide log q-1 answer --answer=this --deliver
is 'and is' 'q-1 answered 600000' "$(verdicts log)"

# ---- a deadline belongs to the raise that set it ----

{ ask evil q-7 10:00:00 1 'Mine?'; note evil 2026-02-04T10:00:01Z; ask victim q-7 10:01:00 300000 'Yours?'; } >sticky
is 'the deadline of an earlier question with that id does not stick' 1 \
	"$(verdicts sticky | grep -c 'q-7 none 360000')"
{ ask dev q-7 10:00:00 1; ask dev q-7 10:01:00 300000; } >again
is 'nor does that of the first try' 'q-7 none 360000' "$(verdicts again)"
is 'as of the first try it is that one' 'q-7 none 1' "$(verdicts again --at='#1')"
ok 'the second try can be answered' "$GAVEL" decide again q-7 answer --answer=this --deliver
{ ask dev q-7 10:00:00 60000; ask dev q-7 10:02:00 60000; } >same
is 'asked again in the same words after it expired' 'q-7 none 180000' "$(verdicts same)"

# ---- expiry in a recording is a step ----

{ ask dev q-1 10:00:00 60000; ask other q-2 10:00:00 60000; note dev 2026-02-04T10:01:01Z; } >steps
is 'a message of who asked, past the deadline' 'q-1 expired 60000
q-2 none 60000' "$(verdicts steps)"
is 'is a step of its history' 1 "$("$GAVEL" show item q-1 steps --format=json |
	grep -c '"history":\[{"what":"raised".*},{"what":"expired","at":{"line":3,')"
is 'before that message it is open' 'q-1 none 60000
q-2 none 60000' "$(verdicts steps --at='#2')"
notify 2026-02-04T10:02:00Z >>steps
answer q-2 10:02:01 >>steps
is 'the orchestrator, too; an answer after that is late' 'q-1 expired 60000
q-2 expired 60000' "$(verdicts steps)"
is 'which check tells of each' 2 "$("$GAVEL" check steps | grep -c 'has had no response in time')"
{ ask - q-1 10:00:00 60000; note other 2026-02-04T10:01:01Z; } >nameless
is 'where nobody is named, any message' 'q-1 expired 60000' "$(verdicts nameless)"

# ---- the time of a recording ----

{ ask dev q-1 10:00:00 600000; note dev 2026-02-04T13:00:00Z; } >jump
is 'one message does not make hours pass' 0 "$(now jump)"
is 'it is past the deadline of what its sender asked, though' 'q-1 expired 600000' "$(verdicts jump)"
note dev 2026-02-04T12:59:00Z >>jump
is 'a second one does' 10800000 "$(now jump)"
is 'as of the first it still has not' 0 "$(now jump --at='#2')"
ahead=$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)
{ ask dev q-1 10:00:00 600000; note dev "$ahead"; note dev "$ahead"; } >ahead
is 'nobody makes it later than the clock' 0 "$(now ahead)"

{ ask dev q-1 10:00:00 600000; ask other q-2 14:00:00 600000; } >gap
is 'the newest message is alone with its time' 0 "$(now gap)"
ok 'what it asks is answered' "$GAVEL" decide gap q-2 answer --answer=this --deliver
ok 'not before it was asked' grep -q '"timestamp":"2026-02-04T14:00:00.001Z"' gap.replies.ndjson

# ---- however it is read ----

n=0
while [ $n -lt 300 ]; do
	n=$((n + 1))
	clock=10:$(printf %02d $((n / 60))):$(printf %02d $((n % 60)))
	ask "a$((n % 7))" "q-$((n % 50))" "$clock" $((n * 37 % 20000)) "Which $((n % 5))?"
	note "a$((n % 5))" "2026-02-04T${clock}Z"
	[ $((n % 9)) != 0 ] || answer "q-$((n % 50))" "$clock"
done >many
is 'some have expired' 1 "$(($(verdicts many | grep -c ' expired ') > 5))"
wanted=$(state many --no-cache)
for threads in 1 2 8; do
	is "with $threads threads" "$wanted" "$(state many --no-cache --threads="$threads")"
done
mkdir part
for k in 17 211 400; do
	head -n "$k" many >part/many
	is "as of message $k it is the log up to there" "$(state part/many --no-cache)" \
		"$(state many --no-cache --at="#$k")"
done
tell() {
	GAVEL_CACHE_MIN=1 GAVEL_CACHE_TELL=1 "$GAVEL" show state --format=json "$@" 2>&1 >cached | cat >told
	sed 's/.*"state":"\([^"]*\)".*/\1/' cached
}
is 'the cache is written' "$wanted" "$(tell many)"
is 'and read' "$wanted" "$(tell many)"

# ---- live ----

# A question of a minute ago, and one of now that is not over yet.
stamp() {
	date -u -d "$1" +%Y-%m-%dT%H:%M:%SZ
}
request() { # ID TIME TIMEOUT
	printf '{"type":"request:ask-user","id":"%s","timestamp":"%s","agentId":"a-%s","payload":{"question":"Now?","options":[],"timeout":%s}}\n' \
		"$1" "$2" "$1" "$3"
}
{ request old "$(stamp '-1 minute')" 1000; request new "$(stamp now)" 3600000; } >live
mkfifo output
timeout 20 "$GAVEL" show inbox --follow --all --format=json live >output 2>/dev/null &
follower=$!
exec 4<output
IFS= read -r first <&4
IFS= read -r second <&4
exec 4<&-
kill "$follower"
wait "$follower" 2>/dev/null
is 'a log that is being written expires by the clock' 'new none
old expired' "$(printf '%s\n%s\n' "$first" "$second" | sed 's/^{"id":"\([^"]*\)".*"verdict":"\([^"]*\)".*/\1 \2/' | sort)"
is 'which is shown and no more' 'new none old none' \
	"$(verdicts live | sed 's/ [^ ]*$//' | tr '\n' ' ' | sed 's/ $//')"

tap_end
