/*
 * The original of a profile: the bytes that it was read from, kept with it and given back (`--lossless`).
 *
 * Keeping: an input is told to keep before it is read (sp_original_keep), the options of reading name the
 * keeper, and sp_read_profile does the rest for every format. The bytes, decompressed, go through zstd into
 * the profile's temporary file while they are read; nothing of them stays in memory. They stand last in SPAA
 * as records in lines of less than 1 MiB, for each file of the recording:
 *
 *     {"type":"x_original","id":1,"part":1,"data":"KLUv/…"}     base64 of the zstd stream, parts 1, 2, …
 *     {"type":"x_original","id":1,"parts":5,"format":"perf-data","options":{"frames":"address","group_by":[…]},
 *      "size":38881208,"encoding":"zstd+base64","digest":"xxh3-128:…","read":"xxh3-64/1:…"}    last
 *
 * with "file":"data.0" for each of several, "names":"xxh3-64/1:…","unnamed":N,"unlined":N of formats that
 * store names, and "event" and "own":{…} where such options were given to the reader. `digest` is that of the
 * bytes, `read` and `names` are those of what was read (formats/read_digest.h). SPAA carries such records on
 * as any it does not know, but a profile that is merged, coarsened or filtered has none.
 *
 * Giving back: whoever writes the format of an original gets its bytes, as long as the profile says what was
 * read of them. The stream is checked to its end before the first byte is written: ids and parts in order,
 * base64, zstd, `size`, which bounds what is unpacked, and `digest`.
 */
#ifndef SP_ORIGINAL_H
#define SP_ORIGINAL_H

#include "formats/format.h"

struct sp_keeper;
struct sp_originals;

/* Before the first read of `in`. The keeper is freed after the input is closed. */
spaa_status sp_original_keep(struct sp_input *in, struct sp_diags *d, struct sp_keeper **out);
void sp_keeper_free(struct sp_keeper *k); /* NULL is fine */
/*
 * What sp_read_profile does. Before: of SPAA no original is kept, it has all of itself already. After: the
 * input is read to its end, and what was kept becomes the profile's.
 */
void sp_keeper_begin(struct sp_keeper *k, const struct spaa_format *f);
spaa_status sp_keeper_end(struct sp_keeper *k, struct sp_input *in, const struct spaa_format *f,
                          const struct sp_read_opts *opts, struct sp_profile *p);

/* How many files the profile has the originals of, of this format; 1 where it cannot be told what they are
 * of. */
spaa_status sp_original_files(const struct sp_profile *p, const char *format, size_t *n);
/*
 * Writes the bytes back, of a profile whose records are as they were read. *done is false, with nothing
 * written, where there is no original of this format, or it is none any more: the latter is said as a note
 * (SP_I321). A damaged one is an error where the bytes were asked for (opts->original), else a note too.
 */
spaa_status sp_original_give(const struct sp_profile *p, const struct spaa_format *f,
                             const struct sp_write_opts *opts, struct sp_diags *d, struct sp_output *out,
                             bool *done);
/* The same of a recording in several files, into a folder, which is made. */
spaa_status sp_original_give_folder(const struct sp_profile *p, const struct spaa_format *f,
                                    const struct sp_write_opts *opts, struct sp_diags *d, const char *path,
                                    bool *done);

/* An original as its records describe it; texts are lent for the call. */
struct sp_original_about {
    const char *format; /* "perf-data"; NULL: the record that describes it is missing */
    const char *file;   /* of a recording in several files; else NULL */
    uint64_t size;      /* bytes, decompressed */
    const char *damage; /* why it cannot be given back; NULL: it can, as far as it was looked at */
};
/*
 * Every original that these records hold, in their order. `check`: their data are unpacked, too. NULL
 * records: there are none. What `take` returns other than SPAA_OK ends it.
 */
spaa_status sp_original_each(const struct sp_originals *records, bool check, struct sp_diags *d,
                             spaa_status (*take)(void *arg, const struct sp_original_about *about),
                             void *arg);

#endif
