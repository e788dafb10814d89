/* spaa waits: who is blocked, on what, held by whom. */
#include "answer.h"

#include "analysis/waiters.h"
#include "base/num.h"
#include "render/text.h"

static struct sp_str comm_of(const struct sp_waits *w, const struct sp_wait_thread *t)
{
    return sp_pstr(w->profile, t->comm);
}

static void cmd_waits_json_str(struct sp_jw *w, const char *key, struct sp_str s)
{
    if (s.n)
        sp_jw_str(w, key, s.p, s.n);
    else
        sp_jw_null(w, key);
}

static void cmd_waits_json_number(struct sp_jw *w, const char *key, int64_t v)
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
    const struct sp_reported_thread *f = sp_thread_info_thread(&w->info, t->tid);
    cmd_waits_json_str(j, "process", comm_of(w, t));
    cmd_waits_json_number(j, "pid", t->pid);
    sp_jw_i64(j, "tid", t->tid);
    cmd_waits_json_str(j, "thread_name", f ? sp_pstr(w->profile, f->name) : (struct sp_str){"", 0});
    cmd_waits_json_str(j, "queue", f ? sp_pstr(w->profile, f->queue) : (struct sp_str){"", 0});
}

/* A thread, or so many threads of a pool; `of`: one of them. */
static void cmd_waits_json_who(struct sp_jw *j, const struct sp_waiters *ws, uint32_t of, uint32_t pool,
                               uint32_t threads)
{
    const struct sp_wait_thread *t = &ws->w->threads.v[of];
    struct sp_pool some = pool == SP_NONE ? (struct sp_pool){0} : ws->pools->pools.v[pool];
    some.threads = threads;
    if (threads > 1) {
        cmd_waits_json_str(j, "process", comm_of(ws->w, t));
        cmd_waits_json_number(j, "pid", t->pid);
        sp_jw_null(j, "tid");
        sp_jw_null(j, "thread_name");
        sp_jw_null(j, "queue");
    } else {
        json_thread(j, ws->w, t);
    }
    pool_json(j, ws->pools, threads > 1 ? &some : NULL);
}

static void json_wait(struct sp_jw *j, const struct sp_waits *w, const struct sp_wait *x, int64_t weight)
{
    cmd_waits_json_str(j, "on", sp_pstr(w->profile, x->on));
    cmd_waits_json_str(j, "state", sp_pstr(w->profile, x->state));
    json_weight(j, w, "weight", weight);
    json_samples(j, w, "samples", weight);
    cmd_waits_json_str(j, "text", sp_pstr(w->profile, x->text));
    if (x->holder_pid == SP_ABSENT) {
        sp_jw_null(j, "holder");
        return;
    }
    sp_jw_open(j, "holder", '{');
    cmd_waits_json_str(j, "process", sp_pstr(w->profile, x->holder_name));
    cmd_waits_json_number(j, "pid", x->holder_pid);
    cmd_waits_json_number(j, "tid", x->holder_tid);
    sp_jw_bool(j, "in_profile", x->holder != SP_NONE);
    sp_jw_close(j, '}');
}

