# gavel run with real agents: their flags, handshakes and prompts over real pipes, with scripted stand-ins
# that answer what the real programs answer (tests/tools/fake_dialects.c); asks that are decided by hand and
# by scripts, withdrawn, answered elsewhere; agents that never read, write nonsense, die, are restarted.
. "$srcdir/tests/tap.sh"
slow 'real agents'

HOME=$tmp
USER=ann
XDG_CONFIG_HOME=$tmp/config
OPENAI_API_KEY=secret
export HOME USER XDG_CONFIG_HOME OPENAI_API_KEY
unset CODEX_HOME ANTHROPIC_API_KEY VISUAL EDITOR NO_COLOR
cd "$tmp" || exit 99
trap '"$GAVEL" agents stop --all >/dev/null 2>&1; rm -rf "$tmp"' EXIT

says() { grep -qF -- "$1" err || { cat out err; return 1; }; }
fails() { wanted=$1; shift; "$@" >out 2>err; [ $? = "$wanted" ] || { cat out err; return 1; }; }
shows() { sed '/^---$/,$d' "$1" | grep -qF -- "$2" || { cat "$1"; return 1; }; }
# holds FILE TEXT [N]: it does, N times or at least once, within some seconds
holds() {
	i=0
	while [ "$(cat "$1" 2>/dev/null | grep -cF -- "$2")" -lt "${3-1}" ]; do
		i=$((i + 1))
		[ $i -lt 300 ] || { cat "$1"; return 1; }
		sleep 0.1
	done
}
save=':save-screen'

# run KEYS WORD...: gavel run with these keys
run() {
	printf '%s' "$1" >keys
	shift
	timeout 60 "$GAVEL" run --headless --size 120x24 --keys keys "$@" >out 2>err
	run_code=$?
	captures=$(sed -n 's/^gavel: what the agents wrote is in //p' err)
	[ "$run_code" = 0 ] || { echo "exit code $run_code"; cat out err; return 1; }
}
# agent DIALECT KEYS PLAN WORD...: the same with a stand-in called dev
agent() {
	agent_dialect=$1 agent_keys=$2 agent_plan=$3
	shift 3
	capture=none
	run "$agent_keys" --agent dev --dialect="$agent_dialect" "$@" -- "$FAKE_AGENT" "$agent_dialect $agent_plan" || return 1
	capture=$captures/dev.ndjson
}
# detached DIALECT PLAN WORD...: one that goes on; sets capture
detached() {
	detached_dialect=$1 detached_plan=$2
	shift 2
	"$GAVEL" run --detach --format=json --agent dev --dialect="$detached_dialect" "$@" -- \
		"$FAKE_AGENT" "$detached_dialect $detached_plan" >out 2>err || { cat out err; return 1; }
	capture=$(sed -n 's/.*"capture":"\([^"]*\)".*/\1/p' out)
}
# on KEYS: gavel on the capture of one that runs
on() {
	printf '%s' "$1" >keys
	timeout 60 "$GAVEL" --headless --size 120x24 --keys keys "$capture" >out 2>err || { cat out err; return 1; }
}
# what it was told, without the records of the holder
told_lines() { sed -n '/^\t{"gavel":/d; s/^\t//p' "$capture"; }
told() { told_lines | grep -qF -- "$1" || { cat "$capture"; return 1; }; }
stop() { "$GAVEL" agents stop dev >/dev/null; }

# ---- programs by their names ----

mkdir bin
for name in claude codex opencode gemini; do
	printf '#!/bin/sh\necho "$@" >&2\necho no such thing >&2\nexit 7\n' >bin/$name
	chmod +x bin/$name
