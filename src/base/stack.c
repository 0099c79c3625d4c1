/* The handler of SIGSEGV for the main thread, on a stack of its own. */
#include "base/stack.h"

#include "base/err.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

/* Linux maps nothing else so close below the main stack, whatever its limit. A function with much
 * of its own on the stack reaches far below the limit at its first access. */
#define STACK_MOST ((uintptr_t)64 << 20)

/* Static, as everything that is needed without a stack. */
static uintptr_t highest;
static char signal_stack[64 * 1024];
static struct sigaction previous;

static void on_fault(int number, siginfo_t *info, void *context)
{
	static const char sentence[] = "gavel: out of memory (the stack cannot grow); raise the "
				       "limits (ulimit -s, ulimit -v), or close something, and try "
				       "again\n";
	uintptr_t at = (uintptr_t)info->si_addr;

	(void)context;
	if (info->si_code > 0 && at < highest && highest - at < STACK_MOST) {
		if (bug_hook)
			bug_hook();
		(void)!write(STDERR_FILENO, sentence, sizeof(sentence) - 1);
		_exit(2);
	}
	sigaction(number, &previous, NULL);
	if (info->si_code <= 0) /* somebody sent it; a fault recurs on return */
		raise(number);
}

void stack_guard(void)
{
	struct sigaction ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	highest = (uintptr_t)__builtin_frame_address(0);
	sigfillset(&ours.sa_mask);
	if (sigaltstack(&stack, NULL) == 0)
		sigaction(SIGSEGV, &ours, &previous);
}
