/* What libiberty would do for a mangled name before it says a word. */
#ifndef SP_DEMANGLE_COST_H
#define SP_DEMANGLE_COST_H

#include <stdbool.h>

/*
 * Whether a C++ name is one that libiberty takes too long for. Before it shows the pattern of a pack, it
 * looks for the pack in it, and goes through what a substitution stands for each time it meets one: 250 bytes
 * of name, each twice what is before, take it years. Out of memory: errno is ENOMEM, and the answer true.
 */
bool sp_demangle_is_endless(const char *name);

#endif
