/* Stacks of a profile, of records. */
#include "base/num.h"
#include "formats/bcc/bcc.h"
#include "formats/common/text/off_cpu_option.h"
#include "model/kernel_names.h"
#include "model/waiting.h"
#include "symbols/bind.h"
#include "json/json.h"

enum { FRAMES_MAX = 4096 };

bool bcc_stacks_init(struct bcc_stacks *s, struct sp_profile *p, const struct sp_read_opts *opts,
                     struct sp_diags *d)
{
    struct sp_dso kernel = {.name = sp_profile_cstr(p, "[kernel]"), .is_kernel = true};
    s->p = p;
    s->d = d;
    s->opts = opts;
    s->unknown = sp_unknown_dso(p);
    s->kernel = kernel.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &kernel);
    return s->unknown != SP_NONE && s->kernel != SP_NONE;
}

void bcc_stacks_free(struct bcc_stacks *s)
{
    sp_vec_free(&s->events);
    sp_vec_free(&s->names);
    sp_vec_free(&s->frames);
}

bool bcc_add_name(struct bcc_stacks *s, const struct bcc_frame *f, bool after)
{
    char hex[20] = "0x";
    struct sp_str name = f->name;
    if (s->names.n >= FRAMES_MAX) { /* the kernel takes far fewer */
        s->capped = true;
        return true;
    }
    if (!name.n && f->has_address)
        name = (struct sp_str){hex, (uint32_t)sp_hex_text(f->address, hex + 2) + 2};
    struct bcc_name x = {.name = sp_profile_text(s->p, name.p, name.n),
                         .address = f->address,
                         .offset = f->offset,
                         .has_address = f->has_address && name.p == hex,
                         .has_offset = f->has_offset,
                         .kernel = f->kernel,
                         .missed = f->missed,
                         .after = after};
    if (f->module.n)
        x.module = sp_profile_text(s->p, f->module.p, f->module.n);
    return x.name != SP_STR_FAIL && x.module != SP_STR_FAIL && sp_vec_push(&s->names, x);
}

/* ---- frames ---- */

/* How many of the names, from the leaf on, are the kernel's; SIZE_MAX: nothing tells. */
static size_t bcc_kernel_part(const struct bcc_stacks *s, const struct bcc_slice *x)
{
    size_t n = SIZE_MAX;
    const struct bcc_name *names = s->names.v + x->first;
    if (x->sides)
        return x->sides == BCC_KERNEL_ONLY ? x->n : 0;
    for (size_t i = 0; x->delimiter && i <= x->n; i++)
        if (i == x->n || names[i].after)
            return i;
    for (size_t i = 0; i < x->n; i++) {
        struct sp_str name = sp_pstr(s->p, names[i].name);
        if (names[i].missed && !names[i].kernel) /* where the program's would begin */
            return i;
        n = names[i].kernel || sp_off_cpu_entry(name.p, name.n) ? i + 1 : n;
    }
    return n;
}

static uint32_t bcc_dso(struct bcc_stacks *s, const struct bcc_name *x, bool kernel)
{
    struct sp_str module = sp_pstr(s->p, x->module);
    struct sp_buf b;
    if (!module.n || sp_str_is(module, "[unknown]") || (!kernel && sp_is_kernel_name(module)))
        return kernel ? s->kernel : s->unknown;
    struct sp_dso dso = {.name = x->module, .is_kernel = kernel};
    if (kernel && *module.p != '[') { /* a module of Linux */
        sp_buf_init(&b, 0);
        sp_buf_printf(&b, "[%.*s]", (int)module.n, module.p);
        dso.name = b.failed ? SP_STR_FAIL : sp_profile_str(s->p, b.data, b.len);
        sp_buf_free(&b);
    }
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(s->p, &dso);
}

static uint32_t bcc_frame(struct bcc_stacks *s, const struct bcc_name *x, uint8_t kind)
{
    struct sp_frame f = {.kind = kind};
    struct sp_str name = sp_pstr(s->p, x->name);
    bool kernel = kind == SP_KERNEL, told = x->kernel || x->module || x->has_address;
    if (!told && name.n > 1 && *name.p == '[') /* [unknown] */
        f.kind = SP_UNKNOWN;
    if (x->missed)
        f.kind = SP_UNKNOWN;
    uint32_t dso = bcc_dso(s, x, kernel);
    f.function = dso == SP_NONE ? SP_NONE : sp_function_intern(s->p, x->name, dso);
    if (x->has_address || sp_is_no_name(name))
        f.flags = SP_FRAME_UNRESOLVED;
    if (x->has_address && !x->module && s->opts->frames <= SP_FRAMES_ADDRESS) {
        f.ip = x->address;
        f.flags |= SP_FRAME_IP;
    }
    if (x->has_offset && !x->has_address && s->opts->frames <= SP_FRAMES_ADDRESS) {
        f.symoff = x->offset;
        f.flags |= SP_FRAME_SYMOFF;
    }
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(s->p, &f);
}

