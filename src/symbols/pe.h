/*
 * PE images (PE32 and PE32+): the RSDS record, and symbols at their RVAs.
 *
 * Read natively, by Microsoft's description of the format; the file is never trusted: every offset is checked
 * against its size, every table has a cap, what is damaged inside is left out.
 */
#ifndef SP_SYMBOLS_PE_H
#define SP_SYMBOLS_PE_H

#include "base/diag.h"
#include "dwarf/symtab.h"
#include "symbols/rsds.h"

enum { SP_PE_SECTIONS_MAX = 96 }; /* what Windows loads */
struct sp_pe_section {
    uint32_t rva, size, raw, raw_size;
    bool code;
};

struct sp_pe {
    bool is_64;         /* PE32+ */
    uint16_t machine;   /* IMAGE_FILE_MACHINE_… */
    uint32_t timestamp; /* of the COFF header: a time, or a hash in reproducible builds */
    uint64_t image_base;
    bool has_symbols; /* a COFF symbol table */
    bool has_rsds;
    struct sp_rsds rsds;
    char pdb[260]; /* the PDB's path in the RSDS record, cut off where it is longer */
    struct sp_pe_section sections[SP_PE_SECTIONS_MAX];
    unsigned nsections;
    uint64_t size, reach; /* of the file; how far its headers say that it goes: more, and it was cut off */
};

/*
 * With syms also the functions: of the COFF symbol table (MinGW's), else of the export table; x64's table
 * of functions (.pdata) tells where they end. SPAA_ERR_NOT_FOUND when the file cannot be opened,
 * SPAA_ERR_INPUT when it is no PE image (with `reach`: it begins as one), SPAA_ERR_IO when it changed
 * meanwhile (reported), SPAA_ERR_NOMEM.
 */
spaa_status sp_pe_read(const char *path, struct sp_diags *d, struct sp_pe *out, struct sp_symtab *syms);
/* "x64", "x86", "arm64", …; NULL where the number is none of these. */
const char *sp_pe_machine_name(uint16_t machine);

#endif
