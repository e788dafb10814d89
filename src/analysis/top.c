#include "analysis/top.h"
#include "analysis/names.h"

#include "analysis/chains.h"
#include "analysis/match.h"
#include "analysis/process.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/identity.h"

#include <stdlib.h>

const char *const sp_by_names[] = {"function", "line", "address", "dso",   "thread", "process",
                                   "comm",     "cpu",  "state",   "event", "source", NULL};

/* Functions in which a CPU has nothing to do, and in which a thread waits, by their exact names. */
static const char *const idle_names[] = {"swapper",        "cpuidle_enter_state", "intel_idle",
                                         "default_idle",   "native_safe_halt",    "acpi_idle_do_entry",
                                         "do_idle",        "mwait_idle",          "pv_native_safe_halt",
                                         "acpi_safe_halt", "poll_idle",           "cpu_idle",
                                         "cpu_idle_loop",  "intel_idle_irq",      NULL};
static const char *const wait_names[] = {
    "__schedule", "schedule",  "schedule_timeout", "futex_wait_queue", "futex_wait_queue_me", "do_nanosleep",
    "ep_poll",    "pipe_wait", "mach_msg2_trap",   "__psynch_cvwait",  "semaphore_wait_trap", "kevent",
    NULL};

const char *const sp_tag_words[] = {"unresolved", "idle", "wait", "kernel", "inlined", "irq-enable", NULL};

/*
 * Functions of the kernel that allow interrupts again, without what compilers put behind names. The timer of
 * a software clock cannot interrupt code that has them off: what such code took is charged to the instruction
 * after the one that allows them. So these are recorded with nearly all of their self weight at one address.
 */
static const char *const irq_names[] = {"_raw_spin_unlock_irqrestore",
                                        "_raw_spin_unlock_irq",
                                        "_raw_read_unlock_irqrestore",
                                        "_raw_read_unlock_irq",
                                        "_raw_write_unlock_irqrestore",
                                        "_raw_write_unlock_irq",
                                        "__raw_spin_unlock_irqrestore",
                                        "__raw_spin_unlock_irq",
                                        "rt_spin_unlock_irqrestore",
                                        "finish_task_switch",
                                        "finish_lock_switch",
                                        "__do_softirq",
                                        "handle_softirqs",
                                        "do_softirq",
                                        "exit_to_user_mode_prepare",
                                        "exit_to_user_mode_loop",
                                        "syscall_exit_to_user_mode",
                                        "syscall_exit_to_user_mode_prepare",
                                        "irqentry_exit_to_user_mode",
                                        "syscall_enter_from_user_mode",
                                        "do_syscall_64",
                                        "exc_page_fault",
                                        "do_user_addr_fault",
                                        "native_irq_enable",
                                        "native_restore_fl",
                                        "pv_native_irq_enable",
                                        "pv_native_restore_fl",
                                        "xen_irq_enable_direct",
                                        "xen_restore_fl_direct",
                                        "arch_local_irq_enable",
                                        "arch_local_irq_restore",
                                        "el0_svc",
                                        "el0_da",
                                        "el0_ia",
                                        "do_notify_resume",
                                        NULL};

/* Sampled by a timer of the kernel's, whatever processor there is: not by a counter, whose interrupt is an
 * NMI. */
bool sp_is_software_clock(const struct sp_profile *p, uint32_t event)
{
    static const char *const clocks[] = {"cpu-clock", "task-clock", NULL};
    struct sp_str name = sp_pstr(p, p->events.v[event].name);
    const char *end = name.n ? strpbrk(name.p, ":/#") : NULL;
    return p->events.v[event].kind == SP_SOFTWARE &&
           sp_name_index(clocks, name.p, end ? (size_t)(end - name.p) : name.n) >= 0;
}

static bool enables_irqs(struct sp_str name)
{
    const char *end = memchr(name.p, '.', name.n);
    return sp_name_index(irq_names, name.p, end ? (size_t)(end - name.p) : name.n) >= 0;
}

