/*
 * Names for the RVAs of a trace that the trace's own options tell: linker maps (--map), each of the module
 * that it names; and which images and PDBs were named (--image), for the symbolizer, which takes one by its
 * GUID and age.
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
/* What is to be asked of the symbolizer; lives as long as n. */
void sp_spt_names_images(const struct sp_spt_names *n, struct sp_symbol_opts *opts);
/* Whether there is a map of a program: nobody else is asked about it then. */
bool sp_spt_names_has(const struct sp_spt_names *n, uint32_t program);
/* What covers the RVA, if anything does: frames and n of `out`; false: out of memory. */
bool sp_spt_names_find(struct sp_spt_names *n, uint32_t program, uint32_t rva, struct sp_named *out);
/* Says which maps lack addresses. */
void sp_spt_names_report(struct sp_spt_names *n);

#endif
