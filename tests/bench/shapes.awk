# shapes.awk - logs that have many of one thing, to see how time grows with their number.
#
#	awk -v shape=SHAPE -v n=COUNT -f shapes.awk
#
# findings	one review with n findings, of a task that was assigned
# cycle		n tasks, each of which depends on the next one, the last on the first
# chain		n tasks, each of which depends on the one before
# star		n tasks, all of which depend on the first, and it on all of them
# items		n reviews of n tasks, with a finding each
# reviews	the same, of tasks that were assigned: n findings that can be accepted
# rounds	n reviews of one task, with a finding each
# agents	n agents, of which each says something
# sessions	n sessions of a feedback loop
# asks		n calls of an ACP agent that wait for a permission
# questions	n questions of agents of an orchestrator
# results	n results of handed off tasks, which wait for a decision
# outputs	n envelopes that answer as many, and want a person
# improvements	n improvements that one response of a feedback loop suggests
# tiny		n messages of 70 bytes
# members	400 messages with n members that no protocol knows

function time(i) {
	return sprintf("2026-01-%02dT%02d:%02d:%02dZ", 1 + int(i / 86400) % 28, int(i / 3600) % 24,
		       int(i / 60) % 60, i % 60)
}

function head(i, from, from_type, to, to_type, what, task) {
	printf "{\"message_id\":\"m-%d\",\"timestamp\":\"%s\",\"sequence_number\":%d,", i, time(i),
	       ++sent[from]
	printf "\"from_agent\":{\"agent_id\":\"%s\",\"agent_type\":\"%s\"},", from, from_type
	printf "\"to_agent\":{\"agent_id\":\"%s\",\"agent_type\":\"%s\"},", to, to_type
	printf "\"message_type\":\"%s\",\"correlation_id\":\"c-%s\",\"payload\":", what, task
}

function assign(i, needs) {
	head(i, "architect-1", "architect", "dev-1", "developer", "task_assignment", "t-" i)
	printf "{\"task\":{\"task_id\":\"t-%d\",\"title\":\"Task %d\",\"description\":\"Do it.\",", i, i
	printf "\"depends_on\":[%s],\"priority\":\"high\",\"acceptance_criteria\":[\"It works.\"]}}}\n", needs
}

function task(i) { return "\"t-" i "\"" }

# findings from..to-1
function review(i, number, who, from, to, j) {
	head(i, who, "reviewer", "architect-1", "architect", "review_result", "t-" number)
	printf "{\"review_id\":\"r-%d\",\"task_id\":\"t-%d\",\"verdict\":\"changes_requested\",\"findings\":[", i, number
	for (j = from; j < to; j++)
		printf "%s{\"finding_id\":\"f-%d\",\"severity\":\"%s\",\"category\":\"bug\",\"location\":{\"file\":\"a.c\",\"line_start\":%d},\"description\":\"No check of pointer %d.\",\"rationale\":\"It may be null.\"}",
		       (j > from ? "," : ""), j, (j % 3 ? "major" : "minor"), j + 1, j
	printf "],\"summary\":\"Look again.\",\"required_changes\":[]}}\n"
}

function session(i) {
	printf "{\"type\":\"text\",\"timestamp\":%.0f,\"sessionID\":\"s-%d\",\"part\":{\"type\":\"text\",\"text\":\"", 1769400000000 + i * 1000, i
	printf "{\\\"protocol_version\\\":\\\"1.2\\\",\\\"iteration\\\":1,\\\"status\\\":\\\"success\\\",\\\"feedback\\\":{\\\"general_summary\\\":\\\"Good.\\\"}}\"}}\n"
}

function members(i, j) {
	printf "{\"type\":\"event:log\",\"id\":\"6c6c2075-e767-44bc-bc67-%012d\",\"timestamp\":\"%s\",\"payload\":{\"level\":\"info\",\"message\":\"m\"", i, time(i)
	for (j = 0; j < n; j++)
		printf ",\"m%d\":%d", j, j
	print "}}"
}

# Appending to a long text copies it, so it is put together from parts.
function star(i, part, all) {
	for (i = 1; i < n; i++) {
		part = part (i > 1 ? "," : "") task(i)
		if (i % 1000 == 0 || i == n - 1) {
			all = all part
			part = ""
		}
	}
	assign(0, all)
	for (i = 1; i < n; i++)
		assign(i, task(0))
}

