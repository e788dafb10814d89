/* Which rows of memory a summary shows: who holds and asks for most, and what may be lost. */
#include "ask/summary.h"

#include "analysis/tally.h"

/* ---- own functions ---- */

static int64_t value(const struct sp_summary_memory *y, size_t row, enum sp_leak_metric m)
{
    int64_t v = y->m.rows.v[row].now.v[m];
    return v == SP_ABSENT ? 0 : v;
}

static bool is_among(const size_t *list, size_t n, size_t row)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == row)
            return true;
    return false;
}

/* The own function with most of a metric that is not shown yet; SIZE_MAX: none has any. */
static size_t heaviest_owner(const struct sp_summary_memory *y, enum sp_leak_metric m)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < y->m.rows.n; i++)
        if (y->m.rows.v[i].own && !is_among(y->owners, y->nowners, i) && value(y, i, m) > 0 &&
            (best == SIZE_MAX || value(y, i, m) > value(y, best, m)))
            best = i;
    return best;
}

/* The part of it that no own function which is shown has. */
static int64_t left_of(const struct sp_summary_memory *y, enum sp_leak_metric m)
{
    int64_t left = 0;
    for (size_t i = 0; i < y->m.rows.n; i++)
        if (y->m.rows.v[i].own && !is_among(y->owners, y->nowners, i))
            left += value(y, i, m);
    return left;
}

/* By what matters: until little is left; none but the first few of less than a hundredth. */
enum { FEW = 3, MOST = 6 };
static void take_heaviest(struct sp_summary_memory *y, size_t most)
{
    enum { HUNDREDTH = 100, LITTLE = 20 };
    enum sp_leak_metric m = y->m.rank;
    int64_t whole = y->m.leaks.now.v[m];
    for (size_t row; y->nowners < most && (row = heaviest_owner(y, m)) != SIZE_MAX;) {
        bool minor = left_of(y, m) <= whole / LITTLE || value(y, row, m) < whole / HUNDREDTH;
        if (y->nowners >= FEW && minor)
            return;
        y->owners[y->nowners++] = row;
    }
}

/* Who has so much of another metric, one part in `part`: what churns may hold nothing. */
static void take_others(struct sp_summary_memory *y, int64_t part)
{
    static const enum sp_leak_metric others[] = {SP_LEAK_LIVE_BYTES, SP_LEAK_PEAK_BYTES, SP_LEAK_ALLOC_BYTES,
                                                 SP_LEAK_ALLOC_COUNT};
    for (size_t i = 0; i < sizeof others / sizeof *others && y->nowners < SP_SUMMARY_OWNERS; i++) {
        size_t row = heaviest_owner(y, others[i]);
        if (row != SIZE_MAX &&
            (!y->nowners || value(y, row, others[i]) >= y->m.leaks.now.v[others[i]] / part))
            y->owners[y->nowners++] = row;
    }
}

/* In the order in which room is given: who has half of some metric goes before the fourth by what matters. */
static void choose_owners(struct sp_summary_memory *y)
{
    enum { HALF = 2, TENTH = 10 };
    take_heaviest(y, FEW);
    take_others(y, HALF);
    take_heaviest(y, MOST);
    take_others(y, TENTH);
}

static void sum_none(struct sp_summary_memory *y)
{
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        y->none.v[m] = SP_ABSENT;
    y->heaviest_none = y->most_live_none = SIZE_MAX;
    y->live_by_none = true;
    for (size_t i = 0; i < y->m.rows.n; i++) {
        if (y->m.rows.v[i].own) {
            y->live_by_none = y->live_by_none && value(y, i, SP_LEAK_LIVE_BYTES) == 0;
            continue;
        }
        if (y->most_live_none == SIZE_MAX ||
            value(y, i, SP_LEAK_LIVE_BYTES) > value(y, y->most_live_none, SP_LEAK_LIVE_BYTES))
            y->most_live_none = i;
        for (int m = 0; m < SP_LEAK_METRICS; m++)
            sp_tally_add(&y->none.v[m], y->m.rows.v[i].now.v[m]);
        if (y->heaviest_none == SIZE_MAX || value(y, i, y->m.rank) > value(y, y->heaviest_none, y->m.rank))
            y->heaviest_none = i;
    }
}

