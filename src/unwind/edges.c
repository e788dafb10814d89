#include "unwind/edges.h"

#include "base/num.h"
#include "model/edges.h"
#include "symbols/bind.h"
#include "unwind/calls.h"
#include "unwind/functions.h"

#include <string.h>

enum { WALK_MAX = 64, HOPS_MAX = 4, PLACES_MAX = 8, KNOWN = 4096 /* a power of two */ };

/* The call before a return address; addr 0: none. */
struct known_call {
    uint64_t addr;
    uint32_t module;
    enum sp_call how;
    struct sp_code_exit to;
};

struct sp_edges {
    struct sp_functions f;
    struct known_call known[KNOWN]; /* those asked about lately */
};

struct sp_edges *sp_edges_new(struct sp_diags *d)
{
    struct sp_edges *e = calloc(1, sizeof *e);
    if (e)
        e->f.d = d;
    return e;
}

void sp_edges_free(struct sp_edges *e)
{
    if (!e)
        return;
    sp_functions_free(&e->f);
    free(e);
}

/* ---- where names lead ---- */

/* A place in a module. */
struct spot {
    uint32_t module;
    uint64_t addr;
};

/* What is asked about: from where control comes, and the frame that it is to get to. */
struct question {
    struct sp_edges *e;
    const struct sp_edge_scene *scene;
    struct spot callee; /* module UINT32_MAX: none */
    uint32_t function;  /* of the callee, UINT32_MAX: not known */
    bool by_scene;
    bool of_main; /* the call is that of main, which was not read from it: less is believed */
};

static bool is_loader(struct sp_module *m)
{
    const char *path = sp_module_key(m)->path, *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path;
    return base && (!strncmp(base, "ld-", 3) || !strncmp(base, "ld.so", 5));
}

/*
 * Where the modules of the process define a name; *open: perhaps elsewhere, too, or in a place that the
 * program chooses when it starts. False: failed.
 */
static bool defined_at(struct question *q, const char *name, struct spot *out, size_t *n, bool *open)
{
    struct sp_functions *f = &q->e->f;
    uint64_t places[PLACES_MAX];
    bool chosen;
    *n = 0;
    *open = !q->scene->complete;
    q->by_scene = true;
    for (size_t i = 0; i < q->scene->n; i++) {
        uint32_t module = sp_functions_module(f, q->scene->modules[i]);
        if (module == UINT32_MAX)
            return false;
        const struct sp_code_module *m = &f->modules.v[module];
        size_t found = m->names ? sp_mcode_exports(m->names, name, places, PLACES_MAX, &chosen) : 0;
        *open = *open || !m->names || (found && (chosen || !m->code)) || found == PLACES_MAX;
        for (size_t k = 0; k < found && *n < PLACES_MAX; k++)
            out[(*n)++] = (struct spot){module, places[k]};
    }
    *open = *open || *n != 1;
    return true;
}

/* ---- where control goes on ---- */

enum road { ROAD_REACHES, ROAD_OPEN, ROAD_CLOSED };

struct walk {
    uint32_t functions[WALK_MAX];
    size_t n;
    bool open, reached;
};

/* `part` is a part of the function `whole` that the compiler moved away: foo.cold, foo.cold.3, foo.warm. */
static bool edges_is_part(const char *whole, const char *part)
{
    size_t n = whole && part ? strlen(whole) : 0;
    return n && !strncmp(whole, part, n) &&
           (!strncmp(part + n, ".cold", 5) || !strncmp(part + n, ".warm", 5));
}

/* The callee is in the function, or in a part of it. */
static bool is_callee(const struct question *q, uint32_t function)
{
    const struct sp_functions *f = &q->e->f;
    const struct sp_function_code *x = &f->functions.v[function];
    if (q->callee.module != x->module)
        return false;
    if (q->callee.addr >= x->start && q->callee.addr < x->end)
        return true;
    if (q->function == UINT32_MAX)
        return false;
    const struct sp_function_code *to = &f->functions.v[q->function];
    return (x->start >= to->start && x->start < to->end) || edges_is_part(x->name, to->name) ||
           edges_is_part(to->name, x->name);
}

/* Nobody can say whether the callee is a part of the function, which has no name to tell. */
static bool may_be_part(const struct question *q, uint32_t function)
{
    const struct sp_functions *f = &q->e->f;
    const struct sp_function_code *x = &f->functions.v[function];
    if (q->callee.module != x->module)
        return false;
    if (q->function == UINT32_MAX)
        return true;
    const struct sp_function_code *to = &f->functions.v[q->function];
    return (!to->name || !x->name) && sp_mcode_has_landings(f->modules.v[x->module].code);
}

