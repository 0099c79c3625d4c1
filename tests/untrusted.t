# What messages, file names and the command line say is shown and never obeyed: places that a message
# names, and bytes that would steer a terminal.
. "$srcdir/tests/tap.sh"

demo=$GAVEL_DATADIR/demo.ndjson
USER=ann
export USER
unset VISUAL EDITOR
umask 022
cd "$tmp" || exit 99
cp "$demo" log.ndjson

exit_of() {
	wanted=$1
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$wanted" ] || { echo "exit code $got, not $wanted"; cat out err; return 1; }
}
said() { cat out err | grep -qF -- "$1" || { cat out err; return 1; }; }
# what a person sees of a saved screen, as one line
seen() { sed '/^---$/,$d' "$1" | tr -s ' \n' '  '; }
shows() { seen "$1" | grep -qF -- "$2" || { cat "$1"; return 1; }; }
# ui LOG KEYS [OPTION...]: the UI with these keys, and its last screen
ui() {
	printf '%s' "$2" >keys
	ui_log=$1
	shift 2
	"$GAVEL" "$ui_log" --headless --no-follow --size=120x40 --keys=keys --screen=screen.txt "$@" >out 2>err
}

# ---- a reply path that a message names ----

finding=$("$GAVEL" show inbox --format=json log.ndjson | sed -n 's/^{"id":"\([^"]*\)","dialect":"collaboration","kind":"finding".*/\1/p' | head -n 1)
"$GAVEL" decide --as=ann --deliver --explain='Beyond me.' --escalate-to=queue.ndjson log.ndjson "$finding" escalate >/dev/null
# forge FILE PATH [CHANNEL]: a queue whose entry says that answers go there
forge() {
	sed "s|\"reply\":{\"channel\":\"file\",\"path\":\"[^\"]*\"|\"reply\":{\"channel\":\"${3-file}\",\"path\":\"$2\"|" queue.ndjson >"$1"
}
item_of() { "$GAVEL" show inbox --format=json "$1" | sed -n 's/^{"id":"\([^"]*\)".*/\1/p' | tail -n 1; }

echo 'alias ls=ls' >bashrc
forge victim.ndjson "$tmp/bashrc"
entry=$(item_of victim.ndjson)
ok 'a script does not answer to a path that a message names' exit_of 1 "$GAVEL" decide --deliver victim.ndjson "$entry" accept
ok '... and says so' said "the reply goes to $tmp/bashrc, named by a message; confirm it with --reply"
ok 'the UI opens the page' ui victim.ndjson '$<wait:400>'
ok '... which refuses a file that is none of gavel' shows screen.txt "bashrc, named by a message, is a file that exists and is no reply file; give --reply PATH"
ok '... whatever is typed' ui victim.ndjson '$<wait:400>yyy'
is '... and nothing was appended' 'alias ls=ls' "$(cat bashrc)"

mkfifo pipe
forge fifo.ndjson "$tmp/pipe" fifo
"$GAVEL" decide fifo.ndjson "$entry" accept >/dev/null 2>&1
ok 'nor is a FIFO written to' ui fifo.ndjson '$<wait:400>'
ok '... and the page says why' shows screen.txt 'is a FIFO; give --reply PATH'
: >open.replies.ndjson
chmod 0666 open.replies.ndjson
forge open.ndjson "$tmp/open.replies.ndjson"
"$GAVEL" decide open.ndjson "$entry" accept >/dev/null 2>&1
ok 'nor a reply file of everybody' ui open.ndjson '$<wait:400>'
ok '... and the page says why' shows screen.txt 'is a file that is not yours alone'
ok '... whatever is typed' ui open.ndjson '$<wait:400>yyy'
is '... which is empty still' '' "$(cat open.replies.ndjson)"

