/* Records into rows, and into the lines and callees of rows. */
#include "analysis/heap_weights.h"
#include "analysis/leaks_private.h"
#include "analysis/own_fold.h"
#include "analysis/owners.h"
#include "analysis/tally.h"
#include "base/num.h"
#include "model/facts.h"
#include "model/labels.h"

#include <math.h>

const char *const sp_leak_reach_names[] = {"definite", "indirect", "possible", "other", "reachable", NULL};

/* What a record is of: functions as `alike`. */
struct leak_place {
    uint32_t function, through; /* SP_NONE: none */
    uint32_t line;              /* a text */
};

/* What the function in front of `at` was called for, unless that is what hands out memory. */
static uint32_t leak_callee(struct sp_leak_builder *b, uint32_t i, size_t at)
{
    const struct sp_profile *p = b->s->profile;
    size_t n, skipped;
    const uint32_t *f = sp_selected_whole_frames(b->s, i, &n, &skipped);
    if (!(at + skipped))
        return SP_NONE;
    uint32_t callee = f && at + skipped < n ? p->frames.v[f[at + skipped - 1]].function : SP_NONE;
    bool allocator = callee == SP_NONE || b->s->owners[callee] == SP_ALLOCATOR;
    return allocator ? SP_NONE : b->alike[callee];
}

/* The own function nearest to the memory that does not hand it out; false: there is none. */
static bool leak_own_at(const struct sp_leak_builder *b, const uint32_t *f, size_t n, size_t *at)
{
    const struct sp_profile *p = b->s->profile;
    const unsigned char *owners = b->s->owners;
    for (size_t from = 0; b->o->own; from = *at + 1) {
        uint32_t own = sp_own_nearest(p, b->o->own, f, n, from, at);
        if (own == SP_NONE)
            return false;
        if (!owners || owners[own] == SP_MAY_OWN)
            return true;
    }
    return false;
}

/* Where a record belongs; b->path gets the key of its row. False: out of memory. */
static bool leak_locate(struct sp_leak_builder *b, uint32_t i, enum sp_leak_reach reach,
                        struct leak_place *out)
{
    const struct sp_profile *p = b->s->profile;
    size_t n, at = 0, own_at = 0;
    const uint32_t *f = sp_selected_frames(b->s, i, &n);
    *out = (struct leak_place){SP_NONE, SP_NONE, SP_STR_NONE};
    if (!f || !sp_vec_reserve(&b->path, n + 2))
        return false;
    b->path.n = 0;
    b->path.v[b->path.n++] = reach;
    if (!n)
        return true;
    uint32_t owner = b->alike[p->frames.v[f[0]].function];
    bool own = leak_own_at(b, f, n, &own_at);
    out->line = p->frames.v[f[own ? own_at : 0]].srcline;
    at = own && !b->o->by_owner ? own_at : 0;
    out->function = b->alike[p->frames.v[f[at]].function];
    for (size_t k = 0; b->o->by_stack && k < n; k++)
        b->path.v[b->path.n++] = b->alike[p->frames.v[f[k]].function];
    if (!b->o->by_stack)
        b->path.v[b->path.n++] = out->function;
    if (at)
        out->through = owner;
    else if (b->s->owners)
        out->through = leak_callee(b, i, at); /* f is gone */
    return true;
}

/* ---- weights ---- */

static struct sp_leak_sums weights_of(const struct sp_leak_builder *b, uint32_t stack)
{
    struct sp_leak_sums w = sp_heap_weights(b->s->profile, b->metric, stack);
    /* What is live at the end is then of one row without functions: that others have none was not seen. */
    if (b->end_untold && w.v[SP_LEAK_LIVE_BYTES] == 0)
        w.v[SP_LEAK_LIVE_BYTES] = SP_ABSENT;
    return w;
}

static void add_sums(const struct sp_leak_builder *b, struct sp_leak_sums *to, const struct sp_leak_sums *w,
                     bool first)
{
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        if (m == SP_LEAK_PEAK_BYTES && !b->peaks_add && !first)
            to->v[m] = SP_ABSENT;
        else
            sp_tally_add(&to->v[m], w->v[m]);
    }
}

/* A suppression is about what is left, not about what was allocated: heaptrack_print counts the rest, too. */
static void hide(struct sp_leak_sums *w, int64_t hidden[2])
{
    for (int m = SP_LEAK_LIVE_BYTES; m <= SP_LEAK_LIVE_COUNT; m++) {
        hidden[m] = w->v[m];
        w->v[m] = w->v[m] == SP_ABSENT ? SP_ABSENT : 0;
    }
}

static void add_hidden(int64_t to[2], const int64_t hidden[2])
{
    for (int m = 0; m < 2; m++)
        sp_tally_add(&to[m], hidden[m]);
}

static enum sp_leak_reach leak_reach(const struct sp_profile *p, uint32_t stack)
{
    static const struct sp_str key = {"leak_kind", 9};
    uint32_t set = p->contexts.v[p->stacks.v[stack].context].labels;
    const struct sp_label *l = set ? sp_labels_find(p, set, key) : NULL;
    if (!l)
        return SP_LEAK_UNTOLD;
    struct sp_str said = sp_pstr(p, l->value);
    for (int r = 0; sp_leak_reach_names[r]; r++)
        if (sp_str_is(said, sp_leak_reach_names[r]))
            return (enum sp_leak_reach)r;
    return SP_LEAK_OTHER;
}

/* ---- rows and parts ---- */

