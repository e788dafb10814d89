/*
 * Reads what offcputime and profile of bcc, and of its libbpf-tools, print without -f:
 *
 *     Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.
 *         finish_task_switch                      leaf first, the kernel's frames
 *         do_syscall_64
 *         --                                      -d: the program's begin
 *         worker(int)
 *         -                server (4711)          the thread
 *             150007
 *
 * and a blank line. The first line says what the numbers are: microseconds off the CPU, or, `Sampling at 49
 * Hertz`, samples. It is written to the terminal, and libbpf-tools have none: then the numbers are values of
 * something, unless --off-cpu says otherwise. The number in parentheses is the thread's of offcputime and the
 * process's of profile. By tools/offcputime.py, tools/profile.py and libbpf-tools/offcputime.c of bcc.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/common/text/off_cpu_option.h"
#include "model/waiting.h"
#include "symbols/bind.h"

enum bcc_kind { BCC_UNTOLD, BCC_OFF_CPU, BCC_SAMPLES };

struct bcc_name {
    uint32_t name;
    bool after; /* behind the delimiter */
};

struct bcc_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    enum bcc_kind kind;
    int64_t unit, hertz; /* of time; 0: no time */
    uint32_t event, metric, layout, unknown, kernel;
    SP_VEC(struct bcc_name) names; /* of the stack in work, leaf first */
    SP_VEC(uint32_t) frames;
    bool delimiter, thread;
    uint32_t comm;
    int64_t id;
    uint64_t stacks, other_lines;
};

/* `-                comm (123)` without the blanks before it. */
static bool bcc_thread_line(const char *p, size_t n, struct sp_str *comm, int64_t *id)
{
    const char *end = p + n, *open;
    if (n < 6 || *p != '-' || p[1] != ' ' || end[-1] != ')' || !(open = memrchr(p, '(', n)) ||
        open[-1] != ' ')
        return false;
    if (sp_parse_i64(open + 1, end - 1, id) != (size_t)(end - open - 2) || *id < 0)
        return false;
    for (p++; p < open && *p == ' '; p++)
        ;
    *comm = (struct sp_str){p, p < open ? (uint32_t)(open - 1 - p) : 0};
    return comm->n > 0;
}

static size_t bcc_blanks(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == ' ')
        i++;
    return i;
}

/* What the first line says; false: it is none. */
static bool bcc_title(const char *p, size_t n, enum bcc_kind *kind, int64_t *hertz)
{
    static const char off[] = "Tracing off-CPU time (us)", samples[] = "Sampling at ";
    *kind = BCC_UNTOLD;
    *hertz = 0;
    if (n > sizeof off && memcmp(p, off, sizeof off - 1) == 0)
        *kind = BCC_OFF_CPU;
    else if (n > sizeof samples + 8 && memcmp(p, samples, sizeof samples - 1) == 0) {
        size_t used = sp_parse_i64(p + sizeof samples - 1, p + n, hertz);
        const char *at = p + sizeof samples - 1 + used;
        if (used && *hertz > 0 && p + n - at > 7 && memcmp(at, " Hertz ", 7) == 0)
            *kind = BCC_SAMPLES;
    }
    return *kind != BCC_UNTOLD;
}

/* ---- a stack ---- */

/* How many of the names, from the leaf on, are the kernel's; SIZE_MAX: nothing tells. */
static size_t bcc_kernel_part(const struct bcc_reader *r)
{
    size_t n = SIZE_MAX;
    for (size_t i = 0; r->delimiter && i <= r->names.n; i++)
        if (i == r->names.n || r->names.v[i].after)
            return i;
    for (size_t i = 0; i < r->names.n; i++) {
        struct sp_str s = sp_pstr(r->p, r->names.v[i].name);
        n = sp_off_cpu_entry(s.p, s.n) ? i + 1 : n;
    }
    return n;
}

static bool bcc_make_frames(struct bcc_reader *r)
{
    size_t kernel = bcc_kernel_part(r);
    r->frames.n = 0;
    for (size_t i = 0; i < r->names.n; i++) {
        bool inside = kernel != SIZE_MAX && i < kernel;
        struct sp_str s = sp_pstr(r->p, r->names.v[i].name);
        struct sp_frame f = {.kind = kernel == SIZE_MAX ? SP_UNKNOWN : inside ? SP_KERNEL : SP_USER};
        if (s.n > 1 && *s.p == '[') /* [Missed User Stack], [unknown] */
            f.kind = SP_UNKNOWN;
        f.function = sp_function_intern(r->p, r->names.v[i].name, inside ? r->kernel : r->unknown);
        uint32_t frame = f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
        if (frame == SP_NONE || !sp_vec_push(&r->frames, frame))
            return false;
    }
    return true;
}

