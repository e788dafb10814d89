/*
 * One fuzzer per format: compiled with -DFORMAT=name for each line of formats.def.
 *
 * Whatever the bytes: reading them in small pieces gives the same profile and the same messages as
 * reading them at once; what is written as SPAA reads back to itself; the bytes come back through SPAA
 * (--lossless); and where it can be written, what it writes reads back to a
 * profile that it writes the same way again. Only texts for people are spared the last: a name may look like
 * anything there, and no writing of it would be read as one.
 */
#include "profiles.h"

#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)
#define THIS        JOIN(spaa_format_, FORMAT)

extern const struct spaa_format THIS;
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

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
            die(THIS.name, "its bytes do not come back");
        sp_output_close(native);
        release(&again);
    }
    sp_output_close(spaa);
    release(&kept);
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
        die(THIS.name, "the status depends on the pieces");
    if (memcmp(whole.d.count, pieces.d.count, sizeof whole.d.count))
        die(THIS.name, "the messages depend on the pieces");
    if (!whole.status) {
        struct sp_output *a = written(&whole, &spaa_format_spaa), *b = written(&pieces, &spaa_format_spaa);
        if (!same(a, b))
            die(THIS.name, "the profile depends on the pieces");
        if (!a)
            die(THIS.name, "cannot be written as SPAA");
        comes_back(&spaa_format_spaa, a, "its SPAA does not read back to itself");
        if (THIS.caps & SP_CAN_WRITE && !is_for_people(&THIS))
            settles(&THIS, &whole);
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
            die(THIS.name, "out of memory");
        sp_input_set_chunk(in, chunk);
        THIS.validate(in, &d);
        sp_input_close(in);
        sp_diags_free(&d);
    }
    return 0;
}
