# Scenes in a real terminal: deciding, from the verb to what is sent, held and recovered.
. "$srcdir/tests/scenes.sh"

# ---- deciding ----

# decides SIZE [OPTION...]: the UI on a copy of the demo that nothing was decided about; $log, $replies
logs=0
decides() {
	logs=$((logs + 1))
	log=decide$logs.ndjson
	replies=$log.replies.ndjson
	cp demo.ndjson $log
	size=$1
	shift
	watch "$size" "$GAVEL" $log "$@"
}

again() {
	watch 80x24 "$GAVEL" $log "$@"
}

all_sent() {
	title_lacks staged && ! says sending
}

sent() {
	all_sent && [ "$(wc -l <$replies)" -eq "$1" ]
}

# the line of the screen that has the item of this id: the printed inbox has its order
line_of() {
	"$GAVEL" show inbox --size=200 $log | sed 1d | grep -nE " $1 *$" | cut -d: -f1
}

select_item() {
	press ":$(line_of "$1")<Enter>"
}

is_last_line() {
	screen | grep -q ' \([0-9]*\)/\1  ? help'
}

# Typing is ignored after a refusal, until Esc.
unlock() {
	press '<Esc>'
	soon says 'Q quits'
	press 1
	soon says '[1 Inbox]'
}

decides 80x24
"$GAVEL" show inbox --format=json $log | sed 's/^{"id":"\([^"]*\)","dialect":"\([^"]*\)","kind":"\([^"]*\)".*"deadline":\([^,]*\),.*/\2 \3 \4 \1/' >items
n=0
while read -r dialect kind deadline id; do
	n=$((n + 1))
	case $kind in
	question) keys='=1<Enter>' ;;
	error) keys=D ;;
	improvement | retry | blocked) keys='xNot in this round.<Enter>' ;;
	change) keys='pOnly the first half.<Enter>' ;;
	*) keys=a ;;
	esac
	press ":$(line_of "$id")<Enter>$keys"
	if [ "$deadline" != null ]; then
		ok "$dialect $kind $id: one that will answer itself is looked at, at once" soon says 'This will be written. y sends it'
		soon page_is_left
	fi
	ok "$dialect $kind $id: staged" soon title_says " $n staged "
done <items
is 'every item was decided' 22 $n
ok 'nothing is written yet' [ ! -e $replies ]
press '$'
ok 'the page lists what will be written' soon says '15 messages, 8 recipients, 1 caution, 2 only recorded here'
press G
soon is_last_line
ok 'and was seen to its end' confirm
ok 'all is sent' soon all_sent
ok 'nothing is held' title_lacks held
ok 'two things were only recorded' soon title_says ' 0 open '
"$GAVEL" check $log $log.*replies.ndjson >checked
is 'all is right by its protocol' '' "$(grep -E '^[^:]*replies[^:]*:[0-9]+: (error|warning)' checked)"
is 'nothing is left' 0 "$("$GAVEL" show inbox --format=json $log | wc -l)"
press 6
ok 'the decisions are listed' soon says '1/51'

# marks, undoing, corrections
decides 80x24
select_item review-PK-3/F-1
press mm
ok 'two are marked' soon says '2 marked; press ; then a, x, e… to decide all'
press '<Up>m'
soon says '1 marked'
press '<Up>m'
ok 'one was not to be' soon says '2 marked'
press ';'
ok 'a verb is asked for' soon says '2 marked: a accept  x reject'
press ka
ok 'another key leaves them' soon title_says ' 1 staged '
press u
ok 'undone' soon title_lacks staged
press ';a'
ok 'both are decided' soon title_says ' 2 staged '
press u
ok 'undone in one step' soon title_lacks staged
press u
ok 'and no more' soon says 'nothing is staged'
press M
ok 'all are marked' soon says '22 marked'
press ';a'
ok 'not all can be accepted: none is' soon says 'nothing was staged; '
unlock
press M
ok 'the second time none is marked' soon says 'nothing marked'
press ';'
ok 'then there is nothing to decide' soon says 'nothing marked; m marks'
unlock
select_item review-PK-3/F-2
press 'x<Enter>'
ok 'a rejection without a reason is refused' soon says 'a rejection needs a reason code or an explanation: nothing was staged'
press 'z'
ok 'snoozed' soon says 'snoozed until nearly due or changed'
ok 'it is hidden' soon says '/21  '
press 'A'
ok 'but not gone' soon says '/48  '
press 'A'
soon says '/21  '
is 'of all this nothing is written' 'no file' "$(ls $replies 2>/dev/null || echo no file)"

