/* A configuration of any bytes: defaults, or what it says, within bounds, and a sentence of ASCII for
 * each thing that is wrong. */
#include "config/config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct config c;

	config_init(&c, "config.json");
	config_parse(&c, str_make((const char *)bytes, n));
	PROMISE(c.human <= c.approve && c.human >= 0 && c.approve <= 1);
	PROMISE(c.theme && c.max_line_bytes > 0);
	for (uint32_t i = 0; i < c.problems.n; i++) {
		PROMISE(strncmp(c.problems.v[i], "config.json:", 12) == 0);
		for (const char *p = c.problems.v[i]; *p; p++)
			PROMISE(*p >= ' ' && *p < 0x7f);
	}
	config_release(&c);
	return 0;
}
