# Any bytes: the corpus of every fuzz target, and small changes of it that are the same in every run.
. "$srcdir/tests/tap.sh"
slow 'corpora'

for corpus in "$srcdir"/tests/fuzz/corpus/*; do
	target=${corpus##*/}
	case $target in
	lines | sides | journal | tail) rounds=20 ;;
	*) rounds=500 ;;
	esac
	ok "$target: the corpus and changes of it" "$FUZZ_DIR/fuzz_$target" "$corpus" $rounds
done
is 'every target has a corpus' "$(ls "$srcdir"/tests/fuzz/fuzz_*.c | sed 's/.*fuzz_//; s/\.c//')" \
	"$(ls "$srcdir/tests/fuzz/corpus")"

tap_end