done
PATH=$tmp/bin:$PATH
export PATH
ok 'a known program that fails' fails 2 "$GAVEL" run --detach -- claude --model x
ok '... has got its flags' says '--model x -p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio --replay-user-messages'
ok '... is quoted' says 'no such thing'
ok '... with what to do' says 'claude ended at once: exit code 7; if it is not logged in, run: claude /login'
ok 'codex' fails 2 "$GAVEL" run --detach -- codex
ok '... is an app-server' says 'app-server'
ok '... may lack a variable' says 'it may need --env=OPENAI_API_KEY'
ok '... unless it has it' fails 2 "$GAVEL" run --detach --env=OPENAI_API_KEY -- codex
ok '... then it may not be logged in' says 'run: codex login'
ok 'opencode' fails 2 "$GAVEL" run --detach -- opencode
ok '... speaks acp' says acp
ok 'gemini' fails 2 "$GAVEL" run --detach -- gemini
ok '... with --acp' says --acp
ok 'what gavel cannot work with' fails 2 "$GAVEL" run --detach -- claude --output-format text
ok '... is said' says 'gavel needs --output-format stream-json'
ok '--dialect=none leaves it alone' fails 2 "$GAVEL" run --detach --dialect=none -- claude
is '... really' '' "$(grep -e --verbose err)"
ok 'no such dialect' fails 2 "$GAVEL" run --detach --dialect=latin -- true
ok 'a prompt for something else' fails 2 "$GAVEL" run --detach --prompt=hi -- true
ok '... needs its dialect' says '--dialect=claude, codex or acp'
ok 'a prompt from no file' fails 2 "$GAVEL" run --detach --prompt=@nowhere -- claude
ok 'an empty one' fails 2 "$GAVEL" run --detach --prompt= -- claude
ok 'the UI says it, too' run '<until:ended: exit code 7: no such thing; it may need --env=OPENAI_API_KEY>Q' -- codex

# ---- handshake and prompt, detached ----