long=$tmp/a-folder-with-a-rather-long-name/and-another-one-below-it/that-nobody-would-look-at-twice/somewhere/below
mkdir -p "$long"
forge new.ndjson "$long/new.ndjson"
"$GAVEL" decide new.ndjson "$entry" accept >/dev/null 2>&1
ok 'a file that gavel would make' ui new.ndjson '$<wait:400>y'
ok '... needs a confirmation of its own' shows screen.txt 'path named by a message: '
ok '... and the page has the whole path' sh -c 'sed "/^---\$/,\$d" screen.txt | tr -d " \n" | grep -qF -- "$1"' sh "$long/new.ndjson"
ok '... y alone writes nothing' [ ! -e "$long/new.ndjson" ]
ok '... nor does another key' ui new.ndjson '$<wait:400>ynQ'
ok '... not that either' [ ! -e "$long/new.ndjson" ]
ok 'confirmed' ui new.ndjson '$<wait:400>yy'
is '... it is written once' 1 "$(wc -l <"$long/new.ndjson")"
: >mine.replies.ndjson
forge mine.ndjson "$tmp/mine.replies.ndjson"
"$GAVEL" decide mine.ndjson "$entry" accept >/dev/null 2>&1
ok 'a reply file is appended to' ui mine.ndjson '$<wait:400>yy'
is '... once' 1 "$(wc -l <mine.replies.ndjson)"

# an entry among the messages of an ordinary log: y for what one decides there is no y for it
cp "$demo" mixed.ndjson
forge forged.ndjson "$tmp/planted.ndjson"
cat forged.ndjson >>mixed.ndjson
"$GAVEL" decide mixed.ndjson "escalation:$entry" accept >/dev/null 2>&1
"$GAVEL" decide mixed.ndjson "finding:$finding" accept >/dev/null 2>&1
ok 'a forged entry in a log' ui mixed.ndjson '$<wait:400>'
ok '... is on another page than the rest' sh -c '! grep -q planted screen.txt'
ok '... which says that there is one' shows screen.txt 'More goes to paths named by messages'
ok 'y for the rest' ui mixed.ndjson '$<wait:400>yyy'
ok '... sends that' [ "$(wc -l <mixed.ndjson.replies.ndjson)" = 1 ]
ok '... and not the other' [ ! -e planted.ndjson ]
ok 'which has its own page' ui mixed.ndjson '$<wait:400>'
ok '... with its place' shows screen.txt "$tmp/planted.ndjson"
ok '... and its own confirmation' ui mixed.ndjson '$<wait:400>yy'
is '... that writes it' 1 "$(wc -l <planted.ndjson)"

# ---- what would steer a terminal ----

# A title and a bell, CSI in eight bits, colours, overriding directions, DEL, and bytes that are no
# UTF-8: in ids, names, values and options, through every command.
evil=$(printf '\033]0;owned\007\302\2331m\033[31m\342\200\256\342\201\246\177\001\r\377\233x')
coded='\u001b]0;owned\u0007\u009b1m\u001b[31m\u202e\u2066\u007f\u0001\rx'
XDG_CONFIG_HOME=$tmp/config
mkdir -p config/gavel state

# dirty FILE [json]: lists the bytes that a terminal would obey; in JSON, directions are data
dirty() {
	od -An -v -tx1 "$1" | tr -d '\n' >hex
	grep -oE '( [0-9a-f]{2}){0,12} (0[0-8]|0[b-f]|1[0-9a-f]|7f)( [0-9a-f]{2}){0,4}' hex
	grep -oE '( [0-9a-f]{2}){0,12} c2 [89][0-9a-f]' hex
	[ "${2-}" = json ] || grep -oE '( [0-9a-f]{2}){0,12} e2 (80 a[a-e]|81 a[6-9])' hex
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || echo 'not UTF-8'
}
# clean NAME WORD...: nothing that the program prints is any of these; it says something
clean() {
	name=$1
	shift
	"$@" </dev/null >said.out 2>said.err
	form=
	case " $* " in *format=json* | *format=sarif*) form=json ;; esac
	{ dirty said.out $form; dirty said.err; } >found
	is "$name: nothing for the terminal" '' "$(cat found)"
	ok "$name: but something is said" sh -c 'cat said.out said.err | grep -q .'
}

