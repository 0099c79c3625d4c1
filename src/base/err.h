/* Three kinds of failure, three channels:
 *   our fault        BUG(): prints where, aborts
 *   the world's      a function returns -1 and fills a struct err; the caller decides
 *   the sender's     a diagnostic on the message (event/diag.h), never an error
 * An err holds one sentence for the user: what is wrong; what to do. */
#ifndef GAVEL_BASE_ERR_H
#define GAVEL_BASE_ERR_H

struct err {
	char text[512];
};

/* Always returns -1, so that `return err_set(err, ...)` reads well. err may be NULL. */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Called once before abort() by BUG(); the terminal layer puts its restore function here. */
extern void (*bug_hook)(void);

_Noreturn void bug_at(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)

#endif
