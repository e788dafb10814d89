/*
 * Reads dumps of goroutines (goroutines.h) as a profile of one event, `goroutine`, as pprof's goroutine
 * profiles have it: each goroutine counts 1 in the stack where it stood.
 *
 * tid is the goroutine's number, comm the function it began with (of names that the compiler made, what that
 * called; then x_go.began_with has it), x_state what its status means, and its wait
 * the status as it is printed. How long it has been so is printed in whole minutes, from one on: the metric
 * waited_about_ns. It is no bound: the runtime notes the wait in a collection of garbage, and dates it to the
 * end of the one before (runtime/mgcmark.go, work.tstart), when the goroutine may still have run. Who created
 * it, and what else its
 * header says, are facts of its thread. Values of arguments are not kept but the address of what is waited
 * for, where the runtime is sure of it.
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/go_goroutines/goroutines.h"
#include "model/facts.h"
#include "model/labels.h"
#include "symbols/bind.h"
#include "json/json.h"

#define GOR_EVENT   "goroutine"
#define GOR_ABOUT   "waited_about_ns"
#define GOR_ELIDED  "[elided frames]"
#define NS_A_MINUTE INT64_C(60000000000)
#define MINUTES_MAX (INT64_MAX / NS_A_MINUTE)

struct gor_frame {
    uint32_t name, srcline;
    uint64_t symoff;
    bool has_symoff, inlined;
};

struct gor_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_lines lines;
    uint32_t event, metric, about, dso;
    uint32_t layout, layout_about; /* layout_about, about: SP_NONE until a goroutine has minutes */

    /* The goroutine in work. */
    bool open, pending;        /* pending: the last frame's place is the next line */
    bool creator;              /* the creator's is */
    struct sp_gor_header head; /* its texts are numbers, below */
    uint32_t status, labels, head_more;
    uint32_t object; /* what it waits for: "0xc00001" */
    bool lock;       /* it stands in a function that takes one */
    uint32_t created_by, created_at;
    int64_t parent, elided;
    bool has_elided, unavailable;
    uint64_t first_line;
    SP_VEC(struct gor_frame) frames; /* leaf first */
    SP_VEC(uint32_t) made;

    uint64_t goroutines, twice, other_lines;
    uint32_t fatal; /* why the runtime ended the program, as it says */
};

/* ---- a goroutine becomes a stack ---- */

/* Frame i of those in work, whose outer one is made already. */
static uint32_t gor_make_frame(struct gor_reader *r, size_t i, uint32_t *depth)
{
    const struct gor_frame *g = &r->frames.v[i];
    enum sp_granularity grain = r->opts->frames;
    struct sp_frame f = {.kind = SP_USER};
    *depth = g->inlined ? *depth + 1 : 0;
    if (g->inlined) {
        f.flags |= SP_FRAME_INLINED;
        f.inline_depth = *depth;
    }
    if (grain < SP_FRAMES_FUNCTION)
        f.srcline = g->srcline;
    if (grain < SP_FRAMES_LINE && g->has_symoff) {
        f.flags |= SP_FRAME_SYMOFF;
        f.symoff = g->symoff;
    }
    f.function = sp_function_intern(r->p, g->name, r->dso);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
}

static bool gor_make_frames(struct gor_reader *r)
{
    uint32_t depth = 0;
    r->made.n = 0;
    if (r->frames.n && !sp_vec_reserve(&r->made, r->frames.n))
        return false;
    r->made.n = r->frames.n;
    for (size_t i = r->frames.n; i-- > 0;)
        if ((r->made.v[i] = gor_make_frame(r, i, &depth)) == SP_NONE)
            return false;
    return true;
}

/* "chan receive", "sync.Mutex.Lock 0xc00001": 1 + a number, 0 where it does not wait; SP_NONE: no memory. */
static uint32_t gor_wait(struct gor_reader *r, const char *state)
{
    static const char *const off[] = {"WAITING", "TIMED_WAITING", "BLOCKED", "IDLE", NULL};
    struct sp_wait_fact w = {
        .holder_pid = SP_ABSENT, .holder_tid = SP_ABSENT, .hops = SP_ABSENT, .on = r->status};
    struct sp_buf b;
    if (sp_name_index(off, state, strlen(state)) < 0)
        return 0;
    struct sp_str status = sp_pstr(r->p, r->status), object = sp_pstr(r->p, r->object);
    sp_buf_init(&b, 0);
    sp_buf_add(&b, status.p, status.n);
    if (object.n) {
        sp_buf_ch(&b, ' ');
        sp_buf_add(&b, object.p, object.n);
    }
    w.text = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return w.text == SP_STR_FAIL ? SP_NONE : sp_wait_intern(r->p, &w);
}

