/* The table of the program's own functions: a few, the one that calls another above it. */
#include "ask/summary.h"

#include "answer/text.h"
#include "model/identity.h"

enum {
    OWN_NAME_COLUMNS = 52,
    OWN_NUMBER_COLUMNS = 9,
    OWN_LINE_COLUMNS = 118,
    OWN_OUTSIDE_CALLEES = 4,
    OWN_REST_COLUMNS = 24
};

/* ---- text in columns ---- */

/* What is too long loses its middle. */
static void own_fitted(struct sp_buf *b, const struct sp_buf *text, size_t columns)
{
    sp_text_fit(b, text->len ? text->data : "", text->len, columns);
    b->failed |= text->failed;
}

static size_t own_width(const struct sp_buf *b)
{
    return b->len ? sp_text_width(b->data, b->len) : 0;
}

static void own_pad(struct sp_buf *b, size_t columns)
{
    for (size_t w = own_width(b); w < columns; w++)
        sp_buf_ch(b, ' ');
}

/* ---- the table ---- */

struct own_table {
    const struct sp_summary *x;
    size_t rows, name_columns;
    bool bounds, at_most;
    size_t order[SP_OWN_CALLS], depth[SP_OWN_CALLS], n; /* as they stand */
    struct sp_buf b, cell;
    void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line);
    void *arg;
};

static void own_give(struct own_table *t, enum sp_line_style style)
{
    while (t->b.len && t->b.data[t->b.len - 1] == ' ')
        t->b.len--;
    t->take(t->arg, style, &t->b);
    sp_buf_clear(&t->b);
}

static void own_stand(struct own_table *t, size_t i, size_t depth)
{
    for (size_t k = 0; k < t->n; k++)
        if (t->order[k] == i)
            return;
    t->order[t->n] = i;
    t->depth[t->n++] = depth;
    for (size_t k = 0; k < t->rows; k++)
        if (sp_own_caller(&t->x->calls, k, t->rows) == i)
            own_stand(t, k, depth + 1);
}

/* The tree of the heaviest function first. */
static void own_order(struct own_table *t)
{
    for (size_t i = 0; i < t->rows; i++) {
        size_t root = i, up;
        for (size_t steps = 0;
             (up = sp_own_caller(&t->x->calls, root, t->rows)) != SIZE_MAX && steps < t->rows; steps++)
            root = up;
        own_stand(t, root, 0);
    }
}

static const struct sp_own_row *own_row(const struct own_table *t, size_t i)
{
    return &t->x->fold.rows.v[t->x->calls.row[t->order[i]]];
}

static void own_named(struct own_table *t, size_t i)
{
    const struct sp_own_row *r = own_row(t, i);
    sp_buf_clear(&t->cell);
    sp_summary_name(&t->cell, t->x, r->function);
    if (sp_summary_is_irq(t->x, r->function))
        sp_buf_puts(&t->cell, " [irq-enable]");
}

static void own_percent(struct own_table *t, int64_t v)
{
    sp_buf_clear(&t->cell);
    if (v == SP_ABSENT)
        sp_buf_puts(&t->cell, "?");
    else
        sp_text_about(&t->cell, v, t->x->x.s.whole);
    size_t width = own_width(&t->cell);
    sp_buf_printf(&t->b, "%*s", (int)(width < OWN_NUMBER_COLUMNS ? OWN_NUMBER_COLUMNS - width : 0), "");
    sp_buf_add(&t->b, t->cell.data, t->cell.len);
}

/* The weight that the function has by itself: where callers are missing, others' may be taken for its. */
static int64_t own_self(const struct own_table *t, const struct sp_own_row *r)
{
    return t->bounds ? r->self : r->sum.weight;
}

static bool own_is_address(struct sp_str name)
{
    return name.n > 1 && memcmp(name.p, "0x", 2) == 0;
}

