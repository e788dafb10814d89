/*
 * Callchains of samples that carry registers and a copy of the user stack (`--call-graph dwarf`).
 *
 * The maps are replayed; samples are gathered with the maps of their epoch and unwound in batches by several
 * threads, which share the files' tables (loaded once, on first use) and have a cache of rows each. A batch's
 * callchains join groups in the order of its samples, so the result does not depend on the threads.
 *
 * The callchain is the kernel's part as recorded, then the user's: PERF_CONTEXT_USER and the addresses. An
 * address that is exact (where a signal interrupted) has a marker of its own before it, since resolve.c takes
 * what follows one as exact. Where the copy ends before the stack does, PD_CONTEXT_TRUNCATED stands last.
 *
 * Without tables for a place (JIT code, hand-written assembly) the chain of frame pointers is followed, if it
 * leads to where something is mapped. A file that is not there ends the stack: what its functions did to the
 * registers cannot be guessed.
 */
#include "formats/perf_data/resolve.h"

#include "base/buf.h"
#include "base/thread.h"
#include "base/watch.h"
#include "unwind/unwind.h"
#include "json/json.h"

#include <pthread.h>
#include <stdatomic.h>

#define DEPTH      1024u
#define ROWS       4096u /* a power of two */
#define BATCH      ((size_t)32 << 10)
#define BLOCK      32u /* samples that a thread takes at a time */
#define COPIED_MAX ((size_t)1 << 20)
#define JOBS_MAX   256u
#define TOLD_MAX   5u

struct module {
    atomic_int ready;
    struct sp_cfi *cfi;
    struct sp_module *module;
    bool lacking; /* a file that is not there */
};

/* A gathered sample, and then its callchain in a worker's `chains`. */
struct task {
    struct sp_pd_maps *maps;
    uint32_t item, worker, n;
    size_t first;
};

struct cached_row {
    uint64_t addr;
    uint32_t dso;
    enum { EMPTY, ROW, NO_ROW } what;
    struct sp_cfi_row row;
};

struct unwinder;

struct worker {
    struct unwinder *u;
    uint32_t number;
    spaa_status st;
    struct cached_row *rows;
    SP_VEC(uint64_t) chains; /* in the recording's byte order */
    SP_VEC(uint64_t) losses; /* stacks that ended for want of a module, by DSO */
    uint64_t truncated, unmapped, unfinished;
};

struct unwinder {
    struct sp_pd *pd;
    struct sp_pd_frames *frames;
    struct sp_symbols *symbols;
    const struct sp_unwind_arch *archs[2]; /* of 64 and of 32 bits */
    struct module *modules;                /* by DSO */
    size_t nmodules;
    pthread_mutex_t lock; /* of symbols and of loading */
    SP_VEC(struct task) tasks;
    atomic_size_t next;
    struct worker *workers;
    uint32_t nworkers;
};

/* Opens a DSO's file and reads its tables; the lock is held. */
static spaa_status pd_unwind_load_module(struct unwinder *u, uint32_t dso, struct module *m)
{
    struct sp_pd_dso_file file = sp_pd_frames_file(u->frames, dso);
    if (!file.file)
        return SPAA_OK;
    struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = file.path, .build_id = file.build_id};
    spaa_status st = sp_symbols_module(u->symbols, &key, &m->module);
    if (st)
        return st;
    const char *path = sp_module_file(m->module), *debug = sp_module_debug(m->module);
    m->lacking = !path && file.path[0] == '/';
    return path || debug ? sp_cfi_load(path, debug, u->pd->d, &m->cfi) : SPAA_OK;
}

/* The module of a DSO; NULL: out of memory. */
static struct module *pd_unwind_module_of(struct worker *w, uint32_t dso)
{
    struct unwinder *u = w->u;
    struct module *m = &u->modules[dso];
    if (atomic_load_explicit(&m->ready, memory_order_acquire))
        return m;
    pthread_mutex_lock(&u->lock);
    if (!atomic_load_explicit(&m->ready, memory_order_relaxed)) {
        w->st = pd_unwind_load_module(u, dso, m);
        if (!w->st)
            atomic_store_explicit(&m->ready, 1, memory_order_release);
    }
    pthread_mutex_unlock(&u->lock);
    return w->st ? NULL : m;
}

