/*
 * Which functions are the program's own, and which are of what it calls: libraries, runtimes, the kernel.
 *
 * Decided for each function by where its source stands, its namespace and its binary (own.def), in this
 * order:
 *
 *   kernel frames, and binaries of the system, are not own; nor is what has no name and no known binary;
 *   a declaration in a folder of own.def is not own (a declaration: the files of its lines);
 *   a namespace of own.def is not own, but where its declaration is known to be elsewhere, as of a
 *   specialization of std::hash for a type of the program;
 *   all else is own.
 *
 * Lines say where a function is declared as long as inlined functions have frames of their own. Where a
 * binary has none, and lines of a function stand in headers and elsewhere, headers prove nothing there.
 *
 * Templates of std that a program instantiates are std's. An impl of Rust is own if its type or its trait is.
 * Of Go, modules that were downloaded are not own, which only their paths show.
 *
 * Where no stack of a selection has an own function, all functions are (`all`): who profiles the kernel or a
 * library asks about that.
 */
#ifndef SP_OWN_H
#define SP_OWN_H

#include "analysis/select.h"

enum sp_own_by {
    SP_OWN_BY_NOTHING,     /* all are own, as none is */
    SP_OWN_BY_DECLARATION, /* where its source stands */
    SP_OWN_BY_NAMESPACE,   /* its name alone */
    SP_OWN_BY_BINARY,      /* the binary it is in */
    SP_OWN_BY_OPTION,      /* --own */
};
extern const char *const sp_own_by_names[]; /* in enum order; of NOTHING NULL */

struct sp_own {
    unsigned char *own; /* per function: 1 where it is */
    unsigned char *by;  /* per function: enum sp_own_by */
    bool all;           /* no stack has an own function: now all are */
};

/*
 * `pattern` (NULL: none) says instead what is own: functions whose name, binary or source file matches
 * (PCRE2). SPAA_ERR_NOT_FOUND, reported, where none does. Free on success.
 */
spaa_status sp_own_of(struct sp_selection *s, const char *pattern, struct sp_diags *d, struct sp_own *out);
/* What the rules alone say of each function, also where no stack has an own one. Free on success. */
spaa_status sp_own_by_rules(const struct sp_profile *p, struct sp_diags *d, struct sp_own *out);
void sp_own_free(struct sp_own *o);

static inline bool sp_is_own(const struct sp_own *o, uint32_t function)
{
    return o->own[function];
}

#endif
