/*
 * DWARF: from an address to the functions inlined there and their source lines.
 *
 *     struct sp_dwarf *d;
 *     if (sp_dwarf_open(path, NULL, diags, &d) == SPAA_OK) {
 *         struct sp_dwarf_frame f[64];
 *         size_t n = sp_dwarf_find(d, address, SP_DWARF_LINES, f, 64);
 *     }
 *     sp_dwarf_free(d);
 *
 * The debug sections are read, not mapped, since the file may shrink. Opening goes through the headers of the
 * units and their first entries, which say what addresses they cover. The first address inside a unit has
 * its index built: its inlined functions as sorted stretches of addresses, its line table as sorted rows.
 * From then on an address costs two binary searches.
 *
 * Versions 2 to 5, both byte orders, 32- and 64-bit; compressed sections; split DWARF (.dwo beside, .dwp);
 * what dwz moved to a common file; Mach-O images, whose addresses count from their start. Not thread-safe but
 * for sp_dwarf_prepare, which has its own threads.
 */
#ifndef SP_DWARF_H
#define SP_DWARF_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_dwarf;

/* A file as the compiler was told: dir (NULL: none) and name; comp_dir is where it ran. */
struct sp_dwarf_file {
    const char *comp_dir, *dir, *name; /* name NULL: not known */
    const char *source;                /* all that it held, where the line table has it; NULL: it has not */
};

struct sp_dwarf_frame {
    const char *func; /* as linked (mangled) where that is stated, else the plain name; NULL: not known */
    struct sp_dwarf_file file;
    uint32_t line, column; /* 0: not known */
    uint64_t entry;        /* lowest address of the physical function; 0: not known */
    /* Of the function, however often it is inlined. */
    struct sp_dwarf_file decl; /* where it is declared; without lines asked for, too */
    uint32_t decl_line;        /* 0: not known */
    uint64_t copy;             /* inlined: lowest address of code of its own in the same unit; 0: none */
    const char *scoped;    /* the name with its scopes, in C++ with parameters, as demanglers write it; NULL:
                              func says it */
    const char *arguments; /* Rust: "<f64>" of the function's plain name; NULL: none */
    const char *closures;  /* Rust: "{closure#2}::{async_block#0}" at the end of its plain name; NULL: none */
    bool linked; /* func is the name as linked: stated, or that of a language where names are linked as they
                    are */
    bool local;  /* not visible to other units, which may have another one of this name */
};

enum sp_dwarf_want {
    SP_DWARF_INLINES = 0, /* functions alone */
    SP_DWARF_LINES = 1,   /* and where they were */
};

enum { SP_DWARF_BESIDE = 2 };
/* Where else the parts of split DWARF and dwz's common file may be; NULL fields: the usual places. */
struct sp_dwarf_places {
    const char *root;      /* prefixed to absolute paths, tried first */
    const char *debug_dir; /* a directory like /usr/lib/debug */
    const char *store;     /* another one, of copies by build-id */
    /* Files beside which .dwo and .dwp files may stand, too; a recorded one below root, too. */
    const char *beside[SP_DWARF_BESIDE];
    const char *uuid; /* of the image that is meant of a Mach-O file; NULL: the first */
};

/*
 * SPAA_ERR_NOT_FOUND when there is no such file or no DWARF in it, SPAA_ERR_INPUT when it is no ELF
 * or Mach-O file, SPAA_ERR_IO when it changed meanwhile (reported), SPAA_ERR_NOMEM. Strings of answers live
 * as long as the handle.
 */
spaa_status sp_dwarf_open(const char *path, const struct sp_dwarf_places *places, struct sp_diags *diags,
                          struct sp_dwarf **out);
void sp_dwarf_free(struct sp_dwarf *d); /* NULL is fine */
/* dwz's common file of it, and its build-id; NULL: it has none, or it was not found. Lent. */
const char *sp_dwarf_common(struct sp_dwarf *d, const char **build_id);
/*
 * The frames at an address, innermost first, the physical function last. 0: nothing is known of it. When
 * only the line is known there is one frame without func. At most max (>= 1), the innermost ones left out
 * first. Where memory runs out, or a file changes, the answer is not to be used: sp_dwarf_failed.
 */
size_t sp_dwarf_find(struct sp_dwarf *d, uint64_t addr, enum sp_dwarf_want want, struct sp_dwarf_frame *out,
                     size_t max);
/* Builds, with so many threads, what these addresses need. Answers do not depend on it. */
void sp_dwarf_prepare(struct sp_dwarf *d, const uint64_t *addrs, size_t n, enum sp_dwarf_want want,
                      unsigned jobs);
spaa_status sp_dwarf_failed(const struct sp_dwarf *d); /* SPAA_ERR_NOMEM, SPAA_ERR_IO (reported) */
/* Parts that are not where the file says: units of split DWARF, the common file of dwz. NULL: none. */
const char *sp_dwarf_missing(const struct sp_dwarf *d, size_t *units);
/*
 * Whether a file refers to its parts so often, or holds so much for its size, that it would take memory or
 * time out of proportion (private.h: DW_READ_TIMES): then nothing is found in it.
 */
bool sp_dwarf_excess(const struct sp_dwarf *d);
/* What is damaged in a file, as far as it was looked at. */
struct sp_dwarf_damage {
    const char *file;
    size_t units;           /* whose entries or lines are damaged */
    struct sp_buf sections; /* names of those that are damaged, or do not hold what others refer to there */
};
/*
 * The next file with damage: the one asked about, dwz's common one, a .dwo or .dwp; false: no more.
 *
 *     size_t at = 0;
 *     sp_buf_init(&damage.sections, 0);
 *     while (sp_dwarf_damaged(d, &at, &damage)) ...
 *     sp_buf_free(&damage.sections);
 */
bool sp_dwarf_damaged(const struct sp_dwarf *d, size_t *at, struct sp_dwarf_damage *out);
/*
 * A .dwo, a .dwp or a common file that stands where one is looked for and cannot be read, or is (*other) of
 * another build, where no better one was found. NULL: no more.
 */
const char *sp_dwarf_unusable(const struct sp_dwarf *d, size_t i, bool *other);

#endif
