/* The form of an elicitation (acp): a JSON schema whose properties are questions to a person. */
#ifndef GAVEL_DIALECT_ACP_QUESTIONS_H
#define GAVEL_DIALECT_ACP_QUESTIONS_H

#include "dialect/dialect.h"

struct acp_question {
	struct str name;     /* of the property */
	yyjson_val *schema;
	yyjson_val *options; /* its choices: objects with const and title, or strings; NULL = free */
	bool several;        /* an array: any number of the choices */
	struct str custom;   /* name of the property for an answer of the person's own; empty = none */
};

enum { ACP_QUESTIONS_MAX = 32 };

/* The questions of an elicitation's params, in the order of the form. */
unsigned acp_questions(yyjson_val *params, struct acp_question *out);
/* The words of a question: agents put them into title or description, a heading into the other. */
struct str acp_question_words(const struct acp_question *q);
/* What a choice is called. */
struct str acp_option_label(yyjson_val *option);
/* The first question's words, else the form's message. */
struct str acp_form_title(struct decoder *d, yyjson_val *params);

#endif