# a finding and a change of one id, both hostile in every field that is shown
hostile_log() {
	printf '{"message_id":"%s","timestamp":"2026-01-26T10:00:01Z","sequence_number":1,"from_agent":{"agent_id":"arch%s","agent_type":"architect","instance_id":"%s"},"to_agent":{"agent_id":"dev%s","agent_type":"developer"},"message_type":"task_assignment","payload":{"task":{"task_id":"T%s","task_description":"d%s","context":{"specs":[],"reference_files":[]},"constraints":{"scope":["%s"],"testing_required":true,"must_not_break":[]},"acceptance_criteria":["%s"]},"priority":"low%s"}}\n' \
		"m$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded"
	printf '{"message_id":"%s","timestamp":"2026-01-26T10:00:02Z%s","sequence_number":2,"from_agent":{"agent_id":"rev%s","agent_type":"reviewer"},"to_agent":{"agent_id":"arch%s","agent_type":"architect"},"message_type":"review_result","payload":{"review_id":"R%s","task_id":"T%s","verdict":"changes_requested","findings":[{"finding_id":"c%s","severity":"minor","category":"%s","location":{"file":"%s"},"description":"d%s","rationale":"r%s"}],"verification":{"tests":{"passed":true},"type_check":{"passed":true},"custom":{}},"summary":"s%s","required_changes":[{"change_id":"c%s","priority":"consider","related_findings":["c%s"],"description":"%s"}]}}\n' \
		"n$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded"
	printf '{"type":"request:ask-user","id":"q%s","timestamp":"2026-01-26T10:00:03Z","payload":{"question":"%s","options":[{"label":"%s","value":"%s"}],"timeout":300000}}\n' "$coded" "$coded" "$coded" "$coded"
	printf 'text %s and more\n' "$evil"
	printf '{"%s":1\n' "$evil"
}
hostile_log >hostile.ndjson
hostile_log >"log$evil.ndjson"
same_id=$(printf 'R\033]0;owned\007\302\2331m\033[31m\342\200\256\342\201\246\177\001\rx/c\033]0;owned\007\302\2331m\033[31m\342\200\256\342\201\246\177\001\rx')

clean 'decide: two of that name' "$GAVEL" decide hostile.ndjson "$same_id" accept
ok '... which are named' grep -q '2 items are named' said.err
clean 'decide: no item' "$GAVEL" decide hostile.ndjson "$evil" accept
clean 'decide: no verb' "$GAVEL" decide hostile.ndjson "$same_id" "$evil"
clean 'decide: staged' "$GAVEL" decide hostile.ndjson "finding:$same_id" reject --explain="no" --as=ann
clean 'decide: as JSON' "$GAVEL" decide hostile.ndjson "change:$same_id" reject --explain=no --format=json
clean 'decide: words' "$GAVEL" decide hostile.ndjson "finding:$same_id" reject --explain="$evil" --as="$evil" --reason-code="$evil"
clean 'decide: another revision' "$GAVEL" decide hostile.ndjson "finding:$same_id" accept --rev="$evil"
clean 'decide: no such option' "$GAVEL" decide hostile.ndjson "$(printf 'q\033')" answer --option="$evil"
clean 'decide: files' "$GAVEL" decide hostile.ndjson --deliver --reply="$tmp/$evil/x" --escalate-to="$evil" --artifact="$evil"
clean 'decide: delivered' "$GAVEL" decide hostile.ndjson --deliver
clean 'decide: a log of that name' "$GAVEL" decide "log$evil.ndjson" "finding:$same_id" reject --explain=no --deliver
clean 'decide: a journal of that name' "$GAVEL" decide hostile.ndjson "$evil" accept --journal="$evil/journal"
for view in inbox messages timeline ledger agents decisions summary report; do
	clean "show $view" "$GAVEL" show "$view" --all hostile.ndjson
	clean "show $view as JSON" "$GAVEL" show "$view" --all --format=json hostile.ndjson
	clean "show $view of a log of that name" "$GAVEL" show "$view" --all "log$evil.ndjson"
done
clean 'show item' "$GAVEL" show item "finding:$same_id" hostile.ndjson
clean 'show: no item' "$GAVEL" show item "$evil" hostile.ndjson
clean 'show: no view' "$GAVEL" show "$evil" hostile.ndjson
clean 'show: no log' "$GAVEL" show inbox "$evil"
clean 'show: a time' "$GAVEL" show inbox hostile.ndjson --at="$evil"
clean 'show: a number' "$GAVEL" show inbox hostile.ndjson --at="#$evil"
clean 'show: a filter' "$GAVEL" show inbox hostile.ndjson --filter="$evil"
clean 'show: a filter that is none' "$GAVEL" show inbox hostile.ndjson --filter="is:$evil"
clean 'show: a day' "$GAVEL" show inbox hostile.ndjson --since="$evil"
clean 'show: against' "$GAVEL" show decisions hostile.ndjson --against="$evil"
for command in '' show decide check journal run review replay demo purge help; do
	clean "${command:-gavel}: no option" "$GAVEL" $command "--$evil"
	clean "${command:-gavel}: no value" "$GAVEL" $command "--size=$evil"
	clean "${command:-gavel}: no format" "$GAVEL" $command "--format=$evil"
	clean "${command:-gavel}: no colour" "$GAVEL" $command "--color=$evil"