unsigned sp_function_tags(const struct sp_profile *p, uint32_t event, uint32_t function)
{
    const struct sp_function *f = &p->functions.v[function];
    struct sp_str name = sp_pstr(p, f->name);
    unsigned tags = 0;
    if (sp_name_index(idle_names, name.p, name.n) >= 0)
        tags |= SP_TAG_IDLE;
    if (sp_name_index(wait_names, name.p, name.n) >= 0)
        tags |= SP_TAG_WAIT;
    if (p->dsos.v[f->dso].is_kernel)
        tags |= SP_TAG_KERNEL;
    if (tags & SP_TAG_KERNEL && sp_is_software_clock(p, event) && enables_irqs(name))
        tags |= SP_TAG_IRQ;
    return tags;
}

/* What the loop over frames touches of a row, and nothing else: there are many frames to a stack. */
struct sum {
    int64_t total, samples;
    uint32_t stamp; /* 1 + the last selected row that contained it */
    bool counted;   /* samples were */
};

struct builder {
    struct sp_selection *s;
    enum sp_by by;
    struct sp_top t;
    uint32_t *key;    /* row number of each frame or context; SP_NONE: not seen yet */
    struct sum *sums; /* per row */
    uint32_t *same;   /* row of each function, or of each DSO where rows are these; SP_NONE: not seen yet */
    uint32_t *whole;  /* per frame: its place in `same`; in little memory, as frames are met in any order */
    unsigned char *tags; /* per frame */
    struct sp_map map;   /* rows by (function, dso, name) */
    struct sp_buf text;
    struct sp_processes processes; /* of rows that are these */
};

static uint32_t new_row(struct builder *b, uint32_t function, uint32_t dso, uint32_t name, unsigned tags)
{
    struct sp_top_row r = {function, dso, name, tags, 0, 0, SP_ABSENT, SP_ABSENT, SP_ABSENT, SP_NONE};
    return name != SP_STR_FAIL && sp_vec_push(&b->t.rows, r) ? (uint32_t)b->t.rows.n - 1 : SP_NONE;
}

static uint32_t row_for(struct builder *b, uint32_t function, uint32_t dso, const char *p, size_t n,
                        unsigned tags)
{
    uint32_t name = sp_intern(&b->t.names, p, n);
    if (name == SP_STR_FAIL)
        return SP_NONE;
    uint64_t hash = sp_hash_mix((uint64_t)function << 32 | dso, name);
    struct sp_probe at = sp_map_probe(&b->map, hash);
    for (uint32_t i; (i = sp_map_next(&b->map, &at)) != SP_MAP_NONE;) {
        struct sp_top_row *r = &b->t.rows.v[i];
        if (r->function == function && r->dso == dso && r->name == name) {
            r->tags |= tags;
            return i;
        }
    }
    return sp_map_add(&b->map, hash, (uint32_t)b->t.rows.n) ? new_row(b, function, dso, name, tags) : SP_NONE;
}

static unsigned frame_tags(const struct sp_frame *f)
{
    return (f->flags & SP_FRAME_UNRESOLVED ? SP_TAG_UNRESOLVED : 0u) |
           (f->flags & SP_FRAME_INLINED ? SP_TAG_INLINED : 0u);
}

/* Rows that are whole functions or DSOs are found by these: frames of one function need no name looked up. */
static uint32_t whole_row(struct builder *b, uint32_t frame)
{
    const struct sp_profile *p = b->s->profile;
    bool dsos = b->by == SP_TOP_DSO;
    uint32_t n = b->whole[frame], *row = &b->same[n];
    if (*row == SP_NONE) {
        uint32_t dso = dsos ? n : p->functions.v[n].dso;
        struct sp_str name = sp_pstr(p, dsos ? p->dsos.v[n].name : p->functions.v[n].name);
        *row = new_row(b, dsos ? SP_NONE : n, dso, sp_intern(&b->t.names, name.p, name.n),
                       p->dsos.v[dso].is_kernel ? SP_TAG_KERNEL : 0u);
    }
    if (b->tags[frame] && *row != SP_NONE)
        b->t.rows.v[*row].tags |= b->tags[frame];
    return *row;
}