/* The row at an offset of a module's file; NULL: it has none. */
static const struct sp_cfi_row *pd_unwind_row_at(struct worker *w, const struct sp_unwind_arch *a,
                                                 const struct module *m, uint32_t dso, uint64_t offset)
{
    struct cached_row *c = &w->rows[(offset ^ offset >> 12 ^ (uint64_t)dso * 0x9e37) % ROWS];
    if (c->what == EMPTY || c->addr != offset || c->dso != dso) {
        uint64_t vaddr;
        c->addr = offset;
        c->dso = dso;
        c->what = sp_cfi_machine(m->cfi) == a->machine && sp_cfi_vaddr(m->cfi, offset, &vaddr) &&
                          sp_cfi_row(m->cfi, vaddr, &c->row)
                      ? ROW
                      : NO_ROW;
    }
    return c->what == ROW ? &c->row : NULL;
}

static enum sp_step pd_unwind_lost_in(struct worker *w, uint32_t dso)
{
    w->losses.v[dso]++;
    return SP_STEP_LOST;
}

/* To the caller of regs->pc. exact: the pc was interrupted, it is no return address. */
static enum sp_step pd_unwind_step(struct worker *w, const struct sp_unwind_arch *a,
                                   const struct sp_pd_maps *maps, const struct sp_unwind_stack *stack,
                                   bool exact, struct sp_unwind_regs *regs)
{
    uint64_t look = regs->pc - !exact;
    const struct sp_pd_map *map = sp_pd_maps_find(maps, look);
    struct module *m = NULL;
    if (map) {
        m = pd_unwind_module_of(w, map->dso);
        if (!m)
            return SP_STEP_LOST;
        if (m->lacking)
            return pd_unwind_lost_in(w, map->dso);
    }
    const struct sp_cfi_row *row =
        m && m->cfi ? pd_unwind_row_at(w, a, m, map->dso, look - map->start + map->pgoff) : NULL;
    if (row)
        return sp_unwind_step(a, m->cfi, row, stack, regs);
    struct sp_unwind_regs next = *regs;
    enum sp_step st = sp_unwind_frame_pointer(a, stack, &next);
    if (st == SP_STEP_OK && sp_pd_maps_find(maps, next.pc - 1)) {
        *regs = next;
        return st;
    }
    if (st == SP_STEP_END || st == SP_STEP_TRUNCATED)
        return st;
    if (map)
        return pd_unwind_lost_in(w, map->dso);
    w->unmapped++;
    return SP_STEP_LOST;
}

static bool pd_unwind_put(struct worker *w, uint64_t v)
{
    v = w->u->pd->swap ? __builtin_bswap64(v) : v;
    return sp_vec_push(&w->chains, v);
}

static bool pd_unwind_user(struct worker *w, const struct sp_unwind_arch *a, const struct sp_pd_maps *maps,
                           const struct sp_unwind_stack *stack, struct sp_unwind_regs *regs)
{
    enum sp_step st = SP_STEP_SIGNAL;
    for (unsigned depth = 0; depth < DEPTH; depth++) {
        bool exact = st == SP_STEP_SIGNAL;
        if ((exact && !pd_unwind_put(w, PD_CONTEXT_USER)) || !pd_unwind_put(w, regs->pc))
            return false;
        st = pd_unwind_step(w, a, maps, stack, exact, regs);
        if (st != SP_STEP_OK && st != SP_STEP_SIGNAL)
            break;
        if (regs->pc >= PD_CONTEXT_MAX) {
            st = SP_STEP_LOST;
            break;
        }
    }
    if (st == SP_STEP_END || st == SP_STEP_LOST) {
        w->unfinished += st == SP_STEP_LOST;
        return !w->st;
    }
    w->truncated++;
    return pd_unwind_put(w, PD_CONTEXT_TRUNCATED);
}

