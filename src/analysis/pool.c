/*
 * The names of all threads are sorted by process and shape, which is the name with each run of digits as one
 * `0`: a pool is a run of equal shapes. A name that was cut may have lost the end of its shape; shapes that
 * begin with it follow it at once.
 */
#include "analysis/pool.h"

#include "analysis/process.h"
#include "analysis/thread_info.h"
#include "model/thread_names.h"

#include <stdlib.h>

enum { POOL_MIN = 3, COMM_CUT = 15 /* Linux: TASK_COMM_LEN without the NUL */ };

/* A name that a thread has, or had. */
struct member {
    uint32_t source;
    int64_t pid, tid;     /* SP_ABSENT: not known */
    uint32_t name, shape; /* in names */
    uint32_t group;
    bool is_comm; /* not a name that only the profiler knows */
};

/* Members of one process and shape: a run of them. */
struct group {
    size_t first, n;
    uint32_t root; /* the group that these cut names belong to, or itself */
    uint32_t pool; /* SP_NONE: none */
    bool main;     /* the process's first thread has this name, or had it */
};

/* A thread that is in a pool. */
struct placed {
    int64_t tid;
    uint32_t source, pool;
};

struct builder {
    const struct sp_profile *p;
    const unsigned char *among;
    unsigned char *wanted; /* with among, per record */
    struct sp_thread_info info;
    struct sp_processes processes;
    struct sp_pools out;
    SP_VEC(struct member) members;
    SP_VEC(struct group) groups;
    SP_VEC(struct member) named; /* thread records by name, for contexts without a tid */
    uint32_t *member_of;         /* per context, then per record: its place before sorting; SP_NONE */
    SP_VEC(struct placed) placed;
    uint32_t *of_name; /* per name: 1 + number in comms */
    size_t nof_name;
    struct sp_buf text;
    bool made_up;   /* the pids of the records are their tids, for want of better ones */
    bool functions; /* what threads are called is the function they began with: digits number functions */
    bool sources;   /* several inputs are one profile: records are of any of them */
};

static bool pool_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- the names ---- */

static uint32_t shape_of(struct builder *b, struct sp_str name)
{
    if (b->functions)
        return sp_intern(&b->out.names, name.p, name.n);
    sp_buf_clear(&b->text);
    for (uint32_t i = 0; i < name.n; i++)
        if (!pool_is_digit(name.p[i]))
            sp_buf_ch(&b->text, name.p[i]);
        else if (!i || !pool_is_digit(name.p[i - 1]))
            sp_buf_ch(&b->text, '0');
    return b->text.failed ? SP_STR_FAIL : sp_intern(&b->out.names, sp_buf_text(&b->text), b->text.len);
}

/* Facts are one for each thread record, in their order. NULL: there is none, or one of any input. */
static const struct sp_reported_thread *record_of(const struct builder *b, int64_t tid)
{
    return tid == SP_ABSENT || b->sources ? NULL : sp_thread_info_thread(&b->info, tid);
}

/* What the profiler calls the thread, else its comm. */
static struct sp_str pool_thread_name(const struct builder *b, int64_t tid, uint32_t comm)
{
    const struct sp_reported_thread *f = record_of(b, tid);
    return f && f->name ? sp_pstr(b->p, f->name) : sp_pstr(b->p, comm);
}

/* *place: the member, SP_NONE where there is no name. */
static bool add_member(struct builder *b, uint32_t source, int64_t pid, int64_t tid, struct sp_str name,
                       bool is_comm, uint32_t *place)
{
    struct member m = {.source = source, .pid = pid, .tid = tid, .is_comm = is_comm};
    *place = SP_NONE;
    if (!name.n)
        return true;
    m.name = sp_intern(&b->out.names, name.p, name.n);
    m.shape = shape_of(b, name);
    *place = m.group = (uint32_t)b->members.n; /* until it is sorted */
    return m.name != SP_STR_FAIL && m.shape != SP_STR_FAIL && b->members.n < SP_NONE - 1 &&
           sp_vec_push(&b->members, m);
}

