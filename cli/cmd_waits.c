/* spaa waits: who is blocked, on what, held by whom. */
#include "answer.h"

#include "analysis/waits.h"
#include "base/num.h"
#include "render/text.h"

static struct sp_str comm_of(const struct sp_waits *w, const struct sp_wait_thread *t)
{
    return sp_pstr(w->profile, t->comm);
}

static void json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
    else
        sp_jw_null(w, key);
}

static void json_number(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

/* Weights are in the unit of the metric, which `profile` names. */
static void json_weight(struct sp_jw *j, const struct sp_waits *w, const char *key, int64_t v)
{
    sp_jw_scaled(j, key, v, w->scale);
}

/* The same where the metric is counts of samples; else null. */
static void json_samples(struct sp_jw *j, const struct sp_waits *w, const char *key, int64_t v)
{
    if (w->counts_samples)
        sp_jw_scaled(j, key, v, w->scale);
    else
        sp_jw_null(j, key);
}

static void json_thread(struct sp_jw *j, const struct sp_waits *w, const struct sp_wait_thread *t)
{
    const struct sp_thread_facts *f = sp_facts_thread(&w->facts, t->tid);
    json_str(j, "process", comm_of(w, t));
    json_number(j, "pid", t->pid);
    sp_jw_i64(j, "tid", t->tid);
    json_str(j, "thread_name", f ? sp_str_at(&w->facts.strs, f->name) : (struct sp_str){"", 0});
    json_str(j, "queue", f ? sp_str_at(&w->facts.strs, f->queue) : (struct sp_str){"", 0});
}

static void json_wait(struct sp_jw *j, const struct sp_waits *w, const struct sp_wait *x)
{
    json_str(j, "on", sp_str_at(&w->strs, x->on));
    json_str(j, "state", sp_pstr(w->profile, x->state));
    json_weight(j, w, "weight", x->weight);
    json_samples(j, w, "samples", x->weight);
    json_str(j, "text", sp_str_at(&w->strs, x->text));
    if (x->holder_pid == SP_ABSENT) {
        sp_jw_null(j, "holder");
        return;
    }
    sp_jw_open(j, "holder", '{');
    json_str(j, "process", sp_str_at(&w->strs, x->holder_name));
    json_number(j, "pid", x->holder_pid);
    json_number(j, "tid", x->holder_tid);
    sp_jw_bool(j, "in_profile", x->holder != SP_NONE);
    sp_jw_close(j, '}');
}

static void json_waiters(struct sp_jw *j, const struct sp_waits *w, size_t limit)
{
    sp_jw_open(j, "waiters", '[');
    for (size_t i = 0; i < w->order.n && i < limit; i++) {
        const struct sp_wait_thread *t = &w->threads.v[w->order.v[i]];
        sp_jw_open(j, NULL, '{');
        json_thread(j, w, t);
        json_weight(j, w, "weight", t->weight);
        json_samples(j, w, "samples", t->weight);
        json_weight(j, w, "waiting", t->waiting);
        sp_jw_bool(j, "frontmost_main", t->frontmost);
        sp_jw_u64(j, "chain_length", t->depth);
        sp_jw_bool(j, "cycle", t->cyclic);
        sp_jw_open(j, "waits", '[');
        for (uint32_t k = 0; k < t->n; k++) {
            sp_jw_open(j, NULL, '{');
            json_wait(j, w, &w->waits.v[t->first + k]);
            sp_jw_close(j, '}');
        }
        sp_jw_close(j, ']');
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

static void json_chains(struct sp_jw *j, const struct sp_waits *w, size_t limit)
{
    sp_jw_open(j, "chains", '[');
    for (size_t i = 0; i < w->chains.n && i < limit; i++) {
        const struct sp_wait_chain *c = &w->chains.v[i];
        sp_jw_open(j, NULL, '{');
        sp_jw_u64(j, "length", c->n);
        if (c->cycle == SP_NONE)
            sp_jw_null(j, "cycle_from");
        else
            sp_jw_u64(j, "cycle_from", c->cycle);
        sp_jw_bool(j, "deadlock", c->deadlock);
        sp_jw_open(j, "steps", '[');
        for (uint32_t k = 0; k < c->n; k++) {
            const struct sp_wait *x = &w->waits.v[w->steps.v[c->first + k]];
            sp_jw_open(j, NULL, '{');
            json_thread(j, w, &w->threads.v[x->waiter]);
            json_wait(j, w, x);
            sp_jw_bool(j, "through_main_thread", x->by_process && x->holder != SP_NONE);
            sp_jw_close(j, '}');
        }
        sp_jw_close(j, ']');
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

static uint64_t deadlocks(const struct sp_waits *w)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w->chains.n; i++)
        n += w->chains.v[i].deadlock;
    return n;
}

static int answer_json(struct cli *c, const struct sp_selection *s, const struct sp_waits *w, size_t limit)
{
    struct sp_jw j;
    struct sp_buf b;
    answer_open(c, &j, "spaa.waits/1", s);
    json_weight(&j, w, "waiting", w->waiting);
    json_weight(&j, w, "waiting_for_nothing_named", w->unexplained);
    sp_jw_u64(&j, "deadlocks", deadlocks(w));
    json_waiters(&j, w, limit);
    json_chains(&j, w, limit);
    sp_jw_open(&j, "omitted", '{');
    sp_jw_u64(&j, "waiters", w->order.n > limit ? w->order.n - limit : 0);
    sp_jw_u64(&j, "chains", w->chains.n > limit ? w->chains.n - limit : 0);
    sp_jw_close(&j, '}');
    sp_jw_open(&j, "next", '[');
    sp_buf_init(&b, 0);
    command_text(&b, c, &(struct answer_next){"top", NULL, NULL});
    sp_buf_puts(&b, " --by state --view all");
    sp_jw_str(&j, NULL, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
    sp_jw_close(&j, ']');
    answer_close(c, &j);
    return EXIT_FINE;
}

/* "Safari [412] 0x3fd504" */
static void thread_text(struct sp_buf *b, struct sp_str name, int64_t pid, int64_t tid)
{
    sp_buf_add(b, name.p, name.n);
    if (pid != SP_ABSENT)
        sp_buf_printf(b, "%s[%lld]", name.n ? " " : "", (long long)pid);
    if (tid != SP_ABSENT)
        sp_buf_printf(b, " 0x%llx", (unsigned long long)tid);
}

static void holder_text(struct sp_buf *b, const struct sp_waits *w, const struct sp_wait *x)
{
    if (x->holder_pid != SP_ABSENT)
        thread_text(b, sp_str_at(&w->strs, x->holder_name), x->holder_pid, x->holder_tid);
}

static void cell(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->len ? b->data : "", b->len);
    sp_buf_clear(b);
}

/* Numbers of samples are exact everywhere; other weights are readable, and exact in CSV. */
static void amount(struct sp_buf *b, const struct sp_selection *s, const struct sp_waits *w, int64_t v,
                   bool exact)
{
    char t[64];
    if (exact || w->counts_samples)
        sp_buf_add(b, t, sp_scaled_text(v, w->scale, t));
    else
        weight_text(b, s, v);
}

static void wait_row(struct sp_table *t, struct sp_buf *b, const struct sp_selection *s,
                     const struct sp_waits *w, const struct sp_wait *x, bool exact)
{
    const struct sp_wait_thread *thread = &w->threads.v[x->waiter];
    const struct sp_thread_facts *f = sp_facts_thread(&w->facts, thread->tid);
    amount(b, s, w, x->weight, exact);
    cell(t, b);
    sp_text_percent(b, x->weight, thread->weight);
    sp_buf_puts(b, exact ? "" : "%");
    cell(t, b);
    thread_text(b, comm_of(w, thread), thread->pid, thread->tid);
    if (f && f->name) {
        struct sp_str name = sp_str_at(&w->facts.strs, f->name);
        sp_buf_puts(b, " ");
        sp_buf_add(b, name.p, name.n);
    } else if (f && f->main) {
        sp_buf_puts(b, " main");
    }
    cell(t, b);
    struct sp_str on = sp_str_at(&w->strs, x->on);
    sp_table_cell(t, on.p, on.n);
    holder_text(b, w, x);
    cell(t, b);
    sp_table_printf(t, "%u%s", thread->depth, thread->cyclic ? " cycle" : "");
}

static void chain_line(struct cli *c, const struct sp_waits *w, const struct sp_wait_chain *chain)
{
    struct sp_buf b, safe;
    sp_buf_init(&b, 0);
    sp_buf_init(&safe, 0);
    for (uint32_t k = 0; k < chain->n; k++) {
        const struct sp_wait *x = &w->waits.v[w->steps.v[chain->first + k]];
        const struct sp_wait_thread *t = &w->threads.v[x->waiter];
        struct sp_str on = sp_str_at(&w->strs, x->on);
        if (!k)
            thread_text(&b, comm_of(w, t), t->pid, t->tid);
        sp_buf_puts(&b, " -(");
        sp_buf_add(&b, on.p, on.n);
        sp_buf_puts(&b, ")-> ");
        if (x->holder_pid != SP_ABSENT)
            holder_text(&b, w, x);
        else
            sp_buf_puts(&b, "?");
    }
    sp_text_safe(&safe, b.len ? b.data : "", b.len);
    sp_printf(c->out, "%s%s\n",
              chain->deadlock           ? "deadlock: "
              : chain->cycle != SP_NONE ? "cycle: "
                                        : "chain: ",
              sp_buf_cstr(&safe));
    sp_buf_free(&b);
    sp_buf_free(&safe);
}

/* Chains of one wait say no more than its row. */
static void put_chains(struct cli *c, const struct sp_waits *w, size_t limit)
{
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < w->chains.n; i++) {
        const struct sp_wait_chain *x = &w->chains.v[i];
        if (x->n < 2 && x->cycle == SP_NONE)
            continue;
        if (shown == limit) {
            left++;
            continue;
        }
        if (!shown++)
            sp_puts(c->out, "\n");
        chain_line(c, w, x);
    }
    if (left)
        sp_printf(c->out, "%zu more chains; -n 0 shows all\n", left);
}

static void closing_line(struct cli *c, const struct sp_selection *s, const struct sp_waits *w)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, w->order.n ? "\n" : "");
    amount(&b, s, w, w->waiting, false);
    sp_buf_puts(&b, " of ");
    amount(&b, s, w, w->weight, false);
    if (w->counts_samples) {
        sp_buf_puts(&b, " samples");
    } else if (!sp_str_is(s->unit, "ns") && !sp_str_is(s->unit, "bytes")) { /* these stand with the number */
        struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name),
                      unit = s->unit.n ? s->unit : metric;
        sp_buf_ch(&b, ' ');
        sp_text_safe(&b, unit.p, unit.n);
    }
    sp_buf_puts(&b, " waited for something named, ");
    amount(&b, s, w, w->unexplained, false);
    sp_buf_printf(&b, " for nothing named; %llu deadlocks\n", (unsigned long long)deadlocks(w));
    sp_write(c->out, b.data, b.len);
    sp_buf_free(&b);
}

