/* What the sweeps share: finding the fixtures, and one conversion as the thing that is tried. */
#ifndef SWEEP_H
#define SWEEP_H

#include "formats/format.h"

struct sweep_file {
    const char *path;
    unsigned char *bytes;
    size_t n;
};

/*
 * Reads bytes as the format (NULL: found by content) with at most `chunk` lent at a time (0: all), and
 * writes the profile as SPAA into *out, a memory output, which is the caller's to close if it is set.
 * `merged`: the profile merged with itself.
 */
spaa_status sweep_convert(const struct spaa_format *format, const void *p, size_t n, size_t chunk,
                          bool merged, struct sp_diags *d, struct sp_output **out);

/* The same of a format found by content, with the symbols that are below symfs. */
spaa_status sweep_names(const void *p, size_t n, const char *symfs, unsigned jobs, struct sp_diags *d,
                        struct sp_output **out);

/* The format of a file by content, or NULL. */
const struct spaa_format *sweep_probe(const struct sweep_file *f);

/* Changes bytes in a few places, by a sequence that the seed (not 0) begins; returns the new length, n at
 * most. */
size_t sweep_damage(unsigned char *p, size_t n, uint64_t *seed);

/* One in so many of the runs is made: SWEEP_PART, 1 without it. Under sanitizers all of them take long. */
unsigned long sweep_part(void);

/*
 * Calls `each` for every file named, and every file somewhere below a folder named, in bytewise order,
 * leaving out files of more than max bytes. Returns the sum of what `each` returns: failures.
 */
int sweep_files(int argc, char **argv, size_t max, int (*each)(const struct sweep_file *f));

#endif