/* The kernel's part of the recorded callchain. */
static bool pd_unwind_put_kernel(struct worker *w, const struct sp_pd_sample *s)
{
    bool swap = w->u->pd->swap;
    if (!s->n && s->mode == PD_MODE_KERNEL)
        return pd_unwind_put(w, PD_CONTEXT_KERNEL) && pd_unwind_put(w, s->ip);
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t v = sp_pd_u64(s->chain + (size_t)i * 8, swap);
        if (v == PD_CONTEXT_USER || v == PD_CONTEXT_USER_DEFERRED)
            break;
        if (!pd_unwind_put(w, v))
            return false;
    }
    return true;
}

static bool pd_unwind_sample(struct worker *w, struct task *t)
{
    struct sp_pd *pd = w->u->pd;
    const struct sp_pd_pending *p = &pd->pending.v[t->item];
    const struct sp_pd_attr *a = &pd->attrs.v[p->shape];
    const unsigned char *rec = sp_pd_at(pd, p->pos);
    size_t size = sp_pd_u16(rec + 6, pd->swap), end;
    static const struct sp_pd_maps none = {0};
    struct sp_pd_sample s;
    struct sp_pd_fields f;
    struct sp_unwind_regs regs;
    t->worker = w->number;
    t->first = w->chains.n;
    sp_pd_sample_fixed(&a->plan, rec, pd->swap, &s);
    if (!sp_pd_chain_read(a, rec, size, pd->swap, &s.chain, &s.n, &end))
        return true; /* was checked in pass 2 */
    sp_pd_fields_read(a, rec, size, end, pd->swap, &f);
    const struct sp_unwind_arch *arch = w->u->archs[f.user_abi == 1];
    bool ok = pd_unwind_put_kernel(w, &s);
    if (ok && arch && sp_unwind_regs_set(arch, a->regs_user, f.user_regs, pd->swap, &regs)) {
        struct sp_unwind_stack stack = {f.stack, (size_t)f.stack_filled, 0, pd->swap};
        stack.base = regs.v[arch->sp];
        ok = pd_unwind_user(w, arch, t->maps ? t->maps : &none, &stack, &regs);
    }
    t->n = (uint32_t)(w->chains.n - t->first);
    if (ok && s.n > t->n) { /* a recorder that followed the frame pointers as well, and farther */
        w->chains.n = t->first;
        ok = sp_vec_reserve(&w->chains, t->first + s.n);
        if (ok)
            memcpy(w->chains.v + t->first, s.chain, (size_t)s.n * 8);
        w->chains.n += ok ? s.n : 0;
        t->n = ok ? s.n : 0;
    }
    return ok;
}

static void *pd_unwind_work(void *arg)
{
    struct worker *w = arg;
    struct unwinder *u = w->u;
    for (size_t at; !w->st && (at = atomic_fetch_add(&u->next, BLOCK)) < u->tasks.n;) {
        w->st = sp_cancelled(u->pd->d);
        for (size_t i = at; i < at + BLOCK && i < u->tasks.n && !w->st; i++)
            if (!pd_unwind_sample(w, &u->tasks.v[i]) && !w->st)
                w->st = SPAA_ERR_NOMEM;
    }
    return NULL;
}

/* Room for what is known by DSO. */
static bool pd_unwind_fit_modules(struct unwinder *u)
{
    size_t n = sp_pd_frames_dsos(u->frames);
    if (n > u->nmodules) {
        struct module *more = calloc(n, sizeof *more);
        if (!more)
            return false;
        for (size_t i = 0; i < u->nmodules; i++) {
            more[i].cfi = u->modules[i].cfi;
            more[i].module = u->modules[i].module;
            more[i].lacking = u->modules[i].lacking;
            atomic_init(&more[i].ready, atomic_load(&u->modules[i].ready));
        }
        free(u->modules);
        u->modules = more;
        u->nmodules = n;
    }
    for (uint32_t i = 0; i < u->nworkers; i++) {
        struct worker *w = &u->workers[i];
        if (!sp_vec_reserve(&w->losses, n))
            return false;
        if (n > w->losses.n)
            memset(w->losses.v + w->losses.n, 0, (n - w->losses.n) * sizeof *w->losses.v);
        w->losses.n = n > w->losses.n ? n : w->losses.n;
        w->chains.n = 0;
    }
    return true;
}

