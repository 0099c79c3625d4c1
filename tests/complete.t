# Completion for shells agrees with what the program takes, and works in those that are here.
. "$srcdir/tests/tap.sh"

cd "$tmp" || exit 99
: >log.ndjson
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
	is 'their beginnings' 'show' "$(bash offers sho)"
	is 'views' 'inbox
item' "$(bash offers show i)"
	is 'after an option too' 'inbox
item' "$(bash offers show --format = json i)"
	is 'and after its value' 'inbox
item' "$(bash offers show --size 80 i)"
	is 'a command after options' 'show' "$(bash offers --ascii --size 80 --color = never sho)"
	is '... and its words' 'inbox
item' "$(bash offers --ascii --size 80 show i)"
	is '... and its options' '--strict' "$(bash offers --config x check --st)"
	is 'no command after a source' '' "$(bash offers --ascii log.ndjson sh)"
	is 'not twice' '' "$(bash offers show inbox i)"
	is 'verbs' 'accept
always
answer' "$(bash offers decide log item a)"
	is 'what a journal is asked for' 'repair
resend' "$(bash offers journal re)"
	is 'values' 'json' "$(bash offers show --format = j)"
	is 'all of them' 'always
auto
never' "$(bash offers show --color =)"
	is 'files' 'log.ndjson' "$(bash offers --reply = log)"
	is 'what is offered is bound to gavel' 0 "$(bash -c '. ./script.bash && complete -p gavel >/dev/null; echo $?')"
else
	skip 'bash completes' 'there is no bash'
fi

# What the other two offer, each asked in its own way; names only.
fish_offers() { HOME=$tmp fish -c 'source script.fish; complete -C $argv[1]' "$1" | cut -f1 | sort; }
# zsh completes on a terminal only. It lists what it offers between two prints of the line.
cat >offers.zsh <<'END'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; PS2=; stty -echo columns 200 rows 500; fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; zstyle ":completion:*" verbose no; bindkey "^T" list-choices; bindkey -s "^Y" "^Uprint DO\"\"NE\n"; print REA""DY'
zpty -r z out '*READY*'
zpty -w -n z "$1"$'\x14\x19'
zpty -r z out '*DONE*'
print -r -- "$out"
zpty -d z
END
mkdir functions
cp script.zsh functions/_gavel
zsh_offers() {
	HOME=$tmp timeout 60 zsh -f offers.zsh "$1" | tr '\r' '\n' | sed 's/\x1b\[[0-9;?]*[A-Za-z]/ /g' |
		grep -v 'gavel\|DO\|#' | tr -s ' ' '\n' | grep . | sort
}
for shell in zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell completes" "there is no $shell"
		continue
	fi
	is "$shell: the beginning of a command" show "$(${shell}_offers 'gavel sh')"
	is "$shell: ... after options" show "$(${shell}_offers 'gavel --ascii --size=80 sh')"
	is "$shell: views" 'inbox
item' "$(${shell}_offers 'gavel show --since=1 i')"
	is "$shell: not twice" '' "$(${shell}_offers 'gavel show inbox inb')"
	is "$shell: verbs" 'accept
answer' "$(${shell}_offers 'gavel decide log item a')"
	is "$shell: options" "$(options_of check | tr -d =)" "$(${shell}_offers 'gavel check --')"
	is "$shell: values" 'always
auto
never' "$(${shell}_offers 'gavel show --color=' | sed 's/.*=//')"
	is "$shell: files" 'log.ndjson' "$(${shell}_offers 'gavel --reply=log' | sed 's/.*=//')"
done
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
