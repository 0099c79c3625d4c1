/* Deciding interactively: from a verb key to a staged draft, with the prompts and confirmations in
 * between; marked and snoozed items; which items were read. Part of the app, so it touches neither
 * files nor terminal: staging and sending are effects. The commands are declared in commands.h. */
#ifndef GAVEL_APP_DECIDING_H
#define GAVEL_APP_DECIDING_H

#include "encode/plan.h"
#include "draw/key.h"
#include "view/view.h"

enum {
	PREFLIGHT_DEAF_MS = 300, /* keys are ignored that long after the page opens */
	REFUSED_DEAF_MS = 700,   /* typing behind a refused verb is ignored until a pause that long */
	MOVED_DEAF_MS = 500,     /* verbs are refused that long after the selection moved by itself */
	SENT_DEAF_MS = 1000,     /* y does nothing that long after a sending was confirmed */
};

/* A confirmation asked on the message line; any key but y means no. */
enum confirm {
	CONFIRM_NONE,
	CONFIRM_CORRECT, /* a correction of a decision already recorded */
	CONFIRM_UNSEEN,  /* deliver although a caution was not on the screen */
	CONFIRM_NAMED,   /* deliver to a path that a message names */
	CONFIRM_SURE,    /* deliver although the artifact has not changed, */
	CONFIRM_OPEN,    /* or although items of the turn stay undecided */
	CONFIRM_QUIT,    /* with decisions staged */
	CONFIRM_GIVE_UP, /* a held message */
	CONFIRM_DOUBT,   /* one that may have arrived; CONFIRM_GIVE_UP asks once more */
	CONFIRM_AGENT,   /* stop or restart the selected agent */
	CONFIRM_LEAVE,   /* quit while agents run: l or s */
};

/* A draft that was staged in this run. */
struct staging {
	uint32_t desk, draft; /* numbers of the desk in the scene's desks, and of the draft on it */
	uint32_t step;        /* one verb, on one item or on several */
};

struct deciding {
	enum verb verb;
	VEC(uint32_t) targets; /* items the verb applies to */
	bool on_marked;        /* the next verb applies to the marked items */
	uint32_t question;     /* of several of an item: which is being asked, */
	struct buf answers;    /* and the answers so far, a line each */
	uint32_t corrects;     /* the earlier draft that is corrected, or NONE */
	enum confirm confirm;
	struct desk *desk;     /* CONFIRM_GIVE_UP: the letter and its desk */
	uint32_t letter;
	bool sure;             /* given up although it may have arrived */
	bool refused;          /* the last verb: what was typed for its prompt is dropped */
	bool ignoring;         /* some was, and the message line says so */
	int64_t refused_ms;    /* when it was refused, or a key was last dropped */
	struct buf moved;      /* why the selection moved by itself, at moved_ms; empty = it did not */
	int64_t moved_ms;
	uint32_t overtaken_k;  /* messages when the message line named an overtaken decision */
	bool sent;             /* a sending was confirmed, at sent_ms */
	int64_t sent_ms;
	uint32_t step;         /* the last one, */
	uint32_t step_from;    /* and the item that was selected then, or NONE */
	VEC(struct staging) history; /* oldest first */
	VEC(struct staging) undone;  /* to be redone; step: that of the undo */
	bool moves_on;         /* once it is staged, the next item is selected if */
	bool advance;          /* the configuration says so */
	struct triage triage;
	VEC(uint8_t) read; /* by item: shown to its end */
	int64_t opened_ms;     /* when the pre-flight page was opened, */
	int64_t changed_ms;    /* and last changed: y is ignored for as long after that */
	VEC(uint8_t) unfolded; /* on it: by letter */
	VEC(uint8_t) seen;     /* by remark: which of its ends were on the screen */
	char *artifact;    /* :attach */
	struct buf agent;  /* CONFIRM_AGENT: its name; order is an enum order_type */
	int order;
	struct {
		uint32_t item, line; /* line 0 = none */
	} input; /* :input, which input an output answers */
	const struct job *delivery; /* in progress, set by the caller; NULL = none */
	/* set by the caller; lent: the reason codes on offer, and who decides */
	bool keeps_nothing; /* the journal is removed at the end */
	char *const *reason_codes;
	uint32_t reason_code_count;
	struct str as;
};

struct app;
struct pane;

void deciding_release(struct deciding *d);

/* Decides an item that need not be selected, then opens the pre-flight page. */
void decide_item(struct app *a, uint32_t item, enum verb verb, struct str explanation);