printf 'Fix it.\n\nAll of it.\n' >task.md
for d in claude codex acp; do
	ok "$d: --detach" detached $d 'hello' --prompt=@task.md
	ok '... names the dialect' grep -qE "^\{\"agent\":\"dev\",\"dialect\":\"$d\",\"pid\":[0-9]+,\"state\":\"runs\",\"capture\":" out
	ok '... so does the head of the capture' sh -c 'head -1 "$1" | grep -q "\"dialect\":\"$2\""' sh "$capture" $d
	ok '... returned when the prompt was written' told 'Fix it.\n\nAll of it.'
	ok '... which is journalled' grep -qF 'All of it.' "$XDG_STATE_HOME"/gavel/*/journal-000001
	ok 'agents prompt' "$GAVEL" agents prompt dev and then this
	ok '... writes it' told 'and then this'
	is '... once each' '1 1' "$(told_lines | grep -c 'All of it') $(told_lines | grep -c 'and then this')"
	ok '... in a second turn' holds "$capture" again
	ok 'stopped' stop
	ok '... nobody is prompted' fails 2 "$GAVEL" agents prompt dev hi
done
ok 'prompt whom' fails 2 "$GAVEL" agents prompt
ok 'prompt what' fails 2 "$GAVEL" agents prompt dev
"$GAVEL" run --detach --agent other -- "$FAKE_AGENT" stall >out 2>err
ok 'one that takes no prompts' fails 1 "$GAVEL" agents prompt other hi
ok '... is told from the others' says 'does not know how to prompt'
"$GAVEL" agents stop other >/dev/null
ok 'acp: a turn runs' detached acp 'hold:release' --prompt=go
ok '... so agents prompt is refused' fails 1 "$GAVEL" agents prompt dev more
ok '... and why' says 'a turn runs'
: >release
ok '... stopped' stop
rm -f release

# ---- a start that fails after the handshake has begun, and one that never reads ----

ok 'an agent that ends at its prompt' fails 2 "$GAVEL" run --detach --agent dev --dialect=claude --prompt=go -- sh -c 'read x; echo Invalid API key >&2; exit 1'
ok '... is quoted' says 'Invalid API key'

# ---- the UI ----

ok 'claude: i prompts' agent claude "<until:Nothing>i<until:prompt dev:>say hi<Enter><until:finished>4<until:hello>$save said<Enter>Q" hello
ok '... the words' told '"content":"say hi"'
ok 'codex: :prompt' agent codex ':prompt say hi<Enter><until:finished>:prompt dev and more<Enter>4<until:again>Q' hello
is '... twice' 2 "$(told_lines | grep -c '"turn/start"')"
ok '... by its name once' told '"text":"and more"'
rm -f release
ok 'acp: a prompt waits for the end of the turn' agent acp "4<until:underway>:prompt later<Enter><until:when its turn is over>:interrupt<Enter><until:again>Q" 'underway hold:release' --prompt=go
ok '... of the first one' told '"text":"later"'
ok '... which was cancelled' told '"method":"session/cancel"'
ok 'claude: more words join the turn' agent claude "4<until:underway>:prompt more words<Enter><until:more words>:interrupt<Enter><until:finished>Q" 'underway hold:release' --prompt=go
ok '... which is interrupted' told '"subtype":"interrupt"'
ok 'codex: they steer it' agent codex "4<until:underway>:prompt more words<Enter><until:more words>:interrupt<Enter><until:finished>Q" 'underway hold:release' --prompt=go
ok '... by a turn/steer' told '"method":"turn/steer"'
ok '... and turn/interrupt' told '"method":"turn/interrupt"'
ok 'a mode' agent claude ":mode plan<Enter><until:has changed its mode>:mode nonsense<Enter><until:Cannot set permission mode>Q" hello
ok '... by set_permission_mode' told '"subtype":"set_permission_mode","mode":"plan"'
ok 'a mode that is not offered' agent acp "4<until:hello>:mode yolo<Enter><until:it offers default, plan>:mode plan<Enter><until:has changed its mode>Q" hello --prompt=go
ok '... one that is' told '"modeId":"plan"'
ok 'codex: a mode goes with the next turn' agent codex "4<until:hello>:mode plan<Enter><until:from its next turn on>:prompt more<Enter><until:prompted>Q" hello --prompt=go
ok '... by its collaboration mode' told '"collaborationMode":{"mode":"plan"'
ok 'nothing to interrupt' agent codex ":interrupt<Enter><until:no turn that runs>Q" hello
ok 'acp: files are refused' agent acp '<until:finished>Q' 'files' --prompt=go
ok '... by an error' told '"error":{"code":-32601,"message":"Method not found: fs/write_text_file"}'
for d in claude codex acp; do
	ok "$d: nonsense" agent $d "<until:no messages>Q" 'malformed hold:release' --prompt=go
	ok '... an agent that dies in the middle of a line' agent $d "<until:signal 6 (Aborted)>4<until:assi>Q" die --prompt=go
	case $d in acp) more=':interrupt<Enter><until:interrupting>' ;; *) more=':prompt more<Enter><until:prompted>' ;; esac
	ok '... one that never reads' agent $d "4<until:underway>${more}j<until:not reading>Q" 'underway deaf' --prompt=go
done
cat >config.json <<END
{ "agents": [
	{ "name": "one", "command": ["$FAKE_AGENT", "claude hello"], "dialect": "claude", "prompt": "do one" },
	{ "name": "two", "command": ["$FAKE_AGENT", "acp hello"], "dialect": "acp", "prompt": "@task.md" } ] }
END
ok 'two of the configuration' fails 0 "$GAVEL" run --detach --config=config.json
capture=$(sed -n 's/^one runs.*gavel //p' out)
ok '... the first one is prompted' told 'do one'
capture=$(sed -n 's/^two runs.*gavel //p' out)
ok '... the second one, too' told 'All of it.'
ok '... one prompt for two' fails 2 "$GAVEL" run --detach --config=config.json --prompt=x
ok '... is for none' says '--prompt is for one agent'
"$GAVEL" agents stop --all >/dev/null

cat >config.json <<END
{ "agents": [
	{ "name": "claude", "command": ["$FAKE_AGENT", "claude underway"], "dialect": "claude", "prompt": "do one" },
	{ "name": "other", "command": ["$FAKE_AGENT", "claude hello"], "dialect": "claude", "prompt": "do two" } ] }
END
ok 'an agent called like its program' run "4<until:underway><until:hello>$save named<Enter>Q" --config=config.json
ok '... is no claim of the other one' sh -c '! grep -q invalid named'

# ---- restarted, attached to ----

ok 'a restarted agent' agent acp "<until:finished>:restart<Enter><until:running again>:prompt more<Enter><until:finished>Q" hello --prompt=go
is '... is greeted again, its prompt is not repeated' '2 2 1 1' "$(told_lines | grep -c '"initialize"') $(told_lines | grep -c session/new) $(told_lines | grep -c '"go"') $(told_lines | grep -c '"more"')"
is '... with numbers of its own' '1 2 3 4 5 6' "$(told_lines | sed -n 's/.*"id":\([0-9]*\),"method".*/\1/p' | tr '\n' ' ' | sed 's/ $//')"

