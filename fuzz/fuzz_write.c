/*
 * Writers: what is read of a SPAA file is written as every format, the same way twice; where the format is
 * read too, it takes what was written, and from then on nothing changes.
 */
#include "profiles.h"

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static void write_as(struct result *r, const struct spaa_format *f)
{
    struct sp_output *out = written(r, f), *again = out ? written(r, f) : NULL;
    if (!same(out, again))
        die(f->name, "it is written in two ways");
    sp_output_close(out);
    sp_output_close(again);
    if (f->read && !is_for_people(f))
        settles(f, r);
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    struct result r;
    read_as(&r, &spaa_format_spaa, p, n, 0, false);
    for (const struct spaa_format *const *f = spaa_formats; !r.status && *f; f++)
        if ((*f)->caps & SP_CAN_WRITE)
            write_as(&r, *f);
    release(&r);
    return 0;
}
