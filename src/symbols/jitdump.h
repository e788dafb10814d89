/* jitdump (jit-PID.dump): functions that a just-in-time compiler wrote, with times and lines. */
#ifndef SP_SYMBOLS_JITDUMP_H
#define SP_SYMBOLS_JITDUMP_H

#include "symbols/symtab.h"

#define SP_JITDUMP_MAX ((size_t)2 << 30)

struct sp_jit_line {
    uint64_t addr;
    const char *file;
    uint32_t line;
};
/* Lines of one function: a slice of lines, by address. */
struct sp_jit_code {
    size_t first, n;
};
struct sp_jitdump {
    SP_VEC(struct sp_jit_line) lines;
    SP_VEC(struct sp_jit_code) codes; /* by the symbols' order (struct sp_sym) */
};

/*
 * Reads data[0..n), which must live as long as both. The table is finished: of functions at one address
 * the latest by time. *is_one says whether it is a jitdump at all. False: out of memory.
 */
bool sp_jitdump_parse(const unsigned char *data, size_t n, struct sp_symtab *out, struct sp_jitdump *jit,
                      bool *is_one);
void sp_jitdump_free(struct sp_jitdump *jit);
/* The line of an address in a function of the table; NULL: not known. */
const struct sp_jit_line *sp_jitdump_line(const struct sp_jitdump *jit, const struct sp_sym *sym,
                                          uint64_t addr);

#endif
