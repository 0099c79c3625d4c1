# Notices that leave the terminal: notices.command is told of items that open, come near their deadline
# and expire, live, while an agent runs; a bad command harms nothing and is told once.
. "$srcdir/tests/tap.sh"
slow 'notices of agents that gavel runs'

HOME=$tmp
USER=ann
export HOME USER
cd "$tmp" || exit 99

# question ID TIMEOUT WORDS: a line of the agent
question() {
	printf 'say {"type":"request:ask-user","id":"%s","timestamp":"{now}","payload":{"question":"%s","options":[{"label":"A","value":"a"}],"timeout":%s}}' "$1" "$3" "$2"
}
# watch COMMAND KEYS LINE...: gavel run with that notices.command
watch() {
	printf '{ "notices": { "command": %s } }' "$1" >config.json
	printf '%s' "$2" >keys
	shift 2
	timeout 60 "$GAVEL" run --headless --size=120x24 --keys=keys --screen=screen --config=config.json --agent=dev -- "$FAKE_AGENT" "$@" >out 2>err
}
field() { sed -n "$2p" told | sed "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/"; }

cat >tell <<'END'
#!/bin/sh
cat >>"$1/told"
echo "$#" >>"$1/args"
echo noise
echo noise >&2
END
chmod +x tell
ok 'an agent asks three things, one of them for three seconds' watch "[\"$tmp/tell\", \"$tmp\"]" '<until:expired><wait:400>QQ' \
	"$(question q-1 3000 'First?')" "$(question q-2 300000 '$(touch pwned) \"; touch pwned \u001b]0;x\u0007\n next')" "$(question q-3 300000 'Third?')" stall
is 'the command is told three times' 3 "$(wc -l <told)"
is '... in JSON' '' "$(while read -r line; do printf '%s' "$line" | "$GAVEL" check --format=json --all - | grep '"kind":"log"'; done <told)"
is 'the newest opened, the others counted' '"opened" "q-3" "question" "Third?" "dev" "dev" 2' \
	"$(for f in event id kind title session agent rest; do field $f 1; done | tr '\n' ' ' | sed 's/ $//')"
is 'near its deadline' '"near" "q-1" "First?" 0' "$(for f in event id title rest; do field $f 2; done | tr '\n' ' ' | sed 's/ $//')"
is 'expired' '"expired" "q-1" 0' "$(for f in event id rest; do field $f 3; done | tr '\n' ' ' | sed 's/ $//')"
is '... and when' "$(field deadline 2)" "$(field deadline 3)"
ok '... in milliseconds' sh -c '[ "$1" -gt "$(($(date +%s) - 60))000" ]' sh "$(field deadline 3)"
is 'nothing of it is in the arguments' '1 1 1' "$(tr '\n' ' ' <args | sed 's/ $//')"
is 'its output goes nowhere' 0 "$(cat out err screen | grep -c noise)"

rm told args
ok 'words of agents' watch "[\"$tmp/tell\", \"$tmp\"]" '<until:Third?><wait:1300>QQ' \
	"$(question q-1 300000 '$(touch pwned) \"; touch pwned \u001b]0;x\u0007\n n\u202ee\u200bxt')" 'delay 200' "$(question q-2 300000 'Second?')" 'delay 200' "$(question q-3 300000 'Third?')" stall
is '... are data, without control characters' '"title":"$(touch pwned) \"; touch pwned  ]0;x   next"' "$(grep -o '"title":.*next"' told)"
ok 'there is at most one notice a second' [ "$(wc -l <told)" -le 2 ]
is '... and the others counted' 3 "$(sed 's/.*"rest":\([0-9]*\).*/\1/' told | awk '{ n += 1 + $1 } END { print n }')"
is '... and run nothing' 0 "$(find . -name pwned | wc -l)"

# what is wrong with the command is told, and gavel goes on
ok 'no such program is told' watch '["/nonexistent/tell"]' \
	'<until:notices.command /nonexistent/tell: No such file or directory; check it in the configuration>QQ' "$(question q-1 300000 'First?')" stall
ok 'one that fails is told' watch '["false"]' '<until:notices.command false: it ended with exit code 1>QQ' "$(question q-1 300000 'First?')" stall
ok '... once' watch '["false"]' '<until:notices.command><until:expired><wait:300>:save-screen after<Enter>QQ' "$(question q-1 1400 'First?')" stall
is '... not again when something expires' 0 "$(grep -c 'notices.command' after)"
cat >hang <<'END'
#!/bin/sh
echo $$ >"$1/pid"
exec sleep 1000
END
chmod +x hang
ok 'one that hangs holds up nothing' watch "[\"$tmp/hang\", \"$tmp\"]" '<until:First?><wait:300>QQ' "$(question q-1 300000 'First?')" stall
ok '... and ends with gavel' sh -c '[ -s pid ] && ! kill -0 "$(cat pid)" 2>/dev/null'

# whoever can write the configuration could run programs
chmod o+w config.json
rm pid
"$GAVEL" run --headless --keys=keys --config=config.json --agent=dev -- "$FAKE_AGENT" "$(question q-1 300000 'First?')" >out 2>err
is 'a configuration that others can write is refused' 2 $?
ok '... and nothing of it runs' [ ! -e pid ]

tap_end