static bool go_to(struct question *q, struct walk *w, struct spot at, unsigned hops);

/* Through a stub to what its slot names. */
static bool go_through(struct question *q, struct walk *w, uint32_t module, const struct sp_code_exit *e,
                       unsigned hops)
{
    struct spot at[PLACES_MAX];
    size_t n;
    bool open;
    if (!e->name)
        return go_to(q, w, (struct spot){module, e->to}, hops);
    if (!defined_at(q, e->name, at, &n, &open))
        return false;
    w->open = w->open || open;
    for (size_t i = 0; i < n && hops < HOPS_MAX; i++)
        if (!go_to(q, w, at[i], hops + 1))
            return false;
    return true;
}

/* Control comes to a place: the function there is one to go on from. */
static bool go_to(struct question *q, struct walk *w, struct spot at, unsigned hops)
{
    struct sp_functions *f = &q->e->f;
    struct sp_mcode *code = f->modules.v[at.module].code;
    struct sp_code_exit e = {0, NULL};
    uint64_t slot;
    uint32_t function = sp_functions_at(f, at.module, at.addr);
    if (f->failed)
        return false;
    if (function != UINT32_MAX && is_callee(q, function)) {
        w->reached = true;
        return true;
    }
    if (code && sp_mcode_stub(code, at.addr, &slot)) {
        enum sp_slot what = sp_mcode_slot(code, slot, &e.name, &e.to);
        /* Until it was called once, it leads into the loader. */
        bool loading = q->callee.module != UINT32_MAX && is_loader(f->modules.v[q->callee.module].symbols);
        w->open = w->open || what == SP_SLOT_UNKNOWN || loading || hops >= HOPS_MAX;
        return w->open || go_through(q, w, at.module, &e, hops + 1);
    }
    for (size_t i = 0; i < w->n; i++)
        if (w->functions[i] == function)
            return true;
    if (function == UINT32_MAX || w->n == WALK_MAX)
        w->open = true;
    else
        w->functions[w->n++] = function;
    return !f->failed;
}

/* All that can be got to from a place by jumps, as long as it matters. False: failed. */
static bool walk_from(struct question *q, struct spot at, struct walk *w)
{
    struct sp_functions *f = &q->e->f;
    *w = (struct walk){.n = 0};
    if (!go_to(q, w, at, 0))
        return false;
    for (size_t i = 0; i < w->n && !w->reached; i++) {
        uint32_t function = w->functions[i];
        if (!sp_functions_exits(f, function))
            return false;
        struct sp_function_code x = f->functions.v[function];
        w->open = w->open || x.open || may_be_part(q, function);
        for (uint32_t k = 0; k < x.exits && !w->reached; k++) {
            struct sp_code_exit to = f->to.v[x.first_exit + k];
            if (!go_through(q, w, x.module, &to, 0))
                return false;
        }
    }
    return true;
}

static enum road road_of(const struct walk *w)
{
    return w->reached ? ROAD_REACHES : w->open ? ROAD_OPEN : ROAD_CLOSED;
}

/*
 * Whether the function may itself have called the callee; main must be seen to: what libc calls through a
 * register says nothing else of the chain. False: failed.
 */
static bool may_call(struct question *q, uint32_t function, bool *may)
{
    struct sp_functions *f = &q->e->f;
    if (!sp_functions_calls(f, function))
        return false;
    struct sp_function_code x = f->functions.v[function];
    *may = x.open_calls && !q->of_main;
    for (uint32_t k = 0; k < x.calls && !*may; k++) {
        struct sp_code_exit to = f->to.v[x.first_call + k];
        struct walk w = {.n = 0};
        struct spot at = {x.module, to.to};
        if (to.name) {
            struct spot all[PLACES_MAX];
            size_t n;
            bool open;
            if (!defined_at(q, to.name, all, &n, &open))
                return false;
            *may = open && !q->of_main;
            if (open && q->of_main)
                continue;
            at = n ? all[0] : at;
        }
        if (*may)
            break;
        if (!walk_from(q, at, &w))
            return false;
        *may = q->of_main ? w.reached : road_of(&w) != ROAD_CLOSED;
    }
    return true;
}

/* ---- the call ---- */

static bool starts(const char *name, const char *with)
{
    return name && !strncmp(name, with, strlen(with));
}

/* Code that goes where a register says, or takes the return address off again. */
static bool is_thunk(const char *name)
{
    return starts(name, "__x86_indirect") || starts(name, "__x86_return") ||
           starts(name, "__llvm_retpoline") || starts(name, "__llvm_external_retpoline") ||
           starts(name, "__x86.get_pc_thunk");
}

