/*
 * From the rows of a process's threads to stacks: who they are of, what was done there, and what tells
 * headers and processes apart that have one number.
 */
#include "base/hash.h"
#include "formats/spindump/report.h"
#include "model/leaf_state.h"

#include <string.h>

/*
 * The queue of each header of a thread that has several, and which of several processes of one number and
 * name it is, are labels of the context whether they are asked for or not: no record of the thread could say
 * them.
 */
static uint32_t spindump_labels(struct spindump_reader *r, const struct spindump_block *b)
{
    static const char *const queue[] = {"queue"};
    const struct sp_label_keys own = {queue, 1};
    struct sp_label instance = {0};
    uint32_t set = 0;
    if (r->facts.instance) {
        instance.key = sp_profile_cstr(r->p, "instance");
        instance.value = r->facts.instance;
        set = instance.key == SP_STR_FAIL ? SP_NONE : sp_labels_intern(r->p, &instance, 1);
    }
    return set == SP_NONE
               ? SP_NONE
               : sp_labels_with_queue(r->p, set, b->shared ? &own : r->opts->asked,
                                      (struct sp_str){b->thread.queue.p, (uint32_t)b->thread.queue.n});
}

/* What the context has no field for: a state's text, and the number of the thread's header after the first.
 */
static uint32_t spindump_context_extra(struct spindump_reader *r, const struct sp_spindump_meaning *x,
                                       bool idle)
{
    struct sp_buf *b = &r->buf;
    const unsigned whole = SP_BY_PID | SP_BY_TID | SP_BY_COMM;
    bool numbered = r->block->number > 1 && (r->opts->group_by & whole) == whole;
    bool by_state = r->opts->group_by & SP_BY_STATE;
    if (!numbered && !(idle && by_state))
        return by_state ? x->state_extra : SP_STR_NONE;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_spindump\":{");
    if (numbered)
        sp_hang_number(b, "header", r->block->number);
    if (by_state && x->said.p && (idle ? !sp_span_is(x->said, "state IDLE") : x->state_extra != SP_STR_NONE))
        sp_hang_member(b, "state", x->said);
    sp_buf_ch(b, '}');
    if (b->failed)
        return SP_STR_FAIL;
    return sp_span_is((struct sp_span){b->data, b->len}, "\"x_spindump\":{}")
               ? SP_STR_NONE
               : sp_profile_str(r->p, b->data, b->len);
}

/*
 * The context of samples that end in the row whose text has this number (SP_NONE: its end is missing, and
 * with it what is stated). Threads of processors without work
 * are idle whatever is stated; microstackshots are taken of what runs.
 */
static uint32_t spindump_context(void *who, uint32_t text)
{
    static const struct sp_spindump_meaning not_known = {0};
    struct spindump_reader *r = who;
    const struct sp_spindump_meaning *x = text == SP_NONE ? &not_known : &r->frames.meanings.v[text];
    unsigned by = r->opts->group_by;
    bool idle = r->block->idle || x->idle, taken_running = r->powerstats && !x->said.p && !idle;
    struct sp_context c = {.pid = by & SP_BY_PID ? r->at.pid : SP_ABSENT,
                           .tid = by & SP_BY_TID ? r->block->thread.tid : SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = r->event,
                           .comm = by & SP_BY_COMM ? r->comm : SP_STR_NONE,
                           .state = x->state,
                           .extra_json = spindump_context_extra(r, x, idle),
                           .wait = by & SP_BY_STATE && !idle ? x->wait : 0,
                           .labels = r->labels};
    if (idle || taken_running)
        c.state = sp_profile_cstr(r->p, idle ? "IDLE" : "RUNNABLE");
    if (c.state == SP_STR_FAIL || c.extra_json == SP_STR_FAIL)
        return SP_NONE;
    c.state = by & SP_BY_STATE ? c.state : SP_STR_NONE;
    return sp_context_intern(r->p, &c);
}

