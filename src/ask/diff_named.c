/*
 * Which functions the first lines of `spaa diff` name: those whose self changed, the program's own first,
 * then by what they cost more or less. One that weighs next to nothing, or of whose change in points nothing
 * is sure, is named there only where there is no other.
 */
#include "ask/diff.h"

#include <math.h>

static bool named_found(const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = &r->share[SP_SELF];
    return t->verdict == SP_DIFF_SIGNIFICANT || t->verdict == SP_DIFF_DIFFERS;
}

/* One run a side: costs may be of more work, or of a longer recording. */
static double named_size(const struct sp_diff *d, const struct sp_diff_row *r)
{
    return fabs(sp_diff_establishes(d->method) ? r->cost[SP_SELF].delta : r->share[SP_SELF].delta);
}

bool sp_diff_is_small(const struct sp_diff_row *r)
{
    return fmax(r->share[SP_SELF].side[SP_BASE].mean, r->share[SP_SELF].side[SP_NEW].mean) < DIFF_SMALL;
}

bool sp_diff_points_unsure(const struct sp_diff_row *r)
{
    const struct sp_diff_test *t = &r->share[SP_SELF];
    double shown = sp_diff_is_small(r) ? 0.5e-4 : 0.5e-3; /* as they are rounded */
    return t->lo < shown && t->hi > -shown;
}

static bool named_before(const struct sp_diff *d, const struct sp_diff_row *a, const struct sp_diff_row *b)
{
    return a->own != b->own ? a->own : named_size(d, a) > named_size(d, b);
}

/* Those that changed; `clear`: and are worth a first line. Returns how many; `most` of them at out. */
static size_t named_pick(const struct sp_diff *d, bool clear, const struct sp_diff_row **out, size_t most)
{
    size_t n = 0, all = d->rows.n + d->appeared.n + d->vanished.n;
    for (size_t i = 0; i < all; i++) {
        const struct sp_diff_row *r = sp_diff_row_at((struct sp_diff *)d, i);
        const struct sp_diff_row *with = sp_diff_moved_with(d, r);
        if (!named_found(r) ||
            (with && named_size(d, with) > named_size(d, r))) /* of two, the first line is of one */
            continue;
        if (clear && (sp_diff_is_small(r) || sp_diff_points_unsure(r)))
            continue;
        size_t at = n < most ? n : most;
        for (; at && named_before(d, r, out[at - 1]); at--)
            if (at < most)
                out[at] = out[at - 1];
        if (at < most)
            out[at] = r;
        n++;
    }
    return n;
}

size_t sp_diff_named(const struct diff_answer *a, const struct sp_diff_row **out)
{
    bool counted = a->d.memory || a->d.method == SP_DIFF_EXACT;
    size_t n = counted ? 0 : named_pick(&a->d, true, out, DIFF_NAMED);
    return n ? n : named_pick(&a->d, false, out, DIFF_NAMED);
}

size_t sp_diff_beside(const struct diff_answer *a, const struct sp_diff_row **out)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *top[DIFF_NAMED];
    size_t n = 0, clear = named_pick(d, true, top, DIFF_NAMED),
           all = d->rows.n + d->appeared.n + d->vanished.n;
    for (size_t i = 0; clear && i < all; i++) {
        const struct sp_diff_row *r = sp_diff_row_at((struct sp_diff *)d, i);
        if (!named_found(r) || r->moved || !(sp_diff_is_small(r) || sp_diff_points_unsure(r)))
            continue;
        size_t at = n < DIFF_BESIDE ? n : DIFF_BESIDE;
        for (; at && named_size(d, r) > named_size(d, out[at - 1]); at--)
            if (at < DIFF_BESIDE)
                out[at] = out[at - 1];
        if (at < DIFF_BESIDE)
            out[at] = r;
        n++;
    }
    return n;
}
