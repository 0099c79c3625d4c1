/* err_set and BUG(). */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void (*bug_hook)(void);

int err_set(struct err *err, const char *format, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -1;
}

void bug_at(const char *file, int line, const char *format, ...)
{
	va_list ap;

	if (bug_hook)
		bug_hook();
	fprintf(stderr, "gavel: BUG at %s:%d: ", file, line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
