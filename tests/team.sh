# Read by the tests of a team's store, behind tests/tap.sh: a PostgreSQL server of the test's own, in a
# temporary folder, reached by a socket only. Skips the whole test where PostgreSQL, or gavel's part for
# it, is missing.
#
#   team_start                 makes the server and the database "team", whose owner is the login boss,
#                              no superuser; also the superuser "postgres". $team_conf and $team_hba: lines
#                              of its configuration
#   team_url [LOGIN [SETTING]] prints the address, for boss unless LOGIN is given
#   team_begin STATEMENT...    team_start and gavel team init, in $tmp with a TMPDIR of its own; then the owner
#                              runs the statements, which make logins
#   sql LOGIN STATEMENT...     runs each with psql, in one session; prints bare rows
#   wait_for STATEMENT WANTED  until ann gets that answer
#   team_stop [MODE]           MODE of pg_ctl; it can be started again with team_go
#
# The server refuses to be run by root, who becomes the user postgres for it.

team_bin=
for folder in $(pg_config --bindir 2>/dev/null) /usr/lib/postgresql/*/bin $(dirname "$(command -v initdb || echo /)"); do
	if [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && [ -x "$folder/psql" ]; then
		team_bin=$folder
	fi
done
team_missing=
case $("$GAVEL" --version) in
*'with PostgreSQL'*) ;;
*) team_missing='gavel was built without PostgreSQL' ;;
esac
[ -n "$team_bin" ] || team_missing='PostgreSQL is not installed'
if [ "$(id -u)" = 0 ] && ! id postgres >/dev/null 2>&1; then
	team_missing='root cannot run a server, and there is no user postgres'
fi
if [ -n "$team_missing" ]; then
	skip 'a server for the tests' "$team_missing"
	tap_end
	exit 0
fi

team_dir=$(mktemp -d) || exit 99
team_as() {
	if [ "$(id -u)" = 0 ]; then
		(cd "$team_dir" && runuser -u postgres -- "$@")
	else
		"$@"
	fi
}

team_stop() {
	team_as "$team_bin/pg_ctl" -D "$team_dir/data" -m "${1:-immediate}" -s stop >/dev/null 2>&1
}
trap 'team_stop; rm -rf "$team_dir" "$tmp"' EXIT

team_go() {
	team_as "$team_bin/pg_ctl" -D "$team_dir/data" -l "$team_dir/log" -w -s start >"$tmp/pg_ctl" 2>&1
}

team_start() {
	[ "$(id -u)" != 0 ] || chown postgres "$team_dir"
	team_as "$team_bin/initdb" -D "$team_dir/data" -U postgres -A trust -E UTF8 --locale=C -N \
		>"$tmp/initdb" 2>&1 || { tap_comment <"$tmp/initdb"; return 1; }
	team_as sh -c 'cat >>"$1"' sh "$team_dir/data/postgresql.conf" <<-EOF
		listen_addresses = ''
		unix_socket_directories = '$team_dir'
		shared_buffers = 16MB
		autovacuum = off
		max_connections = 60
		${team_conf-}
	EOF
	team_as sh -c 'cd "$1" && { echo "$2"; cat pg_hba.conf; } >hba && cat hba >pg_hba.conf' sh "$team_dir/data" \
		"${team_hba-}"
	team_go || { tap_comment <"$team_dir/log"; return 1; }
	sql postgres 'create role boss login createrole' 'create database team owner boss'
}

team_url() {
	echo "postgresql://${1-boss}@/team?host=$team_dir${2:+&$2}"
}

# The database is "team" as soon as there is one.
sql() {
	team_login=$1
	shift
	for statement; do
		printf '%s;\n' "$statement"
	done | PGOPTIONS='-c client_min_messages=warning' "$team_bin/psql" -h "$team_dir" -U "$team_login" \
		-d "$([ "$team_login" = postgres ] && [ -z "${team_made-}" ] && echo postgres || echo team)" \
		-X -q -A -t -v ON_ERROR_STOP=1
}

team_begin() {
	cd "$tmp" || exit 99
	unset USER
	mkdir temporary
	TMPDIR=$tmp/temporary
	export TMPDIR
	ok 'a server' team_start
	team_made=1
	"$GAVEL" team init "$(team_url)" >out 2>&1 || tap_comment <out
	sql boss "$@"
}

wait_for() {
	tries=0
	until [ "$(sql ann "$1" 2>&1)" = "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { echo "$1: $(sql ann "$1" 2>&1), not $2"; return 1; }
		sleep 0.05
	done
}
