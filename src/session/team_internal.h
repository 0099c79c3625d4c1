/* Private to the team's inbox: one connection, its items, and the lines they become. */
#ifndef GAVEL_SESSION_TEAM_INTERNAL_H
#define GAVEL_SESSION_TEAM_INTERNAL_H

#include "channel/team_link.h"
#include "dialect/escalation_entry.h"
#include "session/load.h"
#include "session/team_inbox.h"
#include "team/chain.h"
#include "team/store.h"

enum {
	TEAM_BEATS = 3, /* renewals of a claim before it would lapse */
	TEAM_POLL_MS = 2000, /* for events, without a hint */
	TEAM_TICK_MS = 5000, /* due items rise */
	TEAM_CLAIMS_MS = 10000, /* others' claims are looked at again */
};

enum team_item_state { TEAM_NEW, TEAM_OPEN, TEAM_DECIDED, TEAM_WITHDRAWN };

/* Where the store's lines should have a message, and its hash. */
struct team_place {
	int64_t source, offset, length;
	unsigned char hash[32];
};

/* An item of the store, as far as it was told. Strings are in the inbox's arena. */
struct team_item {
	int64_t id;
	struct str source, key;
	struct str from; /* what its machine calls who asks; else the source */
	struct str rev; /* of its words, as its machine knows it */
	struct str session, task; /* its names in the capture */
	enum team_item_state state; /* that the capture has */
	uint64_t offset; /* of its newest line in the capture */
	uint32_t place;  /* among the inbox's items */
	uint32_t number; /* in the model, or NONE */
	bool listed;     /* in the rows being read */
	bool bundled;    /* it is said together with others */
	bool beaten;     /* its claim is being renewed */
	bool doubted;    /* it was decided here, and the store had nothing of that */
	uint64_t fence;
	struct team_place places[2]; /* of its message, and of the one that it is about */
	unsigned places_n;
	struct team_mark mark;
};

struct team_question {
	struct team_inbox *t;
	struct team_question *next;
	enum team_ask what;
	int64_t item;
	bool dropped; /* nobody waits: it is freed when it is answered */
	bool said;    /* then its answer is for the message line, */
	bool quiet;   /* unless it is granted */
	struct team_answer answer;
};

struct team_inbox {
	struct load *load;
	struct team_url url;
	char *login;      /* as expected; the server may know better */
	struct store *store;
	struct desk_team team; /* of the desk */
	int64_t source_id;     /* ?source=NAME: its number; 0 = not known yet */
	int64_t next;          /* offset of its next line */
	char *path;       /* the capture */
	int fd;
	uint32_t file;    /* in the wire */
	struct buf out;   /* lines to be written */
	uint64_t end;     /* of the capture, with those */
	bool begun;       /* what the store had at first was taken */
	bool due;         /* there may be events, or lines */
	bool reading;     /* a request of that is under way */
	bool refused;     /* the last one was: nothing is asked before poll_ms */
	bool acked;       /* agents may have answered since the letters were looked at, */
	uint32_t letters; /* when the desk had so many changes */
	bool checked;     /* that this connection's store has the newest event known; of a source: it is set up */
	struct chain chain;
	char *stopped;    /* why nothing is decided; NULL = it can be */
	char *trouble;    /* the server's last refusal; NULL = none */
	VEC(struct team_item *) items; /* in the arena */
	struct map by_id, by_name, by_offset;
	VEC(struct team_item *) by_number; /* of the model: whose words are the newest; NULL = none */
	VEC(int64_t) fetch; /* items named by events */
	VEC(int64_t) sent;  /* decided here, and their message may leave without the others */
	VEC(struct team_item *) prove, proving; /* items whose places are to be asked for, and are */
	struct decoder decoder;       /* of their messages */
	struct arena arena;
	struct team_question *questions;
	int64_t poll_ms, beat_ms, tick_ms, claims_ms, proof_ms; /* when each is due; loop_now_ms */
	int64_t pause_ms; /* between looks for lines of a source */
	struct json_reader json;
};

