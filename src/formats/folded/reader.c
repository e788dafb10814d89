/*
 * Reads folded stacks (the input of flamegraph.pl, written by the stackcollapse tools, py-spy, bcc and
 * many others):
 *
 *     java;start_thread;JavaMain_[j];sys_write_[k] 12
 *
 * The number follows the last blank. It may be a decimal; of two (difffolded.pl writes the value before
 * and after) the last is the value and the first is kept as metric `before`: a text has two columns when
 * all stacks of its beginning do. Lines that begin with "# " are comments.
 *
 * What the text does not say and how it is taken: one event, `folded` unless a comment names it (`# event:
 * cycles`), kind timer, mode period; the
 * metric is `value` unless --value-metric names it; frames have the DSO "[unknown]", but marks mean
 * something: `_[k]` kernel (DSO [kernel]), `_[j]` JIT (DSO [jit]), `_[i]` inlined into the frame before
 * it (with its DSO), `_[w]` a waker (kept as x_folded). Two frames are one when their names are: the
 * granularity is function.
 *
 * Of offcputime of bcc (-f) nothing says that the numbers are microseconds off the CPU: --off-cpu us does.
 * The first frame is the thread's name then (comm), as there and in what the stackcollapse tools write, and a
 * frame `-` is then what its -d puts between a program's frames and the kernel's; without -d the kernel's are
 * those from a known entry on.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/common/text/off_cpu_option.h"
#include "formats/folded/folded.h"
#include "model/waiting.h"

#include <string.h>

#define PEEK_BYTES ((size_t)1 << 20)

struct folded_reader {
    struct sp_diags *d;
    struct sp_profile *p;
    bool strict, two;
    uint32_t value, before, context, layout, layout_two;
    uint32_t unknown, kernel, jit; /* DSOs */
    struct sp_strtab names;        /* of frames, with their marks */
    SP_VEC(uint32_t) frame_of;     /* by name */
    SP_VEC(uint32_t) path;         /* frames of the stack in work, root first; then leaf first */
    uint64_t line, skipped, stacks_read;
    uint64_t view_offset;
    bool comm_first; /* the first frame is the name of the thread */
    uint32_t event;
    int64_t off_cpu;      /* ns in the unit of times off the CPU, 0: the numbers are something else */
    struct sp_buf marked; /* the name of a frame behind the delimiter, with the mark of the kernel's */
};

static uint32_t folded_dso(struct folded_reader *r, const char *name, bool kernel)
{
    struct sp_dso d = {.name = sp_profile_cstr(r->p, name), .is_kernel = kernel};
    return d.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &d);
}

