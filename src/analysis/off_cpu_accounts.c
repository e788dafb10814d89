#include "analysis/off_cpu_accounts.h"

#include "analysis/interval_name.h"
#include "analysis/names.h"
#include "analysis/wait_bounds.h"
#include "base/hash.h"
#include "model/interval_until.h"
#include "model/off_cpu.h"
#include "model/thread_names.h"
#include "model/waiting.h"

struct wait {
    uint32_t place;
    int64_t ns;
    bool at_least;
};

/* A thread of the selection's contexts. */
struct known {
    int64_t tid, pid;
    uint32_t context;
};

struct accounts {
    struct sp_off_cpu_accounts out;
    const struct sp_profile *p;
    const struct sp_selection *s, *wide;
    const struct sp_wait_reasons *why;
    SP_VEC(struct wait) waits;
    SP_VEC(struct known) known; /* by tid, pid */
    struct sp_map who_map, place_map;
    uint32_t *of_pool; /* 1 + number in who */
    bool pooled;
    unsigned char *asked;     /* per stack of the profile: the selection has it */
    unsigned char *in;        /* per context: the selection has one of its stacks */
    SP_VEC(uint32_t) counted; /* per row of who: 1 + the thread that was counted last */
    struct sp_buf b;
};

void sp_off_cpu_accounts_free(struct sp_off_cpu_accounts *x)
{
    sp_vec_free(&x->who);
    sp_vec_free(&x->places);
    sp_strtab_free(&x->names);
}

/* ---- who ---- */

static uint32_t add_who(struct accounts *x, struct sp_off_cpu_who w)
{
    w.running = x->out.has_intervals && !x->out.only_stacks ? 0 : SP_ABSENT;
    if (x->out.who.n >= SP_NONE - 1 || !sp_vec_push(&x->out.who, w))
        return SP_NONE;
    return (uint32_t)x->out.who.n - 1;
}

/* Threads of one process and one name are one, but with --no-pool. */
static uint32_t who_of_thread(struct accounts *x, int64_t pid, int64_t tid, uint32_t comm)
{
    bool each = tid != SP_ABSENT && (!x->pooled || pid == SP_ABSENT);
    uint64_t key = sp_hash_mix((uint64_t)pid, sp_hash_mix(each ? (uint64_t)tid : 0, comm));
    struct sp_probe at = sp_map_probe(&x->who_map, key);
    for (uint32_t i; (i = sp_map_next(&x->who_map, &at)) != SP_MAP_NONE;) {
        const struct sp_off_cpu_who *w = &x->out.who.v[i];
        if (!w->pool && w->pid == pid && w->comm == comm && (!each || w->tid == tid))
            return i;
    }
    uint32_t made = add_who(x, (struct sp_off_cpu_who){.pid = pid, .tid = tid, .comm = comm});
    return made == SP_NONE || !sp_map_add(&x->who_map, key, made) ? SP_NONE : made;
}

static uint32_t who_of_context(struct accounts *x, uint32_t context)
{
    const struct sp_context *c = &x->p->contexts.v[context];
    const struct sp_pools *pools = &x->wide->pools;
    uint32_t pool = pools->by_thread[context];
    if (pool == SP_NONE)
        return who_of_thread(x, c->pid, c->tid, sp_context_name(x->p, c));
    if (!x->of_pool[pool]) {
        const struct sp_pool *of = &pools->pools.v[pool];
        struct sp_off_cpu_who w = {.pool = of, .pid = of->pid, .tid = SP_ABSENT, .threads = of->threads};
        uint32_t made = add_who(x, w);
        if (made == SP_NONE)
            return SP_NONE;
        x->of_pool[pool] = made + 1;
    }
    return x->of_pool[pool] - 1;
}

static int by_tid(const void *va, const void *vb)
{
    const struct known *a = va, *b = vb;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->context > b->context) - (a->context < b->context);
}

