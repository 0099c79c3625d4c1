# Scenes in a real terminal: what is shown, sizes, suspending, ends of every kind, what is not a key.
. "$srcdir/tests/scenes.sh"

# ---- the identity of screen and grid ----

# each line: what it is, and the keys that lead there from the line before
walk='start
timeline 2
timeline-zoomed ++<Left>
ledger 3
ledger-end G
diff gjd
messages q4
messages-page <PageDown>
message jj<Enter>
message-raw r
message-scrolled <Space>
agents 5
decisions 6
help ?
help-scrolled <Space>
inbox q1
second <Down>
item <Enter>
item-scrolled <Space>
all qA
preview <Tab><Space>
maximised O
searched q/e<Enter>
last 1G'

printf '%s\n' "$walk" >walk
for source in demo.ndjson text.ndjson; do
	for at in 60x15 80x24 120x36; do
		watch $at "$GAVEL" $source
		all=
		while read -r name keys; do
			[ -z "$keys" ] || press "$keys"
			all=$all$keys
			look "$source at $at: $name" $at "$all" "$GAVEL" $source || break
		done <walk
	done
done

# What every screen must say, so that two blank ones are not the same.
watch 80x24 "$GAVEL" demo.ndjson
ok 'it starts with the inbox' soon says '[1 Inbox]'
ok 'which has something in it' soon says 'question    planner-1'
for view in '2 Timeline' '3 Ledger' '4 Messages' '5 Agents' '6 Decisions' '1 Inbox'; do
	press "${view%% *}"
	ok "key ${view%% *}: ${view#* }" soon says "[$view]"
done
press '?'
ok 'help' soon says 'half a page down'
press '<Esc>'
look 'Esc leaves it' 80x24 '?<Esc>' "$GAVEL" demo.ndjson
press '<Enter>'
ok 'Enter opens an item' soon says 'options'
look 'as a screen of its own' 80x24 '<Enter>' "$GAVEL" demo.ndjson
press '<Esc>'
look 'and Esc goes back' 80x24 '' "$GAVEL" demo.ndjson

press '4/passk'
look 'a search as it is typed' 80x24 '4/passk' "$GAVEL" demo.ndjson
is 'the cursor is where one types' '6 23 1' "$(t display -p -t "s$scene" '#{cursor_x} #{cursor_y} #{cursor_flag}')"
press 'ey<Enter>n'
look 'the next match' 80x24 '4/passkey<Enter>n' "$GAVEL" demo.ndjson
is 'no cursor where one does not' 0 "$(t display -p -t "s$scene" '#{cursor_flag}')"
press '/zzz'
look 'what is not there' 80x24 '4/passkey<Enter>n/zzz' "$GAVEL" demo.ndjson
press '<Esc>'
look 'Esc leaves the search' 80x24 '4/passkey<Enter>n/zzz<Esc>' "$GAVEL" demo.ndjson
press '1\kind:question<Enter>'
look 'a filter' 80x24 '4/passkey<Enter>n/zzz<Esc>1\kind:question<Enter>' "$GAVEL" demo.ndjson
press '<Esc>'
ok 'Esc takes it off' soon says 'filter off'
press 'a'
ok 'a verb that the protocol has not is refused' soon says 'can'\''t accept this item; available: reject, answer, escalate'

# ---- resizing ----

watch 80x24 "$GAVEL" demo.ndjson
press 3
look 'before a resize' 80x24 3 "$GAVEL" demo.ndjson
for at in 120x36 60x15 200x50 80x24; do
	resize $at
	look "resized to $at" $at 3 "$GAVEL" demo.ndjson || break
done
resize 40x10
ok 'too small says so' soon says 'gavel needs 60x15; this is 40x10'
press 4
resize 80x24
look 'keys work meanwhile' 80x24 34 "$GAVEL" demo.ndjson
press ':fil'
look 'a prompt' 80x24 34:fil "$GAVEL" demo.ndjson
resize 100x30
look 'resized while one types' 100x30 34:fil "$GAVEL" demo.ndjson
resize 40x10
ok 'too small while one types' soon says 'this is 40x10'
resize 60x15
look 'and back' 60x15 34:fil "$GAVEL" demo.ndjson
is 'the cursor with it' '4 14 1' "$(t display -p -t "s$scene" '#{cursor_x} #{cursor_y} #{cursor_flag}')"
press '<Tab>'
look 'typing goes on' 60x15 '34:fil<Tab>' "$GAVEL" demo.ndjson
press '<Esc>'
look 'and ends' 60x15 34 "$GAVEL" demo.ndjson
for at in 1x1 2x40 300x2 61x16 40x10 100x99 1x50 79x23 80x25 59x14 120x36 80x24; do
	resize $at
	press 6
	resize 100x20
	press 5
