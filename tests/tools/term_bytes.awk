# Reads what a program sent to its terminal and tells every byte that nothing explains: printable
# characters of UTF-8, BS TAB LF CR SO SI, and the escape sequences of one terminfo entry are
# explained, besides the modes that terminfo has no name for (see src/term/term.h). Strings (OSC,
# DCS, APC, PM, SOS), C1 controls, and characters that hide or reorder others never are, whatever
# terminfo says.
#     infocmp -1 TERM >caps; od -An -v -tu1 RAW | LC_ALL=C awk -f term_bytes.awk caps -
# Exit code 1 and a list when there is such a byte, or no bytes at all.

BEGIN {
	split("[?2004h [?2004l [?1002h [?1002l [?1006h [?1006l", own, " ")
	for (i in own)
		known[own[i]] = 1
}

# The sequences of a capability: [ and final byte, with parameters only where they name a mode.
FILENAME != "-" {
	# keys, and what asks the terminal to answer, are nothing to draw with
	if ($0 !~ /^\t[^=]*=/ || $0 ~ /^\t(k[^=]*|u[0-9])=/)
		next
	sub(/^[^=]*=/, "")
	sub(/,$/, "")
	gsub(/%[?te;]/, "")
	gsub(/%p[1-9]|%\{[0-9]+\}|%'[^']*'|%[PG][a-zA-Z]/, "")
	gsub(/%:?[-+# ]*[0-9.]*[doxXs]/, "")
	gsub(/%[-+*\/m&|^=<>!~AOil%c]/, "")
	n = split($0, parts, /\\E/)
	for (i = 2; i <= n; i++) {
		if (match(parts[i], /^\[[<=>?]?[0-9;]*[ -\/]*[@-~]/))
			known[skeleton(substr(parts[i], 1, RLENGTH))] = 1
		else if (match(parts[i], /^[ -\/]*[0-~]/))
			known[substr(parts[i], 1, RLENGTH)] = 1
	}
	next
}

{
	for (i = 1; i <= NF; i++) {
		at++
		take($i + 0)
	}
}

END {
	if (state != "")
		complain("ends inside a sequence: ESC " sequence)
	if (more)
		complain("ends inside a character")
	if (!at) {
		print "no bytes at all"
		bad++
	}
	printf "%d bytes, %d characters, %d sequences, %d complaints\n", at, characters, sequences, bad
	exit bad > 0
}

function skeleton(s) {
	if (s ~ /^\[[^<=>?]/)
		gsub(/[0-9;]/, "", s)
	return s
}

function complain(what) {
	if (++bad <= 10)
		print "byte " at ": " what
}

function end_sequence() {
	state = ""
	sequences++
	if (!(skeleton(sequence) in known))
		complain("no capability of the terminal: ESC " sequence)
}

function take(b) {
	if (state != "") {
		if (b < 32 || b > 126) {
			complain("byte " b " inside ESC " sequence)
			state = ""
			return
		}
		sequence = sequence sprintf("%c", b)
		if (state == "escape" && b == 91) {
			state = "control"
		} else if (state == "escape" && b >= 32 && b < 48) {
			state = "charset"
		} else if (state == "escape" && (b == 93 || b == 80 || b == 95 || b == 94 || b == 88)) {
			complain("a string starts: ESC " sequence)
			state = ""
		} else if (state == "escape" || (state == "control" && b >= 64) ||
			   (state == "charset" && b >= 48)) {
			end_sequence()
		}
		return
	}
	if (more) {
		if (b < 128 || b > 191) {
			complain("byte " b " inside a character")
			more = 0
			return
		}
		code = code * 64 + b - 128
		if (--more == 0)
			character(code)
		return
	}
	if (b == 27) {
		state = "escape"
		sequence = ""
	} else if (b < 32) {
		if (!(b >= 8 && b <= 10) && !(b >= 13 && b <= 15))
			complain("control " b)
	} else if (b == 127) {
		complain("control 127")
	} else if (b < 128) {
		characters++
	} else if (b >= 194 && b < 245) {
		more = b < 224 ? 1 : b < 240 ? 2 : 3
		code = b - (b < 224 ? 192 : b < 240 ? 224 : 240)
		least = more == 1 ? 128 : more == 2 ? 2048 : 65536
	} else {
		complain("byte " b " starts no character")
	}
}

function character(c) {
	characters++
	if (c < least || c > 1114111 || (c >= 55296 && c <= 57343))
		complain(sprintf("no character: %X", c))
	else if (c < 160)
		complain(sprintf("C1 control U+%04X", c))
	else if (c == 173 || c == 1564 || c == 65279 || c == 917505 || (c >= 8203 && c <= 8207) ||
		 (c >= 8232 && c <= 8238) || (c >= 8288 && c <= 8303) || (c >= 65024 && c <= 65039) ||
		 (c >= 917504 && c <= 921599))
		complain(sprintf("a character that hides or reorders: U+%04X", c))
	else if ((c >= 57344 && c <= 63743) || c >= 983040 || c % 65536 >= 65534)
		complain(sprintf("private or no character: U+%04X", c))
}