/* What most of a function's weight is in, where that is a call into a library. */
static void own_callee(struct own_table *t, const struct sp_own_row *r)
{
    const struct sp_summary *x = t->x;
    const struct sp_own_callee *c = r->sum.n ? &x->fold.callees.v[r->sum.first] : NULL;
    struct sp_str name = c ? sp_str_at(&x->fold.names, c->name) : (struct sp_str){"", 0};
    if (!name.n || *name.p == '[' || own_is_address(name) || (double)c->weight < 0.05 * (double)x->x.s.whole)
        return;
    sp_buf_clear(&t->cell);
    sp_buf_puts(&t->cell, "  ");
    sp_text_about(&t->cell, c->weight, x->x.s.whole);
    sp_buf_puts(&t->cell, " in ");
    sp_buf_add(&t->cell, name.p, name.n);
    if (own_width(&t->b) + own_width(&t->cell) <= OWN_LINE_COLUMNS)
        sp_buf_add(&t->b, t->cell.data, t->cell.len);
}

static void own_line(struct own_table *t, size_t i)
{
    const struct sp_own_row *r = own_row(t, i);
    size_t indent = 2 * t->depth[i];
    own_named(t, i);
    sp_buf_printf(&t->b, "%*s", (int)indent, "");
    own_fitted(&t->b, &t->cell, t->name_columns - indent);
    own_pad(&t->b, t->name_columns);
    own_percent(t, own_self(t, r));
    own_percent(t, r->total);
    if (t->at_most)
        own_percent(t, r->at_most);
    sp_buf_clear(&t->cell);
    sp_summary_place(&t->cell, t->x, r->function);
    sp_buf_puts(&t->b, "   ");
    size_t used = own_width(&t->b);
    own_fitted(&t->b, &t->cell, OWN_LINE_COLUMNS - used);
    own_callee(t, r);
    own_give(t, SP_LINE_ITEM);
}

/* --names full */
static bool own_is_full(const struct sp_summary *x)
{
    return sp_options_full_names(x->x.q->options);
}

static void own_heading(struct own_table *t)
{
    const char *title = t->x->x.own.all ? "functions (none is known to be own)" : "own functions";
    for (size_t i = 0; i < t->n; i++) {
        own_named(t, i);
        size_t width = 2 * t->depth[i] + own_width(&t->cell);
        t->name_columns = width > t->name_columns ? width : t->name_columns;
    }
    size_t least = sp_text_width(title, strlen(title));
    if (t->name_columns > OWN_NAME_COLUMNS && !own_is_full(t->x))
        t->name_columns = OWN_NAME_COLUMNS;
    t->name_columns = t->name_columns < least ? least : t->name_columns;
    sp_buf_puts(&t->b, title);
    own_pad(&t->b, t->name_columns);
    sp_buf_printf(&t->b, "%*s%*s", OWN_NUMBER_COLUMNS,
                  t->bounds         ? "self"
                  : t->x->x.own.all ? "self"
                                    : "self+lib",
                  OWN_NUMBER_COLUMNS, t->bounds ? "at least" : "total");
    if (t->at_most)
        sp_buf_printf(&t->b, "%*s", OWN_NUMBER_COLUMNS, "at most");
    own_give(t, SP_LINE_STRONG);
}

static struct sp_str own_name_of(const struct sp_summary *x, uint32_t function)
{
    const struct sp_profile *p = x->x.s.profile;
    return sp_pstr(p, p->functions.v[function].name);
}

/* What the rows leave: other own functions, and the stacks that have none. */
static void own_rest(struct own_table *t)
{
    const struct sp_summary *x = t->x;
    enum { NAMED = 3 };
    int64_t left = 0;
    size_t more = 0, named[NAMED], n = 0;
    for (size_t i = 0; i < x->fold.rows.n; i++) {
        const struct sp_own_row *r = &x->fold.rows.v[i];
        bool shown = false;
        for (size_t k = 0; k < t->rows; k++)
            shown = shown || x->calls.row[k] == i;
        if (r->function == SP_NONE || shown || sp_own_is_marker(x->x.s.profile, r->function))
            continue;
        left += own_self(t, r);
        if (n < NAMED && own_self(t, r) && !own_is_address(own_name_of(x, r->function)))
            named[n++] = i;
        more++;
    }
    if (!more || (double)left < 0.005 * (double)x->x.s.whole)
        return;
    sp_buf_printf(&t->b, "%zu more function%s, ", more, more > 1 ? "s" : "");
    sp_text_about(&t->b, left, x->x.s.whole);
    sp_buf_printf(&t->b, " self%s", t->bounds || x->x.own.all ? "" : "+lib");
    for (size_t i = 0; i < n; i++) {
        sp_buf_puts(&t->b, i ? ", " : ": ");
        sp_buf_clear(&t->cell);
        sp_summary_name(&t->cell, x, x->fold.rows.v[named[i]].function);
        own_fitted(&t->b, &t->cell, OWN_REST_COLUMNS);
    }
    sp_buf_puts(&t->b, " (spaa top)");
    own_give(t, SP_LINE_ITEM);
}