done
resize 80x24
look 'a storm of sizes' 80x24 '345' "$GAVEL" demo.ndjson
kill -STOP "$(cat pid)"
resize 90x20
press 2
kill -CONT "$(cat pid)"
look 'stopped, resized, continued' 90x20 '3452' "$GAVEL" demo.ndjson
printf 'garbage\033[5;5Hmore' >"$tty"
ok 'somebody writes over the screen' soon says more
press '<C-l>'
look '^L draws it anew' 90x20 '3452<C-l>' "$GAVEL" demo.ndjson

# ---- suspending ----

start 80x24 sh -i
press 'stty -g >one; PS1="$ "; echo rea""dy<Enter>'
ok 'a shell' soon says ready
outside=$(modes)
press "sh -c 'echo \$\$ >pid; exec \"\$GAVEL\" demo.ndjson'<Enter>"
look 'the program in a shell' 80x24 '' "$GAVEL" demo.ndjson
within=$(modes)
ok 'its screen is another one' [ "$outside" != "$within" ]
press 'j<C-z>'
ok '^Z gives the screen back' soon modes_are "$outside"
press 'stty -g >two; echo stop""ped<Enter>'
ok 'and the shell works' soon says stopped
is 'with its modes' "$(cat one)" "$(cat two)"
press 'fg<Enter>'
look 'fg' 80x24 j "$GAVEL" demo.ndjson
is 'in its own modes' "$within" "$(modes)"
kill -TSTP "$(cat pid)"
ok 'a stop by signal does the same' soon modes_are "$outside"
press 'stty -g >three; echo ag""ain<Enter>'
ok 'the shell once more' soon says again
is 'with its modes once more' "$(cat one)" "$(cat three)"
resize 100x30
press 'fg<Enter>'
look 'resized meanwhile' 100x30 j "$GAVEL" demo.ndjson
press 'Q'
ok 'Q ends it' soon modes_are "$outside"
press 'stty -g >four; echo ov""er<Enter>'
ok 'and the shell goes on' soon says over
is 'as before' "$(cat one)" "$(cat four)"

# ---- another program has the terminal ----

mkdir -p web/src/signin
: >web/src/signin/SignInForm.tsx
printf '#!/bin/sh\necho in the editor\nread -r line\n' >editor
chmod +x editor
press 'clear; EDITOR=./editor "$GAVEL" demo.ndjson<Enter>'
look 'the program with an editor' 100x30 '' "$GAVEL" demo.ndjson
press ':14<Enter>v'
soon says 'y opens'
press y
ok 'an editor runs' soon says 'in the editor'
press '<C-z>'
soon says Stopped
press 'echo wi""thout<Enter>'
ok '^Z in it stops both' soon says without
press 'fg<Enter>'
press '<Enter>'
look 'both go on' 100x30 ':14<Enter>' "$GAVEL" demo.ndjson
press v
soon says 'y opens'
press y
soon says 'in the editor'
printf '\003' | send
look '^C ends the editor alone' 100x30 ':14<Enter>' "$GAVEL" demo.ndjson
press Q
soon modes_are "$outside"

# ---- however it ends, the terminal is as before ----

for how in Q TERM HUP INT QUIT ABRT SEGV KILL; do
	gate=1
	start 80x24 "$GAVEL" demo.ndjson
	gate=
	outside=$(modes)
	press '<Enter>'
	soon loaded
	press 3
	ok "$how: it has the terminal" soon says '[3 Ledger]'
	within=$(modes)
	guardian=$(ps -A -o pid= -o ppid= | awk -v pid="$(cat pid)" '$2 == pid { print $1 }')
	case $how in
	Q) press Q ;;
	*) kill -$how "$(cat pid)" ;;
	esac
	# after SIGKILL the shell may be quicker than the guardian, and its words go with the screen
	ok "$how: it ends" soon [ -s code ]
	case $how in
	Q) code=0 ;;
	HUP) code=129 ;;
	INT) code=130 ;;
	QUIT) code=131 ;;
	ABRT) code=134 ;;
	KILL) code=137 ;;
	TERM) code=143 ;;
	SEGV) code=139 ;;
	esac
	# sanitizers take a fault for theirs, and end in their own way
	[ $how = SEGV ] && says 'Sanitizer' && code=1
	is "$how: with exit code $code" "exit code $code" "$(cat code)"
	ok "$how: the screen, cursor, mouse and keypad are given back" soon modes_are "$outside"
	ok "$how: they were taken" [ "$outside" != "$within" ]
	[ $code = 1 ] || ok "$how: the other screen is left" says 'before the start'
	ok "$how: so are the modes of the line" soon tty_is_as_before
	printf 'pasted' | t load-buffer -b words -
	t paste-buffer -p -b words -t "s$scene"
	ok "$how: what is typed and pasted is shown" soon says 'pasted'
	screen >got
	is "$how: pastes come plain" 0 "$(grep -c '20[01]~' got)"
	ok "$how: the guardian was there" [ -n "$guardian" ]
	ok "$how: and is gone" soon gone "$guardian"