static uint32_t bcc_context(struct bcc_reader *r)
{
    unsigned by = r->opts->group_by;
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = r->event};
    bool tid = r->kind == BCC_OFF_CPU && by & SP_BY_TID, pid = r->kind == BCC_SAMPLES && by & SP_BY_PID;
    if (by & SP_BY_COMM)
        c.comm = r->comm;
    c.tid = tid ? r->id : SP_ABSENT;
    c.pid = pid ? r->id : SP_ABSENT;
    if (tid && sp_thread_intern_tid(r->p, r->id, r->comm) == SP_NONE)
        return SP_NONE;
    return sp_context_intern(r->p, &c);
}

static spaa_status bcc_finish(struct bcc_reader *r, int64_t value)
{
    bool is_new;
    uint32_t context = bcc_make_frames(r) ? bcc_context(r) : SP_NONE;
    uint32_t stack = context == SP_NONE
                         ? SP_NONE
                         : sp_stack_intern(r->p, r->frames.v, r->frames.n, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE)
        return sp_nomem(r->d);
    sp_stack_set_layout(r->p, stack, r->layout);
    r->stacks++;
    r->names.n = 0;
    r->delimiter = r->thread = false;
    return sp_weight_add(r->p, stack, r->metric, value) ? SPAA_OK : sp_nomem(r->d);
}

/* ---- lines ---- */

/* By the kind: once, before the first stack. */
static bool bcc_declare(struct bcc_reader *r)
{
    static const char *const events[] = {"bcc", "offcputime", "profile"}, *const metrics[] = {
                                                                              "value", "value", "samples"};
    struct sp_event e = {.kind = r->kind == BCC_UNTOLD ? SP_SOFTWARE : SP_TIMER,
                         .mode = r->kind == BCC_SAMPLES ? SP_FREQUENCY : SP_PERIOD};
    struct sp_dso kernel = {.name = sp_profile_cstr(r->p, "[kernel]"), .is_kernel = true};
    char t[20];
    e.name = sp_profile_cstr(r->p, events[r->kind]);
    e.primary = r->metric = sp_metric_intern(r->p, metrics[r->kind], strlen(metrics[r->kind]));
    if (r->hertz)
        e.frequency_hz = sp_profile_str(r->p, t, sp_u64_text((uint64_t)r->hertz, t));
    if (kernel.name == SP_STR_FAIL || e.name == SP_STR_FAIL || e.frequency_hz == SP_STR_FAIL ||
        r->metric == SP_NONE)
        return false;
    r->kernel = sp_dso_intern(r->p, &kernel);
    r->unknown = sp_unknown_dso(r->p);
    r->event = sp_event_add(r->p, &e);
    r->layout = sp_layout_simple(r->p, r->metric, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    return r->kernel != SP_NONE && r->unknown != SP_NONE && r->event != SP_NONE && r->layout != SP_NONE;
}

/* Behind `#0  0xffffffff8134f1d0 ` of libbpf-tools with -v. */
static void bcc_strip_address(const char **p, size_t *n)
{
    const char *end = *p + *n, *x = *n > 4 && **p == '#' ? memmem(*p, *n, " 0x", 3) : NULL;
    uint64_t ip;
    size_t digits = x ? sp_parse_hex(x + 3, end, &ip) : 0;
    if (digits && x + 3 + digits < end && x[3 + digits] == ' ') {
        *p = x + 4 + digits;
        *n = (size_t)(end - *p);
    }
}

static spaa_status bcc_take_frame(struct bcc_reader *r, const char *p, size_t n)
{
    struct sp_str comm;
    if (n == 2 && memcmp(p, "--", 2) == 0) {
        r->delimiter = true;
        return SPAA_OK;
    }
    if (bcc_thread_line(p, n, &comm, &r->id)) {
        r->comm = sp_profile_text(r->p, comm.p, comm.n);
        r->thread = true;
        return r->comm == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
    }
    bcc_strip_address(&p, &n);
    struct bcc_name name = {sp_profile_text(r->p, p, n), r->delimiter};
    return name.name == SP_STR_FAIL || !sp_vec_push(&r->names, name) ? sp_nomem(r->d) : SPAA_OK;
}

static spaa_status bcc_take_line(void *reader, const char *p, size_t n)
{
    struct bcc_reader *r = reader;
    enum bcc_kind kind;
    int64_t hertz, value;
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' '))
        n--;
    size_t in = bcc_blanks(p, n);
    if (r->event == SP_NONE && bcc_title(p, n, &kind, &hertz)) {
        r->kind = kind;
        r->hertz = hertz;
        return SPAA_OK;
    }
    if (r->thread && in == 8 && sp_parse_i64(p + in, p + n, &value) == n - in && value >= 0) {
        if (r->event == SP_NONE && r->kind == BCC_UNTOLD && r->unit)
            r->kind = BCC_OFF_CPU;
        return r->event == SP_NONE && !bcc_declare(r) ? sp_nomem(r->d) : bcc_finish(r, value);
    }
    bool frame = in == 4 && n > in;
    if (r->thread || (r->names.n && !frame)) {
        sp_emit(r->d, SP_L302, SP_AT_LINE(r->lines.line, r->lines.offset), "a stack without its number");
        r->names.n = 0;
        r->delimiter = r->thread = false;
    } else if (!frame) {
        r->other_lines += n > 0;
    }
    return frame ? bcc_take_frame(r, p + in, n - in) : SPAA_OK;
}

