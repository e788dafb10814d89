/* Whose memory made the level, window by window: the heaviest owners by themselves, and all together. */
#include "analysis/levels.h"

#include "analysis/tally.h"

#include <stdlib.h>

struct owner_builder {
    struct sp_selection *s;
    const struct sp_levels *l;
    uint32_t *leaf;     /* per stack: 1 + the function that is its leaf; 0: it is not selected, or has none */
    unsigned char *of;  /* per stack: it is selected */
    int64_t *at, *most; /* per function: its level, and the most of it at the end of some window */
    uint32_t *number;   /* per function: 1 + which of the heaviest it is */
};

static bool owners_prepare(struct owner_builder *b)
{
    const struct sp_profile *p = b->s->profile;
    b->leaf = calloc(p->stacks.n + 1, sizeof *b->leaf);
    b->of = calloc(p->stacks.n + 1, 1);
    b->at = calloc(p->functions.n + 1, sizeof *b->at);
    b->most = calloc(p->functions.n + 1, sizeof *b->most);
    b->number = calloc(p->functions.n + 1, sizeof *b->number);
    if (!b->leaf || !b->of || !b->at || !b->most || !b->number)
        return false;
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(b->s, i, &n);
        if (!f)
            return false;
        b->leaf[b->s->rows.v[i].stack] = n ? p->frames.v[f[0]].function + 1 : 0;
        b->of[b->s->rows.v[i].stack] = 1;
    }
    return true;
}

static int64_t owners_change(const struct owner_builder *b, const struct sp_window_row *r)
{
    struct sp_value v = sp_window_value(b->s->profile, r, b->s->metric);
    bool counts = r->stack == SP_NONE ? b->l->whole : b->of[r->stack] != 0;
    return !counts || v.v == SP_ABSENT ? 0 : sp_scale_weight(b->s, v.v, sp_pstr(b->s->profile, v.text));
}

/* The windows of the picture; those before it make what is live when it begins. */
static void owners_bounds(const struct sp_levels *l, size_t *first, size_t *end)
{
    *first = l->list.n ? l->list.v[0].windows : 0;
    *end = l->list.n ? l->list.v[l->list.n - 1].windows + l->list.v[l->list.n - 1].n : 0;
}

static const struct sp_window *owners_window(const struct owner_builder *b, size_t i)
{
    return &b->s->profile->windows.v[b->l->times.windows.v[i].window];
}

static void owners_find_most(struct owner_builder *b, size_t first, size_t end)
{
    const struct sp_profile *p = b->s->profile;
    for (size_t i = 0; i < end; i++) {
        const struct sp_window *w = owners_window(b, i);
        for (uint32_t k = 0; k < w->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[w->first + k];
            uint32_t leaf = r->stack == SP_NONE ? 0 : b->leaf[r->stack];
            if (leaf)
                sp_tally_add(&b->at[leaf - 1], owners_change(b, r));
        }
        for (uint32_t k = 0; i + 1 >= first && k < w->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[w->first + k];
            uint32_t leaf = r->stack == SP_NONE ? 0 : b->leaf[r->stack];
            if (leaf && b->at[leaf - 1] > b->most[leaf - 1])
                b->most[leaf - 1] = b->at[leaf - 1];
        }
    }
}

/* The heaviest, one after the other; of equals the first. */
static bool owners_choose(struct owner_builder *b, size_t most, struct sp_level_owners *out)
{
    size_t functions = b->s->profile->functions.n;
    out->functions = malloc((most + 1) * sizeof *out->functions);
    while (out->functions && out->n < most) {
        uint32_t best = SP_NONE;
        for (uint32_t f = 0; f < functions; f++)
            if (!b->number[f] && b->most[f] > 0 && (best == SP_NONE || b->most[f] > b->most[best]))
                best = f;
        if (best == SP_NONE)
            break;
        out->functions[out->n++] = best;
        b->number[best] = (uint32_t)out->n;
    }
    return out->functions != NULL;
}

static bool owners_fill(struct owner_builder *b, size_t first, size_t end, struct sp_level_owners *out)
{
    const struct sp_profile *p = b->s->profile;
    uint32_t bytes = sp_metric_find(p, "alloc_bytes", 11), calls = sp_metric_find(p, "alloc_count", 11);
    size_t n = end - first, columns = out->n + 1;
    int64_t *now = calloc(columns, sizeof *now);
    out->levels = calloc((n + 1) * columns, sizeof *out->levels);
    out->bytes = malloc((n + 1) * sizeof *out->bytes);
    out->calls = malloc((n + 1) * sizeof *out->calls);
    bool ok = now && out->levels && out->bytes && out->calls;
    for (size_t i = 0; ok && i < end; i++) {
        const struct sp_window *w = owners_window(b, i);
        int64_t sums[2] = {SP_ABSENT, SP_ABSENT};
        if (i == first)
            memcpy(out->levels, now, columns * sizeof *now);
        for (uint32_t k = 0; k < w->n; k++) {
            const struct sp_window_row *r = &p->window_rows.v[w->first + k];
            uint32_t leaf = r->stack == SP_NONE ? 0 : b->leaf[r->stack];
            int64_t change = owners_change(b, r);
            if (leaf && b->number[leaf - 1])
                sp_tally_add(&now[b->number[leaf - 1] - 1], change);
            sp_tally_add(&now[out->n], change);
            if (r->stack == SP_NONE ? !b->l->whole : !b->of[r->stack])
                continue;
            for (int m = 0; m < 2; m++) {
                uint32_t metric = m ? calls : bytes;
                int64_t v = metric == SP_NONE ? SP_ABSENT : sp_window_value(p, r, metric).v;
                if (v > SP_DECIMAL)
                    sp_tally_add(&sums[m], v);
            }
        }
        if (i < first)
            continue;
        memcpy(out->levels + (i - first + 1) * columns, now, columns * sizeof *now);
        out->bytes[i - first] = sums[0];
        out->calls[i - first] = sums[1];
    }
    free(now);
    return ok;
}

spaa_status sp_level_owners_of(struct sp_selection *s, const struct sp_levels *l, size_t most,
                               struct sp_diags *d, struct sp_level_owners *out)
{
    struct owner_builder b = {.s = s, .l = l};
    size_t first, end;
    *out = (struct sp_level_owners){0};
    owners_bounds(l, &first, &end);
    bool ok = owners_prepare(&b);
    if (ok) {
        owners_find_most(&b, first, end);
        ok = owners_choose(&b, most, out) && owners_fill(&b, first, end, out);
    }
    free(b.leaf);
    free(b.of);
    free(b.at);
    free(b.most);
    free(b.number);
    if (ok)
        return SPAA_OK;
    sp_level_owners_free(out);
    return sp_nomem(d);
}

void sp_level_owners_free(struct sp_level_owners *o)
{
    free(o->functions);
    free(o->levels);
    free(o->calls);
    free(o->bytes);
    *o = (struct sp_level_owners){0};
}