static void look_around(struct builder *b)
{
    const struct sp_profile *p = b->p;
    b->made_up = true;
    b->functions = p->events.n == 1 && sp_str_is(sp_pstr(p, p->events.v[0].name), "goroutine");
    for (size_t i = 0; i < p->contexts.n; i++) {
        b->made_up = b->made_up && p->contexts.v[i].pid == SP_ABSENT;
        b->sources = b->sources || p->contexts.v[i].source;
    }
    for (size_t i = 0; i < p->threads.n; i++)
        b->made_up = b->made_up && p->threads.v[i].pid == p->threads.v[i].tid;
}

static int cmp_named(const void *va, const void *vb)
{
    const struct member *a = va, *b = vb;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : (a->group > b->group) - (a->group < b->group);
}

/* The records of the threads that are asked about: by tid, and by name where contexts have none. */
static bool find_wanted(struct builder *b)
{
    const struct sp_profile *p = b->p;
    unsigned char *comms = calloc(p->strs.strs.n + 1, 1);
    b->wanted = calloc(p->threads.n + 1, 1);
    bool ok = comms && b->wanted;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        const struct sp_reported_thread *f = record_of(b, c->tid);
        if (b->among[i] && c->tid == SP_ABSENT)
            comms[sp_context_name(p, c)] = 1;
        if (b->among[i] && f)
            b->wanted[f - b->info.threads.v] = 1;
    }
    for (size_t i = 0; ok && i < p->threads.n; i++)
        b->wanted[i] = b->wanted[i] || comms[p->threads.v[i].comm];
    free(comms);
    return ok;
}

static bool add_records(struct builder *b)
{
    const struct sp_profile *p = b->p;
    bool ok = true;
    for (size_t i = 0; ok && i < p->threads.n; i++) {
        const struct sp_thread *t = &p->threads.v[i];
        struct sp_str name = pool_thread_name(b, t->tid, t->comm);
        uint32_t *place = &b->member_of[p->contexts.n + i];
        *place = SP_NONE;
        if (b->sources || (b->among && !b->wanted[i]))
            continue;
        ok = add_member(b, SP_STR_NONE, b->made_up ? SP_ABSENT : t->pid, t->tid, name,
                        sp_str_cmp(name, sp_pstr(p, t->comm)) == 0, place) &&
             (*place == SP_NONE || sp_vec_push(&b->named, b->members.v[*place]));
    }
    if (b->named.n)
        qsort(b->named.v, b->named.n, sizeof *b->named.v, cmp_named);
    return ok;
}

/* A record of this name, of this process where one is given. */
static const struct member *record_named(const struct builder *b, uint32_t name, int64_t pid)
{
    size_t lo = 0, hi = b->named.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct member *m = &b->named.v[mid];
        if (m->name < name || (m->name == name && pid != SP_ABSENT && m->pid < pid))
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct member *m = lo < b->named.n ? &b->named.v[lo] : NULL;
    return m && m->name == name && (pid == SP_ABSENT || m->pid == pid) ? m : NULL;
}

static int64_t pid_of(const struct builder *b, const struct sp_context *c)
{
    const struct sp_reported_thread *f = b->made_up ? NULL : record_of(b, c->tid);
    return c->pid != SP_ABSENT ? c->pid : f ? f->pid : SP_ABSENT;
}

static bool add_contexts(struct builder *b)
{
    const struct sp_profile *p = b->p;
    bool ok = true;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        if (b->among && !b->among[i]) {
            b->member_of[i] = SP_NONE;
            continue;
        }
        uint32_t comm = sp_context_name(p, c);
        struct sp_str name = pool_thread_name(b, c->tid, comm);
        uint32_t known =
            c->tid == SP_ABSENT && !b->sources ? sp_strtab_find(&b->out.names, name.p, name.n) : SP_STR_NONE;
        const struct member *m = known ? record_named(b, known, c->pid) : NULL;
        if (m)
            b->member_of[i] = m->group;
        else
            ok = add_member(b, c->source, pid_of(b, c), c->tid, name, sp_str_cmp(name, sp_pstr(p, comm)) == 0,
                            &b->member_of[i]);
    }
    return ok;
}

