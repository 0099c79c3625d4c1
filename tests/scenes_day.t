# Scenes in a real terminal: a day at the inbox. The room a window gives, names, several sessions, pages
# and the way back, a loop that does not converge, triage at speed, copying, clicking, filters, themes, notices.
. "$srcdir/tests/scenes.sh"

uuid='[0-9a-f]\{8\}-[0-9a-f]\{4\}-[0-9a-f]\{4\}-'

lacks() {
	! says "$1"
}

# the text of the selected row, from the words that follow the agent on
words() {
	screen | sed -n '/^▸/{s/│.*//; s/.*\(load_test\)/\1/; s/ *$//; p; q}' | wc -m
}

# the line of the screen where the preview below the list begins
split_at() {
	screen | grep -n '^───' | cut -d: -f1
}

split_is() { # COMPARISON LINE
	[ "$(split_at)" "$1" "$2" ]
}

# names_only TAB WORDS: its list is shown, with these words and without a made-up id
names_only() {
	says "$1" && says "$2" && ! screen | grep -q "$uuid"
}

# ---- more room shows more; the split is resized and remembered ----

watch 60x15 "$GAVEL" demo.ndjson
before=0
for size in 60x15 80x24 100x30 120x36 160x48 200x60; do
	resize $size
	look "at $size as without a terminal" $size '' "$GAVEL" demo.ndjson
	now=$(words)
	ok "... with no fewer words than $before" [ "$now" -ge "$before" ]
	before=$now
done
ok 'the whole question at last' says 'for 41 minutes and blocks'
resize 100x30
look 'and small again' 100x30 '' "$GAVEL" demo.ndjson
line=$(split_at)
press '>>'
ok '> gives the preview room' soon split_is -lt "$line"
line=$(split_at)
press '|'
ok '| puts it beside the list' soon says '│question · orchestrator'
press '|'
ok '... and below' soon split_is -eq "$line"
press Q
soon says 'exit code 0'
watch 100x30 "$GAVEL" demo.ndjson
ok 'after a restart it is as large' soon split_is -eq "$line"
rm -r "$XDG_STATE_HOME"

# ---- names before numbers ----

mkdir -p a/folder/whose/path/is/longer/than/a/small/window/has/room
log=a/folder/whose/path/is/longer/than/a/small/window/has/room/demo.ndjson
cp demo.ndjson $log
watch 80x24 "$GAVEL" $log --as=ann
ok 'a path loses its folders first' title_says '^ gavel  …[a-z/]*/demo.ndjson  '
press O
while read -r key view words; do
	press "${key}g"
	ok "$view: words, no UUIDs" soon names_only "[$key $view]" "$words"
done <<'END'
1 Inbox load_test has held the lock
2 Timeline PK-1 Credential store
6 Decisions Without the security quest
END
press 'O1g=2<Enter>'
ok 'an answer is looked at by its label' soon says ': Leave it, try again'
soon page_is_left
resize 120x30
press 6g
ok '... and listed by it' soon says 'Leave it, try'
press '1:4<Enter>x'
ok 'a prompt names what it is about' soon says 'reject "Two of three criteria'
press '<Esc>'

# ---- several sessions ----

sed 's/"2026-03-17T/"2026-03-12T/g' demo.ndjson | grep -v ses_ >week.ndjson
watch 100x30 "$GAVEL" demo.ndjson week.ndjson
ok 'several logs: the sessions come first' soon says '[0 Sessions]'
ok '... with their sources' soon title_says ' demo.ndjson week.ndjson '
press '/week<Enter><Enter>'
ok 'Enter opens the page of one' soon says ' session week.ndjson'
press 'q'
soon says '& only this session'
press '&1'
ok '& limits the views to it' soon title_says ' › session week.ndjson '
ok '... its items only' soon lacks 1GxlBNgo
press '<Esc>'
ok 'Esc widens' soon title_lacks ' › session '
press '\source:week.ndjson kind:question<Enter>'
ok 'source: takes one file' soon says ' week.ndj'
press '<Esc>'
soon says 'filter off'
press 4G
ok 'line numbers have their file' soon says ' of demo.ndjson'

# ---- pages, and the way back ----