/* The profile's fixed parts: event, metrics, context, layouts, DSOs. */
static bool folded_prepare(struct folded_reader *r, const struct sp_read_opts *opts, struct sp_str event)
{
    const char *name = sp_own_opt(opts->own, opts->nown, "value-metric");
    if (!name || !*name)
        name = "value";
    struct sp_profile *p = r->p;
    r->value = sp_metric_intern(p, name, strlen(name));
    r->before = r->two ? sp_metric_intern(p, "before", 6) : SP_NONE;
    struct sp_event e = {.name = sp_profile_str(p, event.p, event.n), .kind = SP_TIMER, .mode = SP_PERIOD};
    e.primary = r->value;
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    if (e.name == SP_STR_FAIL || r->value == SP_NONE || (r->two && r->before == SP_NONE))
        return false;
    c.event = r->event = sp_event_add(p, &e);
    if (c.event == SP_NONE)
        return false;
    r->context = sp_context_intern(p, &c);
    r->layout = sp_layout_simple(p, r->value, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    r->layout_two = r->two ? sp_layout_simple(p, r->value, SP_STR_NONE, r->before, SP_STR_NONE) : r->layout;
    r->unknown = folded_dso(r, "[unknown]", false);
    r->kernel = r->jit = SP_NONE;
    struct sp_header *h = &p->header;
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = sp_profile_cstr(p, "folded");
    h->has_x_spaa = true;
    h->frames = SP_FRAMES_FUNCTION;
    r->comm_first = r->off_cpu && opts->group_by & SP_BY_COMM;
    h->group_by = r->comm_first ? SP_BY_COMM : 0;
    return r->context != SP_NONE && r->layout != SP_NONE && r->layout_two != SP_NONE &&
           r->unknown != SP_NONE && h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL;
}

static enum sp_fold_suffix folded_suffix(const char *p, size_t n)
{
    if (n < 4 || p[n - 1] != ']' || p[n - 3] != '[' || p[n - 4] != '_')
        return SP_FOLD_NONE;
    return memchr("kjiw", p[n - 2], 4) ? (enum sp_fold_suffix)p[n - 2] : SP_FOLD_NONE;
}

/* A frame that is not inlined. */
static uint32_t folded_plain_frame(struct folded_reader *r, const char *p, size_t n, enum sp_fold_suffix mark)
{
    struct sp_frame f = {.kind = SP_UNKNOWN};
    uint32_t d = r->unknown;
    if (mark == SP_FOLD_KERNEL) {
        if (r->kernel == SP_NONE)
            r->kernel = folded_dso(r, "[kernel]", true);
        d = r->kernel;
        f.kind = SP_KERNEL;
    } else if (mark == SP_FOLD_JIT) {
        if (r->jit == SP_NONE)
            r->jit = folded_dso(r, "[jit]", false);
        d = r->jit;
        f.kind = SP_USER;
    } else if (mark == SP_FOLD_WAKER) {
        f.extra_json = sp_profile_cstr(r->p, "\"x_folded\":{\"mark\":\"w\"}");
    }
    if (sp_is_no_name((struct sp_str){p, (uint32_t)n}))
        f.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name = sp_profile_str(r->p, p, n);
    if (name == SP_STR_FAIL || f.extra_json == SP_STR_FAIL || d == SP_NONE)
        return SP_NONE;
    f.function = sp_function_intern(r->p, name, d);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
}

/* A frame inlined into `outer` (SP_NONE: the stack begins with it). */
static uint32_t folded_inlined_frame(struct folded_reader *r, const char *p, size_t n, uint32_t outer)
{
    struct sp_frame f = {.kind = SP_UNKNOWN, .flags = SP_FRAME_INLINED, .inline_depth = 1};
    uint32_t d = r->unknown;
    if (outer != SP_NONE) {
        const struct sp_frame *o = &r->p->frames.v[outer];
        f.kind = o->kind;
        f.inline_depth = o->inline_depth + 1;
        d = r->p->functions.v[o->function].dso;
    }
    uint32_t name = sp_profile_str(r->p, p, n);
    if (name == SP_STR_FAIL)
        return SP_NONE;
    f.function = sp_function_intern(r->p, name, d);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
}

/* The frame of this text inside `outer` (SP_NONE: it is the root). */
static uint32_t folded_frame(struct folded_reader *r, const char *p, size_t n, uint32_t outer)
{
    enum sp_fold_suffix mark = folded_suffix(p, n);
    if (mark == SP_FOLD_INLINED)
        return folded_inlined_frame(r, p, n - 4, outer);
    uint32_t name = sp_intern(&r->names, p, n);
    if (name < r->frame_of.n)
        return r->frame_of.v[name];
    uint32_t f = name == SP_STR_FAIL ? SP_NONE : folded_plain_frame(r, p, mark ? n - 4 : n, mark);
    while (f != SP_NONE && r->frame_of.n <= name)
        if (!sp_vec_push(&r->frame_of, f))
            return SP_NONE;
    return f;
}

/* The same of one of the kernel's part. */
static uint32_t folded_kernel_frame(struct folded_reader *r, const char *p, size_t n, uint32_t outer)
{
    if (folded_suffix(p, n))
        return folded_frame(r, p, n, outer);
    sp_buf_clear(&r->marked);
    sp_buf_add(&r->marked, p, n);
    sp_buf_puts(&r->marked, "_[k]");
    return r->marked.failed ? SP_NONE : folded_frame(r, r->marked.data, r->marked.len, outer);
}

/* The context of a thread's name, which is cut off the stack, where more than it is there. */
static uint32_t folded_comm(struct folded_reader *r, const char **p, const char *end)
{
    const char *semicolon = memchr(*p, ';', (size_t)(end - *p));
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = r->event};
    if (!semicolon || semicolon == *p)
        return r->context;
    c.comm = sp_profile_text(r->p, *p, (size_t)(semicolon - *p));
    *p = semicolon + 1;
    return c.comm == SP_STR_FAIL ? SP_NONE : sp_context_intern(r->p, &c);
}