static spaa_status pd_unwind_add_group(struct unwinder *u, const struct task *t)
{
    struct sp_pd *pd = u->pd;
    const struct sp_pd_pending *p = &pd->pending.v[t->item];
    struct sp_pd_sample s;
    sp_pd_sample_fixed(&pd->attrs.v[p->shape].plan, sp_pd_at(pd, p->pos), pd->swap, &s);
    s.pos = p->pos;
    s.period = p->period;
    s.attr = p->attr;
    s.shape = p->shape;
    s.epoch = p->epoch;
    s.state = p->state;
    s.chain = (const unsigned char *)(u->workers[t->worker].chains.v + t->first);
    s.n = t->n;
    sp_pd_sample_hash(pd, &s);
    return sp_pd_group_add(pd, &s, true);
}

static spaa_status pd_unwind_run_batch(struct unwinder *u)
{
    if (!u->tasks.n)
        return SPAA_OK;
    if (!pd_unwind_fit_modules(u))
        return sp_nomem(u->pd->d);
    pthread_t threads[JOBS_MAX];
    uint32_t started = 0, useful = (uint32_t)(u->tasks.n / BLOCK);
    atomic_store(&u->next, 0);
    while (started + 1 < u->nworkers && started < useful &&
           sp_thread_start(&threads[started], pd_unwind_work, &u->workers[started + 1]) == 0)
        started++;
    pd_unwind_work(&u->workers[0]);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; i < u->nworkers && !st; i++)
        st = u->workers[i].st;
    if (st)
        return st == SPAA_ERR_NOMEM ? sp_nomem(u->pd->d) : st;
    for (size_t i = 0; i < u->tasks.n && !st; i++)
        st = pd_unwind_add_group(u, &u->tasks.v[i]);
    return st;
}

static spaa_status pd_unwind_end_batch(struct unwinder *u, struct sp_pd_replay *rp, spaa_status st)
{
    if (!st)
        st = pd_unwind_run_batch(u);
    for (size_t i = 0; i < u->tasks.n; i++)
        sp_pd_replay_release(rp, u->tasks.v[i].maps);
    u->tasks.n = 0;
    return st;
}

static spaa_status pd_unwind_gather(void *arg, struct sp_pd_replay *rp, uint32_t item,
                                    struct sp_pd_maps *maps, int32_t pid)
{
    struct unwinder *u = arg;
    struct task t = {.maps = maps, .item = item};
    (void)pid;
    if (!sp_vec_push(&u->tasks, t))
        return sp_nomem(u->pd->d);
    sp_pd_replay_hold(maps);
    bool full = u->tasks.n >= BATCH || sp_pd_replay_copied(rp) > COPIED_MAX;
    return full ? pd_unwind_end_batch(u, rp, SPAA_OK) : SPAA_OK;
}

static spaa_status pd_unwind_last(void *arg, struct sp_pd_replay *rp, spaa_status st)
{
    return pd_unwind_end_batch(arg, rp, st);
}

struct loss {
    uint32_t dso;
    uint64_t n;
};

static int pd_unwind_by_loss(const void *a, const void *b)
{
    const struct loss *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->dso < y->dso ? -1 : x->dso > y->dso;
}

/* Why stacks end in a module; what helps, which may stand in `hint`. */
static const char *pd_unwind_reason(const struct module *m, struct sp_buf *why, struct sp_buf *hint)
{
    if (m->lacking)
        return sp_module_missing(m->module, why, hint);
    if (m->cfi && sp_cfi_count(m->cfi))
        sp_buf_puts(why, "it does not say how its functions return at these places");
    else if (m->cfi)
        sp_buf_puts(why, "it has no unwind tables (.eh_frame), and no frame pointers lead on");
    else
        sp_buf_puts(why, "no unwind tables, and no frame pointers lead on");
    return "";
}

