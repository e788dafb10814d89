/*
 * PDB: from an RVA to the function there, what is inlined into it, and their source lines.
 *
 *     struct sp_pdb *pdb;
 *     if (sp_pdb_open(path, diags, &pdb, &why) == SPAA_OK) {
 *         struct sp_pdb_frame f[64];
 *         size_t n = sp_pdb_find(pdb, rva, true, f, 64);
 *     }
 *     sp_pdb_free(pdb);
 *
 * The program databases of Microsoft's, LLVM's and Rust's linkers (MSF 7.00), by LLVM's description of the
 * format. Opening reads the directory of streams, the list of modules, and which module each stretch of code
 * is from: some 2 to 3 percent of a file. The first address in a module has that module read; the first in a
 * function, what is inlined there. Types are read one by one, for the names of inlined functions.
 *
 * What is in memory: 4 bytes for each block of the file, 12 for each stretch of code, modules that were asked
 * for as they stand in the file, and at most 16 bytes for each of theirs, usually one. The streams of a file
 * together cannot be larger than the file, so no file costs more than some 20 times its size, and a name of
 * at most 8 KiB for each function that was asked for.
 *
 * Not thread-safe. No descriptor is held between two questions.
 */
#ifndef SP_PDB_H
#define SP_PDB_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_pdb;

struct sp_pdb_id {
    unsigned char guid[16]; /* as it stands in the file, and in RSDS records */
    uint32_t age;           /* that of the image's RSDS record */
    uint16_t machine;       /* IMAGE_FILE_MACHINE_…; 0: not said */
};

/* The *why of a PDB that is shorter than it says. */
extern const char sp_pdb_cut_off[];

struct sp_pdb_frame {
    const char *linkage;   /* the public symbol of the function, or of code of its own; NULL: none */
    const char *name;      /* as the compiler wrote it, with scopes and without parameters; NULL: not known */
    const char *file;      /* whole, as the compiler wrote it; NULL: not known */
    const char *dir;       /* where the compiler ran; NULL: not known */
    const char *decl_file; /* the file of the function itself; NULL: not known */
    uint32_t line;         /* 0: not known */
    uint32_t decl_line;    /* inlined: the line where the function begins; 0: not known */
    uint32_t entry;        /* RVA of the physical function */
    bool local; /* others may have a function of this name; inlined without code of its own: not known */
};

/*
 * SPAA_ERR_NOT_FOUND when it cannot be opened, SPAA_ERR_INPUT when it is no PDB that can be read: *why says
 * what it is then ("%s is " …). SPAA_ERR_IO when it changed meanwhile (reported), SPAA_ERR_NOMEM.
 */
spaa_status sp_pdb_open(const char *path, struct sp_diags *d, struct sp_pdb **out, const char **why);
void sp_pdb_free(struct sp_pdb *p); /* NULL is fine */
const struct sp_pdb_id *sp_pdb_id(const struct sp_pdb *p);
/* The same without the rest: reads a few blocks. */
spaa_status sp_pdb_read_id(const char *path, struct sp_diags *d, struct sp_pdb_id *out, const char **why);
/*
 * The frames at an RVA, innermost first, the physical function last; without inlines that alone, at the line
 * of the call. At most max (>= 1), the innermost left out first. 0: nothing is known of it. Strings live as
 * long as the handle. Where memory runs out, or the file changes, the answer is not to be used:
 * sp_pdb_failed.
 */
size_t sp_pdb_find(struct sp_pdb *p, uint64_t rva, bool inlines, struct sp_pdb_frame *out, size_t max);
spaa_status sp_pdb_failed(const struct sp_pdb *p); /* SPAA_ERR_NOMEM, SPAA_ERR_IO (reported) */
/* Modules and tables that are damaged, as far as they were looked at. */
size_t sp_pdb_damaged(const struct sp_pdb *p);
/* Linked with /DEBUG:FASTLINK: functions that are not public, and lines, stand in the object files. */
bool sp_pdb_is_fastlink(const struct sp_pdb *p);
/* Bytes that were read of the file so far. */
uint64_t sp_pdb_bytes_read(const struct sp_pdb *p);

#endif
