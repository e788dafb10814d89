/* What the command line and the public API do alike with inputs. */
#ifndef SP_FORMATS_OPEN_H
#define SP_FORMATS_OPEN_H

#include "formats/format.h"

/* A format by name that has all of `caps`; NULL, reported with the nearest names, when there is none. */
const struct spaa_format *sp_named_format(const char *name, unsigned caps, struct sp_diags *d);
/*
 * The format of an input: by name, or by its content. Reports SP_E004 (empty), SP_E005 (unknown),
 * SP_E009 and usage errors; SPAA_ERR_USAGE, SPAA_ERR_INPUT or what peeking gave.
 */
spaa_status sp_input_format(struct sp_input *in, const char *name, struct sp_diags *d,
                            const struct spaa_format **out);
/*
 * What an input is to be checked as that no option names: by its content, else by its name, else what it may
 * be; text that is none of these is meant to be SPAA, however broken. NULL, reported with SP_E005: it is one
 * JSON value that begins like no profile.
 */
const struct spaa_format *sp_validated_format(struct sp_input *in, const char *path, struct sp_diags *d);
/*
 * The format to write: by name, or by the path's extension. SPAA_ERR_USAGE when there is none,
 * SPAA_ERR_UNSUPPORTED when it cannot be written; reported.
 */
spaa_status sp_output_format(const char *path, const char *name, struct sp_diags *d,
                             const struct spaa_format **out);
/* The same, whether it can be written or not: an original of it may be what is given. */
spaa_status sp_output_format_named(const char *path, const char *name, struct sp_diags *d,
                                   const struct spaa_format **out);
/* "pid,comm" or "none" to enum sp_group bits; NULL gives all that are kept by default. */
spaa_status sp_parse_groups(const char *list, struct sp_diags *d, unsigned *out);
/* Reads an input, whose format is known, into a new profile; an empty one is an error. */
spaa_status sp_read_profile(struct sp_input *in, const struct spaa_format *f, const struct sp_read_opts *opts,
                            struct sp_diags *d, struct sp_profile **out);
/* The writer's `write`, of a profile as the format takes it: with records divided by what leaves have, or
 * not. */
spaa_status sp_write_profile(struct sp_profile *p, const struct spaa_format *f,
                             const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out);

/* What was asked of the grain of a profile; 0 / false: nothing, as it is. */
struct sp_grain {
    enum sp_granularity frames; /* SP_FRAMES_FOREIGN: as it is */
    bool group;
    unsigned group_by;
    const struct sp_label_keys *labels; /* to keep, with group; NULL: all */
};
/*
 * SPAA is read with the grain it has. Makes it coarser in place; SPAA_ERR_USAGE, reported, when something
 * finer is asked for than the file holds. Other formats were read with the grain asked for.
 */
spaa_status sp_coarsen(struct sp_profile **p, const struct spaa_format *f, const struct sp_grain *grain,
                       struct sp_diags *d);

#endif