/* ---- groups ---- */

static int pool_cmp_process(const struct member *a, const struct member *b)
{
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : 0;
}

static int cmp_member(const void *va, const void *vb, void *arg)
{
    const struct sp_strtab *names = arg;
    const struct member *a = va, *b = vb;
    int c = pool_cmp_process(a, b);
    c = c ? c : a->shape == b->shape ? 0 : sp_str_cmp(sp_str_at(names, a->shape), sp_str_at(names, b->shape));
    if (c)
        return c;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    c = a->name == b->name ? 0 : sp_str_cmp(sp_str_at(names, a->name), sp_str_at(names, b->name));
    return c ? c : (a->group > b->group) - (a->group < b->group);
}

static bool make_groups(struct builder *b)
{
    size_t n = b->members.n;
    uint32_t *group_of = malloc((n + 1) * sizeof *group_of);
    bool ok = group_of != NULL;
    if (ok && n)
        qsort_r(b->members.v, n, sizeof *b->members.v, cmp_member, &b->out.names);
    for (size_t i = 0; ok && i < n; i++) {
        struct member *m = &b->members.v[i];
        uint32_t g = (uint32_t)b->groups.n;
        if (!i || pool_cmp_process(m, m - 1) || m->shape != m[-1].shape)
            ok = sp_vec_push(&b->groups, ((struct group){.first = i, .root = g, .pool = SP_NONE}));
        if (ok) {
            b->groups.v[b->groups.n - 1].n++;
            b->groups.v[b->groups.n - 1].main |= m->pid != SP_ABSENT && m->tid == m->pid;
            group_of[m->group] = (uint32_t)b->groups.n - 1;
            m->group = (uint32_t)b->groups.n - 1;
        }
    }
    for (size_t i = 0; ok && i < b->p->contexts.n + b->p->threads.n; i++)
        if (b->member_of[i] != SP_NONE)
            b->member_of[i] = group_of[b->member_of[i]];
    free(group_of);
    return ok;
}

static bool all_cut(const struct builder *b, const struct group *g)
{
    for (size_t i = g->first; i < g->first + g->n; i++)
        if (sp_str_at(&b->out.names, b->members.v[i].name).n != COMM_CUT || b->functions)
            return false;
    return true;
}

static bool pool_begins(const struct builder *b, const struct group *g, const struct group *longer)
{
    const struct member *x = &b->members.v[g->first], *y = &b->members.v[longer->first];
    struct sp_str s = sp_str_at(&b->out.names, x->shape), t = sp_str_at(&b->out.names, y->shape);
    return !pool_cmp_process(x, y) && s.n < t.n && memcmp(s.p, t.p, s.n) == 0;
}

/* Names that were cut go to those that they begin, where these are of one pool. */
static void join_cut(struct builder *b)
{
    for (size_t i = b->groups.n; i-- > 0;) {
        struct group *g = &b->groups.v[i];
        size_t end = i + 1;
        bool one = true;
        while (end < b->groups.n && pool_begins(b, g, &b->groups.v[end]))
            one = b->groups.v[end++].root == b->groups.v[i + 1].root && one;
        if (end > i + 1 && one && all_cut(b, g))
            g->root = b->groups.v[i + 1].root;
    }
}

/* ---- pools ---- */

struct run {
    const struct member *v;
    size_t n;
};

/* The digits that stand together, by their number in a name; empty: it has not so many. */
static struct sp_str pool_digits(struct sp_str name, uint32_t number)
{
    for (uint32_t i = 0; i < name.n;) {
        uint32_t from = i;
        while (i < name.n && pool_is_digit(name.p[i]))
            i++;
        if (i > from && !number--)
            return (struct sp_str){name.p + from, i - from};
        i += i == from;
    }
    return (struct sp_str){"", 0};
}

