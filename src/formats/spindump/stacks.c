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

/* ---- processes of one number and name ---- */

static struct spindump_twins *spindump_twins_of(struct spindump_reader *r,
                                                const struct sp_spindump_process *x, bool add)
{
    uint64_t hash = sp_hash_mix((uint64_t)x->pid, x->name.n ? sp_hash_key(x->name.p, x->name.n) : 0);
    struct sp_probe at = sp_map_probe(&r->by_pid, hash);
    for (uint32_t k; (k = sp_map_next(&r->by_pid, &at)) != SP_MAP_NONE;) {
        struct spindump_twins *t = &r->twins.v[k];
        if (t->pid == x->pid && t->name.n == x->name.n &&
            (!t->name.n || memcmp(t->name.p, x->name.p, t->name.n) == 0))
            return t;
    }
    struct spindump_twins fresh = {.pid = x->pid, .name = x->name};
    if (!add || r->twins.n >= SP_NONE || !sp_vec_push(&r->twins, fresh) ||
        !sp_map_add(&r->by_pid, hash, (uint32_t)r->twins.n - 1))
        return NULL;
    return &r->twins.v[r->twins.n - 1];
}

bool sp_spindump_count_processes(struct spindump_reader *r)
{
    size_t dates = 0; /* another report follows */
    for (const char *p = r->start, *nl; p < r->end; p = nl ? nl + 1 : r->end) {
        nl = memchr(p, '\n', (size_t)(r->end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : r->end) - p)};
        size_t key = sp_hang_starts(line, "Process:") ? 8 : sp_hang_starts(line, "Powerstats for:") ? 15 : 0;
        while (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        dates += sp_hang_starts(line, "Date/Time:");
        if (sp_spindump_tail_begins(line) || dates > 1)
            break; /* what looks like a process there is none */
        bool joined;
        if (!key)
            continue;
        if (!sp_spindump_whole_process(r, &line, &joined))
            return false;
        struct sp_spindump_process x;
        sp_spindump_parse_process(sp_hang_after(line, key), &x);
        struct spindump_twins *t = spindump_twins_of(r, &x, true);
        if (!t)
            return false;
        t->n[key == 15]++;
    }
    return true;
}

/* How often a process of this number, name and instance came; 0: it is new now. NULL: no memory. */
static struct spindump_named *spindump_named_of(struct spindump_reader *r, uint32_t instance)
{
    uint64_t hash = sp_hash_mix((uint64_t)r->at.pid, (uint64_t)r->comm << 32 | instance);
    struct sp_probe at = sp_map_probe(&r->by_instance, hash);
    for (uint32_t i; (i = sp_map_next(&r->by_instance, &at)) != SP_MAP_NONE;) {
        struct spindump_named *x = &r->named.v[i];
        if (x->pid == r->at.pid && x->name == r->comm && x->instance == instance)
            return x;
    }
    struct spindump_named fresh = {.pid = r->at.pid, .name = r->comm, .instance = instance};
    if (r->named.n >= SP_NONE - 1 || !sp_vec_push(&r->named, fresh) ||
        !sp_map_add(&r->by_instance, hash, (uint32_t)r->named.n - 1))
        return NULL;
    return &r->named.v[r->named.n - 1];
}

/* A process that is reported twice keeps its two blocks: the second is "…, #2". */
static bool spindump_make_unique(struct spindump_reader *r)
{
    struct spindump_named *x = spindump_named_of(r, r->facts.instance);
    if (!x || !x->seen++)
        return x;
    size_t number = (size_t)(x - r->named.v);
    struct sp_str plain = sp_pstr(r->p, r->facts.instance);
    for (;;) { /* that too may stand in the report */
        sp_buf_clear(&r->buf);
        sp_buf_printf(&r->buf, "%.*s, #%zu", (int)plain.n, plain.p, r->named.v[number].seen);
        r->facts.instance = r->buf.failed ? SP_STR_FAIL : sp_profile_text(r->p, r->buf.data, r->buf.len);
        if (r->facts.instance == SP_STR_FAIL || !(x = spindump_named_of(r, r->facts.instance)))
            return false;
        if (!x->seen++)
            return true;
        x->seen--;
        r->named.v[number].seen++;
        plain = sp_pstr(r->p, r->named.v[number].instance);
    }
}

/* When a process began, or what else is stated of it. */
static void spindump_instance_text(struct spindump_reader *r, size_t number, struct sp_buf *b)
{
    if (r->started.n) {
        sp_buf_puts(b, "started ");
        sp_buf_add(b, r->started.p, r->started.n);
    } else if (r->at.unique_pid.n) {
        sp_buf_puts(b, "unique pid ");
        sp_buf_add(b, r->at.unique_pid.p, r->at.unique_pid.n);
    } else if (r->uuid.n) {
        sp_buf_puts(b, "UUID ");
        sp_buf_add(b, r->uuid.p, r->uuid.n);
    } else {
        sp_buf_printf(b, "#%zu", number);
    }
}

/* What tells the process at hand from others of its number and name. */
bool sp_spindump_instance(struct spindump_reader *r)
{
    struct spindump_twins *t = spindump_twins_of(r, &r->at, false);
    bool micro = r->powerstats, marked = t && micro && t->n[0], several = t && t->n[micro] > 1;
    if (!marked && !several)
        return true;
    t->seen[micro]++;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, !marked ? "" : several ? "microstackshots, " : "microstackshots");
    if (several)
        spindump_instance_text(r, t->seen[micro], &r->buf);
    r->facts.instance = r->buf.failed ? SP_STR_FAIL : sp_profile_text(r->p, r->buf.data, r->buf.len);
    return r->facts.instance != SP_STR_FAIL && spindump_make_unique(r);
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
    struct sp_hang_row *rows = r->rows.v + b->first;
    const struct sp_spindump_thread *t = &b->thread;
    int64_t roots, untold = r->tree.untold;
    if (!b->n)
        return SPAA_OK;
    r->block = b;
    r->labels = spindump_labels(r, b);
    if (r->labels == SP_NONE || !spindump_bind_rows(r, rows, b->n))
        return sp_nomem(r->d);
    if (b->cut)
        spindump_doubt_end(r, rows, b->n);
    r->tree.whole = t->nsamples;
    spaa_status st = sp_hang_tree_build(&r->tree, rows, b->n, &roots);
    if (!st && b->cut)
        sp_hang_say_end(&r->tree, rows[b->n - 1].line, roots, untold);
    if (!st && t->nsamples >= 0 && roots != t->nsamples)
        sp_emit(r->d, SP_W516, SP_AT_LINE(b->line, SP_NOWHERE),
                "thread %.*s has %lld samples, its roots %lld", (int)(t->id.n ? t->id.n : 10),
                t->id.n ? t->id.p : "<multiple>", (long long)t->nsamples, (long long)roots);
    return st;
}
