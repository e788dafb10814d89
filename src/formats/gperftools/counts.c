/* Stacks of goroutines and threads: `N @ addresses`, and threadz, which has a block of lines for each thread.
 */
#include "base/num.h"
#include "formats/gperftools/gperftools.h"

static spaa_status gperftools_count_row(struct sp_gp *gp, struct sp_mapped_totals *t, struct sp_str s)
{
    const char *p = s.p, *end = s.p + s.n;
    int64_t n;
    bool ok = sp_mapped_int(&p, end, &n);
    spaa_status st = sp_gp_stack_or_say(gp, &p, end, &ok);
    if (st || !ok)
        return st;
    sp_mapped_close_name(&gp->m);
    sp_mapped_sum(t, (int64_t[SP_MAPPED_TOTALS]){n});
    return sp_mapped_row(&gp->m, gp->context, &n) ? SPAA_OK : sp_nomem(gp->d);
}

/* "goroutine profile: total 5": the first word is what is counted. */
spaa_status sp_gp_counts(struct sp_gp *gp, struct sp_str title)
{
    const char *blank = memchr(title.p, ' ', title.n);
    size_t n = blank ? (size_t)(blank - title.p) : title.n;
    uint32_t name = sp_profile_text(gp->p, title.p, n);
    if (name == SP_STR_FAIL)
        return sp_nomem(gp->d);
    const char *what = sp_pstr(gp->p, name).p;
    struct sp_gp_event e = {
        .name = what, .kind = SP_SOFTWARE, .period = 1, .period_unit = "count", .ntypes = 1};
    e.types[0] = (struct sp_gp_type){what, "count", what, "count"};
    gp->kind = what;
    gp->tool = "pprof";
    const char *total = memmem(title.p, title.n, "total ", 6), *end = title.p + title.n;
    struct sp_mapped_totals t = {0};
    total = total ? total + 6 : end;
    t.said = sp_mapped_int(&total, end, &t.all[0]);
    spaa_status st = sp_gp_declare(gp, &e);
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        if (!s.n)
            continue;
        if (*s.p == '#') {
            st = sp_gp_comment(gp, s);
        } else if (sp_gp_starts(s, "---") || sp_mapped_sentinel(s.p, s.n)) {
            st = sp_gp_rest(gp);
            break;
        } else {
            st = gperftools_count_row(gp, &t, s);
        }
    }
    if (!st)
        sp_mapped_check(&t, (const char *const[SP_MAPPED_TOTALS]){what}, gp->d);
    return st;
}

/* "--- Thread 7ff794ab90 (name: main/14748) stack: ---" */
static bool gperftools_thread_title(struct sp_str s, struct sp_str *name, int64_t *tid)
{
    const char *open = memmem(s.p, s.n, "(name: ", 7), *end = s.p + s.n;
    const char *close = open ? memmem(open, (size_t)(end - open), ") stack:", 8) : NULL;
    if (!sp_gp_starts(s, "--- Thread ") || !close)
        return false;
    open += 7;
    const char *slash = memrchr(open, '/', (size_t)(close - open));
    if (!slash || sp_parse_i64(slash + 1, close, tid) != (size_t)(close - slash - 1) || *tid < 0) {
        *tid = SP_ABSENT; /* the name is all of it */
        slash = close;
    }
    *name = (struct sp_str){open, (uint32_t)(slash - open)};
    return true;
}

static uint32_t gperftools_thread_context(struct sp_gp *gp, struct sp_str name, int64_t tid)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = gp->event};
    if (gp->opts->group_by & SP_BY_TID)
        c.tid = tid;
    if (gp->opts->group_by & SP_BY_COMM && name.n)
        c.comm = sp_profile_str(gp->p, name.p, name.n);
    if (c.comm == SP_STR_FAIL ||
        (c.tid != SP_ABSENT && sp_thread_intern_tid(gp->p, c.tid, c.comm) == SP_NONE))
        return SP_NONE;
    return sp_context_intern(gp->p, &c);
}

/* What follows an address: ": name", or "] name" behind one in brackets; n 0: another address, or nothing. */
static struct sp_str gperftools_name_behind(const char *p, const char *end)
{
    static const struct sp_str none = {"", 0};
    const char *q = p;
    q += q < end && *q == ']';
    q += q < end && *q == ':';
    if (q == p || q == end)
        return none;
    struct sp_str name = sp_mapped_trim(q, (size_t)(end - q));
    bool unknown = sp_str_is(name, "??") || sp_str_is(name, "(unknown)") || sp_str_is(name, "[unknown]");
    return unknown || sp_gp_starts(name, "0x") || sp_gp_starts(name, "[0x") ? none : name;
}

