/*
 * Reads what a poor man's profiler prints: stacks that a debugger took again and again, equal ones counted.
 * So does pt-pmp of Percona Toolkit, and gdb with `uniq -c` (poormansprofiler.org):
 *
 *     Sat Dec 21 23:14:06 CST 2019
 *         180 poll(libc.so.6),vio_read(viosocket.c:143),do_command(sql_parse.cc:971),clone(libc.so.6)
 *           3 pthread_cond_wait,srv_worker_thread(srv0srv.cc:2520),clone(libc.so.6)
 *
 * A count, then functions from the leaf to the root. What stands in parentheses is the library, or the line.
 *
 * A debugger stops all threads, whether they run or wait: those whose leaf is a function of the C library
 * that waits have the state WAITING; of others it is not known. Of a thread neither name nor number is known.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"

#include <string.h>

struct pmp_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    uint32_t metric, layout;
    uint32_t seen, waiting; /* contexts */
    SP_VEC(uint32_t) path;  /* frames of the stack in work, leaf first */
    uint64_t stacks;
};

/* ---- lines ---- */

struct pmp_line {
    uint64_t count;
    const char *p, *end; /* the functions */
};

/* Of what ends at `end`, how far the next function goes: to a comma that is in no parentheses. */
static const char *pmp_function_end(const char *p, const char *end)
{
    unsigned depth = 0;
    for (; p < end && (depth || *p != ','); p++)
        depth += *p == '(' ? 1 : *p == ')' && depth ? (unsigned)-1 : 0;
    return p;
}

static bool pmp_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* "   12 poll(libc.so.6),main": a count and something without blanks. */
static bool pmp_split(const char *p, size_t n, struct pmp_line *out)
{
    const char *end = p + n;
    while (p < end && pmp_is_blank(*p))
        p++;
    while (end > p && pmp_is_blank(end[-1]))
        end--;
    size_t digits = sp_parse_u64(p, end, &out->count);
    if (!digits || !out->count || out->count > INT64_MAX || end - p < (ptrdiff_t)digits + 2 ||
        p[digits] != ' ')
        return false;
    out->p = p + digits + 1;
    out->end = end;
    for (p = out->p; p < end; p++)
        if (pmp_is_blank(*p) || *p == ';')
            return false;
    return true;
}

/* ---- frames ---- */

/* "viosocket.c:143": a line; else what is in parentheses is a library. */
static bool pmp_is_line(const char *p, const char *end)
{
    const char *colon = memrchr(p, ':', (size_t)(end - p));
    uint64_t number;
    return colon && colon > p && colon + 1 < end &&
           sp_parse_u64(colon + 1, end, &number) == (size_t)(end - colon - 1);
}

/* SP_NONE: out of memory. */
static uint32_t pmp_frame(struct pmp_reader *r, const char *p, const char *end)
{
    struct sp_profile *profile = r->p;
    struct sp_frame f = {.kind = SP_USER};
    struct sp_dso dso = {.name = sp_profile_cstr(profile, "[unknown]")};
    const char *open = memrchr(p, '(', (size_t)(end - p));
    if (open && open > p && end[-1] == ')' && end - open > 2) {
        uint32_t place = sp_profile_text(profile, open + 1, (size_t)(end - open - 2));
        if (!pmp_is_line(open + 1, end - 1))
            dso.name = place;
        else if (r->opts->frames < SP_FRAMES_FUNCTION)
            f.srcline = place;
        if (place == SP_STR_FAIL)
            return SP_NONE;
        end = open;
    }
    bool unknown = end - p == 2 && !memcmp(p, "??", 2); /* gdb's word for no symbol */
    if (sp_is_no_name((struct sp_str){p, (uint32_t)(end - p)}))
        f.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name =
        unknown ? sp_profile_cstr(profile, "[unknown]") : sp_profile_text(profile, p, (size_t)(end - p));
    if (name == SP_STR_FAIL || dso.name == SP_STR_FAIL)
        return SP_NONE;
    uint32_t number = sp_dso_intern(profile, &dso);
    f.function = number == SP_NONE ? SP_NONE : sp_function_intern(profile, name, number);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(profile, &f);
}

/* ---- stacks ---- */

/* Threads that wait end in these, and no others do. */
static const char *const pmp_waits[] = {
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "epoll_pwait",
    "accept",
    "accept4",
    "sigwait",
    "sigwaitinfo",
    "sigtimedwait",
    "sigsuspend",
    "pause",
    "nanosleep",
    "clock_nanosleep",
    "wait4",
    "waitpid",
    "waitid",
    "futex_wait",
    "__futex_abstimed_wait_common64",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "sem_wait",
    "sem_timedwait",
    "__lll_lock_wait",
    "__io_getevents_0_4",
    "io_getevents",
    "pthread_join",
    "__pthread_timedjoin_ex",
    "msgrcv",
    NULL,
};

/* "pthread_cond_wait@@GLIBC_2.3.2", "__GI___poll": by what other names they have. */
static bool pmp_is_waiting(const char *p, const char *end)
{
    const char *stop = memchr(p, '(', (size_t)(end - p));
    stop = stop ? stop : end;
    const char *version = memchr(p, '@', (size_t)(stop - p));
    stop = version ? version : stop;
    if (stop - p > 5 && !memcmp(p, "__GI_", 5))
        p += 5;
    if (sp_name_index(pmp_waits, p, (size_t)(stop - p)) >= 0)
        return true;
    while (p < stop && *p == '_')
        p++;
    return sp_name_index(pmp_waits, p, (size_t)(stop - p)) >= 0;
}

