/*
 * Source text that a profile carries (`convert --embed-source`): lines of files, in pieces. A version of a
 * file is what its pieces share: the file as frames have it, its path, the binary and its build-id, and the
 * digest of the whole file, so that the sources of two builds stay apart.
 *
 * Whoever adds pieces settles them once they are all there. Then those of a version stand together, in the
 * order of their lines, as few and the same ones whatever they came in.
 */
#ifndef SP_SOURCE_PIECES_H
#define SP_SOURCE_PIECES_H

#include "model/profile.h"

#define SP_SOURCE_TEXT_MAX  ((uint64_t)256 << 20) /* bytes of text that are used of one profile */
#define SP_SOURCE_LINES_MAX ((int64_t)1 << 26)    /* lines of a file */

uint32_t sp_source_piece_lines(const struct sp_profile *p, const struct sp_source_piece *x);
/* What is wrong with a piece that has these, as words, and the field; NULL: nothing. */
const char *sp_source_fault(struct sp_str file, struct sp_str text, int64_t lines, int64_t first,
                            const char **field);
/* Of one version: all but what they have of its lines, and whether it was newer. */
bool sp_source_same_version(const struct sp_source_piece *a, const struct sp_source_piece *b);
/*
 * Sorts and joins. A version whose pieces tell a line twice, differently, is left out, which is said.
 * SPAA_ERR_NOMEM, reported.
 */
spaa_status sp_source_pieces_settle(struct sp_profile *p, struct sp_diags *d);

/* The pieces of a version; n 0: there is none. */
struct sp_source_version {
    const struct sp_source_piece *v;
    size_t n;
    bool several; /* and which of them it is, nothing tells: n is 0 */
};
/* That of a file of frames in this DSO; path NULL: it is not known. */
struct sp_source_version sp_source_version_of(const struct sp_profile *p, struct sp_str file, uint32_t dso,
                                              const char *path);

#endif