done

watch 80x24 "$GAVEL" demo.ndjson
ok 'a terminal that will be closed' soon says '[1 Inbox]'
guardian=$(ps -A -o pid= -o ppid= | awk -v pid="$(cat pid)" '$2 == pid { print $1 }')
t kill-session -t "s$scene"
ok 'closed: the program ends' soon gone "$(cat pid)"
ok 'closed: its guardian too' soon gone "$guardian"

# ---- what terminals say and people paste is not a key ----

# Key letters everywhere, so that a byte that gets through does something.
q="$esc\\"
e=$esc
{
	for n in '?62;4;22c' '?1;2c' '?6c' '>41;354;0c' '=q' '?1;2;4;6;9;15;18;21;22c'; do
		echo "$e[$n"
	done
	for n in '1;1R' '24;80R' '1;2R' '?3;4R' '?3;4;1R' '0n' '3n' '?13n' '?997;1n' '?27;1;0;0n'; do
		echo "$e[$n"
	done
	for n in '8;24;80t' '4;600;800t' '3;0;0t' '1t' '2t' '6;16;8t' '9;60;200t'; do
		echo "$e[$n"
	done
	for n in '?2026;2$y' '?2004;1$y' '4;2$y' '?1016;0$y' '2;1;1;128;128;1;0x' '?64;1;9S' '?1;0;256S'; do
		echo "$e[$n"
	done
	for n in '?1u' '?0u' '97;5u' '97;1:3u' '57441;2u' '113;;113u' '27;5;97~' '27;2;13~' '1;5A' '3;2~' '1;2P'; do
		echo "$e[$n"
	done
	for n in I O '<35;10;10M' '<39;1;1M' '200' '?q' '>q' '1;2;3;4;5q' '!p' '"q' '0"q' '1*x'; do
		[ "$n" = 200 ] || echo "$e[$n"
	done
	for n in 'M qQ' 'Maaa' 'M#jj' 'MCxq' 'M`!!'; do
		echo "$e[$n"
	done
	for n in 0 1 7 15 255; do
		echo "$e]4;$n;rgb:aaaa/dddd/eeee$q"
		echo "$e]4;$n;rgb:aa/dd/ee$(printf '\007')"
	done
	for n in 10 11 12 17 19; do
		echo "$e]$n;rgb:0000/1a1a/ffff$q"
		echo "$e]$n;rgba:0/a/f/e$(printf '\007')"
	done
	for n in '52;c;cVFheGo=' '52;p;UXE=' 'lQuit? yes: Q' 'LQQ' '0;axp=Qq' '7;file://Q/q' '8;;Q' '99;i=q:p=?;Q' '1337;ReportCellSize=16.0;8.0;2.0' '133;A' '777;notify;Q;q'; do
		echo "$e]$n$q"
		echo "$e]$n$(printf '\007')"
	done
	for n in '1$r0m' '0$r' '1$r2 q' '1+r544e=787465726d' '0+r5463' '>|XTerm(390)' '>|kitty(0.35)Q' '!|00000000' '=1s' '1;2{axq' 'tmux;QQ'; do
		echo "${e}P$n$q"
	done
	for n in 'Gi=1;OK' 'Gi=31;ENOENT:Q' 'Q' 'axpq'; do
		echo "${e}_$n$q"
		echo "$e^$n$q"
		echo "${e}X$n$q"
	done
	printf '\2336n\n\23362;4c\n\2351;Qq\234\n\220>|Q\234\n\237GQ\234\n\217\n' | sed "s/$(printf '\217')/$e[I/"
	printf '\302\2331;1R\n\302\2354;1;Q\302\234\n\302\220Q\302\234\n'
	for n in q Q a x y '(B' '#8' ' F' '%G'; do
		echo "$e$n"
	done
} | LC_ALL=C sed '/^$/d' >replies
lines=$(wc -l <replies)