/* The addresses of a line, each perhaps with its name; how many there are. */
static spaa_status gperftools_address_line(struct sp_gp *gp, struct sp_str s, bool *any)
{
    spaa_status st = SPAA_OK;
    for (const char *p = s.p, *end = s.p + s.n; !st && p < end;) {
        const char *x = memmem(p, (size_t)(end - p), "0x", 2);
        uint64_t addr;
        if (!x)
            break;
        bool leaf = gp->m.chain.n == gp->m.begin;
        size_t n = sp_parse_hex(x + 2, end, &addr);
        struct sp_str none = {"", 0}, name = n ? gperftools_name_behind(x + 2 + n, end) : none;
        *any |= n > 0;
        p = x + 2 + n;
        if (name.n) {
            p = end;
            st = sp_mapped_add_named(&gp->m, addr, !leaf, name) ? SPAA_OK : sp_nomem(gp->d);
            if (!st) /* and where the address stands alone, as those of creators do */
                st = sp_mapped_name(&gp->m, addr, name, none, none);
            sp_mapped_close_name(&gp->m);
        } else if (n) {
            st = sp_mapped_add(&gp->m, addr, !leaf) ? SPAA_OK : sp_nomem(gp->d);
        }
    }
    return st;
}

/* The address lines of a thread, into the row in work; those of its creator are its callers, as in pprof. */
static spaa_status gperftools_thread_lines(struct sp_gp *gp, bool *same)
{
    spaa_status st = SPAA_OK;
    *same = false;
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        if (!s.n)
            continue;
        if (sp_gp_starts(s, "---") || sp_mapped_sentinel(s.p, s.n)) {
            sp_gp_back(gp);
            break;
        }
        if (memmem(s.p, s.n, "same as previous thread", 23)) {
            *same = true;
            continue;
        }
        bool any = sp_str_is(s, "creator:");
        st = gperftools_address_line(gp, s, &any);
        if (!any && !st)
            sp_emit(gp->d, SP_L766, sp_gp_here(gp), "no address");
    }
    return st;
}

/* The leaf, of the signal's context, may stand again as the first return address. */
static void gperftools_drop_second_leaf(struct sp_mapped *m)
{
    size_t n = m->chain.n - m->begin;
    if (n > 1 && sp_mapped_at(m, 0) == sp_mapped_at(m, 1)) {
        memmove(m->chain.v + m->begin + 1, m->chain.v + m->begin + 2, (n - 2) * sizeof *m->chain.v);
        m->chain.n--;
    }
}

static spaa_status gperftools_thread_stacks(struct sp_gp *gp, struct sp_str title)
{
    struct sp_str name = {"", 0};
    int64_t tid = 0, one = 1;
    bool same;
    if (!gperftools_thread_title(title, &name, &tid)) {
        sp_emit(gp->d, SP_L766, sp_gp_here(gp), "not the title of a thread");
        sp_mapped_drop(&gp->m);
        while (sp_gp_next(gp))
            if (gp->line.n > 3 && memcmp(gp->line.p, "---", 3) == 0) {
                sp_gp_back(gp);
                break;
            }
        return SPAA_OK;
    }
    spaa_status st = gperftools_thread_lines(gp, &same);
    uint32_t context = st ? SP_NONE : gperftools_thread_context(gp, name, tid);
    if (st)
        return st;
    gperftools_drop_second_leaf(&gp->m);
    bool again = gp->m.chain.n == gp->m.begin && same && gp->m.rows.n;
    bool ok = context != SP_NONE &&
              (again ? sp_mapped_again(&gp->m, context, &one) : sp_mapped_row(&gp->m, context, &one));
    return ok ? SPAA_OK : sp_nomem(gp->d);
}

spaa_status sp_gp_threads(struct sp_gp *gp)
{
    static const struct sp_gp_event event = {.name = "thread",
                                             .kind = SP_SOFTWARE,
                                             .period = 1,
                                             .period_unit = "count",
                                             .types = {{"thread", "count", "thread", "count"}},
                                             .ntypes = 1};
    gp->kind = "threadz";
    gp->tool = "tcmalloc";
    gp->group_by = gp->opts->group_by & (SP_BY_TID | SP_BY_COMM);
    spaa_status st = sp_gp_declare(gp, &event);
    bool begun = false;
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        if (sp_mapped_sentinel(s.p, s.n))
            return sp_gp_maps(gp);
        if (sp_gp_starts(s, "---- no stack trace for"))
            return sp_gp_rest(gp);
        begun |= sp_gp_starts(s, "-");
        if (begun && s.n)
            st = gperftools_thread_stacks(gp, s);
    }
    return st;
}