/* What whole_row asks of frames. */
static bool brief_frames(struct builder *b)
{
    const struct sp_profile *p = b->s->profile;
    bool dsos = b->by == SP_TOP_DSO;
    size_t n = dsos ? p->dsos.n : p->functions.n;
    b->same = malloc((n + 1) * sizeof *b->same);
    b->whole = malloc((p->frames.n + 1) * sizeof *b->whole);
    b->tags = malloc(p->frames.n + 1);
    if (!b->same || !b->whole || !b->tags)
        return false;
    memset(b->same, 0xff, (n + 1) * sizeof *b->same); /* SP_NONE */
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        b->whole[i] = dsos ? p->functions.v[f->function].dso : f->function;
        b->tags[i] = dsos ? 0 : (unsigned char)frame_tags(f);
    }
    return true;
}

static uint32_t frame_row(struct builder *b, uint32_t frame)
{
    const struct sp_profile *p = b->s->profile;
    if (b->by == SP_TOP_FUNCTION || b->by == SP_TOP_DSO)
        return whole_row(b, frame);
    const struct sp_frame *f = &p->frames.v[frame];
    uint32_t dso = p->functions.v[f->function].dso, function = f->function;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    char t[16];
    sp_buf_clear(&b->text);
    sp_buf_add(&b->text, name.p, name.n);
    if (b->by == SP_TOP_LINE && f->srcline) {
        struct sp_str line = sp_pstr(p, f->srcline);
        sp_buf_ch(&b->text, ' ');
        sp_buf_add(&b->text, line.p, line.n);
    } else if (b->by == SP_TOP_ADDRESS && f->flags & SP_FRAME_SYMOFF) {
        sp_buf_puts(&b->text, "+0x");
        sp_buf_add(&b->text, t, sp_hex_text(f->symoff, t));
    } else if (b->by == SP_TOP_ADDRESS && f->flags & SP_FRAME_IP && !(f->flags & SP_FRAME_UNRESOLVED)) {
        sp_buf_puts(&b->text, " 0x");
        sp_buf_add(&b->text, t, sp_hex_text(f->ip, t));
    }
    return row_for(b, function, dso, b->text.data, b->text.len, frame_tags(f));
}

static void top_number(struct sp_buf *b, int64_t v)
{
    if (v == SP_ABSENT)
        sp_buf_puts(b, "?");
    else
        sp_buf_i64(b, v);
}

static void top_name(struct sp_buf *b, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    sp_buf_add(b, t.n ? t.p : "?", t.n ? t.n : 1);
}

static unsigned state_tags(const struct builder *b, const struct sp_context *c)
{
    struct sp_str state = sp_pstr(b->s->profile, c->state);
    if (b->by != SP_TOP_STATE)
        return 0;
    return sp_str_is(state, "IDLE") ? SP_TAG_IDLE
           : sp_str_is(state, "WAITING") || sp_str_is(state, "TIMED_WAITING") || sp_str_is(state, "BLOCKED")
               ? SP_TAG_WAIT
               : 0;
}

void sp_thread_row(struct sp_buf *b, const struct sp_selection *s, uint32_t context)
{
    const struct sp_pool *pool = sp_pool_of_thread(&s->pools, context);
    struct sp_str name = sp_str_at(&s->pools.names, pool ? pool->name : SP_STR_NONE);
    if (pool)
        sp_buf_add(b, name.p, name.n);
    else
        sp_thread_name(b, s->profile, &s->profile->contexts.v[context]);
}

const struct sp_pool *sp_top_pool(const struct sp_selection *s, enum sp_by by, const struct sp_top_row *row)
{
    return row->context == SP_NONE ? NULL
           : by == SP_TOP_THREAD   ? sp_pool_of_thread(&s->pools, row->context)
           : by == SP_TOP_COMM     ? sp_pool_of_comm(&s->pools, row->context)
                                   : NULL;
}