static bool bcc_make_frames(struct bcc_stacks *s, const struct bcc_slice *x)
{
    size_t kernel = bcc_kernel_part(s, x);
    s->frames.n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct bcc_name *name = &s->names.v[x->first + i];
        bool user = name->module || name->has_address; /* and not the kernel's: an address tells */
        uint8_t kind = kernel != SIZE_MAX ? (i < kernel ? SP_KERNEL : SP_USER) : user ? SP_USER : SP_UNKNOWN;
        uint32_t frame = bcc_frame(s, name, kind);
        if (frame == SP_NONE || !sp_vec_push(&s->frames, frame))
            return false;
    }
    return true;
}

/* ---- stacks ---- */

static spaa_status bcc_weigh(struct bcc_stacks *s, const struct bcc_slice *slice, const struct bcc_who *who,
                             const struct sp_context *c, uint32_t layout, const uint32_t metric[2],
                             const int64_t value[2])
{
    bool is_new;
    struct bcc_slice x = *slice;
    if (who->id == 0) /* the idle thread of a CPU has no program */
        x.sides = BCC_KERNEL_ONLY;
    uint32_t context = bcc_make_frames(s, &x) ? sp_context_intern(s->p, c) : SP_NONE;
    uint32_t stack = context == SP_NONE
                         ? SP_NONE
                         : sp_stack_intern(s->p, s->frames.v, s->frames.n, context, SP_UNIFIED, &is_new);
    if (stack == SP_NONE)
        return sp_nomem(s->d);
    sp_stack_set_layout(s->p, stack, layout);
    return sp_weight_add(s->p, stack, metric[0], value[0]) &&
                   (metric[1] == SP_NONE || sp_weight_add(s->p, stack, metric[1], value[1]))
               ? SPAA_OK
               : sp_nomem(s->d);
}

/* False: out of memory. */
static bool bcc_context(struct bcc_stacks *s, uint32_t event, const struct bcc_who *who, bool thread,
                        struct sp_context *c)
{
    unsigned by = s->opts->group_by;
    *c = (struct sp_context){.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = event};
    if (by & SP_BY_COMM)
        c->comm = who->comm;
    if (who->id < 0)
        return true;
    if (!thread)
        c->pid = by & SP_BY_PID ? who->id : SP_ABSENT;
    else if (by & SP_BY_TID) {
        c->tid = who->id;
        return sp_thread_intern_tid(s->p, who->id, who->comm) != SP_NONE;
    }
    return true;
}

/* "x_bcc":{"waker":{"comm":"swapper/0","tid":0},"pair":3}: the other side of an observation. */
static bool bcc_say_other(struct bcc_stacks *s, const char *role, const struct bcc_who *who, uint64_t pair,
                          struct sp_context *c)
{
    struct sp_buf b;
    struct sp_str comm = sp_pstr(s->p, who->comm);
    if (!(s->opts->group_by & SP_BY_COMM))
        return true;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_bcc\":{\"%s\":{\"comm\":", role);
    sp_json_string(&b, comm.p, comm.n);
    if (who->id >= 0)
        sp_buf_printf(&b, ",\"tid\":%lld", (long long)who->id);
    sp_buf_ch(&b, '}');
    if (pair)
        sp_buf_printf(&b, ",\"pair\":%llu", (unsigned long long)pair);
    sp_buf_ch(&b, '}');
    c->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(s->p, b.data, b.len);
    sp_buf_free(&b);
    return c->extra_json != SP_STR_FAIL;
}

spaa_status bcc_add_stack(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *slice,
                          const struct bcc_who *who, int64_t value)
{
    struct sp_context c;
    if (!bcc_context(s, e->event, who, e->title.tool == BCC_OFF_CPU, &c))
        return sp_nomem(s->d);
    if (e->title.tool == BCC_UNTOLD)
        c.pid = c.tid = SP_ABSENT; /* which of the two the number is, the title would say */
    return bcc_weigh(s, slice, who, &c, e->layout, (uint32_t[]){e->metric, e->second},
                     (int64_t[]){value, value});
}

