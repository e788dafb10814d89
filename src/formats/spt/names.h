/*
 * Names for the RVAs of a trace: from linker maps (--map), images that were named (--image), and images found
 * under --symfs. An image counts only if it is the one of the trace, by GUID and age (an ELF file: by the
 * first 16 bytes of its build-id, which is what such a GUID is made of there); a map says of which module it
 * is.
 */
#ifndef SP_SPT_NAMES_H
#define SP_SPT_NAMES_H

#include "formats/common/spt/spt.h"
#include "symbols/bind.h"

struct sp_spt_names;

/* SPAA_ERR_INPUT, reported, when a file that was named cannot be used at all. */
spaa_status sp_spt_names_new(const struct sp_spt *f, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_spt_names **out);
void sp_spt_names_free(struct sp_spt_names *n); /* NULL is fine */
/* What covers the RVA, if anything does: frames and n of `out`; false: out of memory. */
bool sp_spt_names_find(struct sp_spt_names *n, uint32_t program, uint32_t rva, struct sp_named *out);
/* Says which binaries have addresses without names, and what would help. */
void sp_spt_names_report(struct sp_spt_names *n);

#endif