static uint32_t gor_context(struct gor_reader *r, uint32_t comm)
{
    unsigned by = r->opts->group_by;
    struct sp_str status = sp_pstr(r->p, r->status);
    /* until Go 1.20 all that waited for a lock was in `semacquire` */
    const char *state = r->lock && sp_str_is(status, "semacquire") ? "BLOCKED" : sp_gor_state(status);
    struct sp_context c = {.pid = SP_ABSENT,
                           .tid = by & SP_BY_TID ? r->head.id : SP_ABSENT,
                           .cpu = SP_ABSENT,
                           .event = r->event,
                           .comm = by & SP_BY_COMM ? comm : SP_STR_NONE,
                           .labels = r->labels};
    if (by & SP_BY_STATE) {
        c.state = sp_profile_cstr(r->p, state);
        c.wait = gor_wait(r, state);
    }
    return c.state == SP_STR_FAIL || c.wait == SP_NONE ? SP_NONE : sp_context_intern(r->p, &c);
}

static void gor_text_member(struct gor_reader *r, struct sp_buf *b, const char *key, uint32_t text)
{
    struct sp_str s = sp_pstr(r->p, text);
    if (!s.n)
        return;
    sp_buf_printf(b, ",\"%s\":", key);
    sp_json_string(b, s.p, s.n);
}

/* What else is known of the goroutine; began: the function, where it is not what it is called. */
static uint32_t gor_thread_more(struct gor_reader *r, uint32_t began)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_pid_unknown\":true,\"x_go\":{\"status\":");
    struct sp_str status = sp_pstr(r->p, r->status);
    sp_json_string(&b, status.p, status.n);
    if (r->head.minutes)
        sp_buf_printf(&b, ",\"minutes\":%lld", (long long)r->head.minutes);
    if (r->head.locked)
        sp_buf_puts(&b, ",\"locked_to_thread\":true");
    if (r->head.scan)
        sp_buf_puts(&b, ",\"scan\":true");
    if (r->head.leaked)
        sp_buf_puts(&b, ",\"leaked\":true");
    if (r->head.bubble)
        sp_buf_printf(&b, ",\"synctest_bubble\":%lld", (long long)r->head.bubble);
    if (r->unavailable)
        sp_buf_puts(&b, ",\"stack_unavailable\":true");
    if (r->has_elided && r->elided >= 0)
        sp_buf_printf(&b, ",\"elided_frames\":%lld", (long long)r->elided);
    gor_text_member(r, &b, "runtime", r->head_more);
    gor_text_member(r, &b, "began_with", began);
    gor_text_member(r, &b, "created_by", r->created_by);
    gor_text_member(r, &b, "created_at", r->created_at);
    if (r->parent)
        sp_buf_printf(&b, ",\"created_in\":%lld", (long long)r->parent);
    sp_buf_ch(&b, '}');
    uint32_t more = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return more;
}

static bool gor_thread(struct gor_reader *r, uint32_t comm, uint32_t begins)
{
    if (!(r->opts->group_by & SP_BY_TID))
        return true;
    size_t before = r->p->threads.n;
    uint32_t t = sp_thread_intern(r->p, 0, r->head.id, comm); /* one process, whose pid is not said */
    if (t == SP_NONE)
        return false;
    if (r->p->threads.n == before) {
        r->twice += r->head.id != 0; /* the scheduler's own on each thread is 0 */
        return true;
    }
    uint32_t more = gor_thread_more(
        r, begins != SP_NONE && r->frames.v[begins].name != comm ? r->frames.v[begins].name : SP_STR_NONE);
    if (more == SP_STR_FAIL)
        return false;
    r->p->threads.v[t].extra_json = more;
    return true;
}

/* The metric is there where somebody waited so long. */
static bool gor_about(struct gor_reader *r)
{
    uint32_t count = sp_profile_cstr(r->p, "count"), ns = sp_profile_cstr(r->p, "ns");
    if (r->layout_about != SP_NONE)
        return true;
    r->about = sp_metric_intern(r->p, GOR_ABOUT, strlen(GOR_ABOUT));
    if (r->about == SP_NONE || count == SP_STR_FAIL || ns == SP_STR_FAIL)
        return false;
    r->layout_about = sp_layout_simple(r->p, r->metric, count, r->about, ns);
    return r->layout_about != SP_NONE;
}

