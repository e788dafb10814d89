/*
 * Where frames are in their sources, more than their `file:line`: the absolute path and the directory that
 * the compiler ran in, which no profile has. The binaries are asked again, by the address of a frame in its
 * DSO; what they say is taken where it is the line that the frame has.
 *
 *     struct sp_places *x;
 *     if (!sp_places_new(p, &opts, diags, &x)) { … sp_places_of(x, frame, &at) … }
 *     sp_places_free(x);
 */
#ifndef SP_PLACES_H
#define SP_PLACES_H

#include "model/profile.h"
#include "model/source_pieces.h"
#include "symbols/symbols.h"

struct sp_places;

/* Texts live as long as the places, or the profile. */
struct sp_source_place {
    struct sp_str file;               /* as the frame has it; n 0: not known */
    uint32_t line;                    /* 0: not known */
    const char *path;                 /* absolute; NULL: not known */
    const char *comp_dir;             /* NULL: not known */
    const char *source;               /* the whole file, where debug information has it; NULL */
    struct sp_module *module;         /* the binary; NULL: none can be asked */
    struct sp_source_version kept;    /* lines of it that the profile carries; n 0: none */
    const struct sp_profile *profile; /* whose those are */
};

/* One file, whatever the line and the binary. */
bool sp_places_same_file(const struct sp_source_place *a, const struct sp_source_place *b);

/* opts: where binaries are looked for. */
spaa_status sp_places_new(const struct sp_profile *p, const struct sp_symbol_opts *opts, struct sp_diags *d,
                          struct sp_places **out);
void sp_places_free(struct sp_places *x); /* NULL is fine */
/* SPAA_ERR_NOMEM, or SPAA_ERR_IO of a file that changed, reported. */
spaa_status sp_places_of(struct sp_places *x, uint32_t frame, struct sp_source_place *out);
/* The same of a source line as frames have it ("src/a.c:12") of one of these functions: of a frame with an
 * address, where one has it. Out is empty where no frame has that line. */
spaa_status sp_places_of_line(struct sp_places *x, const unsigned char *hits, struct sp_str line,
                              struct sp_source_place *out);
/* Of one function. */
spaa_status sp_places_of_function(struct sp_places *x, uint32_t function, struct sp_str line,
                                  struct sp_source_place *out);
/* The binary of a DSO; *out is NULL where it is no file. */
spaa_status sp_places_module(struct sp_places *x, uint32_t dso, struct sp_module **out);
/* The address of a frame as linked; false: not known. */
bool sp_places_address(struct sp_places *x, const struct sp_module *m, uint32_t frame, uint64_t *out);

#endif