static bool leaks_same_path(const struct sp_leak_builder *b, uint32_t row)
{
    size_t from = b->key_from.v[row], to = row + 1 < b->key_from.n ? b->key_from.v[row + 1] : b->keys.n;
    return to - from == b->path.n && memcmp(b->keys.v + from, b->path.v, b->path.n * sizeof *b->path.v) == 0;
}

/* The row of b->path; SP_NONE: out of memory. */
static uint32_t find_row(struct sp_leak_builder *b, uint32_t selected, uint32_t function,
                         enum sp_leak_reach reach)
{
    uint64_t hash = sp_hash_key(b->path.v, b->path.n * sizeof *b->path.v);
    struct sp_probe at = sp_map_probe(&b->map, hash);
    for (uint32_t i; (i = sp_map_next(&b->map, &at)) != SP_MAP_NONE;)
        if (leaks_same_path(b, i))
            return i;
    uint32_t number = (uint32_t)b->l.rows.n;
    struct sp_leak_row r = {
        .function = function, .reach = reach, .row = selected, .number = number, .samples = SP_ABSENT};
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        r.now.v[m] = SP_ABSENT;
    r.hidden[0] = r.hidden[1] = SP_ABSENT;
    if (!sp_vec_reserve(&b->keys, b->keys.n + b->path.n) || !sp_vec_push(&b->key_from, b->keys.n) ||
        !sp_vec_push(&b->l.rows, r) || !sp_map_add(&b->map, hash, number))
        return SP_NONE;
    memcpy(b->keys.v + b->keys.n, b->path.v, b->path.n * sizeof *b->path.v);
    b->keys.n += b->path.n;
    return number;
}

/* The part of a row with this key; SP_NONE: out of memory. */
static uint32_t find_part(struct sp_leak_builder *b, enum sp_leak_parts kind, uint32_t row, uint32_t key)
{
    const uint32_t both[] = {row, key};
    uint64_t hash = sp_hash_key(both, sizeof both);
    struct sp_probe at = sp_map_probe(&b->part_maps[kind], hash);
    for (uint32_t i; (i = sp_map_next(&b->part_maps[kind], &at)) != SP_MAP_NONE;)
        if (b->l.parts[kind].v[i].row == row && b->l.parts[kind].v[i].key == key)
            return i;
    uint32_t number = (uint32_t)b->l.parts[kind].n;
    struct sp_leak_part x = {.row = row, .key = key, .hidden = {SP_ABSENT, SP_ABSENT}};
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        x.now.v[m] = SP_ABSENT;
    if (!sp_vec_push(&b->l.parts[kind], x) || !sp_map_add(&b->part_maps[kind], hash, number))
        return SP_NONE;
    return number;
}

static bool add_part(struct sp_leak_builder *b, enum sp_leak_parts kind, uint32_t row, uint32_t key,
                     const struct sp_leak_sums *w, const int64_t hidden[2], uint32_t *number)
{
    *number = find_part(b, kind, row, key);
    if (*number == SP_NONE)
        return false;
    struct sp_leak_part *x = &b->l.parts[kind].v[*number];
    add_sums(b, &x->now, w, !x->records++);
    add_hidden(x->hidden, hidden);
    return true;
}

/* To the row, and to the sums of all. */
static void add_record(struct sp_leak_builder *b, struct sp_leak_row *r, uint32_t i,
                       const struct sp_leak_sums *w, uint32_t skipped)
{
    const struct sp_selected *x = &b->s->rows.v[i];
    if (r->row == i || x->weight > b->s->rows.v[r->row].weight) {
        r->row = i;
        r->skipped = skipped;
    }
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        b->l.has[m] = b->l.has[m] || w->v[m] != SP_ABSENT;
    add_sums(b, &r->now, w, !r->records);
    add_sums(b, &b->l.now, w, false);
    sp_tally_add(&r->samples, x->samples);
    r->records++;
}

bool sp_leak_take(struct sp_leak_builder *b, uint32_t i)
{
    const uint32_t stack = b->s->rows.v[i].stack;
    enum sp_leak_reach reach = leak_reach(b->s->profile, stack);
    struct sp_leak_sums w = weights_of(b, stack);
    int64_t hidden[2] = {SP_ABSENT, SP_ABSENT};
    bool hides = !b->o->suppressed && sp_stack_suppressed(b->s->profile, stack);
    struct leak_place place;
    uint32_t line, through;
    if (!leak_locate(b, i, b->o->by_reach ? reach : SP_LEAK_UNTOLD, &place))
        return false;
    uint32_t skipped = (uint32_t)sp_selected_skipped(b->s, i);
    uint32_t row = find_row(b, i, place.function, b->o->by_reach ? reach : SP_LEAK_UNTOLD);
    if (row == SP_NONE)
        return false;
    if (hides) {
        hide(&w, hidden);
        b->l.suppressed++;
        add_hidden(b->l.hidden, hidden);
        add_hidden(b->l.rows.v[row].hidden, hidden);
    }
    add_sums(b, &b->l.reach[reach], &w, false);
    b->l.told = b->l.told || reach != SP_LEAK_UNTOLD;
    b->l.skipped += skipped > 0;
    b->l.of[stack] = (struct sp_leak_of){hides ? 0 : row + 1, skipped};
    add_record(b, &b->l.rows.v[row], i, &w, skipped);
    if (!add_part(b, SP_LEAK_LINES, row, place.line, &w, hidden, &line) ||
        !add_part(b, SP_LEAK_THROUGH, row, place.through, &w, hidden, &through))
        return false;
    b->line[stack] = hides ? 0 : line + 1;
    return true;
}