static uint32_t context_row(struct builder *b, uint32_t context)
{
    const struct sp_profile *p = b->s->profile;
    const struct sp_context *c = &p->contexts.v[context];
    struct sp_buf *t = &b->text;
    sp_buf_clear(t);
    if (b->by == SP_TOP_CPU) {
        top_number(t, c->cpu);
    } else if (b->by == SP_TOP_STATE) {
        top_name(t, p, c->state);
    } else if (b->by == SP_TOP_SOURCE) {
        top_name(t, p, c->source);
    } else if (b->by == SP_TOP_EVENT) {
        top_name(t, p, p->events.v[c->event].name);
    } else if (b->by == SP_TOP_PROCESS) {
        struct sp_str process = sp_process_name(p, &b->processes, c->pid);
        sp_buf_add(t, process.p, process.n);
        sp_buf_puts(t, process.n ? " (pid " : "pid ");
        top_number(t, c->pid);
        sp_buf_puts(t, process.n ? ")" : "");
    } else if (b->by == SP_TOP_THREAD) {
        sp_thread_row(t, b->s, context);
    } else if (b->s->pools.comm[context] != SP_STR_NONE) {
        struct sp_str comm = sp_str_at(&b->s->pools.names, b->s->pools.comm[context]);
        sp_buf_add(t, comm.p, comm.n);
    } else {
        top_name(t, p, SP_STR_NONE);
    }
    uint32_t row = row_for(b, SP_NONE, SP_NONE, sp_buf_cstr(t), t->len, state_tags(b, c));
    if (row != SP_NONE && b->t.rows.v[row].context == SP_NONE)
        b->t.rows.v[row].context = context;
    return row;
}

static void top_add_samples(int64_t *to, int64_t v)
{
    if (v > SP_DECIMAL)
        *to = (*to == SP_ABSENT ? 0 : *to) + v;
}

static uint32_t top_key_of(struct builder *b, uint32_t thing, uint32_t (*make)(struct builder *, uint32_t))
{
    if (b->key[thing] == SP_NONE)
        b->key[thing] = make(b, thing);
    return b->key[thing];
}

static bool top_add_self(struct builder *b, uint32_t row, const struct sp_selected *x)
{
    if (row == SP_NONE)
        return false;
    b->t.rows.v[row].self += x->weight;
    top_add_samples(&b->t.rows.v[row].samples, x->samples);
    return true;
}

static inline void top_add_total(struct sum *y, const struct sp_selected *x, uint32_t stamp)
{
    if (y->stamp == stamp)
        return;
    y->stamp = stamp;
    y->total += x->weight;
    if (x->samples > SP_DECIMAL) {
        y->samples += x->samples;
        y->counted = true;
    }
}

static bool by_frames(struct builder *b)
{
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t n;
        const struct sp_selected *x = &b->s->rows.v[i];
        const uint32_t *f = sp_selected_frames(b->s, i, &n);
        if (!f)
            return false;
        if (!n) { /* an observation without a stack is weight all the same */
            uint32_t row = row_for(b, SP_NONE, SP_NONE, "[no stack]", 10, SP_TAG_UNRESOLVED);
            if (!top_add_self(b, row, x))
                return false;
            top_add_total(&b->sums[row], x, (uint32_t)i + 1);
            continue;
        }
        if (!top_add_self(b, top_key_of(b, f[0], frame_row), x))
            return false;
        for (size_t k = 0; k < n; k++) {
            uint32_t row = b->key[f[k]];
            if (row == SP_NONE && (row = top_key_of(b, f[k], frame_row)) == SP_NONE)
                return false;
            top_add_total(&b->sums[row], x, (uint32_t)i + 1);
        }
    }
    return true;
}

static int64_t top_weight_of(const struct sp_top_row *r, bool total)
{
    return total ? r->total : r->self;
}

/* Down to its place in a heap whose least stands first. */
static void sink(int64_t *heap, size_t n, int64_t v)
{
    size_t i = 0;
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && heap[k + 1] < heap[k];
        if (heap[k] >= v)
            break;
        heap[i] = heap[k];
    }
    heap[i] = v;
}

