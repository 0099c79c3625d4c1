/* Messages of codex for people: one line each, and the page of an item. */
#include "dialect/codex.h"

enum { FILES_SHOWN = 16 };

/* ---- commands ---- */

struct str codex_command(struct str whole)
{
	static const char *const shells[] = { "/bin/bash -lc '", "/bin/zsh -lc '", "/bin/sh -lc '",
					      "bash -lc '", "zsh -lc '", "sh -lc '",
					      "/bin/bash -c '", "/bin/sh -c '" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		size_t n = strlen(shells[i]);

		if (whole.n > n && str_starts(whole, str_of(shells[i])) &&
		    memchr(whole.p + n, '\'', whole.n - n) == whole.p + whole.n - 1)
			return str_make(whole.p + n, whole.n - n - 1);
	}
	return whole;
}

/* A command of the old requests is a list of words. */
static struct str command_text(struct decoder *d, yyjson_val *command)
{
	struct buf b = { 0 };
	yyjson_val *v;
	size_t i, n;

	if (!yyjson_is_arr(command))
		return json_str(command);
	yyjson_arr_foreach(command, i, n, v) {
		bool bare = json_str(v).n && !memchr(json_str(v).p, ' ', json_str(v).n);

		buf_adds(&b, i ? " " : "");
		if (bare)
			buf_add_str(&b, json_str(v));
		else
			json_write(&b, v);
	}
	return arena_take(&d->arena, &b);
}

/* ---- changes of files ---- */

/* Of a new or deleted file the whole text is the diff. */
static void add_lines(struct buf *out, char mark, struct str text)
{
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) + 1 : text.n;

		buf_addc(out, mark);
		buf_add_str(out, str_make(text.p, n));
		if (!end)
			buf_addc(out, '\n');
		text = str_from(text, n);
	}
}

static void add_change(struct buf *files, struct buf *diff, struct str path, struct str type,
		       struct str moved, struct str text)
{
	buf_printf(files, "%s%.*s %.*s", files->n ? "\n" : "", STR_ARG(type), STR_ARG(path));
	if (moved.n)
		buf_printf(files, " → %.*s", STR_ARG(moved));
	buf_printf(diff, "--- %.*s\n+++ %.*s\n", STR_ARG(path), STR_ARG(moved.n ? moved : path));
	if (str_is(type, "update"))
		buf_add_str(diff, text);
	else
		add_lines(diff, str_is(type, "delete") ? '-' : '+', text);
	if (diff->n && diff->p[diff->n - 1] != '\n')
		buf_addc(diff, '\n');
}

/* item.changes, an array; fileChanges of the old requests, an object of paths. */
static void add_changes(struct buf *files, struct buf *diff, yyjson_val *changes)
{
	yyjson_val *key, *v, *type;
	size_t i, n;

	if (yyjson_is_arr(changes))
		yyjson_arr_foreach(changes, i, n, v) {
			yyjson_val *kind = json_get(v, "kind");

			add_change(files, diff, json_get_str(v, "path"),
				   yyjson_is_str(kind) ? json_str(kind)
						       : json_get_str(kind, "type"),
				   json_get_str(kind, "move_path"), json_get_str(v, "diff"));
		}
	if (yyjson_is_obj(changes))
		yyjson_obj_foreach(changes, i, n, key, v) {
			struct str text;

			type = yyjson_is_obj(v) ? unsafe_yyjson_get_first(v) : NULL;
			if (!type || !yyjson_obj_size(v))
				continue;
			text = json_get_str(type + 1, "unified_diff");
			add_change(files, diff, json_str(key), json_str(type),
				   json_get_str(type + 1, "move_path"),
				   text.n ? text : json_get_str(type + 1, "content"));
		}
}

/* The names without their folders: "README.md, hello.txt". */
static void add_file_names(struct buf *out, struct str files)
{
	bool first = true;

	while (files.n) {
		const char *end = memchr(files.p, '\n', files.n);
		struct str line = str_make(files.p, end ? (size_t)(end - files.p) : files.n);
		size_t slash = line.n;

		while (slash && line.p[slash - 1] != '/' && line.p[slash - 1] != ' ')
			slash--;
		buf_adds(out, first ? "" : ", ");
		buf_add_str(out, str_from(line, slash));
		first = false;
		files = end ? str_from(files, line.n + 1) : STR_NONE;
	}
}

