/* What is decided in a team's inbox. The letter is the draft itself, as JSON without name and time, so
 * that two persons who say the same write the same bytes; the machine with the agents makes the
 * protocol's message of it. It goes to the item's number in the store. */
#include "encode/plan.h"

#include "base/io.h"
#include "base/sha256.h"
#include "decide/draft_words.h"
#include "dialect/escalation_entry.h"
#include "json/compose.h"

enum { ARTIFACT_MAX = 1 << 26 };

/* The hash of the attached file: its content stays here. -1: err. */
static int hash_artifact(struct encoding *e, const struct draft *d, struct str *out, struct err *err)
{
	struct buf content = { 0 };
	char hex[65];
	int rc = 0;

	*out = STR_NONE;
	if (!d->artifact.n)
		return 0;
	rc = io_read_file(d->artifact.p, ARTIFACT_MAX, &content, err);
	if (rc == 0) {
		sha256_hex(buf_str(&content), hex);
		*out = str_of(arena_printf(&e->plan->arena, "sha256:%s", hex));
	}
	buf_release(&content);
	return rc;
}

/* The draft, and the revision that it is on. */
static void put_draft(struct encoding *e, struct proposal *p, const struct draft *d, struct str rev)
{
	struct buf b = { 0 };
	struct str artifact;
	struct err err;

	if (hash_artifact(e, d, &artifact, &err)) {
		propose_missing(e, p, "%s", err.text);
		return;
	}
	draft_words_write(d, artifact, &b);
	b.n--;
	json_put_str(&b, "rev", rev);
	buf_adds(&b, "}\n");
	p->letter.bytes = keep_buf(e, &b);
}

static void propose_draft(struct encoding *e, uint32_t i)
{
	const struct desk_team *team = e->desk->team;
	const struct draft *d = draft_of(e, i);
	struct proposal *p = proposal_add(e, DIALECT_HANDOFF, &e->drafts[i], 1);
	const char *stopped = team->stopped ? team->stopped(team->ctx) : NULL;
	struct buf path = { 0 }, untrue = { 0 };
	struct item_state state;
	struct queue_entry q;
	yyjson_val *root;

	p->letter.aside = true;
	p->letter.to = STR("the team");
	p->letter.path = p->letter.bytes = STR("");
	state_of(e, i, &state);
	root = parse_message(e, state.message);
	if (stopped) {
		propose_missing(e, p, "%s", stopped);
	} else if (team->refuses && team->refuses(team->ctx, d->number, &untrue)) {
		propose_missing(e, p, "%s", untrue.p);
		buf_release(&untrue);
	} else if (d->corrects.n) {
		propose_missing(e, p, "what a team has decided stands; it is not corrected");
	} else if (draft_missing(d)) {
		propose_missing(e, p, "%s", draft_missing(d));
	} else if (!root || !queue_entry_read(root, &q) || !q.team_item || q.missing) {
		propose_missing(e, p, "the item is not complete; ask whoever runs its agents");
	} else {
		buf_printf(&path, "%s#%lld", team->store, (long long)q.team_item);
		p->letter.channel = CHANNEL_TEAM;
		p->letter.path = keep_buf(e, &path);
		put_draft(e, p, d, keep_str(e, q.rev));
	}
}

void encode_team_drafts(struct encoding *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		propose_draft(e, i);
}
