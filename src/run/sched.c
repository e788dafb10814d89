/* spaa sched -o FILE: the picture of what was asked about. */
#include "run/run.h"

#include "answer/answer.h"
#include "ask/sched_parts.h"
#include "render/schedule.h"
#include "run/sched.h"

/* Names of rows and threads, one text after the other. */
struct names {
    SP_VEC(char *) all;
    const char **rows, **threads;
};

static char *name_of(const struct sp_asked_sched *x, const struct sp_sched_row *r)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_sched_name(&b, x, r);
    char *copy = b.failed ? NULL : strdup(sp_buf_cstr(&b));
    sp_buf_free(&b);
    return copy;
}

static bool add_name(struct names *n, const struct sp_asked_sched *x, const struct sp_sched_row *r,
                     const char **out)
{
    char *s = name_of(x, r);
    *out = s;
    if (s && sp_vec_push(&n->all, s))
        return true;
    free(s);
    return false;
}

static bool make_names(struct names *n, const struct sp_asked_sched *x)
{
    n->rows = calloc(x->s.rows.n + 1, sizeof *n->rows);
    n->threads = calloc(x->v.threads.n + 1, sizeof *n->threads);
    bool ok = n->rows && n->threads;
    for (size_t i = 0; ok && i < x->s.rows.n; i++)
        ok = add_name(n, x, &x->s.rows.v[i], &n->rows[i]);
    for (uint32_t k = 0; ok && k < x->v.threads.n; k++) {
        struct sp_sched_row one = {.thread = k, .pool = SP_NONE, .comm = x->v.threads.v[k].comm};
        ok = add_name(n, x, &one, &n->threads[k]);
    }
    return ok;
}

static void free_names(struct names *n)
{
    for (size_t i = 0; i < n->all.n; i++)
        free(n->all.v[i]);
    sp_vec_free(&n->all);
    free(n->rows);
    free(n->threads);
}

/* The row that a thread is in. */
static uint32_t *rows_of(const struct sp_asked_sched *x)
{
    size_t n = x->v.threads.n;
    uint32_t *out = malloc((n + 1) * sizeof *out);
    SP_VEC(uint32_t) of_pool = {0};
    bool ok = out != NULL;
    for (size_t k = 0; ok && k < n; k++)
        out[k] = SP_NONE;
    for (uint32_t i = 0; ok && i < x->s.rows.n; i++) {
        const struct sp_sched_row *r = &x->s.rows.v[i];
        while (ok && r->pool != SP_NONE && of_pool.n <= r->pool)
            ok = sp_vec_push(&of_pool, SP_NONE);
        if (ok && r->pool != SP_NONE)
            of_pool.v[r->pool] = i;
        else if (ok)
            out[r->thread] = i;
    }
    for (size_t k = 0; ok && x->pools && k < n; k++)
        if (x->pools[k] != SP_NONE && x->pools[k] < of_pool.n && (!x->keep || x->keep[k]) &&
            x->v.threads.v[k].tid)
            out[k] = of_pool.v[x->pools[k]];
    sp_vec_free(&of_pool);
    if (ok)
        return out;
    free(out);
    return NULL;
}

static void subtitle(const struct sp_run *run, const struct sp_asked_sched *x, struct sp_buf *b)
{
    sp_buf_puts(b, run->files.n ? run->files.v[0] : "");
    sp_buf_puts(b, " · ");
    sp_sched_head(b, x);
    if (x->a.s.filters.len) {
        sp_buf_puts(b, " · ");
        sp_buf_add(b, x->a.s.filters.data, x->a.s.filters.len);
    }
}

static spaa_status draw(struct sp_run *run, const struct sp_asked_sched *x)
{
    struct names names = {0};
    struct sp_buf words;
    struct sp_output *out = NULL;
    uint32_t *row_of = rows_of(x);
    sp_buf_init(&words, 0);
    subtitle(run, x, &words);
    bool ok = row_of && make_names(&names, x) && !words.failed;
    const struct sp_schedule picture = {.v = &x->v,
                                        .cpus = &x->cpus,
                                        .s = &x->s,
                                        .subtitle = sp_buf_cstr(&words),
                                        .rows = names.rows,
                                        .threads = names.threads,
                                        .row_of = row_of,
                                        .zero = x->zero};
    spaa_status st = ok ? sp_run_output_open(run, run->v.output, &out) : sp_nomem(run->diags);
    if (!st)
        st = sp_schedule_svg(&picture, run->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    sp_buf_free(&words);
    free_names(&names);
    free(row_of);
    return st;
}

int sp_run_draw_sched(struct sp_run *run, struct sp_ask *q)
{
    struct sp_asked_sched x;
    struct sp_answer scratch;
    sp_answer_init(&scratch, q->question->schema, run->diags);
    spaa_status st = sp_sched_begin(q, &scratch, &x);
    if (!st)
        st = draw(run, &x);
    sp_sched_end(&x);
    sp_answer_free(&scratch);
    return sp_run_exit(run, st);
}