/* The diff has all of them. */
static void detail_files(struct detail *out, struct str files)
{
	for (unsigned n = 0; files.n && n < FILES_SHOWN; n++) {
		const char *end = memchr(files.p, '\n', files.n);
		struct str line = str_make(files.p, end ? (size_t)(end - files.p) : files.n);

		detail_add(out, "file", line, true);
		files = end ? str_from(files, line.n + 1) : STR_NONE;
	}
}

static void detail_changes(struct decoder *d, yyjson_val *changes, struct detail *out)
{
	struct buf files = { 0 }, diff = { 0 }, title = { 0 };

	add_changes(&files, &diff, changes);
	buf_adds(&title, "change: ");
	add_file_names(&title, buf_str(&files));
	if (!files.n)
		buf_adds(&title, "files that this log does not tell");
	out->title = arena_take(&d->arena, &title);
	detail_add(out, "tool", STR("file change"), false);
	detail_files(out, arena_take(&d->arena, &files));
	detail_add(out, "diff", arena_take(&d->arena, &diff), false);
}

/* ---- questions ---- */

static void add_options(struct decoder *d, struct buf *b, yyjson_val *options, const char *indent)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(options, i, n, v) {
		buf_printf(b, "%s%s%zu  ", b->n ? "\n" : "", indent, i + 1);
		summary_add(d, b, v, "{label}");
		if (json_get_str(v, "description").n)
			summary_add(d, b, v, ": {description}");
	}
}

static void detail_question(struct decoder *d, yyjson_val *questions, struct detail *out)
{
	yyjson_val *first = yyjson_arr_get_first(questions), *v;
	bool several = yyjson_arr_size(questions) > 1;
	struct buf b = { 0 };
	size_t i, n;

	out->title = json_get_str(first, "question");
	if (yyjson_is_arr(json_get(first, "options")))
		out->options = json_get(first, "options");
	yyjson_arr_foreach(questions, i, n, v)
		detail_ask(out, json_get_str(v, "question"), json_get(v, "options"), false);
	if (!several) {
		detail_add(out, "question", out->title, false);
		add_options(d, &b, out->options, "");
		detail_add(out, "options", arena_take(&d->arena, &b), false);
		if (out->options && yyjson_is_false(json_get(first, "isOther")))
			detail_add(out, "answers", STR("only these"), false);
		return;
	}
	yyjson_arr_foreach(questions, i, n, v) {
		buf_printf(&b, "%s%zu  ", i ? "\n" : "", i + 1);
		summary_add(d, &b, v, "{question}");
		add_options(d, &b, json_get(v, "options"), "   ");
	}
	detail_add(out, "questions", arena_take(&d->arena, &b), false);
}

static void detail_form(struct decoder *d, yyjson_val *params, struct detail *out)
{
	yyjson_val *fields = json_get(json_get(params, "requestedSchema"), "properties"), *key, *v;
	struct buf b = { 0 };
	size_t i, n;

	out->title = json_get_str(params, "message");
	detail_add(out, "tool", json_get_str(params, "serverName"), true);
	detail_add(out, "question", out->title, false);
	detail_add(out, "url", json_get_str(params, "url"), true);
	if (yyjson_is_obj(fields))
		yyjson_obj_foreach(fields, i, n, key, v) {
			struct str title = json_get_str(v, "title");

			buf_printf(&b, "%s%zu  %.*s", i ? "\n" : "", i + 1,
				   STR_ARG(title.n ? title : json_str(key)));
			if (json_get_str(v, "description").n)
				summary_add(d, &b, v, ": {description}");
			if (json_get(v, "enum"))
				summary_add(d, &b, v, " {#enum}");
		}
	detail_add(out, "questions", arena_take(&d->arena, &b), false);
}

/* ---- permissions ---- */

static void detail_offers(struct decoder *d, enum codex_ask ask, yyjson_val *params,
			  struct detail *out)
{
	struct codex_offer offers[CODEX_OFFERS_MAX];
	unsigned n = codex_offers(ask, params, offers);
	struct buf b = { 0 };

	for (unsigned i = 0; i < n; i++) {
		buf_printf(&b, "%s%u  ", i ? "\n" : "", i + 1);
		codex_offer_words(&offers[i], &b);
	}
	detail_add(out, "always", arena_take(&d->arena, &b), false);
}

