# Agents outlive gavel: started without a screen, attached to, decided on by scripts, stopped, and what
# is told when gavel, a holder or an agent is killed, or a holder does not respond.
. "$srcdir/tests/tap.sh"
slow 'agents that outlive gavel'

HOME=$tmp
USER=ann
export HOME USER
cd "$tmp" || exit 99
trap '"$GAVEL" agents stop --all >/dev/null 2>&1; rm -rf "$tmp"' EXIT

# shows FILE TEXT: a saved screen does
shows() {
	sed '/^---$/,$d' "$1" | grep -qF -- "$2" && return 0
	cat "$1"
	return 1
}

says() { grep -qF -- "$1" err || { cat out err; return 1; }; }
fails() { wanted=$1; shift; "$@" >out 2>err; [ $? = "$wanted" ] || { cat out err; return 1; }; }

ask='{"type":"request:ask-user","id":"q-1","timestamp":"{now}","payload":{"question":"Which one?","options":[{"label":"A","value":"a"},{"label":"B","value":"b"}],"timeout":300000}}'
save=':save-screen'

# gone NUMBER: no such process, or nobody has asked how it ended
gone() {
	i=0
	while [ -e "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 300 ] || return 1
		sleep 0.1
	done
}
# holds FILE TEXT: it does, within some seconds
holds() {
	i=0
	while ! grep -qF -- "$2" "$1" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 300 ] || { cat "$1"; return 1; }
		sleep 0.1
	done
}

# detached NAME WORD...: a fake agent that goes on; sets capture and agent_pid
detached() {
	detached_name=$1
	shift
	"$GAVEL" run --detach --format=json --agent "$detached_name" -- "$FAKE_AGENT" "$@" >out 2>err || return 1
	capture=$(sed -n 's/.*"capture":"\([^"]*\)".*/\1/p' out)
	agent_pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' out)
}

ok '--detach returns' detached dev "say $ask" 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line shutdown'
ok '... with one line of JSON' grep -qE '^\{"agent":"dev","dialect":null,"pid":[0-9]+,"state":"runs","capture":"/[^"]*/dev.ndjson"\}$' out
ok '... in a session of its own' sh -c '[ "$(ps -o sid= -p "$1" | tr -d " ")" = "$1" ]' sh "$agent_pid"
ok 'the question waits' holds "$capture" q-1
is 'it is listed' "dev orchestrator $agent_pid runs 1 open $capture" "$("$GAVEL" agents | tr -s ' ')"
is '... as JSON' "{\"agent\":\"dev\",\"dialect\":\"orchestrator\",\"pid\":$agent_pid,\"state\":\"runs\",\"capture\":\"$capture\",\"open\":1}" "$("$GAVEL" agents --format=json)"
first=$capture first_pid=$agent_pid
holder_pid=$(ps -o ppid= -p "$agent_pid" | tr -d ' ')
kill -STOP "$holder_pid"
is 'one whose holder is stopped is listed, too' "dev orchestrator - does not respond 1 open $capture" "$("$GAVEL" agents | tr -s ' ')"
ok '... cannot be stopped' fails 2 "$GAVEL" agents stop dev
ok '... which is told' says 'does not respond; is it stopped?'
printf '%s' "<wait:2200>5<until:dev: does not respond>Q" >keys
ok '... also to who looks' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
ok 'a second one of that name' detached dev stall
kill -CONT "$holder_pid"
ok '... is called dev-2' grep -q '"agent":"dev-2"' out
ok '... and is stopped by that name' "$GAVEL" agents stop dev-2
ok '... gone' gone "$agent_pid"
for i in 1 2 3 4 5 6; do
	"$GAVEL" run --detach --format=json --agent twin -- "$FAKE_AGENT" stall >"twin.$i" 2>&1 &