static bool gor_weigh(struct gor_reader *r, uint32_t stack)
{
    struct sp_stack *s = &r->p->stacks.v[stack];
    int64_t minutes = r->head.minutes < MINUTES_MAX ? r->head.minutes : MINUTES_MAX;
    if (minutes && !gor_about(r))
        return false;
    if (s->layout == SP_NONE || minutes)
        s->layout = minutes ? r->layout_about : r->layout;
    return sp_weight_add(r->p, stack, r->metric, 1) &&
           (!minutes || sp_weight_add(r->p, stack, r->about, minutes * NS_A_MINUTE));
}

static struct sp_str gor_name(const struct gor_reader *r, size_t frame)
{
    return sp_pstr(r->p, r->frames.v[frame].name);
}

/* The frame of the function it began with; SP_NONE where the outer frames are not known. */
static uint32_t gor_begins(const struct gor_reader *r)
{
    static const char *const begins[] = {"runtime.goexit", "runtime.main", NULL}; /* what calls it */
    size_t n = r->frames.n;
    for (; n > 1; n--) {
        struct sp_str name = gor_name(r, n - 1);
        if (sp_name_index(begins, name.p, name.n) < 0)
            break;
    }
    return !n || (r->has_elided && r->elided < 0) ? SP_NONE : (uint32_t)n - 1;
}

/*
 * What it is called: the first function with a name of the program's, not the compiler's. What a wrapper
 * calls is that; a function without a name is, unless it calls one of its own package. (All of the runtime's
 * call what makes them wait.)
 */
static uint32_t gor_comm(const struct gor_reader *r, uint32_t begins)
{
    uint32_t i = begins, k;
    if (begins == SP_NONE)
        return SP_STR_NONE;
    while (i && sp_gor_naming(gor_name(r, i)) == SP_GOR_WRAPPER && !sp_str_is(gor_name(r, i - 1), GOR_ELIDED))
        i--;
    for (k = i; k && sp_gor_naming(gor_name(r, k)) != SP_GOR_WRITTEN;)
        k--;
    struct sp_str package = sp_gor_package(gor_name(r, i));
    bool own = sp_gor_naming(gor_name(r, k)) == SP_GOR_WRITTEN && !sp_str_is(package, "runtime") &&
               sp_str_cmp(sp_gor_package(gor_name(r, k)), package) == 0;
    return r->frames.v[own ? k : i].name;
}

static spaa_status gor_finish(struct gor_reader *r)
{
    bool is_new;
    uint32_t begins = gor_begins(r), comm = gor_comm(r, begins);
    if (!r->open)
        return SPAA_OK;
    r->open = r->pending = r->creator = false;
    uint32_t context = gor_make_frames(r) && gor_thread(r, comm, begins) ? gor_context(r, comm) : SP_NONE;
    uint32_t stack = context == SP_NONE
                         ? SP_NONE
                         : sp_stack_intern(r->p, r->made.v, r->made.n, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE || !gor_weigh(r, stack))
        return sp_nomem(r->d);
    r->p->header.truncated += r->has_elided;
    r->goroutines++;
    return SPAA_OK;
}

/* ---- lines ---- */

/* 0 where there are none of those that are kept; SP_NONE: no memory. */
static uint32_t gor_labels(struct gor_reader *r, struct sp_str text)
{
    struct sp_label_list list = {0};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_ch(&b, '{');
    sp_buf_add(&b, text.p, text.n);
    sp_buf_ch(&b, '}');
    bool ok = !b.failed && sp_labels_parse(r->p, (struct sp_span){b.data, b.len}, 0, &list);
    size_t kept = 0;
    for (size_t i = 0; ok && i < list.list.n; i++)
        if (!r->opts->labels || sp_label_keys_have(r->opts->labels, sp_pstr(r->p, list.list.v[i].key)))
            list.list.v[kept++] = list.list.v[i];
    uint32_t set = !ok ? SP_NONE : kept ? sp_labels_intern(r->p, list.list.v, kept) : 0;
    sp_vec_free(&list.list);
    sp_buf_free(&b);
    return set;
}