/* team_rows.c: what the store has → items and lines. */
/* The columns of an item in team_take_row, from gavel.item i joined with what belongs to it. */
#define TEAM_COLUMNS \
	"i.id, s.name, i.key, i.body, i.need, i.level, i.opened, i.state, i.holder::text, i.fence, " \
	"i.until, (select count(*) from gavel.vote v where v.item = i.id and v.rev = i.rev), " \
	"(select string_agg(v.who || ' ' || v.verb, ', ' order by v.at) from gavel.vote v " \
	"where v.item = i.id and v.rev = i.rev), " \
	"d.verb, array_to_string(d.deciders, ', '), d.draft, d.at, o.what, o.note, " \
	"(select p.bytes from gavel.outcome p where p.item = i.id and p.bytes is not null " \
	"order by p.n desc limit 1), i.bundle, " \
	"exists (select from gavel.vote v where v.item = i.id and v.who = session_user), i.rev"
#define TEAM_JOINS \
	"gavel.item i join gavel.source s on s.id = i.source " \
	"left join gavel.decision d on d.item = i.id " \
	"left join lateral (select p.what, p.note from gavel.outcome p where p.item = i.id " \
	"order by p.n desc limit 1) o on true"
/* Takes a row whose first column of an item is `column`. */
void team_take_row(struct team_inbox *t, const struct store_rows *rows, uint32_t row, unsigned column);
/* All rows were of all items: what is missing is gone from the store. */
void team_take_missing(struct team_inbox *t);
/* The number of an item in the model, which all of the same name have. */
void team_bind(struct team_inbox *t, const struct team_item *item, uint32_t number);
struct team_item *team_item_by_id(struct team_inbox *t, int64_t id);
/* The item whose line is there. */
struct team_item *team_item_at(struct team_inbox *t, uint64_t offset);
/* The newest words of an item of the model. */
struct team_item *team_item_of(struct team_inbox *t, uint32_t number);
/* Appends to the capture what is composed. */
void team_flush(struct team_inbox *t);

/* team_lines.c */
/* The entry of an item; fills in the names that it has in the capture, and begins to prove it. */
void team_line_opened(struct team_inbox *t, struct team_item *item, struct str body, struct str rev,
		      int64_t at_ms, struct buf *out);
/* A decision; verb "withdrawn": it was none. draft: its words, as JSON. */
void team_line_decided(struct team_inbox *t, const struct team_item *item, struct str verb,
		       struct str by, struct str draft, int64_t at_ms, struct buf *out);

/* team_proof.c */
/* Begins to prove an item whose entry was read; rev: as the store has it. */
void team_prove(struct team_inbox *t, struct team_item *item, yyjson_val *entry, struct str rev);
void team_ask_places(struct team_inbox *t);
/* Lines may have come since. */
void team_prove_again(struct team_inbox *t);
/* Of struct desk_team. */
bool team_refuses(void *ctx, uint32_t number, struct buf *why);

/* team_claims.c */
void team_claims_step(struct team_inbox *t, int64_t now_ms);
void team_dispatch(struct team_inbox *t);
void team_link_open(struct load *l);
void team_questions_free(struct team_inbox *t);

/* team_events.c: asks for what the store has, and then for what happens there. */
void team_events_step(struct team_inbox *t);
/* Nothing is decided any more, until team_accept. */
void team_stop(struct team_inbox *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether the store has nothing of a decision that it has acknowledged. */
bool team_forgot(struct team_inbox *t, const struct desk *d, const struct letter *x);
/* team_source.c: the same for the lines of one source. */
void team_source_step(struct team_inbox *t, int64_t now_ms);

/* Keeps what the server refused, once. */
void team_note_trouble(struct team_inbox *t, struct str why);
/* Puts a sentence on the message line. */
void team_say(struct team_inbox *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
