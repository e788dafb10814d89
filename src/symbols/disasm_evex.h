/*
 * What capstone 4 does not know of x86: nearly all of AVX-512, and what came after it. Zydis knows them; it
 * is opened when the first is met. The build only takes its headers (meson's option `zydis`).
 */
#ifndef SP_DISASM_EVEX_H
#define SP_DISASM_EVEX_H

#include <stdbool.h>
#include <stddef.h>

struct sp_zydis;

/*
 * An instruction that capstone 4 may take for another one: with the prefix EVEX, of which it knows few and
 * takes a rounding that an instruction carries for another length; ud1, of whose length it is wrong; and
 * those that prefixes make of older ones (tpause of mfence, rdpid of rdseed). wide: 64-bit code.
 */
bool sp_is_beyond_capstone(const unsigned char *bytes, size_t n, bool wide);

/* False: out of memory. *out: NULL where it cannot be used here; closed by sp_zydis_close, as NULL is. */
bool sp_zydis_open(bool wide, struct sp_zydis **out);
void sp_zydis_close(struct sp_zydis *z);
/* Length of the instruction there, its text (AT&T) in `text`; 0: there is none that is known. */
size_t sp_zydis_decode(const struct sp_zydis *z, const unsigned char *bytes, size_t n, char *text,
                       size_t size);

#endif