/* " libc: _int_malloc 12 %": what such a stack ends in, where there is room for it. */
static bool own_outside(struct own_table *t, const struct sp_own_callee *c, const char *between)
{
    enum { NAME = 28 };
    const struct sp_summary *x = t->x;
    struct sp_str name = sp_str_at(&x->fold.names, c->name);
    struct sp_buf text, whole;
    sp_buf_init(&text, 0);
    sp_buf_init(&whole, 0);
    sp_buf_add(&text, name.p, name.n);
    sp_buf_puts(&whole, between);
    own_fitted(&whole, &text, NAME);
    sp_buf_ch(&whole, ' ');
    sp_text_about(&whole, c->weight, x->x.s.whole);
    bool fits = own_width(&t->b) + own_width(&whole) < OWN_LINE_COLUMNS;
    if (fits)
        sp_buf_add(&t->b, whole.data, whole.len);
    t->b.failed |= text.failed || whole.failed;
    sp_buf_free(&text);
    sp_buf_free(&whole);
    return fits;
}

static void own_none(struct own_table *t)
{
    enum { DSOS = 2 };
    const struct sp_summary *x = t->x;
    const struct sp_own_row *r = NULL;
    for (size_t i = 0; i < x->fold.rows.n && !r; i++)
        r = x->fold.rows.v[i].function == SP_NONE ? &x->fold.rows.v[i] : NULL;
    if (!r || (double)r->sum.weight < 0.01 * (double)x->x.s.whole)
        return;
    sp_text_about(&t->b, r->sum.weight, x->x.s.whole);
    sp_buf_printf(&t->b, " of %s has no own function on %sstack", x->noun,
                  x->fold.breaks ? "the unbroken part of its "
                  : t->bounds    ? "its recorded "
                                 : "its ");
    const struct sp_dso_weights *w = &x->calls.outside;
    for (size_t i = 0; i < w->list.n && i < DSOS; i++) {
        struct sp_str name = sp_base_name(sp_dso_name(x->x.s.profile, w->list.v[i].dso));
        sp_buf_printf(&t->b, "%s%.*s", i ? ", " : " (", (int)name.n, name.p);
    }
    bool any = false;
    for (size_t i = 0; i < r->sum.n && i < OWN_OUTSIDE_CALLEES; i++)
        any = own_outside(t, &x->fold.callees.v[r->sum.first + i],
                          any         ? ", "
                          : w->list.n ? ": "
                                      : " (") ||
              any;
    sp_buf_puts(&t->b, w->list.n || any ? ")" : "");
    own_give(t, SP_LINE_ITEM);
}

void sp_summary_own_lines(const struct sp_summary *x, size_t rows,
                          void (*take)(void *arg, enum sp_line_style style, const struct sp_buf *line),
                          void *arg)
{
    struct own_table t = {.x = x, .rows = rows < x->calls.n ? rows : x->calls.n, .take = take, .arg = arg};
    if (x->x.s.cannot_add || !x->x.s.whole)
        return;
    sp_buf_init(&t.b, 0);
    sp_buf_init(&t.cell, 0);
    t.bounds = sp_chains_tell(&x->x.s);
    for (size_t i = 0; i < t.rows; i++)
        t.at_most = t.at_most || (t.bounds && x->fold.rows.v[x->calls.row[i]].at_most != SP_ABSENT);
    own_order(&t);
    if (t.rows) {
        own_heading(&t);
        for (size_t i = 0; i < t.n; i++)
            own_line(&t, i);
        own_rest(&t);
    }
    own_none(&t);
    x->x.out->failed |= t.b.failed || t.cell.failed;
    sp_buf_free(&t.b);
    sp_buf_free(&t.cell);
}
