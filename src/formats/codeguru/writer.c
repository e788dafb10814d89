/*
 * Writes the JSON that PostAgentProfile takes, in canonical form: no blanks; start, end, agentMetadata,
 * callgraph, then other members; in a node counts by name, file, line, other members, and last the children
 * by the bytes of their names. A CodeGuru profile that was read comes back with every key and number;
 * profiles of other sources get their metadata from the header.
 *
 * Counts are samples, by thread state. Where a source has no states, on-CPU samples are RUNNABLE, off-CPU
 * ones WAITING, others WALL_TIME.
 *
 * The stacks are sorted first, so that the tree can be written as it comes: what a stack has in
 * common with the one before is open already.
 */
#include "formats/codeguru/metadata.h"

#include "base/num.h"
#include "formats/common/text/one_number.h"
#include "model/events.h"

#include <math.h>
#include <stdlib.h>

#define CHILDREN_TEXT "\"children\":{" /* before the first child of a node */

/* A key of the tree, and a counter: distinct names, with their JSON. */
struct key {
    uint32_t name;       /* number in strs */
    struct sp_str text;  /* CHILDREN_TEXT "name":{ */
    struct sp_str place; /* of keys of other sources: `"file":…,"line":…` of all frames with it */
};

struct counter {
    uint32_t name, rank;
    struct sp_str text; /* "NAME": */
    int64_t sum;
};

struct writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_output *out;
    const struct sp_write_opts *opts;
    struct sp_span kept;     /* the header's x_codeguru; n 0: the profile comes from elsewhere */
    uint32_t metric;         /* SP_NONE: each stack counts once */
    int64_t samples;         /* of the stacks to write; SP_ABSENT: not counted */
    uint32_t *counters_of;   /* by context: number in counters; SP_NONE: left out */
    uint32_t *commands;      /* by context: rank + 1 of its first level, the command; 0: none */
    uint32_t *ranks;         /* by frame: rank + 1 of its key */
    struct sp_str *places;   /* by frame: `"file":…,"line":…` */
    SP_VEC(struct key) keys; /* by rank: the order of bytes */
    uint32_t *key_ranks;     /* by number in strs: rank + 1; 0: no key */
    SP_VEC(struct counter) counters;
    SP_VEC(uint32_t) order; /* stacks to write */
    struct sp_cg_extras extras;
    struct sp_arena text;
    struct sp_buf b;
};

static const char on_cpu[] = "RUNNABLE", off_cpu[] = "WAITING", blocked[] = "BLOCKED",
                  any_time[] = "WALL_TIME", idle[] = "IDLE";

static bool codeguru_contains(struct sp_str s, const char *word)
{
    return s.n && memmem(s.p, s.n, word, strlen(word)) != NULL;
}

static bool codeguru_begins(struct sp_str s, const char *word)
{
    return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

/* The counter of samples of an event that have no state of their own. */
static const char *codeguru_event_counter(const struct sp_profile *p, uint32_t event)
{
    static const char *const off[] = {"off-cpu", "offcpu", "off_cpu", "sched_switch", "context-switches"};
    static const char *const locks[] = {"contention", "mutex", "block"};
    static const char *const on[] = {"cpu",    "task-clock", "profile",     "tick",
                                     "cycles", "on-cpu",     "instructions"};
    const struct sp_event *e = &p->events.v[event];
    struct sp_str name = sp_pstr(p, e->name);
    if (e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION)
        return any_time;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (codeguru_contains(name, off[i]))
            return off_cpu;
    for (size_t i = 0; i < sizeof locks / sizeof *locks && e->kind != SP_HARDWARE; i++)
        if (codeguru_begins(name, locks[i]))
            return blocked;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (codeguru_begins(name, on[i]) && e->kind != SP_PROBE)
            return on_cpu;
    return e->kind == SP_HARDWARE ? on_cpu : any_time;
}

/* ---- events ---- */

static uint32_t codeguru_event_of(const struct sp_profile *p, uint32_t stack)
{
    return p->contexts.v[p->stacks.v[stack].context].event;
}

/* Samples of each event; without counts of samples its stacks. */
static double *codeguru_event_sizes(const struct sp_profile *p)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    double *sums = calloc(p->events.n + 1, sizeof *sums);
    for (uint32_t s = 0; sums && s < p->stacks.n; s++) {
        int64_t v = samples == SP_NONE ? 1 : sp_weight(p, s, samples);
        if (codeguru_event_of(p, s) != SP_NONE && v > 0)
            sums[codeguru_event_of(p, s)] += (double)v;
    }
    return sums;
}

static uint32_t codeguru_largest(const struct sp_profile *p, const double *sizes, const char *counter)
{
    uint32_t best = SP_NONE;
    for (uint32_t e = 0; e < p->events.n; e++) {
        bool branches = sp_is_branches(p, e) && p->events.n > 1;
        if (!branches && (!counter || codeguru_event_counter(p, e) == counter) &&
            (best == SP_NONE || sizes[e] > sizes[best]))
            best = e;
    }
    return best;
}

