/* What happens when the stack of the main thread cannot grow (ulimit -s, or -v, which counts it,
 * too): the kernel sends SIGSEGV, and the program has to say what that means.
 *
 * Other threads have stacks of a fixed size from the start (base/thread.h). */
#ifndef GAVEL_BASE_STACK_H
#define GAVEL_BASE_STACK_H

/* Called once, early in main. From then on a stack that cannot grow ends the program as
 * out_of_memory does: with bug_hook, a sentence and exit code 2. Every other SIGSEGV does what it
 * did before. */
void stack_guard(void);

#endif
