/* The heap of a sweep: counts pieces, and fails an allocation. Link with --wrap for malloc, calloc, realloc,
 * free. */
#ifndef HEAP_H
#define HEAP_H

#include <stdatomic.h>
#include <stdbool.h>

struct heap {
    atomic_ulong calls;
    unsigned long fail_at; /* 0: never */
    bool on_and_on;        /* all that follow fail as well */
    atomic_bool failed;
    atomic_long live; /* pieces */
};
extern struct heap heap;

/* Counts calls from here; the fail_at-th fails. */
void heap_arm(unsigned long fail_at, bool on_and_on);

#endif