static spaa_status gor_begin(struct gor_reader *r, const struct sp_gor_header *h)
{
    r->open = true;
    r->pending = r->creator = r->has_elided = r->unavailable = false;
    r->head = *h;
    r->status = sp_profile_str(r->p, h->status.p, h->status.n);
    r->head_more = h->more.n ? sp_profile_str(r->p, h->more.p, h->more.n) : SP_STR_NONE;
    r->labels = h->labels.n ? gor_labels(r, h->labels) : 0;
    r->lock = false;
    r->object = r->created_by = r->created_at = SP_STR_NONE;
    r->parent = 0;
    r->elided = 0;
    r->first_line = r->lines.line;
    r->frames.n = 0;
    return r->status == SP_STR_FAIL || r->head_more == SP_STR_FAIL || r->labels == SP_NONE ? sp_nomem(r->d)
                                                                                           : SPAA_OK;
}

/* What a lock, condition or group of goroutines is that is waited for: the receiver of the runtime's call. */
static spaa_status gor_note_object(struct gor_reader *r, const struct sp_gor_call *call)
{
    enum { LOCKS = 6 }; /* the first of these */
    static const char *const methods[] = {"sync.(*Mutex).Lock",
                                          "sync.(*Mutex).lockSlow",
                                          "internal/sync.(*Mutex).Lock",
                                          "internal/sync.(*Mutex).lockSlow",
                                          "sync.(*RWMutex).Lock",
                                          "sync.(*RWMutex).RLock",
                                          "sync.(*WaitGroup).Wait",
                                          "sync.(*Cond).Wait",
                                          NULL};
    uint64_t address;
    int method = sp_name_index(methods, call->name.p, call->name.n);
    r->lock = r->lock || (method >= 0 && method < LOCKS);
    if (r->object || method < 0)
        return SPAA_OK;
    const char *comma = memchr(call->args.p, ',', call->args.n);
    size_t n = comma ? (size_t)(comma - call->args.p) : call->args.n;
    if (n < 3 || !sp_parse_0x(call->args.p, n, &address) || !address) /* `0x12?`: a register's old value */
        return SPAA_OK;
    r->object = sp_profile_str(r->p, call->args.p, n);
    return r->object == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
}

static spaa_status gor_add_frame(struct gor_reader *r, struct sp_str name, bool inlined)
{
    struct gor_frame f = {.name = sp_profile_text(r->p, name.p, name.n), .inlined = inlined};
    return f.name == SP_STR_FAIL || !sp_vec_push(&r->frames, f) ? sp_nomem(r->d) : SPAA_OK;
}

/* A line that begins with a tab. */
static spaa_status gor_take_place(struct gor_reader *r, const char *p, size_t n)
{
    struct sp_gor_place place;
    bool known = sp_gor_place(p, n, &place), creator = r->creator, pending = r->pending;
    r->creator = r->pending = false;
    if (n > 30 && memmem(p, n, "stack unavailable", 17)) {
        r->unavailable = true;
        return SPAA_OK;
    }
    if (!creator && !pending) {
        r->other_lines++;
        return SPAA_OK;
    }
    uint32_t at = known ? sp_profile_text(r->p, place.at.p, place.at.n) : SP_STR_NONE;
    if (at == SP_STR_FAIL)
        return sp_nomem(r->d);
    if (creator) {
        r->created_at = at;
        return SPAA_OK;
    }
    struct gor_frame *f = &r->frames.v[r->frames.n - 1];
    f->srcline = at;
    f->symoff = place.offset;
    f->has_symoff = known && place.has_offset;
    return SPAA_OK;
}

static spaa_status gor_take_call(struct gor_reader *r, const char *p, size_t n)
{
    struct sp_gor_call call;
    struct sp_str name;
    spaa_status st;
    int64_t elided, parent;
    if (sp_gor_elided(p, n, &elided)) {
        r->elided = elided;
        r->pending = false;
        r->has_elided = true;
        return gor_add_frame(r, (struct sp_str){GOR_ELIDED, sizeof GOR_ELIDED - 1}, false);
    }
    if (sp_gor_creator(p, n, &name, &parent)) {
        r->parent = parent;
        r->creator = true;
        r->pending = false;
        r->created_by = sp_profile_text(r->p, name.p, name.n);
        return r->created_by == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
    }
    if (!sp_gor_call(p, n, &call)) {
        r->other_lines++;
        return SPAA_OK;
    }
    r->pending = true;
    st = gor_note_object(r, &call);
    return st ? st : gor_add_frame(r, call.name, call.inlined);
}

