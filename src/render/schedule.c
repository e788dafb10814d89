#include "render/schedule.h"

#include "answer/text.h"
#include "model/interval_until.h"
#include "render/schedule_cells.h"
#include "render/schedule_private.h"

#include <stdio.h>

enum { STATE_RUN, STATE_READY, STATE_UNKNOWN, STATE_BLOCKED, STATES };

static void flush(struct sp_schedule_draw *d)
{
    if (d->b.failed)
        return;
    if (d->b.len)
        sp_write(d->out, d->b.data, d->b.len);
    sp_buf_clear(&d->b);
}

/* ---- words ---- */

/* "+0.763 … +0.783 s" */
static void stretch(struct sp_schedule_draw *d, size_t from, size_t to)
{
    const struct sp_sched *s = d->x->s;
    double a = (double)(s->lo - d->x->zero) / 1e9, span = (double)(s->hi - s->lo) / 1e9;
    unsigned digits = span < 0.1 ? 6 : 3;
    char t[96];
    snprintf(t, sizeof t, "+%.*f … +%.*f s", (int)digits, a + span * (double)from / (double)d->cells,
             (int)digits, a + span * (double)to / (double)d->cells);
    sp_buf_puts(&d->b, t);
}

static void tip_open(struct sp_schedule_draw *d, const struct sp_schedule_cells_row *row, size_t from,
                     size_t to, const char *name)
{
    sp_buf_printf(&d->b, "<rect class=\"t\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"><title>",
                  row->x + (unsigned)from * row->step, row->y, (unsigned)(to - from) * row->step,
                  row->height);
    sp_xml_text(&d->b, name, strlen(name));
    sp_buf_puts(&d->b, ", ");
    stretch(d, from, to);
    sp_buf_ch(&d->b, ':');
}

static void tip_part(struct sp_schedule_draw *d, const char *name, int64_t ns, int64_t whole, unsigned *n)
{
    if (ns * 1000 < whole)
        return;
    sp_buf_puts(&d->b, (*n)++ ? ", " : " ");
    sp_xml_text(&d->b, name, strlen(name));
    sp_buf_ch(&d->b, ' ');
    sp_text_about(&d->b, ns, whole);
}

/* ---- who has which colour ---- */

static bool choose_colours(struct sp_schedule_draw *d)
{
    const struct sp_schedule *x = d->x;
    size_t n = x->v->threads.n;
    d->colour = malloc(n + 1);
    if (!d->colour)
        return false;
    for (size_t k = 0; k < n; k++)
        d->colour[k] = (uint8_t)(x->row_of[k] < SP_SCHEDULE_COLOURS ? x->row_of[k] : SP_SCHEDULE_OTHER);
    for (size_t k = 0; k < x->cpus->v.n; k++)
        d->others |=
            x->cpus->v.v[k].state == SP_CPU_RUNS && d->colour[x->cpus->v.v[k].thread] == SP_SCHEDULE_OTHER;
    return true;
}

/* Time that a thread ran or waited for a CPU in the window. */
static bool choose_threads(struct sp_schedule_draw *d)
{
    const struct sp_schedule *x = d->x;
    int64_t *ns = calloc(x->v->threads.n + 1, sizeof *ns);
    if (!ns)
        return false;
    for (size_t k = 0; k < x->cpus->v.n; k++) {
        const struct sp_cpu_segment *s = &x->cpus->v.v[k];
        int64_t lo = s->start > x->s->lo ? s->start : x->s->lo, hi = s->end < x->s->hi ? s->end : x->s->hi;
        if (s->state == SP_CPU_RUNS && hi > lo)
            ns[s->thread] += hi - lo;
    }
    for (size_t k = 0; k < x->v->v.n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        int64_t lo = i->start > x->s->lo ? i->start : x->s->lo,
                hi = i->until < x->s->hi ? i->until : x->s->hi;
        if (i->state == SP_RUN_RUNNABLE && hi > lo)
            ns[i->thread] += hi - lo;
    }
    for (;;) { /* the most of those that are left, a few times */
        uint32_t best = SP_NONE;
        for (uint32_t k = 0; k < x->v->threads.n; k++)
            if (ns[k] > 0 && x->row_of[k] != SP_NONE && (best == SP_NONE || ns[k] > ns[best]))
                best = k;
        if (best == SP_NONE || d->nthreads == SP_SCHEDULE_THREADS_MOST)
            break;
        d->threads[d->nthreads++] = best;
        ns[best] = 0;
    }
    free(ns);
    return true;
}

