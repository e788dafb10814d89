/* What is hot in a row of timeline, in words. */
#include "ask/timeline_hot.h"

#include "base/num.h"

enum { TOLD = 2 }; /* of them for people */

spaa_status sp_timeline_hot_kinds(struct sp_timeline_hot *x)
{
    struct sp_ask *q = x->x->q;
    return sp_stack_kinds_of(&x->x->s, q->profiles[0], q->options->own_re, q->diags, &x->kinds);
}

/* "lock in lookup", "lock? in lookup", "for a CPU", "parse", "http-* futex". */
void sp_timeline_hot_name(struct sp_timeline_hot *x, struct sp_buf *b, uint32_t what)
{
    uint32_t function = what;
    if (x->kinds.list.n) {
        const struct sp_stack_kind *k = &x->kinds.list.v[what];
        struct sp_str text = sp_str_at(&x->kinds.texts, k->text);
        sp_buf_add(b, text.p, text.n);
        sp_buf_puts(b, k->unsure ? "?" : "");
        function = k->function;
        if (text.n && function != SP_NONE)
            sp_buf_puts(b, " in ");
        else if (text.n)
            return;
    }
    sp_said_text(b, &x->said, x->x, function);
}

/* For people: the first one, and what has a tenth of the time; the rest is in the other forms. */
static size_t told(const struct sp_timeline_hot *x, const struct sp_bucket *y)
{
    size_t n = 0;
    if (x->x->q->brief && x->t->changes)
        return y->nhot ? 1 : 0;
    if (!x->x->q->brief || x->t->changes || x->x->s.cannot_add || y->weight <= 0)
        return y->nhot;
    while (n < y->nhot && n < TOLD && (!n || (double)x->t->hot.v[y->hot + n].self * 10 >= (double)y->weight))
        n++;
    return n;
}

/* Rows that follow each other mostly tell the same functions. */
static bool as_above(const struct sp_timeline_hot *x, const struct sp_bucket *y, size_t n)
{
    const struct sp_bucket *above = y > x->t->buckets.v ? y - 1 : NULL;
    bool same = n && above && x->x->q->brief && !x->t->changes && !x->x->s.cannot_add && told(x, above) == n;
    for (size_t i = 0; same && i < n; i++)
        same = x->t->hot.v[y->hot + i].what == x->t->hot.v[above->hot + i].what;
    return same;
}

static void timeline_share(struct sp_timeline_hot *x, int64_t part, int64_t whole)
{
    struct sp_buf *b = &x->x->b;
    if (x->x->q->brief)
        sp_buf_printf(b, "%lld", whole ? (long long)sp_ratio(part, whole, 100) : 0);
    else
        sp_text_percent(b, part, whole);
    sp_buf_ch(b, '%');
}

/* "parse 61%, read 12%", then "″ 60%, 13%" of the same: as items, each with its comma. */
void sp_timeline_hot_put(struct sp_timeline_hot *x, struct sp_answer_table *t, size_t column,
                         const struct sp_bucket *y)
{
    struct sp_value_text items[SP_TIMELINE_HOT] = {{0}};
    struct sp_buf *b = &x->x->b;
    size_t ends[SP_TIMELINE_HOT], n = told(x, y);
    bool same = as_above(x, y, n);
    sp_buf_clear(b);
    for (size_t i = 0; i < n; i++) {
        const struct sp_hot *h = &x->t->hot.v[y->hot + i];
        if (!same)
            sp_timeline_hot_name(x, b, h->what);
        else if (!i)
            sp_buf_puts(b, "″");
        if (x->t->changes) {
            sp_buf_puts(b, h->self > 0 ? " +" : " ");
            sp_text_weight(b, x->x->s.unit, x->x->s.scale, h->self);
        } else if (!x->x->s.cannot_add) {
            sp_buf_puts(b, same && i ? "" : " ");
            timeline_share(x, h->self, y->weight);
        }
        sp_buf_puts(b, i + 1 < n ? "," : "");
        ends[i] = b->len;
    }
    x->x->out->failed |= b->failed;
    for (size_t i = 0, from = 0; !b->failed && i < n; from = ends[i++])
        items[i] = (struct sp_value_text){b->data + from, ends[i] - from};
    if (n && !b->failed)
        sp_put_texts(x->x->out, t, column, items, n);
}

/* The names of what is hot, for people as short as tells them apart. */
spaa_status sp_timeline_hot_names(struct sp_timeline_hot *x)
{
    bool ok = true;
    for (size_t i = 0; ok && x->x->q->brief && i < x->t->buckets.n; i++) {
        const struct sp_bucket *y = &x->t->buckets.v[i];
        for (size_t k = 0, n = told(x, y); ok && k < n; k++) {
            uint32_t what = x->t->hot.v[y->hot + k].what;
            ok = sp_said_add(&x->said, x->kinds.list.n ? x->kinds.list.v[what].function : what);
        }
    }
    return ok ? sp_said_shorten(&x->said, x->x) : sp_nomem(x->x->q->diags);
}