static bool pmp_add(struct pmp_reader *r, const struct pmp_line *line)
{
    r->path.n = 0;
    for (const char *p = line->p; p < line->end; p++) {
        const char *end = pmp_function_end(p, line->end);
        uint32_t frame = end > p ? pmp_frame(r, p, end) : SP_NONE;
        if (end > p && (frame == SP_NONE || !sp_vec_push(&r->path, frame)))
            return false;
        p = end;
    }
    bool is_new;
    uint32_t context = pmp_is_waiting(line->p, pmp_function_end(line->p, line->end)) ? r->waiting : r->seen;
    uint32_t stack = sp_stack_intern(r->p, r->path.v, r->path.n, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE)
        return false;
    if (is_new)
        sp_stack_set_layout(r->p, stack, r->layout);
    r->stacks++;
    return sp_weight_add(r->p, stack, r->metric, (int64_t)line->count);
}

/* A date stands where pt-pmp began: "Sat Dec 21 23:14:06 CST 2019". */
static bool pmp_is_date(const char *p, size_t n)
{
    return n > 16 && n < 64 && memchr(p, ':', n) && strchr("SMTWF", *p) && strchr("auoehr", p[1]) &&
           p[3] == ' ';
}

static spaa_status pmp_take(void *reader, const char *p, size_t n)
{
    struct pmp_reader *r = reader;
    struct pmp_line line;
    if (pmp_split(p, n, &line))
        return pmp_add(r, &line) ? SPAA_OK : sp_nomem(r->d);
    while (n && pmp_is_blank(p[n - 1]))
        n--;
    if (!n || *p == '#' || pmp_is_date(p, n))
        return SPAA_OK;
    sp_emit(r->d, SP_L302, SP_AT_LINE(r->lines.line, r->lines.offset), "no count and functions: \"%.*s\"",
            n > 80 ? 80 : (int)n, p);
    return r->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

/* The profile's fixed parts. False: out of memory. */
static bool pmp_prepare(struct pmp_reader *r)
{
    struct sp_profile *p = r->p;
    r->metric = sp_metric_intern(p, "samples", 7);
    struct sp_event e = {
        .name = sp_profile_cstr(p, "pmp"), .kind = SP_TIMER, .mode = SP_PERIOD, .primary = r->metric};
    if (r->metric == SP_NONE || e.name == SP_STR_FAIL)
        return false;
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = sp_event_add(p, &e)};
    r->seen = c.event == SP_NONE ? SP_NONE : sp_context_intern(p, &c);
    if (r->opts->group_by & SP_BY_STATE)
        c.state = sp_profile_cstr(p, "WAITING");
    r->waiting = c.event == SP_NONE || c.state == SP_STR_FAIL ? SP_NONE : sp_context_intern(p, &c);
    r->layout = sp_layout_simple(p, r->metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    struct sp_header *h = &p->header;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = sp_profile_cstr(p, "pmp");
    h->has_x_spaa = true;
    h->frames = r->opts->frames < SP_FRAMES_FUNCTION ? SP_FRAMES_LINE : SP_FRAMES_FUNCTION;
    h->group_by = r->opts->group_by & SP_BY_STATE;
    return r->seen != SP_NONE && r->waiting != SP_NONE && r->layout != SP_NONE && h->version != SP_STR_FAIL &&
           h->source_tool != SP_STR_FAIL;
}

static spaa_status pmp_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                            struct sp_profile *p)
{
    struct pmp_reader r = {.p = p, .d = d, .opts = opts};
    r.lines = (struct sp_lines){.reader = &r, .take = pmp_take};
    spaa_status st = pmp_prepare(&r) ? sp_lines_read(&r.lines, in) : sp_nomem(d);
    sp_vec_free(&r.path);
    if (!st && !r.stacks) {
        sp_emit(d, SP_E011, SP_AT_NOTHING, "no line has a count and functions");
        st = SPAA_ERR_INPUT;
    }
    return st;
}

/* ---- is it one? ---- */

/* A place in parentheses, or a function that threads begin with: more than a list of words with counts. */
static bool pmp_shows_stacks(const struct pmp_line *line)
{
    static const char *const roots[] = {"main",  "_start", "__libc_start_main", "start_thread",
                                        "clone", "clone3", "thread_start"};
    const char *last = memrchr(line->p, ',', (size_t)(line->end - line->p));
    if (!last)
        return false;
    for (const char *p = last + 1, *const *root = roots; root < roots + sizeof roots / sizeof *roots; root++)
        if ((size_t)(line->end - p) == strlen(*root) && !memcmp(p, *root, strlen(*root)))
            return true;
    return line->end[-1] == ')' && memchr(line->p, '(', (size_t)(line->end - line->p));
}

static int pmp_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    size_t good = 0, all = 0;
    bool shows = false;
    *reason = "lines of a count and functions between commas";
    if (!sp_probe_is_text(bytes, n))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        struct pmp_line line;
        nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl ? nl : end;
        if (!nl && !whole)
            break;
        bool is = pmp_split(p, (size_t)(stop - p), &line);
        shows = shows || (is && pmp_shows_stacks(&line));
        good += is;
        all += is || (stop > p && *p != '#' && *p != '\r' && !pmp_is_date(p, (size_t)(stop - p)));
    }
    return shows && good * 100 >= all * 95 ? 60 : 0;
}

const struct spaa_format spaa_format_pmp = {
    .name = "pmp",
    .title = "Poor man's profiler (pt-pmp, gdb and uniq -c)",
    .extensions = "pmp",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = pmp_probe,
    .read = pmp_read,
};
