# Whatever is killed, and when: nothing is lost, nothing is sent twice, and the journal tells the truth
# (tests/tools/kills.c). KILLS=2000 in the environment for a long run, KILLS_SEED to repeat one.
. "$srcdir/tests/tap.sh"
slow 'random kills'

cd "$tmp" || exit 99
HOME=$tmp
export HOME

kill_them() { timeout 3600 "$KILLER" "${KILLS:-60}" ${KILLS_SEED-} >log 2>&1; killed=$?; cat log; return $killed; }

ok "${KILLS:-60} kills" kill_them
tap_comment <log
tap_end