/* What Codex takes the command for: "read README.md". Nothing where that is the command again. */
static void detail_actions(struct decoder *d, yyjson_val *actions, struct detail *out)
{
	struct buf b = { 0 };
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(actions, i, n, v) {
		if (str_is(json_get_str(v, "type"), "unknown"))
			continue;
		buf_adds(&b, b.n ? "\n" : "");
		summary_add(d, &b, v, "{type} {query}{name} {path}");
	}
	detail_add(out, "does", arena_take(&d->arena, &b), false);
}

static void detail_command(struct decoder *d, yyjson_val *params, struct detail *out)
{
	struct str command = command_text(d, json_get(params, "command"));
	yyjson_val *network = json_get(params, "networkApprovalContext");
	yyjson_val *more = json_get(params, "additionalPermissions");

	if (yyjson_is_obj(network))
		out->title = str_of(arena_printf(&d->arena, "network: %.*s",
						 STR_ARG(json_get_str(network, "host"))));
	else
		out->title = str_of(arena_printf(&d->arena, "command: %.*s",
						 STR_ARG(codex_command(command))));
	detail_add(out, "tool", yyjson_is_obj(network) ? STR("network") : STR("command"), false);
	detail_add(out, "command", command, false);
	detail_add(out, "folder", json_get_str(params, "cwd"), true);
	if (yyjson_is_obj(network))
		detail_add(out, "network", scalar_text(d, network), false);
	if (yyjson_is_obj(more))
		detail_add(out, "input", scalar_text(d, more), false);
	detail_actions(d, json_get(params, "commandActions"), out);
	detail_actions(d, json_get(params, "parsedCmd"), out);
}

static void detail_grant(struct decoder *d, yyjson_val *params, struct detail *out)
{
	yyjson_val *permissions = json_get(params, "permissions"), *key, *v;
	struct buf b = { 0 };
	size_t i, n;

	buf_adds(&b, "grant:");
	if (yyjson_is_obj(permissions))
		yyjson_obj_foreach(permissions, i, n, key, v) {
			if (!yyjson_is_null(v))
				buf_printf(&b, " %.*s", STR_ARG(json_str(key)));
		}
	out->title = arena_take(&d->arena, &b);
	detail_add(out, "tool", STR("permission grant"), false);
	detail_add(out, "folder", json_get_str(params, "cwd"), true);
	detail_add(out, "input", scalar_text(d, permissions), false);
}

/* The item that the agent told of before it asked; NULL = it is another one, or unknown. */
static yyjson_val *told_changes(const struct decoder *d, yyjson_val *params)
{
	yyjson_val *item = json_get(json_get(d->looked_about, "params"), "item");

	return str_eq(json_get_str(item, "id"), json_get_str(params, "itemId"))
		       ? json_get(item, "changes")
		       : NULL;
}

bool codex_detail(struct decoder *d, yyjson_val *root, enum item_kind kind, uint32_t index,
		  struct detail *out)
{
	enum codex_ask ask = codex_ask_of(json_get_str(root, "method"));
	yyjson_val *params = json_get(root, "params");
	yyjson_val *changes = ask == CODEX_CHANGE ? told_changes(d, params) : NULL;
	struct str root_folder = json_get_str(params, "grantRoot");

	(void)index;
	if (ask == CODEX_NONE || kind != codex_item_kind(ask, params))
		return false;
	detail_part(out, params, json_get(params, "startedAtMs"));
	if (ask == CODEX_CHANGE)
		detail_part(out, changes, NULL);
	out->deadline_ms = codex_deadline(root);
	switch (ask) {
	case CODEX_COMMAND:
	case CODEX_OLD_COMMAND: detail_command(d, params, out); break;
	case CODEX_CHANGE: detail_changes(d, changes, out); break;
	case CODEX_OLD_PATCH: detail_changes(d, json_get(params, "fileChanges"), out); break;
	case CODEX_GRANT: detail_grant(d, params, out); break;
	case CODEX_INPUT: detail_question(d, json_get(params, "questions"), out); break;
	case CODEX_FORM: detail_form(d, params, out); break;
	case CODEX_NONE: break;
	}
	detail_add(out, "why", json_get_str(params, "reason"), false);
	if (root_folder.n)
		detail_add(out, "grants",
			   str_of(arena_printf(&d->arena, "writing below %.*s for this session",
					       STR_ARG(root_folder))), false);
	if (ask != CODEX_FORM && kind == ITEM_PERMISSION)
		detail_offers(d, ask, params, out);
	return true;
}