/* The members of a pool: those of the groups up to the root are one run, as all begin it. */
static struct run pool_run_of(const struct builder *b, uint32_t root)
{
    uint32_t g = root;
    while (g && b->groups.v[g - 1].root == root)
        g--;
    return (struct run){b->members.v + b->groups.v[g].first,
                        b->groups.v[root].first + b->groups.v[root].n - b->groups.v[g].first};
}

static bool pool_differs(const struct builder *b, struct run all, uint32_t number, struct sp_str of)
{
    for (size_t i = 0; i < all.n; i++) {
        struct sp_str other = pool_digits(sp_str_at(&b->out.names, all.v[i].name), number);
        if (other.n && sp_str_cmp(other, of) != 0)
            return true;
    }
    return false;
}

/* The pattern of a pool into b->text: its longest shape with what does not vary as it is. */
static bool pattern(struct builder *b, struct run all)
{
    struct sp_str name = sp_str_at(&b->out.names, all.v[all.n - 1].name);
    bool varies = false;
    uint32_t number = 0;
    sp_buf_clear(&b->text);
    for (uint32_t i = 0; i < name.n;) {
        if (!pool_is_digit(name.p[i])) {
            sp_buf_ch(&b->text, name.p[i++]);
            continue;
        }
        struct sp_str of = pool_digits(name, number);
        if (pool_differs(b, all, number++, of)) {
            varies = true;
            sp_buf_ch(&b->text, '*');
        } else {
            sp_buf_add(&b->text, of.p, of.n);
        }
        i += of.n;
    }
    return varies;
}

static int pool_cmp_tid(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a > b) - (a < b);
}

/* How many threads: tids, and names whose tid is not known. */
static bool pool_count(struct run all, struct sp_pool *x)
{
    SP_VEC(int64_t) tids = {0};
    SP_VEC(int64_t) names = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < all.n; i++)
        ok = all.v[i].tid == SP_ABSENT ? sp_vec_push(&names, (int64_t)all.v[i].name)
                                       : sp_vec_push(&tids, all.v[i].tid);
    if (tids.n)
        qsort(tids.v, tids.n, sizeof *tids.v, pool_cmp_tid);
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, pool_cmp_tid);
    for (size_t i = 0; i < tids.n; i++)
        x->threads += !i || tids.v[i] != tids.v[i - 1];
    for (size_t i = 0; i < names.n; i++)
        x->threads += !i || names.v[i] != names.v[i - 1];
    x->named = names.n != 0;
    sp_vec_free(&tids);
    sp_vec_free(&names);
    return ok;
}

/*
 * Threads that nobody named have the name of their process, which may be any where it is not known; the first
 * thread may have taken another one since.
 */
static bool pool_is_unnamed(const struct builder *b, int64_t pid, uint32_t group, struct sp_str name)
{
    return pid == SP_ABSENT || (group != SP_NONE && b->groups.v[group].main) ||
           sp_str_cmp(sp_process_name(b->p, &b->processes, pid), name) == 0;
}

static bool make_pool(struct builder *b, uint32_t root)
{
    struct run all = pool_run_of(b, root);
    struct sp_pool x = {.pid = all.v->pid, .source = all.v->source};
    if (!pool_count(all, &x))
        return false;
    if (x.threads < POOL_MIN)
        return true;
    x.varies = pattern(b, all);
    struct sp_str text = {sp_buf_text(&b->text), (uint32_t)b->text.len};
    if (!x.varies && pool_is_unnamed(b, x.pid, root, text))
        return true;
    x.pattern = b->text.failed ? SP_STR_FAIL : sp_intern(&b->out.names, text.p, text.n);
    for (uint32_t g = root + 1; g-- > 0 && b->groups.v[g].root == root;)
        b->groups.v[g].pool = (uint32_t)b->out.pools.n;
    return x.pattern != SP_STR_FAIL && sp_vec_push(&b->out.pools, x);
}