/* The weight of the row that will be number n by it; INT64_MIN: there are not so many. */
static bool weight_at(const struct builder *b, size_t n, bool total, int64_t *out)
{
    size_t rows = b->t.rows.n;
    *out = INT64_MIN;
    if (n > rows || !n)
        return true;
    int64_t *best = malloc(n * sizeof *best);
    if (!best)
        return false;
    for (size_t i = 0; i < n; i++)
        best[i] = INT64_MIN;
    for (size_t i = 0; i < rows; i++)
        if (top_weight_of(&b->t.rows.v[i], total) > best[0])
            sink(best, n, top_weight_of(&b->t.rows.v[i], total));
    *out = best[0];
    free(best);
    return true;
}

/* ---- only the first rows by self ---- */

static bool flats(struct builder *b)
{
    enum { AHEAD = 16 };
    const struct sp_profile *p = b->s->profile;
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t len;
        const struct sp_selected *x = &b->s->rows.v[i];
        if (i + AHEAD < b->s->rows.n)
            __builtin_prefetch(p->stack_frames.v + p->stacks.v[x[AHEAD].stack].first);
        const uint32_t *f = sp_selected_frames(b->s, i, &len);
        uint32_t row = f && len ? top_key_of(b, f[0], frame_row)
                       : f      ? row_for(b, SP_NONE, SP_NONE, "[no stack]", 10, SP_TAG_UNRESOLVED)
                                : SP_NONE;
        if (!top_add_self(b, row, x))
            return false;
        if (!len)
            top_add_total(&b->sums[row], x, (uint32_t)i + 1);
    }
    return true;
}

/* What a frame means to a stack that has it, as one bit. */
enum { LIGHT = 0, SLOTS = 62, NOT_SEEN = 63 };

struct heavy {
    unsigned char *slot; /* per frame: LIGHT, 1 + place in rows, or NOT_SEEN */
    uint32_t rows[SLOTS];
    size_t n;
    uint64_t bit[NOT_SEEN + 1]; /* of each slot */
};

/* Rows of at least this self weight; false: there are too many, or rows not seen yet may be some. */
static bool heavy_rows(const struct builder *b, int64_t least, struct heavy *h)
{
    for (uint32_t i = 0; i < b->t.rows.n; i++) {
        if (b->t.rows.v[i].self < least)
            continue;
        if (h->n == SLOTS)
            return false;
        h->rows[h->n++] = i;
    }
    return least > 0;
}

static bool top_see(struct builder *b, struct heavy *h, const uint32_t *f, size_t len)
{
    for (size_t k = 0; k < len; k++) {
        if (h->slot[f[k]] != NOT_SEEN)
            continue;
        uint32_t row = top_key_of(b, f[k], frame_row);
        if (row == SP_NONE)
            return false;
        h->slot[f[k]] = LIGHT;
        for (size_t i = 0; i < h->n; i++)
            if (h->rows[i] == row)
                h->slot[f[k]] = (unsigned char)(i + 1);
    }
    return true;
}

/* Looked up, a bit takes half the instructions of a shift; frames are many. */
static inline uint64_t slots_of(const struct heavy *h, const uint32_t *f, size_t len)
{
    uint64_t even = 0, odd = 0;
    size_t k = 0;
    for (; k + 4 <= len; k += 4) {
        even |= h->bit[h->slot[f[k]]] | h->bit[h->slot[f[k + 1]]];
        odd |= h->bit[h->slot[f[k + 2]]] | h->bit[h->slot[f[k + 3]]];
    }
    for (; k < len; k++)
        even |= h->bit[h->slot[f[k]]];
    return even | odd;
}

/* A stack is the set of heavy rows it has, found without a branch for each frame. */
static bool cums_of_heavy(struct builder *b, struct heavy *h)
{
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t len;
        const struct sp_selected *x = &b->s->rows.v[i];
        const uint32_t *f = sp_selected_frames(b->s, i, &len);
        if (!f)
            return false;
        uint64_t bits = slots_of(h, f, len);
        if (bits >> NOT_SEEN) {
            if (!top_see(b, h, f, len))
                return false;
            bits = slots_of(h, f, len);
        }
        for (bits >>= 1; bits; bits &= bits - 1)
            top_add_total(&b->sums[h->rows[__builtin_ctzll(bits)]], x, (uint32_t)i + 1);
    }
    return true;
}

