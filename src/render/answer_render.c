#include "render/answer_private.h"

#include "io/bounded.h"

/* ---- budgets ---- */

struct fitting {
    struct sp_diags *diags;
    size_t bytes, least;
    int (*draw)(void *arg, size_t rows, struct sp_output *out);
    void *arg;
    struct sp_output *best;
};

/* The answer with so many rows in place of the best, when it fits, or when there is none and no fewer rows.
 */
static int fit_try(struct fitting *f, size_t rows, bool *fits)
{
    struct sp_output *out = NULL;
    size_t n = 0;
    spaa_status st = sp_output_memory(f->diags, &out);
    if (!st && rows > f->least) /* else it is the answer, whatever it takes */
        sp_output_at_most(out, f->bytes);
    int rc = st ? (int)st : f->draw(f->arg, rows, out);
    if (rc == SPAA_ERR_LIMIT && rows > f->least) {
        *fits = false;
        sp_output_close(out);
        return 0;
    }
    *fits = !rc && sp_output_within(out) && (sp_output_data(out, &n), n <= f->bytes);
    if (*fits || (!rc && !f->best && rows == f->least)) {
        if (!*fits && !f->least)
            sp_emit(f->diags, SP_I617, SP_AT_NOTHING, "%zu tokens", (n + 2) / 3);
        sp_output_close(f->best);
        f->best = out;
    } else {
        sp_output_close(out);
    }
    return rc;
}

int sp_fit(struct sp_diags *d, size_t bytes, size_t least, size_t most,
           int (*draw)(void *arg, size_t rows, struct sp_output *out), void *arg, struct sp_output *out)
{
    struct fitting f = {d, bytes, least < most ? least : most, draw, arg, NULL};
    bool fits;
    size_t lo = f.least, n, hi = most < bytes ? most : bytes; /* a row takes more than a byte */
    int rc = fit_try(&f, hi, &fits);
    bool whole = fits;
    if (!rc && !whole && hi > lo) {
        hi--;
        rc = fit_try(&f, lo, &fits);
        if (!fits)
            hi = lo;
    }
    while (!rc && !whole && lo < hi) {
        size_t rows = lo + (hi - lo + 1) / 2;
        rc = fit_try(&f, rows, &fits);
        if (fits)
            lo = rows;
        else
            hi = rows - 1;
    }
    if (!rc && f.best) {
        const char *text = sp_output_data(f.best, &n);
        sp_write(out, text, n);
    }
    sp_output_close(f.best);
    return rc;
}

/* ---- an answer ---- */

static int render_draw(void *arg, size_t rows, struct sp_output *out)
{
    static spaa_status (*const forms[])(const struct sp_drawing *) = {
        [SP_FORM_TEXT] = sp_draw_text,
        [SP_FORM_JSON] = sp_draw_json,
        [SP_FORM_CSV] = sp_draw_csv,
        [SP_FORM_MARKDOWN] = sp_draw_text,
    };
    struct sp_drawing g = *(struct sp_drawing *)arg;
    g.rows = rows;
    g.out = out;
    for (size_t i = 0; i < g.answer->items.n; i++) {
        struct sp_answer_table *t = g.answer->items.v[i].table;
        if (t && t->maker && !t->maker->walk)
            t->maker->cut(t->maker->arg, t, rows);
    }
    return (int)forms[g.opts->form](&g);
}

struct rendering {
    struct sp_drawing *g;
    size_t most; /* rows */
};

static spaa_status render_to(void *arg, struct sp_output *out)
{
    const struct rendering *r = arg;
    const struct sp_render_opts *o = r->g->opts;
    int rc = o->budget ? sp_fit(r->g->answer->diags, o->budget, o->least, r->most, render_draw, r->g, out)
                       : render_draw(r->g, SIZE_MAX, out);
    return (spaa_status)rc;
}

spaa_status sp_render(const struct sp_answer *a, const struct sp_render_opts *o, struct sp_diags *d,
                      struct sp_output *out)
{
    struct sp_drawing g = {.answer = a, .opts = o, .rows = SIZE_MAX};
    size_t most = 0, dealt = 0;
    for (size_t i = 0; i < a->items.n; i++) {
        const struct sp_answer_table *t = a->items.v[i].table;
        size_t n = t && !t->fixed && !t->of ? sp_drawn_rows(&g, t) : 0;
        dealt += t && t->keep ? n : 0;
        most = n > most ? n : most;
    }
    most = dealt > most ? dealt : most;
    struct rendering r = {&g, most};
    struct sp_bounds bounds = {.most = a->most ? a->most : UINT64_MAX, .aside = a->aside};
    spaa_status st = sp_write_bounded(out, &bounds, d, render_to, &r);
    return st == SPAA_ERR_LIMIT ? sp_answer_too_long(a) : st == SPAA_ERR_NOMEM ? sp_nomem(d) : st;
}