/* Which events have stacks and are not written, branches (`lbr`) too. */
static bool codeguru_say_left(struct writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    unsigned char *seen = calloc(p->events.n + 1, 1);
    size_t n = 0;
    sp_buf_clear(&w->b);
    for (uint32_t s = 0; seen && s < p->stacks.n; s++) {
        uint32_t e = codeguru_event_of(p, s);
        if (e == SP_NONE || taken[e] || seen[e])
            continue;
        seen[e] = 1;
        sp_buf_printf(&w->b, "%s%s", n++ ? ", " : "", sp_pstr(p, p->events.v[e].name).p);
    }
    if (n)
        sp_emit(w->d, SP_I489, SP_AT_NOTHING, "%s", sp_buf_cstr(&w->b));
    free(seen);
    return seen && !w->b.failed;
}

/*
 * The event with the most samples, and with one of on-CPU samples that of off-CPU ones, and the other way
 * round: those do not count the same moments. Of a CodeGuru profile, all.
 */
static bool codeguru_choose_events(struct writer *w, bool *taken)
{
    const struct sp_profile *p = w->p;
    if (w->opts->event != SP_NONE) {
        taken[w->opts->event] = true;
        return true;
    }
    double *sizes = codeguru_event_sizes(p);
    if (!sizes)
        return false;
    uint32_t first = codeguru_largest(p, sizes, NULL), other = SP_NONE;
    if (first != SP_NONE) {
        const char *counter = codeguru_event_counter(p, first);
        taken[first] = true;
        if (counter == on_cpu || counter == off_cpu)
            other = codeguru_largest(p, sizes, counter == on_cpu ? off_cpu : on_cpu);
        if (other != SP_NONE)
            taken[other] = true;
    }
    free(sizes);
    return codeguru_say_left(w, taken);
}

/*
 * The primary metric of what is taken; of two events that are weighed differently, which are added up in one
 * tree, samples. Where neither fits each call stack counts once.
 */
static void codeguru_choose_metric(struct writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->metric = SP_NONE;
    for (uint32_t e = 0; e < p->events.n; e++) {
        uint32_t metric = taken[e] ? sp_one_counted(p, w->opts, e, w->d) : SP_NONE;
        if (!taken[e])
            continue;
        bool differs = w->metric != SP_NONE && metric != w->metric;
        w->metric = differs ? sp_metric_find(p, "samples", 7) : metric;
        if (differs)
            break;
    }
    if (w->metric != SP_NONE)
        sp_one_counts(p, w->opts, w->metric, w->d);
}

/* ---- counters ---- */

static uint32_t codeguru_counter_named(struct writer *w, const char *p, size_t n)
{
    uint32_t name = sp_profile_str(w->p, p, n);
    for (uint32_t i = 0; name != SP_STR_FAIL && i < w->counters.n; i++)
        if (w->counters.v[i].name == name)
            return i;
    struct counter c = {.name = name};
    return name != SP_STR_FAIL && sp_vec_push(&w->counters, c) ? (uint32_t)w->counters.n - 1 : SP_NONE;
}

static bool codeguru_is_idle(const struct sp_profile *p, const struct sp_context *c)
{
    struct sp_str comm = sp_pstr(p, c->comm);
    return sp_str_is(comm, "swapper") || codeguru_begins(comm, "swapper/");
}

/* The counter that samples of a context count for: SP_NONE when out of memory. */
static uint32_t codeguru_context_counter(struct writer *w, const struct sp_context *c)
{
    const char *asked = sp_own_opt(w->opts->own, w->opts->nown, "counter");
    struct sp_str state = sp_pstr(w->p, c->state);
    if (c->state != SP_STR_NONE && (w->kept.n || !sp_str_is(state, "UNKNOWN")))
        return codeguru_counter_named(w, state.p, state.n);
    const char *name = c->state != SP_STR_NONE ? any_time : codeguru_event_counter(w->p, c->event);
    if (name == on_cpu && codeguru_is_idle(w->p, c))
        name = idle;
    if (asked)
        name = asked;
    return codeguru_counter_named(w, name, strlen(name));
}

static int writer_codeguru_by_name(const void *a, const void *b, void *arg)
{
    const struct writer *w = arg;
    return sp_str_cmp(sp_pstr(w->p, w->counters.v[*(const uint32_t *)a].name),
                      sp_pstr(w->p, w->counters.v[*(const uint32_t *)b].name));
}

/* JSON of a name and what follows it, in the arena. */
static bool codeguru_make_text(struct writer *w, const char *before, uint32_t name, const char *after,
                               struct sp_str *out)
{
    struct sp_str s = sp_pstr(w->p, name);
    sp_buf_clear(&w->b);
    sp_buf_puts(&w->b, before);
    sp_json_string(&w->b, s.p, s.n);
    sp_buf_puts(&w->b, after);
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->text, w->b.data, w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    return t != NULL;
}

static bool codeguru_make_counters(struct writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->counters_of = malloc((p->contexts.n + 1) * sizeof *w->counters_of);
    if (!w->counters_of)
        return false;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        w->counters_of[i] = SP_NONE;
        if (c->event != SP_NONE && taken[c->event] &&
            (w->counters_of[i] = codeguru_context_counter(w, c)) == SP_NONE)
            return false;
    }
    uint32_t *order = malloc((w->counters.n + 1) * sizeof *order);
    bool ok = order != NULL;
    for (uint32_t i = 0; ok && i < w->counters.n; i++) {
        order[i] = i;
        ok = codeguru_make_text(w, "", w->counters.v[i].name, ":", &w->counters.v[i].text);
    }
    if (ok && w->counters.n > 1)
        qsort_r(order, w->counters.n, sizeof *order, writer_codeguru_by_name, w);
    for (uint32_t i = 0; ok && i < w->counters.n; i++)
        w->counters.v[order[i]].rank = i;
    free(order);
    return ok;
}