/* As a diagnostic for the worst few, and in the header's x_perf for all. */
static bool pd_unwind_tell_loss(const struct unwinder *u, const struct loss *l, size_t place)
{
    struct sp_pd *pd = u->pd;
    struct sp_pd_dso_file file = sp_pd_frames_file(u->frames, l->dso);
    const char *name = file.anonymous ? "code that is in no file" : file.name;
    struct sp_buf why, hint;
    sp_buf_init(&why, 16 << 10);
    sp_buf_init(&hint, 16 << 10);
    const char *advice = pd_unwind_reason(&u->modules[l->dso], &why, &hint);
    if (place < TOLD_MAX)
        sp_emit_hint(pd->d, SP_W785, SP_AT_NOTHING, advice, "%s: %llu stack%s there: %s", name,
                     (unsigned long long)l->n, l->n == 1 ? " ends" : "s end", sp_buf_cstr(&why));
    sp_buf_puts(&pd->about, place ? ",{\"dso\":" : "{\"dso\":");
    sp_json_string(&pd->about, name, strlen(name));
    sp_buf_printf(&pd->about, ",\"stacks\":%llu,\"why\":", (unsigned long long)l->n);
    sp_json_string(&pd->about, sp_buf_cstr(&why), strlen(sp_buf_cstr(&why)));
    sp_buf_ch(&pd->about, '}');
    sp_buf_free(&why);
    sp_buf_free(&hint);
    return !pd->about.failed;
}

static spaa_status pd_unwind_report_losses(const struct unwinder *u, uint64_t truncated, uint64_t unmapped)
{
    SP_VEC(struct loss) all = {0};
    uint64_t rest = 0;
    bool ok = true;
    for (size_t dso = 0; dso < u->nmodules && ok; dso++) {
        struct loss l = {(uint32_t)dso, 0};
        for (uint32_t i = 0; i < u->nworkers; i++)
            l.n += u->workers[i].losses.v[dso];
        ok = !l.n || sp_vec_push(&all, l);
    }
    if (ok && all.n)
        qsort(all.v, all.n, sizeof *all.v, pd_unwind_by_loss);
    sp_buf_printf(&u->pd->about,
                  "%s\"unwinding\":{\"samples\":%zu,\"truncated\":%llu,\"unmapped\":%llu,\"ends\":[",
                  u->pd->about.len ? "," : "", u->pd->pending.n, (unsigned long long)truncated,
                  (unsigned long long)unmapped);
    for (size_t i = 0; i < all.n && ok; i++) {
        ok = pd_unwind_tell_loss(u, &all.v[i], i);
        rest += i < TOLD_MAX ? 0 : all.v[i].n;
    }
    ok = sp_buf_puts(&u->pd->about, "]}") && ok;
    if (rest)
        sp_emit(u->pd->d, SP_W785, SP_AT_NOTHING, "%zu more modules where %llu stacks end", all.n - TOLD_MAX,
                (unsigned long long)rest);
    sp_vec_free(&all);
    return ok ? SPAA_OK : sp_nomem(u->pd->d);
}

static spaa_status pd_unwind_report(struct unwinder *u)
{
    struct sp_pd *pd = u->pd;
    uint64_t truncated = 0, unmapped = 0;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < u->nworkers; i++) {
        truncated += u->workers[i].truncated;
        unmapped += u->workers[i].unmapped;
        pd->unfinished += u->workers[i].unfinished;
    }
    for (size_t i = 0; i < pd->attrs.n; i++)
        bytes = pd->attrs.v[i].stack_user > bytes ? pd->attrs.v[i].stack_user : bytes;
    pd->truncated += truncated;
    pd->unwound = pd->pending.n;
    if (truncated)
        sp_emit(pd->d, SP_W786, SP_AT_NOTHING,
                "%llu of %zu stacks are longer than the %u bytes copied of each",
                (unsigned long long)truncated, pd->pending.n, bytes);
    if (unmapped)
        sp_emit(pd->d, SP_I787, SP_AT_NOTHING, "%llu of %zu stacks", (unsigned long long)unmapped,
                pd->pending.n);
    if (!u->archs[0] && !u->archs[1])
        sp_emit(pd->d, SP_W788, SP_AT_NOTHING, "%.*s", (int)pd->arch.n, pd->arch.n ? pd->arch.p : "");
    return pd_unwind_report_losses(u, truncated, unmapped);
}