# nobody speaks to it before somebody attaches who may
ok 'codex: attached to' detached codex 'underway hold:release' --prompt=go
ok '... goes on' on "4<until:underway>:prompt more words<Enter><until:more words>:interrupt<Enter><until:finished>Q"
ok '... in the same turn' told '"method":"turn/steer","params":{"threadId":"th-1","expectedTurnId":"turn-1"'
is '... without another handshake' '1 1' "$(told_lines | grep -c '"initialize"') $(told_lines | grep -c thread/start)"
ok '... stopped' stop
ok 'codex: who decides' detached codex 'underway hold:release bye' --prompt=go
printf '%s' "4<until:underway>$save locked<Enter><until:bye>Q" >keys
timeout 60 "$GAVEL" --headless --size 120x24 --keys keys "$capture" >out2 2>err2 &
holds locked underway
ok '... keeps others from prompting' fails 3 "$GAVEL" agents prompt dev hi
ok '... is named' says 'another gavel decides here'
: >release
wait
rm release
ok '... stopped' stop

# ---- decided ----

# decided DIALECT: the id of its one open item
item_id() { "$GAVEL" show inbox --format=json "$capture" | sed -n 's/^{"id":"\([^"]*\)".*/\1/p'; }

# why it waits no more
why() { "$GAVEL" show inbox --all --format=json "$capture" | sed 's/.*"verdict":"\([a-z]*\)".*"why":"\([^"]*\)".*/\1: \2/'; }

