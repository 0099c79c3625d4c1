# A team's store over TCP: only a server that proves by TLS who it is; the password comes from a file and is
# in no sentence.
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/team.sh"

command -v openssl >/dev/null || {
	skip 'certificates' 'openssl is not installed'
	tap_end
	exit 0
}
cd "$tmp" || exit 99
[ "$(id -u)" != 0 ] || chown postgres "$team_dir"

# Two authorities, and a server that the first one calls localhost.
team_as sh -ec 'cd "$1"
	for ca in ca other; do
		openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$ca" -keyout $ca.key -out $ca.crt
	done
	openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr
	printf "subjectAltName=DNS:localhost\n" >names
	openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt
	chmod 600 server.key' sh "$team_dir" >openssl.out 2>&1 || tap_comment <openssl.out
cp "$team_dir/ca.crt" "$team_dir/other.crt" .

# A port that nobody has, as far as one try tells.
port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 20000))
team_conf="listen_addresses = '127.0.0.1'
port = $port
ssl = on
ssl_cert_file = '$team_dir/server.crt'
ssl_key_file = '$team_dir/server.key'"
team_hba='hostssl all all 127.0.0.1/32 scram-sha-256'
PGPORT=$port
export PGPORT
if ! team_start >started 2>&1; then
	tap_comment <started
	skip 'a server on a port' "port $port cannot be had"
	tap_end
	exit 0
fi
team_made=1
"$GAVEL" team init "$(team_url)" >out 2>&1 || cat out
sql boss "create role ann login in role gavel_reviewer password 'zinc-otter'"

url() { # HOST CA [SETTING]
	echo "postgresql://ann@$1:$port/team?sslrootcert=$tmp/$2.crt${3:+&$3}"
}
refused() { # NAME URL WORDS
	ok "$1" sh -c '! timeout 60 "$GAVEL" team check "$1" 2>err && grep -q "$2" err' sh "$2" "$3"
	ok '... and no password is told' sh -c '! grep -q zinc-otter err'
}
echo "*:*:*:ann:zinc-otter" >pass
chmod 600 pass
PGPASSFILE=$tmp/pass
export PGPASSFILE

ok 'a server that proves who it is' "$GAVEL" team check --format=json "$(url localhost ca)"
"$GAVEL" team check "$(url localhost ca)" >out 2>&1
ok '... over TLS' grep -q '^ok       tls      TLSv1' out
refused 'another name' "$(url 127.0.0.1 ca)" 'does not match host name'
refused 'another authority' "$(url localhost other)" 'certificate verify failed'
refused 'without verification' "$(url localhost ca sslmode=require)" 'does not make sure who answers'
refused 'without TLS' "$(url localhost ca sslmode=disable)" 'does not make sure who answers'
echo "*:*:*:ann:zinc-otter-2" >pass
refused 'a wrong password' "$(url localhost ca)" 'password authentication failed'
chmod 644 pass
refused 'a file of passwords that others can read' "$(url localhost ca)" 'no password supplied'
chmod 600 pass
team_as sh -c 'echo "ssl = off" >>"$1"' sh "$team_dir/data/postgresql.conf"
team_stop fast
team_go
refused 'a server without TLS' "$(url localhost ca)" 'does not support SSL'

tap_end
