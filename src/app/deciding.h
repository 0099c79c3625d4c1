/* The person's decisions in the making: which verb on which items, the words that are asked for,
 * marks, what is put off, what was read. Part of the app, so it touches neither files nor terminal:
 * staging and sending are effects. */
#ifndef GAVEL_APP_DECIDING_H
#define GAVEL_APP_DECIDING_H

#include "encode/plan.h"
#include "draw/key.h"
#include "view/view.h"

enum { PREFLIGHT_DEAF_MS = 300 };

/* A question on the message line; any key but y means no. */
enum confirm {
	CONFIRM_NONE,
	CONFIRM_CORRECT, /* a later word on what was delivered */
	CONFIRM_SURE,    /* accepted, but the artifact is the same */
	CONFIRM_QUIT,    /* with decisions staged */
	CONFIRM_GIVE_UP, /* a held message */
	CONFIRM_DOUBT,   /* one that may have arrived; CONFIRM_GIVE_UP asks once more */
};

struct deciding {
	enum verb verb;
	VEC(uint32_t) targets; /* items it is for */
	bool on_marked;        /* the next verb is for the marked ones */
	uint32_t corrects;     /* the draft that was written on it before, NONE */
	enum confirm confirm;
	uint32_t letter;      /* CONFIRM_GIVE_UP: which of whose desk */
	bool sure;            /* and that it is given up in spite of doubt */
	struct desk *desk;
	struct triage triage;
	VEC(uint8_t) read; /* by item: shown to its end */
	int64_t opened_ms; /* when the pre-flight page was opened */
	char *artifact;    /* :attach */
	const struct job *delivery; /* under way, as the caller says; NULL = none */
	/* lent by the caller: what is offered as a reason, and who decides */
	char *const *reason_codes;
	uint32_t reason_code_count;
	struct str as;
};

struct app;
struct pane;

void deciding_release(struct deciding *d);

/* The commands. */
void decide_verb(struct app *a, enum verb verb, struct str words);
/* On an item that need not be selected; then the pre-flight page. why: the explanation. */
void decide_item(struct app *a, uint32_t item, enum verb verb, struct str why);
void decide_defer(struct app *a);
void decide_mark(struct app *a);
void decide_mark_all(struct app *a);
void decide_on_marked(struct app *a);
void decide_undo(struct app *a);
void decide_explain(struct app *a);
void decide_reason(struct app *a, struct str code);
void decide_attach(struct app *a, struct str file);
void decide_preflight(struct app *a);
void decide_resend(struct app *a);
void decide_quit(struct app *a);

/* A prompt was answered. */
void decide_answered(struct app *a, int prompt_kind, struct str text);
/* Keys of questions and of the two pages; true when the key is used up. */
bool decide_key(struct app *a, const struct key *key);
/* The pane has shown this item; its end may have been among it. */
void decide_saw(struct app *a, uint32_t item, const struct pane *p);
/* All of them. */
void decide_unmark(struct deciding *d);
/* The item as of the scene; false: there is no such item yet. */
bool decide_state(const struct app *a, uint32_t item, struct item_state *at);
/* How many decisions are staged. */
uint32_t decide_staged(const struct app *a);
/* Nothing at all can be decided here. */
bool decide_is_read_only(const struct app *a);
/* Adds the keys of the verbs that the item here takes, with their words or without; false = none. */
bool decide_keys(struct app *a, bool words, struct buf *out);

#endif