/* Root first in the text, leaf first in the profile. */
static uint32_t folded_stack(struct folded_reader *r, const char *p, size_t n)
{
    const char *end = p + n;
    uint32_t outer = SP_NONE, context = r->comm_first ? folded_comm(r, &p, end) : r->context;
    bool is_new, kernel = false;
    if (context == SP_NONE)
        return SP_NONE;
    r->path.n = 0;
    for (;; p++) {
        const char *semicolon = memchr(p, ';', (size_t)(end - p)), *stop = semicolon ? semicolon : end;
        bool delimiter = r->off_cpu && !kernel && stop - p == 1 && *p == '-';
        kernel = kernel || delimiter || (r->off_cpu && sp_off_cpu_entry(p, (size_t)(stop - p)));
        if (!delimiter) {
            outer = (kernel ? folded_kernel_frame : folded_frame)(r, p, (size_t)(stop - p), outer);
            if (outer == SP_NONE || !sp_vec_push(&r->path, outer))
                return SP_NONE;
        }
        p = stop;
        if (p == end)
            break;
    }
    sp_turn_path(r->path.v, r->path.n);
    uint32_t s = sp_stack_intern(r->p, r->path.v, r->path.n, context, SP_UNIFIED, &is_new);
    if (s != SP_NONE && is_new)
        sp_stack_set_layout(r->p, s, r->layout);
    return s;
}

/* A number that is none of JSON's ("+1", "007.50", "20.", ".5") as one of the same value. */
static bool folded_add_odd_number(struct folded_reader *r, uint32_t stack, uint32_t metric, const char *p,
                                  size_t n)
{
    const char *end = p + n;
    struct sp_buf b;
    sp_buf_init(&b, SP_LINE_MAX + 16);
    if (*p == '-')
        sp_buf_ch(&b, '-');
    p += *p == '-' || *p == '+';
    while (end - p > 1 && p[0] == '0' && (unsigned char)(p[1] - '0') < 10)
        p++;
    if (*p == '.')
        sp_buf_ch(&b, '0');
    const char *point = memchr(p, '.', (size_t)(end - p));
    if (point && (point + 1 == end || (unsigned char)(point[1] - '0') >= 10)) { /* no fraction */
        sp_buf_add(&b, p, (size_t)(point - p));
        p = point + 1;
    }
    sp_buf_add(&b, p, (size_t)(end - p));
    bool ok = !b.failed && sp_weight_add_text(r->p, stack, metric, b.data, b.len);
    sp_buf_free(&b);
    return ok;
}

static bool reader_folded_add_number(struct folded_reader *r, uint32_t stack, uint32_t metric, const char *p,
                                     size_t n)
{
    int64_t v = 0;
    if (n > 18)
        return folded_add_odd_number(r, stack, metric, p, n);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)(p[i] - '0') >= 10)
            return folded_add_odd_number(r, stack, metric, p, n);
        v = v * 10 + (p[i] - '0');
    }
    return sp_weight_add(r->p, stack, metric, v);
}

static spaa_status folded_count(struct folded_reader *r, const struct sp_fold_line *line)
{
    uint32_t s = folded_stack(r, line->stack, line->stack_n);
    if (s == SP_NONE || !reader_folded_add_number(r, s, r->value, line->value, line->value_n))
        return sp_nomem(r->d);
    if (line->before) {
        sp_stack_set_layout(r->p, s, r->layout_two);
        if (!reader_folded_add_number(r, s, r->before, line->before, line->before_n))
            return sp_nomem(r->d);
    }
    r->stacks_read++;
    return SPAA_OK;
}

/* Handles the whole lines of [p, p + n), and at the end of the input the last one; *used says how far. */
static spaa_status folded_lines(struct folded_reader *r, struct sp_input *in, const char *p, size_t n,
                                bool final, size_t *used)
{
    enum { NOTE_EVERY = 64 << 10 };
    const char *start = p, *end = p + n, *noted = p;
    while (p < end) {
        spaa_status left =
            p - noted < NOTE_EVERY ? SPAA_OK : sp_input_note(in, (uint64_t)((noted = p) - start));
        if (left)
            return left;
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !final)
            break;
        struct sp_fold_line line;
        const char *stop = nl ? nl : end;
        enum sp_fold_is is = sp_fold_line(p, stop, r->two, &line);
        if (is == SP_FOLD_STACK) {
            spaa_status st = folded_count(r, &line);
            if (st != SPAA_OK)
                return st;
            if (!nl && stop[-1] >= '0' && stop[-1] <= '9') /* of which more may follow */
                sp_lines_say_cut(r->d, r->line, r->view_offset + (uint64_t)(p - start));
        } else if (is == SP_FOLD_NOTHING) {
            sp_emit(r->d, nl ? SP_L302 : SP_L301, SP_AT_LINE(r->line, r->view_offset + (uint64_t)(p - start)),
                    "%s: \"%.*s\"", nl ? "no stack and number" : "the last line is incomplete",
                    stop - p > 80 ? 80 : (int)(stop - p), p);
            r->skipped++;
            if (r->strict)
                return SPAA_ERR_INPUT;
        }
        r->line++;
        p = nl ? nl + 1 : end;
    }
    *used = (size_t)(p - start);
    return SPAA_OK;
}

