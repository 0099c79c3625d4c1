# Completion for shells agrees with what the program takes, and works in bash.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
for shell in bash zsh fish; do
	ok "a script for $shell" sh -c '"$GAVEL" help "$1" >"script.$1"' sh $shell
	if command -v $shell >/dev/null; then
		ok "$shell can read it" $shell -n script.$shell
	else
		skip "$shell can read it" "there is no $shell"
	fi
done
commands=$("$GAVEL" --help | sed -n 's/^\(usage:\|      \) gavel \([a-z]*\) *\[OPTION.*/\2/p' | grep .)
ok 'there are commands' [ "$(echo "$commands" | wc -l)" -ge 6 ]
options_of() { # of the help: --name or --name=
	"$GAVEL" ${1:+"$1"} --help | sed -n 's/^  \(--[a-z-]*=\{0,1\}\).*/\1/p' | sort
}

# What bash offers after these words; the last one is what is being typed.
cat >offers <<'END'
. ./script.bash
compopt() { :; }
COMP_WORDS=(gavel "$@")
COMP_CWORD=$#
_gavel
printf '%s\n' "${COMPREPLY[@]}" | sort
END
if command -v bash >/dev/null; then
	for command in $commands; do
		is "$command: bash offers its options" "$(options_of "$command")" "$(bash offers "$command" --)"
	done
	is 'the commands' "$(echo "$commands" | sort)" "$(bash offers '')"
	is 'their beginnings' 'show' "$(bash offers sh)"
	is 'views' 'inbox
item' "$(bash offers show i)"
	is 'after an option too' 'inbox
item' "$(bash offers show --format = json i)"
	is 'and after its value' 'inbox
item' "$(bash offers show --size 80 i)"
	is 'not twice' '' "$(bash offers show inbox i)"
	is 'verbs' 'accept
answer' "$(bash offers decide log item a)"
	is 'what a journal is asked for' 'repair
resend' "$(bash offers journal re)"
	is 'values' 'json' "$(bash offers show --format = j)"
	is 'all of them' 'always
auto
never' "$(bash offers show --color =)"
	: >log.ndjson
	is 'files' 'log.ndjson' "$(bash offers --reply = log)"
	is 'what is offered is bound to gavel' 0 "$(bash -c '. ./script.bash && complete -p gavel >/dev/null; echo $?')"
else
	skip 'bash completes' 'there is no bash'
fi
for command in $commands; do
	for option in $(options_of "$command" | tr -d =); do
		awk -v c="$command" -v o="$option" '
			index($0, "\t" c ")") == 1 { here = 1 }
			here && index($0, "\047" o "[") + index($0, "\047" o "=") { found = 1 }
			here && /;;$/ { here = 0 }
			END { exit !found }' script.zsh || echo "zsh: $command $option"
		grep -q -- "-n '__fish_seen_subcommand_from $command' -l ${option#--} " script.fish || echo "fish: $command $option"
	done
done >missing
is 'zsh and fish have every option of every command' '' "$(cat missing)"

tap_end
