/*
 * Source text into a profile, so that its lines can be annotated where neither sources nor binaries are: each
 * line that has weight and those around it. Found as annotate finds it (analysis/source_text.h).
 */
#ifndef SP_EMBED_SOURCES_H
#define SP_EMBED_SOURCES_H

#include "analysis/source_text.h"

struct sp_embed_opts {
    struct sp_source_opts sources;
    uint32_t context;   /* lines around each */
    uint64_t max_bytes; /* of text: what has least weight is left out beyond it */
    bool only;          /* what the profile carried before goes */
};

struct sp_embedded {
    uint64_t files, lines, bytes; /* what was taken */
    uint64_t left_out;            /* lines beyond max_bytes, or too long */
    uint64_t missing;             /* files that were not found */
    char *first_missing;          /* that of most weight; NULL; owned */
};

/* symbols: where binaries are looked for. SPAA_ERR_NOMEM, or SPAA_ERR_IO of a file that changed, reported. */
spaa_status sp_embed_sources(struct sp_profile *p, const struct sp_symbol_opts *symbols,
                             const struct sp_embed_opts *opts, struct sp_diags *d, struct sp_embedded *out);
void sp_embedded_free(struct sp_embedded *e);

#endif
