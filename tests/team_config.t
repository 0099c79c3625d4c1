# The configuration's team: the store that is meant where none is named, how long claims last, and pages that
# claim their item.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

cd "$tmp" || exit 99
unset USER PGUSER
ok 'a server' team_start
team_made=1
mkdir -p conf/gavel captures
XDG_CONFIG_HOME=$PWD/conf TMPDIR=$tmp/captures
export XDG_CONFIG_HOME TMPDIR
team_is() { # MEMBERS
	printf '{"team": {%s}}\n' "$1" >conf/gavel/config.json
}

ok 'no store' sh -c '! "$GAVEL" team check 2>err' 
ok '... is asked for' grep -q "team check needs the store's address, or team.url in the configuration" err
ok 'no store to ship to' sh -c '! "$GAVEL" ship log 2>err'
ok '... is asked for, too' grep -q 'ship needs a store: --to=.*, or team.url in the configuration' err
team_is "\"url\": \"$(team_url)\""
ok 'init' "$GAVEL" team init
ok 'check' "$GAVEL" team check
cp conf/gavel/config.json other.json
team_is '"url": null'
ok '... with another configuration' "$GAVEL" team check --config=other.json
sql boss 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role edge login in role gavel_agent'
team_is "\"url\": \"$(team_url edge)\""
ok 'ship' "$GAVEL" ship --no-follow --as-source=demo "$GAVEL_DATADIR/demo.ndjson"
is '... into that store' demo "$(sql ann 'select name from gavel.source')"
team_is "\"url\": \"postgresql://nobody@/team?host=$tmp\""
ok 'an address that is given' "$GAVEL" team check "$(team_url)"
ok '... counts alone' "$GAVEL" ship --no-follow --as-source=demo --to="$(team_url edge)" "$GAVEL_DATADIR/demo.ndjson"
team_is '"url": "postgresql://ann:secret@h/team"'
ok 'a password' sh -c '! "$GAVEL" team check 2>err'
ok '... is refused' grep -q 'has a password in it' err
ok '... and not repeated' sh -c '! grep -q secret err'
chmod 666 conf/gavel/config.json
ok 'a configuration that others can write to' sh -c '! "$GAVEL" team check 2>err'
ok '... is not obeyed' grep -q 'config.json' err
chmod 600 conf/gavel/config.json

# ---- the inbox ----

team_is "\"url\": \"$(team_url ann)\""
printf '{"type":"event:question","id":"q","timestamp":"2026-03-17T09:30:45Z","agentId":"a","payload":{"question":"Piped?"}}\n' >piped
"$GAVEL" show inbox <piped >out 2>&1
ok 'what is piped is read' grep -q 'Piped' out
ok '... and nothing else' sh -c '! grep -q "30 days" out'
"$GAVEL" show inbox </dev/null >out 2>&1
ok '... also if it is nothing' sh -c '! grep -q "30 days" out'
if command -v tmux >/dev/null 2>&1; then
	unset TMUX
	TERM=screen LC_ALL=C.UTF-8
	export TERM LC_ALL
	TMUX_TMPDIR=$tmp
	export TMUX_TMPDIR
	trap 'tmux -L team$screens kill-server >/dev/null 2>&1; team_stop; rm -rf "$team_dir" "$tmp"' EXIT
	shows() { # WORDS COMMAND
		screens=$((screens + 1))
		tmux -L team$screens -f /dev/null new-session -d -x 120 -y 36 "$2; sleep 60"
		tries=0
		until tmux -L team$screens capture-pane -p 2>/dev/null | grep -q "$1"; do
			tries=$((tries + 1))
			[ $tries -lt 400 ] || { tmux -L team$screens capture-pane -p; return 1; }
			sleep 0.05
		done
		tmux -L team$screens kill-server
	}
	screens=0
	ok 'without a source, on a terminal, gavel opens the inbox' shows 'Second attempt' "$GAVEL"
	ok '... and shows it' shows '30 days' "$GAVEL show inbox"
	ok '... or an item' shows 'session-lifetime' "$GAVEL show item session-lifetime-mismatch-07 | head -n 5"
	ok '... and checks it' shows '0 errors' "$GAVEL check"
	rm conf/gavel/config.json
	ok 'without a team, a source is asked for' shows 'no source; give a log' "$GAVEL"
else
	skip 'on a terminal' 'there is no tmux'
fi

# ---- claims ----

ann=$(team_url ann)
keys() { # NAME
	cat >"$1.keys"
	timeout 60 "$GAVEL" --headless --keys="$1.keys" --screen="$1.screen" --size=120x40 "$ann" >"$1.out" 2>&1 ||
		{ tap_comment <"$1.out"; return 1; }
}
of_item() { # COLUMNS
	sql ann "select $1 from gavel.item where key like '%session-lifetime%'"
}
holder="select holder from gavel.item where key like '%session-lifetime%'"
team_is '"lease": 1000'
ok 'a claim' keys lease <<-EOF
	<until:Second attempt>/30 days<Enter>t<until:is claimed>
EOF
is '... lasts as long as is configured' ann,t "$(of_item "holder || ',' || (until between clock_timestamp() + interval '900 s' and clock_timestamp() + interval '1000 s')::text" | sed 's/true/t/')"
sql ann 'select gavel.release(id, fence) from gavel.item where holder is not null' >/dev/null
team_is ''
ok 'a page' keys page <<-EOF
	<until:Second attempt>/30 days<Enter><Enter><until:cookie>
EOF
is '... claims nothing by itself' '' "$(of_item holder)"
team_is '"claim_on_open": true'
ok 'a page, if it is to claim' keys open <<-EOF
	<until:Second attempt>/30 days<Enter><Enter><until:claimed by you>
EOF
is '... claims its item' ann "$(of_item holder)"
sql ann 'select gavel.release(id, fence) from gavel.item where holder is not null' >/dev/null
ok 'who leaves it' keys leave <<-EOF
	<until:Second attempt>/30 days<Enter><Enter><until:claimed by you>:save-screen left<Enter>q<until:30 days><wait:300>
EOF
ok '... releases the item' wait_for "$holder" ''
ok 'at once' keys hasty <<-EOF
	<until:Second attempt>/30 days<Enter><Enter>q<Enter>q<wait:500>
EOF
ok '... too' wait_for "$holder" ''
ok 'who had claimed it before' keys before <<-EOF
	<until:Second attempt>/30 days<Enter>t<until:is claimed><Enter><until:claimed by you>q<until:30 days><wait:300>
EOF
is '... keeps it' ann "$(of_item holder)"
sql ann 'select gavel.release(id, fence) from gavel.item where holder is not null' >/dev/null
ok 'who decides on the page' keys decided <<-EOF
	<until:Second attempt>/30 days<Enter><Enter><until:claimed by you>a<until:staged>q<until:30 days><wait:300>
EOF
is '... keeps it, too' ann "$(of_item holder)"
sql ann 'select gavel.release(id, fence) from gavel.item where holder is not null' >/dev/null
sql bob "select gavel.claim(id, 100) from gavel.item where key like '%recovery-flow%'" >/dev/null
ok 'an item of somebody else' keys taken <<-EOF
	<until:Second attempt>/customers can do<Enter><Enter><until:claimed by bob>q<until:@bob><wait:300>
EOF
is '... stays theirs' bob "$(sql ann "select holder from gavel.item where key like '%recovery-flow%'")"

tap_end