/* Functions that a runtime puts on a stack by itself: nobody calls them. */
static bool is_injected(const char *name)
{
    return starts(name, "runtime.asyncPreempt") || starts(name, "runtime.sigpanic");
}

/* What a signal's handler returns to: mov $15,%rax; syscall, or mov x8,#139; svc #0. */
static bool returns_from_signal(struct sp_mcode *code, uint64_t at)
{
    static const unsigned char x86[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const unsigned char arm64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
    unsigned char have[sizeof x86];
    size_t n = sp_mcode_read(code, at, have, sizeof have);
    return (n >= sizeof x86 && !memcmp(have, x86, sizeof x86)) ||
           (n >= sizeof arm64 && !memcmp(have, arm64, sizeof arm64));
}

/* The call before a return address, where it is known; CALL_NONE: there is none. */
static enum sp_call call_of(struct sp_edges *e, struct spot at, struct sp_insn *out)
{
    struct sp_mcode *code = e->f.modules.v[at.module].code;
    unsigned machine = sp_mcode_machine(code);
    unsigned char before[SP_INSN_MAX];
    size_t n = SP_INSN_MAX;
    while (n && !sp_mcode_at(code, at.addr - n))
        n--;
    if (sp_mcode_read(code, at.addr - n, before, n) != n)
        return SP_CALL_INDIRECT; /* it could not be read */
    enum sp_call call = sp_call_before(machine, before, n, at.addr, out);
    if (call != SP_CALL_EITHER)
        return call;
    uint32_t function = sp_functions_at(&e->f, at.module, at.addr - 1);
    unsigned kind = function == UINT32_MAX ? 0 : sp_functions_kind_before(&e->f, function, at.addr);
    return kind == SP_INSN_CALL ? SP_CALL_DIRECT : SP_CALL_INDIRECT;
}

/* The call leads to a name or a place; what is there, if it is one. False: failed. */
static bool target_of(struct question *q, struct spot caller, const struct sp_code_exit *to, struct spot *out,
                      bool *open)
{
    struct sp_functions *f = &q->e->f;
    struct sp_code_exit e = *to;
    *out = (struct spot){caller.module, to->to};
    *open = false;
    for (unsigned hops = 0; !*open && hops <= HOPS_MAX; hops++) {
        struct spot all[PLACES_MAX];
        size_t n;
        uint64_t slot;
        if (e.name) {
            if (!defined_at(q, e.name, all, &n, open))
                return false;
            if (!*open)
                *out = all[0];
        }
        struct sp_mcode *code = f->modules.v[out->module].code;
        if (*open || !code || !sp_mcode_stub(code, out->addr, &slot))
            return true;
        *open = sp_mcode_slot(code, slot, &e.name, &e.to) == SP_SLOT_UNKNOWN;
        out->addr = e.to;
    }
    *open = true;
    return true;
}

/* The call cannot have been of the callee: is its target proven to be there? */
static bool judge_target(struct question *q, struct spot caller, const struct sp_code_exit *to,
                         const struct walk *w, struct sp_judgement *out)
{
    struct sp_functions *f = &q->e->f;
    struct spot target;
    bool open, may;
    out->verdict = SP_EDGE_IMPOSSIBLE;
    if (!target_of(q, caller, to, &target, &open))
        return false;
    uint32_t function = open ? UINT32_MAX : sp_functions_at(f, target.module, target.addr);
    if (function == UINT32_MAX || f->functions.v[function].start != target.addr)
        return !f->failed;
    for (size_t i = 0; i < w->n; i++) /* it may have gone on to another one, and be no more */
        if (w->functions[i] != function &&
            !edges_is_part(f->functions.v[function].name, f->functions.v[w->functions[i]].name))
            return true;
    out->verdict = SP_EDGE_MISSING;
    out->target = (struct sp_edge_side){f->modules.v[target.module].symbols, target.addr};
    if (!may_call(q, function, &may))
        return false;
    out->below = !may;
    return true;
}

/*
 * The call before a return address and where it leads: SP_CALL_INDIRECT where that may be anywhere,
 * SP_CALL_NONE where nothing was called.
 */
static enum sp_call decode_call(struct sp_edges *e, struct spot caller, struct sp_code_exit *to)
{
    struct sp_functions *f = &e->f;
    struct sp_mcode *code = f->modules.v[caller.module].code;
    struct sp_insn call;
    enum sp_call how = call_of(e, caller, &call);
    *to = (struct sp_code_exit){call.target, NULL};
    if (how == SP_CALL_INDIRECT) {
        bool slotted = call.kind == SP_INSN_CALL_INDIRECT && call.slotted;
        bool known = slotted && sp_mcode_slot(code, call.slot, &to->name, &to->to) != SP_SLOT_UNKNOWN;
        return known ? SP_CALL_DIRECT : SP_CALL_INDIRECT;
    }
    if (how == SP_CALL_NONE) {
        /* An address that was put there for something to return to: nothing was called from before it. */
        uint32_t after = sp_functions_at(f, caller.module, caller.addr);
        bool planted = after != UINT32_MAX && caller.addr - f->functions.v[after].start < 2;
        return planted || returns_from_signal(code, caller.addr) ? SP_CALL_INDIRECT : SP_CALL_NONE;
    }
    uint32_t called = sp_functions_at(f, caller.module, to->to);
    bool thunk = called != UINT32_MAX && is_thunk(f->functions.v[called].name);
    return thunk || to->to == caller.addr ? SP_CALL_INDIRECT : how; /* call of what follows: to learn where */
}

static enum sp_call what_call(struct sp_edges *e, struct spot caller, struct sp_code_exit *to)
{
    struct known_call *k = &e->known[(caller.addr ^ caller.addr >> 12 ^ caller.module * 0x9e37u) % KNOWN];
    if (k->addr != caller.addr || k->module != caller.module) {
        k->how = decode_call(e, caller, &k->to);
        k->addr = caller.addr;
        k->module = caller.module;
    }
    *to = k->to;
    return k->how;
}

/* All places to which the call leads, and on. False: failed. */
static bool walk_call(struct question *q, struct spot caller, const struct sp_code_exit *to, struct walk *w)
{
    struct spot all[PLACES_MAX];
    size_t n;
    bool open = false, ok = true;
    if (!to->name)
        return walk_from(q, (struct spot){caller.module, to->to}, w);
    *w = (struct walk){.n = 0};
    if (!defined_at(q, to->name, all, &n, &open))
        return false;
    for (size_t i = 0; ok && i < n && !w->reached; i++)
        ok = walk_from(q, all[i], w);
    w->open = w->open || open;
    return ok;
}

/* ---- main, which libc calls through a register ---- */

/* Of exit(main(…)) in what libc starts programs with: call *…; mov %eax,%edi; call exit. */
static bool calls_main(struct sp_edges *e, struct spot caller)
{
    static const unsigned char then[] = {0x89, 0xc7, 0xe8};
    static const char *const starters[] = {"__libc_start_call_main", "__libc_start_main",
                                           "__libc_start_main_impl", "generic_start_main"};
    struct sp_mcode *code = e->f.modules.v[caller.module].code;
    unsigned char have[sizeof then];
    if (sp_mcode_machine(code) != SP_MACHINE_X86_64 ||
        sp_mcode_read(code, caller.addr, have, sizeof have) != sizeof have ||
        memcmp(have, then, sizeof have) != 0)
        return false;
    uint32_t function = sp_functions_at(&e->f, caller.module, caller.addr - 1);
    const char *name = function == UINT32_MAX ? NULL : e->f.functions.v[function].name;
    for (size_t i = 0; name && i < sizeof starters / sizeof *starters; i++)
        if (!strncmp(name, starters[i], strcspn(name, "@")) && !starters[i][strcspn(name, "@")])
            return true;
    return false;
}

/*
 * Where that call leads: to the only `main` that a program of the process has, if nobody stands in for what
 * starts it. Only of callees that have a name: a stripped program may have its main there.
 */
static bool main_of(struct question *q, struct spot caller, struct spot *out)
{
    struct sp_functions *f = &q->e->f;
    bool named = q->function != UINT32_MAX && f->functions.v[q->function].name, chosen;
    size_t n = 0;
    for (size_t i = 0; named && q->scene->complete && i < q->scene->n; i++) {
        uint32_t module = sp_functions_module(f, q->scene->modules[i]);
        uint64_t at, place;
        if (module == UINT32_MAX)
            return false;
        struct sp_mcode *names = f->modules.v[module].names;
        if (module != caller.module && names &&
            sp_mcode_exports(names, "__libc_start_main", &place, 1, &chosen))
            return false;
        if (sp_functions_main(f, module, &at) && !n++)
            *out = (struct spot){module, at};
    }
    q->by_scene = true;
    return n == 1;
}

static bool judge(struct question *q, struct spot caller, struct sp_judgement *out)
{
    struct sp_functions *f = &q->e->f;
    const char *callee = q->function == UINT32_MAX ? NULL : f->functions.v[q->function].name;
    struct sp_code_exit to;
    struct walk w;
    enum sp_call how = what_call(q->e, caller, &to);
    struct spot main;
    if (how == SP_CALL_INDIRECT && calls_main(q->e, caller) && main_of(q, caller, &main)) {
        how = SP_CALL_DIRECT;
        q->of_main = true;
        caller.module = main.module; /* as if the program had called it */
        to = (struct sp_code_exit){main.addr, NULL};
    }
    out->told = how != SP_CALL_INDIRECT;
    if (f->failed || !out->told || is_injected(callee))
        return !f->failed;
    if (how == SP_CALL_NONE) {
        out->verdict = SP_EDGE_IMPOSSIBLE;
        return true;
    }
    if (!walk_call(q, caller, &to, &w))
        return false;
    return road_of(&w) != ROAD_CLOSED || judge_target(q, caller, &to, &w, out);
}

/* ---- what is asked from outside ---- */

static bool spot_of(struct sp_edges *e, const struct sp_edge_side *side, struct spot *out)
{
    *out = (struct spot){UINT32_MAX, side->addr};
    if (!side->module)
        return true;
    out->module = sp_functions_module(&e->f, side->module);
    return out->module != UINT32_MAX;
}

static bool has_code(const struct sp_edges *e, struct spot at)
{
    return at.module != UINT32_MAX && e->f.modules.v[at.module].code &&
           sp_mcode_at(e->f.modules.v[at.module].code, at.addr);
}

bool sp_edges_tells(struct sp_edges *e, const struct sp_edge_side *caller)
{
    struct spot at;
    struct sp_code_exit to;
    return spot_of(e, caller, &at) && has_code(e, at) &&
           (what_call(e, at, &to) != SP_CALL_INDIRECT || calls_main(e, at));
}

bool sp_edges_called(struct sp_edges *e, const struct sp_edge_side *caller)
{
    struct spot at;
    struct sp_insn call;
    return spot_of(e, caller, &at) && has_code(e, at) && call_of(e, at, &call) != SP_CALL_NONE;
}

bool sp_edges_skips(struct sp_edges *e, const struct sp_edge_side *callee)
{
    struct spot at;
    return spot_of(e, callee, &at) && has_code(e, at) && sp_functions_frameless(&e->f, at.module, at.addr);
}

uint32_t sp_edges_function(struct sp_edges *e, const struct sp_edge_side *callee)
{
    struct spot at;
    return spot_of(e, callee, &at) && at.module != UINT32_MAX ? sp_functions_at(&e->f, at.module, at.addr)
                                                              : UINT32_MAX;
}

spaa_status sp_edges_judge(struct sp_edges *e, const struct sp_edge_side *caller,
                           const struct sp_edge_side *callee, const struct sp_edge_scene *scene,
                           struct sp_judgement *out)
{
    struct question q = {.e = e, .scene = scene, .function = UINT32_MAX};
    struct spot from;
    *out = (struct sp_judgement){.verdict = SP_EDGE_FINE};
    if (!spot_of(e, caller, &from) || !spot_of(e, callee, &q.callee) || !has_code(e, from))
        return e->f.failed;
    if (q.callee.module != UINT32_MAX)
        q.function = sp_functions_at(&e->f, q.callee.module, q.callee.addr);
    if (e->f.failed || !judge(&q, from, out) || !sp_functions_whole(&e->f))
        return e->f.failed;
    out->by_scene = q.by_scene;
    return e->f.failed;
}

spaa_status sp_edges_failed(const struct sp_edges *e)
{
    return e->f.failed;
}

uint32_t sp_edges_target(struct sp_profile *p, const struct sp_edge_side *target, uint32_t dso,
                         enum sp_granularity keep)
{
    struct sp_frame frame = {.kind = SP_USER, .flags = SP_FRAME_INFERRED};
    struct sp_named named;
    uint64_t start, end;
    const char *symbol; /* without one, the address is the name */
    bool has_name = sp_module_extent(target->module, target->addr, &start, &end, &symbol);
    named.n = has_name ? sp_module_resolve(target->module, target->addr, named.frames, SP_NAMED_MAX) : 0;
    if (named.n)
        return sp_bind_function(p, &named.frames[named.n - 1], dso, &frame, keep);
    uint32_t name = sp_unnamed(p, target->addr);
    bool ok = name != SP_STR_FAIL && dso != SP_NONE;
    frame.function = ok ? sp_function_intern(p, name, dso) : SP_NONE;
    return frame.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &frame);
}
