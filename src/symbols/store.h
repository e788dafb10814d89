/*
 * The symbol store: copies of binaries and of what names their addresses, by build-id, so that a recording
 * has names when its binaries were replaced. One folder,
 *
 *     .build-id/ab/cdef…                the binary of build-id abcdef…
 *     .build-id/ab/cdef….debug          its debug file; or the same file again, where that has DWARF itself
 *     .build-id/ab/cdef….pdb            the PDB of a Windows image, under its GUID and age
 *     .build-id/ab/cdef….kallsyms.TEXT  kernel symbols of the boot that had _text at TEXT
 *     .build-id/ab/cdef….from           the path of the first of them that was added: a line of text
 *
 * which gdb, elfutils and LLVM read as a folder of debug files. The time of last access of a file is that of
 * its last use, set by whoever takes it (sp_file_used). Whoever takes one compares its build-id, as of any
 * other file. Files are put in by `spaa symbols` alone (run/symbols.c).
 */
#ifndef SP_SYMBOLS_STORE_H
#define SP_SYMBOLS_STORE_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>

#define SP_STORE_FILE     ""
#define SP_STORE_DEBUG    ".debug"
#define SP_STORE_PDB      ".pdb"
#define SP_STORE_KALLSYMS ".kallsyms." /* and _text, 16 digits */
#define SP_STORE_FROM     ".from"

enum { SP_STORE_ID_ROOM = 129, SP_STORE_PART_ROOM = 32 };

/*
 * The folder, in b: the one asked for; by default $XDG_CACHE_HOME/spaa/symbols or ~/.cache/spaa/symbols.
 * NULL: there is none, for "none" was asked for, or it is not known where one would be.
 */
const char *sp_store_folder(const char *asked, struct sp_buf *b);
/* Where a part of a build is in a store, whether or not it is there; "": that is too long. */
const char *sp_store_path(struct sp_buf *b, const char *store, const char *id, const char *part);
/* What is called "ab/cdef….debug" below .build-id; false: nothing that stores have. */
bool sp_store_name(const char *name, char id[static SP_STORE_ID_ROOM], char part[static SP_STORE_PART_ROOM]);
/*
 * The kernel symbols of a build: of the boot with this _text, or (0) of any, the lowest address first. Room
 * in b; "": there are none.
 */
const char *sp_store_kallsyms(struct sp_buf *b, const char *store, const char *id, uint64_t text);

/*
 * Whether a path is of a copy, in a store or a cache by build-id, that does not tell when the original was
 * written: its time is that of copying, unless it is older than the copy itself is, or the copy is a hard
 * link.
 */
bool sp_store_is_undated(const char *path);

/* What an open file is. */
struct sp_store_file {
    char id[SP_STORE_ID_ROOM];     /* its build-id; "": it has none */
    char part[SP_STORE_PART_ROOM]; /* what it is in a store */
    unsigned names;                /* how much of names it has: 1 a symbol table, 2 DWARF */
    bool whole;                    /* an ELF file with its code, whatever it was wanted as */
    bool binary;                   /* it is of a kind that stores have */
};
/*
 * Of a descriptor and what it is wanted as: a build-id and a part, or NULL for whatever it is. *why says why
 * not, NULL: it is that. SPAA_ERR_NOMEM, SPAA_ERR_IO (reported).
 */
spaa_status sp_store_judge(int fd, const char *id, const char *part, struct sp_diags *d,
                           struct sp_store_file *out, const char **why);

#endif