/* ---- keys ---- */

/* A frame's key, in w->b: as it was read, or by the names asked for. */
static bool codeguru_key_text(struct writer *w, uint32_t frame, bool module)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_function *fn = &p->functions.v[f->function];
    struct sp_str func = sp_pstr(p, fn->name), dso = sp_pstr(p, p->dsos.v[fn->dso].name);
    struct sp_span kept = sp_cg_member(sp_cg_span(sp_pstr(p, f->extra_json)), SP_CG_KEY), name = {NULL, 0};
    uint64_t ip;
    sp_buf_clear(&w->b);
    if (kept.n > 2 && kept.p[0] == '{')
        name = sp_cg_member(kept, "name");
    if (name.n && name.p[0] == '"') {
        struct sp_json j;
        struct sp_span s;
        sp_json_init(&j, name.p, name.n);
        bool ok = sp_json_string_value(&j, &s) && sp_buf_add(&w->b, s.p, s.n);
        sp_json_free(&j);
        return ok;
    }
    const char *slash = dso.n ? memrchr(dso.p, '/', dso.n) : NULL;
    if (slash && slash + 1 < dso.p + dso.n)
        dso = (struct sp_str){slash + 1, (uint32_t)(dso.p + dso.n - slash - 1)};
    bool known = dso.n && !sp_str_is(dso, "[unknown]");
    if (w->kept.n) {
        sp_buf_add(&w->b, func.p, func.n);
    } else if (f->flags & SP_FRAME_UNRESOLVED && known && sp_parse_0x(func.p, func.n, &ip)) {
        sp_buf_add(&w->b, dso.p, dso.n);
        sp_buf_ch(&w->b, '+');
        sp_buf_add(&w->b, func.p, func.n);
    } else {
        if (module && known) {
            sp_buf_add(&w->b, dso.p, dso.n);
            sp_buf_ch(&w->b, ':');
        }
        sp_buf_add(&w->b, func.p, func.n);
    }
    if (!w->kept.n && f->kind == SP_KERNEL)
        sp_buf_puts(&w->b, "_[k]");
    return !w->b.failed;
}

/* Names of keys: of frames, of commands, and of kept nodes. */
static bool codeguru_name_keys(struct writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        if (!codeguru_key_text(w, i, module))
            return false;
        names[i] = sp_profile_str(p, w->b.len ? w->b.data : "", w->b.len);
        if (names[i] == SP_STR_FAIL)
            return false;
    }
    return true;
}

static bool codeguru_add_key(struct writer *w, uint32_t name)
{
    if (w->key_ranks[name])
        return true;
    w->key_ranks[name] = 1;
    return sp_vec_push(&w->keys, ((struct key){.name = name}));
}

static int codeguru_by_key(const void *a, const void *b, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_str_cmp(sp_pstr(p, ((const struct key *)a)->name), sp_pstr(p, ((const struct key *)b)->name));
}

static bool codeguru_make_keys(struct writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    if (!codeguru_name_keys(w, names, module))
        return false;
    w->key_ranks = calloc(p->strs.strs.n + 1, sizeof *w->key_ranks);
    w->commands = calloc(p->contexts.n + 1, sizeof *w->commands);
    w->ranks = malloc((p->frames.n + 1) * sizeof *w->ranks);
    bool ok = w->key_ranks && w->commands && w->ranks;
    for (size_t i = 0; ok && i < p->frames.n; i++)
        ok = codeguru_add_key(w, names[i]);
    for (size_t i = 1; ok && i < w->extras.nodes.n; i++)
        ok = codeguru_add_key(w, w->extras.nodes.v[i].name);
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        ok = p->contexts.v[i].comm == SP_STR_NONE || codeguru_add_key(w, p->contexts.v[i].comm);
    if (ok && w->keys.n > 1)
        qsort_r(w->keys.v, w->keys.n, sizeof *w->keys.v, codeguru_by_key, p);
    for (size_t i = 0; ok && i < w->keys.n; i++) {
        w->key_ranks[w->keys.v[i].name] = (uint32_t)i + 1;
        ok = codeguru_make_text(w, CHILDREN_TEXT, w->keys.v[i].name, ":{", &w->keys.v[i].text);
    }
    for (size_t i = 0; ok && i < p->frames.n; i++)
        w->ranks[i] = w->key_ranks[names[i]];
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        if (p->contexts.v[i].comm != SP_STR_NONE)
            w->commands[i] = w->key_ranks[p->contexts.v[i].comm];
    return ok;
}

/* ---- places ---- */

static bool codeguru_keep_place(struct writer *w, struct sp_str *out)
{
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->text, w->b.len ? w->b.data : "", w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    return t != NULL;
}

/* As it was read: in the frame's own words, else from srcline. */
static bool codeguru_read_places(struct writer *w)
{
    const struct sp_profile *p = w->p;
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        struct sp_span kept = sp_cg_member(sp_cg_span(sp_pstr(p, f->extra_json)), SP_CG_KEY),
                       file = {NULL, 0}, line = file, in = file;
        sp_buf_clear(&w->b);
        if (kept.n > 2 && kept.p[0] == '{') {
            file = sp_cg_member(kept, "file");
            line = sp_cg_member(kept, "line");
            in = sp_cg_member(kept, "in_name");
        }
        if (file.n) {
            sp_buf_puts(&w->b, "\"file\":");
            sp_buf_add(&w->b, file.p, file.n);
        }
        if (line.n) {
            sp_buf_puts(&w->b, file.n ? ",\"line\":" : "\"line\":");
            sp_buf_add(&w->b, line.p, line.n);
        }
        if (!file.n && !line.n && !in.n)
            sp_cg_place_of_srcline(&w->b, sp_pstr(p, f->srcline));
        if (w->b.failed || (w->b.len && !codeguru_keep_place(w, &w->places[i])))
            return false;
    }
    return true;
}

