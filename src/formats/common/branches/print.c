#include "formats/common/branches/branches.h"

#include <inttypes.h>

static bool is_same(const struct sp_br_row *a, const struct sp_br_row *b)
{
    return a->a == b->a && a->b == b->b;
}

void sp_br_print(const struct sp_br_rows *rows, const char *between, struct sp_output *out)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n += !i || !is_same(&rows->v[i], &rows->v[i - 1]);
    sp_printf(out, "%zu\n", n);
    for (size_t i = 0; i < rows->n; i++) {
        const struct sp_br_row *r = &rows->v[i];
        uint64_t count = r->count;
        if (i + 1 < rows->n && is_same(r, r + 1))
            count += rows->v[++i].count;
        if (between)
            sp_printf(out, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", r->a, between, r->b, count);
        else
            sp_printf(out, "%" PRIx64 ":%" PRIu64 "\n", r->a, count);
    }
}
