/*
 * One fuzzer per format: compiled with -DFORMAT=name for each line of formats.def.
 *
 * Whatever the bytes: reading them in small pieces gives the same profile and the same messages as
 * reading them at once; what is written as SPAA reads back to itself; the bytes come back through SPAA
 * (--lossless); and where it can be written, what it writes reads back to a
 * profile that it writes the same way again. Only texts for people are spared the last: a name may look like
 * anything there, and no writing of it would be read as one.
 */
#include "formats/format.h"
#include "formats/open.h"
#include "formats/original.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)
#define THIS        JOIN(spaa_format_, FORMAT)

extern const struct spaa_format THIS, spaa_format_spaa;
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", THIS.name, what);
    abort();
}

struct result {
    struct sp_diags d;
    struct sp_profile *profile;
    spaa_status status;
};

static void read_as(struct result *r, const struct spaa_format *format, const void *p, size_t n, size_t chunk,
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
        die("out of memory");
    if (lossless && sp_original_keep(in, &r->d, &opts.keeper))
        die("out of memory");
    sp_input_set_chunk(in, chunk);
    r->status = format->read(in, &opts, &r->d, r->profile);
    if (!r->status && lossless)
        r->status = sp_keeper_end(opts.keeper, in, format, &opts, r->profile);
    sp_input_close(in);
    sp_keeper_free(opts.keeper);
    if (r->status == SPAA_ERR_BUG)
        die("a bug of ours");
}

static void release(struct result *r)
{
    sp_profile_free(r->profile);
    sp_diags_free(&r->d);
}

/* NULL when the format cannot hold the profile. */
static struct sp_output *written(struct result *r, const struct spaa_format *format)
{
    struct sp_write_opts opts = {.event = SP_NONE, .metric = SP_NONE};
    struct sp_output *out;
    if (sp_output_memory(&r->d, &out))
        die("out of memory");
    if (sp_write_profile(r->profile, format, &opts, &r->d, out) || sp_output_commit(out)) {
        sp_output_close(out);
        return NULL;
    }
    return out;
}

static bool same(struct sp_output *a, struct sp_output *b)
{
    if (!a || !b)
        return !a && !b;
    size_t n, m;
    const char *p = sp_output_data(a, &n), *q = sp_output_data(b, &m);
    return n == m && !memcmp(p, q, n);
}

/* Reads `out`, which the format wrote, and expects that it is written the same way again. */
static void comes_back(const struct spaa_format *format, struct sp_output *out, const char *what)
{
    struct result r;
    size_t n;
    const char *p = sp_output_data(out, &n);
    read_as(&r, format, p, n, 0, false);
    struct sp_output *again = r.status ? NULL : written(&r, format);
    if (!same(out, again))
        die(what);
    sp_output_close(again);
    release(&r);
}

static bool looks_compressed(const unsigned char *p, size_t n)
{
    return n > 3 && ((p[0] == 0x1f && p[1] == 0x8b) || (p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) ||
                     (p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18));
}

/* The first writing may lose what the format has no place for; from the second on nothing changes. */
static void settles(struct result *r)
{
    struct sp_output *once = written(r, &THIS);
    if (!once)
        return;
    struct result second;
    size_t n;
    const char *p = sp_output_data(once, &n);
    if (looks_compressed((const unsigned char *)p, n)) { /* a name that begins like it */
        sp_output_close(once);
        return;
    }
    read_as(&second, &THIS, p, n, 0, false);
    if (!second.status) {
        struct sp_output *twice = written(&second, &THIS);
        if (twice)
            comes_back(&THIS, twice, "its own output does not settle");
        sp_output_close(twice);
    } else if (r->profile->stacks.n) {
        die("its own output cannot be read");
    }
    sp_output_close(once);
    release(&second);
}

/* --lossless: the bytes themselves, through SPAA. */
static void bytes_come_back(const unsigned char *p, size_t n, size_t chunk)
{
    struct result kept, again;
    size_t m, k;
    read_as(&kept, &THIS, p, n, chunk, true);
    struct sp_output *spaa = kept.status ? NULL : written(&kept, &spaa_format_spaa);
    if (spaa) {
        const char *text = sp_output_data(spaa, &m);
        read_as(&again, &spaa_format_spaa, text, m, 0, false);
        struct sp_output *native = again.status ? NULL : written(&again, &THIS);
        const char *back = native ? sp_output_data(native, &k) : NULL;
        if (!back || k != n || memcmp(back, p, n) != 0)
            die("its bytes do not come back");
        sp_output_close(native);
        release(&again);
    }
    sp_output_close(spaa);
    release(&kept);
}

static bool is_for_people(void)
{
    static const char *const names[] = {"perf-script", "dtrace", "bpftrace", "spindump", "sample"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(THIS.name, names[i]) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    struct result whole, pieces;
    size_t chunk = n ? 1 + p[n - 1] % 61u : 1;
    /* Where damaged compressed data ends is fuzz_input's question; here it would only hide the format. */
    if (looks_compressed(p, n))
        return -1;
    read_as(&whole, &THIS, p, n, 0, false);
    read_as(&pieces, &THIS, p, n, chunk, false);
    if (whole.status != pieces.status)
        die("the status depends on the pieces");
    if (memcmp(whole.d.count, pieces.d.count, sizeof whole.d.count))
        die("the messages depend on the pieces");
    if (!whole.status) {
        struct sp_output *a = written(&whole, &spaa_format_spaa), *b = written(&pieces, &spaa_format_spaa);
        if (!same(a, b))
            die("the profile depends on the pieces");
        if (!a)
            die("cannot be written as SPAA");
        comes_back(&spaa_format_spaa, a, "its SPAA does not read back to itself");
        if (THIS.caps & SP_CAN_WRITE && !is_for_people())
            settles(&whole);
        if (strcmp(THIS.name, "spaa") != 0)
            bytes_come_back(p, n, chunk);
        sp_output_close(a);
        sp_output_close(b);
    }
    release(&whole);
    release(&pieces);
    if (THIS.validate) {
        struct sp_diags d;
        struct sp_input *in;
        sp_diags_init(&d);
        if (sp_input_memory(p, n, "fuzz", &d, &in))
            die("out of memory");
        sp_input_set_chunk(in, chunk);
        THIS.validate(in, &d);
        sp_input_close(in);
        sp_diags_free(&d);
    }
    return 0;
}