struct span_of_lines {
    struct sp_str file;
    uint64_t first, last;
    bool any, several, lines;
};

/* Of other sources: a key's file where its frames agree, and the lines they span. */
static bool codeguru_make_places(struct writer *w)
{
    const struct sp_profile *p = w->p;
    struct span_of_lines *all = calloc(w->keys.n + 1, sizeof *all);
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < p->frames.n; i++) {
        struct span_of_lines *s = &all[w->ranks[i] - 1];
        struct sp_str file;
        uint64_t first = 0, last = 0;
        if (p->frames.v[i].srcline == SP_STR_NONE)
            continue;
        bool numbered = sp_cg_split_srcline(sp_pstr(p, p->frames.v[i].srcline), &file, &first, &last);
        s->several = s->several || (s->any && sp_str_cmp(s->file, file) != 0);
        s->file = file;
        s->any = true;
        if (!numbered)
            continue;
        s->first = !s->lines || first < s->first ? first : s->first;
        s->last = !s->lines || last > s->last ? last : s->last;
        s->lines = true;
    }
    for (size_t i = 0; ok && i < w->keys.n; i++) {
        const struct span_of_lines *s = &all[i];
        if (!s->any || s->several || !s->file.n)
            continue;
        sp_buf_clear(&w->b);
        sp_buf_puts(&w->b, "\"file\":");
        sp_json_string(&w->b, s->file.p, s->file.n);
        if (s->lines)
            sp_cg_lines(&w->b, s->first, s->last);
        ok = codeguru_keep_place(w, &w->keys.v[i].place);
    }
    free(all);
    return ok;
}

/* ---- all of it ---- */

/* Every stack of the events, of pairs the user's side. */
static bool codeguru_gather(struct writer *w)
{
    const struct sp_profile *p = w->p;
    if (!sp_vec_reserve(&w->order, p->stacks.n + 1))
        return false;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        if (w->counters_of[p->stacks.v[s].context] == SP_NONE)
            continue;
        if (p->stacks.v[s].type == SP_KERNEL_STACK && sp_stack_linked(p, s) != SP_NONE)
            continue;
        w->order.v[w->order.n++] = s;
    }
    return true;
}

/* Of a pair both sides say how often it was observed, which is once each. */
static void codeguru_count_samples(struct writer *w)
{
    uint32_t metric = sp_metric_find(w->p, "samples", 7);
    w->samples = SP_ABSENT;
    for (size_t i = 0; metric != SP_NONE && i < w->order.n; i++) {
        int64_t v = sp_weight(w->p, w->order.v[i], metric);
        if (v > SP_DECIMAL &&
            __builtin_add_overflow(w->samples == SP_ABSENT ? 0 : w->samples, v, &w->samples))
            w->samples = INT64_MAX;
    }
}

static spaa_status codeguru_prepare(struct writer *w)
{
    struct sp_profile *p = w->p;
    const char *style = sp_own_opt(w->opts->own, w->opts->nown, "codeguru-names");
    bool module = style && strcmp(style, "module") == 0;
    if (style && !module && strcmp(style, "plain") != 0) {
        sp_emit_hint(w->d, SP_E037, SP_AT_NOTHING, "plain: function; module: object:function",
                     "--codeguru-names has no value \"%s\"", style);
        return SPAA_ERR_USAGE;
    }
    spaa_status st = sp_cg_extras_read(&w->extras, p, w->d);
    if (st)
        return st;
    bool *taken = calloc(p->events.n + 1, sizeof *taken);
    uint32_t *names = malloc((p->frames.n + 1) * sizeof *names);
    w->places = calloc(p->frames.n + 1, sizeof *w->places);
    bool ok = taken && names && w->places && codeguru_choose_events(w, taken);
    if (ok)
        codeguru_choose_metric(w, taken);
    ok = ok && codeguru_make_counters(w, taken) && codeguru_make_keys(w, names, module) &&
         codeguru_gather(w) && (w->kept.n ? codeguru_read_places(w) : codeguru_make_places(w));
    if (ok)
        codeguru_count_samples(w);
    free(taken);
    free(names);
    return ok ? SPAA_OK : sp_nomem(w->d);
}

/*
 * ---- order ----
 *
 * Stacks sorted by the ranks of their keys, root first, so that a node's own stacks come right before those
 * of its children, and children by the bytes of their names. Multikey quicksort: at each level, by one key,
 * only among stacks that are equal up to there; no key is compared twice, and deep stacks need no recursion.
 */

struct range {
    size_t lo, hi, level;
};

/* A frame of a stack, from the root on; behind those of a pair's user side the kernel's. SP_NONE: beyond the
 * leaf. */