# words
printf '#!/bin/sh\nshift $(($# - 1))\nprintf "First line of why.\\n\\nSecond paragraph.\\n" >"$1"\n' >editor
chmod +x editor
logs=$((logs + 1))
log=decide$logs.ndjson
replies=$log.replies.ndjson
cp demo.ndjson $log
watch 80x24 env TMPDIR="$tmp" EDITOR="$tmp/editor" "$GAVEL" $log
press c
ok 'an explanation comes after a verb' soon says 'nothing staged on this item; press a verb first'
unlock
select_item review-PK-3/F-1
press 'xNo.<Enter>c'
ok 'it is written in an editor' soon says 'First line of why.'
ok 'all of it' soon says 'Second paragraph.'
printf '#!/bin/sh\nshift $(($# - 1))\nprintf "caf\\351.\\n" >"$1"\n' >editor
press 'c'
ok 'not if it is no UTF-8' soon says 'the explanation is not UTF-8: byte 4 is 0xe9'
ok '... the text is kept' soon grep -q caf "$tmp"/gavel-explanation-*
ok '... and the explanation is as it was' soon says 'Second paragraph.'
press 'C'
ok 'a reason code: what there is' soon says 'Tab completes: out_of_scope'
press 'ou<Tab><Enter>'
ok 'it is taken' soon says 'reason  out_of_scope'
press '$'
confirm
ok 'sent' soon sent 1
ok 'with both' grep -q 'out_of_scope.*First line of why\.\\n\\nSecond paragraph\.' $replies
press 6
soon says '[6 Decisions]'
press ga
ok 'what was sent is not taken back, but corrected' soon says 'already decided: rejected by'
press j
ok 'only y does' soon title_lacks staged
press ga
soon says 'y sends a correction'
press y
ok 'corrected' soon title_says ' 1 staged '
press '$'
confirm
ok 'by a second message, and one to whom the first was told' soon sent 3

# what must not confirm
decides 80x24
select_item review-PK-3/F-1
press a
soon title_says staged
press '$y'
ok 'y typed ahead: the page is there' soon says 'q back, nothing is sent'
printf 'y' | paste
press y
at_end() {
	is_last_line || { press G; false; }
}
ok 'y pasted: keys work again' soon at_end
ok 'y typed ahead, pasted and at once: the page is there still' says 'q back, nothing is sent'
ok 'nothing was written' [ ! -e $replies ]
resize 100x30
ok 'a page that changes its size is not confirmed' soon says 'the terminal was resized; $ shows the page again'
ok 'it is staged' title_says ' 1 staged '
press y
soon says review-PK-3/F-1
ok 'nothing was written then either' [ ! -e $replies ]
press '$'
soon says 'q back, nothing is sent'
ok 'q goes back' soon page_is_left
ok 'it is staged still' title_says ' 1 staged '

# words typed behind a verb that the item does not take
press g
select_item review-PK-3/F-2
press '=wait$<Enter>'
ok 'a refused verb says why' soon says "can't answer this item"
press '<Esc>'
ok '... after Esc keys work again' soon says 'keys are commands again'
ok '... the words behind it were no commands' title_says ' 1 staged '
press 1
soon says '[1 Inbox]'

# quitting
press Q
ok 'quitting asks' soon says '1 staged, not sent (kept). y quits, $ reviews'
press j
ok 'another key stays' soon title_says ' 1 staged '
press Q
soon says 'y quits'
press y
ok 'y quits' soon says 'exit code 0'
again
ok 'it is staged after a restart' soon title_says ' 1 staged '

# a second one
t new-session -d -s other -x 100 -y 24 env GATE= sh -c 'sh -c "echo \$\$ >>pids; exec \"\$GAVEL\" \"\$1\"" sh "$1"; cat' sh $log
other_says() { t capture-pane -p -t other | grep -qF -- "$1"; }
ok 'a second gavel only reads' soon other_says "read-only: another gavel decides here: process $(cat pid) "
t send-keys -t other a
ok 'it does not decide' soon other_says 'read-only: another gavel decides here'
ok 'its title says so' soon other_says '  read-only  '
t send-keys -t other '$'
ok 'nor send' soon other_says 'read-only: another gavel decides here'
t kill-session -t other
press '$'
confirm
ok 'the first one does, once' soon sent 1

# somebody else replies while the page is open: numbers follow theirs
decides 80x24
select_item review-PK-3/F-2
press a
soon title_says staged
press '$'
soon says 'q back, nothing is sent'
ok 'somebody else decides meanwhile' "$GAVEL" decide --journal=bobs --as=bob --deliver --explain=No. $log review-PK-3/F-1 reject
is_shown_again() {
	says 'someone else has replied meanwhile' || { press y; false; }
}
ok 'then y does not send what was shown before' soon is_shown_again
others=$(wc -l <$replies)
confirm
ok 'but the page that is shown then' soon sent $((others + 1))
is 'each number once' '' "$(sed -n 's/.*"sequence_number":\([0-9]*\).*/\1/p' $replies | sort | uniq -d)"