done
clean 'check' "$GAVEL" check hostile.ndjson
clean 'check as JSON' "$GAVEL" check --format=json hostile.ndjson
clean 'check as SARIF' "$GAVEL" check --format=sarif hostile.ndjson
clean 'check: a log of that name' "$GAVEL" check "log$evil.ndjson" hostile.ndjson
clean 'check: no log' "$GAVEL" check "$evil"
clean 'journal list' "$GAVEL" journal list
clean 'journal list as JSON' "$GAVEL" journal list --format=json
clean 'journal verify' "$GAVEL" journal verify
clean 'journal: no id' "$GAVEL" journal resend "$evil"
clean 'journal: no action' "$GAVEL" journal "$evil"
mkdir -p "j$evil/one"
echo "$evil" >"j$evil/one/journal-000001"
chmod -R go-rwx "j$evil"
clean 'journal: elsewhere' "$GAVEL" journal verify --journal="j$evil"
clean 'journal: listed there' "$GAVEL" journal list --journal="j$evil"
clean 'journal: repaired there' "$GAVEL" journal repair --journal="j$evil"
clean 'run: no agent' "$GAVEL" run --headless --agent "$evil"
clean 'run: no program' "$GAVEL" run --headless -- "$evil"
clean 'run: no variable' "$GAVEL" run --headless --env "$evil" -- true
clean 'run: no keys' "$GAVEL" run --headless --keys "$evil" -- true
clean 'replay: no log' "$GAVEL" replay "$evil"
clean 'replay: no speed' "$GAVEL" replay --headless --speed="$evil" hostile.ndjson
clean 'replay: a film' "$GAVEL" replay --headless --export="film$evil.cast" hostile.ndjson
clean 'replay: no film' "$GAVEL" replay --headless --export="$evil/film.cast" hostile.ndjson
clean 'demo: a word too many' "$GAVEL" demo "$evil"
clean 'purge: no age' "$GAVEL" purge --older-than="$evil"
clean 'purge: a word too many' "$GAVEL" purge "$evil"
mkdir -p "state/gavel/captures/$evil"
: >"state/gavel/captures/$evil/dev.ndjson"
touch -d '2020-01-01' "state/gavel/captures/$evil/dev.ndjson" "state/gavel/captures/$evil"
clean 'purge: what it would remove' "$GAVEL" purge --older-than=1d --dry-run
clean 'purge' "$GAVEL" purge --older-than=1d
clean 'help: no such topic' "$GAVEL" help "$evil"
clean 'no such log' "$GAVEL" "$evil"
printf '%s' "4:$evil<Enter>/x<Enter>:filter is:$evil<Enter>" >keys
clean 'the UI: no file for its screen' "$GAVEL" hostile.ndjson --headless --keys=keys --screen="$evil/x"
printf '<until:%s>' "$evil" >keys
clean 'the UI: waits in vain' "$GAVEL" hostile.ndjson --headless --keys=keys --filter="$evil"
printf '%s' "<until:$evil><wait:10>" >keys
clean 'the UI: keys that are none' "$GAVEL" hostile.ndjson --headless --keys=keys
printf '{ "%s": 1, "theme": "%s", "as": "%s", "escalate_to": "%s", "reviewers": ["%s"], "keys": { "%s": "%s" }, "agents": [{ "name": "%s", "command": ["%s"] }] }' \
	"$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" "$coded" >config/gavel/config.json
for command in 'show inbox' check 'decide --deliver'; do
	clean "$command: a hostile configuration" "$GAVEL" $command hostile.ndjson
done
clean 'run: a hostile configuration' "$GAVEL" run --headless
clean 'a configuration of that name' "$GAVEL" show inbox hostile.ndjson --config="$evil"
printf '{ "%s"' "$evil" >config/gavel/config.json
clean 'a configuration that is no JSON' "$GAVEL" show inbox hostile.ndjson

tap_end
