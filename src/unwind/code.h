/*
 * The machine code of an ELF file, and where its calls through tables lead.
 *
 * Bytes are read in blocks when they are asked for; the file is closed in between. Slots are entries of the
 * global offset table, which the loader fills once: from them a procedure linkage table and `call *SLOT`
 * jump.
 */
#ifndef SP_CODE_H
#define SP_CODE_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_mcode;

/*
 * *out is NULL where there is none to be had: no file of 64-bit little-endian code for a machine whose calls
 * are known (unwind/calls.h), or not the build that is asked for (NULL: any). SPAA_ERR_NOMEM; SPAA_ERR_IO,
 * reported.
 */
spaa_status sp_mcode_load(const char *path, const char *build_id, struct sp_diags *d, struct sp_mcode **out);
void sp_mcode_free(struct sp_mcode *c); /* NULL is fine */
unsigned sp_mcode_machine(const struct sp_mcode *c);
/* Whether something executable is linked there. */
bool sp_mcode_at(const struct sp_mcode *c, uint64_t addr);
/* Copies up to n bytes that are linked at addr; how many: fewer at the end of the code, or after a failure.
 */
size_t sp_mcode_read(struct sp_mcode *c, uint64_t addr, unsigned char *out, size_t n);
/* Why something could not be read (reported), or SPAA_OK. */
spaa_status sp_mcode_failed(const struct sp_mcode *c);
/* Whether exceptions may go on in parts of functions that nothing jumps to. */
bool sp_mcode_has_landings(const struct sp_mcode *c);

enum sp_slot { SP_SLOT_UNKNOWN, SP_SLOT_NAME, SP_SLOT_PLACE };
/* What the loader puts into a slot: the address of a symbol, or of a place in this file. */
enum sp_slot sp_mcode_slot(struct sp_mcode *c, uint64_t slot, const char **name, uint64_t *place);
/* Whether a stub of the procedure linkage table stands there; its slot. */
bool sp_mcode_stub(struct sp_mcode *c, uint64_t addr, uint64_t *slot);
/* The places of the functions exported under a name, at most max; *chosen: some of them by the program. */
size_t sp_mcode_exports(struct sp_mcode *c, const char *name, uint64_t *out, size_t max, bool *chosen);

#endif
