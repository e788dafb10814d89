/* Text tables of symbols: /proc/kallsyms and perf-PID.map. */
#ifndef SP_SYMBOLS_KALLSYMS_H
#define SP_SYMBOLS_KALLSYMS_H

#include "dwarf/symtab.h"

#define SP_KALLSYMS_MAX ((size_t)256 << 20)
#define SP_PERF_MAP_MAX ((size_t)1 << 30)

/*
 * Both parse text[0..n) with a NUL behind it in place: names are terminated where they stand, so the
 * text must live as long as the table. Lines that are something else are skipped; of a perf map they are
 * counted, but for empty ones, and so are names that were cut. False: out of memory.
 *
 * kallsyms: *text_start is the address of _text, else of _stext, else 0, *stext that of _stext; when every
 * address is 0, as the kernel shows them to those it does not trust, *restricted is set and the table stays
 * empty.
 */
bool sp_kallsyms_parse(char *text, size_t n, struct sp_symtab *out, uint64_t *text_start, uint64_t *stext,
                       bool *restricted);
struct sp_map_skipped {
    uint64_t n, first; /* how many lines, and which one was the first, from 1 on */
    const char *why;   /* of the first; a literal */
    bool empty;        /* the map has no line at all */
};
bool sp_perf_map_parse(char *text, size_t n, struct sp_symtab *out, struct sp_map_skipped *skipped);

#endif