static spaa_status folded_read_lines(struct folded_reader *r, struct sp_input *in)
{
    const unsigned char *v;
    size_t n, want = PEEK_BYTES;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, &v, &n);
        if (st != SPAA_OK || !n)
            return st;
        bool final = n < want || want >= SP_LINE_MAX;
        size_t used = 0;
        r->view_offset = sp_input_offset(in);
        st = folded_lines(r, in, (const char *)v, n, final, &used);
        if (st != SPAA_OK)
            return st;
        sp_input_consume(in, used);
        size_t left = n - used;
        want = left + PEEK_BYTES < SP_LINE_MAX ? left + PEEK_BYTES : SP_LINE_MAX;
    }
}

static spaa_status folded_read_text(struct folded_reader *r, struct sp_input *in,
                                    const struct sp_read_opts *opts)
{
    const unsigned char *v;
    size_t n;
    bool whole;
    spaa_status st = sp_probe_view(in, &v, &n, &whole);
    if (st != SPAA_OK)
        return st;
    struct sp_str event = sp_fold_event((const char *)v, n);
    r->two = sp_fold_two_columns((const char *)v, n, whole);
    const struct sp_str folded = {"folded", 6}, off_cpu = {"offcputime", 10};
    if (!folded_prepare(r, opts, event.n ? event : r->off_cpu ? off_cpu : folded))
        return sp_nomem(r->d);
    if (r->two)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING,
                "two numbers on each line: the last is the value, the first is kept as metric `before`");
    return folded_read_lines(r, in);
}

/* Whether each stack ends where the kernel takes a thread off the CPU, as no samples of those that run do. */
static bool folded_all_switch(const struct sp_profile *p)
{
    static const char *const leaves[] = {"schedule", "__schedule", "finish_task_switch",
                                         "finish_task_switch.isra.0", NULL};
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        uint32_t leaf = p->stacks.v[s].n ? sp_stack_frames(p, s)[0] : SP_NONE;
        struct sp_str name =
            leaf == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, sp_frame_function(p, leaf)->name);
        if (sp_name_index(leaves, name.p, name.n) < 0)
            return false;
    }
    return p->stacks.n > 0;
}

/* What the numbers are is the user's to say. */
static void folded_note_switches(struct folded_reader *r, const struct sp_read_opts *opts)
{
    if (!sp_own_opt(opts->own, opts->nown, "value-metric") && folded_all_switch(r->p))
        sp_emit(r->d, SP_I322, SP_AT_NOTHING,
                "all stacks end where threads leave the CPU: the numbers may be times, or counts; --off-cpu "
                "us says "
                "that they are of offcputime of bcc, --off-cpu ns nanoseconds");
}

spaa_status sp_fold_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                         struct sp_profile *p)
{
    struct folded_reader r = {.d = d, .p = p, .strict = opts->strict, .line = 1};
    sp_buf_init(&r.marked, 0);
    spaa_status st = sp_off_cpu_asked(opts, d, &r.off_cpu);
    if (!st)
        st = sp_strtab_init(&r.names) ? folded_read_text(&r, in, opts) : sp_nomem(d);
    if (st == SPAA_OK && !r.stacks_read) {
        st = sp_input_failed(in);
        if (st == SPAA_OK) {
            sp_emit(d, SP_E011, SP_AT_NOTHING, "the text has no stack");
            st = SPAA_ERR_INPUT;
        }
    }
    if (st == SPAA_OK && r.off_cpu)
        st = sp_waiting_declare(p, r.event, r.off_cpu, d);
    else if (st == SPAA_OK)
        folded_note_switches(&r, opts);
    sp_buf_free(&r.marked);
    sp_strtab_free(&r.names);
    sp_vec_free(&r.frame_of);
    sp_vec_free(&r.path);
    return st;
}
