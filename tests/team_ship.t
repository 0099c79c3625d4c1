# gavel ship: lines at their offsets, items, and what the team decides said once, whatever happens to the
# shipper in between.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

demo=$GAVEL_DATADIR/demo.ndjson
cd "$tmp" || exit 99
unset USER
ok 'a server' team_start
team_made=1
"$GAVEL" team init "$(team_url)" >out 2>&1 || cat out
sql boss 'create role ann login in role gavel_reviewer' 'create role bob login in role gavel_reviewer' \
	'create role edge login in role gavel_agent'
to=$(team_url edge)

ship() { # until all is said and reported
	timeout 60 "$GAVEL" ship --to="$to" --no-follow "$@" >out 2>err
}
begin() { # in the background, as $shipper
	"$GAVEL" ship --to="$to" "$@" >live.out 2>live.err &
	shipper=$!
}
end() {
	kill "${1--TERM}" $shipper
	wait $shipper 2>/dev/null
}
wait_for() { # STATEMENT WANTED
	tries=0
	while [ "$(sql ann "$1" 2>&1)" != "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { echo "# $1: $(sql ann "$1" 2>&1), not $2"; return 1; }
		sleep 0.05
	done
}
accept() { # ITEM-ID [VERB [MEMBERS]]: by ann, as gavel would
	sql ann "select outcome from gavel.claim($1, 60)" "select outcome || ' ' || who from gavel.decide($1,
		(select fence from gavel.item where id = $1), (select rev from gavel.item where id = $1), '${2-accept}',
		'{\"verb\":\"${2-accept}\"${3-}}')" | tail -n 1
}
item() { # LIKE: id of an open item whose key is like that
	sql ann "select id from gavel.item where state = 'open' and key like '$1' limit 1"
}

# ---- a log ----

cp "$demo" log.ndjson
ok 'ship' ship --as-source=demo log.ndjson
is '... complains of nothing' '' "$(cat err)"
is 'the lines, joined, are the log' "$(sha256sum <log.ndjson | cut -c 1-64)" \
	"$(sql ann "select encode(sha256(string_agg(bytes, '' order by seq)), 'hex') from gavel.line")"
is '... one row a line' "$(wc -l <log.ndjson)" "$(sql ann 'select count(*) from gavel.line')"
"$GAVEL" show inbox --format=json --no-cache log.ndjson | grep -c '"open":true' >open
ok 'its open items' wait_for "select count(*) from gavel.item where state = 'open'" "$(cat open)"
is '... have the revs that gavel shows' 0 "$("$GAVEL" show inbox --format=json log.ndjson | grep '"open":true' |
	sed -n 's/.*"rev":"\(sha256:[0-9a-f]*\)".*/\1/p' | while read -r rev; do
		sql ann "select 1 from gavel.item where rev = '$rev'" | grep -q 1 || echo "$rev"
	done | wc -l)"
sql ann "select encode(body, 'escape') from gavel.item where key like '%question%' limit 1" >body
ok '... and an entry that a queue could have' sh -c 'grep -q "\"x-gavel\":{\"by\":" body && grep -q "\"original\":" body && grep -q "\"rev\":\"sha256:" body'
before=$(sql ann 'select max(n) from gavel.event')
ok 'ship again' ship --as-source=demo log.ndjson
is '... tells nothing new' "$before|$(wc -l <log.ndjson)" \
	"$(sql ann "select (select max(n) from gavel.event) || '|' || count(*) from gavel.line")"
tail -n 1 log.ndjson >>log.ndjson
ok 'a line more' ship --as-source=demo log.ndjson
is '... is one row more' "$(wc -l <log.ndjson)" "$(sql ann 'select count(*) from gavel.line')"
is 'names of sources' demo "$(sql ann 'select name from gavel.source')"

# ---- what is decided ----

first=$(item '%/finding:%')
is 'a decision' 'decided ann' "$(accept "$first" reject ',"reason_code":"out_of_scope"')"
sql ann "select gavel.dispatch_bundle($first)" >/dev/null
ok 'ship' ship --as-source=demo log.ndjson
is '... has sent it' sent "$(sql ann "select what from gavel.outcome where item = $first")"
is '... with these bytes' 1 "$(sql ann "select encode(bytes, 'escape') from gavel.outcome where item = $first" | grep -cFf - log.ndjson.replies.ndjson)"
is '... by ann' 1 "$(grep -c 'ann' log.ndjson.replies.ndjson)"
is '... as the journal says, too' "$first" "$("$GAVEL" journal list --format=json | grep -c '"by":"ann"' >/dev/null; grep -rhao '"team":"[^"]*' "$XDG_STATE_HOME/gavel" | head -n 1 | sed 's|.*/||')"
ok 'ship again' ship --as-source=demo log.ndjson
is '... does not send it twice' 1 "$(wc -l <log.ndjson.replies.ndjson)"

tap_end