watch 80x24 "$GAVEL" demo.ndjson
press '2/PK-2<Enter><Enter>'
ok 'the page of a task' soon says ' task PK-2 '
ok '... its revisions' soon says 'PK-2.r3'
press 'G'
at_end() { screen | grep -qE ' ([0-9]+)/\1 '; }
ok '... to its last message' soon at_end
screen >page
press '<Enter>'
ok 'a message of it' soon says 'Message line 110 '
press o
ok 'along its correlation' soon lacks 'Message line 110 '
press '<C-o>'
ok '... and back' soon says 'Message line 110 '
press q
is_page() { screen | cmp -s page -; }
ok 'q returns to the place on the page' soon is_page
press q
ok '... and to the task in the timeline' soon says '▸PK-2 '
press '&4'
ok 'narrowed: only its messages' soon title_says ' › task PK-2 '
ok '... all of them' soon says ' 1/28 '
press '<Esc>'
ok 'Esc shows all again' soon says '/208 '

# ---- a loop that does not converge ----

press 3g
ok 'the title tells of it' soon title_says '⚠1 not converging'
press '/does not conv<Enter>'
ok 'its heading says how it went' soon says '▸ 4 → 3 → 4 → 4 open  ⚠ does not converge'
ok 'selected, it says why' soon says 'why     4 open after iteration 4, no fewer than the 4 after iteration 3'
press '<Enter>'
ok '... in full with Enter' soon says 'came back 3 times'
press q
soon says '▸ 4 → 3'

# ---- triage at speed: advance, one page for all, undo, redo ----

echo '{ "advance": true }' >advance.json
cp demo.ndjson triage.ndjson
replies=triage.ndjson.replies.ndjson
watch 80x24 "$GAVEL" triage.ndjson --as=ann --config=advance.json --escalate-to=queue.ndjson
press ':mark kind:finding<Enter>'
ok 'marks by a filter' soon says '2 marked; press ; then a, x, e… to decide all'
press ';'
ok '; lists the verbs that suit' soon reads ' 2 marked: a accept x reject p partial e escalate z snooze; any other key cancels'
press a
ok 'both are staged' soon title_says ' 2 staged '
press u
ok 'undone in one step' soon says 'undone: accept of 2 items; ^R redo'
ok '... both' soon title_lacks staged
press '<C-r>'
ok 'and redone in one' soon title_says ' 2 staged '
press u
soon title_lacks staged
# a refused verb: its words, typed ahead, are no commands
press ':3<Enter>=wait<Enter>'
ok 'a refused verb says what there is' soon says "typing ignored (Esc): can't answer this item"
ok '... its words are no commands' title_lacks staged
press '<Down>'
ok '... keys that are no text work at once' soon says ' 4/22 '
press '<Esc>'
soon says 'keys are commands again'
press 2
soon says '[2 Timeline]'
press '1g=1<Enter>'
for n in 1 2; do
	ok "due item $n is looked at first" soon says 'This will be written. y sends it'
	soon page_is_left
	ok '... it is staged' soon title_says " $n staged "
	[ $n = 2 ] || press '=1<Enter>'
done
press 'aaeWhat do you think?<Enter>aajajxNot like this.<Enter>xToo early.<Enter>:17<Enter>a'
ok 'the selection advanced: only what is skipped needs a key' soon title_says ' 11 staged '
press '$'
ok 'one page for all' soon says ' 12 messages, '
lines_are() { [ "$(screen | grep -c '→')" -eq "$1" ]; }
ok '... a line each' soon lines_are 12
at_end() { press G; says ' 17/17 '; } # the page is deaf at first
soon at_end
press 'gj<Enter>'
ok 'Enter unfolds one to its bytes' soon says '"answer": "terminate"'
press '<Enter>'
soon lines_are 12
press 'x'
ok 'x drops it' soon says ' 11 messages, '
ok '... which is said' soon says ', 1 dropped'
press n
ok 'n goes to a caution' soon says '▸    caution: '
others_sent() {
	title_says ' 1 staged ' && return
	says 'y send' && press y # for the page
	says 'y again sends' && press y # and for its cautions
	return 1
}
ok 'y sends the others' soon others_sent
is '... its answer is not among them' 0 "$(grep -c '"answer":"terminate"' $replies)"