# What can be seen in any way: cells, colours, cursor and modes.
seen() {
	t capture-pane -p -e -t "s$scene"
	t display -p -t "s$scene" "$flags #{cursor_x} #{cursor_y}"
}

seen_as_then() {
	seen >now
	cmp -s then now
}

# two looks in a row are the same
no_change() {
	seen >then
	sleep 0.05
	seen_as_then
}

# there_and_back KEYS: resized and back, the screen is what these keys lead to. The program draws
# at a new size only after it has read what was sent before.
there_and_back() {
	for at in 81x24 80x24; do
		draw $at "$1" "$GAVEL" demo.ndjson || return 1
		resize $at
		matches || return 1
	done
}

# still KEYS: nothing has changed since the file then was written
still() {
	there_and_back "$1" || return 1
	soon seen_as_then && return 0
	diff then now
	return 1
}

# inject FIRST LAST [split]: these lines of replies; split: the introducer, then byte by byte
inject() {
	sed -n "$1,$2p" replies >part
	while IFS= read -r line; do
		hex=$(printf '%s' "$line" | od -An -v -tx1)
		set -- $hex
		if [ -n "${split-}" ]; then
			first="$1 ${2-}"
			[ "$1" != c2 ] || first="$1 $2 ${3-}"
			t send-keys -t "s$scene" -H $first
			for byte in $(echo $hex | cut -d' ' -f$(($(echo $first | wc -w) + 1))-); do
				t send-keys -t "s$scene" -H "$byte"
			done
		else
			t send-keys -t "s$scene" -H "$@"
		fi
	done <part
}

watch 80x24 "$GAVEL" demo.ndjson
# a line that is not the first, and a notice that any key takes away
press 'jjy'
look 'a screen that any key changes' 80x24 jjy "$GAVEL" demo.ndjson
there_and_back jjy && soon no_change
n=1
while [ $n -le "$lines" ]; do
	inject $n $((n + 19))
	ok "terminal replies $n to $((n + 19)) change nothing" still jjy
	n=$((n + 20))
done
injected=$lines
split=1
n=1
while [ $n -le "$lines" ]; do
	inject $n $n
	n=$((n + 2))
	injected=$((injected + 1))
done
split=
ok 'nor do they byte by byte' still jjy

pastes=1
for n in Q q 1 6 '?' : / '\' a x '=' '$' y jjjj ':quit' '/x' "$e" "$e[A" "$e[200~Q" "$e]0;Q" '漢字 Q' "Q$cr"; do
	printf '%s' "$n" | paste
	printf ':quit\r\nQ\n%s\r' "$n" | paste
	pastes=$((pastes + 2))
done
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "jkQ:q\n" }' | paste
ok "$pastes pastes change nothing" still jjy
ok "$injected replies and $pastes pastes are at least 200" [ $((injected + pastes)) -ge 200 ]

press ':abc'
look 'where text is typed' 80x24 jjy:abc "$GAVEL" demo.ndjson
there_and_back jjy:abc && soon no_change
inject 1 "$lines"
ok 'terminal replies are no text' still jjy:abc
printf 'd\033[31me\r\nf\007' | paste
look 'but a paste is, without its controls' 80x24 'jjy:abcd[31mef' "$GAVEL" demo.ndjson

# ---- the clipboard ----

# what was copied is a buffer of tmux, where it takes OSC 52 from programs
has_buffer() {
	t show-buffer | cmp -s - "$1"
}
t set -g set-clipboard on
watch 80x24 "$GAVEL" demo.ndjson
press 4g
ok 'messages' soon says '[4 Messages]'
press jjY
ok 'Y says that it has copied the message' soon says 'copied message #3, '
sed -n 3p demo.ndjson | tr -d '\n' >line
ok 'Y copies it byte for byte' soon has_buffer line
t set -g set-clipboard off

# ---- looks ----

colours() {
	t capture-pane -p -e -t "s$scene" | grep -cE "$esc\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]"
}

watch 80x24 "$GAVEL" demo.ndjson
look 'with colours' 80x24 '' "$GAVEL" demo.ndjson
ok 'there are some' [ "$(colours)" -gt 0 ]
watch 80x24 env NO_COLOR=1 "$GAVEL" demo.ndjson
look 'NO_COLOR' 80x24 '' "$GAVEL" demo.ndjson
is 'there are none' 0 "$(colours)"
watch 80x24 "$GAVEL" --color=never demo.ndjson
look '--color=never' 80x24 '' "$GAVEL" demo.ndjson
is 'none either' 0 "$(colours)"
for source in demo.ndjson text.ndjson; do
	watch 80x24 "$GAVEL" --ascii $source
	look "--ascii $source" 80x24 '' "$GAVEL" --ascii $source
	is "nothing but ASCII of $source" 0 "$(screen | LC_ALL=C tr -d '\n\040-\176' | wc -c)"
	watch 80x24 env LC_ALL=C "$GAVEL" $source
	look "LC_ALL=C $source" 80x24 '' env LC_ALL=C "$GAVEL" $source
	is "ASCII of $source then, too" 0 "$(screen | LC_ALL=C tr -d '\n\040-\176' | wc -c)"