/* ---- the profile ---- */

static spaa_status bcc_end(struct bcc_reader *r, struct sp_input *in)
{
    struct sp_header *h = &r->p->header;
    unsigned by = r->kind == BCC_OFF_CPU ? SP_BY_TID : r->kind == BCC_SAMPLES ? SP_BY_PID : 0;
    if (!r->stacks) {
        spaa_status st = sp_input_failed(in);
        if (!st)
            sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the text has no stack");
        return st ? st : SPAA_ERR_INPUT;
    }
    if (r->names.n || r->thread)
        sp_emit(r->d, SP_L301, SP_AT_LINE(r->lines.line, r->lines.offset), "a stack without its number");
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "bcc");
    h->has_x_spaa = true;
    h->frames = SP_FRAMES_FUNCTION;
    h->group_by = r->opts->group_by & (by | SP_BY_COMM);
    if (h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL)
        return sp_nomem(r->d);
    if (r->other_lines && !r->opts->keeper)
        sp_emit_hint(r->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them", "%llu lines of other text",
                     (unsigned long long)r->other_lines);
    if (r->kind == BCC_UNTOLD)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING,
                "nothing says what the numbers are; --off-cpu us says that they are of offcputime");
    return r->kind == BCC_OFF_CPU ? sp_waiting_declare(r->p, r->event, r->unit ? r->unit : 1000, r->d)
                                  : SPAA_OK;
}

static spaa_status bcc_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                            struct sp_profile *p)
{
    struct bcc_reader r = {.p = p, .d = d, .opts = opts, .event = SP_NONE};
    r.lines = (struct sp_lines){.reader = &r, .take = bcc_take_line};
    spaa_status st = sp_off_cpu_asked(opts, d, &r.unit);
    if (!st)
        st = sp_lines_read(&r.lines, in);
    if (!st)
        st = bcc_end(&r, in);
    sp_vec_free(&r.names);
    sp_vec_free(&r.frames);
    return st;
}

/* A line of a thread, its number below and frames above it: nobody else prints that. */
static int bcc_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    bool title = false, thread = false, frame = false;
    size_t stacks = 0, own = 0, other = 0;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        enum bcc_kind kind;
        struct sp_str comm;
        int64_t v;
        size_t len = (size_t)((nl ? nl : end) - p), in = bcc_blanks(p, len);
        while (len > in && p[len - 1] == '\r')
            len--;
        bool number = thread && in == 8 && len > in && sp_parse_i64(p + in, p + len, &v) == len - in;
        stacks += number;
        title = title || (!own && bcc_title(p, len, &kind, &v));
        thread = in == 4 && bcc_thread_line(p + in, len - in, &comm, &v);
        frame = in == 4 && len > in;
        own += number || frame;
        other += len > in && !number && !frame;
    }
    *reason = "stacks with a thread and a number below";
    return stacks && own > 2 * other ? (title ? 95 : 80) : stacks ? 30 : 0;
}

static const struct sp_format_option options[] = {
    SP_OFF_CPU_OPTION,
    {0},
};

const struct spaa_format spaa_format_bcc = {
    .name = "bcc",
    .title = "offcputime and profile of bcc, without -f",
    .extensions = "bcc offcputime",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .options = options,
    .probe = bcc_probe,
    .read = bcc_read,
};
