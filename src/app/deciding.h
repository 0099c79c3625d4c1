/* Deciding interactively: from a verb key to a staged draft, with the prompts and confirmations in
 * between; marked and snoozed items; which items were read. Part of the app, so it touches neither
 * files nor terminal: staging and sending are effects. The commands are declared in commands.h. */
#ifndef GAVEL_APP_DECIDING_H
#define GAVEL_APP_DECIDING_H

#include "encode/plan.h"
#include "draw/key.h"
#include "view/view.h"

enum { PREFLIGHT_DEAF_MS = 300 }; /* keys are ignored that long after the page opens */

/* A confirmation asked on the message line; any key but y means no. */
enum confirm {
	CONFIRM_NONE,
	CONFIRM_CORRECT, /* a correction of a decision already recorded */
	CONFIRM_NAMED,   /* deliver to a path that a message names */
	CONFIRM_SURE,    /* deliver although the artifact has not changed */
	CONFIRM_QUIT,    /* with decisions staged */
	CONFIRM_GIVE_UP, /* a held message */
	CONFIRM_DOUBT,   /* one that may have arrived; CONFIRM_GIVE_UP asks once more */
	CONFIRM_AGENT,   /* stop or restart the selected agent */
};

struct deciding {
	enum verb verb;
	VEC(uint32_t) targets; /* items the verb applies to */
	bool on_marked;        /* the next verb applies to the marked items */
	uint32_t corrects;     /* the earlier draft that is corrected, or NONE */
	enum confirm confirm;
	struct desk *desk;     /* CONFIRM_GIVE_UP: the letter and its desk */
	uint32_t letter;
	bool sure;             /* given up although it may have arrived */
	struct triage triage;
	VEC(uint8_t) read; /* by item: shown to its end */
	int64_t opened_ms; /* when the pre-flight page was opened */
	char *artifact;    /* :attach */
	struct buf agent;  /* CONFIRM_AGENT: its name; order is an enum order_type */
	int order;
	struct {
		uint32_t item, line; /* line 0 = none */
	} input; /* :input, which input an output answers */
	const struct job *delivery; /* in progress, set by the caller; NULL = none */
	/* lent by the caller: the reason codes on offer, and who decides */
	char *const *reason_codes;
	uint32_t reason_code_count;
	struct str as;
};

struct app;
struct pane;

void deciding_release(struct deciding *d);

/* Decides an item that need not be selected, then opens the pre-flight page. */
void decide_item(struct app *a, uint32_t item, enum verb verb, struct str explanation);

/* The prompt was answered: stages the draft. */
void decide_answered(struct app *a, int prompt_kind, struct str text);
/* Keys of confirmations, the pre-flight and the recovery page; true when the key was used. */
bool decide_key(struct app *a, const struct key *key);
/* The pane shows this item: it counts as read once the end of its text was visible. */
void decide_note_read(struct app *a, uint32_t item, const struct pane *p);
void decide_unmark_all(struct deciding *d);
/* The item's state as of the scene; false: no such item yet. */
bool decide_state(const struct app *a, uint32_t item, struct item_state *at);
/* The number of staged drafts, on all desks. */
uint32_t decide_staged(const struct app *a);
/* No desk can be written, or a replay is shown. */
bool decide_is_read_only(const struct app *a);
/* Appends the keys of the verbs that the current item takes, with or without the verbs' names;
 * false = none. */
bool decide_keys(struct app *a, bool words, struct buf *out);

#endif
