#include "render/short_names.h"

#include "analysis/short_name.h"

#include <stdlib.h>
#include <string.h>

struct naming {
    const struct sp_value_text *whole;
    size_t n;
    bool files;
    struct sp_value_text *names;
    struct sp_arena *arena;
    struct sp_buf b;
    bool failed; /* which the buffer forgets when it is cleared */
};

static void names_shorten(struct naming *x, size_t i, enum sp_shortness how)
{
    struct sp_value_text whole = x->whole[i];
    x->names[i] = (struct sp_value_text){"", 0};
    if (!whole.p)
        return;
    if (how == SP_WHOLE_NAME) {
        x->names[i] = whole;
    } else if (x->files) {
        struct sp_str s = sp_short_dso(whole.p, whole.n);
        x->names[i] = (struct sp_value_text){s.p, s.n};
    } else {
        sp_buf_clear(&x->b);
        sp_short_name(&x->b, whole.p, whole.n, how);
        x->names[i] =
            (struct sp_value_text){sp_arena_dup(x->arena, x->b.len ? x->b.data : "", x->b.len), x->b.len};
        x->failed |= x->b.failed || !x->names[i].p;
    }
}

int sp_value_text_cmp(struct sp_value_text a, struct sp_value_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int names_cmp(const void *va, const void *vb, void *arg)
{
    const struct naming *x = arg;
    uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
    int c = sp_value_text_cmp(x->names[a], x->names[b]);
    return c ? c : (a > b) - (a < b);
}

static bool names_same_whole(const struct naming *x, uint32_t a, uint32_t b)
{
    struct sp_value_text p = x->whole[a], q = x->whole[b];
    return !p.p == !q.p && !sp_value_text_cmp(p, q);
}

/* Those that share a short name and are something else get a longer one. */
static void names_tell_apart(struct naming *x, uint32_t *order, enum sp_shortness longer)
{
    for (uint32_t i = 0; i < x->n; i++)
        order[i] = i;
    if (x->n)
        qsort_r(order, x->n, sizeof *order, names_cmp, x);
    for (size_t from = 0, to; from < x->n; from = to) {
        bool differ = false;
        for (to = from + 1; to < x->n && !sp_value_text_cmp(x->names[order[from]], x->names[order[to]]); to++)
            differ |= !names_same_whole(x, order[from], order[to]);
        struct sp_value_text shared = x->names[order[from]];
        for (size_t i = from; differ && shared.n && i < to; i++)
            names_shorten(x, order[i], longer);
    }
}

struct sp_value_text *sp_names_apart(const struct sp_value_text *whole, size_t n, bool files,
                                     struct sp_arena *arena)
{
    struct naming x = {.whole = whole, .n = n, .files = files, .arena = arena};
    uint32_t *order = calloc(n + 1, sizeof *order);
    x.names = sp_arena_zalloc(arena, (n + 1) * sizeof *x.names);
    sp_buf_init(&x.b, 0);
    bool ok = order && x.names && n < UINT32_MAX;
    for (size_t i = 0; ok && i < n; i++)
        names_shorten(&x, i, SP_SHORTEST);
    for (int longer = SP_NO_ARGUMENTS; ok && !x.failed && longer <= SP_WHOLE_NAME; longer++)
        names_tell_apart(&x, order, (enum sp_shortness)longer);
    ok = ok && !x.failed;
    sp_buf_free(&x.b);
    free(order);
    return ok ? x.names : NULL;
}
