# Deciding at speed, without a terminal: what a refused verb does to the keys behind it, the
# pre-flight page, marks, undo and redo, snoozing, advancing.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
cp "$GAVEL_DATADIR/demo.ndjson" demo.ndjson || exit 99

# on ID: the keys that select the item that is listed with this id
inbox=$("$GAVEL" show inbox --size=200 demo.ndjson | sed 1d)
on() {
	printf ':%s<Enter>' "$(printf '%s\n' "$inbox" | grep -nE " $1[^ ]* *$" | cut -d: -f1)"
}
finding=$(on review-PK-3/F-1)

# keys KEYS [OPTION...]: the program on demo.ndjson; what was on the screen at the end is in `screen`
keys() {
	printf '%s\n' "$1" >keys
	shift
	"$GAVEL" demo.ndjson --no-follow --headless --size=80x24 --keys=keys --screen=saved --as=ann \
		"$@" >out 2>&1 || cat out
	sed '/^---$/,$d' saved >screen
}

# fresh KEYS [OPTION...]: the same, and nothing was decided before
fresh() {
	rm -rf "$XDG_STATE_HOME" demo.ndjson.*
	keys "$@"
}

says() {
	grep -qF -- "$1" screen || { cat screen; false; }
}

lacks() {
	! says "$1" >/dev/null || { cat screen; false; }
}

title() {
	sed -n 1p screen | grep -qF -- "$1" || { cat screen; false; }
}

# ---- a refused verb ----

fresh "$finding=wait<Enter>"
ok 'a refused verb: its words are no commands' says "can't answer this item"
ok '... nothing is staged, no page is opened' title '22 open  !2 due  ⚠1 not converging  ✗3 invalid'
ok '... and that is said' says "typing ignored (Esc): can't answer this item"
fresh "$finding=wait a<wait:699>a<wait:699>a<wait:699>a"
ok '... for as long as typing goes on' title '22 open  !2 due  ⚠1 not converging  ✗3 invalid'
fresh "$finding=wait<Enter><wait:700>a"
ok '... until there was a pause' title ' 1 staged '
fresh "$finding=wait<Esc>a"
ok '... or Esc' title ' 1 staged '
fresh "$finding=<Down><Down><Up>"
ok '... keys that are no text work at once' says ' 15/22 '
fresh ';axy<Enter>'
ok 'a verb on nothing that is marked is not for the selected item' title '22 open  !2 due  ⚠1 not converging  ✗3'
fresh 'M;=all of it<Enter>'
ok 'a verb that one of the marked refuses: neither' says 'nothing was staged; '
ok '... nor its words' title '22 open  !2 due  ⚠1 not converging  ✗3'
fresh 'R=wait<Enter>'
ok 'in a replay neither' says 'replay: nothing is sent; '

# ---- prompts ----

fresh "$(on ee5bf054)x"
ok 'a prompt names verb and item' says 'reject "Two of three criteria chec…", why:'
fresh "$(on ee5bf054)xToo early" --size=60x15
ok '... as much of it as leaves room for the words' says 'reject "Two of three criteri…", why: Too early'
fresh "$(on 95cf203f)=mirror"
ok '... an answer' says '…": mirror'
fresh "${finding}e"
ok '... an id that people use stands before the words' says 'escalate "F-1 The pending condition'
fresh ':mark kind:finding<Enter>;xNo'
ok '... of several their number' says 'reject 2 items, why: No'
fresh "$(on ee5bf054)xNo.<Enter>\\wor"
ok '... other prompts have none of it' grep -qx '\\wor *' screen
fresh "$(on ee5bf054)xNo.<Enter>C"
ok '... a reason code' says 'reject "Two of three criteria chec…", reason:'

fresh "$(on ee5bf054)x" --ascii
ok '... with ASCII, cut as in lists' says 'reject "Two of three criteria chec~", why:'
fresh ':3<Enter>a' --ascii
ok '... what is staged, too' says 'accept is staged: "Second attempt: same timeout a~"; u undo'
fresh 'm' --ascii
ok '... and a sentence of the program' says '1 marked; press ; then a, x, e... to decide all'
fresh '=' --ascii --size=60x15
ok '... and the options of a question' says '2  Leave it, try again at n~'
sed -i 's/"Second attempt: same/"Second… attempt: same/; s/Second attempt: same/Second… attempt: same/g' demo.ndjson
fresh ':3<Enter>a' --ascii
ok "... but an agent's own … stays escaped" says 'accept is staged: "Second<U+2026> attempt: same t~"; u undo'
cp "$GAVEL_DATADIR/demo.ndjson" demo.ndjson

# ---- the pre-flight page ----