/* ---- what may be lost ---- */

static int64_t live_of(const struct sp_summary_memory *y, size_t leak)
{
    int64_t v = y->m.leaks.rows.v[leak].now.v[SP_LEAK_LIVE_BYTES];
    return v == SP_ABSENT ? 0 : v;
}

/*
 * The more, the earlier it is shown; 0: nothing says that it is lost. Where the file does not tell what can
 * still be reached, all that is held may be lost, by own functions or what holds most of it. That nothing is
 * known but that it is held is no reason, and the table of own functions by live bytes says it already.
 */
static int suspicion(const struct sp_summary_memory *y, size_t leak, bool own)
{
    const struct sp_leak_row *r = &y->m.leaks.rows.v[leak];
    if (y->m.leaks.told)
        return r->reach == SP_LEAK_DEFINITE   ? 3
               : r->reach == SP_LEAK_INDIRECT ? 2
                                              : r->reach == SP_LEAK_POSSIBLE;
    if (!own && live_of(y, leak) <= y->m.leaks.now.v[SP_LEAK_LIVE_BYTES] / 2)
        return 0;
    if (r->kind == SP_LEAK_GROWING)
        return 2;
    return r->kind == SP_LEAK_NEVER_FREED || r->kind == SP_LEAK_PARTLY ||
           (r->kind == SP_LEAK_HELD && own && y->m.rank != SP_LEAK_LIVE_BYTES);
}

typedef void suspect_fn(void *arg, size_t leak, int suspicion);

/* All with live bytes that may be lost. Rows are apart only by how reachable they are. */
static void each_suspect(const struct sp_summary_memory *y, suspect_fn *take, void *arg)
{
    bool told = y->m.leaks.told;
    size_t n = told ? y->m.leaks.rows.n : y->m.rows.n;
    for (size_t i = 0; i < n; i++) {
        size_t leak = told ? i : y->m.rows.v[i].leak;
        int is = suspicion(y, leak, told || y->m.rows.v[i].own);
        if (is && live_of(y, leak) > 0 && !is_among(y->leaks, y->nleaks, leak))
            take(arg, leak, is);
    }
}

struct most_suspect {
    const struct sp_summary_memory *y;
    size_t leak; /* SIZE_MAX: there is none */
    int suspicion;
};

/* Of what grows the faster one comes first, else what holds more. */
static bool more_suspect(const struct sp_summary_memory *y, size_t a, size_t b)
{
    const struct sp_leak_row *x = &y->m.leaks.rows.v[a], *z = &y->m.leaks.rows.v[b];
    if (x->kind == SP_LEAK_GROWING && z->kind == SP_LEAK_GROWING)
        return x->growth.per_second > z->growth.per_second;
    return live_of(y, a) > live_of(y, b);
}

/* Of a hundredth of what is live at least. */
static void most_suspect(void *arg, size_t leak, int is)
{
    enum { HUNDREDTH = 100 };
    struct most_suspect *best = arg;
    const struct sp_summary_memory *y = best->y;
    if (live_of(y, leak) < y->m.leaks.now.v[SP_LEAK_LIVE_BYTES] / HUNDREDTH)
        return;
    if (best->leak != SIZE_MAX &&
        (is < best->suspicion || (is == best->suspicion && !more_suspect(y, leak, best->leak))))
        return;
    best->leak = leak;
    best->suspicion = is;
}

static void count_more(void *arg, size_t leak, int is)
{
    struct sp_summary_memory *y = arg;
    (void)is;
    y->more_leaks++;
    y->more_live += live_of(y, leak);
}