/* ---- one line ---- */

static void add_texts(struct buf *out, yyjson_val *list)
{
	yyjson_val *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v) {
		struct str text = yyjson_is_str(v) ? json_str(v) : json_get_str(v, "text");

		if (text.n)
			buf_printf(out, "%s%.*s", out->n ? " " : "", STR_ARG(text));
	}
}

static void summarize_item(struct decoder *d, yyjson_val *item, bool over, struct buf *out)
{
	struct str type = json_get_str(item, "type");
	struct buf files = { 0 }, diff = { 0 };
	size_t start = out->n;
	int64_t code;

	if (str_is(type, "commandExecution")) {
		buf_add_str(out, codex_command(json_get_str(item, "command")));
	} else if (str_is(type, "fileChange")) {
		add_changes(&files, &diff, json_get(item, "changes"));
		buf_adds(out, "change: ");
		add_file_names(out, buf_str(&files));
	} else if (str_is(type, "agentMessage") || str_is(type, "plan")) {
		buf_adds(out, str_is(type, "plan") ? "plan: " : "");
		summary_add(d, out, item, "{text}");
	} else if (str_is(type, "userMessage")) {
		add_texts(out, json_get(item, "content"));
	} else if (str_is(type, "reasoning")) {
		add_texts(out, json_get(item, "summary"));
	} else {
		summary_add(d, out, item, "{type} {server} {tool} {query}");
	}
	buf_release(&files);
	buf_release(&diff);
	if (over && json_get_str(item, "status").n)
		summary_add(d, out, item, ": {status}");
	if (over && json_int(json_get(item, "exitCode"), &code))
		buf_printf(out, ", exit %lld", (long long)code);
	if (!over && str_is(json_get_str(item, "status"), "inProgress"))
		buf_adds(out, " …");
	if (out->n == start)
		buf_add_str(out, type);
}

static void summarize_turn(struct decoder *d, yyjson_val *turn, struct buf *out)
{
	yyjson_val *last = yyjson_arr_get_last(json_get(turn, "items"));

	if (str_is(json_get_str(turn, "status"), "inProgress"))
		buf_adds(out, "turn begun");
	else
		summary_add(d, out, turn, "turn {status}");
	if (json_get_str(json_get(turn, "error"), "message").n)
		summary_add(d, out, json_get(turn, "error"), ": {message}");
	else if (json_get_str(last, "text").n)
		summary_add(d, out, last, ": {text}");
}

static void summarize_status(struct decoder *d, yyjson_val *status, struct buf *out)
{
	yyjson_val *v;
	size_t i, n;

	summary_add(d, out, status, "thread {type}");
	yyjson_arr_foreach(json_get(status, "activeFlags"), i, n, v)
		buf_printf(out, ", %.*s", STR_ARG(json_str(v)));
}

static void summarize_notification(struct decoder *d, yyjson_val *root, struct str method,
				   struct buf *out)
{
	yyjson_val *params = json_get(root, "params"), *run = json_get(params, "run");

	if (json_get(params, "item"))
		summarize_item(d, json_get(params, "item"), str_is(method, "item/completed"), out);
	else if (json_get(params, "turn"))
		summarize_turn(d, json_get(params, "turn"), out);
	else if (json_get(params, "delta"))
		summary_add(d, out, params, "{delta}");
	else if (json_get(params, "requestId"))
		summary_add(d, out, params, "request {#requestId} is resolved");
	else if (json_get(params, "tokenUsage"))
		summary_add(d, out, json_get(json_get(params, "tokenUsage"), "last"),
			    "{#inputTokens} tokens in ({#cachedInputTokens} cached), "
			    "{#outputTokens} out");
	else if (json_get(params, "thread"))
		summary_add(d, out, json_get(params, "thread"),
			    "thread in {cwd}, Codex {cliVersion}");
	else if (yyjson_is_obj(json_get(params, "status")))
		summarize_status(d, json_get(params, "status"), out);
	else if (json_get(params, "threadSettings"))
		summary_add(d, out, json_get(params, "threadSettings"),
			    "approval {#approvalPolicy}, model {model}");
	else if (run)
		summary_add(d, out, run, "hook {eventName} {status}");
	else if (json_get(params, "summary") || json_get(params, "message"))
		summary_add(d, out, params, "{summary}{message}");
	else if (json_get(params, "error"))
		summary_add(d, out, json_get(params, "error"), "{message}");
	else if (params)
		json_write(out, params);
}