/* ---- rows ---- */

static void paths(struct sp_schedule_draw *d, const struct sp_schedule_cells *c,
                  const struct sp_schedule_cells_row *row, const char *const *classes)
{
    for (size_t k = 0; k < c->kinds; k++) {
        size_t before = d->b.len;
        sp_buf_printf(&d->b, "<path class=\"%s\" d=\"", classes[k]);
        size_t begin = d->b.len;
        sp_schedule_cells_path(&d->b, c, k, row);
        if (d->b.len == begin)
            d->b.len = before;
        else
            sp_buf_puts(&d->b, "\"/>\n");
    }
    if (d->b.len > 60000)
        flush(d);
}

static void box(struct sp_schedule_draw *d, const char *name, unsigned height,
                struct sp_schedule_cells_row *row)
{
    *row = (struct sp_schedule_cells_row){
        .x = SP_SCHEDULE_LEFT, .y = d->y, .step = d->step, .height = height, .full = 1000};
    sp_schedule_text(d, "m e", SP_SCHEDULE_LEFT - 8, d->y + height / 2 + 4, name, 27);
    sp_buf_printf(&d->b, "<rect class=\"box\" x=\"%d\" y=\"%u\" width=\"%zu\" height=\"%u\"/>\n",
                  SP_SCHEDULE_LEFT, d->y, d->cells * d->step, height);
    d->y += height + SP_SCHEDULE_GAP;
}

/* Kinds of a CPU's cell: colours, others, not known; what is left is idle. */
static void draw_cpu(struct sp_schedule_draw *d, struct sp_schedule_cells *c, uint32_t cpu)
{
    static const char *const classes[] = {"g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7", "n"};
    const struct sp_schedule *x = d->x;
    struct sp_schedule_cells_row row;
    char name[32];
    size_t unknown = SP_SCHEDULE_OTHER + 1;
    sp_schedule_cells_clear(c);
    for (size_t k = x->cpus->first.v[cpu]; k < x->cpus->first.v[cpu + 1]; k++) {
        const struct sp_cpu_segment *s = &x->cpus->v.v[k];
        if (s->state == SP_CPU_RUNS)
            sp_schedule_cells_add(c, d->colour[s->thread], s->start, s->end);
        else if (s->state == SP_CPU_IDLE)
            sp_schedule_cells_add(c, unknown, s->start, s->end);
    }
    for (size_t i = 0; i < c->n; i++) { /* the rest */
        int64_t known = 0, *cell = &c->ns[i * c->kinds];
        for (size_t k = 0; k <= unknown; k++)
            known += cell[k];
        int64_t rest = sp_schedule_cells_width(c, i) - known;
        cell[unknown] = rest > 0 ? rest : 0;
        d->unknown = d->unknown || rest > 0;
    }
    snprintf(name, sizeof name, "CPU %u", cpu);
    box(d, name, SP_SCHEDULE_CPU_ROW, &row);
    paths(d, c, &row, classes);
    for (unsigned t = 0; t < d->tips; t++) {
        size_t from = d->cells * t / d->tips, to = d->cells * (t + 1) / d->tips;
        int64_t whole = 0, left;
        unsigned n = 0;
        for (size_t i = from; i < to; i++)
            whole += sp_schedule_cells_width(c, i);
        left = whole;
        if (to == from)
            continue;
        tip_open(d, &row, from, to, name);
        for (size_t k = 0; k <= unknown; k++) {
            int64_t ns = sp_schedule_cells_sum(c, k, from, to);
            left -= ns;
            tip_part(d,
                     k < SP_SCHEDULE_OTHER && k < x->s->rows.n ? x->rows[k]
                     : k <= SP_SCHEDULE_OTHER                  ? "others"
                                                               : "not recorded",
                     ns, whole, &n);
        }
        tip_part(d, "idle", left, whole, &n);
        sp_buf_puts(&d->b, "</title></rect>\n");
    }
}

