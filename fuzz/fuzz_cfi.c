/*
 * Call frame information: whatever the bytes, rows are asked for and expressions are where they say; a row
 * holds only where an FDE does.
 */
#include "dwarf/cfi.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
static volatile unsigned sum; /* so that it is read */

/* Reads what a row says: the sanitizer looks whether it is there. */
static unsigned take(const struct sp_cfi *c, const struct sp_cfi_row *row)
{
    unsigned sum = 0;
    for (unsigned i = 0; i <= row->n; i++) {
        const struct sp_cfi_rule *r = i < row->n ? &row->rules[i] : &row->cfa;
        bool code = r->how == SP_CFI_AT_EXPR || r->how == SP_CFI_IS_EXPR;
        const unsigned char *e = code ? sp_cfi_expression(c, r) : NULL;
        for (unsigned k = 0; code && k < r->len; k++)
            sum += e[k];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
{
    char path[64];
    struct sp_diags d;
    struct sp_cfi *c;
    struct sp_cfi_row row;

    snprintf(path, sizeof path, "/dev/shm/fuzz-cfi-%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f || (n && fwrite(p, 1, n, f) != n) || fclose(f))
        abort();
    sp_diags_init(&d);
    if (sp_cfi_load(path, NULL, &d, &c) == SPAA_OK) {
        for (uint64_t a = 0xf00; a < 0x1400; a += 3) {
            uint64_t start = 0, end = 0, at;
            bool in = sp_cfi_extent(c, a, &start, &end);
            if (in && (a < start || a >= end))
                abort();
            if (sp_cfi_row(c, a, &row)) {
                if (!in)
                    abort();
                sum += take(c, &row);
            }
            sp_cfi_vaddr(c, a, &at);
        }
        sp_cfi_free(c);
    }
    sp_diags_free(&d);
    unlink(path);
    return 0;
}