static bool make_pools(struct builder *b)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->groups.n; i++)
        if (b->groups.v[i].root == i)
            ok = make_pool(b, i);
    return ok;
}

/* ---- how they are shown ---- */

static bool pool_show(struct builder *b, struct sp_pool *x, bool pid, bool source)
{
    struct sp_str s = sp_str_at(&b->out.names, x->pattern), from = sp_pstr(b->p, x->source);
    sp_buf_clear(&b->text);
    sp_buf_add(&b->text, s.p, s.n);
    sp_buf_printf(&b->text, " (%u%s", x->threads, x->named ? " names" : "");
    if (pid && x->pid != SP_ABSENT)
        sp_buf_printf(&b->text, ", pid %lld", (long long)x->pid);
    if (source && from.n) {
        sp_buf_puts(&b->text, ", from ");
        sp_buf_add(&b->text, from.p, from.n);
    }
    sp_buf_ch(&b->text, ')');
    x->name = b->text.failed ? SP_STR_FAIL : sp_intern(&b->out.names, sp_buf_text(&b->text), b->text.len);
    return x->name != SP_STR_FAIL;
}

/* Pools of one pattern have one row by comm. */
static bool join_by_comm(struct builder *b)
{
    struct sp_pools *o = &b->out;
    uint32_t *of_pattern = calloc(o->names.strs.n + 1, sizeof *of_pattern); /* 1 + number in comms */
    bool ok = of_pattern != NULL;
    for (size_t i = 0; ok && i < o->pools.n; i++) {
        struct sp_pool *x = &o->pools.v[i];
        uint32_t *at = &of_pattern[x->pattern];
        if (*at) {
            struct sp_pool *all = &o->comms.v[*at - 1];
            all->varies = all->varies || x->varies;
            all->pid = all->pid == x->pid ? x->pid : SP_ABSENT;
            all->source = all->source == x->source ? x->source : SP_STR_NONE;
        } else {
            ok = sp_vec_push(&o->comms, *x);
            *at = (uint32_t)o->comms.n;
        }
        x->over = *at - 1;
    }
    free(of_pattern);
    return ok;
}

/* A thread with a comm, for counting. */
struct holder {
    uint32_t comm; /* number in comms */
    uint32_t source, name;
    int64_t tid; /* SP_ABSENT: the name counts */
};

static int cmp_holder(const void *va, const void *vb)
{
    const struct holder *a = va, *b = vb;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->tid == SP_ABSENT ? (a->name > b->name) - (a->name < b->name) : 0;
}

/* A comm that is in a pool of some process is in its row whatever the process: all threads with it count. */
static bool count_by_comm(struct builder *b)
{
    struct sp_pools *o = &b->out;
    SP_VEC(struct holder) all = {0};
    b->nof_name = o->names.strs.n;
    b->of_name = calloc(b->nof_name + 1, sizeof *b->of_name);
    bool ok = b->of_name != NULL;
    for (size_t i = 0; ok && i < b->members.n; i++) {
        const struct member *m = &b->members.v[i];
        uint32_t pool = b->groups.v[m->group].pool;
        if (pool != SP_NONE && o->pools.v[pool].varies && m->is_comm && !b->of_name[m->name])
            b->of_name[m->name] = o->pools.v[pool].over + 1;
    }
    for (size_t i = 0; ok && i < b->members.n; i++) {
        const struct member *m = &b->members.v[i];
        if (m->is_comm && b->of_name[m->name])
            ok = sp_vec_push(&all, ((struct holder){b->of_name[m->name] - 1, m->source, m->name, m->tid}));
    }
    for (size_t i = 0; ok && i < o->comms.n; i++)
        o->comms.v[i].threads = 0;
    if (all.n)
        qsort(all.v, all.n, sizeof *all.v, cmp_holder);
    for (size_t i = 0; ok && i < all.n; i++) {
        struct sp_pool *x = &o->comms.v[all.v[i].comm];
        x->threads += !i || cmp_holder(&all.v[i - 1], &all.v[i]) != 0;
        x->named = x->named || all.v[i].tid == SP_ABSENT;
    }
    sp_vec_free(&all);
    return ok;
}