static void json_waiters(struct sp_jw *j, const struct sp_waiters *ws, size_t limit)
{
    const struct sp_waits *w = ws->w;
    sp_jw_open(j, "waiters", '[');
    for (size_t i = 0; i < ws->list.n && i < limit; i++) {
        const struct sp_waiter *x = &ws->list.v[i];
        const struct sp_wait_thread *t = &w->threads.v[x->thread];
        sp_jw_open(j, NULL, '{');
        cmd_waits_json_who(j, ws, x->thread, x->pool, x->threads);
        json_weight(j, w, "weight", x->weight);
        json_samples(j, w, "samples", x->weight);
        json_weight(j, w, "waiting", x->waiting);
        sp_jw_bool(j, "frontmost_main", t->frontmost);
        sp_jw_u64(j, "chain_length", t->depth);
        sp_jw_bool(j, "cycle", t->cyclic);
        sp_jw_open(j, "waits", '[');
        for (uint32_t k = x->first; k < x->first + x->n; k++) {
            sp_jw_open(j, NULL, '{');
            json_wait(j, w, &w->waits.v[ws->waits.v[k].wait], ws->waits.v[k].weight);
            sp_jw_close(j, '}');
        }
        sp_jw_close(j, ']');
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

static void json_chains(struct sp_jw *j, const struct sp_waiters *ws, size_t limit)
{
    const struct sp_waits *w = ws->w;
    sp_jw_open(j, "chains", '[');
    for (size_t i = 0; i < ws->chains.n && i < limit; i++) {
        const struct sp_wait_chain *c = &w->chains.v[ws->chains.v[i].chain];
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
            cmd_waits_json_who(j, ws, x->waiter, ws->chains.v[i].pool, k ? 1 : ws->chains.v[i].threads);
            json_wait(j, w, x, k ? x->weight : ws->chains.v[i].weight);
            sp_jw_bool(j, "through_main_thread", x->by_process && x->holder != SP_NONE);
            sp_jw_close(j, '}');
        }
        sp_jw_close(j, ']');
        sp_jw_close(j, '}');
    }
    sp_jw_close(j, ']');
}

static uint64_t deadlocks(const struct sp_waiters *ws)
{
    uint64_t n = 0;
    for (size_t i = 0; i < ws->chains.n; i++)
        n += ws->w->chains.v[ws->chains.v[i].chain].deadlock;
    return n;
}

static int cmd_waits_answer_json(struct cli *c, const struct sp_selection *s, const struct sp_waiters *ws,
                                 size_t limit)
{
    const struct sp_waits *w = ws->w;
    struct sp_jw j;
    struct sp_buf b;
    answer_open(c, &j, "spaa.waits/2", s);
    json_weight(&j, w, "waiting", w->waiting);
    json_weight(&j, w, "waiting_for_nothing_named", w->unexplained);
    sp_jw_u64(&j, "deadlocks", deadlocks(ws));
    json_waiters(&j, ws, limit);
    json_chains(&j, ws, limit);
    sp_jw_open(&j, "omitted", '{');
    sp_jw_u64(&j, "waiters", ws->list.n > limit ? ws->list.n - limit : 0);
    sp_jw_u64(&j, "chains", ws->chains.n > limit ? ws->chains.n - limit : 0);
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

/* "Safari [412] 0x3fd504 name", "java [412] http-* (38 of 40)" */
static void who_text(struct sp_buf *b, const struct sp_waiters *ws, uint32_t of, uint32_t pool,
                     uint32_t threads)
{
    const struct sp_wait_thread *t = &ws->w->threads.v[of];
    if (threads < 2) {
        thread_text(b, comm_of(ws->w, t), t->pid, t->tid);
        return;
    }
    const struct sp_pool *x = &ws->pools->pools.v[pool];
    struct sp_str pattern = sp_str_at(&ws->pools->names, x->pattern);
    thread_text(b, comm_of(ws->w, t), t->pid, SP_ABSENT);
    sp_buf_ch(b, ' ');
    sp_buf_add(b, pattern.p, pattern.n);
    sp_buf_printf(b, " (%u", threads);
    if (threads < x->threads)
        sp_buf_printf(b, " of %u", x->threads);
    sp_buf_ch(b, ')');
}

static void holder_text(struct sp_buf *b, const struct sp_waits *w, const struct sp_wait *x)
{
    if (x->holder_pid != SP_ABSENT)
        thread_text(b, sp_pstr(w->profile, x->holder_name), x->holder_pid, x->holder_tid);
}

static void cmd_waits_cell(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->len ? b->data : "", b->len);
    sp_buf_clear(b);
}

/* Numbers of samples are exact everywhere; other weights are readable, and exact in CSV. */
static void cmd_waits_amount(struct sp_buf *b, const struct sp_selection *s, const struct sp_waits *w,
                             int64_t v, bool exact)
{
    char t[64];
    if (exact || w->counts_samples)
        sp_buf_add(b, t, sp_scaled_text(v, w->scale, t));
    else
        weight_text(b, s, v);
}

static void wait_row(struct sp_table *t, struct sp_buf *b, const struct sp_selection *s,
                     const struct sp_waiters *ws, const struct sp_waiter *who, uint32_t k, bool exact)
{
    const struct sp_waits *w = ws->w;
    const struct sp_wait *x = &w->waits.v[ws->waits.v[k].wait];
    const struct sp_wait_thread *thread = &w->threads.v[who->thread];
    const struct sp_reported_thread *f =
        who->threads > 1 ? NULL : sp_thread_info_thread(&w->info, thread->tid);
    cmd_waits_amount(b, s, w, ws->waits.v[k].weight, exact);
    cmd_waits_cell(t, b);
    sp_text_percent(b, ws->waits.v[k].weight, ws->waits.v[k].of);
    sp_buf_puts(b, exact ? "" : "%");
    cmd_waits_cell(t, b);
    who_text(b, ws, who->thread, who->pool, who->threads);
    if (f && f->name) {
        struct sp_str name = sp_pstr(w->profile, f->name);
        sp_buf_puts(b, " ");
        sp_buf_add(b, name.p, name.n);
    } else if (f && f->main) {
        sp_buf_puts(b, " main");
    }
    cmd_waits_cell(t, b);
    struct sp_str on = sp_pstr(w->profile, x->on);
    sp_table_cell(t, on.p, on.n);
    holder_text(b, w, x);
    cmd_waits_cell(t, b);
    sp_table_printf(t, "%u%s", thread->depth, thread->cyclic ? " cycle" : "");
}

static void chain_line(struct cli *c, const struct sp_waiters *ws, const struct sp_waiter_chain *from)
{
    const struct sp_waits *w = ws->w;
    const struct sp_wait_chain *chain = &w->chains.v[from->chain];
    struct sp_buf b, safe;
    sp_buf_init(&b, 0);
    sp_buf_init(&safe, 0);
    for (uint32_t k = 0; k < chain->n; k++) {
        const struct sp_wait *x = &w->waits.v[w->steps.v[chain->first + k]];
        struct sp_str on = sp_pstr(w->profile, x->on);
        if (!k)
            who_text(&b, ws, x->waiter, from->pool, from->threads);
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
static void put_chains(struct cli *c, const struct sp_waiters *ws, size_t limit)
{
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < ws->chains.n; i++) {
        const struct sp_wait_chain *x = &ws->w->chains.v[ws->chains.v[i].chain];
        if (x->n < 2 && x->cycle == SP_NONE)
            continue;
        if (shown == limit) {
            left++;
            continue;
        }
        if (!shown++)
            sp_puts(c->out, "\n");
        chain_line(c, ws, &ws->chains.v[i]);
    }
    if (left)
        sp_printf(c->out, "%zu more chains; -n 0 shows all\n", left);
}

static void closing_line(struct cli *c, const struct sp_selection *s, const struct sp_waiters *ws)
{
    const struct sp_waits *w = ws->w;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, w->order.n ? "\n" : "");
    cmd_waits_amount(&b, s, w, w->waiting, false);
    sp_buf_puts(&b, " of ");
    cmd_waits_amount(&b, s, w, w->weight, false);
    if (w->counts_samples) {
        sp_buf_puts(&b, " samples");
    } else if (!sp_str_is(s->unit, "ns") && !sp_str_is(s->unit, "bytes")) { /* these stand with the number */
        struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name),
                      unit = s->unit.n ? s->unit : metric;
        sp_buf_ch(&b, ' ');
        sp_text_safe(&b, unit.p, unit.n);
    }
    sp_buf_puts(&b, " waited for something named, ");
    cmd_waits_amount(&b, s, w, w->unexplained, false);
    sp_buf_printf(&b, " for nothing named; %llu deadlocks\n", (unsigned long long)deadlocks(ws));
    sp_write(c->out, b.data, b.len);
    sp_buf_free(&b);
}