static int answer_rows(struct cli *c, const struct sp_selection *s, const struct sp_waits *w, size_t limit)
{
    const struct sp_table_column columns[] = {{w->counts_samples ? "samples" : "weight", true, false},
                                              {"of thread", true, false},
                                              {"waiter", false, true},
                                              {"on", false, true},
                                              {"held by", false, true},
                                              {"chain", true, false}};
    struct sp_table t;
    struct sp_buf b;
    size_t rows = 0, left = 0;
    sp_table_init(&t, columns, 6);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < w->order.n; i++) {
        const struct sp_wait_thread *x = &w->threads.v[w->order.v[i]];
        for (uint32_t k = 0; k < x->n; k++) {
            if (rows < limit)
                wait_row(&t, &b, s, w, &w->waits.v[x->first + k], c->format == FORMAT_CSV);
            else
                left++;
            rows++;
        }
    }
    answer_heading(c, s);
    int rc = answer_table(c, &t);
    if (!rc && c->format == FORMAT_TABLE) {
        if (left)
            sp_printf(c->out, "%zu more rows; -n 0 shows all\n", left);
        put_chains(c, w, limit);
        closing_line(c, s, w);
    }
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

/* What is asked about, in any state unless some are named, and all of the event where filters narrow that. */
static spaa_status select_waits(struct cli *c, struct sp_selection *s, struct sp_selection *whole,
                                bool *narrowed)
{
    struct sp_select_opts o, event = {.event = c->v.event, .metric = c->v.metric, .any_state = true};
    if (!cli_select_opts(c, &o))
        return SPAA_ERR_USAGE;
    o.any_state = true;
    spaa_status st = sp_select(c->profile, &o, &c->diags, s);
    *narrowed = !st && s->total != s->all;
    if (!*narrowed)
        return st;
    st = sp_select(c->profile, &event, &c->diags, whole);
    if (st)
        sp_selection_free(s);
    return st;
}

int sp_cmd_waits(struct cli *c)
{
    size_t limit;
    bool narrowed;
    struct sp_selection s, whole;
    struct sp_waits w;
    if (!answer_limit(c, 22, &limit))
        return EXIT_USAGE;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = select_waits(c, &s, &whole, &narrowed);
    if (st)
        return cli_exit_of(st);
    st = sp_waits_of(&s, narrowed ? &whole : NULL, &c->diags, &w);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = c->format == FORMAT_JSON ? answer_json(c, &s, &w, limit) : answer_rows(c, &s, &w, limit);
    if (!st)
        sp_waits_free(&w);
    if (narrowed)
        sp_selection_free(&whole);
    sp_selection_free(&s);
    return rc;
}
