/* What fuzzers of profiles share (profiles.h). */
#include "profiles.h"

#include "formats/open.h"
#include "formats/original.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *who, const char *what)
{
    fprintf(stderr, "%s: %s\n", who, what);
    abort();
}

void read_as(struct result *r, const struct spaa_format *format, const void *p, size_t n, size_t chunk,
             bool lossless)
{
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS,
                                .group_by = SP_BY_DEFAULT,
                                .samples = true,
                                .symbols = {.no_symbols = true}};
    struct sp_input *in = NULL;
    memset(r, 0, sizeof *r);
    sp_diags_init(&r->d);
    if (sp_input_memory(p, n, "fuzz", &r->d, &in) || sp_profile_new(&r->d, &r->profile))
        die(format->name, "out of memory");
    if (lossless && sp_original_keep(in, &r->d, &opts.keeper))
        die(format->name, "out of memory");
    sp_input_set_chunk(in, chunk);
    r->status = format->read(in, &opts, &r->d, r->profile);
    if (!r->status && lossless)
        r->status = sp_keeper_end(opts.keeper, in, format, &opts, r->profile);
    sp_input_close(in);
    sp_keeper_free(opts.keeper);
    if (r->status == SPAA_ERR_BUG)
        die(format->name, "a bug of ours");
}

void release(struct result *r)
{
    sp_profile_free(r->profile);
    sp_diags_free(&r->d);
}

struct sp_output *written(struct result *r, const struct spaa_format *format)
{
    struct sp_write_opts opts = {.event = SP_NONE, .metric = SP_NONE};
    struct sp_output *out;
    if (sp_output_memory(&r->d, &out))
        die(format->name, "out of memory");
    if (sp_write_profile(r->profile, format, &opts, &r->d, out) || sp_output_commit(out)) {
        sp_output_close(out);
        return NULL;
    }
    return out;
}

bool same(struct sp_output *a, struct sp_output *b)
{
    if (!a || !b)
        return !a && !b;
    size_t n, m;
    const char *p = sp_output_data(a, &n), *q = sp_output_data(b, &m);
    return n == m && !memcmp(p, q, n);
}

void comes_back(const struct spaa_format *format, struct sp_output *out, const char *what)
{
    struct result r;
    size_t n;
    const char *p = sp_output_data(out, &n);
    read_as(&r, format, p, n, 0, false);
    struct sp_output *again = r.status ? NULL : written(&r, format);
    if (!same(out, again))
        die(format->name, what);
    sp_output_close(again);
    release(&r);
}

bool looks_compressed(const unsigned char *p, size_t n)
{
    return n > 3 && ((p[0] == 0x1f && p[1] == 0x8b) || (p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) ||
                     (p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18));
}

void settles(const struct spaa_format *format, struct result *r)
{
    struct sp_output *once = written(r, format);
    if (!once)
        return;
    struct result second;
    size_t n;
    const char *p = sp_output_data(once, &n);
    if (looks_compressed((const unsigned char *)p, n)) { /* a name that begins like it */
        sp_output_close(once);
        return;
    }
    read_as(&second, format, p, n, 0, false);
    if (second.status && r->profile->stacks.n && !second.d.count[SP_E011]) /* it may be none of this event */
        die(format->name, "its own output cannot be read");
    if (!second.status && second.profile->stacks.n) { /* weights may come to nothing */
        struct sp_output *twice = written(&second, format);
        if (twice)
            comes_back(format, twice, "its own output does not settle");
        sp_output_close(twice);
    }
    sp_output_close(once);
    release(&second);
}

bool is_for_people(const struct spaa_format *format)
{
    static const char *const names[] = {"perf-script", "dtrace", "bpftrace", "spindump", "sample"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(format->name, names[i]) == 0)
            return true;
    return false;
}