/* A recording that does not name its processor: the registers it asked for tell. */
static void pd_unwind_find_archs(struct unwinder *u)
{
    struct sp_pd_text name = u->pd->arch;
    for (size_t i = 0; i < u->pd->attrs.n && !name.n; i++) {
        uint64_t mask = u->pd->attrs.v[i].regs_user;
        if (mask)
            name = mask >> 32 & 1 ? (struct sp_pd_text){"aarch64", 7} : (struct sp_pd_text){"x86_64", 6};
    }
    u->archs[0] = sp_unwind_arch(name.p, name.n, false);
    u->archs[1] = sp_unwind_arch(name.p, name.n, true);
}

static spaa_status pd_unwind_begin(struct unwinder *u)
{
    struct sp_pd *pd = u->pd;
    struct sp_symbol_opts opts = pd->opts->symbols;
    opts.no_symbols = false; /* no names are asked for, but files are */
    unsigned jobs = pd->opts->jobs ? pd->opts->jobs : 1;
    u->nworkers = jobs < JOBS_MAX ? jobs : JOBS_MAX;
    u->workers = calloc(u->nworkers, sizeof *u->workers);
    if (!u->workers)
        return sp_nomem(pd->d);
    for (uint32_t i = 0; i < u->nworkers; i++) {
        u->workers[i].u = u;
        u->workers[i].number = i;
        u->workers[i].rows = calloc(ROWS, sizeof *u->workers[i].rows);
        if (!u->workers[i].rows)
            return sp_nomem(pd->d);
    }
    pd_unwind_find_archs(u);
    return sp_symbols_new(&opts, pd->d, &u->symbols);
}

static spaa_status pd_unwind_run(struct unwinder *u)
{
    struct sp_pd *pd = u->pd;
    struct sp_pd_slot *slots = calloc(pd->pending.n, sizeof *slots);
    if (!slots)
        return sp_nomem(pd->d);
    for (size_t i = 0; i < pd->pending.n; i++) {
        const struct sp_pd_epoch *m = &pd->epochs.v[pd->pending.v[i].epoch];
        slots[i] = (struct sp_pd_slot){m->process, m->version, (uint32_t)i};
    }
    const struct sp_pd_visitor visitor = {
        .visit = pd_unwind_gather, .finish = pd_unwind_last, .arg = u, .what = "unwinding"};
    spaa_status st = sp_pd_replay(pd, u->frames, slots, pd->pending.n, &visitor);
    free(slots);
    return st ? st : pd_unwind_report(u);
}

spaa_status sp_pd_unwind(struct sp_pd *pd, struct sp_pd_frames *frames)
{
    struct unwinder u = {.pd = pd, .frames = frames};
    if (!pd->pending.n)
        return SPAA_OK;
    pthread_mutex_init(&u.lock, NULL);
    spaa_status st = pd_unwind_begin(&u);
    if (!st)
        st = pd_unwind_run(&u);
    for (uint32_t i = 0; u.workers && i < u.nworkers; i++) {
        free(u.workers[i].rows);
        sp_vec_free(&u.workers[i].chains);
        sp_vec_free(&u.workers[i].losses);
    }
    for (size_t i = 0; i < u.nmodules; i++)
        sp_cfi_free(u.modules[i].cfi);
    free(u.workers);
    free(u.modules);
    sp_vec_free(&u.tasks);
    sp_symbols_free(u.symbols);
    pthread_mutex_destroy(&u.lock);
    return st;
}