static uint32_t codeguru_frame_at(const struct writer *w, uint32_t stack, size_t i)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    if (i >= s->n) {
        uint32_t kernel = sp_stack_linked(p, stack);
        i -= s->n;
        if (kernel == SP_NONE || i >= p->stacks.v[kernel].n)
            return SP_NONE;
        s = &p->stacks.v[kernel];
    }
    return p->stack_frames.v[s->first + s->n - 1 - i];
}

/* The key's rank + 1 at a level from the root, where the command may stand; 0 beyond the leaf. */
static uint32_t codeguru_key_at(const struct writer *w, uint32_t stack, size_t level)
{
    uint32_t command = w->commands[w->p->stacks.v[stack].context];
    if (command && level-- == 0)
        return command;
    uint32_t frame = codeguru_frame_at(w, stack, level);
    return frame == SP_NONE ? 0 : w->ranks[frame];
}

/* Levels that two stacks have in common, of which `from` are known. */
static size_t codeguru_common_levels(const struct writer *w, uint32_t a, uint32_t b, size_t from)
{
    for (uint32_t k; (k = codeguru_key_at(w, a, from)) != 0 && k == codeguru_key_at(w, b, from);)
        from++;
    return from;
}

static int codeguru_compare(const struct writer *w, uint32_t a, uint32_t b, size_t level)
{
    level = codeguru_common_levels(w, a, b, level);
    uint32_t x = codeguru_key_at(w, a, level), y = codeguru_key_at(w, b, level);
    return x != y ? (x < y ? -1 : 1) : (a > b) - (a < b);
}