static bool top_add_totals(struct builder *b)
{
    for (size_t i = 0; i < b->s->rows.n; i++) {
        size_t len;
        const uint32_t *f = sp_selected_frames(b->s, i, &len);
        if (!f)
            return false;
        for (size_t k = 0; k < len; k++) {
            uint32_t row = top_key_of(b, f[k], frame_row);
            if (row == SP_NONE)
                return false;
            top_add_total(&b->sums[row], &b->s->rows.v[i], (uint32_t)i + 1);
        }
    }
    return true;
}

/*
 * The same when only the first n rows by self will be shown: self weights first, then with callees only the
 * rows that these make one of the n.
 */
static bool by_heavy_frames(struct builder *b, size_t n)
{
    int64_t least;
    struct heavy h = {0};
    size_t frames = b->s->profile->frames.n;
    if (!flats(b) || !weight_at(b, n, false, &least))
        return false;
    if (!heavy_rows(b, least, &h))
        return top_add_totals(b);
    for (unsigned i = 0; i <= NOT_SEEN; i++)
        h.bit[i] = (uint64_t)1 << i;
    h.slot = malloc(frames + 1);
    if (h.slot)
        memset(h.slot, NOT_SEEN, frames + 1);
    bool ok = h.slot && cums_of_heavy(b, &h);
    free(h.slot);
    return ok;
}

static bool by_contexts(struct builder *b)
{
    for (size_t i = 0; i < b->s->rows.n; i++) {
        const struct sp_selected *x = &b->s->rows.v[i];
        uint32_t row = top_key_of(b, b->s->profile->stacks.v[x->stack].context, context_row);
        if (!top_add_self(b, row, x))
            return false;
        top_add_total(&b->sums[row], x, (uint32_t)i + 1);
    }
    return true;
}

struct order {
    const struct sp_top *t;
    bool total;
};

static int top_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct order *o = arg;
    const struct sp_top_row *a = va, *b = vb;
    int64_t x[2] = {o->total ? a->total : a->self, o->total ? a->self : a->total};
    int64_t y[2] = {o->total ? b->total : b->self, o->total ? b->self : b->total};
    for (int i = 0; i < 2; i++)
        if (x[i] != y[i])
            return x[i] > y[i] ? -1 : 1;
    int c = sp_str_cmp(sp_str_at(&o->t->names, a->name), sp_str_at(&o->t->names, b->name));
    const struct sp_profile *p = o->t->profile;
    if (!c && a->dso != SP_NONE && b->dso != SP_NONE)
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[a->dso].name), sp_pstr(p, p->dsos.v[b->dso].name));
    return c ? c : (a->dso > b->dso) - (a->dso < b->dso);
}

/* Rows that may be among the first n come to the front, in order. */
static bool sort_rows(struct builder *b, bool total, size_t n)
{
    struct order o = {&b->t, total};
    struct sp_top_row *rows = b->t.rows.v;
    size_t front = b->t.rows.n;
    int64_t least = INT64_MIN;
    if (n && n < front) {
        if (!weight_at(b, n, total, &least))
            return false;
        front = 0;
        for (size_t i = 0; i < b->t.rows.n; i++) {
            if (top_weight_of(&rows[i], total) < least)
                continue;
            struct sp_top_row r = rows[i];
            rows[i] = rows[front];
            rows[front++] = r;
        }
    }
    if (front)
        qsort_r(rows, front, sizeof *rows, top_cmp_row, &o);
    for (size_t i = 0; i < front && b->by <= SP_TOP_ADDRESS; i++)
        if (rows[i].function != SP_NONE)
            rows[i].tags |= sp_function_tags(b->s->profile, b->s->event, rows[i].function);
    return true;
}