/* Before the first goroutine the runtime says why it ended the program. */
static spaa_status gor_take_other(struct gor_reader *r, const char *p, size_t n)
{
    static const char *const begin[] = {"fatal error: ", "panic: "};
    for (size_t i = 0; !r->fatal && i < sizeof begin / sizeof *begin; i++)
        if (n > strlen(begin[i]) && memcmp(p, begin[i], strlen(begin[i])) == 0) {
            r->fatal = sp_profile_text(r->p, p, n);
            return r->fatal == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
        }
    r->other_lines++;
    return SPAA_OK;
}

static spaa_status gor_take_line(void *reader, const char *p, size_t n)
{
    struct gor_reader *r = reader;
    struct sp_gor_header h;
    while (n && (p[n - 1] == '\r' || p[n - 1] == ' '))
        n--;
    if (!n)
        return gor_finish(r);
    if (sp_gor_header(p, n, &h)) {
        spaa_status st = gor_finish(r);
        return st ? st : gor_begin(r, &h);
    }
    if (!r->open)
        return gor_take_other(r, p, n);
    return *p == '\t' ? gor_take_place(r, p + 1, n - 1) : gor_take_call(r, p, n);
}

/* ---- the profile ---- */

static bool gor_declare(struct gor_reader *r)
{
    struct sp_profile *p = r->p;
    struct sp_event e = {.kind = SP_SOFTWARE, .mode = SP_EVENT};
    uint32_t count = e.unit = sp_profile_cstr(p, "count");
    e.name = sp_profile_cstr(p, GOR_EVENT);
    e.primary = r->metric = sp_metric_intern(p, GOR_EVENT, strlen(GOR_EVENT));
    r->about = r->layout_about = SP_NONE;
    r->dso = sp_unknown_dso(p);
    if (count == SP_STR_FAIL || e.name == SP_STR_FAIL || r->metric == SP_NONE || r->dso == SP_NONE)
        return false;
    r->event = sp_event_add(p, &e);
    r->layout = sp_layout_simple(p, r->metric, count, SP_NONE, SP_STR_NONE);
    return r->event != SP_NONE && r->layout != SP_NONE;
}

/* What else there is, and why the runtime ended the program. */
static uint32_t gor_header_more(struct gor_reader *r)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_go\":{\"kind\":\"goroutines\"");
    if (r->fatal) {
        struct sp_str text = sp_pstr(r->p, r->fatal);
        sp_buf_puts(&b, ",\"fatal\":");
        sp_json_string(&b, text.p, text.n);
    }
    sp_buf_ch(&b, '}');
    uint32_t more = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    return more;
}

static bool gor_header(struct gor_reader *r)
{
    struct sp_header *h = &r->p->header;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "pprof");
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    h->group_by = r->opts->group_by & (SP_BY_TID | SP_BY_COMM | SP_BY_STATE);
    h->extra_json = gor_header_more(r);
    return h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->extra_json != SP_STR_FAIL;
}

static spaa_status gor_end(struct gor_reader *r, struct sp_input *in)
{
    bool cut = r->open && r->pending;
    spaa_status st = gor_finish(r);
    if (!st && !r->goroutines) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the text has no goroutine");
        return st ? st : SPAA_ERR_INPUT;
    }
    if (st)
        return st;
    if (cut)
        sp_emit(r->d, SP_L301, SP_AT_LINE(r->lines.line, r->lines.offset),
                "the last goroutine ends in the middle of a frame");
    if (r->twice)
        sp_emit(r->d, SP_W311, SP_AT_NOTHING,
                "%llu goroutines stand more than once: several dumps are added up",
                (unsigned long long)r->twice);
    if (r->other_lines && !r->opts->keeper)
        sp_emit_hint(r->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them",
                     "%llu lines that are of no goroutine", (unsigned long long)r->other_lines);
    return gor_header(r) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status gor_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                            struct sp_profile *p)
{
    struct gor_reader r = {.p = p, .d = d, .opts = opts};
    r.lines = (struct sp_lines){.reader = &r, .take = gor_take_line};
    spaa_status st = gor_declare(&r) ? sp_lines_read(&r.lines, in) : sp_nomem(d);
    if (!st)
        st = gor_end(&r, in);
    sp_vec_free(&r.frames);
    sp_vec_free(&r.made);
    return st;
}

const struct spaa_format spaa_format_go_goroutines = {
    .name = "go-goroutines",
    .title = "Go's dump of goroutines (debug=2, a panic, SIGQUIT)",
    .extensions = "goroutines goroutines.txt",
    .media_type = "text/plain",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ,
    .probe = sp_gor_probe,
    .read = gor_read,
};