static void codeguru_insertion(struct writer *w, size_t lo, size_t hi, size_t level)
{
    uint32_t *v = w->order.v;
    for (size_t i = lo + 1; i < hi; i++) {
        uint32_t x = v[i];
        size_t k = i;
        for (; k > lo && codeguru_compare(w, v[k - 1], x, level) > 0; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

static int codeguru_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t codeguru_median(uint32_t a, uint32_t b, uint32_t c)
{
    if (a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    return c < a ? a : c > b ? b : c;
}

/* Splits [lo, hi) at a key into smaller, equal and larger ones. */
static void codeguru_split(struct writer *w, const struct range *r, uint32_t *pivot, size_t *lt, size_t *gt)
{
    uint32_t *v = w->order.v;
    *pivot = codeguru_median(codeguru_key_at(w, v[r->lo], r->level),
                             codeguru_key_at(w, v[r->lo + (r->hi - r->lo) / 2], r->level),
                             codeguru_key_at(w, v[r->hi - 1], r->level));
    size_t l = r->lo, i = r->lo, g = r->hi;
    while (i < g) {
        uint32_t k = codeguru_key_at(w, v[i], r->level), t = v[i];
        if (k < *pivot) {
            v[i++] = v[l];
            v[l++] = t;
        } else if (k > *pivot) {
            v[i] = v[--g];
            v[g] = t;
        } else {
            i++;
        }
    }
    *lt = l;
    *gt = g;
}

static spaa_status codeguru_sort(struct writer *w)
{
    enum { SMALL = 12 };
    SP_VEC(struct range) todo = {0};
    bool ok = sp_vec_push(&todo, ((struct range){0, w->order.n, 0}));
    while (ok && todo.n) {
        struct range r = todo.v[--todo.n];
        uint32_t pivot;
        size_t lt, gt;
        if (r.hi - r.lo < 2)
            continue;
        if (r.hi - r.lo <= SMALL) {
            codeguru_insertion(w, r.lo, r.hi, r.level);
            continue;
        }
        codeguru_split(w, &r, &pivot, &lt, &gt);
        if (!pivot)
            qsort(w->order.v + lt, gt - lt, sizeof *w->order.v, codeguru_by_number);
        else
            ok = sp_vec_push(&todo, ((struct range){lt, gt, r.level + 1}));
        ok = ok && sp_vec_push(&todo, ((struct range){r.lo, lt, r.level})) &&
             sp_vec_push(&todo, ((struct range){gt, r.hi, r.level}));
    }
    sp_vec_free(&todo);
    return ok ? SPAA_OK : sp_nomem(w->d);
}

/* ---- the tree ---- */

#define CHILDREN_SIZE (sizeof CHILDREN_TEXT - 1)

struct level {
    uint32_t extra;  /* node of kept members, SP_NONE: none */
    uint32_t cursor; /* its children that were written */
    struct sp_str place;
    bool head, any, open; /* the members but children are written; something is; `children` is open */
};

struct cell {
    uint32_t counter;
    int64_t v;
    struct sp_str text; /* the number where v is SP_DECIMAL */
};

struct tree {
    struct writer *w;
    struct sp_output *out;
    SP_VEC(struct level) levels;
    SP_VEC(struct cell) cells; /* of the innermost node */
    bool nomem;
};

static void codeguru_put(struct tree *t, struct sp_str s)
{
    sp_write(t->out, s.p, s.n);
}

static void codeguru_comma(struct tree *t, struct level *l)
{
    if (l->any)
        sp_write(t->out, ",", 1);
    l->any = true;
}

/* ---- counts ---- */

/* The sum of two numbers as text, exactly where it fits. */
static void codeguru_add_texts(struct tree *t, struct cell *c, struct sp_str text)
{
    int64_t a, b;
    unsigned sa, sb;
    char out[64];
    size_t n;
    if (sp_parse_scaled(c->text.p, c->text.n, &a, &sa) && sp_parse_scaled(text.p, text.n, &b, &sb)) {
        __int128 x = a, y = b;
        unsigned scale = sa > sb ? sa : sb;
        for (; sa < scale; sa++)
            x *= 10;
        for (; sb < scale; sb++)
            y *= 10;
        n = sp_scaled_text(x + y, scale, out);
    } else {
        sp_emit(t->w->d, SP_L304, SP_AT_NOTHING, "a sum of counts was rounded");
        n = sp_double_text(sp_text_double(c->text.p, c->text.n) + sp_text_double(text.p, text.n), out);
    }
    char *kept = sp_arena_dup(&t->w->text, out, n);
    t->nomem = t->nomem || !kept;
    c->text = (struct sp_str){kept ? kept : "", kept ? (uint32_t)n : 0};
}

static struct sp_str codeguru_number(struct tree *t, int64_t v)
{
    char out[64];
    size_t n = sp_scaled_text(v, 0, out);
    char *kept = sp_arena_dup(&t->w->text, out, n);
    t->nomem = t->nomem || !kept;
    return (struct sp_str){kept ? kept : "", kept ? (uint32_t)n : 0};
}

static void codeguru_add_cell(struct tree *t, uint32_t counter, int64_t v, struct sp_str text)
{
    for (size_t i = 0; i < t->cells.n; i++) {
        struct cell *c = &t->cells.v[i];
        int64_t sum;
        if (c->counter != counter)
            continue;
        if (c->v != SP_DECIMAL && v != SP_DECIMAL && !__builtin_add_overflow(c->v, v, &sum) &&
            sum > SP_DECIMAL) {
            c->v = sum;
            return;
        }
        if (c->v != SP_DECIMAL)
            c->text = codeguru_number(t, c->v);
        codeguru_add_texts(t, c, v == SP_DECIMAL ? text : codeguru_number(t, v));
        c->v = SP_DECIMAL;
        return;
    }
    t->nomem = !sp_vec_push(&t->cells, ((struct cell){counter, v, text})) || t->nomem;
}

/* Of sources other than CodeGuru counts are whole and positive; 0: nothing to write. */
static int64_t codeguru_count_of(struct writer *w, uint32_t stack, struct sp_str *text)
{
    int64_t v = w->metric == SP_NONE ? 1 : sp_weight(w->p, stack, w->metric);
    if (v == SP_DECIMAL)
        *text = sp_weight_text(w->p, stack, w->metric);
    if (w->kept.n)
        return v;
    if (v == SP_DECIMAL) {
        double x = sp_text_double(text->p, text->n);
        v = x >= 9e18 ? INT64_MAX : x > 0 ? llround(x) : -1;
        sp_emit(w->d, SP_W479, SP_AT_NOTHING, "%.*s", (int)text->n, text->p);
    } else if (v < 0 && v != SP_ABSENT) {
        sp_emit(w->d, SP_W479, SP_AT_NOTHING, "%lld was left out", (long long)v);
    }
    return v > 0 ? v : 0;
}

static int codeguru_by_rank(const void *a, const void *b, void *arg)
{
    const struct writer *w = arg;
    uint32_t x = w->counters.v[((const struct cell *)a)->counter].rank,
             y = w->counters.v[((const struct cell *)b)->counter].rank;
    return (x > y) - (x < y);
}

static void codeguru_put_cell(struct tree *t, const struct cell *c)
{
    codeguru_put(t, t->w->counters.v[c->counter].text);
    if (c->v == SP_DECIMAL) {
        codeguru_put(t, c->text);
        return;
    }
    char *room = sp_output_room(t->out, 64);
    if (c->v >= 0)
        sp_output_took(t->out, sp_u64_text((uint64_t)c->v, room));
    else
        sp_output_took(t->out, sp_scaled_text(c->v, 0, room));
}

/* Kept counts (zeros, and what is no number) between the others; a counter that has both keeps the sum. */
static void codeguru_put_counts_with(struct tree *t, struct sp_span kept)
{
    struct sp_json j;
    struct sp_span key, raw;
    size_t i = 0;
    bool any = false;
    sp_json_init(&j, kept.p, kept.n);
    bool ok = sp_json_object(&j);
    sp_write(t->out, "{", 1);
    while (ok && sp_json_key(&j, &key)) {
        sp_buf_clear(&t->w->b);
        sp_json_string(&t->w->b, key.p, key.n);
        t->nomem = t->nomem || t->w->b.failed;
        struct sp_str name = {key.p, (uint32_t)key.n};
        int c = -1;
        for (; i < t->cells.n; i++) {
            c = sp_str_cmp(sp_pstr(t->w->p, t->w->counters.v[t->cells.v[i].counter].name), name);
            if (c >= 0)
                break;
            if (any)
                sp_write(t->out, ",", 1);
            codeguru_put_cell(t, &t->cells.v[i]);
            any = true;
        }
        if (!sp_json_skip(&j, &raw))
            break;
        if (i < t->cells.n && c == 0)
            continue;
        sp_write(t->out, any ? "," : "", any);
        sp_write(t->out, t->w->b.data, t->w->b.len);
        sp_write(t->out, ":", 1);
        sp_write(t->out, raw.p, raw.n);
        any = true;
    }
    for (; i < t->cells.n; i++) {
        sp_write(t->out, any ? "," : "", any);
        codeguru_put_cell(t, &t->cells.v[i]);
        any = true;
    }
    t->nomem = t->nomem || j.scratch.failed;
    sp_json_free(&j);
    sp_write(t->out, "}", 1);
}

static void codeguru_put_counts(struct tree *t, struct level *l, struct sp_span kept)
{
    if (t->cells.n > 1)
        qsort_r(t->cells.v, t->cells.n, sizeof *t->cells.v, codeguru_by_rank, t->w);
    if (!t->cells.n && !kept.n)
        return;
    codeguru_comma(t, l);
    sp_write(t->out, "\"counts\":", 9);
    if (kept.n && (kept.p[0] == '{' || !t->cells.n)) {
        if (kept.p[0] == '{')
            codeguru_put_counts_with(t, kept);
        else
            sp_write(t->out, kept.p, kept.n);
    } else {
        for (size_t i = 0; i < t->cells.n; i++) {
            sp_write(t->out, i ? "," : "{", 1);
            codeguru_put_cell(t, &t->cells.v[i]);
        }
        sp_write(t->out, "}", 1);
    }
    t->cells.n = 0;
}

/* ---- nodes ---- */

enum part { PLACE, OTHERS, CHILDREN };

static enum part codeguru_part_of(struct sp_span key)
{
    return sp_span_is(key, "children")                          ? CHILDREN
           : sp_span_is(key, "file") || sp_span_is(key, "line") ? PLACE
                                                                : OTHERS;
}

/* Members that were kept, a part of them; but counts, which are merged. */
static void codeguru_put_kept(struct tree *t, struct level *l, struct sp_span member, enum part part)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, member.p, member.n);
    j.first = true;
    while (j.p < j.end && sp_json_key(&j, &key)) {
        bool wanted = codeguru_part_of(key) == part && !sp_span_is(key, "counts");
        sp_buf_clear(&t->w->b);
        sp_json_string(&t->w->b, key.p, key.n);
        t->nomem = t->nomem || t->w->b.failed;
        if (!sp_json_skip(&j, &raw))
            break;
        if (!wanted)
            continue;
        codeguru_comma(t, l);
        sp_write(t->out, t->w->b.data, t->w->b.len);
        sp_write(t->out, ":", 1);
        sp_write(t->out, raw.p, raw.n);
    }
    t->nomem = t->nomem || j.scratch.failed;
    sp_json_free(&j);
}

/* Everything of the innermost node but its children. */
static void codeguru_put_head(struct tree *t, struct level *l)
{
    struct sp_span none = {NULL, 0},
                   member = l->extra == SP_NONE ? none : t->w->extras.nodes.v[l->extra].member;
    codeguru_put_counts(t, l, member.n ? sp_cg_member(member, "counts") : none);
    if (l->place.n) {
        codeguru_comma(t, l);
        codeguru_put(t, l->place);
    } else if (member.n) {
        codeguru_put_kept(t, l, member, PLACE);
    }
    if (member.n)
        codeguru_put_kept(t, l, member, OTHERS);
    l->head = true;
}

static void codeguru_close_level(struct tree *t)
{
    struct level *l = &t->levels.v[t->levels.n - 1];
    if (!l->head)
        codeguru_put_head(t, l);
    if (l->open)
        sp_write(t->out, "}}", 2);
    else {
        if (l->extra != SP_NONE && t->w->extras.nodes.v[l->extra].member.n)
            codeguru_put_kept(t, l, t->w->extras.nodes.v[l->extra].member, CHILDREN);
        sp_write(t->out, "}", 1);
    }
    t->levels.n--;
}

static void codeguru_open_level(struct tree *t, uint32_t rank, uint32_t extra, struct sp_str place)
{
    struct level *up = &t->levels.v[t->levels.n - 1];
    if (!up->head)
        codeguru_put_head(t, up);
    struct sp_str key = t->w->keys.v[rank].text;
    if (!up->open) {
        codeguru_comma(t, up);
        up->open = true;
        codeguru_put(t, key);
    } else {
        sp_write(t->out, ",", 1);
        sp_write(t->out, key.p + CHILDREN_SIZE, key.n - CHILDREN_SIZE);
    }
    struct level l = {.extra = extra, .place = place};
    if (!sp_vec_push(&t->levels, l))
        t->nomem = true;
}

/* The next child of the innermost level's kept node that was not written; SP_NONE: there is none. */
static uint32_t codeguru_next_extra(const struct tree *t, uint32_t *rank)
{
    const struct sp_cg_extras *x = &t->w->extras;
    const struct level *l = &t->levels.v[t->levels.n - 1];
    if (l->extra == SP_NONE || l->cursor >= x->nodes.v[l->extra].n)
        return SP_NONE;
    uint32_t c = x->sorted[x->nodes.v[l->extra].first + l->cursor];
    *rank = t->w->key_ranks[x->nodes.v[c].name] - 1;
    return c;
}

/* Kept nodes below the innermost level that come before `limit` and have no stacks: with all below them. */
static void codeguru_put_extras(struct tree *t, uint32_t limit)
{
    size_t base = t->levels.n;
    while (!t->nomem) {
        uint32_t rank = 0, c = codeguru_next_extra(t, &rank);
        if (c != SP_NONE && (t->levels.n > base || rank < limit)) {
            t->levels.v[t->levels.n - 1].cursor++;
            codeguru_open_level(t, rank, c, (struct sp_str){"", 0});
        } else if (t->levels.n > base) {
            codeguru_close_level(t);
        } else {
            return;
        }
    }
}

static void writer_codeguru_open_child(struct tree *t, uint32_t stack, size_t depth)
{
    struct writer *w = t->w;
    uint32_t rank = codeguru_key_at(w, stack, depth) - 1, extra = SP_NONE, at = 0;
    if (t->levels.v[t->levels.n - 1].extra != SP_NONE) {
        codeguru_put_extras(t, rank);
        uint32_t c = codeguru_next_extra(t, &at);
        if (c != SP_NONE && at == rank) {
            extra = c;
            t->levels.v[t->levels.n - 1].cursor++;
        }
    }
    struct sp_str place = w->keys.v[rank].place;
    if (w->kept.n) /* there are no commands */
        place = w->places[codeguru_frame_at(w, stack, depth)];
    if (!t->nomem)
        codeguru_open_level(t, rank, extra, place);
}

static void codeguru_close_children(struct tree *t, size_t levels)
{
    while (t->levels.n > levels && !t->nomem) {
        codeguru_put_extras(t, UINT32_MAX);
        codeguru_close_level(t);
    }
}

static void codeguru_put_tree(struct tree *t)
{
    struct writer *w = t->w;
    struct level root = {.extra = w->extras.nodes.n ? 0 : SP_NONE};
    t->nomem = !sp_vec_push(&t->levels, root);
    sp_write(t->out, "{", 1);
    for (size_t i = 0; i < w->order.n && !t->nomem && !t->out->status; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        size_t level = i ? codeguru_common_levels(w, w->order.v[i - 1], stack, 0) : 0;
        codeguru_close_children(t, level + 1);
        for (; !t->nomem && codeguru_key_at(w, stack, level); level++)
            writer_codeguru_open_child(t, stack, level);
        int64_t v = codeguru_count_of(w, stack, &text);
        if (v != SP_ABSENT)
            codeguru_add_cell(t, w->counters_of[w->p->stacks.v[stack].context], v, text);
    }
    codeguru_close_children(t, 0);
}

/* ---- the file ---- */

static spaa_status codeguru_put_metadata(struct writer *w, struct sp_cg_meta *m)
{
    const struct sp_write_opts *o = w->opts;
    struct sp_cg_meta_opts names = {.fleet_instance_id = sp_own_opt(o->own, o->nown, "fleet-instance-id"),
                                    .host_type = sp_own_opt(o->own, o->nown, "host-type"),
                                    .agent_type = sp_own_opt(o->own, o->nown, "agent-type"),
                                    .start = sp_own_opt(o->own, o->nown, "start")};
    struct sp_cg_total *totals = calloc(w->counters.n + 1, sizeof *totals);
    if (!totals)
        return sp_nomem(w->d);
    for (size_t i = 0; i < w->counters.n; i++) {
        const struct counter *c = &w->counters.v[i];
        if (c->sum) /* `"NAME":` without the colon */
            totals[m->ntotals++] = (struct sp_cg_total){{c->text.p, c->text.n - 1}, c->sum};
    }
    m->totals = totals;
    m->samples = w->metric == w->opts->metric ? SP_ABSENT : w->samples;
    sp_buf_clear(&w->b);
    spaa_status st = sp_cg_meta_begin(m, &names, &w->b, w->d);
    free(totals);
    m->totals = NULL;
    if (!st)
        sp_write(w->out, w->b.data, w->b.len);
    return st;
}

/* What each counter sums up to, and the stacks that have anything to write. */
static void codeguru_add_up(struct writer *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->order.n; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        int64_t v = w->kept.n ? 0 : codeguru_count_of(w, stack, &text);
        if (!w->kept.n && !v)
            continue;
        int64_t *sum = &w->counters.v[w->counters_of[w->p->stacks.v[stack].context]].sum;
        if (__builtin_add_overflow(*sum, v, sum))
            *sum = INT64_MAX;
        w->order.v[n++] = stack;
    }
    w->order.n = n;
}

spaa_status sp_cg_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct writer w = {.p = p, .d = d, .out = out, .opts = opts};
    sp_arena_init(&w.text, 0);
    sp_buf_init(&w.b, 0);
    if (p->sources.n < 2) /* what several say alike, weights and durations, is not true of all together */
        w.kept = sp_cg_member(sp_cg_span(sp_pstr(p, p->header.extra_json)), SP_CG_KEY);
    struct sp_cg_meta meta = {.p = p, .kept = w.kept};
    struct tree t = {.w = &w, .out = out};
    spaa_status st = codeguru_prepare(&w);
    if (!st) {
        codeguru_add_up(&w);
        st = codeguru_sort(&w);
    }
    if (!st && !w.order.n)
        sp_emit(d, SP_W492, SP_AT_NOTHING, "its call graph is empty");
    if (!st)
        st = codeguru_put_metadata(&w, &meta);
    if (!st) {
        codeguru_put_tree(&t);
        sp_buf_clear(&w.b);
        sp_cg_meta_end(&meta, &w.b);
        sp_write(out, w.b.data, w.b.len);
        st = t.nomem || w.b.failed ? sp_nomem(d) : out->status;
    }
    sp_vec_free(&t.levels);
    sp_vec_free(&t.cells);
    free(w.counters_of);
    free(w.commands);
    free(w.ranks);
    free(w.places);
    free(w.key_ranks);
    sp_vec_free(&w.keys);
    sp_vec_free(&w.counters);
    sp_vec_free(&w.order);
    sp_cg_extras_free(&w.extras);
    sp_arena_free(&w.text);
    sp_buf_free(&w.b);
    return st;
}
