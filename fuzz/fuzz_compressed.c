/*
 * perf.data with COMPRESSED records: the records of the input, packed with zstd and cut anywhere, say what
 * they say as they are. Inputs of which something is lost are left out: what is lost behind damage differs.
 */
#include "profiles.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { HEADER = 104, DATA_AT = 40, DATA_SIZE = 48, FEATURES_AT = 72, COMPRESSED = 81, PIECE_MAX = 65520 };

extern const struct spaa_format spaa_format_perf_data;
int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);

/* The file with its records packed, in pieces of so many bytes; it says nothing of the machine any more. */
static unsigned char *packed_file(const unsigned char *p, uint64_t at, uint64_t size, size_t piece, size_t *n)
{
    size_t bound = ZSTD_compressBound(size);
    unsigned char *stream = malloc(bound), *out = malloc(at + bound + 16 * (bound / piece + 1));
    if (!stream || !out)
        die("compressed", "out of memory");
    size_t packed = ZSTD_compress(stream, bound, p + at, size, 1), to = at;
    memcpy(out, p, at);
    for (size_t from = 0; from < packed; from += piece) {
        size_t take = piece < packed - from ? piece : packed - from;
        const uint32_t type = COMPRESSED;
        const uint16_t head[2] = {0, (uint16_t)(8 + take)};
        memcpy(out + to, &type, sizeof type);
        memcpy(out + to + 4, head, sizeof head);
        memcpy(out + to + 8, stream + from, take);
        to += 8 + take;
    }
    uint64_t now = to - at;
    memcpy(out + DATA_SIZE, &now, sizeof now);
    memset(out + FEATURES_AT, 0, HEADER - FEATURES_AT);
    free(stream);
    *n = to;
    return out;
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    struct result plain, packed;
    uint64_t at, size;
    size_t m, piece = n ? (1 + p[n - 1] % 8u) * (1 + p[n / 2]) * 8 : 8;
    if (n < HEADER || memcmp(p, "PERFILE2", 8) != 0)
        return -1;
    memcpy(&at, p + DATA_AT, sizeof at);
    memcpy(&size, p + DATA_SIZE, sizeof size);
    if (at < HEADER || at > n || size > n - at)
        return -1;
    unsigned char *bare = malloc(n);
    if (!bare)
        die("compressed", "out of memory");
    memcpy(bare, p, n);
    memset(bare + FEATURES_AT, 0, HEADER - FEATURES_AT);
    read_as(&plain, &spaa_format_perf_data, bare, at + size, 0, false);
    if (!plain.status && !sp_diags_count(&plain.d, SP_LOSS)) {
        unsigned char *file = packed_file(bare, at, size, piece < PIECE_MAX ? piece : PIECE_MAX, &m);
        read_as(&packed, &spaa_format_perf_data, file, m, 0, false);
        /* Which records there are is counted there. */
        plain.profile->header.extra_json = packed.profile->header.extra_json = SP_STR_NONE;
        struct sp_output *a = written(&plain, &spaa_format_spaa);
        struct sp_output *b = packed.status ? NULL : written(&packed, &spaa_format_spaa);
        if (!same(a, b))
            die("compressed", "packed records say something else");
        sp_output_close(a);
        sp_output_close(b);
        release(&packed);
        free(file);
    }
    free(bare);
    release(&plain);
    return 0;
}