/* Pools of several processes with one pattern are told apart. */
static bool name_pools(struct builder *b)
{
    struct sp_pools *o = &b->out;
    bool ok = join_by_comm(b) && count_by_comm(b);
    for (size_t i = 0; ok && i < o->pools.n; i++) {
        const struct sp_pool *all = &o->comms.v[o->pools.v[i].over];
        ok = pool_show(b, &o->pools.v[i], all->pid != o->pools.v[i].pid, all->source != o->pools.v[i].source);
    }
    for (size_t i = 0; ok && i < o->comms.n; i++)
        ok = pool_show(b, &o->comms.v[i], false, false);
    return ok;
}

static int cmp_placed(const void *va, const void *vb)
{
    const struct placed *a = va, *b = vb;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->pool > b->pool) - (a->pool < b->pool);
}

/* The pools of each tid, sorted, each once. */
static bool place_tids(struct builder *b)
{
    bool ok = true;
    size_t n = 0;
    for (size_t i = 0; ok && i < b->members.n; i++) {
        const struct member *m = &b->members.v[i];
        uint32_t pool = b->groups.v[m->group].pool;
        if (pool != SP_NONE && m->tid != SP_ABSENT)
            ok = sp_vec_push(&b->placed, ((struct placed){m->tid, m->source, pool}));
    }
    if (b->placed.n)
        qsort(b->placed.v, b->placed.n, sizeof *b->placed.v, cmp_placed);
    for (size_t i = 0; i < b->placed.n; i++)
        if (!i || cmp_placed(&b->placed.v[i], &b->placed.v[n - 1]))
            b->placed.v[n++] = b->placed.v[i];
    b->placed.n = n;
    return ok;
}

/* The one pool that a tid is in; SP_NONE: none, or several in turn. */
static uint32_t pool_of_tid(const struct builder *b, uint32_t source, int64_t tid)
{
    struct placed wanted = {tid, source, 0};
    size_t lo = 0, hi = tid == SP_ABSENT ? 0 : b->placed.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cmp_placed(&b->placed.v[mid], &wanted) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    bool found = lo < b->placed.n && tid != SP_ABSENT && b->placed.v[lo].tid == tid &&
                 b->placed.v[lo].source == source;
    bool several = found && lo + 1 < b->placed.n && b->placed.v[lo + 1].tid == tid &&
                   b->placed.v[lo + 1].source == source;
    return found && !several ? b->placed.v[lo].pool : SP_NONE;
}

static uint32_t pool_of_group(const struct builder *b, size_t place)
{
    uint32_t group = b->member_of[place];
    return group == SP_NONE ? SP_NONE : b->groups.v[group].pool;
}

/* A thread's time before it was named, and what does not say its name, are of the pool of its tid. */
static uint32_t pool_of_context(const struct builder *b, size_t i)
{
    const struct sp_context *c = &b->p->contexts.v[i];
    uint32_t pool = pool_of_group(b, i);
    struct sp_str name = sp_pstr(b->p, sp_context_name(b->p, c));
    if (pool == SP_NONE && (!b->among || b->among[i]) &&
        (!name.n || pool_is_unnamed(b, pid_of(b, c), b->member_of[i], name)))
        pool = pool_of_tid(b, c->source, c->tid);
    return pool;
}

static void settle_pools(struct builder *b)
{
    const struct sp_profile *p = b->p;
    for (size_t i = 0; i < p->contexts.n; i++)
        b->out.by_thread[i] = pool_of_context(b, i);
    for (size_t i = 0; i < p->threads.n; i++) {
        uint32_t pool = pool_of_group(b, p->contexts.n + i);
        b->out.of_record[i] = pool != SP_NONE ? pool : pool_of_tid(b, SP_STR_NONE, p->threads.v[i].tid);
    }
}

