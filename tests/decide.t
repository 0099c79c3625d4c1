# gavel decide and gavel journal from the outside: every verb of every item of the demo, what is refused
# and why, files, folders and FIFOs, held and resent messages, escalation over two queues, journals that
# are locked, damaged, linked or full.
. "$srcdir/tests/tap.sh"
slow 'decisions from scripts'

demo=$GAVEL_DATADIR/demo.ndjson
unset VISUAL EDITOR
USER=ann
HOME=$tmp
XDG_CONFIG_HOME=$tmp
export USER HOME XDG_CONFIG_HOME
umask 022
cd "$tmp" || exit 99
trap 'umount "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT

# ---- what one does again and again ----

# exit_of CODE WORD...: runs the words; their output is then in out and err
exit_of() {
	wanted=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat "$tmp/out" "$tmp/err"; return 1; }
}

# said TEXT: the last exit_of printed it
said() {
	cat "$tmp/out" "$tmp/err" | grep -qF -- "$1" && return 0
	echo "not said: $1"
	cat "$tmp/out" "$tmp/err"
	return 1
}

# refuses NAME SENTENCE WORD...: decide ends with 1 and says why
refuses() {
	refused=$1
	sentence=$2
	shift 2
	ok "$refused: exit code 1" exit_of 1 "$GAVEL" decide "$@"
	ok "$refused: says why" said "$sentence"
}

# fresh: a copy of the demo that nothing was decided about; $log, $replies
copies=0
fresh() {
	copies=$((copies + 1))
	log=log$copies.ndjson
	replies=$log.replies.ndjson
	cp "$demo" "$log"
}

# journal_of LOG: its journal's folder
journal_of() {
	for folder in "$XDG_STATE_HOME"/gavel/*; do
		grep -qF "/$1\"" "$folder/journal-000001" && echo "$folder" && return
	done
}

field() { # NAME, of the last JSON line printed
	tail -n 1 "$tmp/out" | grep -o "\"$1\":[^,}]*" | head -n 1 | sed 's/^[^:]*://; s/^"//; s/"$//'
}

keys() { # of the last JSON line printed
	tail -n 1 "$tmp/out" | grep -o '"[a-z]*":' | tr -d '":' | paste -sd ' '
}

# check_replies LOG: what is wrong with the replies to it, notes aside
check_replies() {
	"$GAVEL" check --strict "$1" "$1".*replies.ndjson |
		grep -E '^[^:]*replies[^:]*:[0-9]+: (error|warning)'
}

# first DIALECT KIND: an open item of the demo
"$GAVEL" show inbox --format=json "$demo" >inbox || exit 99
first() {
	sed -n "s/^{\"id\":\"\([^\"]*\)\",\"dialect\":\"$1\",\"kind\":\"$2\".*/\1/p" inbox | head -n 1
}
question=$(first orchestrator question)
handoff=$(first handoff escalation)
envelope=$(first envelope escalation)
improvement=$(first feedback improvement)
finding=review-PK-3/F-2
printf '# The plan\n\nNow with a recovery flow.\n' >plan.md

# ---- every item, every verb ----

is 'open items of the demo' 22 "$(wc -l <inbox)"

# verb_of ID VERB: decided, delivered, right by its protocol, and only once
verb_of() {
	fresh
	set -- "$1" "$2" --format=json --deliver --escalate-to="queue$copies.ndjson" "$log" "$1" "$2"
	id=$1
	verb=$2
	shift 2
	case $verb in
	answer) set -- --answer='5' "$@" ;;
	reject | partial) set -- --explain='Not "so"; see \ above.' "$@" ;;
	esac
	case $id in
	*-[01][0-9]) set -- --artifact=plan.md "$@" ;;
	esac
	exit_of 0 "$GAVEL" decide "$@" || return 1
	[ "$(wc -l <out)" = 1 ] || { echo 'not one line'; cat out; return 1; }
	wanted='item verb delivery to bytes repeated missing addressee letter'
	[ "$(keys)" = "$wanted" ] || { echo "other fields: $(keys)"; return 1; }
	[ "$(field item) $(field verb)" = "$id $verb" ] || { echo 'another item or verb'; return 1; }
	case $verb in
	dismiss)
		[ "$(field delivery) $(field to) $(field bytes)" = 'recorded null 0' ] || { cat out; return 1; }
		ls "$log".*replies* "queue$copies.ndjson" 2>/dev/null && return 1
		;;
	*)
		[ "$(field delivery)" = sent ] || { cat out; return 1; }
		[ -s "$(field to)" ] || { echo "nothing in $(field to)"; return 1; }
		;;
	esac
	grep -q '"repeated":false,"missing":\[\],' out || { cat out; return 1; }
	wrong=$(check_replies "$log")
	[ -z "$wrong" ] || { echo "$wrong"; return 1; }
	cat "$log".*replies* "queue$copies.ndjson" >before 2>/dev/null
	[ ! -e "queue$copies.ndjson" ] || "$GAVEL" check --strict "queue$copies.ndjson" || return 1
	exit_of 0 "$GAVEL" decide "$@" || return 1
	grep -q '"repeated":true,"missing":\[\],' out || { echo 'not told as repeated'; cat out; return 1; }
	cat "$log".*replies* "queue$copies.ndjson" >after 2>/dev/null
	cmp before after || return 1
	"$GAVEL" show inbox --format=json "$log" >rest
	[ "$(grep -cF "{\"id\":\"$id\"" rest)" = 0 ] || { echo 'still open'; return 1; }
	[ "$(wc -l <rest)" -ge 18 ] || { echo 'others were closed too'; return 1; }
}

while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed 's/^{"id":"\([^"]*\)".*/\1/')
	for verb in $(printf '%s\n' "$line" | sed 's/.*"verbs":\[\([^]]*\)\].*/\1/; s/[",]/ /g'); do
		# this one has no findings to ask changes for: refused below
		[ "$id $verb" = 'review-PK-4 partial' ] || ok "$id: $verb" verb_of "$id" "$verb"
	done
done <inbox
ok 'that was every verb' [ "$copies" -ge 70 ]

# ---- staging, and delivering later ----

