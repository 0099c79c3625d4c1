# Read by the scenes (`. "$srcdir/tests/scenes.sh"`): a real terminal. tmux runs the program, types,
# pastes, resizes, suspends and kills it, and tells what is on the screen. What must be there is drawn
# by the same program without a terminal (--headless), so the two are also shown to be the same.
# Nothing sleeps for a while and hopes: each step is looked for every 50 ms, for a minute.
. "$srcdir/tests/tap.sh"

if ! command -v tmux >/dev/null 2>&1; then
	skip 'scenes in a real terminal' 'there is no tmux'
	tap_end
	exit 0
fi

slow 'scenes in a real terminal'

unset TMUX TMUX_PANE NO_COLOR COLUMNS LINES ENV VISUAL EDITOR
LC_ALL=C.UTF-8
HOME=$tmp
XDG_CONFIG_HOME=$tmp
TERM=screen-256color
infocmp tmux-256color >/dev/null 2>&1 && TERM=tmux-256color
export LC_ALL HOME XDG_CONFIG_HOME TERM
inside=$TERM

server=gavel-scenes-$$
# the socket goes with $tmp, unless its name would get too long for one
if [ ${#tmp} -le 60 ]; then
	TMUX_TMPDIR=$tmp
	export TMUX_TMPDIR
fi
t() {
	tmux -u -L "$server" -f /dev/null "$@"
}
trap 't kill-server >/dev/null 2>&1; rm -rf "$tmp"' EXIT

checker=$(cd "$srcdir" && pwd)/tests/tools/term_bytes.awk
cd "$tmp" || exit 99
cp "$GAVEL_DATADIR/demo.ndjson" demo.ndjson || exit 99
cp "$GAVEL_FIXTURES/hostile/text.ndjson" text.ndjson || exit 99
: >pids

# Logs are read and not followed, unless a scene is about that: what is there is then all there is.
FOLLOWING=$GAVEL
GAVEL=$tmp/gavel
export FOLLOWING GAVEL
cat >gavel <<'END'
#!/bin/sh
case ${1-} in
show | check | decide | journal | demo | help) exec "$FOLLOWING" "$@" ;;
*) exec "$FOLLOWING" --no-follow "$@" ;;
esac
END
chmod +x gavel

# The agents that are run, by a name that is as long in every build folder: screens show it.
ln -s "$FAKE_AGENT" agent
FAKE_AGENT=./agent
export FAKE_AGENT

# What a pane runs. $GATE: waits for Enter first. Afterwards cat, to show what still arrives.
cat >run <<'END'
ulimit -c 0
stty -g >modes
echo before the start
[ -z "$GATE" ] || read -r line
sh -c 'echo $$ >pid; echo $$ >>pids; exec "$@"' sh "$@"
echo "exit code $?" >code
cat code
exec cat -v
END

serve() {
	t start-server \; set -g exit-empty off \; set -g status off \; set -g history-limit 0 \; \
		set -g default-terminal "$inside" \; new-session -d -s keeper -x 80 -y 24 cat
}
serve >server 2>&1 || { echo "Bail out! tmux does not start: $(cat server)"; exit 99; }

# ---- what one does with a pane ----

soon() {
	tries=1200
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { show_scene; return 1; }
		sleep 0.05
	done
}

# What a step that failed was looking at, among the output of the test.
show_scene() {
	screen 2>&1 | sed 's/^/| /'
}

# start SIZE WORD...: a pane of that size runs the command, with $gate after Enter
scene=0
start() {
	t kill-session -t "s$scene" 2>/dev/null
	scene=$((scene + 1))
	size=$1
	shift
	rm -f pid modes code
	# tmux 3.3a crashes once in a while when a session ends; that is no fault of ours
	t has-session -t keeper 2>/dev/null || serve >server 2>&1
	t new-session -d -s "s$scene" -x "${size%x*}" -y "${size#*x}" \
		env GATE="${gate-}" sh run "$@"
	tty=$(t display -p -t "s$scene" '#{pane_tty}')
	[ -n "${gate-}" ] && soon says 'before the start' || soon [ -s pid ]
}

# All messages are read. Where the selection is while they come depends on how fast that goes.
loaded() {
	screen >got
	head -n 1 got | grep -q ' open' && ! head -n 1 got | grep -q ' reading '
}