# accepts, rejects, an answer, a dismissal, an escalation: twelve messages and two cautions
many="$(on 89f6478a)a$(on ee5bf054)a$(on a145cf9a)D$(on escalation@)xToo early.<Enter>${finding}xNot in this round.<Enter>$(on review-PK-3/C-1)a$(on 3cbad540)a
$(on 95cf203f)=mirror it<Enter>$(on error@)a$(on PK-5)eWhat do you think?<Enter>$(on recovery-flow)a"
fresh "$many"
ok 'eleven are staged' title ' 11 staged '
page() { # KEYS [OPTION...]: on the page, after it was shown for a moment
	page=$1
	shift
	keys "\$<wait:400>$page" --escalate-to=queue.ndjson "$@"
}
page ''
ok 'the page begins with a summary' says ' 11 messages, 8 recipients, 2 cautions, 1 only recorded here'
is 'a line for each message, all on one screen' 12 "$(grep -c '→' screen)"
ok '... what is said, to whom, about what' says '✓ accept   → orchestrator      Second attempt: same timeout'
ok '... with the words of the person' says ': Too early.'
ok '... and no id' lacks 89f6478a
is 'cautions are shown without unfolding' 2 "$(grep -c '^     caution: ' screen)"
page '<Enter>'
ok 'Enter unfolds one' says '"task_id": "89f6478a-fff9-470e-ba32-404c6aa067f7",'
ok '... the item by its words' says '    ✓ accept Second attempt: same timeout'
ok '... with its place' says "where    $tmp/demo.ndjson.replies.ndjson"
ok '... the summary stays' says ' 11 messages, 8 recipients, 2 cautions'
page '<Enter>jjj<Enter>'
is 'and folds it again, from any of its lines' 12 "$(grep -c '→' screen)"
page '<Enter>' --ascii
ok 'its fold sign is not that of a verdict, also with ASCII' says '>v + accept '
ok '... for the others' says ' > + accept '
page '<Enter>r'
ok 'r shows the bytes as they will be written' says '{"task_id":"89f6478a-fff9-470e-ba32-404c6aa067f7","decision":"approve"'
page 'n'
ok 'n goes to the next caution' says '▸    caution: 1 other item of this turn is open'
page 'nn'
ok '... and the next' says '▸    caution: accepted says that'
page 'nnn'
ok '... and round' says '▸    caution: 1 other item'
page 'N'
ok 'N goes back' says '▸    caution: accepted says that'
page 'x'
ok 'x drops one: it is not in the summary' says ' 10 messages, 8 recipients, 2 cautions, 1 only recorded here, 1 dropped'
ok '... it is listed as not sent now' says ' not now   stays staged: accept Second attempt'
ok '... and it is staged' title ' 11 staged '
page 'xG<Up><Down>x'
ok 'x again takes it in' says ' 11 messages, 8 recipients, 2 cautions, 1 only recorded here'
page 'xy'
ok 'y at once is not for the page that has changed' says '1 dropped'
page 'xxxxxxxxxxxx<wait:400>y'
ok 'with all dropped there is nothing to send' says 'nothing is left to send; q goes back'
ok '... the page says so' says 'Nothing is left to send. x takes a message in again, q goes back.'
is 'of all this nothing is written' '' "$(ls demo.ndjson.*replies* queue.ndjson 2>/dev/null)"
page ''
ok 'the hints: only what there is' says ' y send  q back, nothing is sent  Enter unfold  x drop  n caution'
page 'x<wait:400>y'
ok 'y asks again, also for what leaves the inbox undecided' says 'the artifact is the same as in the last turn, and 1 other item'
page 'x<wait:400>yy'
ok 'what was not dropped is sent' title ' 1 staged '
is '... all but that' 0 "$(cat demo.ndjson*replies* | grep -c 89f6478a)"
is '... no number is left out or given twice' '' "$(sed -n 's/.*"sequence_number":\([0-9]*\).*/\1/p' demo.ndjson.replies.ndjson | awk 'NR > 1 && $1 != last + 1 { print last, $1 } { last = $1 }')"
page 'y'
ok 'the dropped one is sent another time' says '1 sent'
is '... its bytes were those of the page' 1 "$(grep -c 89f6478a demo.ndjson.replies.ndjson)"
fresh "$(on d7c0df31)=2<Enter>"
page ''
ok 'an answer is shown by its label' says ': Leave it, try again'
ok '... and sent as its value' says '"answer": "wait"'
fresh "${finding}xinfeasible: Not now.<Enter>"
page ''
ok 'a code and words' says ': infeasible: Not now.'
fresh ':3<Enter>a'
page ''
ok '... it can be folded, and there is no caution' says ' y send  q back, nothing is sent  Enter fold  x drop  '
ok '... which no key goes to' lacks 'n caution'
page 'yy'
ok 'y once more is not for the inbox' says '1 sent'
fresh ':3<Enter>a'
page 'y<wait:1000>y'
ok '... a second later it is' says 'copied '
fresh ':3<Enter>a'
page ''
ok 'a single message is unfolded' says '"task_id": "89f6478a-fff9-470e-ba32-404c6aa067f7",'

