# Turns a recording of a real agent (NAME.both.ndjson: {"t":MS,"dir":"agent|client|stderr|note","msg":…}
# a line) into the capture that gavel would have made of it: awk -v agent=claude -v dialect=claude.
# The agent's lines stand as they are, those to it behind a tab and a record of the holder; its start
# and its end are records, too. Needs a source/child.h head first, which names the dialect.
BEGIN {
	tab = "\t"
	if (!base)
		base = 1794988630000 # 2026-11-17
	printf "%s{\"gavel\":\"capture\",\"id\":\"00000000-0000-4000-8000-000000000001\",", tab
	printf "\"agent\":\"%s\",\"speaks\":\"agent\",\"dialect\":\"%s\",", agent, dialect
	printf "\"command\":[\"%s\"],\"env\":[],\"capabilities\":[]}\n", agent
	printf "%s{\"gavel\":\"run\",\"n\":1,\"pid\":7,\"t\":%.0f}\n", tab, base
}

{
	time = $0
	sub(/^{"t":/, "", time)
	sub(/,.*/, "", time)
	time = sprintf("%.0f", base + time)
	rest = $0
	sub(/^{"t":[0-9]*,"dir":"[a-z]*","/, "", rest)
	is_json = sub(/^msg":/, "", rest)
	sub(/}$/, "", rest)
	if (!is_json) { # a string
		sub(/^text":"/, "", rest)
		sub(/"$/, "", rest)
		sub(/\\n$/, "", rest)
		gsub(/\\"/, "\"", rest)
	}
}

/^{"t":[0-9]*,"dir":"agent",/ { print rest }

/^{"t":[0-9]*,"dir":"client",/ {
	printf "%s{\"gavel\":\"to\",\"id\":\"%012d\",\"t\":%s}\n", tab, ++told, time
	print tab rest
}

/^{"t":[0-9]*,"dir":"note","text":"exit code=/ {
	code = rest
	sub(/^exit code=/, "", code)
	sub(/ .*/, "", code)
	printf "%s{\"gavel\":\"exit\",\"n\":1,", tab
	printf code == "null" ? "\"signal\":9" : "\"code\":" code
	printf ",\"t\":%s}\n", time
}
