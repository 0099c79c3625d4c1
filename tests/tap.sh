# Read by the shell tests (`. "$srcdir/tests/tap.sh"`): TAP, one line a case.
#
#   ok NAME COMMAND...       passes if the command succeeds; its output is shown when it fails
#   is NAME WANTED ACTUAL    passes if the two texts are equal
#   skip NAME WHY            counts as skipped
#   slow WHAT                ends a test of many seconds at once where GAVEL_BRIEF is set
#   tap_end                  the last line of every test: a script that dies early must not pass
#
# $tmp is a folder of the test's own, gone afterwards, with journals, cache and configuration in it; $GAVEL is the program.

set -u
tap_count=0
srcdir=$(cd "$srcdir" && pwd) || exit 99 # tests go elsewhere
# In memory where programs can be run from there: a disk that is slow to sync must not fail a scene.
if [ -z "${TMPDIR-}" ] && tmp=$(mktemp -d -p /dev/shm 2>/dev/null); then
	printf '#!/bin/sh\n' >"$tmp/true" && chmod +x "$tmp/true" && "$tmp/true" 2>/dev/null &&
		TMPDIR=/dev/shm && export TMPDIR
	rm -rf "$tmp"
fi
umask 022 # what others can write to is refused
tmp=$(mktemp -d) || exit 99
XDG_STATE_HOME=$tmp/state
XDG_CACHE_HOME=$tmp/cache
XDG_CONFIG_HOME=$tmp/config
export XDG_STATE_HOME XDG_CACHE_HOME XDG_CONFIG_HOME
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

tap_comment() {
	sed 's/^/# /'
}

ok() {
	tap_count=$((tap_count + 1))
	tap_name=$1
	shift
	if "$@" >"$tmp/.output" 2>&1; then
		echo "ok $tap_count - $tap_name"
	else
		echo "# exit code $? of: $*"
		tap_comment <"$tmp/.output"
		echo "not ok $tap_count - $tap_name"
	fi
}

is() {
	tap_count=$((tap_count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $tap_count - $1"
	else
		printf 'wanted:\n%s\ngot:\n%s\n' "$2" "$3" | tap_comment
		echo "not ok $tap_count - $1"
	fi
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

tap_end() {
	echo "1..$tap_count"
}

slow() {
	[ -n "${GAVEL_BRIEF-}" ] || return 0
	skip "$1" 'GAVEL_BRIEF is set'
	tap_end
	exit 0
}