# cautions that were not on the screen: y asks once more
small() { # KEYS
	keys "$1" --size=60x15 --escalate-to=queue.ndjson
}
fresh "$many" --escalate-to=queue.ndjson
small '$<wait:400>y'
ok 'y asks again for cautions that were not on the screen' says '2 cautions have not been on the screen; n shows them, y'
small '$<wait:400>yj'
is '... another key means no' '' "$(ls demo.ndjson.*replies* 2>/dev/null)"
small '$<wait:400>yn'
ok '... n goes to the first' says '▸    caution: 1 other item'
small '$<wait:400>nny'
ok '... seen, y asks only for the artifact' says 'the artifact is the same as in the last turn'
is '... nothing is written so far' '' "$(ls demo.ndjson.*replies* 2>/dev/null)"
small '$<wait:400>yyy'
ok '... twice y and once for the artifact' title ' 10 open '

# ---- what the log decides meanwhile ----

whole=$GAVEL_DATADIR/demo.ndjson
head -n 60 "$whole" >demo.ndjson
fresh ':2<Enter>xNo.<Enter>'
page ''
ok 'what leaves the inbox undecided is named' says 'caution: 3 other items of this turn are open and leave the inbox undecided:'
ok '... by their words' says '"When it makes sense" cannot be'
page 'y'
ok '... y asks a second time' says '3 other items leave the inbox undecided; y again sends it anyway'
page 'yj'
is '... another key means no' '' "$(ls demo.ndjson.*replies* 2>/dev/null)"
sed -n '61,100p' "$whole" >>demo.ndjson
page ''
ok 'what was decided meanwhile cannot be sent, and the page says so' says 'This cannot be sent: the reason is below. q goes back, u undoes it.'
ok '... with the reason' says 'not sent     recovery-flow-missing-02: no longer open (accepted)'
ok '... y is not offered' lacks 'y send'
page 'y'
ok '... and does nothing' says 'this cannot be sent; q goes back'
head -n 60 "$whole" >demo.ndjson
fresh ':2<Enter>xNo.<Enter>'
page 'yy'
ok 'a second y sends' says '1 sent'
cp "$whole" demo.ndjson

# ---- marks, undo and redo ----

fresh ':mark kind:escalation<Enter>'
ok 'marks by a filter' says ' 4 marked; '
ok '... only in the list that is shown' fresh '\id:3cbad*<Enter>:mark kind:escalation<Enter>'
ok '... which is filtered' says ' 1 marked; '
fresh ':mark kind:finding<Enter>:mark kind:change<Enter>'
ok '... and more by another' says ' 3 marked; '
fresh ':mark kind:nothing<Enter>'
ok '... that matches nothing' says 'no other open item of this list matches'
fresh ':mark size:3<Enter>'
ok '... that is none' says 'is not a key'
fresh ':mark kind:finding<Enter>;'
ok 'which verbs the marked ones take, with their keys' says ' 2 marked: a accept  x reject  p partial  e escalate  z snooze; any other key'
fresh 'M;'
ok '... only what all take' says ' 22 marked: e escalate  z snooze; any other key'
fresh ':mark kind:finding<Enter>;' --read-only
ok '... none where nothing can be decided' says 'no verb suits all of them'
fresh ':mark kind:finding<Enter>;a'
ok 'a verb on all marked ones says how many' says 'accept is staged on 2 items, 2 in all; u undo, $ review and send'
fresh ':3<Enter>a:mark kind:finding<Enter>;au'
ok 'u undoes them in one step' says 'undone: accept of 2 items; ^R redo'
ok '... and nothing else' title ' 1 staged '
fresh ':3<Enter>a:mark kind:finding<Enter>;auu'
ok '... then the step before' lacks ' staged '
fresh ':3<Enter>a:mark kind:finding<Enter>;auu<C-r>'
ok 'redo: the last that was undone' title ' 1 staged '
fresh ':3<Enter>a:mark kind:finding<Enter>;auu<C-r><C-r>'
ok '... then the one before, at once' title ' 3 staged '
ok '... and says so' says 'accept is staged on 2 items, 3 in all'
fresh ':3<Enter>a:mark kind:finding<Enter>;auu<C-r><C-r><C-r>'
ok '... no more' says 'nothing to redo'
fresh ':3<Enter>a:mark kind:finding<Enter>;auu<C-r><C-r>uu'
ok '... which can be undone' lacks ' staged '
fresh ':3<Enter>xNo.<Enter>u:4<Enter>a<C-r>'
ok 'after another decision nothing is redone' says 'nothing to redo'
fresh ':3<Enter>xNot like this.<Enter>u:redo<Enter>$<wait:400>'
ok 'redone with its words' says ': Not like this.'
fresh ":mark kind:finding<Enter>;a${finding}u"
ok 'u on an item that was gone to undoes only that' title ' 1 staged '
fresh ':mark kind:finding<Enter>;a'
keys 'u'
ok 'after a restart, too: they are one record' lacks ' staged '
ok '... which says how many' says 'undone: accept of 2 items'
keys '<C-r>'
ok '... and is not redone by a later run' says 'nothing to redo'
fresh ":mark kind:finding<Enter>;a"
keys "${finding}u"
ok '... u on one of them undoes only that' title ' 1 staged '
keys 'u'
ok '... and then the other' lacks ' staged '
fresh ":mark kind:finding<Enter>;a"
ok 'a verb on marked items is one record' [ "$(cat "$XDG_STATE_HOME"/gavel/*/journal-000001 | grep -c 'DRAFT')" -eq 1 ]