spaa_status bcc_add_blocks(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *slice,
                           const struct bcc_who *who, int64_t bytes, int64_t count)
{
    struct sp_context c;
    if (!bcc_context(s, e->event, who, false, &c))
        return sp_nomem(s->d);
    return bcc_weigh(s, slice, who, &c, e->layout, (uint32_t[]){e->metric, e->second},
                     (int64_t[]){bytes, count});
}

spaa_status bcc_add_wakeup(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *waker,
                           const struct bcc_who *woke, const struct bcc_who *waited, int64_t value)
{
    struct sp_context c;
    int64_t unit = bcc_unit(s, &e->title);
    if (unit && __builtin_mul_overflow(value, unit, &value)) {
        value = INT64_MAX;
        s->rounded = true;
    }
    if (!bcc_context(s, e->wakers, woke, true, &c) || !bcc_say_other(s, "target", waited, s->pairs, &c))
        return sp_nomem(s->d);
    return bcc_weigh(s, waker, woke, &c, e->wakers_layout, (uint32_t[]){e->wakers_metric, SP_NONE},
                     (int64_t[]){value, 0});
}

spaa_status bcc_add_pair(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *waker,
                         const struct bcc_who *woke, const struct bcc_slice *target,
                         const struct bcc_who *waited, int64_t value)
{
    struct sp_context c;
    s->pairs++;
    if (!bcc_context(s, e->event, waited, true, &c) || !bcc_say_other(s, "waker", woke, s->pairs, &c))
        return sp_nomem(s->d);
    spaa_status st =
        bcc_weigh(s, target, waited, &c, e->layout, (uint32_t[]){e->metric, SP_NONE}, (int64_t[]){value, 0});
    return st ? st : bcc_add_wakeup(s, e, waker, woke, waited, value);
}

/* ---- the end ---- */

static void bcc_say(struct bcc_stacks *s)
{
    bool untold = false, wakers = false, period = false;
    for (size_t i = 0; i < s->events.n; i++) {
        const struct bcc_event *e = &s->events.v[i];
        bool times = e->title.tool == BCC_WAKEUP || e->title.tool == BCC_OFF_WAKE;
        untold = untold || e->title.tool == BCC_UNTOLD || (times && !bcc_unit(s, &e->title));
        wakers = wakers || times;
        period = period || e->title.every;
    }
    if (untold)
        sp_emit(s->d, SP_I322, SP_AT_NOTHING,
                "nothing says what the numbers are; --off-cpu us says that they are of offcputime, "
                "offwaketime or wakeuptime");
    if (wakers)
        sp_emit(s->d, SP_I322, SP_AT_NOTHING,
                "the weights of who woke others are how long those had waited, not what they did themselves");
    if (period)
        sp_emit(s->d, SP_I322, SP_AT_NOTHING,
                "profile -c counts cycles of the CPU, or nanoseconds of its clock where it cannot: which is "
                "not said");
    if (s->capped)
        sp_emit(s->d, SP_W311, SP_AT_NOTHING, "of stacks with more than %d frames the others were left out",
                FRAMES_MAX);
    if (s->rounded)
        sp_emit(s->d, SP_L304, SP_AT_NOTHING, " ");
}

/* Grouping that the records have. */
static unsigned bcc_groups(const struct bcc_stacks *s)
{
    unsigned by = 0;
    for (size_t i = 0; i < s->events.n; i++) {
        enum bcc_tool tool = s->events.v[i].title.tool;
        bool threads = tool == BCC_OFF_CPU || tool == BCC_OFF_WAKE || tool == BCC_WAKEUP;
        by |= threads ? SP_BY_TID : tool == BCC_UNTOLD ? 0 : SP_BY_PID;
        by |= tool == BCC_HEAP ? 0 : SP_BY_COMM;
    }
    return by;
}

spaa_status bcc_stacks_end(struct bcc_stacks *s)
{
    struct sp_header *h = &s->p->header;
    spaa_status st = SPAA_OK;
    h->version = sp_profile_cstr(s->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(s->p, "bcc");
    h->has_x_spaa = true;
    h->frames = s->opts->frames > SP_FRAMES_ADDRESS ? SP_FRAMES_FUNCTION : SP_FRAMES_ADDRESS;
    h->group_by = s->opts->group_by & bcc_groups(s);
    if (h->version == SP_STR_FAIL || h->source_tool == SP_STR_FAIL)
        return sp_nomem(s->d);
    bcc_say(s);
    for (size_t i = 0; !st && i < s->events.n; i++) {
        const struct bcc_event *e = &s->events.v[i];
        if (e->event != SP_NONE && bcc_unit(s, &e->title))
            st = sp_waiting_declare(s->p, e->event, bcc_unit(s, &e->title), s->d);
    }
    return st;
}