bool sp_spindump_prepare(struct spindump_reader *r)
{
    struct sp_profile *p = r->p;
    uint32_t metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {
        .name = sp_profile_cstr(p, "stackshot"), .kind = SP_TIMER, .mode = SP_FREQUENCY, .primary = metric};
    if (metric == SP_NONE || e.name == SP_STR_FAIL)
        return false;
    r->event = sp_event_add(p, &e);
    r->tree = (struct sp_hang_tree){
        .p = p, .d = r->d, .metric = metric, .context = spindump_context, .who = r, .excess = SP_W517};
    r->tree.layout = sp_layout_simple(p, metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->event != SP_NONE && r->tree.layout != SP_NONE;
}

/* ---- headers that repeat ---- */

/* "0 (base 0)" beside idle time: a processor's thread for when there is nothing to do. */
static bool spindump_is_idle(const struct sp_spindump_thread *t)
{
    return sp_is_idle_thread((struct sp_str){t->name.n ? t->name.p : "", (uint32_t)t->name.n}) ||
           (sp_span_is(t->priority, "0") && t->idle_time.n);
}

/* A thread that serves several queues, or changes its name, has a header for each. */
bool sp_spindump_number_blocks(struct spindump_reader *r)
{
    for (size_t i = 0; i < r->blocks.n; i++) {
        struct spindump_block *b = &r->blocks.v[i];
        uint64_t hash = sp_hash_mix((uint64_t)b->thread.tid, r->stamp);
        struct sp_probe at = sp_map_probe(&r->by_thread, hash);
        struct spindump_served *s = NULL;
        for (uint32_t k; !s && (k = sp_map_next(&r->by_thread, &at)) != SP_MAP_NONE;)
            if (r->served.v[k].tid == b->thread.tid && r->served.v[k].stamp == r->stamp)
                s = &r->served.v[k];
        if (!s) {
            struct spindump_served fresh = {.tid = b->thread.tid, .stamp = r->stamp, .first = i};
            if (r->served.n >= SP_NONE || !sp_vec_push(&r->served, fresh) ||
                !sp_map_add(&r->by_thread, hash, (uint32_t)r->served.n - 1))
                return false;
            s = &r->served.v[r->served.n - 1];
        }
        b->number = ++s->headers;
        b->shared = b->number > 1;
        if (b->shared)
            r->blocks.v[s->first].shared = true;
        b->idle = spindump_is_idle(&b->thread);
    }
    return true;
}

/* The row ends too early: in its text, or before the address, or the range of a timeline report, that
 * practically all rows have. */
static bool spindump_is_torn(const struct spindump_reader *r, const struct sp_hang_row *row,
                             const struct sp_spindump_meaning *x)
{
    enum { RARE = 4 };
    return x->torn || (x->bare && (r->bare * RARE < r->addressed || sp_hang_is_cut(&r->cut))) ||
           (r->timeline && !row->from && !x->rangeless && r->unranged * RARE < r->ranged);
}

/* Rows hold texts: their frames in this process. */
static bool spindump_bind_rows(struct spindump_reader *r, struct sp_hang_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t text = rows[i].frame;
        if (!sp_spindump_bind(&r->frames, text, r->stamp))
            return false;
        rows[i].frame = r->frames.texts.v.v[text].frame;
        rows[i].tag = text;
        if (spindump_is_torn(r, &rows[i], &r->frames.meanings.v[text])) {
            struct sp_span s = r->frames.texts.v.v[text].text;
            if (!r->frames.meanings.v[text].said.p)
                rows[i].tag = SP_NONE;
            sp_emit(r->d, SP_L520, SP_AT_LINE(rows[i].line, SP_NOWHERE), "\"%.*s\"",
                    (int)(s.n > 60 ? 60 : s.n), s.p);
        }
        if (r->frames.meanings.v[text].truncated)
            r->p->header.truncated += (uint64_t)rows[i].count;
    }
    return true;
}

/* Where the text ends, rows are missing that those above call: no state tells that these waited themselves.
 */
static void spindump_doubt_end(struct spindump_reader *r, struct sp_hang_row *rows, size_t n)
{
    for (size_t i = n - 1; i != SIZE_MAX; i = sp_hang_caller(rows, i))
        if (rows[i].tag != SP_NONE && !r->frames.meanings.v[rows[i].tag].said.p)
            rows[i].tag = SP_NONE;
}

spaa_status sp_spindump_block_stacks(struct spindump_reader *r, const struct spindump_block *b)
{
    struct sp_hang_row *rows = r->rows.v + b->rows.first;
    const struct sp_spindump_thread *t = &b->thread;
    int64_t roots, untold = r->tree.untold;
    if (!b->rows.n)
        return SPAA_OK;
    r->block = b;
    r->labels = spindump_labels(r, b);
    if (r->labels == SP_NONE || !spindump_bind_rows(r, rows, b->rows.n))
        return sp_nomem(r->d);
    if (b->rows.cut || b->rows.torn)
        spindump_doubt_end(r, rows, b->rows.n);
    r->tree.whole = t->nsamples;
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->rows.n, &roots);
    if (!st && b->rows.cut)
        sp_hang_say_end(&r->tree, rows[b->rows.n - 1].line, roots, untold);
    if (!st && t->nsamples >= 0 && roots != t->nsamples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->rows.line, SP_NOWHERE),
                "thread %.*s has %lld samples, its roots %lld", (int)(t->id.n ? t->id.n : 10),
                t->id.n ? t->id.p : "<multiple>", (long long)t->nsamples, (long long)roots);
    return st;
}