static void add_states(const struct sp_schedule_draw *d, struct sp_schedule_cells *c, uint32_t thread)
{
    const struct sp_schedule *x = d->x;
    const struct sp_interval_thread *t = &x->v->threads.v[thread];
    if (t->maybe_ns > 0)
        sp_schedule_cells_add(c, STATE_UNKNOWN, x->v->v.v[t->first].start - t->maybe_ns,
                              x->v->v.v[t->first].start);
    for (uint32_t k = t->first; k < t->first + t->n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        if (sp_interval_not_seen(i))
            continue;
        sp_schedule_cells_add(c,
                              i->state == SP_RUN_RUNNING    ? STATE_RUN
                              : i->state == SP_RUN_RUNNABLE ? STATE_READY
                                                            : STATE_BLOCKED,
                              i->start, i->until);
        sp_schedule_cells_add(c, STATE_UNKNOWN, i->until, i->end);
    }
}

static void draw_thread(struct sp_schedule_draw *d, struct sp_schedule_cells *c, uint32_t thread)
{
    static const char *const words[] = {"running", "waiting for a CPU", "not recorded", "blocked"};
    const struct sp_schedule *x = d->x;
    char colour[3] = {'g', (char)('0' + d->colour[thread]), 0};
    const char *const classes[] = {colour, "w", "n", "b"};
    struct sp_schedule_cells_row row;
    sp_schedule_cells_clear(c);
    add_states(d, c, thread);
    box(d, x->threads[thread], SP_SCHEDULE_THREAD_ROW, &row);
    paths(d, c, &row, classes);
    d->waits = d->waits || sp_schedule_cells_sum(c, STATE_READY, 0, c->n);
    d->unknown = d->unknown || sp_schedule_cells_sum(c, STATE_UNKNOWN, 0, c->n);
    for (unsigned t = 0; t < d->tips; t++) {
        size_t from = d->cells * t / d->tips, to = d->cells * (t + 1) / d->tips;
        int64_t whole = 0;
        unsigned n = 0;
        for (size_t i = from; i < to; i++)
            whole += sp_schedule_cells_width(c, i);
        if (to == from)
            continue;
        tip_open(d, &row, from, to, x->threads[thread]);
        for (size_t k = 0; k < STATES; k++)
            tip_part(d, words[k], sp_schedule_cells_sum(c, k, from, to), whole, &n);
        sp_buf_puts(&d->b, n ? "</title></rect>\n" : " nothing recorded</title></rect>\n");
    }
}

/* How many threads waited for a CPU: the mean of each cell. */
static void draw_queue(struct sp_schedule_draw *d, struct sp_schedule_cells *c)
{
    static const char *const classes[] = {"q"};
    const struct sp_schedule *x = d->x;
    struct sp_schedule_cells_row row;
    int64_t most = 1000;
    char name[64];
    sp_schedule_cells_clear(c);
    for (size_t k = 0; k < x->v->v.n; k++) {
        const struct sp_interval *i = &x->v->v.v[k];
        if (i->state == SP_RUN_RUNNABLE && !sp_interval_not_seen(i))
            sp_schedule_cells_add(c, 0, i->start, i->until);
    }
    for (size_t i = 0; i < c->n; i++) {
        int64_t mean = c->ns[i] / (sp_schedule_cells_width(c, i) / 1000 + 1);
        most = mean > most ? mean : most;
    }
    most = (most + 999) / 1000 * 1000;
    snprintf(name, sizeof name, "waiting for a CPU, 0 to %lld", (long long)(most / 1000));
    box(d, name, SP_SCHEDULE_QUEUE_ROW, &row);
    row.full = most;
    paths(d, c, &row, classes);
}