# a FIFO without a reader, and the recovery page
mkfifo -m 600 replies1 replies2
decides 80x24 --reply=replies1
select_item review-PK-3/F-2
press a
soon title_says staged
press '$'
confirm
ok 'nobody reads: held' soon title_says ' 1 held '
press 6
ok 'it says why' soon reads 'nobody reads '
kill -KILL "$(cat pid)"
ok 'killed' soon [ -s code ]
again --reply=replies1
ok 'the next run shows what is unfinished' soon says 'These messages are recorded, but not sent'
ok 'and what it will do' soon says 'not delivered; it will be sent'
press q
ok 'q leaves it' soon title_says ' 1 held '
press ':recover<Enter>'
ok 'it can be looked at again' soon says 'These messages are recorded, but not sent'
cat replies1 >received &
reader=$!
soon says 'y finish them'
press y
ok 'y finishes it' soon title_lacks held
wait $reader
is 'once' '1 1' "$(wc -l <received) $(grep -c '"message_type":"task_assignment"' received)"
press Q
soon says 'exit code 0'
again --reply=replies1
ok 'then nothing is unfinished' soon says '[1 Inbox]'

# a reader that does not read
decides 80x24 --reply=replies2
exec 5<>replies2
select_item review-PK-3/F-2
press a
soon title_says staged
press '$'
is_sending() {
	says 'sending' || { press y; false; }
}
ok 'it is sending' soon is_sending
press 4
ok 'it is waited for, and keys are answered' soon says '[4 Messages]'
ok 'while it is' title_lacks held
ok 'then it is held' soon title_says ' 1 held '
press 6
ok 'it says why, too' soon reads 'written, but its reader has not taken'
exec 5>&-

# ---- files that messages name ----

mkdir -p there away
echo fine >there/ok.c
echo plus >'+!touch PWNED'
ln -s ok.c there/inside
ln -s /etc/passwd there/out
ln -s /etc away/etc
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >>edited\n' >editor
finding() {
	printf '{"finding_id":"%s","severity":"major","category":"bug","location":{"file":"%s","line_start":7},"description":"d","rationale":"r"}' "$1" "$2"
}
printf '{"message_id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-03-17T09:00:00.000Z","sequence_number":1,"from_agent":{"agent_id":"rev","agent_type":"reviewer","instance_id":"r1"},"to_agent":{"agent_id":"arch","agent_type":"architect","instance_id":"a1"},"message_type":"review_result","payload":{"review_id":"R1","task_id":"T1","verdict":"changes_requested","findings":[%s,%s,%s,%s,%s,%s],"required_changes":[],"verification":{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}},"summary":"s"}}\n' \
	"$(finding plus '+!touch PWNED')" "$(finding out there/out)" "$(finding etc away/etc/passwd)" "$(finding folder there)" "$(finding inside there/inside)" "$(finding gone there/gone)" >files.ndjson
log=files.ndjson
watch 80x24 env EDITOR="$tmp/editor" "$GAVEL" $log
opens() {
	select_item "R1/$1"
	press v
	soon says 'y opens'
	press y
}
: >edited
opens out
ok 'a link that leads out of the folder is not opened' soon says 'leads out of the current folder'
opens etc
ok '... nor through a folder' soon says 'away/etc/passwd leads out of the current folder'
opens folder
ok '... nor what is no file' soon says 'there is not a file'
opens gone
ok '... nor what is not there' soon says 'No such file'
is '... no editor has run' '' "$(cat edited)"
opens inside
ok 'a link within it is, by its real name' soon grep -qxF "$(pwd -P)/there/ok.c" edited
opens plus
ok 'a name like an option is no option' soon grep -qxF "$(pwd -P)/+!touch PWNED" edited
is '... at its line, and nothing else' "+7
$(pwd -P)/there/ok.c
+7
$(pwd -P)/+!touch PWNED" "$(cat edited)"
press Q

# the input of a tool call that a real agent waits for, edited
cp "$GAVEL_FIXTURES/agents/waiting.ndjson" edited.ndjson
printf '#!/bin/sh\nshift $(($# - 1))\nsed -i "s/npm run build/npm run build --dry-run/" "$1"\ncp "$1" edited\n' >editor
watch 100x30 env EDITOR="$tmp/editor" "$GAVEL" --reply=edited.replies edited.ndjson
press p
ok 'an edited call: the page shows what runs' soon says '{"command":"npm run build --dry-run"'
is '... it was one member a line' '  "command": "npm run build --dry-run",' "$(sed -n 2p edited)"
ok '... y sends it' confirm
ok '... and nothing else' soon grep -q '"updatedInput":{"command":"npm run build --dry-run"' edited.replies
printf '#!/bin/sh\nexit 0\n' >editor
press 'g'
press p
ok 'one that was not changed is no other call' soon says 'nothing was changed; a accepts it as it is'
printf '#!/bin/sh\nshift $(($# - 1))\necho "{" >"$1"\n' >editor
press p
ok 'no JSON: it says so' soon says 'the edited input is no JSON object; your text is kept in'
ok '... and keeps the text' soon grep -qx '{' "${TMPDIR-/tmp}"/gavel-input-*.json
rm -f "${TMPDIR-/tmp}"/gavel-input-*.json
press Q

scenes_end
