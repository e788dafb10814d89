/*
 * What stands in a report several times: processes of one number and name, which are told apart; and, where
 * texts were put together, a process, a thread or the report itself once more in the same bytes, which is
 * counted once.
 */
#include "base/hash.h"
#include "formats/common/hang/fences.h"
#include "formats/spindump/report.h"

#include <string.h>

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

/* ---- before any process is read ---- */

struct instances_scan {
    const char *report, *process, *thread; /* where what is at hand begins; NULL: nothing is */
    struct sp_span line;                   /* of the process */
    size_t key;                            /* length of its key */
    uint64_t number;                       /* of the process: threads are compared within one */
    bool tail;                             /* what looks like a process there is none */
};

static bool instances_end_thread(struct spindump_reader *r, struct instances_scan *s, const char *end)
{
    bool again, ok = !s->thread || sp_hang_repeats_add(&r->repeats, s->thread, end, s->number, &again);
    s->thread = NULL;
    return ok;
}

/* A process that stands again does not count as another one of its number and name. */
static bool instances_end_process(struct spindump_reader *r, struct instances_scan *s, const char *end)
{
    bool again = false, joined;
    if (!instances_end_thread(r, s, end))
        return false;
    if (!s->process)
        return true;
    if (memchr(s->line.p, '[', s->line.n) && !sp_hang_repeats_add(&r->repeats, s->process, end, 0, &again))
        return false;
    s->process = NULL;
    if (again)
        return true;
    if (!sp_spindump_whole_process(r, &s->line, &joined))
        return false;
    struct sp_spindump_process x;
    sp_spindump_parse_process(sp_hang_after(s->line, s->key), &x);
    struct spindump_twins *t = spindump_twins_of(r, &x, true);
    if (t)
        t->n[s->key == 15]++;
    return t;
}

/* Another report follows. Where it is the first one again, to the end of the text, it is told as that. */
static bool instances_second(struct spindump_reader *r, const struct instances_scan *s, const char *second)
{
    size_t period = (size_t)(second - s->report);
    struct sp_span all = {r->start, (size_t)(r->end - r->start)};
    while (all.n && memchr(" \t\r\n", all.p[all.n - 1], 4))
        all.n--;
    return all.n <= period || memcmp(all.p, all.p + period, all.n - period) != 0 ||
           sp_hang_repeats_push(&r->repeats, r->start + period, r->end);
}

static bool instances_line(struct spindump_reader *r, struct instances_scan *s, struct sp_span line)
{
    size_t key = sp_hang_starts(line, "Process:") ? 8 : sp_hang_starts(line, "Powerstats for:") ? 15 : 0;
    if (s->tail)
        return true;
    s->tail = sp_spindump_tail_begins(line);
    if (key || s->tail) {
        if (!instances_end_process(r, s, line.p))
            return false;
        s->process = s->tail ? NULL : line.p;
        s->line = line;
        s->key = key;
        s->number++;
    } else if (sp_hang_starts(line, "  Thread 0x")) {
        bool ok = instances_end_thread(r, s, line.p);
        s->thread = line.p;
        return ok;
    }
    return line.n || instances_end_thread(r, s, line.p);
}

bool sp_spindump_count_processes(struct spindump_reader *r)
{
    struct instances_scan s = {0};
    struct sp_hang_fences fences = sp_hang_fences_of(r->start, (size_t)(r->end - r->start));
    const char *p = r->start;
    for (const char *nl; p < r->end; p = nl ? nl + 1 : r->end) {
        nl = memchr(p, '\n', (size_t)(r->end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : r->end) - p)};
        while (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        if (sp_hang_starts(line, "Date/Time:") && s.report)
            break;
        if (sp_hang_starts(line, "Date/Time:"))
            s.report = p;
        if (sp_hang_fences_skip(&fences, line) ? !instances_end_process(r, &s, p)
                                               : !instances_line(r, &s, line))
            return false;
    }
    return instances_end_process(r, &s, p) && (p == r->end || instances_second(r, &s, p));
}

/* ---- while they are ---- */

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