static spaa_status top_find_bounds(struct builder *b, struct sp_diags *d)
{
    bool known;
    if (b->by > SP_TOP_DSO || !sp_chains_tell(b->s))
        return SPAA_OK;
    int64_t *more = malloc((b->t.rows.n + 1) * sizeof *more);
    spaa_status st = more ? sp_chains_at_most(b->s, b->key, b->t.rows.n, d, more, &known) : sp_nomem(d);
    for (size_t i = 0; !st && known && i < b->t.rows.n; i++)
        if (b->t.rows.v[i].dso != SP_NONE)
            b->t.rows.v[i].at_most = b->t.rows.v[i].total + more[i];
    free(more);
    return st;
}

static bool top_add_rows(struct builder *b, size_t limit)
{
    const struct sp_selection *s = b->s;
    if (b->by > SP_TOP_DSO)
        return by_contexts(b);
    /* Stacks that filters change are made anew each time: once is enough. */
    return limit && !s->hidden && !s->roots && !s->no_inlined ? by_heavy_frames(b, limit) : by_frames(b);
}

spaa_status sp_top_build(struct sp_selection *s, enum sp_by by, bool sort_total, struct sp_diags *d,
                         struct sp_top *out)
{
    return sp_top_build_some(s, by, sort_total, 0, d, out);
}

spaa_status sp_top_build_some(struct sp_selection *s, enum sp_by by, bool sort_total, size_t limit,
                              struct sp_diags *d, struct sp_top *out)
{
    struct builder b = {.s = s, .by = by, .t = {.profile = s->profile}};
    bool frames = by <= SP_TOP_DSO;
    size_t n = frames ? s->profile->frames.n : s->profile->contexts.n;
    sp_buf_init(&b.text, 0);
    b.key = malloc((n + 1) * sizeof *b.key);
    b.sums = calloc(n + 2, sizeof *b.sums); /* a row for each frame or context at most, and [no stack] */
    bool ok = sp_strtab_init(&b.t.names) && b.key && b.sums &&
              ((by != SP_TOP_FUNCTION && by != SP_TOP_DSO) || brief_frames(&b)) &&
              (by != SP_TOP_PROCESS || !sp_processes_of(s->profile, d, &b.processes));
    for (size_t i = 0; ok && i < n; i++)
        b.key[i] = SP_NONE;
    if (ok)
        ok = top_add_rows(&b, sort_total ? 0 : limit);
    for (size_t i = 0; ok && i < b.t.rows.n; i++) {
        b.t.rows.v[i].total = b.sums[i].total;
        b.t.rows.v[i].total_samples = b.sums[i].counted ? b.sums[i].samples : SP_ABSENT;
    }
    ok = ok && !top_find_bounds(&b, d) && sort_rows(&b, sort_total, limit);
    free(b.key);
    free(b.sums);
    free(b.same);
    free(b.whole);
    free(b.tags);
    sp_map_free(&b.map);
    sp_processes_free(&b.processes);
    ok = ok && !b.text.failed;
    sp_buf_free(&b.text);
    if (!ok) {
        sp_top_free(&b.t);
        return sp_nomem(d);
    }
    *out = b.t;
    return SPAA_OK;
}

void sp_top_free(struct sp_top *t)
{
    sp_vec_free(&t->rows);
    sp_strtab_free(&t->names);
    for (size_t i = 0; i < SP_TOP_EXTRAS; i++)
        sp_vec_free(&t->extras[i]);
}

spaa_status sp_top_sum(struct sp_selection *s, const char *pattern, struct sp_diags *d, int64_t *weight,
                       int64_t *samples)
{
    unsigned char *hits = NULL;
    spaa_status st = sp_match_functions(s->profile, pattern, d, &hits);
    *weight = 0;
    *samples = SP_ABSENT;
    for (size_t i = 0; !st && i < s->rows.n; i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(s, i, &n);
        if (!f)
            st = sp_nomem(d);
        for (size_t k = 0; !st && k < n; k++) {
            if (!hits[s->profile->frames.v[f[k]].function])
                continue;
            *weight += s->rows.v[i].weight;
            top_add_samples(samples, s->rows.v[i].samples);
            break;
        }
    }
    free(hits);
    return st;
}