static bool know_threads(struct accounts *x)
{
    for (size_t i = 0; i < x->wide->rows.n; i++) {
        uint32_t context = x->p->stacks.v[x->wide->rows.v[i].stack].context;
        const struct sp_context *c = &x->p->contexts.v[context];
        struct known k = {c->tid, c->pid, context};
        x->in[context] = 1;
        if (x->known.n && x->known.v[x->known.n - 1].context == context)
            continue;
        if (!sp_vec_push(&x->known, k))
            return false;
    }
    if (x->known.n)
        qsort(x->known.v, x->known.n, sizeof *x->known.v, by_tid);
    return true;
}

/* A context of the thread; NULL: the selection has none. */
static const struct known *known_of(const struct accounts *x, const struct sp_interval_thread *t)
{
    size_t lo = 0, hi = x->known.n;
    struct known want = {t->tid, t->pid, 0};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (by_tid(&x->known.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < x->known.n && x->known.v[lo].tid == t->tid && x->known.v[lo].pid == t->pid)
        return &x->known.v[lo];
    /* Where one of the two does not know the process. */
    if (lo && x->known.v[lo - 1].tid == t->tid && x->known.v[lo - 1].pid == SP_ABSENT)
        return &x->known.v[lo - 1];
    return t->pid == SP_ABSENT && lo < x->known.n && x->known.v[lo].tid == t->tid ? &x->known.v[lo] : NULL;
}

/* ---- places ---- */

static uint32_t line_of(const struct sp_profile *p, uint32_t frame)
{
    return frame == SP_NONE ? SP_STR_NONE : p->frames.v[frame].srcline;
}

static uint32_t place_of(struct accounts *x, uint32_t who, const struct sp_wait_why *why)
{
    struct sp_wait_why w = *why;
    if (w.reason == SP_WAIT_CPU) {
        w.function = w.call = w.frame = SP_NONE;
        w.idle = w.idle_unsure = w.unsure = false;
    }
    uint64_t key = sp_hash_mix(sp_hash_mix(who, w.function),
                               sp_hash_mix(w.call, w.reason * 4u + w.idle * 2u + w.idle_unsure));
    struct sp_probe at = sp_map_probe(&x->place_map, key);
    for (uint32_t i; (i = sp_map_next(&x->place_map, &at)) != SP_MAP_NONE;) {
        struct sp_off_cpu_place *o = &x->out.places.v[i];
        if (o->who == who && o->why.function == w.function && o->why.call == w.call &&
            o->why.reason == w.reason && o->why.idle == w.idle && o->why.idle_unsure == w.idle_unsure) {
            if (o->why.frame != w.frame && line_of(x->p, o->why.frame) != line_of(x->p, w.frame))
                o->why.frame = SP_NONE;
            o->why.unsure |= w.unsure;
            o->why.gap |= w.gap;
            return i;
        }
    }
    struct sp_off_cpu_place made = {.who = who,
                                    .why = w,
                                    .count = SP_ABSENT,
                                    .median = SP_ABSENT,
                                    .p99 = SP_ABSENT,
                                    .longest = SP_ABSENT,
                                    .last = SP_ABSENT};
    if (x->out.places.n >= SP_NONE - 1 || !sp_vec_push(&x->out.places, made) ||
        !sp_map_add(&x->place_map, key, (uint32_t)x->out.places.n - 1))
        return SP_NONE;
    return (uint32_t)x->out.places.n - 1;
}

static void add_to_who(struct sp_off_cpu_who *w, const struct sp_wait_why *why, int64_t ns, bool at_least)
{
    if (why->reason == SP_WAIT_CPU) {
        w->runnable += ns;
    } else if (why->idle && why->idle_unsure) {
        w->maybe_idle += ns;
        w->maybe_idle_at_least |= at_least;
        return;
    } else if (why->idle) {
        w->idle += ns;
        w->idle_at_least |= at_least;
        return;
    } else {
        w->blocked += ns;
    }
    w->by[why->reason] += ns;
    w->unsure[why->reason] += why->unsure && why->reason != SP_WAIT_CPU ? ns : 0;
    w->at_least[why->reason] |= at_least;
}

static bool add_wait(struct accounts *x, uint32_t who, const struct sp_wait_why *why, int64_t ns,
                     bool at_least)
{
    uint32_t place = who == SP_NONE ? SP_NONE : place_of(x, who, why);
    if (place == SP_NONE)
        return false;
    struct sp_off_cpu_place *at = &x->out.places.v[place];
    at->ns += ns;
    at->at_least |= at_least;
    at->open += at_least;
    x->out.unsure += why->unsure ? ns : 0;
    x->out.has_runnable |= why->reason == SP_WAIT_CPU;
    add_to_who(&x->out.who.v[who], why, ns, at_least);
    add_to_who(&x->out.all, why, ns, at_least);
    return true;
}

/* Of recordings with stacks: for what it waited is not known. Without any it is not known of all. */
static bool is_unseen(const struct accounts *x, const struct sp_wait_why *why)
{
    return why->unseen && x->why->has_frames && why->reason == SP_WAIT_OTHER && !why->idle;
}

/* ---- from intervals ---- */

/* An interval within what is looked at: [start, until) of it for certain, [until, end) perhaps. */
struct looked_at {
    const struct sp_interval *of;
    int64_t start, until, end;
    bool at_least;
};

static bool look_at(const struct accounts *x, const struct sp_interval *i, bool cut_off,
                    struct looked_at *out)
{
    int64_t start = i->start > x->out.begin ? i->start : x->out.begin,
            end = i->end < x->out.end ? i->end : x->out.end, until = i->until < end ? i->until : end;
    *out = (struct looked_at){i, start, until > start ? until : start, end, false};
    out->at_least = cut_off || (i->flags & (SP_INTERVAL_BEFORE | SP_INTERVAL_OPEN)) || start != i->start ||
                    end != i->end || out->until < end;
    return end > start && (i->state != SP_RUN_BLOCKED || i->task != SP_TASK_DEAD);
}

/* Whether it ran is not recorded: of all that time. */
static void add_unknown(struct accounts *x, uint32_t who, int64_t ns)
{
    struct sp_off_cpu_who *w = &x->out.who.v[who];
    if (ns <= 0 || x->out.only_stacks)
        return;
    w->unknown += ns;
    w->running_at_least = x->out.all.running_at_least = true;
    x->out.all.unknown += ns;
}

static bool add_off(struct accounts *x, uint32_t who, const struct looked_at *l)
{
    static const struct sp_wait_why unknown = {
        .function = SP_NONE, .call = SP_NONE, .frame = SP_NONE, .unseen = true};
    const struct sp_interval *i = l->of;
    int64_t ns = l->until - l->start;
    struct sp_wait_why why = i->stack == SP_NONE ? unknown : x->why->of[i->stack];
    add_unknown(x, who, l->end - l->until);
    /* Nothing says that a thread was there before it was first seen. */
    bool before = i->flags & SP_INTERVAL_BEFORE && i->task == SP_TASK_UNKNOWN;
    if (i->state == SP_RUN_BLOCKED && (before || is_unseen(x, &why))) {
        x->out.who.v[who].unseen += ns;
        x->out.all.unseen += ns;
        x->out.unseen_later += i->flags & SP_INTERVAL_BEFORE ? 0 : ns;
        return true;
    }
    if (i->state == SP_RUN_RUNNABLE)
        why.reason = SP_WAIT_CPU;
    if (i->state == SP_RUN_BLOCKED && i->flags & SP_INTERVAL_NO_WAKE && x->out.has_wakes &&
        !(i->flags & SP_INTERVAL_OPEN)) {
        x->out.wakes_missing++;
        x->out.wakes_missing_ns += ns;
        x->out.who.v[who].at_least[SP_WAIT_CPU] = x->out.all.at_least[SP_WAIT_CPU] = true;
    }
    if (!add_wait(x, who, &why, ns, l->at_least))
        return false;
    uint32_t place = place_of(x, who, &why);
    struct sp_off_cpu_place *at = &x->out.places.v[place];
    at->count = (at->count == SP_ABSENT ? 0 : at->count) + 1;
    at->unknown += l->end - l->until;
    if (ns > at->longest) {
        at->longest = ns;
        at->longest_at_least = l->at_least;
        at->last = l->until;
    }
    at->longest_most = l->end - l->start > at->longest_most ? l->end - l->start : at->longest_most;
    struct wait w = {place, ns, l->at_least};
    return sp_vec_push(&x->waits, w);
}

static bool add_interval(struct accounts *x, uint32_t who, const struct sp_interval *i, bool cut_off)
{
    struct looked_at l;
    if (!look_at(x, i, cut_off, &l))
        return true;
    if (i->state == SP_RUN_RUNNING) {
        struct sp_off_cpu_who *w = &x->out.who.v[who];
        if (w->running != SP_ABSENT)
            w->running += l.until - l.start;
        add_unknown(x, who, l.end - l.until);
        return true;
    }
    if (i->stack == SP_NONE ? x->out.only_stacks : !x->asked[i->stack])
        return true;
    return add_off(x, who, &l);
}

/* Who a thread was during an interval: before it executes another program it may have another name. */
static uint32_t who_during(struct accounts *x, const struct sp_intervals *v, uint32_t interval)
{
    const struct sp_interval_thread *t = &v->threads.v[v->v.v[interval].thread];
    uint32_t context = sp_interval_context(x->p, v, interval);
    if (context != SP_NONE && x->wide->pools.by_thread[context] != SP_NONE)
        return who_of_context(x, context);
    return who_of_thread(x, t->pid, t->tid, sp_interval_name(x->p, v, interval));
}

/* Counts the thread once; false: out of memory. */
static bool count_thread(struct accounts *x, uint32_t who, uint32_t thread)
{
    while (x->counted.n <= who)
        if (!sp_vec_push(&x->counted, 0))
            return false;
    if (x->counted.v[who] != thread + 1)
        x->out.who.v[who].threads += !x->out.who.v[who].pool;
    x->counted.v[who] = thread + 1;
    return true;
}

/* Something of it is in what is looked at, not only that it had left before it was first seen. */
static bool is_seen(const struct accounts *x, const struct sp_interval *i)
{
    struct looked_at l;
    return !x->s->timed || (look_at(x, i, false, &l) && !sp_interval_not_seen(i));
}

/* `over`: when its process was seen last. */
static bool add_thread(struct accounts *x, const struct sp_intervals *v, uint32_t k, bool some, int64_t over)
{
    const struct sp_interval_thread *t = &v->threads.v[k];
    bool any = false;
    for (uint32_t i = t->first; i < t->first + t->n; i++) {
        uint32_t context = some ? sp_interval_context(x->p, v, i) : SP_NONE;
        if (context != SP_NONE && !x->in[context])
            continue;
        uint32_t who = who_during(x, v, i);
        bool seen = is_seen(x, &v->v.v[i]);
        if (who == SP_NONE || (seen && !count_thread(x, who, k)) ||
            !add_interval(x, who, &v->v.v[i], sp_wait_ended_with(x->p, v, i, over)))
            return false;
        x->out.who.v[who].seen |= seen;
        any |= seen;
        if (i > t->first)
            continue;
        int64_t left = v->v.v[i].start, from = left - t->maybe_ns;
        from = from > x->out.begin ? from : x->out.begin;
        add_unknown(x, who, (left < x->out.end ? left : x->out.end) - from);
    }
    x->out.all.threads += any;
    return true;
}

static bool add_intervals(struct accounts *x, const struct sp_intervals *v, bool some_threads)
{
    int64_t over = INT64_MAX;
    bool some = some_threads || x->out.only_stacks;
    for (uint32_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        if (!k || v->threads.v[k - 1].pid != t->pid)
            over = sp_wait_last_seen(v, k);
        if (t->tid && t->n && (!some || known_of(x, t)) && !add_thread(x, v, k, some, over))
            return false;
    }
    return true;
}

/* A CPU that was never idle has no idle task that was seen. */
static void add_cpus(struct accounts *x, const struct sp_intervals *v)
{
    int64_t busy = 0;
    for (size_t k = 0; k < v->threads.n; k++) {
        const struct sp_interval_thread *t = &v->threads.v[k];
        for (uint32_t i = t->first; t->tid && i < t->first + t->n; i++) {
            struct looked_at l;
            if (!look_at(x, &v->v.v[i], false, &l))
                continue;
            busy += v->v.v[i].state == SP_RUN_RUNNING ? l.until - l.start : 0;
            x->out.busy_at_least |= l.until < l.end;
        }
    }
    x->out.all_threads = v->all_threads;
    x->out.some_cpus = v->some_cpus;
    x->out.cpus = v->all_threads ? v->cpus : 0;
    x->out.busy = busy;
}

static int by_place(const void *va, const void *vb)
{
    const struct wait *a = va, *b = vb;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

static void rank_waits(struct accounts *x)
{
    struct wait *v = x->waits.v;
    if (!x->waits.n)
        return;
    qsort(v, x->waits.n, sizeof *v, by_place);
    for (size_t from = 0, to; from < x->waits.n; from = to) {
        for (to = from; to < x->waits.n && v[to].place == v[from].place; to++) {
        }
        size_t n = to - from, half = (n + 1) / 2, most = (n * 99 + 99) / 100;
        struct sp_off_cpu_place *at = &x->out.places.v[v[from].place];
        at->longest_at_least |= at->longest_most > at->longest;
        at->median = v[from + half - 1].ns;
        at->p99 = v[from + most - 1].ns;
        for (size_t k = 0; k < most; k++) { /* which may belong behind it */
            at->median_at_least |= k < half && v[from + k].at_least;
            at->p99_at_least |= v[from + k].at_least;
        }
    }
}

/* ---- from weights ---- */

static uint32_t metric_of(const struct sp_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->metrics.n; i++)
        if (sp_str_is(sp_pstr(p, p->metrics.v[i].name), name))
            return i;
    return SP_NONE;
}

static int64_t unscaled(int64_t v, unsigned scale)
{
    for (; scale; scale--)
        v /= 10;
    return v;
}

/* Each tid once; a name without any is one. */
static bool count_threads(struct accounts *x)
{
    for (size_t i = 0; i < x->known.n; i++) {
        const struct known *k = &x->known.v[i];
        if (k->tid == SP_ABSENT || (i && k[-1].tid == k->tid && k[-1].pid == k->pid))
            continue;
        uint32_t who = who_of_context(x, k->context);
        if (who == SP_NONE)
            return false;
        x->out.who.v[who].threads += !x->out.who.v[who].pool;
        x->out.all.threads++;
    }
    for (size_t i = 0; i < x->out.who.n; i++) {
        struct sp_off_cpu_who *w = &x->out.who.v[i];
        x->out.all.threads += !w->threads && w->tid == SP_ABSENT; /* else one that had another name, too */
        w->threads += !w->threads;
    }
    return true;
}

static bool add_rows(struct accounts *x)
{
    uint32_t counts = sp_waiting_count(x->p, x->s->event), longest = metric_of(x->p, SP_OFF_CPU_LONGEST);
    for (size_t i = 0; i < x->s->rows.n; i++) {
        const struct sp_selected *r = &x->s->rows.v[i];
        const struct sp_wait_why *why = &x->why->of[r->stack];
        uint32_t who = who_of_context(x, x->p->stacks.v[r->stack].context);
        int64_t ns = unscaled(r->weight, x->s->scale);
        if (who != SP_NONE && is_unseen(x, why)) {
            x->out.who.v[who].unseen += ns;
            x->out.all.unseen += ns;
            continue;
        }
        /* Some of its waits are longer than what was seen, and which of them is not kept. */
        if (!add_wait(x, who, why, ns, why->at_least))
            return false;
        struct sp_off_cpu_place *at = &x->out.places.v[place_of(x, who, why)];
        at->longest_at_least |= why->at_least;
        int64_t n = counts == SP_NONE ? SP_ABSENT : sp_weight(x->p, r->stack, counts),
                most = longest == SP_NONE ? SP_ABSENT : sp_weight(x->p, r->stack, longest);
        if (n >= 0 && !x->s->timed)
            at->count = (at->count == SP_ABSENT ? 0 : at->count) + n;
        if (most > at->longest && !x->s->timed)
            at->longest = most;
    }
    for (size_t i = 0; i < x->known.n; i++) {
        const struct sp_context *c = &x->p->contexts.v[x->known.v[i].context];
        x->out.knows_threads |= c->tid != SP_ABSENT || sp_pstr(x->p, c->comm).n;
    }
    return count_threads(x);
}

/* ---- names and order ---- */

/* "worker (tid 12)", "worker (6, pid 10)", as pools are named. */
static bool name_all(struct accounts *x)
{
    for (size_t i = 0; i < x->out.who.n; i++) {
        struct sp_off_cpu_who *w = &x->out.who.v[i];
        struct sp_context c = {.pid = w->pid, .tid = w->tid, .comm = w->comm};
        struct sp_str comm = sp_pstr(x->p, w->comm);
        sp_buf_clear(&x->b);
        if (w->pool) {
            struct sp_str name = sp_str_at(&x->wide->pools.names, w->pool->name);
            sp_buf_add(&x->b, name.p, name.n);
        } else if (w->threads > 1) {
            sp_buf_add(&x->b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
            sp_buf_printf(&x->b, " (%u, pid %lld)", w->threads, (long long)w->pid);
            w->tid = SP_ABSENT;
        } else if (w->tid == SP_ABSENT) {
            sp_buf_add(&x->b, comm.n ? comm.p : "?", comm.n ? comm.n : 1);
        } else {
            sp_thread_name(&x->b, x->p, &c);
        }
        w->name = x->b.failed ? SP_STR_FAIL : sp_intern(&x->out.names, x->b.data, x->b.len);
        if (w->name == SP_STR_FAIL)
            return false;
    }
    return true;
}

static int compare_names(const struct sp_strtab *names, uint32_t a, uint32_t b)
{
    struct sp_str x = sp_str_at(names, a), y = sp_str_at(names, b);
    int r = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return r ? r : (x.n > y.n) - (x.n < y.n);
}

static int by_waiting(const void *va, const void *vb, void *arg)
{
    const struct sp_off_cpu_accounts *x = arg;
    const struct sp_off_cpu_who *a = &x->who.v[*(const uint32_t *)va], *b = &x->who.v[*(const uint32_t *)vb];
    int64_t wa = a->blocked + a->runnable + a->unknown, wb = b->blocked + b->runnable + b->unknown;
    if (wa != wb)
        return wa < wb ? 1 : -1;
    int r = compare_names(&x->names, a->name, b->name);
    return r ? r : (a->tid > b->tid) - (a->tid < b->tid);
}

static int by_ns(const void *va, const void *vb, void *arg)
{
    const struct sp_profile *p = arg;
    const struct sp_off_cpu_place *a = va, *b = vb;
    if (a->why.idle != b->why.idle)
        return a->why.idle ? 1 : -1;
    int64_t most_a = a->ns + a->unknown, most_b = b->ns + b->unknown;
    if (most_a != most_b)
        return most_a < most_b ? 1 : -1;
    if (a->who != b->who)
        return a->who < b->who ? -1 : 1;
    if (a->why.reason != b->why.reason)
        return a->why.reason < b->why.reason ? -1 : 1;
    (void)p;
    if (a->why.function != b->why.function)
        return a->why.function < b->why.function ? -1 : 1;
    return (a->why.call > b->why.call) - (a->why.call < b->why.call);
}

static bool order(struct accounts *x)
{
    size_t n = x->out.who.n;
    uint32_t *by = calloc(n + 1, sizeof *by), *place = calloc(n + 1, sizeof *place);
    struct sp_off_cpu_who *v = malloc((n + 1) * sizeof *v);
    bool ok = by && place && v;
    if (ok && n) {
        for (uint32_t i = 0; i < n; i++)
            by[i] = i;
        qsort_r(by, n, sizeof *by, by_waiting, &x->out);
        for (uint32_t i = 0; i < n; i++) {
            place[by[i]] = i;
            v[i] = x->out.who.v[by[i]];
        }
        memcpy(x->out.who.v, v, n * sizeof *v);
        for (size_t i = 0; i < x->out.places.n; i++)
            x->out.places.v[i].who = place[x->out.places.v[i].who];
        if (x->out.places.n)
            qsort_r(x->out.places.v, x->out.places.n, sizeof *x->out.places.v, by_ns,
                    (void *)(uintptr_t)x->p);
    }
    free(by);
    free(place);
    free(v);
    return ok;
}

static void sum_running(struct accounts *x)
{
    x->out.all.running = x->out.has_intervals && !x->out.only_stacks ? 0 : SP_ABSENT;
    for (size_t i = 0; i < x->out.who.n && x->out.all.running != SP_ABSENT; i++)
        x->out.all.running += x->out.who.v[i].running;
}

/* ---- all of it ---- */

static bool fill(struct accounts *x, const struct sp_select_opts *o, const struct sp_intervals *v)
{
    bool some_threads = o->thread || o->pid || o->comm;
    for (size_t i = 0; i < x->wide->rows.n; i++)
        x->asked[x->wide->rows.v[i].stack] = 1;
    if (!know_threads(x))
        return false;
    if (!x->out.has_intervals)
        return add_rows(x) && name_all(x) && order(x);
    x->out.begin = x->s->timed && x->s->time_lo > v->begin ? x->s->time_lo : v->begin;
    x->out.end = x->s->timed && x->s->time_hi < v->end ? x->s->time_hi : v->end;
    x->out.contradictions = v->contradictions;
    x->out.lost = v->losses > 0;
    x->out.has_wakes = v->has_wakes;
    add_cpus(x, v);
    if (!add_intervals(x, v, some_threads))
        return false;
    x->out.knows_threads = true;
    x->out.has_runnable |= !o->state;
    for (size_t i = 0; i < x->out.who.n && !v->has_wakes; i++) /* part of it is in waits */
        x->out.who.v[i].at_least[SP_WAIT_CPU] |= x->out.who.v[i].runnable > 0;
    x->out.all.at_least[SP_WAIT_CPU] |= !v->has_wakes;
    rank_waits(x);
    sum_running(x);
    return name_all(x) && order(x);
}

spaa_status sp_off_cpu_accounts_of(const struct sp_selection *s, const struct sp_selection *wide,
                                   const struct sp_select_opts *o, const struct sp_intervals *v,
                                   const struct sp_wait_reasons *why, struct sp_diags *d,
                                   struct sp_off_cpu_accounts *out)
{
    struct accounts x = {.p = s->profile, .s = s, .wide = wide, .why = why};
    sp_buf_init(&x.b, 0);
    x.pooled = o->pools;
    x.out.has_intervals = v->v.n > 0;
    x.out.only_stacks = o->dso || o->focus || o->ignore || o->root_at || o->state || o->nlabels ||
                        (o->view && strcmp(o->view, "all") != 0);
    x.out.all = (struct sp_off_cpu_who){.pid = SP_ABSENT, .tid = SP_ABSENT, .running = SP_ABSENT};
    x.asked = calloc(s->profile->stacks.n + 1, 1);
    x.in = calloc(s->profile->contexts.n + 1, 1);
    x.of_pool = calloc(wide->pools.pools.n + 1, sizeof *x.of_pool);
    bool ok = sp_strtab_init(&x.out.names) && x.asked && x.in && x.of_pool && fill(&x, o, v);
    sp_vec_free(&x.waits);
    sp_vec_free(&x.known);
    sp_map_free(&x.who_map);
    sp_map_free(&x.place_map);
    free(x.asked);
    free(x.in);
    sp_vec_free(&x.counted);
    free(x.of_pool);
    sp_buf_free(&x.b);
    *out = x.out;
    if (!ok)
        sp_off_cpu_accounts_free(out);
    return ok ? SPAA_OK : sp_nomem(d);
}