# ---- advancing ----

echo '{ "advance": true }' >advance.json
fresh ':3<Enter>a'
ok 'the selection stays' says ' 3/22 '
fresh ':3<Enter>a' --config=advance.json
ok '... or goes on to the next item' says ' 4/22 '
fresh ':4<Enter>a:3<Enter>a' --config=advance.json
ok '... that nothing was decided on' says ' 5/22 '
fresh ':3<Enter>xNo.<Enter>' --config=advance.json
ok '... after its words' says ' 4/22 '
fresh ':3<Enter>xNo.<Esc>' --config=advance.json
ok '... not without' says ' 3/22 '
fresh ':3<Enter>=no<Esc>' --config=advance.json
ok '... nor if it is refused' says ' 3/22 '
fresh ':3<Enter><Enter>a' --config=advance.json
ok '... on the page of an item, to that of the next' says 'Two of three criteria'
fresh ':22<Enter>a' --config=advance.json
ok '... the last one stays' says ' 22/22 '
fresh ':mark kind:finding<Enter>;a' --config=advance.json
ok '... and a verb on marked ones moves nothing' says ' 1/22 '

# ---- snoozing ----

fresh "$(on review-PK-4)z"
ok 'snoozed: not listed' says ' 13/21 '
keys ''
ok '... nor after a restart' says ' 1/21 '
ok '... which is said' says "1 snoozed item is not listed; \\ is:snoozed lists it"
keys 'A:5<Enter>'
ok '... it is one of all' says ' 5/48 '
keys '\is:snoozed<Enter>'
ok 'a filter lists what is snoozed' says ' 1/1 '
ok '... that one' says 'review-PK-4'
keys '\-is:snoozed<Enter>'
ok '... or all others' says ' 1/21 '
keys '\is:snoozed<Enter>z'
ok 'z wakes it' says 'No line matches the filter'
keys ''
ok '... for good' says ' 1/22 '
fresh ':mark kind:finding<Enter>;z'
ok 'all marked ones at once' says '2 snoozed until nearly due or changed'
ok '... are not listed' says ' 1/20 '
keys ''
ok '... nor later' says '2 snoozed items are not listed'
cp demo.ndjson before.ndjson
grep '"message_type":"review_result".*"review-PK-3"' demo.ndjson | tail -n 1 |
	sed 's/"message_id":"[^"]*"/"message_id":"0e6f9c0e-3f0c-4d6e-8a3b-3f2b7f0c9d11"/; s/"sequence_number":[0-9]*/"sequence_number":200/; s/ring is removed/ring is gone/g' >>demo.ndjson
keys ''
ok 'what changed meanwhile is back' says ' 1/22 '
ok '... and nothing is said to be hidden' lacks 'not listed; '
cp before.ndjson demo.ndjson
fresh ':1<Enter>z'
ok 'what is nearly due is not snoozed' says 'nearly due: not snoozed'
fresh "$(on review-PK-4)z" --read-only
ok 'read-only: hidden' says ' 13/21 '
keys ''
ok '... until gavel ends' says ' 1/22 '
fresh "$(on review-PK-4)z$(on error@)D"
ok 'snoozed is no decision' title ' 1 staged '
is '... and nothing that journals list' 1 "$("$GAVEL" show decisions --format=json demo.ndjson | grep -c '"verb":"')"
ok 'the journal is valid' "$GAVEL" journal verify

