/* Compares what people and machines were told with what is in the store, once all is done.
 *
 *   team_actors books URL FOLDER [real]
 *
 * real: what gavel ship delivered is compared by the caller.
 *
 * Prints what was lost (acknowledged, and not there or another; decided, and never delivered), what was
 * doubled (decided twice, delivered twice, two persons told that they decided), and which rule was broken;
 * exit 1 if there is any. */
#include "team_actors.h"

#include <glob.h>
#include <stdio.h>

enum { PAGE = 5000, SHOWN_MAX = 10 };

/* What is known of an item. Texts are "ITEM VERB DRAFT". */
struct fate {
	char *told, *decided, *delivered;
};

struct books {
	struct store *store;
	const char *folder;
	bool is_real;
	VEC(struct fate) fates;
	unsigned decisions, deliveries, votes, refusals, lost, doubled, broken;
	/* lines of one source */
	struct buf log;
	int64_t source, at, last;
	char name[32];
};

static void note(struct books *b, unsigned *count, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void note(struct books *b, unsigned *count, const char *format, ...)
{
	va_list args;

	(*count)++;
	if (b->lost + b->doubled + b->broken > SHOWN_MAX)
		return;
	va_start(args, format);
	fputs(count == &b->lost      ? "lost: "
	      : count == &b->doubled ? "doubled: "
				     : "broken: ",
	      stdout);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

static struct fate *fate_of(struct books *b, int64_t item)
{
	if (item < 1 || item > 10000000)
		fail("%lld is no item", (long long)item);
	while (b->fates.n <= (uint32_t)item)
		vec_push(&b->fates, (struct fate){ 0 });
	return &b->fates.v[item];
}

/* ---- what people were told ---- */

static void take_count(void *ctx, const struct store_answer *a)
{
	*(int64_t *)ctx = store_int(a->rows, 0, 0);
}

static void check_vote(struct books *b, struct str login, struct str line)
{
	int64_t item = strtoll(line.p, NULL, 10), n = 0;
	struct str verb = line;

	str_cut(&verb, STR(" "));
	verb = str_cut(&verb, STR(" "));
	ask(b->store,
	    "select count(*) from gavel.vote where item = $1::bigint and who = $2 and verb = $3",
	    VALUES(store_number(item), store_text(login), store_text(verb)), take_count, &n);
	b->votes++;
	if (n != 1)
		note(b, &b->lost, "the vote of %.*s: %.*s", STR_ARG(login), STR_ARG(line));
}

static void take_told(struct books *b, struct str login, struct str line)
{
	struct str what = str_cut(&line, STR(" "));
	struct fate *f;

	if (str_is(what, "voted")) {
		check_vote(b, login, line);
		return;
	}
	f = fate_of(b, strtoll(line.p, NULL, 10));
	if (f->told && !str_eq(str_of(f->told), line)) {
		note(b, &b->doubled, "told that it was decided: %s; and: %.*s", f->told,
		     STR_ARG(line));
		return;
	}
	if (!f->told)
		f->told = str_dup(line);
}

static void take_delivered(struct books *b, struct str line)
{
	struct fate *f = fate_of(b, strtoll(line.p, NULL, 10));

	b->deliveries++;
	if (f->delivered)
		note(b, &b->doubled, "delivered: %s; and: %.*s", f->delivered, STR_ARG(line));
	else
		f->delivered = str_dup(line);
}

/* Gives each line of all files *ENDING to told or to delivered. */
static void read_files(struct books *b, const char *ending, bool told)
{
	char pattern[300];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*.%s", b->folder, ending);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *name = strrchr(found.gl_pathv[i], '/') + 1;
		struct str login = str_make(name, strcspn(name, ".")), rest;
		struct buf text = { 0 };

		read_whole(found.gl_pathv[i], &text);
		rest = buf_str(&text);
		while (rest.n) {
			struct str line = str_cut(&rest, STR("\n"));

			if (told)
				take_told(b, login, line);
			else
				take_delivered(b, line);
		}
		buf_release(&text);
	}
	globfree(&found);
}

/* ---- what is in the store ---- */

static void take_decisions(void *ctx, const struct store_answer *a)
{
	struct books *b = ctx;

	for (uint32_t i = 0; i < a->n; i++) {
		int64_t item = b->last = store_int(a->rows, i, 0);
		struct str verb = store_str(a->rows, i, 1);
		struct buf text = { 0 };

		buf_printf(&text, "%lld %.*s %.*s", (long long)item, STR_ARG(verb),
			   STR_ARG(store_str(a->rows, i, 2)));
		fate_of(b, item)->decided = text.p;
		b->decisions++;
		if (store_int(a->rows, i, 3) < store_int(a->rows, i, 4) && !str_is(verb, "reject"))
			note(b, &b->broken, "too few have decided: %s", text.p);
		if (store_int(a->rows, i, 5) != 1)
			note(b, &b->doubled, "not one event of: %s", text.p);
		if (store_int(a->rows, i, 6) != 1)
			note(b, &b->lost, "not one report of: %s", text.p);
	}
}

static void read_decisions(struct books *b)
{
	static const char sql[] =
		"select d.item, d.verb, d.draft, (select count(distinct v.who) from gavel.vote v "
		"where v.item = d.item "
		"and v.verb = d.verb and v.print = d.print), i.need, "
		"(select count(*) from gavel.event e where e.item = d.item and e.what = "
		"'decided'), "
		"(select count(*) from gavel.outcome o where o.item = d.item and o.what = 'sent') "
		"from gavel.decision d join gavel.item i on i.id = d.item where d.item > "
		"$1::bigint "
		"order by d.item limit 200";

	b->last = 0;
	while (ask(b->store, sql, VALUES(store_number(b->last)), take_decisions, b) > 0)
		;
}

static void compare(struct books *b)
{
	for (uint32_t i = 1; i < b->fates.n; i++) {
		const struct fate *f = &b->fates.v[i];

		if (f->told && (!f->decided || strcmp(f->told, f->decided) != 0))
			note(b, &b->lost, "told: %s; in the store: %s", f->told,
			     f->decided ? f->decided : "nothing");
		if (f->delivered && (!f->decided || strcmp(f->delivered, f->decided) != 0))
			note(b, &b->lost, "delivered: %s; in the store: %s", f->delivered,
			     f->decided ? f->decided : "nothing");
		if (!b->is_real && f->decided && !f->delivered)
			note(b, &b->lost, "never delivered: %s", f->decided);
	}
}

/* ---- lines ---- */

static void take_source(void *ctx, const struct store_answer *a)
{
	struct books *b = ctx;

	b->source = 0;
	if (!a->n)
		return;
	b->source = store_int(a->rows, 0, 0);
	str_copy(b->name, store_str(a->rows, 0, 1));
	b->last = store_int(a->rows, 0, 2);
}

static void take_lines(void *ctx, const struct store_answer *a)
{
	struct books *b = ctx;

	for (uint32_t i = 0; i < a->n; i++) {
		int64_t seq = store_int(a->rows, i, 0);
		struct str bytes = store_str(a->rows, i, 1);

		if (seq != b->at)
			note(b, seq < b->at ? &b->doubled : &b->lost,
			     "%s: a line at %lld, after %lld", b->name, (long long)seq,
			     (long long)b->at);
		if ((size_t)seq + bytes.n > b->log.n ||
		    !str_eq(bytes, str_make(b->log.p + seq, bytes.n)))
			note(b, &b->lost, "%s: the line at %lld is another", b->name,
			     (long long)seq);
		b->at = seq + (int64_t)bytes.n;
	}
}

static void check_items(struct books *b)
{
	struct str rest = buf_str(&b->log);
	int64_t raised = 0, opened = 0;

	while (rest.n)
		raised += str_starts(str_cut(&rest, STR("\n")), STR("{\"item\""));
	ask(b->store, "select count(*) from gavel.item where source = $1::int",
	    VALUES(store_number(b->source)), take_count, &opened);
	if (!b->is_real && opened != raised)
		note(b, opened < raised ? &b->lost : &b->doubled,
		     "%s: %lld items raised, %lld opened", b->name, (long long)raised,
		     (long long)opened);
}

static void check_sources(struct books *b)
{
	char path[300];

	for (int64_t id = 0;;) {
		ask(b->store,
		    "select id, name, next from gavel.source where id > $1::int order by id limit "
		    "1",
		    VALUES(store_number(id)), take_source, b);
		id = b->source;
		if (!id)
			return;
		snprintf(path, sizeof(path), "%s/%s.log", b->folder, b->name);
		buf_clear(&b->log);
		read_whole(path, &b->log);
		b->at = 0;
		while (ask(b->store,
			   "select seq, bytes from gavel.line where source = $1::int and seq >= "
			   "$2::bigint "
			   "order by seq limit $3::int",
			   VALUES(store_number(id), store_number(b->at), store_number(PAGE)),
			   take_lines, b) > 0)
			;
		if ((size_t)b->at != b->log.n)
			note(b, &b->lost, "%s: %zu bytes were said, %lld are there", b->name,
			     b->log.n, (long long)b->at);
		check_items(b);
	}
}

/* Refusals are answers; but nobody may ever wait for somebody who waits for them. */
static void count_refusals(struct books *b)
{
	struct buf text = { 0 };
	struct str rest;
	char path[300];

	snprintf(path, sizeof(path), "%s/actors.err", b->folder);
	read_whole(path, &text);
	rest = buf_str(&text);
	while (rest.n) {
		struct str line = str_cut(&rest, STR("\n"));

		b->refusals += str_starts(line, STR("refused"));
		if (str_starts(line, STR("refused 40P01")))
			note(b, &b->broken, "a deadlock");
	}
	buf_release(&text);
}

int books_main(int argc, char **argv)
{
	struct books b = { 0 };

	if (argc < 3)
		fail("books URL FOLDER [real]");
	b.store = open_store(argv[1], NULL);
	b.folder = argv[2];
	b.is_real = argc > 3;
	read_files(&b, "told", true);
	read_files(&b, "out", false);
	read_decisions(&b);
	compare(&b);
	check_sources(&b);
	count_refusals(&b);
	store_close(b.store);
	printf("books: %u decisions, %u votes acknowledged, %u deliveries, %u requests refused: %u "
	       "lost, "
	       "%u doubled, %u rules broken\n",
	       b.decisions, b.votes, b.deliveries, b.refusals, b.lost, b.doubled, b.broken);
	return b.lost || b.doubled || b.broken;
}