/* Queues the draft for staging on all targets, if it is complete; verb and kind are theirs. */
void decide_stage(struct app *a, struct draft draft);
/* Queues an effect (enum effect_type) that carries a draft on the item. */
void decide_effect(struct app *a, int type, uint32_t item, struct draft draft);
/* prompting.c: stages with the words given, else opens the prompt that the verb needs, else stages at
 * once. */
void decide_prompt_or_stage(struct app *a, struct str words);
/* The prompt was answered: stages the draft, or asks the next question. */
void decide_answered(struct app *a, int prompt_kind, struct str text);
/* Asks for the reason code of a staged draft. */
void decide_prompt_reason(struct app *a, const struct draft *old);
/* confirming.c: keys of confirmations, the pre-flight and the recovery page; true when the key was
 * used. */
bool decide_key(struct app *a, const struct key *key);
/* Asks what becomes of the agents that run: EFFECT_QUIT again with the choice. */
void decide_confirm_leaving(struct app *a, uint32_t running);
/* preflight.c, for the pre-flight page: */
/* It shows another plan: a single message is unfolded, nothing was seen yet. */
void preflight_reset(struct app *a);
/* Its lines were made for the first time: selects the first message. */
void preflight_select_first(struct pane *p);
/* Enter: unfolds the selected message, or folds it. */
void preflight_unfold(struct app *a);
/* The pane was drawn: notes which cautions are on the screen. */
void preflight_note_seen(struct app *a, const struct pane *p);
/* The number of cautions that were not. */
uint32_t preflight_unseen(struct app *a);
/* The pane shows this item: it counts as read once the end of its text was visible. */
void decide_note_read(struct app *a, uint32_t item, const struct pane *p);
void decide_unmark_all(struct deciding *d);
/* A verb, or what asks for one or for words, was refused: the words typed behind it must not become
 * commands. decide_key drops them until there is a pause in the typing, or Esc. */
void decide_refused(struct app *a);
/* overtaken.c: what the log has closed under the person's hands. */
/* The list of the pane was made: says so if the selected item is gone because the log closed it. */
void decide_note_gone(struct app *a, struct pane *p);
/* Whether the selection has just moved by itself: then says why, and refuses the verb. */
bool decide_has_moved(struct app *a);
/* Messages came behind the first `before`: says who answered what was escalated. */
void decide_note_answered(struct app *a, uint32_t before);
/* Messages came behind the first `before`: says which staged decision they have overtaken. */
void decide_note_overtaken(struct app *a, uint32_t before);
/* The item's state as of the scene; false: no such item yet. */
bool decide_state(const struct app *a, uint32_t item, struct item_state *at);
/* The desk of an item, and the newest live draft on it; NULL = none. */
struct desk *decide_desk(const struct app *a, uint32_t item);
const struct draft *decide_draft(const struct app *a, uint32_t item);
/* claiming.c: false if somebody else has claimed it, which is said. */
bool decide_is_free(struct app *a, uint32_t item);
/* Whether the item's desk can be written, and whether the item takes the verb; say why not. corrects:
 * as in desk_allows. */
bool decide_can(struct app *a, uint32_t item);
bool decide_takes(struct app *a, uint32_t item, enum verb verb, uint32_t *corrects);
/* Prefixes the refusal on the message line with the item's name. */
void decide_name_refused(struct app *a, uint32_t item);
/* A draft was staged: selects the next item if the configuration says so. */
void decide_advance(struct app *a);
/* Hides the items that the desk knows as snoozed and that have not changed; returns how many. */
uint32_t decide_restore_snoozed(struct app *a, const struct desk *d);
/* undoing.c: what is staged from now on is undone together, and nothing can be redone. */
void decide_new_step(struct app *a);
/* A draft of the desk was staged, or undone. */
void decide_note_staged(struct app *a, const struct desk *desk, uint32_t draft);
void decide_note_undone(struct app *a, const struct desk *desk, uint32_t draft);
/* The number of staged drafts, on all desks. */
uint32_t decide_staged(const struct app *a);
/* The item here is open, and nothing says where the reply to it would go. */
bool decide_is_unanswerable(struct app *a);
/* No desk can be written, or a replay is shown. */
bool decide_is_read_only(const struct app *a);
/* Appends the keys of the verbs that the current item takes, with or without the verbs' names;
 * false = none. */
bool decide_keys(struct app *a, bool words, struct buf *out);
/* The same for a set of verbs (CAN_…). */
bool decide_verb_keys(struct app *a, unsigned takes, bool words, struct buf *out);

#endif