done
wait
is 'six that start at one moment have six names' 'twin twin-2 twin-3 twin-4 twin-5 twin-6' \
	"$(sed -n 's/.*"agent":"\([^"]*\)".*/\1/p' twin.* | sort | xargs)"
ok '... and are stopped by them' "$GAVEL" agents stop twin twin-2 twin-3 twin-4 twin-5 twin-6
capture=$first agent_pid=$first_pid
ok 'a script answers' "$GAVEL" decide "$capture" q-1 answer --answer=b --deliver
ok '... and the agent goes on' holds "$capture" 'got b'
is '... once' 1 "$(grep -c '^	.*"correlationId":"q-1"' "$capture")"
fails 1 "$GAVEL" decide "$capture" q-1 answer --answer=a --deliver
is '... not twice' 1 "$(grep -c '^	.*"correlationId":"q-1"' "$capture")"
printf '%s' "4<until:got b>$save looked<Enter>Q" >keys
ok 'gavel CAPTURE shows it' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
ok '... live' shows looked ' live '
ok '... and leaves it running' kill -0 "$agent_pid"
ok 'stop without a name' fails 2 "$GAVEL" agents stop
ok 'stop of nobody' fails 2 "$GAVEL" agents stop nobody
ok '--all without stop' fails 2 "$GAVEL" agents --all
# the first one ends only when the second one has been asked, and there is time for that; the second one
# tries to stop itself
"$GAVEL" run --detach --agent aaa -- sh -c "trap '' TERM; read x; while [ ! -e asked ]; do sleep 0.02; done" >out 2>err
"$GAVEL" run --detach --agent bbb -- sh -c "'$GAVEL' agents stop bbb 2>refused; read x; : >asked" >out 2>err
is 'all are stopped at once' 'aaa ended code 0
bbb ended code 0
dev ended code 0' "$("$GAVEL" agents stop aaa bbb dev --format=json | sed -n 's/{"agent":"\([^"]*\)","outcome":"\([^"]*\)","message":"has ended (\(.*\)); .*/\1 \2 \3/p')"
ok '... not by themselves' grep -q 'bbb.ndjson: .*the agent and what it has started may not talk to it' refused
ok '... gone' gone "$agent_pid"
is '... none is listed' 'No agent runs.' "$("$GAVEL" agents)"
ok '... how it ended is in its capture' grep -q '^	{"gavel":"exit","n":1,' "$capture"
ok 'its questions are decided no more' fails 1 "$GAVEL" decide "$capture" q-1 answer --answer=a --deliver --correct

# an agent that ends without reading its answer, while nobody is attached
ok 'an agent that never reads' detached deaf "say $ask" stall
ok '... asks' holds "$capture" q-1
ok '... and is answered' "$GAVEL" decide "$capture" q-1 answer --answer=b --deliver
kill -KILL "$agent_pid"
ok '... and ends' holds "$capture" '"gavel":"exit"'
"$GAVEL" show decisions "$capture" >out
ok 'it was not delivered' grep -q 'answered.*held' out
fails 1 "$GAVEL" decide "$capture" q-1 answer --answer=b --deliver
ok '... which the next decision says' grep -q 'without reading' out
# and one that has closed its standard input
ok 'an agent that cannot be told' detached shut "say $ask" close-input stall
holds "$capture" q-1
ok '... is not' fails 1 "$GAVEL" decide "$capture" q-1 answer --answer=b --deliver
ok '... as is said' grep -q 'its standard input is closed' out
printf '%s' "6<until:not delivered><wait:300>Q" >keys
ok '... to whoever attaches' timeout 60 "$GAVEL" --headless --size 120x24 --keys keys "$capture"
is '... nothing was sent' 0 "$(grep -c '^	.*correlationId' "$capture")"
ok '... stopped' "$GAVEL" agents stop shut

ok 'a start that fails is told' fails 2 "$GAVEL" run --detach --agent bad -- sh -c 'echo no such option >&2; exit 3'
ok '... with its words' says 'no such option'
ok '... and its end' says 'bad ended at once: exit code 3'
ok 'one that has ended well' fails 0 "$GAVEL" run --detach -- true
ok '... does not run' grep -q '^true has ended already: exit code 0: gavel /' out
cat >config.json <<END
{ "agents": [ { "name": "dev", "command": ["true"] }, { "name": "no", "command": ["/no/such/program"] } ] }
END
ok 'one of two that does not start' fails 2 "$GAVEL" run --detach --format=json --config config.json
ok '... is told' says 'no: cannot run /no/such/program'
ok '... and so is the other' grep -q '^{"agent":"dev",.*"state":"ended"' out
ok '--format without --detach' fails 2 "$GAVEL" run --headless --format=json -- true

# what waited while nobody was there: a query, a question that is late, one that is not
query() { printf 'say {"type":"request:query-agents","id":"%s","timestamp":"{now}","payload":{}}' "$1"; }
late='{"type":"request:ask-user","id":"q-9","timestamp":"{now}","payload":{"question":"Now?","timeout":1}}'
ok 'requests wait' detached dev "$(query w-1)" "say $late" "say $ask" 'say asked' 'wait-for-line w-1' 'wait-for-line q-9' 'say got {last:code}' 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line'
ok '... while nobody is attached' holds "$capture" asked
is '... nobody answers' 0 "$(grep -c '^	.*correlationId' "$capture")"
printf '%s' "<until:question>=1<Enter><wait:400>y4<until:got a>Q" >keys
ok '... and are answered by whoever attaches' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
ok '... the query' grep -q '^	.*"response:success".*"correlationId":"w-1"' "$capture"
ok '... the late one with TIMEOUT' grep -q '^	.*"correlationId":"q-9".*"TIMEOUT"' "$capture"
ok '... the other by the person' grep -q '^	.*"correlationId":"q-1".*"answer":"a"' "$capture"
printf '%s' "4<until:got a>Q" >keys
ok 'attached again' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
is '... nothing is answered twice' 3 "$(grep -c '^	.*correlationId' "$capture")"
ok '... and it passes check' "$GAVEL" check "$capture"
"$GAVEL" agents stop --all >out 2>err

# a script that decides answers the rest, too; another gavel may look meanwhile, and decide nothing
ok 'requests wait again' detached dev "$(query w-1)" "say $ask" 'say asked' 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line w-1' 'say heard all' 'wait-for-line'
ok '... all of them' holds "$capture" asked
ok 'what a script decides' "$GAVEL" decide "$capture" q-1 answer --answer=a --deliver
ok '... is read' holds "$capture" 'got a'
ok '... and so is what gavel answers' holds "$capture" 'heard all'
is '... each once' 2 "$(grep -c '^	.*correlationId' "$capture")"
"$GAVEL" agents stop --all >out 2>err
ok 'two look' detached dev "say $ask" 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line'
printf '%s' "<until:question>$save first<Enter><wait:60000>" >keys
"$GAVEL" --headless --size 100x24 --keys keys "$capture" >out 2>err &
pid=$!
ok '... the first decides' holds first 'Which one?'
rm -f second
printf '%s' "<until:question>=<wait:900>:stop dev<Enter><until:dev: another gavel decides>:restart dev<Enter><until:dev: another gavel decides>$save second<Enter><until:has ended><until:running again><until: live >$save followed<Enter>Q" >keys2
timeout 60 "$GAVEL" --headless --size 100x24 --keys keys2 "$capture" >out2 2>err2 &
second_pid=$!
ok '... the second looks' holds second 'Which one?'
ok '... and cannot decide' shows second ' read-only '
is '... and a script, too' 3 "$("$GAVEL" decide "$capture" q-1 answer --answer=a --deliver >out 2>err; echo $?)"
is '... nothing was said' 0 "$(grep -c '^	.*correlationId' "$capture")"
ok '... it goes on' kill -0 "$agent_pid"
kill -9 $pid
wait $pid 2>/dev/null
printf '%s' ":restart dev<Enter><until:running again>Q" >keys
ok '... a third starts it again' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
wait $second_pid
is '... which the second follows' 0 $?
ok '... live' shows followed ' live '
"$GAVEL" agents stop --all >out 2>err

# two agents of a config: both are attached to by their folder, and by the capture of either
# words LINE...: as the rest of a JSON array
words() { printf '%s\n' "$@" | sed 's/"/\\"/g; s/.*/,"&"/'; }
asks() { printf 'say %s' "$ask" | sed "s/q-1/$1/"; }
cat >two.json <<EOF
{"agents":[{"name":"one","command":["$FAKE_AGENT"
$(words "$(query w-1)" "$(asks q-1)" 'wait-for-line q-1' 'wait-for-line w-1' "$(asks q-2)" 'wait-for-line q-2' 'say one got {last:answer}' "$(asks q-3)" stall)]},
	{"name":"two","role":"reviewer","capabilities":["c","d"],"command":["$FAKE_AGENT"
$(words 'say two is here' "$(query w-2 | sed 's/{}/{"role":"reviewer"}/')" 'wait-for-line w-2' wait-for-line)]}]}
EOF
"$GAVEL" run --detach --config=two.json --format=json >out 2>err
cp out both.json
is 'two run' 2 "$(grep -c '"state":"runs"' out)"
folder=$(sed -n 's/.*"capture":"\(.*\)\/one.ndjson".*/\1/p' out)
: >"$folder/stray.stderr"
holds "$folder/one.ndjson" q-1
ok '... a script decides on one' "$GAVEL" decide "$folder/one.ndjson" q-1 answer --answer=a --deliver
ok '... which hears of both' holds "$folder/one.ndjson" q-2
is '... by their names' 'one two ' "$(grep '^	.*"correlationId":"w-1"' "$folder/one.ndjson" | grep -o '"id":"[a-z]*",' | cut -d '"' -f 4 | tr '\n' ' ')"
printf '%s' "<until:question>=2<Enter><wait:400>y4<until:one got b>$save both<Enter>Q" >keys
ok '... gavel FOLDER attaches to both' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$folder"
ok '... one is told' shows both 'one got b'
ok '... the other is shown' shows both 'two is here'
printf '%s' "4<until:two is here>$save both<Enter>Q" >keys
ok '... and so do captures' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$folder/one.ndjson" "$folder/one.ndjson"
ok '... live' shows both ' live '
is '... each once' 1 "$(sed '/^---$/,$d' both | grep -c 'one got b')"
is '... both go on' 2 "$("$GAVEL" agents | grep -c runs)"
ok '... what one can do is known' grep -qF '"agents":[{"id":"two","role":"reviewer","status":"idle","capabilities":["c","d"]' "$folder/two.ndjson"
ok 'one is answered, and does not read' "$GAVEL" decide "$folder/one.ndjson" q-3 answer --answer=b --deliver
kill -KILL "$(sed -n 's/.*"agent":"one".*"pid":\([0-9]*\).*/\1/p' both.json)"
ok '... nor will it' holds "$folder/one.ndjson" '"gavel":"exit"'
printf '%s' "6$save both<Enter>Q" >keys
ok '... as whoever attaches to both' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$folder"
ok '... sees' shows both 'held'
"$GAVEL" agents stop --all >out 2>err

# gavel is killed while a question waits
printf '%s' "<until:question>$save waits<Enter><wait:60000>" >keys
"$GAVEL" run --headless --size 100x24 --keys keys --agent dev -- "$FAKE_AGENT" show-ids "say $ask" 'wait-for-line q-1' 'say got {last:answer}' 'wait-for-line' >out 2>err &
pid=$!
holds waits 'Which one?'
kill -9 $pid
wait $pid 2>/dev/null
capture=$(ls -d "$XDG_STATE_HOME"/gavel/captures/*-"$pid")/dev.ndjson
agent_pid=$(sed -n 's/^pid \([0-9]*\) .*/\1/p' "$capture")
ok 'a killed gavel leaves its agent running' kill -0 "$agent_pid"
printf '%s' "<until:question>=2<Enter><wait:400>y4<until:got b>:restart dev<Enter><until:dev is running again>Q" >keys
ok '... which is answered by the next' timeout 60 "$GAVEL" --headless --size 100x24 --keys keys "$capture"
ok '... and started again by it' gone "$agent_pid"
agent_pid=$(sed -n 's/^	{"gavel":"run","n":2,"pid":\([0-9]*\).*/\1/p' "$capture")
ok '... with its journal whole' "$GAVEL" journal verify
holder_pid=$(ps -o ppid= -p "$agent_pid" | tr -d ' ')
kill -9 "$holder_pid"
ok 'a killed holder ends its agent' gone "$agent_pid"
is '... and it is not listed' 'No agent runs.' "$("$GAVEL" agents)"

# what stop tells of one that has not just ended
"$GAVEL" run --detach --agent dev -- sh -c 'read x; kill -9 $PPID' >out 2>err
ok 'stop, and the holder is killed' fails 2 "$GAVEL" agents stop dev
ok '... so nobody knows' says 'dev: its holder was killed; check whether pid '
"$GAVEL" run --detach --agent dev -- sh -c 'read x' >out 2>err
mkdir -m 700 "$XDG_STATE_HOME/gavel/captures/held"
: >"$XDG_STATE_HOME/gavel/captures/held/dev.ndjson"
(cd "$XDG_STATE_HOME/gavel/captures/held" && exec "$FAKE_AGENT" 'hold D code 0 left 7, 9') &
pid=$!
holds /proc/net/unix dev.sock
ok 'stop, and something is left' fails 2 "$GAVEL" agents stop dev
ok '... by its number' says 'dev: it has ended and left running: 7, 9; kill it yourself'
ok '... and the other one of that name has ended' grep -q '^dev has ended (code 1)' out
kill $pid 2>/dev/null # if it was not asked to stop
wait
(ulimit -S -f 64 && "$GAVEL" run --detach --format=json --agent dev -- "$FAKE_AGENT" 'flood 100000' 'wait-for-line' >out 2>err)
agent_pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' out) capture=$(sed -n 's/.*"capture":"\([^"]*\)".*/\1/p' out)
ok 'stop, and there is no room' fails 2 "$GAVEL" agents stop dev
ok '... which is told' says "dev: its last output waits for room in ${capture%/*}: "
prlimit --fsize=unlimited --pid "$(ps -o ppid= -p "$agent_pid" | tr -d ' ')"
ok '... with room it ends' gone "$agent_pid"
ok '... and that is recorded' holds "$capture" '	{"gavel":"exit"'

tap_end