for d in ${DECIDED-claude codex acp}; do
	ok "$d: asks while nobody is there" detached $d 'ask done' --prompt=go
	elsewhere='the agent took it back, or somebody else answered'
	interrupted=$elsewhere
	case $d in
	claude) id=ask-1 ;;
	codex) id=th-1/call-1 elsewhere='answered elsewhere' interrupted="the agent's turn is over" ;;
	acp) id=ses-1/call-1 ;;
	esac
	holds "$capture" 'touch f1' 2
	is '... waits' "$id" "$(item_id)"
	ok '... since when is known' sh -c '"$GAVEL" show inbox --format=json "$1" | grep -qE "\"opened\":\{\"line\":[0-9]+,\"time\":[0-9]{13}"' sh "$capture"
	ok '... is listed' sh -c '"$GAVEL" agents | grep -q "1 open"'
	ok '... staged by who looks at it' on "1<until:touch f1>a<until:y send>qQy"
	ok '... sent by the next one' on "1<until:1 staged>6<until:touch f1>\$<until:y send><wait:1100>y<until:0 open>Q"
	ok '... goes on' holds "$capture" done
	is '... decided' '' "$(item_id)"
	ok '... with proof' sh -c '"$GAVEL" show decisions "$1" | grep -q acknowledged' sh "$capture"
	ok 'stopped' stop

	ok "$d: once more" detached $d 'ask done' --prompt=go
	holds "$capture" 'touch f1' 2
	ok '... accepted by a script' "$GAVEL" decide "$capture" "$id" accept --deliver
	ok '... goes on' holds "$capture" done
	is '... decided' '' "$(item_id)"
	ok 'stopped' stop

	ok "$d: two at once" agent $d "<until:touch f2>1a<until:y send><wait:500>y<until:1 open>xno<Enter><until:y send><wait:500>y<until:0 open>Q" 'two done' --prompt=go
	ok '... one ran, one did not' "$GAVEL" check "$capture"
	[ $d != codex ] || is '... the reason came first' 'turn/steer decline' \
		"$(told_lines | sed -n 's/.*"method":"\(turn.steer\)".*/\1/p; s/.*"decision":"\(decline\)".*/\1/p' | paste -sd' ' -)"

	ok "$d: withdrawn while it is decided" agent $d "<until:touch f1>1a<until:y send><wait:500>:save-screen withdrawn-$d<Enter><until:0 open>y<wait:300>Q" "withdraw:withdrawn-$d done" --prompt=go
	is '... nothing was sent' 0 "$(told_lines | grep -c -e '"behavior"' -e '"decision"' -e '"optionId"')"

	ok "$d: answered elsewhere" agent $d "<until:touch f1>:save-screen elsewhere-$d<Enter><until:0 open>Q" "elsewhere:elsewhere-$d done" --prompt=go
	is '... is open no more' '' "$(item_id)"
	is '... and why' "withdrawn: $elsewhere" "$(why)"

	ok "$d: restarted while it asks" agent $d "<until:touch f1>:restart<Enter>4<until:exit>Q" 'ask done' --prompt=go
	is '... what it asked has expired' '' "$(item_id)"

	ok "$d: interrupted while it asks" agent $d "<until:touch f1>:interrupt<Enter><until:Nothing waits>Q" 'ask done' --prompt=go
	is '... interrupted, open no more' '' "$(item_id)"
	# in acp the client answers what is open, with "cancelled"
	[ $d = acp ] || is '... and why' "withdrawn: $interrupted" "$(why)"

	ok "$d: dies with the answer unread" agent $d "<until:touch f1>a<until:y send><wait:500>y<until:0 open>:save-screen unread-$d<Enter><until:Aborted>Q" "unread:unread-$d" --prompt=go
	is '... so it was not delivered' held "$("$GAVEL" show decisions --format=json "$capture" | sed 's/.*"delivery":"\([a-z]*\)".*/\1/')"
	is '... and nobody waits for it' '' "$(item_id)"
done
ok 'claude: withdrawn while the answer is written' agent claude "<until:touch f1>a<until:y send><wait:500>y<until:finished>Q" 'late done' --prompt=go
is '... it was' 'control_cancel_request control_response' "$(sed -n 's/^\t*{"type":"\(control_cancel_request\|control_response\)".*ask-1.*/\1/p' "$capture" | paste -sd' ' -)"
is '... so it came too late' 'bounced' "$("$GAVEL" show decisions --format=json "$capture" | sed 's/.*"delivery":"\([a-z]*\)".*/\1/')"
ok '... and the decision says why' sh -c '"$GAVEL" show decisions --size=200 "$1" | grep -q "too late: the agent took it back"' sh "$capture"
ok 'acp: the reason of a rejection' agent acp "<until:touch f1>1xuse build instead<Enter><until:staged>\$<wait:400>y<until:finished>4G<until:again>Q" 'ask done' --prompt=go
is '... is the next prompt' 1 "$(told_lines | grep -c '"method":"session/prompt".*"text":"use build instead"')"
ok '... also if nobody is there' detached acp 'ask hold:release done' --prompt=go
holds "$capture" 'touch f1' 2
rm -f release
ok '... when it is decided' "$GAVEL" decide "$capture" ses-1/call-1 reject --explain='use build instead' --deliver
is '... and the turn runs' 0 "$(told_lines | grep -c 'use build instead')"
: >release
holds "$capture" stopReason
ok '... but as soon as somebody attaches' on '<until:finished>Q'
is '... once' 1 "$(told_lines | grep -c 'use build instead')"
ok '... and not again' on '4<until:again>Q'
is '... really' 1 "$(told_lines | grep -c 'use build instead')"
ok '... stopped' stop

tap_end