static int cmd_waits_answer_rows(struct cli *c, const struct sp_selection *s, const struct sp_waiters *ws,
                                 size_t limit)
{
    const struct sp_waits *w = ws->w;
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
    for (size_t i = 0; i < ws->list.n; i++) {
        const struct sp_waiter *x = &ws->list.v[i];
        for (uint32_t k = x->first; k < x->first + x->n; k++) {
            if (rows < limit)
                wait_row(&t, &b, s, ws, x, k, c->format == FORMAT_CSV);
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
        put_chains(c, ws, limit);
        closing_line(c, s, ws);
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
    *narrowed = !st && s->kept != s->event_whole;
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
    struct sp_waiters ws;
    if (!answer_limit(c, 22, &limit))
        return EXIT_USAGE;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = select_waits(c, &s, &whole, &narrowed);
    if (st)
        return cli_exit_of(st);
    st = sp_waits_of(&s, narrowed ? &whole : NULL, &c->diags, &w);
    rc = cli_exit_of(st);
    if (!st) {
        st = sp_waiters_of(&w, &s.pools, &c->diags, &ws);
        rc = st ? cli_exit_of(st) : cli_stdout(c);
        if (!rc)
            rc = c->format == FORMAT_JSON ? cmd_waits_answer_json(c, &s, &ws, limit)
                                          : cmd_waits_answer_rows(c, &s, &ws, limit);
        if (!st)
            sp_waiters_free(&ws);
        sp_waits_free(&w);
    }
    if (narrowed)
        sp_selection_free(&whole);
    sp_selection_free(&s);
    return rc;
}