done

# ---- no terminal to speak of ----

refuses() {
	name=$1
	words=$2
	shift 2
	start 160x24 "$@"
	ok "$name: it ends" soon says 'exit code'
	ok "$name: exit code 2" says 'exit code 2'
	ok "$name: says why" says "$words"
	ok "$name: and touches nothing" [ "$(t display -p -t "s$scene" '#{alternate_on} #{cursor_flag}')" = '0 1' ]
	ok "$name: not even the modes" soon tty_is_as_before
}
refuses 'TERM=dumb' 'gavel: a "dumb" terminal cannot move its cursor; set TERM, or use `gavel show' env TERM=dumb "$GAVEL" demo.ndjson
refuses 'TERM=nonsense' 'gavel: the terminal "nonsense" is unknown' env TERM=nonsense "$GAVEL" demo.ndjson
refuses 'no TERM' 'gavel: TERM is not set' env -u TERM "$GAVEL" demo.ndjson
refuses 'no source' 'gavel: no source' "$GAVEL"
if command -v setsid >/dev/null 2>&1; then
	refuses 'no terminal for keys' 'gavel: there is no terminal here; use `gavel show' \
		sh -c 'tty=$(tty) && setsid -w sh -c "\"\$GAVEL\" demo.ndjson </dev/null >$tty"'
else
	skip 'no terminal for keys' 'there is no setsid'
fi
"$GAVEL" demo.ndjson </dev/null >got 2>&1
is 'no terminal: the inbox is printed' "0$("$GAVEL" show inbox demo.ndjson)" "$?$(cat got)"

# ---- the bytes that are sent ----

explained() {
	od -An -v -tu1 "$1" | LC_ALL=C awk -f "$checker" caps -
}

if infocmp -1 "$inside" >caps 2>/dev/null; then
	evil=$(printf 'e\033]0;owned\007\233\302\233\342\200\256\346\274\242.ndjson')
	cp text.ndjson "$evil"
	for at in 80x24 60x15 120x36; do
		gate=1
		start $at "$GAVEL" "$evil"
		gate=
		t pipe-pane -t "s$scene" 'cat >raw'
		press '<Enter>'
		soon loaded
		press g
		all=
		while read -r name keys; do
			[ -z "$keys" ] || press "$keys"
			all=$all$keys
			draw $at "$all" "$GAVEL" "$evil" >/dev/null
			soon same || break
		done <walk
		ok "$at: every view of hostile text was shown" same
		press '\'
		printf 'p\033]0;Q\007\302\233\342\200\256\360\237\221\251\342\200\215\360\237\222\273\377' | paste
		ok "$at: hostile text was pasted" soon says 'p]0;Q'
		press '<Enter>Q'
		ok "$at: the end" soon says 'exit code 0'
		t pipe-pane -t "s$scene"
		ok "$at: all bytes were seen" soon grep -q 'exit code 0' raw
		ok "$at: cells and terminfo explain all bytes" explained raw
	done
	# the checker sees what it should
	for bad in '\033]0;x\007' '\033Pq\033\\' '\033_x\033\\' '\033^x\033\\' '\033Xx\033\\' '\007' '\000' \
		'\177' '\005' '\302\233' '\233' '\377' '\355\240\200' '\033[6n' '\033[?25$p' '\033[?9h' \
		'\033[c' '\033[3q' '\033[' '\342\200\256' '\342\200\213' '\357\270\217' '\363\240\201\201' \
		'\356\200\200' '\342\200'; do
		printf "fine $bad" >raw
		ok "the checker finds $(printf '%s' "$bad" | tr '\\' '/')" sh -c '! "$@"' sh \
			sh -c 'od -An -v -tu1 raw | LC_ALL=C awk -f "$1" caps -' sh "$checker"
	done
	printf '\033[1;31mfine\033[m\017\033(B \346\274\242 e\314\201\r\n\t\b\033[10;20H\033[?1049h' >raw
	ok 'and lets the rest be' explained raw
else
	skip 'the bytes that are sent' 'there is no infocmp, or it does not know the terminal'
fi

scenes_end