fresh
ok 'staged' exit_of 0 "$GAVEL" decide --format=json "$log" "$finding" accept
is 'it says so' 'staged false' "$(field delivery) $(field repeated)"
ok 'nothing is written yet' [ ! -e "$replies" ]
ok 'in words' exit_of 0 "$GAVEL" decide "$log" "$handoff" accept
ok 'they say how to send it' said "$handoff: accept, staged; gavel decide $log --deliver sends it"
ok 'staged again' exit_of 0 "$GAVEL" decide --format=json "$log" "$finding" accept
is 'it is the same' 'staged true' "$(field delivery) $(field repeated)"
ok 'another verb takes its place' exit_of 0 "$GAVEL" decide --format=json --explain='Too late for that.' "$log" "$finding" reject
is 'also staged' 'staged reject' "$(field delivery) $(field verb)"
"$GAVEL" journal list --format=json >listed
is 'the first one is void' 1 "$(grep -F "/$log\"" listed | grep -c '"delivery":"void"')"
ok 'everything staged is delivered' exit_of 0 "$GAVEL" decide --format=json --deliver "$log"
is 'both' "$finding $handoff" "$(sed -n 's/^{"item":"\([^"]*\)".*"delivery":"sent".*/\1/p' out | sort | paste -sd ' ' | awk '{ print ($1 ~ /^review/) ? $1 " " $2 : $2 " " $1 }')"
is 'two messages' 2 "$(wc -l <"$replies")"
ok 'right by their protocols' [ -z "$(check_replies "$log")" ]
cp "$replies" before
ok 'once more there is nothing' exit_of 0 "$GAVEL" decide --deliver "$log"
ok 'it says so' said 'nothing is staged'
ok 'and nothing is written' cmp before "$replies"

fresh
for id in review-PK-3/F-1 review-PK-3/C-1 "$finding"; do
	"$GAVEL" decide "$log" "$id" accept >/dev/null
done
ok 'three findings of one review' exit_of 0 "$GAVEL" decide --format=json --deliver "$log"
is 'go out in one message' '3 1' "$(grep -c '"delivery":"sent"' out) $(wc -l <"$replies")"
is 'which all name' 1 "$(sed -n 's/.*"letter":"\([^"]*\)".*/\1/p' out | sort -u | wc -l)"

# ---- what is refused ----

fresh
ok 'no verb: exit code 2' exit_of 2 "$GAVEL" decide "$log" "$finding"
ok 'no item: exit code 2' exit_of 2 "$GAVEL" decide "$log"
ok 'no such verb: exit code 2' exit_of 2 "$GAVEL" decide "$log" "$finding" approve
ok 'it names those there are' said 'gavel: no verb approve; there are accept, always, partial, reject, stop, answer, dismiss and escalate'
ok 'defer: exit code 2' exit_of 2 "$GAVEL" decide "$log" "$finding" defer
ok 'it says what defer is' said 'defer only snoozes an item in the terminal UI'
ok 'no such log: exit code 2' exit_of 2 "$GAVEL" decide nowhere.ndjson "$finding" accept
refuses 'no such item' 'gavel: no item nobody; gavel show inbox --all lists them' "$log" nobody accept
refuses 'an id that begins two' 'items are named review-PK; write more of it' "$log" review-PK accept
refuses 'a verb the protocol has not' "$finding: can't answer this item; available: accept, partial, reject, escalate" --answer=yes "$log" "$finding" answer
refuses 'a rejection without a reason' 'a rejection needs a reason code or an explanation' "$log" "$finding" reject
refuses 'a rejection with a blank one' 'a rejection needs a reason code or an explanation' --explain='  ' "$log" "$finding" reject
refuses 'in part without an explanation' 'accepting in part needs an explanation' --reason-code=out_of_scope "$log" "$finding" partial
refuses 'an answer without its text' 'an answer needs its text' "$log" "$question" answer
refuses 'another rev' 'it has changed since it was shown; look at it again' --rev=sha256:0000 "$log" "$finding" accept
refuses 'what is decided already' 'already decided: accepted by' "$log" "$("$GAVEL" show inbox --all --format=json "$log" | sed -n 's/^{"id":"\([^"]*\)".*"verdict":"accepted".*/\1/p' | head -n 1)" accept
ok 'as JSON too' exit_of 1 "$GAVEL" decide --format=json "$log" "$finding" reject
is 'in the same fields' '{"item":"'"$finding"'","verb":"reject","delivery":"none","to":null,"bytes":0,"repeated":false,"missing":["a rejection needs a reason code or an explanation"],"addressee":null,"letter":null}' "$(cat out)"
ok 'of all this nothing is staged' [ -z "$(journal_of "$log")" ]
ok 'nor written' [ ! -e "$replies" ]
rev=$(grep -F "\"$finding\"" inbox | sed 's/.*"rev":"\([^"]*\)".*/\1/')
ok 'its own rev is taken' exit_of 0 "$GAVEL" decide --rev="$rev" "$log" "$finding" accept

fresh
refuses 'a verdict in part without findings' 'changes are requested by findings, and this review has none' --deliver --explain=Half. "$log" review-PK-4 partial
ok 'nothing is written' [ ! -e "$replies" ]
fresh
refuses 'accepted, but the artifact is the same' 'give it with --artifact FILE' --deliver "$log" "$improvement" accept
ok 'nothing is written' [ ! -e "$replies" ]
refuses 'an artifact that is not there' 'nowhere.md' --deliver --artifact=nowhere.md "$log" "$improvement" accept
fresh
refuses 'an escalation without a queue' '--escalate-to' --deliver "$log" "$question" escalate
# a response whose request was never seen has no artifact to go on with
grep -F 'areas_for_improvement' "$demo" | head -n 1 >alone.ndjson
id=$("$GAVEL" show inbox --format=json alone.ndjson | sed -n 's/^{"id":"\([^"]*\)","dialect":"feedback","kind":"improvement".*/\1/p' | head -n 1)
refuses 'no artifact at all' 'artifact' --deliver --explain=No. alone.ndjson "$id" reject
sed 's/\\"iteration\\":1,/\\"iteration\\":4294967296,/' alone.ndjson >beyond.ndjson
refuses 'an iteration too high' "$id: its iteration is above 4294967295, where iterations cannot be told apart; it cannot be decided" --explain=No. beyond.ndjson "$id" reject

# What cannot be read in one way only is not decided.
grep -F "\"id\":\"$question\"" "$demo" >asked
sed 's/^{/{"id":"00000000-0000-4000-8000-000000000000",/' asked >twice.ndjson
sed 's/"question":"/"question":"Delete it all?","question":"/' asked >twice-inside.ndjson
awk -v bad="$(printf '\377')" '{ sub(/"id":"./, "\"id\":\"" bad); print }' asked >damaged.ndjson
grep -F '"finding_id":"F-1"' "$demo" | grep -F '"review_id":"review-PK-3"' |
	sed 's/"finding_id":"F-1"/"finding_id":"F-0","finding_id":"F-1"/' >finding.ndjson
for name in twice twice-inside damaged finding; do
	"$GAVEL" show inbox --format=json $name.ndjson >broken
	id=$(sed -n '1s/^{"id":"\([^"]*\)".*/\1/p' broken)
	ok "$name: it is shown" [ -n "$id" ]
	is "$name: without verbs" 0 "$(grep -vc '"verbs":\[\]' broken)"
	for verb in accept reject answer escalate; do
		refuses "$name: $verb" 'its message is ambiguous or damaged; it cannot be decided' --deliver --explain=x --answer=x --escalate-to=queue.ndjson $name.ndjson "$id" $verb
	done
	ok "$name: nothing is written" [ ! -e $name.ndjson.replies.ndjson ]
done
ok 'nor to the queue' [ ! -e queue.ndjson ]

# ---- the artifact ----

fresh
ok 'an attached artifact' exit_of 0 "$GAVEL" decide --format=json --deliver --artifact=plan.md "$log" "$improvement" accept
to=$(field to)
hash=$(sha256sum plan.md 2>/dev/null | cut -d' ' -f1)
if [ -n "$hash" ]; then
	is 'is named by its hash' "\"artifact_ref\":\"sha256:$hash\"" "$(grep -o '"artifact_ref":"[^"]*"' "$to")"
else
	skip 'is named by its hash' 'there is no sha256sum'
fi
is 'has its type' '"media_type":"text/markdown"' "$(grep -o '"media_type":"[^"]*"' "$to")"
is 'and is all there' 1 "$(grep -cF '# The plan\n\nNow with a recovery flow.\n' "$to")"
if git --version >/dev/null 2>&1; then
	mkdir repo
	cp plan.md repo
	(cd repo && git init -q && git add plan.md &&
		git -c user.name=ann -c user.email=ann@example.org commit -qm plan) >/dev/null 2>&1
	commit=$(git -C repo rev-parse HEAD)
	fresh
	ok 'from a repository' exit_of 0 "$GAVEL" decide --format=json --deliver --artifact=repo/plan.md "$log" "$improvement" accept
	ok 'it is named by its commit' grep -qF "$commit" "$(field to)"
	echo more >>repo/plan.md
	fresh
	"$GAVEL" decide --format=json --deliver --artifact=repo/plan.md "$log" "$improvement" accept >out
	ok 'not when it was changed since' sh -c 'grep -q "\"artifact_ref\":\"sha256:" "$1"' sh "$(field to)"
else
	skip 'an artifact in a repository' 'there is no git'
fi

# ---- corrections ----

fresh
"$GAVEL" decide --deliver --explain=First. "$log" "$handoff" reject >/dev/null
refuses 'another verb on what is delivered' ', sent: "First."; --correct sends a correction' --deliver "$log" "$handoff" accept
is 'nothing more is written' 1 "$(wc -l <"$replies")"
ok 'a correction' exit_of 0 "$GAVEL" decide --format=json --deliver --correct "$log" "$handoff" accept
is 'is a message of its own' '2 approve' "$(wc -l <"$replies") $(tail -n 1 "$replies" | grep -o '"decision":"[^"]*"' | sed 's/.*:"//; s/"//')"
is 'its verdict stands' '"verdict":"accepted"' "$("$GAVEL" show inbox --all --format=json "$log" | grep -F "{\"id\":\"$handoff\"" | grep -o '"verdict":"[^"]*"')"
ok 'right by the protocol' [ -z "$(check_replies "$log")" ]

# A correction takes the verbs of a first decision, and needs the same words.
fresh
"$GAVEL" decide --deliver "$log" review-PK-4 accept >/dev/null
folder=$(journal_of "$log")
cp "$folder/journal-000001" before
refuses 'a correction by a verb the protocol has not' "review-PK-4: can't answer this item; available: accept, reject, escalate" --deliver --correct --answer=yes "$log" review-PK-4 answer
refuses 'a correction in part without findings' 'changes are requested by findings, and this review has none' --deliver --correct --explain=Half. "$log" review-PK-4 partial
refuses 'a correction without a reason' 'review-PK-4: a rejection needs a reason code or an explanation' --deliver --correct "$log" review-PK-4 reject
ok 'as JSON too' exit_of 1 "$GAVEL" decide --format=json --deliver --correct "$log" review-PK-4 reject
is 'in the same fields' '"delivery":"sent","to":null,"bytes":0,"repeated":false,"missing":["a rejection needs a reason code or an explanation"]' "$(grep -o '"delivery".*\]' out)"
ok 'of all this nothing is in the journal' cmp before "$folder/journal-000001"
ok 'and nothing is held: another one is sent' exit_of 0 "$GAVEL" decide --deliver "$log" "$handoff" accept
ok 'a correction is staged' exit_of 0 "$GAVEL" decide --correct --explain=No. "$log" review-PK-4 reject
ok 'it can be another one before it is sent' exit_of 0 "$GAVEL" decide --deliver --correct --explain='Not so.' "$log" review-PK-4 reject
is 'only that goes out' '3 Not so.' "$(wc -l <"$replies") $(tail -n 1 "$replies" | grep -o '"summary":"[^"]*"' | sed 's/.*:"//; s/"//')"
ok 'right by the protocol' [ -z "$(check_replies "$log")" ]
fresh
"$GAVEL" decide "$log" "$finding" accept >/dev/null
refuses 'nothing was written yet: the same verbs' "can't answer this item" --correct --answer=yes "$log" "$finding" answer

# the same correction again is none; what agents decided cannot be corrected
fresh
"$GAVEL" decide --deliver "$log" review-PK-4 accept >/dev/null
for i in 1 2 3; do
	ok "a correction, time $i" exit_of 0 "$GAVEL" decide --format=json --deliver --correct --explain=No. "$log" review-PK-4 reject
done
is 'the last was a repetition' true "$(field repeated)"
is 'it was written once' 2 "$(wc -l <"$replies")"
agents=$("$GAVEL" show inbox --all --format=json "$log" | sed -n 's/^{"id":"\([^"]*\)".*"verdict":"accepted","by":"[a-z]*",.*"delivery":"none".*/\1/p' | head -n 1)
refuses 'what agents decided' "only a person's decision can be corrected" --deliver --correct --explain=No. "$log" "$agents" reject

# the same in the terminal UI
fresh
"$GAVEL" decide --deliver "$log" review-PK-4 accept >/dev/null
cp "$(journal_of "$log")/journal-000001" before
# screen KEYS: the message line after them, on the item in the list of all
screen() {
	n=$("$GAVEL" show inbox --all --format=json "$log" | grep -nF '{"id":"review-PK-4"' | cut -d: -f1)
	printf 'A:%s<Enter>%s\n' "$n" "$1" >screen.keys
	"$GAVEL" "$log" --headless --size=100x30 --keys=screen.keys --screen=screen.txt
	cat screen.txt
}
ok 'UI: a verb the protocol has not' sh -c 'printf "%s\n" "$1" | grep -qF "t answer this item; available: accept, reject, escalate"' sh "$(screen '=')"
ok 'UI: a verb it has' sh -c 'printf "%s\n" "$1" | grep -qF "already decided: accepted by"' sh "$(screen 'x')"
ok 'UI: not without a reason' sh -c 'printf "%s\n" "$1" | grep -qF "a rejection needs a reason code or an explanation: nothing was staged"' sh "$(screen 'xy<Enter>')"
ok 'UI: not as one of several' sh -c 'printf "%s\n" "$1" | grep -qF "nothing was staged; \"review-PK-4 "' sh "$(screen 'm;x')"
ok 'UI: nothing is in the journal' cmp before "$(journal_of "$log")/journal-000001"
ok 'UI: with one it is staged' sh -c 'printf "%s\n" "$1" | grep -qF "reject is staged"' sh "$(screen 'xyNo.<Enter>')"
ok 'UI: and can be another verb' sh -c 'printf "%s\n" "$1" | grep -qF "escalate is staged"' sh "$(screen 'eyAsk.<Enter>')"
ok 'UI: or have a reason code' sh -c 'printf "%s\n" "$1" | grep -qF "escalate is staged"' sh "$(screen 'Cother<Enter>')"

# ---- which option a question is answered with ----

ask() { # ID OPTIONS
	printf '{"type":"request:ask-user","id":"%s","timestamp":"2026-03-17T09:06:20.640Z","agentId":"planner-1","payload":{"question":"How many?"%s,"timeout":120000}}\n' "$1" "$2"
}
choice=b8b06a31-92fe-4113-a395-01e6ac0e9bb
choices() { # a log of two questions, the first with options
	{
		ask ${choice}b ',"options":[{"label":"Few","value":"3"},{"label":"Some","value":"many"},{"label":"4","value":"four"}]'
		ask ${choice}c ''
	} >"$1"
}
answered() { sed -n 's/.*"answer":"\([^"]*\)".*/\1/p' "$1.replies.ndjson"; } # LOG
for choose in --answer=many/many --answer=Some/many --answer=4/four --answer=3/3 --answer=2/2 --option=2/many --option=3/four --option=1/3; do
	choices choice.ndjson
	rm -f choice.ndjson.replies.ndjson
	rm -rf "$(journal_of choice.ndjson)"
	ok "$choose: sent" exit_of 0 "$GAVEL" decide --deliver choice.ndjson ${choice}b answer "${choose%/*}"
	is "$choose: what is sent" "${choose#*/}" "$(answered choice.ndjson)"
done
choices choice2.ndjson
refuses 'an option out of range' "${choice}b: there is no option 4; its options are 1 to 3" --option=4 choice2.ndjson ${choice}b answer
refuses 'a question without options' "${choice}c: it offers no options to choose from; give the answer's text with --answer" --option=1 choice2.ndjson ${choice}c answer
refuses 'an option with another verb' "${choice}b: --option chooses an answer; the verb for that is answer" --option=1 --explain=No. choice2.ndjson ${choice}b reject
ok 'an option and an answer' exit_of 2 "$GAVEL" decide --option=1 --answer=3 choice2.ndjson ${choice}b answer
ok '... says why' said 'gavel: --answer and --option are two answers; give one of them'
ok 'an option that is no number' exit_of 2 "$GAVEL" decide --option=Few choice2.ndjson ${choice}b answer
ok '... says why' said 'gavel: --option=Few: must be the number of an option, from 1'
refuses 'two answers to one question' "${choice}b: more answers than questions; give --answer once for each, in their order" --answer=1 --answer=2 choice2.ndjson ${choice}b answer
refuses 'a rule with another verb' "${choice}b: --offer and --rule say what is always allowed; the verb for that is always" --rule='Bash(ls)' choice2.ndjson ${choice}b answer
refuses 'an edited input with another verb' "${choice}b: --edit accepts a call with another input; the verb for that is partial" --edit=plan.md choice2.ndjson ${choice}b answer
ok 'two rules' exit_of 2 "$GAVEL" decide --rule='Bash(ls)' --offer=1 choice2.ndjson ${choice}b always
ok '... says why' said 'gavel: --rule and --offer are two rules; give one of them'
for twice in --option=1 --explain=1 --reason-code=1 --artifact=plan.md --rev=1; do
	ok "$twice twice" exit_of 2 "$GAVEL" decide $twice $twice choice2.ndjson ${choice}b answer
	ok '... says why' said "gavel: ${twice%=*} is given twice; give it once"
done
is '... nothing was recorded' '' "$(journal_of choice2.ndjson)"
ok 'an option: staged' exit_of 0 "$GAVEL" decide --option=3 choice2.ndjson ${choice}b answer
ok 'an option: delivered later' exit_of 0 "$GAVEL" decide --deliver choice2.ndjson
is 'an option: it survives in the journal' four "$(answered choice2.ndjson)"
# the UI: value, then label, then number; the prompt says so
for typed in 2/many 3/3 4/four 1/3 Some/many; do
	choices choice3.ndjson
	rm -f choice3.ndjson.replies.ndjson
	rm -rf "$(journal_of choice3.ndjson)"
	printf '=<until:a number, value or label:>%s<Enter><wait:400>y<until:1 sent>\n' "${typed%/*}" >choice.keys
	ok "UI: $typed" exit_of 0 "$GAVEL" choice3.ndjson --headless --size=100x30 --keys=choice.keys --screen=screen.txt --filter="id:${choice}b"
	is "UI: $typed: what is sent" "${typed#*/}" "$(answered choice3.ndjson)"
done

# ---- one artifact for a Request ----

fresh
second=$(sed -n 's/^{"id":"\([^"]*\)","dialect":"feedback","kind":"improvement".*/\1/p' inbox | sed -n 2p)
cp plan.md other.md
"$GAVEL" decide --artifact=plan.md "$log" "$improvement" accept >/dev/null
refuses 'two files for one Request' "plan.md is attached to $improvement and " --deliver --artifact=other.md "$log" "$second" accept
ok '... names the other one, too' said "other.md to $second; decide one of them again with the other's file"
refuses 'two files: what is staged' "other.md to $second" --deliver "$log"
is '... nothing was sent' '' "$(ls "$log".*replies* 2>/dev/null)"
ok 'the same file for both' exit_of 0 "$GAVEL" decide --deliver --artifact=./plan.md "$log" "$second" accept
is '... one Request' 2 "$(cat "$log".*replies.ndjson | grep -o '"status":"accepted"' | wc -l | tr -d ' ')"

# the limit that the help names is the one there is
ok 'the help names the limit' sh -c '"$GAVEL" decide --help | tr -s " \n" "  " | grep -qF "at most 8 MiB"'
head -c 8388609 /dev/zero | tr '\0' x >big.md
fresh
refuses 'a file beyond it' 'is longer than 8388608 bytes; name a shorter file' --deliver --artifact=big.md "$log" "$improvement" accept
head -c 8388608 big.md >most.md
ok 'a file at it' exit_of 0 "$GAVEL" decide --deliver --artifact=most.md "$log" "$improvement" accept
rm -f big.md most.md "$log".*

# ---- texts that are not UTF-8 ----

fresh
latin=$(printf 'caf\351')
refuses 'an explanation that is not UTF-8' "$finding: the explanation is not UTF-8: byte 4 is 0xe9; convert it, as iconv does, and give it again" --explain="$latin" --deliver "$log" "$finding" reject
refuses 'an answer' "$question: the answer is not UTF-8: byte 4 is 0xe9" --answer="$latin" --deliver "$log" "$question" answer
refuses 'a reason code' "$finding: the reason code is not UTF-8: byte 4 is 0xe9" --reason-code="$latin" --deliver "$log" "$finding" reject
refuses 'a name' "$finding: the name of who decides (--as) is not UTF-8: byte 4 is 0xe9" --as="$latin" --explain=No. --deliver "$log" "$finding" reject
refuses 'the name of a file' "$improvement: the path of the artifact is not UTF-8" --artifact="$latin" --deliver "$log" "$improvement" accept
is '... nothing was recorded' '' "$(journal_of "$log")"
is '... nothing was sent' '' "$(ls "$log".*replies* 2>/dev/null)"
"$GAVEL" decide --explain=No. "$log" "$finding" reject >/dev/null
refuses 'a name, of what is staged' 'your name (--as) is not UTF-8: byte 4 is 0xe9' --as="$latin" --deliver "$log"
is '... nothing was sent, either' '' "$(ls "$log".*replies* 2>/dev/null)"

# ---- what another log holds: decide takes one source, so a folder ----

mkdir both-logs
printf '%s\n' '{"context":{"feature_id":"F1","workflow":"plan","iteration":1},"paths":{"root":"specs/"},"task":{"action":"plan","params":{}}}' >both-logs/1.ndjson
printf '%s\n' '{"success":false,"summary":"Stuck.","artifacts":[],"notes":["A note"],"recommendation":"escalate"}' >both-logs/2.ndjson
cp both-logs/2.ndjson output.ndjson
refuses 'an output without its input' 'the input envelope of this output was not seen; give a folder with its log and this one as the source, or escalate it' --deliver output.ndjson escalation@1 accept
ok '... as the sentence says' exit_of 0 "$GAVEL" decide --deliver --reply=both.replies both-logs escalation@1 accept
ok '... the next input' grep -q '"feature_id":"F1","workflow":"plan","iteration":2' both.replies
sed -n '/"task_assignment"/p' "$demo" | grep '"PK-3"' >assigned.ndjson
grep '"review-PK-3"' "$demo" | grep '"review_result"' >result.ndjson
refuses 'a review without its task' 'no assignment of its task was seen, so it cannot be assigned again; give a folder with its log and this one as the source, or escalate it' --deliver result.ndjson "$finding" accept
mkdir task-logs
mv assigned.ndjson task-logs/1.ndjson
mv result.ndjson task-logs/2.ndjson
ok '... as the sentence says' exit_of 0 "$GAVEL" decide --deliver --reply=task.replies task-logs "$finding" accept

# ---- numbers are for what is sent ----

numbers() { sed -n 's/.*"sequence_number":\([0-9]*\).*/\1/p' "$1" | tr '\n' ' '; } # FILE
fresh
next=$(numbers "$log" | tr ' ' '\n' | sort -n | tail -n 1)
blocked=$(first collaboration blocked)
"$GAVEL" decide --explain=No. "$log" "$finding" reject >/dev/null
"$GAVEL" decide --explain=No. "$log" review-PK-3/F-1 reject >/dev/null
ok 'one of several: sent' exit_of 0 "$GAVEL" decide --deliver --explain=Stop. "$log" "$blocked" reject
first_number=$(numbers "$replies" | cut -d' ' -f1)
is 'one of several: what is staged takes no number' $((next + 1)) "$first_number"
ok 'the others: sent' exit_of 0 "$GAVEL" decide --deliver "$log"
is 'all numbers, without a gap' '' "$(numbers "$replies" | tr ' ' '\n' | grep . | awk -v n="$next" '$1 != ++n')"

# ---- an output envelope that may answer several inputs ----

input() { # FEATURE ITERATION
	printf '{"context":{"feature_id":"%s","workflow":"plan","iteration":%s},"paths":{"root":"%s/"},"task":{"action":"plan","params":{}}}\n' "$1" "$2" "$1"
}
output() { printf '{"success":false,"summary":"Stuck.","artifacts":[],"notes":["%s"],"recommendation":"escalate"}\n' "$1"; }
features() {
	input F1 1
	input F2 4
	output one
	output two
}
unclear='it is not clear which input this output answers: line 1 (F1/plan) or 2 (F2/plan); say which with --input=LINE (:input LINE), or escalate it'
features >features.ndjson
ok 'check warns' exit_of 0 "$GAVEL" check features.ndjson
ok '... of both' said 'features.ndjson:4: warning: 2 inputs are open, and nothing says which of them this answers [envelope/output-ambiguous]'
ok 'the inbox has the inputs' sh -c '"$GAVEL" show inbox --format=json features.ndjson | grep -q "\"task\":null.*\"inputs\":\[1,2\]"'
refuses 'no input named' "escalation@3: $unclear" --deliver features.ndjson escalation@3 accept
refuses 'another line' 'line 3 is not one of the inputs that this output may answer: line 1 (F1/plan) or 2 (F2/plan)' --input=3 --deliver features.ndjson escalation@3 accept
ok 'no line' exit_of 2 "$GAVEL" decide --input=F1 features.ndjson escalation@3 accept
is '... nothing was recorded' '' "$(journal_of features.ndjson)"
ok 'an input named: staged' exit_of 0 "$GAVEL" decide --input=1 features.ndjson escalation@3 accept
refuses 'an input has one output' 'the input in line 1 is already answered by escalation@3; choose another input, or undo that' --input=1 --deliver features.ndjson escalation@4 accept
ok 'an input named: delivered later' exit_of 0 "$GAVEL" decide --deliver features.ndjson
ok '... it is in the journal' grep -q '"input":1[,}]' "$(journal_of features.ndjson)/journal-000001"
is '... the next input continues that one' "$(input F1 2 | sed 's/}$//')" "$(sed 's/,"prior_context".*//' features.ndjson.replies.ndjson)"
ok 'the other one' exit_of 0 "$GAVEL" decide --input=2 --deliver --explain=No. features.ndjson escalation@4 reject
ok '... continues the other' grep -q '"feature_id":"F2","workflow":"plan","iteration":5' features.ndjson.replies.ndjson
refuses 'where it is clear' 'only an output that may answer several inputs takes --input; this one does not' --input=1 "$demo" "$envelope" accept
features >features2.ndjson
ok 'escalating needs none' exit_of 0 "$GAVEL" decide --deliver --escalate-to=features.queue features2.ndjson escalation@3 escalate
refuses '... whoever answers does' "$unclear" --deliver --reply=features.above features.queue escalation@3 accept
ok '... and says it' exit_of 0 "$GAVEL" decide --input=2 --deliver --reply=features.above features.queue escalation@3 accept
ok '... the next input continues that one' grep -q '"feature_id":"F2","workflow":"plan","iteration":5' features.above
# the UI
features >features3.ndjson
printf 'a' >unclear.keys
"$GAVEL" features3.ndjson --headless --size=200x30 --keys=unclear.keys --screen=screen.txt
ok 'UI: no input named' grep -qF 'it is not clear which input this output answers: line 1 (F1/plan) or 2 (F2/plan)' screen.txt
printf ':input 2<Enter><until:set to answer the input in line 2>a<until:accept is staged>' >unclear.keys
ok 'UI: named' exit_of 0 "$GAVEL" features3.ndjson --headless --size=200x30 --keys=unclear.keys --screen=screen.txt
ok 'UI: delivered after a restart' exit_of 0 "$GAVEL" decide --deliver features3.ndjson
ok 'UI: the next input continues that one' grep -q '"feature_id":"F2","workflow":"plan","iteration":5' features3.ndjson.replies.ndjson

# ---- a folder of hand-offs ----

mkdir folder
task=a1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d
sed -n 1p "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" >folder/task-$task.json
sed -n 2p "$GAVEL_FIXTURES/examples/handoff/escalation.ndjson" | sed 's/"failure"/"success"/; s/0\.1,/0.8,/' >folder/result-$task.json
id=$("$GAVEL" show inbox --format=json folder | sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
ok 'a folder: decided' exit_of 0 "$GAVEL" decide --format=json --deliver --explain='Too slow.' folder "$id" reject
is 'a folder: a file of its own' "decision-$task.json" "$(cd folder && echo decision-*)"
is 'a folder: complete' "\"task_id\":\"$task\" \"decision\":\"reject\"" "$(grep -o '"task_id":"[^"]*"' folder/decision-*.json) $(grep -o '"decision":"[^"]*"' folder/decision-*.json)"
is 'a folder: with notes beside it' "review-$task.md" "$(cd folder && echo review-*)"
ok 'a folder: which say why' grep -q 'Too slow\.' folder/review-$task.md
is 'a folder: and nothing else' 4 "$(ls -A folder | wc -l)"
ok 'a folder: it is right' "$GAVEL" check --strict folder
ls -l --full-time folder >before 2>/dev/null || ls -l folder >before
ok 'a folder: decided again' exit_of 0 "$GAVEL" decide --format=json --deliver --explain='Too slow.' folder "$id" reject
is 'a folder: is the same' true "$(field repeated)"
ls -l --full-time folder >after 2>/dev/null || ls -l folder >after
ok 'a folder: nothing is written' cmp before after

# ---- FIFOs ----

# fifo_starts: a new FIFO, $fifo
# is_read: waits until the reader that was started in the background has opened it
# ends: its reader, too
fifos=0
fifo_starts() {
	fifos=$((fifos + 1))
	fifo=fifo$fifos
	mkfifo -m 600 $fifo
}
is_read() {
	exec 6>$fifo
}
ends() {
	exec 6>&-
	wait $!
}
letter_of() { # of the only held one of $log
	"$GAVEL" journal list --format=json | grep -F "/$log\"" | sed -n 's/.*"delivery":"held","letter":"\([^"]*\)".*/\1/p' | head -n 1
}

fifo_starts
fresh
ok 'a FIFO that nobody reads: exit code 1' exit_of 1 "$GAVEL" decide --format=json --deliver --reply=$fifo "$log" "$finding" accept
is 'it is held' 'held false' "$(field delivery) $(field uncertain)"
is 'the fields say why' 'item verb delivery to bytes repeated missing addressee letter why uncertain' "$(keys)"
ok 'in a sentence' said 'nobody reads'
letter=$(letter_of)
ok 'a letter' [ -n "$letter" ]
ok 'sent again without a reader: exit code 1' exit_of 1 "$GAVEL" journal resend "$letter"
ok 'it is held still' said 'HELD: nobody reads'
refuses 'something else is not sent before it' 'an earlier run left messages unfinished; see gavel journal list, then give --recover=send' --deliver --reply=$fifo "$log" "$handoff" accept
refuses 'nor with --recover=ask' 'an earlier run left messages unfinished' --recover=ask --deliver --reply=$fifo "$log" "$handoff" accept
cat $fifo >received &
is_read
ok 'with a reader it is delivered' exit_of 0 "$GAVEL" journal resend "$letter"
ends
ok 'it says so' said "$letter: SENT"
is 'once' '1 1' "$(wc -l <received) $(grep -c '"message_type":"task_assignment"' received)"
"$GAVEL" check --strict --reply=received "$log" received >checked
ok 'as it should be' sh -c '! grep -q "^received:.*\(error\|warning\)" checked'
ok 'it is not sent again: exit code 1' exit_of 1 "$GAVEL" journal resend "$letter"
ok 'it says why' said 'only held messages are sent again'
cat $fifo >received &
is_read
ok 'then the other one goes out' exit_of 0 "$GAVEL" decide --format=json --deliver --reply=$fifo "$log" "$handoff" accept
ends
is 'once, too' '1 1' "$(wc -l <received) $(grep -c '"decision":"approve"' received)"

fifo_starts
fresh
"$GAVEL" decide --deliver --reply=$fifo "$log" "$finding" accept >/dev/null 2>&1
"$GAVEL" decide --reply=$fifo "$log" "$handoff" accept >/dev/null
head -n 2 <$fifo >received &
is_read
ok '--recover=send sends what is held, then what is staged' exit_of 0 "$GAVEL" decide --format=json --recover=send --deliver --reply=$fifo "$log"
ends
is 'in this order' 'task_assignment approve' "$(sed 's/.*"message_type":"\([^"]*\)".*/\1/; s/.*"decision":"\([^"]*\)".*/\1/' received | paste -sd ' ')"

fifo_starts
fresh
"$GAVEL" decide --deliver --reply=$fifo "$log" "$finding" accept >/dev/null 2>&1
letter=$(letter_of)
ok 'a held letter can be given up' exit_of 0 "$GAVEL" journal void "$letter"
ok 'the item is open again' sh -c '"$GAVEL" show inbox --format=json "$1" | grep -qF "{\"id\":\"$2\""' sh "$log" "$finding"
ok 'a letter that is not there: exit code 1' exit_of 1 "$GAVEL" journal resend 000000000000
ok 'it says so' said '000000000000; gavel journal list'

awk 'BEGIN { for (i = 0; i < 4000; i++) print "A line of a long plan, one of four thousand." }' >long.md
fifo_starts
fresh
exec 5<>$fifo # a reader that does not read
ok 'a long message to a FIFO: exit code 1' exit_of 1 "$GAVEL" decide --format=json --deliver --artifact=long.md --reply=$fifo "$log" "$improvement" accept
is 'it is held' 'held false' "$(field delivery) $(field uncertain)"
ok 'it says how' said 'give --sole-writer if gavel alone writes there'
exec 5>&-
letter=$(letter_of)
(head -c 1000 >received) <$fifo &
is_read
ok 'a reader that leaves half-way: exit code 1' exit_of 1 "$GAVEL" journal resend --sole-writer "$letter"
ends
ok 'says so' said 'bytes were written: its reader has gone'
is 'it may have arrived' 1 "$("$GAVEL" journal list --format=json | grep -F "\"$letter\"" | grep -c '"delivery":"held".*"uncertain":true')"
ok 'so it is not given up just so: exit code 1' exit_of 1 "$GAVEL" journal void "$letter"
ok 'it says why' said 'may have arrived, and then somebody may act on it; send it again, or give --sure'
cat $fifo >received &
is_read
ok 'sent again' exit_of 0 "$GAVEL" journal resend --sole-writer "$letter"
ends
is 'it starts on a line of its own' '2 0' "$(wc -l <received) $(head -n 1 received | wc -w)"
"$GAVEL" journal list --format=json | grep -F "\"$letter\"" >listed
is 'and is whole' "$(sed 's/.*"bytes":\([0-9]*\).*/\1/' listed)" "$(sed 1d received | wc -c | tr -d ' ')"

fifo_starts
fresh
(head -c 1000 >received) <$fifo &
is_read
"$GAVEL" decide --deliver --sole-writer --artifact=long.md --reply=$fifo "$log" "$improvement" accept >/dev/null 2>&1
ends
letter=$(letter_of)
rm $fifo
ok 'its FIFO is gone for good: exit code 1' exit_of 1 "$GAVEL" journal resend --sole-writer "$letter"
ok 'not given up just so' exit_of 1 "$GAVEL" journal void "$letter"
ok 'given up by who is sure' exit_of 0 "$GAVEL" journal void --sure "$letter"
ok 'the item is open again' sh -c '"$GAVEL" show inbox --format=json "$1" | grep -qF "{\"id\":\"$2\""' sh "$log" "$improvement"
mkfifo $fifo
cat $fifo >received &
is_read
ok 'the next one to that place' exit_of 0 "$GAVEL" decide --deliver --reply=$fifo "$log" "$finding" accept
ends
is 'begins on a line of its own, for half of the other may be there' '' "$(head -n 1 received)"

# ---- one writer ----

fresh
"$GAVEL" decide "$log" "$finding" accept >/dev/null
mkfifo keys
"$GAVEL" "$log" --headless --keys=keys &
holder=$!
exec 6>keys # gavel has opened it, and with it its journal
ok 'another gavel decides: exit code 3' exit_of 3 "$GAVEL" decide --deliver "$log" "$handoff" accept
ok 'it says which' said "gavel: another gavel decides here: process $holder"
ok 'delivering: exit code 3' exit_of 3 "$GAVEL" decide --deliver "$log"
ok 'looking on is fine' exit_of 0 "$GAVEL" show inbox "$log"
ok 'and the list' exit_of 0 "$GAVEL" journal list
exec 6>&-
wait $holder
ok 'nothing was written' [ ! -e "$replies" ]
ok 'when it has ended, one can decide' exit_of 0 "$GAVEL" decide --deliver "$log" "$handoff" accept

# ---- the journal ----

ok 'a journal that is right' exit_of 0 "$GAVEL" journal verify
ok 'says so of each' sh -c '! grep -v ": [0-9]* records*, 0 problems$" out'
is 'a folder a source' "$(ls "$XDG_STATE_HOME/gavel" | grep -vc by-head)" "$(wc -l <out)"
is 'only its owner may look' 'drwx------ -rw-------' "$(ls -ld "$(journal_of "$log")" | cut -c1-10) $(ls -l "$(journal_of "$log")/journal-000001" | cut -c1-10)"
ok 'a word that is none: exit code 2' exit_of 2 "$GAVEL" journal mend
ok 'resend without an id: exit code 2' exit_of 2 "$GAVEL" journal resend
ok 'no journal yet' exit_of 0 "$GAVEL" journal list --journal=none
ok 'says so' said 'no decisions yet'
ok '--journal' exit_of 0 "$GAVEL" decide --journal=mine "$log" "$finding" accept
is 'is another one' 1 "$("$GAVEL" journal list --journal=mine --format=json | wc -l)"

fresh
"$GAVEL" decide --deliver "$log" "$finding" accept >/dev/null
"$GAVEL" decide "$log" "$handoff" accept >/dev/null
folder=$(journal_of "$log")
cp "$folder/journal-000001" kept
cp "$replies" sent
sed -i '2s/accept/reject/' "$folder/journal-000001"
ok 'a journal with other words: exit code 3' exit_of 3 "$GAVEL" decide --deliver "$log"
ok 'says where and what to do' said 'gavel journal repair'
ok 'nothing is sent' cmp sent "$replies"
ok 'verify: exit code 3' exit_of 3 "$GAVEL" journal verify --journal="$folder"
ok 'the log is shown all the same' exit_of 0 "$GAVEL" show inbox "$log"
ok 'repair' exit_of 0 "$GAVEL" journal repair --journal="$folder"
ok 'then it is right' exit_of 0 "$GAVEL" journal verify --journal="$folder"
ok 'and decides' exit_of 0 "$GAVEL" decide --deliver "$log" review-PK-3/F-1 accept
rm -rf "$folder"
mkdir -m 700 "$folder"
(umask 077; cat kept >"$folder/journal-000001")
cp sent "$replies"
awk 'NR > 1 { print last } { last = $0 } END { printf "%s", substr(last, 1, length(last) / 2) }' kept >"$folder/journal-000001"
ok 'a torn last record is put aside' exit_of 0 "$GAVEL" decide "$log" review-PK-3/C-1 accept
ok 'what was sent before is known' sh -c '"$GAVEL" journal list --format=json | grep -F "/$1\"" | grep -q "\"delivery\":\"sent\""' sh "$log"
ok 'the journal is right' exit_of 0 "$GAVEL" journal verify --journal="$folder"

# An empty record under the right hash: list, verify, decide and repair say the same.
fresh
"$GAVEL" decide --deliver "$log" "$finding" accept >/dev/null
folder=$(journal_of "$log")
cp "$replies" sent
last=$(tail -n 1 "$folder/journal-000001" | cut -c1-64)
printf '%s \n' "$(printf %s "$last" | sha256sum | cut -c1-64)" >>"$folder/journal-000001"
cp "$folder/journal-000001" kept
ok 'an empty record: list: exit code 3' exit_of 3 "$GAVEL" journal list --journal="$folder"
ok 'an empty record: verify: exit code 3' exit_of 3 "$GAVEL" journal verify --journal="$folder"
ok 'an empty record: decide: exit code 3' exit_of 3 "$GAVEL" decide --deliver "$log" "$handoff" accept
ok 'an empty record: says what to do' said 'line 6 is not a record, although its hash is right; see gavel journal verify, then run gavel journal repair'
ok 'an empty record: nothing is recorded' cmp kept "$folder/journal-000001"
ok 'an empty record: nothing is sent' cmp sent "$replies"
ok 'an empty record: repair' exit_of 0 "$GAVEL" journal repair --journal="$folder"
ok 'an empty record: all others are kept' said '5 records kept'
for word in list verify repair; do
	ok "repaired: $word" exit_of 0 "$GAVEL" journal $word --journal="$folder"
done
ok 'repaired: decide' exit_of 0 "$GAVEL" decide --deliver "$log" "$handoff" accept

# A draft is lost; what was made of it is not, though no agent ever hears of it.
fresh
"$GAVEL" decide --deliver --escalate-to=damaged.queue "$log" "$handoff" escalate >/dev/null
folder=$(journal_of "$log")
sed -i '2s/DRAFT/DRAFU/' "$folder/journal-000001"
ok 'a lost draft: exit code 3' exit_of 3 "$GAVEL" decide --deliver "$log" "$handoff" accept
ok 'a lost draft: repair' exit_of 0 "$GAVEL" journal repair --journal="$folder"
ok 'a lost draft: its item is not decided anew' exit_of 1 "$GAVEL" decide --deliver "$log" "$handoff" accept
ok 'a lost draft: says so' said 'already decided'
is 'a lost draft: list knows the item' "$handoff escalate" "$("$GAVEL" journal list --journal="$folder" --format=json | sed -n 's/.*"item":"\([^"]*\)","verb":"\([^"]*\)".*/\1 \2/p')"

# ---- places that are not safe ----

# unsafe NAME SENTENCE: decide into $replies is held, and says why
unsafe() {
	ok "$1: exit code 1" exit_of 1 "$GAVEL" decide --format=json --deliver "$log" "$finding" accept
	is "$1: held" 'held false' "$(field delivery) $(field uncertain)"
	ok "$1: says why" said "$2"
	ok "$1: nothing is written" [ ! -s target ]
}
fresh
: >target
ln -s target "$replies"
unsafe 'replies through a link' 'is a symbolic link; name the place itself'
fresh
ln target "$replies"
unsafe 'replies with a second name' 'has a second name (hard link)'
fresh
: >"$replies"
chmod 666 "$replies"
unsafe 'replies that others write' 'others may write to it; chmod go-w it'
chmod 600 "$replies"
ok 'made safe, it is sent' exit_of 0 "$GAVEL" journal resend "$(letter_of)"
fresh
mkdir -p "$replies"
ok 'replies that are a folder' exit_of 1 "$GAVEL" decide --format=json --deliver "$log" "$finding" accept

# unsafe_journal NAME SENTENCE: nothing can be recorded, so nothing is sent
unsafe_journal() {
	ok "$1: exit code" exit_of "$3" "$GAVEL" decide --deliver "$log" "$handoff" accept
	ok "$1: says why" said "$2"
	ok "$1: nothing is sent" [ ! -e "$replies" ]
}
fresh
"$GAVEL" decide "$log" "$finding" accept >/dev/null
folder=$(journal_of "$log")
chmod 666 "$folder/journal-000001"
unsafe_journal 'a journal that others write' 'journal-000001: others can write to it' 2
chmod 600 "$folder/journal-000001"
ln "$folder/journal-000001" other
unsafe_journal 'a journal with a second name' 'hard link' 2
rm -f "$folder/journal-000001"
ln -s "$tmp/other" "$folder/journal-000001"
unsafe_journal 'a journal through a link' 'symbolic link' 2
rm -f "$folder/journal-000001"
mv other "$folder/journal-000001"
chmod 777 "$folder"
unsafe_journal 'a folder that others write' 'others can write to it' 2
chmod 700 "$folder"
mv "$folder" away
ln -s "$tmp/away" "$folder"
unsafe_journal 'a folder through a link' 'symbolic link' 2
rm -f "$folder"
mv away "$folder"
ok 'made safe, it is sent' exit_of 0 "$GAVEL" decide --deliver "$log" "$handoff" accept

# ---- no room ----

# full NAME WORD...: run by these words the journal cannot grow; what is staged stays so, and nothing
# is sent
full() {
	full=$1
	shift
	ok "$full: staging fails" exit_of 1 "$@" "$GAVEL" decide --journal="$place" --explain="$(cat words)" "$log" "$handoff" reject
	ok "$full: says so" said 'NOT recorded'
	ok "$full: delivering fails" exit_of 1 "$@" "$GAVEL" decide --journal="$place" --deliver "$log"
	ok "$full: says so, too" said 'NOT recorded'
	ok "$full: nothing is sent" [ ! -s "$replies" ] # it may be there: it was locked before that
	ok "$full: the journal is right" exit_of 0 "$GAVEL" journal verify --journal="$place"
	"$GAVEL" journal list --journal="$place" --format=json >listed
	is "$full: it has what was staged before" "1 $finding" "$(wc -l <listed) $(sed 's/.*"item":"\([^"]*\)".*/\1/' listed)"
}
# both records are longer than what may be left of a page
awk 'BEGIN { for (i = 0; i < 1500; i++) printf "word " }' >words
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=64k,mode=700 none small 2>/dev/null; then
	fresh
	place=small/journal
	"$GAVEL" decide --journal="$place" --explain="$(cat words)" "$log" "$finding" partial >/dev/null
	cat /dev/zero >small/filler 2>/dev/null
	full 'a full disk'
	rm -f small/filler
	ok 'a full disk: with room again it is sent' exit_of 0 "$GAVEL" decide --journal="$place" --deliver "$log"
	is 'a full disk: once' 1 "$(wc -l <"$replies")"
	umount small
else
	skip 'a full disk' 'only root can mount a small one here'
fi
fresh
place=limited
"$GAVEL" decide --journal="$place" --explain="$(cat words)" "$log" "$finding" partial >/dev/null
cat >limited.sh <<'END'
ulimit -f 8
exec "$@"
END
full 'a file that may not grow' sh limited.sh
ok 'a file that may not grow: when it may it is sent' exit_of 0 "$GAVEL" decide --journal="$place" --deliver "$log"
is 'a file that may not grow: once' 1 "$(wc -l <"$replies")"

# ---- escalation: three people, two queues ----

# tiers NAME LAST ID [OPTION...]: raised to q1, from there to q2, and decided there
tiers() {
	name=$1
	verb=$2
	id=$3
	shift 3
	fresh
	rm -f q1.ndjson q2.ndjson
	ok "$name: to the first queue" exit_of 0 "$GAVEL" decide --as=ann --deliver --explain='Beyond me.' --escalate-to=q1.ndjson "$log" "$id" escalate
	first=$("$GAVEL" show inbox --format=json q1.ndjson | sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
	is "$name: one item there" 1 "$(printf '%s\n' "$first" | grep -c .)"
	"$GAVEL" show item --format=json "$first" q1.ndjson >shown
	ok "$name: which offers $verb" grep -q "\"verbs\":\[[^]]*\"$verb\"" shown
	ok "$name: to the second" exit_of 0 "$GAVEL" decide --as=bob --deliver --explain='Beyond me, too.' --escalate-to=q2.ndjson q1.ndjson "$first" escalate
	ok "$name: it left the first" [ -z "$("$GAVEL" show inbox --format=json q1.ndjson)" ]
	second=$("$GAVEL" show inbox --format=json q2.ndjson | sed -n 's/^{"id":"\([^"]*\)".*/\1/p')
	is "$name: one item there" 1 "$(printf '%s\n' "$second" | grep -c .)"
	rm -f before
	[ ! -e "$replies" ] || cp "$replies" before
	refuses "$name: not to a path that only the queue names" '--reply' --as=eve --deliver "$@" q2.ndjson "$second" "$verb"
	answers=$replies
	# several feedback sessions in a log have a file each
	[ "$name" != feedback ] || answers=$(sed 's/.*"reply":{"channel":"file","path":"\([^"]*\)".*/\1/' q2.ndjson)
	ok "$name: answered" exit_of 0 "$GAVEL" decide --as=eve --format=json --deliver --reply="$answers" "$@" q2.ndjson "$second" "$verb"
	is "$name: delivered" sent "$(field delivery)"
	is "$name: one more message for the agents" 1 "$(($(wc -l <"$answers") - $(cat before 2>/dev/null | wc -l)))"
	wrong=$(check_replies "$log")
	is "$name: right by its own protocol" '' "$wrong"
	is "$name: in it" "$name" "$("$GAVEL" show messages --format=json "$log" "$answers" | grep '"direction":"out"' | tail -n 1 | sed 's/.*"dialect":"\([^"]*\)".*/\1/')"
	"$GAVEL" show inbox --all --format=json "$log" "$answers" | grep -F "{\"id\":\"$id\"" >shown
	ok "$name: the item is decided" sh -c '! grep -q "\"verdict\":\"\(none\|escalated\)\"" shown'
	ok "$name: nothing is left to decide" [ -z "$("$GAVEL" show inbox --format=json q1.ndjson q2.ndjson)" ]
}
tiers orchestrator answer "$question" --answer=5
tiers handoff accept "$handoff"
tiers envelope accept "$envelope"
tiers collaboration accept "$finding"
tiers feedback accept "$improvement" --artifact=plan.md

# ---- a finding and a change that share an id ----

# twins: a log with both
twins() {
	rev='"from_agent":{"agent_id":"rev","agent_type":"reviewer"},"to_agent":{"agent_id":"arch","agent_type":"architect"}'
	dev='"from_agent":{"agent_id":"arch","agent_type":"architect"},"to_agent":{"agent_id":"dev","agent_type":"developer"}'
	i=0
	while IFS='|' read -r who type payload; do
		i=$((i + 1))
		[ "$who" = rev ] && who=$rev || who=$dev
		echo "{\"message_id\":\"00000000-0000-4000-8000-00000000000$i\",\"timestamp\":\"2026-01-26T10:00:0${i}Z\",\"sequence_number\":$i,$who,\"message_type\":\"$type\",\"payload\":$payload}"
	done <<-'END'
	dev|task_assignment|{"task":{"task_id":"T1","task_description":"d","context":{"specs":[],"reference_files":[]},"constraints":{"scope":["**"],"testing_required":true,"must_not_break":[]},"acceptance_criteria":[]},"priority":"low"}
	rev|review_result|{"review_id":"R1","task_id":"T1","verdict":"changes_requested","findings":[{"finding_id":"c-1","severity":"minor","category":"bug","location":{"file":"a.c"},"description":"d","rationale":"r"}],"verification":{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}},"summary":"s","required_changes":[{"change_id":"c-1","priority":"consider","related_findings":["c-1"],"description":"d"}]}
	END
}
# verdicts FILE...: of the finding, then of the change, as others read them
verdicts() {
	"$GAVEL" show inbox --all --format=json --journal=nobodys "$@" |
		sed -n 's/.*"kind":"\([a-z]*\)".*"verdict":"\([a-z]*\)".*/\1 \2/p' | sort -r | tr '\n' ' '
}
twins >twins.ndjson
refuses 'two of one id' 'gavel: 2 items are named R1/c-1; write more of it, SESSION/ID, KIND:ID, AGENT:ID, or choose with --rev' twins.ndjson R1/c-1 accept
refuses 'neither kind' 'gavel: no item verdict:R1/c-1' twins.ndjson verdict:R1/c-1 accept
ok 'one by its kind' exit_of 0 "$GAVEL" decide --deliver --explain='Half of it.' twins.ndjson change:R1/c-1 partial
ok 'the other by kind and session' exit_of 0 "$GAVEL" decide --deliver --explain=No. twins.ndjson finding:twins.ndjson/R1/c-1 reject
is 'they are told apart' 'finding rejected change partial ' "$(verdicts twins.ndjson twins.ndjson.replies.ndjson)"
is 'and checked' '' "$(check_replies twins.ndjson)"
twins >apart.ndjson
for kind in finding change; do
	ok "passed on: the $kind" exit_of 0 "$GAVEL" decide --deliver --reply=aside.ndjson --escalate-to=both.ndjson apart.ndjson "$kind:R1/c-1" escalate
done
ok 'answered from above: the change' exit_of 0 "$GAVEL" decide --deliver --as=bob --reply=above.ndjson both.ndjson change:R1/c-1 accept
is 'only that one' 'finding none change accepted ' "$(verdicts --reply=above.ndjson apart.ndjson)"
ok 'answered from above: the finding' exit_of 0 "$GAVEL" decide --deliver --as=bob --reply=above.ndjson --explain=No. both.ndjson finding:R1/c-1 reject
is 'each its own' 'finding rejected change accepted ' "$(verdicts --reply=above.ndjson apart.ndjson)"

# ---- what is said to agents without deciding an item ----

cp "$demo" told.ndjson
printf '%s\n' ':abort PK-5 The staging database is gone.<Enter><wait:400>y:query dev-03<Enter><wait:400>y' \
	'4/blockers<Enter>:acknowledge<Enter><wait:400>y' >told.keys
ok 'commands are looked at and sent' exit_of 0 "$GAVEL" told.ndjson --headless --keys=told.keys --as=ann
is 'abort, query, acknowledge' 'abort status_query acknowledgment' \
	"$(sed 's/.*"message_type":"\([a-z_]*\)".*/\1/' told.ndjson.replies.ndjson | tr '\n' ' ' | sed 's/ $//')"
is 'abort and acknowledgment belong to the chain of their task' 2 "$(grep -c '"correlation_id":"corr-PK-5"' told.ndjson.replies.ndjson)"
is 'each names its addressee to the instance' 3 "$(grep -c '"to_agent":{[^}]*"instance_id":"wt-' told.ndjson.replies.ndjson)"
"$GAVEL" check told.ndjson told.ndjson.replies.ndjson | grep '^told.ndjson.replies.ndjson:' >complaints
is 'and they are sound' '' "$(grep -v ': note: ' complaints)"
printf '%s\n' ':abort PK-5<Enter><wait:400>y' >told.keys
ok 'an abort without a reason is refused' exit_of 0 "$GAVEL" told.ndjson --headless --keys=told.keys --as=ann
is 'and nothing is written' 3 "$(wc -l <told.ndjson.replies.ndjson | tr -d ' ')"
printf '%s\n' ':abort PK-5 It is gone.<Enter><wait:400>y' >told.keys
cp "$demo" ours.ndjson
ok 'nothing is said into the log itself' exit_of 0 "$GAVEL" ours.ndjson --reply=ours.ndjson --headless --keys=told.keys
ok '... which is as it was' cmp ours.ndjson "$demo"

# ---- what a second word means ----

fresh
echo first >first.md
echo second >second.md
ok 'a file is attached' exit_of 0 "$GAVEL" decide "$log" "$improvement" accept --artifact=first.md
ok '... then another one' exit_of 0 "$GAVEL" decide "$log" "$improvement" accept --artifact=second.md --deliver
ok '... which is what goes out' grep -q '"content":"second' "$log".*replies.ndjson

fresh
"$GAVEL" decide "$log" "$finding" accept >/dev/null
"$GAVEL" decide "$log" "$handoff" accept >/dev/null
head -n 3 "$demo" >"$log"
ok 'what the log does not show is not sent' exit_of 1 "$GAVEL" decide "$log" --deliver
is '... and each item is told about once' 2 "$(grep -vc ': begins like ' err)"
ok '... by its name' said "gavel: $handoff: no longer in the log"

# the journal is JSON: it could not keep the name, and the reply would go elsewhere
odd=$(printf 'caf\351.ndjson')
if cp "$demo" "$odd" 2>/dev/null; then
	refuses 'a name that is not UTF-8' 'give another --reply' "$odd" "$question" answer --answer=5 --deliver
	ok '... another place will do' exit_of 0 "$GAVEL" decide "$odd" "$question" answer --answer=5 --deliver --reply=odd.replies
	is '... and nothing else came into being' 1 "$(ls caf* | wc -l | tr -d ' ')"
fi

mkdir piped
cp "$demo" piped/stdin
ok 'a pipe is not the file that is called stdin' exit_of 1 sh -c 'cd piped && "$GAVEL" decide - "$1" answer --answer=5 --deliver <stdin' sh "$question"
ok '... and says so' said 'nothing says where replies go'
is '... nothing came into being' stdin "$(ls piped)"

# what would be printed must not go into the file that is opened in its place
fresh
"$GAVEL" decide "$log" "$question" answer --answer=5 --format=json >/dev/null
folder=$(journal_of "$log")
staged=$("$GAVEL" journal list --journal="$folder" | sed -n '2s/ .*//p')
ok 'what is staged is not sent again' exit_of 1 "$GAVEL" journal resend "$staged" --journal="$folder"
for closed in '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	sh -c "\"\$GAVEL\" journal resend $staged --journal=\"$folder\" $closed" 2>/dev/null
	ok "$closed: the journal is as it was" exit_of 0 "$GAVEL" journal verify --journal="$folder"
done

mkdir -m 700 aside aside/old
: >aside/old/journal-000001.damaged
ok 'what was put aside is no journal' exit_of 0 "$GAVEL" journal repair --journal=aside
ok '... and not listed as one' exit_of 0 "$GAVEL" journal list --journal=aside
ok '... and says so' said 'no decisions yet'

tap_end
