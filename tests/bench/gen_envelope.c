/*
 * ADR-007 envelopes: an input, then its output.
 *
 * The envelopes have neither id nor sender, so order alone pairs them: one feature after another
 * passes the workflows specify, plan and tasks. An output that asks for a retry is followed
 * by the next iteration, at most twice; a third failure is escalated.
 */
#include "gen.h"

#include <stdio.h>
#include <string.h>

#define RETRIES_MAX 2

static const char *const workflows[] = { "specify", "plan", "tasks" };

static struct {
	bool answer_due;
	char id[48];
	unsigned number;
	unsigned workflow;
	unsigned iteration;
} feature;

static void
feature_begin(void)
{
	static const char *const names[] = {
		"user-auth", "dark-mode", "audit-log", "billing", "search", "export",
	};

	feature.number++;
	feature.workflow = 0;
	feature.iteration = 1;
	snprintf(feature.id, sizeof(feature.id), "%03u-%s", feature.number, PICK(names));
}

static void
workflow_next(bool feature_over)
{
	feature.workflow++;
	feature.iteration = 1;
	if (feature_over || feature.workflow == ARRAY_LEN(workflows))
		feature_begin();
}

static void
write_input(struct line *line)
{
	static const char *const actions[] = { "validate", "create", "classify_gaps", "discover" };

	if (feature.number == 0)
		feature_begin();
	line_object(line, NULL);
	line_object(line, "context");
	line_string(line, "feature_id", feature.id);
	line_string(line, "workflow", workflows[feature.workflow]);
	line_uint(line, "iteration", feature.iteration);
	line_object_end(line);
	line_object(line, "paths");
	line_stringf(line, "feature_root", "specs/%s/", feature.id);
	line_stringf(line, "spec", "specs/%s/spec.md", feature.id);
	line_stringf(line, "index", "specs/%s/.workflow/index.md", feature.id);
	line_string(line, "constitution", ".humaninloop/memory/constitution.md");
	line_object_end(line);
	line_object(line, "task");
	line_string(line, "action", PICK(actions));
	line_object(line, "params");
	line_object_end(line);
	line_object_end(line);
	line_prose_array(line, "prior_context", rnd_below(5), 50);
	line_object_end(line);
	feature.answer_due = true;
}

static void
output_artifacts(struct line *line)
{
	unsigned count = rnd_below(3);

	line_array(line, "artifacts");
	for (unsigned i = 0; i < count; i++) {
		line_object(line, NULL);
		line_stringf(line, "path", "specs/%s/%s", feature.id,
			     i == 0 ? "spec.md" : ".workflow/index.md");
		line_string(line, "operation", rnd_percent(50) ? "update" : "create");
		line_code(line, "content", i == 0 ? rnd_artifact_length(700) : rnd_length(700));
		line_object_end(line);
	}
	line_array_end(line);
}

static const char *
output_recommendation(bool success)
{
	if (success)
		return "proceed";
	return feature.iteration > RETRIES_MAX || rnd_percent(20) ? "escalate" : "retry";
}

static void
write_output(struct line *line)
{
	bool success = rnd_percent(75);
	const char *recommendation = output_recommendation(success);

	line_object(line, NULL);
	line_bool(line, "success", success);
	line_prose(line, "summary", 100);
	output_artifacts(line);
	line_prose_array(line, "notes", rnd_below(5), 50);
	line_string(line, "recommendation", recommendation);
	line_object_end(line);
	feature.answer_due = false;
	if (strcmp(recommendation, "retry") == 0)
		feature.iteration++;
	else
		workflow_next(!success);
}

void
envelope_next(struct line *line)
{
	if (feature.answer_due)
		write_output(line);
	else
		write_input(line);
}
