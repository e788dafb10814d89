/*
 * The text of a source file: where it is looked for, and its lines.
 *
 * In this order: the text that debug information has (of DWARF 5, as `clang -gembed-source` writes it); what
 * `--source-path FROM=TO` makes of its path; below each `--source-path DIR` by its whole path, then by ever
 * fewer of its last components; the lines that the profile carries; below --symfs and as it is by its
 * recorded path; of debuginfod's servers. A recorded file that has the digest of the profile's lines is taken
 * instead of them, for it is the same and whole. The answer says which file was read, for one that is found
 * by few components may be another of that name.
 */
#ifndef SP_SOURCE_TEXT_H
#define SP_SOURCE_TEXT_H

#include "analysis/places.h"
#include "base/sha256.h"
#include "io/file.h"

struct sp_source_opts {
    const char *const *paths; /* DIR or FROM=TO; lent */
    size_t npaths;
    const char *symfs; /* NULL: none */
    struct sp_file_gate gate;
};

enum sp_source_from {
    SP_SOURCE_NONE,
    SP_SOURCE_EMBEDDED,
    SP_SOURCE_GIVEN, /* --source-path */
    SP_SOURCE_KEPT,  /* in the profile: some lines */
    SP_SOURCE_RECORDED,
    SP_SOURCE_SERVER,
};
extern const char *const sp_source_from_names[]; /* "embedded", …; of NONE NULL */

struct sp_source_text {
    enum sp_source_from from;
    char *found; /* the file that was read; NULL */
    char *data;
    size_t n;
    SP_VEC(size_t) lines;           /* where they begin, of those that are there */
    uint32_t *numbers;              /* which these are, ascending; NULL: all from 1 on */
    uint32_t total;                 /* lines of the file */
    char sha256[2 * SP_SHA256 + 1]; /* of the whole file, in hex; "": not known */
    bool newer;                     /* the file was written after the binary: lines may be others */
    bool undated; /* nobody knows whether it was: no binary is here, or only a copy without its time */
    bool other;   /* the profile carries lines of another text of it */
    bool several; /* the profile carries several texts of it, and nothing tells which one it is */
};

/* `out` has `from` NONE where there is no such file. SPAA_ERR_NOMEM, reported; others that files cause. */
spaa_status sp_source_read(const struct sp_source_place *at, const struct sp_source_opts *how,
                           struct sp_diags *d, struct sp_source_text *out);
void sp_source_free(struct sp_source_text *t);
/* A line without its end, from 1 on; n 0 and p NULL: there is none, or it is not here. */
struct sp_str sp_source_line(const struct sp_source_text *t, uint32_t line);
/* The same of the lines that are here, from 0 on, and its number. */
struct sp_str sp_source_held(const struct sp_source_text *t, size_t i, uint32_t *line);
/* How many of the lines that are here come before this one. */
size_t sp_source_before(const struct sp_source_text *t, uint32_t line);
/* Two texts of one file, as far as they go: by the digest. */
bool sp_source_is_same(const struct sp_source_text *a, const struct sp_source_text *b);

#endif