# ---- leaving ----

fresh "${finding}aQ"
ok 'what is staged is kept' says '1 staged, not sent (kept). y quits'
printf '%s' "${finding}aQ" >keys
"$GAVEL" demo --headless --size=80x24 --keys=keys --screen=saved
sed '/^---$/,$d' saved >screen
ok 'not in the demo, and it does not say so' says '1 staged, not sent (the demo keeps nothing). y quits'
"$GAVEL" demo --headless --size=80x24 --keys=keys --screen=saved --journal=kept
sed '/^---$/,$d' saved >screen
ok '... unless the journal is one of your own' says '1 staged, not sent (kept). y quits'

fresh "${finding}xNo.<Enter>z"
ok 'what is staged is not snoozed' says 'not snoozed: its decision is staged; u undoes it first'
ok '... it is still listed' says '/22 '
fresh "${finding}xNo.<Enter>:mark kind:finding<Enter>;z"
ok '... nor with all marked ones' says '1 snoozed; 1 with a staged decision is not'

# ---- what is escalated ----

# of protocols that have a message for it, and of others
for id in review-PK-3/F-1 ee5bf054 06c7df97; do
	rm -f queue
	fresh "$(on $id)eHelp.<Enter>\$<wait:400>y<wait:2000>" --escalate-to=queue --size=80x60
	ok "$id is escalated, and still listed" grep -q '^ escalated 1 ' screen
	ok '... not as open' title '21 open'
	keys '' --size=80x60
	ok '... after a restart, too' grep -q '^ escalated 1 ' screen
done

# ---- leaving the page ----

fresh "${finding}xNo.<Enter>\$"
ok 'the page says that q keeps what is staged' says 'This will be written. y sends it, q keeps it staged.'
fresh "${finding}xNo.<Enter>\$<wait:400>q"
ok '... and q that it is' says 'not sent; still staged: u undoes, $ sends'
ok '... which is so' title ' 1 staged '
fresh "${finding}xNo.<Enter>\$<wait:400>Q"
ok 'Q closes it: y is for quitting then' says 'y quit  $ review  any other key: stay'
ok '... and sends nothing' lacks 'y send'
fresh "${finding}xNo.<Enter>\$<wait:400>Qj"
ok '... another key stays' lacks 'y quit'

# ---- where replies go ----

# piped KEYS [OPTION...]: the program on standard input, in which nothing was decided before
piped() {
	rm -rf "$XDG_STATE_HOME" told.ndjson
	printf '%s\n' "$1" >keys
	shift
	"$GAVEL" - --headless --size=100x24 --keys=keys --screen=saved --as=ann "$@" \
		<"$GAVEL_DATADIR/demo.ndjson" >out 2>&1 || cat out
	sed '/^---$/,$d' saved >screen
}

piped ''
ok 'a pipe: that nothing says where replies go is said at once' says 'nothing says where replies go yet; :reply PATH does'
piped '' --reply=told.ndjson
ok '... not with --reply' lacks 'nothing says where'
piped '' --read-only
ok '... nor where nothing can be decided' lacks 'nothing says where'
piped '=1<Enter><wait:400>'
ok '... it cannot be sent' says 'in the UI :reply PATH'
piped '=1<Enter><wait:400>:reply told.ndjson<Enter><wait:400>'
ok ':reply says where, also on the page' says 'y sends it'
ok '... that is said' says 'replies go to "'
piped ':reply told.ndjson<Enter>=1<Enter><wait:400>y'
is '... and there it is sent' 1 "$(grep -c '"answer":"terminate"' told.ndjson)"
ok '... nothing is missing then' lacks 'nothing says where'
fresh ':reply demo.ndjson<Enter>'
ok '... never into the log' says 'replies never go into the log'
fresh ':reply other.ndjson<Enter>:3<Enter>xNo.<Enter>$<wait:400>y'
ok '... of a log, too' test -s other.ndjson
fresh ':reply<Enter>'
ok '... needs a path' says 'reply needs a path'

fresh '=1<Enter><wait:400>q'
tail -n 1 demo.ndjson >short && mv demo.ndjson long && mv short demo.ndjson
keys '$'
ok 'what is staged and no longer in the log: u undoes it' says 'q goes back, u undoes it.'
keys '$<wait:400>u'
ok '... from its page, which is closed then' says 'Nothing waits for a decision.'
ok '... nothing is staged any more' lacks 'staged'
mv long demo.ndjson

tap_end