static void choose_leaks(struct sp_summary_memory *y)
{
    while (y->nleaks < SP_SUMMARY_LEAKS) {
        struct most_suspect best = {y, SIZE_MAX, 0};
        each_suspect(y, most_suspect, &best);
        if (best.leak == SIZE_MAX)
            break;
        y->leaks[y->nleaks++] = best.leak;
    }
    each_suspect(y, count_more, y);
}

void sp_summary_memory_choose_rows(struct sp_summary_memory *y)
{
    choose_owners(y);
    choose_leaks(y);
    sum_none(y);
}

/* ---- what rows are of ---- */

uint32_t sp_memory_function(const struct sp_summary *x, size_t row)
{
    const struct sp_own_memory *m = &x->memory.m;
    return m->leaks.rows.v[m->rows.v[row].leak].function;
}

uint32_t sp_memory_line(const struct sp_summary *x, size_t leak)
{
    const struct sp_leaks *l = &x->memory.m.leaks;
    const struct sp_leak_row *r = &l->rows.v[leak];
    return r->nparts[SP_LEAK_LINES] ? l->parts[SP_LEAK_LINES].v[r->part[SP_LEAK_LINES]].key : SP_STR_NONE;
}

/* ---- wrappers ---- */

struct sp_str sp_memory_plain_name(struct sp_str name)
{
    uint32_t n = 0;
    while (n < name.n && ((name.p[n] >= 'a' && name.p[n] <= 'z') || (name.p[n] >= 'A' && name.p[n] <= 'Z') ||
                          (name.p[n] >= '0' && name.p[n] <= '9') || name.p[n] == '_' || name.p[n] == ':'))
        n++;
    bool whole = n == name.n || name.p[n] == '(';
    return (struct sp_str){name.p, whole ? n : 0};
}

/* As allocating functions are called: "my_xmalloc", "Pool::alloc", "xstrdup", "node_new", "dup_name". */
static bool allocates_by_name(struct sp_str name)
{
    static const char *const ends[] = {"alloc", "allocate", "_new", "strdup", "_dup", "memdup"};
    static const char *const starts[] = {"alloc_", "new_", "dup_"};
    struct sp_str last = name;
    for (const char *at; last.n && (at = memchr(last.p, ':', last.n));)
        last = (struct sp_str){at + 1, (uint32_t)(last.p + last.n - at) - 1};
    bool is = false;
    for (size_t i = 0; !is && i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        is = last.n >= n && memcmp(last.p + last.n - n, ends[i], n) == 0;
    }
    for (size_t i = 0; !is && i < sizeof starts / sizeof *starts; i++) {
        size_t n = strlen(starts[i]);
        is = last.n >= n && memcmp(last.p, starts[i], n) == 0;
    }
    return is;
}

/* Several of the program's functions ask through it: its name, or how many they are, says so. */
static bool is_wrapper(const struct sp_summary *x, size_t row, const struct sp_leak_callers *c)
{
    enum { MANY = 2, TENTH = 10 };
    const struct sp_summary_memory *y = &x->memory;
    const struct sp_profile *p = x->x.s.profile;
    uint32_t function = sp_memory_function(x, row);
    if (function == SP_NONE || !c->n || !c->others ||
        value(y, row, y->m.rank) < y->m.leaks.now.v[y->m.rank] / TENTH)
        return false;
    struct sp_str name = sp_memory_plain_name(sp_pstr(p, p->functions.v[function].name));
    if (sp_str_is(name, "UnknownInlinedFun")) /* massif has no names of these: it is many functions */
        return false;
    return name.n && (allocates_by_name(name) || c->others >= MANY);
}

void sp_summary_memory_choose_wrapper(struct sp_summary *x)
{
    struct sp_summary_memory *y = &x->memory;
    y->wrapper = SP_NONE;
    for (size_t i = 0; i < y->nowners && y->wrapper == SP_NONE && !x->x.q->options->allocators; i++)
        if (!x->x.own.all && is_wrapper(x, y->owners[i], &y->callers[i]))
            y->wrapper = sp_memory_function(x, y->owners[i]);
}