static bool settle_names(struct builder *b)
{
    const struct sp_profile *p = b->p;
    struct sp_pools *o = &b->out;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        uint32_t called = sp_context_name(p, c);
        struct sp_str comm = sp_pstr(p, called), name = pool_thread_name(b, c->tid, called);
        o->thread[i] = name.n ? sp_intern(&o->names, name.p, name.n) : SP_STR_NONE;
        o->comm[i] = comm.n ? sp_intern(&o->names, comm.p, comm.n) : SP_STR_NONE;
        if (o->comm[i] == SP_STR_FAIL || o->thread[i] == SP_STR_FAIL)
            return false;
        uint32_t row = b->of_name && o->comm[i] < b->nof_name ? b->of_name[o->comm[i]] : 0;
        o->by_comm[i] = row ? row - 1 : SP_NONE;
        o->comm[i] = row ? o->comms.v[row - 1].name : o->comm[i];
    }
    return true;
}

static bool find_pools(struct builder *b)
{
    b->member_of = malloc((b->p->contexts.n + b->p->threads.n + 1) * sizeof *b->member_of);
    look_around(b);
    if (!b->member_of || (b->among && !find_wanted(b)) || !add_records(b) || !add_contexts(b) ||
        !make_groups(b))
        return false;
    join_cut(b);
    if (!make_pools(b) || !name_pools(b) || !place_tids(b))
        return false;
    settle_pools(b);
    return true;
}

static bool pool_make(struct builder *b, bool apart)
{
    size_t contexts = b->p->contexts.n + 1;
    struct sp_pools *o = &b->out;
    o->by_thread = malloc(contexts * sizeof *o->by_thread);
    o->by_comm = malloc(contexts * sizeof *o->by_comm);
    o->thread = malloc(contexts * sizeof *o->thread);
    o->comm = malloc(contexts * sizeof *o->comm);
    o->of_record = malloc((b->p->threads.n + 1) * sizeof *o->of_record);
    for (size_t i = 0; apart && o->by_thread && i < b->p->contexts.n; i++)
        o->by_thread[i] = SP_NONE;
    for (size_t i = 0; apart && o->of_record && i < b->p->threads.n; i++)
        o->of_record[i] = SP_NONE;
    return o->by_thread && o->by_comm && o->thread && o->comm && o->of_record && sp_strtab_init(&o->names) &&
           (apart || find_pools(b)) && settle_names(b);
}

static spaa_status pools_of(const struct sp_profile *p, bool apart, const unsigned char *among,
                            struct sp_diags *d, struct sp_pools *out)
{
    struct builder b = {.p = p, .among = among};
    spaa_status st = apart ? SPAA_OK : sp_thread_info_of(p, d, &b.info);
    if (st)
        return st;
    st = apart ? SPAA_OK : sp_processes_of(p, d, &b.processes);
    sp_buf_init(&b.text, 0);
    if (!st && !pool_make(&b, apart)) {
        sp_pools_free(&b.out);
        st = sp_nomem(d);
    }
    sp_buf_free(&b.text);
    sp_processes_free(&b.processes);
    sp_thread_info_free(&b.info);
    sp_vec_free(&b.members);
    sp_vec_free(&b.groups);
    sp_vec_free(&b.named);
    free(b.member_of);
    sp_vec_free(&b.placed);
    free(b.of_name);
    free(b.wanted);
    if (!st)
        *out = b.out;
    return st;
}

spaa_status sp_pools_of(const struct sp_profile *p, const unsigned char *among, struct sp_diags *d,
                        struct sp_pools *out)
{
    return pools_of(p, false, among, d, out);
}

spaa_status sp_pools_none(const struct sp_profile *p, struct sp_diags *d, struct sp_pools *out)
{
    return pools_of(p, true, NULL, d, out);
}

void sp_pools_free(struct sp_pools *x)
{
    sp_strtab_free(&x->names);
    sp_vec_free(&x->pools);
    sp_vec_free(&x->comms);
    free(x->by_thread);
    free(x->by_comm);
    free(x->thread);
    free(x->comm);
    free(x->of_record);
    *x = (struct sp_pools){0};
}
