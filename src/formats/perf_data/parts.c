/*
 * The files of a recording. Usually it is one; the directory form (`perf record --threads`) has the header in
 * `data` and the records of each thread in `data.0`, `data.1`, ... beside it, which are nothing but records.
 * Each file has its own stream of COMPRESSED records.
 */
#include "formats/perf_data/perf_data.h"

#include <stdio.h>
#include <sys/stat.h>

bool sp_pd_part_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t offset)
{
    struct sp_pd_part part = {0};
    uint64_t base = (uint64_t)pd->parts.n << SP_PD_PART_SHIFT;
    part.ranges[0] = (struct sp_pd_range){p, n, base + offset};
    part.ranges[1].base = base + SP_PD_UNPACKED;
    return pd->parts.n < SP_PD_PARTS && sp_vec_push(&pd->parts, part);
}

/* Adds `NAME.number`; *found says whether it is there. */
static spaa_status add_file(struct sp_pd *pd, const char *name, unsigned number, bool *found)
{
    struct sp_buf path;
    struct stat sb;
    struct sp_input *in = NULL;
    const unsigned char *p;
    size_t n;
    sp_buf_init(&path, 0);
    bool ok = sp_buf_printf(&path, "%s.%u", name, number);
    const char *text = ok ? sp_buf_cstr(&path) : "";
    *found = ok && stat(text, &sb) == 0 && S_ISREG(sb.st_mode);
    spaa_status st = ok ? SPAA_OK : sp_nomem(pd->d);
    if (*found && sb.st_size) {
        st = sp_input_open(text, pd->d, &in);
        if (!st)
            st = sp_input_whole(in, &p, &n);
        if (!st && !sp_pd_part_add(pd, p, n, 0))
            st = sp_nomem(pd->d);
        if (st)
            sp_input_close(in);
        else
            pd->parts.v[pd->parts.n - 1].in = in;
    }
    sp_buf_free(&path);
    return st;
}

spaa_status sp_pd_parts_beside(struct sp_pd *pd)
{
    bool found = true;
    unsigned files = 0;
    spaa_status st = SPAA_OK;
    if (!pd->directory)
        return SPAA_OK;
    for (; found && !st && files + 2 < SP_PD_PARTS; files++)
        st = add_file(pd, sp_input_name(pd->in), files, &found);
    if (st || files > 1)
        return st;
    sp_emit_hint(pd->d, SP_E009, SP_AT_NOTHING,
                 "name the folder, with all its files in it: `spaa convert perf.data/ ...`; or record "
                 "without --threads",
                 "this is the main file of a recording in directory form, the samples are in files beside "
                 "it, which are "
                 "not there");
    return SPAA_ERR_UNSUPPORTED;
}

void sp_pd_parts_free(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->parts.n; i++) {
        sp_pd_unpack_free(pd->parts.v[i].unpack);
        sp_input_close(pd->parts.v[i].in);
    }
    sp_vec_free(&pd->parts);
}