/* ---- all ---- */

static bool draw_rows(struct sp_schedule_draw *d)
{
    const struct sp_schedule *x = d->x;
    struct sp_schedule_cells cpu, state, queue;
    bool ok = sp_schedule_cells_init(&cpu, x->s->lo, x->s->hi, d->cells, SP_SCHEDULE_OTHER + 2);
    ok = sp_schedule_cells_init(&state, x->s->lo, x->s->hi, d->cells, STATES) && ok;
    ok = sp_schedule_cells_init(&queue, x->s->lo, x->s->hi, d->cells, 1) && ok;
    unsigned top = d->y;
    for (size_t i = 0; ok && i < x->s->cpus.n; i++)
        draw_cpu(d, &cpu, x->s->cpus.v[i].cpu);
    d->y += SP_SCHEDULE_GAP;
    if (ok && x->s->queue.most)
        draw_queue(d, &queue);
    d->y += SP_SCHEDULE_GAP;
    for (size_t i = 0; ok && i < d->nthreads; i++)
        draw_thread(d, &state, d->threads[i]);
    if (ok)
        sp_schedule_draw_axis(d, top);
    sp_schedule_cells_free(&cpu);
    sp_schedule_cells_free(&state);
    sp_schedule_cells_free(&queue);
    return ok;
}

/* How wide cells are, so that all rows together have not too many. */
static void measure(struct sp_schedule_draw *d)
{
    size_t rows = d->x->s->cpus.n + d->nthreads + 1;
    d->step = (unsigned)((rows * SP_SCHEDULE_CHART + SP_SCHEDULE_CELLS_MOST - 1) / SP_SCHEDULE_CELLS_MOST);
    d->step = d->step < 1 ? 1 : d->step > 50 ? 50 : d->step;
    d->cells = SP_SCHEDULE_CHART / d->step;
    size_t tips = SP_SCHEDULE_TIPS_MOST / rows;
    d->tips = (unsigned)(tips > 60 ? 60 : tips < 10 ? 10 : tips);
}

spaa_status sp_schedule_svg(const struct sp_schedule *x, struct sp_diags *diags, struct sp_output *out)
{
    struct sp_schedule_draw d = {.x = x, .out = out};
    sp_buf_init(&d.b, 0);
    bool ok = choose_colours(&d) && choose_threads(&d);
    if (ok) {
        measure(&d);
        d.y = SP_SCHEDULE_HEAD;
        sp_schedule_draw_legend(&d); /* to know how high it is */
        sp_buf_clear(&d.b);
        unsigned rows = (unsigned)(x->s->cpus.n * (SP_SCHEDULE_CPU_ROW + SP_SCHEDULE_GAP) +
                                   d.nthreads * (SP_SCHEDULE_THREAD_ROW + SP_SCHEDULE_GAP));
        unsigned queue = x->s->queue.most ? SP_SCHEDULE_QUEUE_ROW + SP_SCHEDULE_GAP : 0,
                 height = d.y + rows + queue + 2 * SP_SCHEDULE_GAP + SP_SCHEDULE_AXIS + SP_SCHEDULE_PAD;
        sp_buf_printf(&d.b,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                      "id=\"sp-sched\" xml:lang=\"en\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                      "role=\"img\" aria-labelledby=\"sp-t\" aria-describedby=\"sp-d\">\n",
                      SP_SCHEDULE_WIDTH, height, SP_SCHEDULE_WIDTH, height);
        sp_schedule_draw_head(&d);
        sp_schedule_draw_legend(&d);
        ok = draw_rows(&d);
        sp_buf_puts(&d.b, "</svg>\n");
        flush(&d);
        ok = ok && !d.b.failed;
    }
    free(d.colour);
    sp_buf_free(&d.b);
    return ok ? SPAA_OK : sp_nomem(diags);
}