/* A decision is a word, or an object that names it and the rule. */
static void summarize_decision(yyjson_val *decision, struct buf *out)
{
	yyjson_val *name = yyjson_obj_size(decision) ? unsafe_yyjson_get_first(decision) : NULL;

	if (name) {
		buf_printf(out, "%.*s ", STR_ARG(json_str(name)));
		json_write(out, name + 1);
	} else {
		buf_add_str(out, json_str(decision));
	}
}

static void summarize_answers(yyjson_val *answers, struct buf *out)
{
	yyjson_val *key, *v, *text;
	size_t i, n, k, of;

	if (!yyjson_obj_size(answers)) {
		buf_adds(out, "no answer");
		return;
	}
	yyjson_obj_foreach(answers, i, n, key, v) {
		buf_printf(out, "%s%.*s:", i ? "; " : "", STR_ARG(json_str(key)));
		yyjson_arr_foreach(json_get(v, "answers"), k, of, text)
			buf_printf(out, "%s %.*s", k ? "," : "", STR_ARG(json_str(text)));
	}
}

static void summarize_result(struct decoder *d, yyjson_val *result, struct buf *out)
{
	if (json_get(result, "decision"))
		summarize_decision(json_get(result, "decision"), out);
	else if (yyjson_is_obj(json_get(result, "answers")))
		summarize_answers(json_get(result, "answers"), out);
	else if (json_get(result, "action"))
		summary_add(d, out, result, "{action}");
	else if (json_get(result, "thread"))
		summary_add(d, out, result,
			    "thread in {cwd}, model {model}, approval {#approvalPolicy}");
	else if (json_get(result, "turn"))
		summarize_turn(d, json_get(result, "turn"), out);
	else if (json_get(result, "userAgent"))
		summary_add(d, out, result, "{userAgent}");
	else
		json_write(out, result);
}

static void summarize_call(struct decoder *d, yyjson_val *root, struct str method, struct buf *out)
{
	yyjson_val *params = json_get(root, "params");

	if (json_get(params, "input"))
		add_texts(out, json_get(params, "input"));
	else if (json_get(params, "clientInfo"))
		summary_add(d, out, json_get(params, "clientInfo"), "{name} {version}");
	else if (str_is(method, "thread/start"))
		summary_add(d, out, params,
			    "in {cwd}, approval {#approvalPolicy}, sandbox {#sandbox}");
	else if (json_get(params, "threadId"))
		summary_add(d, out, params, "thread {threadId}");
	else if (yyjson_obj_size(params))
		json_write(out, params);
}

/* A record of the holder, or what else a capture of this agent has. */
static void summarize_other(struct decoder *d, yyjson_val *root, struct buf *out)
{
	if (str_is(json_get_str(root, "gavel"), "run"))
		summary_add(d, out, root, "started, process {#pid}");
	else if (str_is(json_get_str(root, "gavel"), "exit"))
		summary_add(d, out, root, json_get(root, "signal") ? "ended by signal {#signal}"
								   : "ended, exit {#code}");
	else
		json_write(out, root);
}

void codex_summarize(struct decoder *d, yyjson_val *root, struct buf *out)
{
	struct str method = json_get_str(root, "method");
	enum codex_ask ask = codex_ask_of(method);
	struct detail detail = { .deadline_ms = TIME_NONE };

	if (ask != CODEX_NONE) {
		codex_detail(d, root, codex_item_kind(ask, json_get(root, "params")), 0, &detail);
		buf_adds(out, ask == CODEX_CHANGE && !d->looked_about ? "a change of files" : "");
		if (ask != CODEX_CHANGE || d->looked_about)
			buf_add_str(out, detail.title);
		return;
	}
	if (codex_is_log(root)) {
		codex_summarize_log(d, root, out);
		return;
	}
	switch (rpc_type(root)) {
	case RPC_REQUEST: summarize_call(d, root, method, out); break;
	case RPC_NOTIFICATION: summarize_notification(d, root, method, out); break;
	case RPC_RESULT: summarize_result(d, json_get(root, "result"), out); break;
	case RPC_ERROR: summary_add(d, out, json_get(root, "error"), "{message}"); break;
	case RPC_OTHER: summarize_other(d, root, out); break;
	}
}