function asks(i) {
	printf "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":"
	printf "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c-%d\",\"title\":\"touch\",\"kind\":\"execute\",\"status\":\"pending\"}}}\n", i
	printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",", i
	printf "\"toolCall\":{\"toolCallId\":\"c-%d\",\"title\":\"touch\",\"kind\":\"execute\"},\"options\":", i
	printf "[{\"optionId\":\"once\",\"name\":\"Yes\",\"kind\":\"allow_once\"}]}}\n"
}

function question(i) {
	printf "{\"type\":\"request:ask-user\",\"id\":\"00000000-0000-4000-8000-%012d\",\"timestamp\":\"%s\",\"agentId\":\"a-1\",", i, time(0)
	printf "\"payload\":{\"question\":\"Which of %d?\",\"options\":[]}}\n", i
}

function result(i) {
	printf "{\"task_id\":\"T%d\",\"task_type\":\"content\",\"priority\":\"low\",\"context\":{},\"acceptance_criteria\":[\"ok\"],", i
	printf "\"created_at\":\"%s\",\"status\":\"pending\"}\n", time(2 * i)
	printf "{\"task_id\":\"T%d\",\"status\":\"success\",\"confidence_score\":0.8,\"output\":{\"type\":\"text\",\"payload\":{\"text\":\"t\"}},", i
	printf "\"traces\":\"t\",\"artifacts\":[],\"created_at\":\"%s\"}\n", time(2 * i + 1)
}

function output(i) {
	printf "{\"context\":{\"feature_id\":\"%03d-f\",\"workflow\":\"plan\",\"iteration\":1},\"paths\":{\"spec\":\"s.md\"},", i
	printf "\"task\":{\"action\":\"validate\",\"params\":{}},\"prior_context\":[]}\n"
	printf "{\"success\":false,\"summary\":\"%d is not clear.\",\"artifacts\":[],\"notes\":[],\"recommendation\":\"escalate\"}\n", i
}

function improvements(i) {
	print "{\"protocol_version\":\"1.2\",\"iteration\":1,\"artifact\":{\"media_type\":\"text/plain\",\"content\":\"one\"}}"
	printf "{\"protocol_version\":\"1.2\",\"iteration\":1,\"status\":\"success\",\"feedback\":{\"confidence\":{\"level\":\"high\","
	printf "\"justification\":\"x\"},\"positive_points\":[],\"areas_for_improvement\":["
	for (i = 0; i < n; i++)
		printf "%s{\"id\":\"improve-%d\",\"aspect\":\"a\",\"description\":\"d\",\"recommendation\":\"r\"}", (i ? "," : ""), i
	print "],\"general_summary\":\"s\"}}"
}

BEGIN {
	for (i = 0; i < 400 && shape == "members"; i++)
		members(i)
	if (shape == "findings") {
		assign(0, "")
		review(1, 0, "reviewer-1", 0, n)
	} else if (shape == "star") {
		star()
	} else if (shape == "improvements") {
		improvements()
	}
	for (i = 0; i < n; i++)
		if (shape == "cycle")
			assign(i, task((i + 1) % n))
		else if (shape == "chain")
			assign(i, i ? task(i - 1) : "")
		else if (shape == "items")
			review(i, i, "reviewer-1", i, i + 1)
		else if (shape == "reviews") {
			assign(i, "")
			review(n + i, i, "reviewer-1", i, i + 1)
		} else if (shape == "rounds")
			review(i, 0, "reviewer-1", i, i + 1)
		else if (shape == "agents")
			review(i, i, "reviewer-" i, 0, 0)
		else if (shape == "sessions")
			session(i)
		else if (shape == "asks")
			asks(i)
		else if (shape == "questions")
			question(i)
		else if (shape == "results")
			result(i)
		else if (shape == "outputs")
			output(i)
		else if (shape == "tiny")
			printf "{\"type\":\"step_start\",\"timestamp\":%.0f,\"sessionID\":\"s-%d\"}\n", 1769400000000 + i * 10, i % 5
}