# ---- copying, clicking, completing, following, colours ----

t set -g set-clipboard on
watch 100x30 "$GAVEL" demo.ndjson
press y
ok 'y says what was copied' soon says 'copied d7c0df31-ad91-457f-92cf-c4fc845e3ea4'
copied() { [ "$(t show-buffer)" = "$1" ]; }
ok '... and copies the whole id (OSC 52)' soon copied d7c0df31-ad91-457f-92cf-c4fc845e3ea4
t set -g set-clipboard off
# click ROW TEXT: on the first cell of it
click() {
	before=$(screen | sed -n "$1p" | sed "s/$2.*//")
	mouse 0 "$1" $((${#before} + 1)) M
	mouse 0 "$1" $((${#before} + 1)) m
}
click 2 '4 Messages'
ok 'a click on a tab' soon says '[4 Messages]'
click 3 kind
ok 'a click on a head sorts' soon says ' kind▲ '
press 1
soon says '[1 Inbox]'
press '\ki<Tab>'
ok 'a filter is completed' soon says 'kind:improvement  kind:finding  '
press 'qu<Tab>'
ok '... its value, too' soon says '\kind:question'
ok '... and the list follows while one types' soon says ' due 2 '
ok '... of questions only' soon lacks ' escalation '
ok '... with the keys that end it' says 'Enter accept · Esc cancel'
press '<Esc>'
ok 'Esc: everything again' soon says ' escalation '

colours() { t capture-pane -p -e -t "s$scene" | sed -n 2p; }
press ':theme light<Enter>'
ok ':theme' soon says 'theme light, until the end'
light=$(colours)
is_light() { [ "$(colours)" = "$light" ]; }
is_dark() { says 'theme dark' && ! is_light; }
press ':theme dark<Enter>'
ok '... changes the colours' soon is_dark
press ':theme light<Enter>'
ok '... and back' soon is_light

cp demo.ndjson live.ndjson
printf '#!/bin/sh\ncat >>"$1"\necho "$#" >>"$1.count"\n' >tell
chmod +x tell
printf '{ "notices": { "command": ["%s/tell", "%s/told"] } }' "$PWD" "$PWD" >notices.json
start 100x30 "$FOLLOWING" --config=notices.json live.ndjson
soon loaded
press 4G
ok 'G at the end of a log that is followed' soon says 'following  208/208'
question() { # ID WORDS: one more line of the log
	printf '{"type":"request:ask-user","id":"00000000-0000-4000-8000-%012d","timestamp":"%s","agentId":"agent-1","payload":{"question":"%s","options":[],"timeout":600000}}\n' \
		"$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$2" >>live.ndjson
}
question 1 'One more $(touch pwned)?'
ok '... stays there' soon says 'following  209/209'
told() { [ "$(sed 's/^{"event":"\([a-z]*\)".*"title":"\([^"]*\)".*/\1 \2/' told)" = "$1" ]; }
ok 'a program of the person is told' soon told 'opened One more $(touch pwned)?'
is '... in its input, not in its arguments' 1 "$(cat told.count)"
ok '... and nothing of it is run' [ ! -e pwned ]
press k
ok 'moving up ends following' soon says 'not following any more; G goes to the end'
question 2 'And another?'
ok '... what comes does not move the list' soon says '  208/210'
press f
ok 'f follows again' soon says 'following (f stops)'
press P
ok 'P pauses' soon says 'paused: new messages are buffered; P resumes'
press Q
soon says 'exit code 0'

# ---- the words of help; what README tells a newcomer to type ----

watch 120x36 "$GAVEL" demo.ndjson
press '?'
ok 'help says what a key does in plain words' soon says 'escalate to another reviewer'

sed -n "s|^    build/gavel run --agent=asker|exec \"\$FOLLOWING\" run --agent=asker|p" "$srcdir/README.md" >asker
start 80x24 sh asker
ok 'the agent of README asks' soon says 'Which one?'
press '=1<Enter>'
ok '... its answer is sent' confirm
press 4
ok '... and read' soon says 'heard {"type":"response'
press Q
ok '... then all ends' soon says 'exit code 0'

scenes_end