# watch SIZE WORD...: start, wait for the UI, and go to the top
watch() {
	start "$@"
	soon loaded
	press g
}

# bytes on standard input → the pane, all at once
send() {
	t send-keys -t "s$scene" -H $(od -An -v -tx1)
}

esc=$(printf '\033')
cr=$(printf '\r')
tab=$(printf '\t')
ctrl_l=$(printf '\014')
ctrl_o=$(printf '\017')
ctrl_r=$(printf '\022')
ctrl_z=$(printf '\032')

# keys as --keys has them; <Esc> only at the end, where silence follows
press() {
	printf '%s' "$1" | sed "s/<Enter>/$cr/g; s/<Tab>/$tab/g; s/<Space>/ /g; s/<Esc>/$esc/g
		s/<Down>/$esc[B/g; s/<Up>/${esc}OA/g; s/<Left>/$esc[D/g; s/<PageDown>/$esc[6~/g
		s/<C-l>/$ctrl_l/g; s/<C-o>/$ctrl_o/g; s/<C-r>/$ctrl_r/g; s/<C-z>/$ctrl_z/g" | send
}

mouse() { # CODE ROW COL M|m, from 1
	printf '\033[<%s;%s;%s%s' "$1" "$3" "$2" "$4" | send
}

resize() {
	t resize-window -t "s$scene" -x "${1%x*}" -y "${1#*x}"
}

screen() {
	t capture-pane -p -t "s$scene" | sed 's/ *$//'
}

# The terminal's modes, as far as tmux tells.
flags='#{alternate_on} #{insert_flag} #{keypad_flag} #{keypad_cursor_flag} #{mouse_any_flag}'
flags="$flags #{mouse_sgr_flag} #{mouse_utf8_flag} #{wrap_flag} #{origin_flag} #{cursor_flag}"
modes() {
	t display -p -t "s$scene" "$flags"
}

modes_are() {
	[ "$(modes)" = "$1" ]
}

says() {
	screen | grep -qF -- "$1"
}

# reads TEXT: says it, wherever its lines may break
reads() {
	screen | tr -s ' \n' ' ' | grep -qF -- "$1"
}

# ---- what should be there ----

# draw SIZE KEYS WORD...: what the program shows after these keys, into the file want
draw() {
	size=$1
	printf '%s' "$2" >keys
	shift 2
	"$@" --headless --size="$size" --keys=keys --screen=drawn 2>&1 && sed '/^---$/,$d' drawn >want
}

same() {
	screen >got
	cmp -s want got
}

matches() {
	soon same && return 0
	echo 'not on the screen within a minute (< wanted, > there):'
	diff want got
	return 1
}

# look NAME SIZE KEYS WORD...: the screen is what these keys lead to
look() {
	name=$1
	shift
	rm -f want
	said=$(draw "$@") || echo "$said" | tap_comment
	if matches >difference; then
		is "$name" '' ''
	else
		is "$name" '' "$(cat difference)"
		return 1
	fi
}

tty_is_as_before() {
	[ "$(stty -g <"$tty")" = "$(cat modes)" ]
}

gone() {
	! kill -0 "$1"
}

# text on standard input → a paste, in brackets if the program asked for them
paste() {
	t load-buffer -b words -
	t paste-buffer -p -r -b words -t "s$scene"
}

title_says() {
	screen | head -n 1 | grep -q -- "$1"
}

title_lacks() {
	! title_says "$1"
}

# ---- the pre-flight page ----

# The page is deaf at first, so y is pressed until it has gone; in the inbox y only shows an id.
page_goes() {
	says 'q back, nothing is sent' || return 0
	press y
	return 1
}

confirm() {
	soon says 'q back, nothing is sent' && soon page_goes
}

page_is_left() {
	says 'q back, nothing is sent' || return 0
	press q
	return 1
}

# ---- nothing is left ----

# another program may have been given its number since
gavel_gone() {
	! grep -qs gavel "/proc/$1/cmdline"
}

# the last line of every scene
scenes_end() {
	t kill-server
	"$GAVEL" agents stop --all >stopped 2>&1
	while read -r pid; do
		ok "process $pid is gone" soon gavel_gone "$pid"
	done <pids
	tap_end
}
