/*
 * What the writer assembles the tree from: which events, which counter each context counts for, and the JSON
 * of names and places, made once for each distinct one.
 */
#include "formats/codeguru/writer.h"
#include "formats/one_number.h"

#include "base/num.h"
#include "model/events.h"

#include <stdlib.h>

static const char on_cpu[] = "RUNNABLE", off_cpu[] = "WAITING", blocked[] = "BLOCKED",
                  any_time[] = "WALL_TIME", idle[] = "IDLE";

static bool contains(struct sp_str s, const char *word)
{
    return s.n && memmem(s.p, s.n, word, strlen(word)) != NULL;
}

static bool begins(struct sp_str s, const char *word)
{
    return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

/* The counter of samples of an event that have no state of their own. */
static const char *event_counter(const struct sp_profile *p, uint32_t event)
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
        if (contains(name, off[i]))
            return off_cpu;
    for (size_t i = 0; i < sizeof locks / sizeof *locks && e->kind != SP_HARDWARE; i++)
        if (begins(name, locks[i]))
            return blocked;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (begins(name, on[i]) && e->kind != SP_PROBE)
            return on_cpu;
    return e->kind == SP_HARDWARE ? on_cpu : any_time;
}

/* ---- events ---- */

static uint32_t event_of(const struct sp_profile *p, uint32_t stack)
{
    return p->contexts.v[p->stacks.v[stack].context].event;
}

/* Samples of each event; without counts of samples its stacks. */
static double *event_sizes(const struct sp_profile *p)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    double *sums = calloc(p->events.n + 1, sizeof *sums);
    for (uint32_t s = 0; sums && s < p->stacks.n; s++) {
        int64_t v = samples == SP_NONE ? 1 : sp_weight(p, s, samples);
        if (event_of(p, s) != SP_NONE && v > 0)
            sums[event_of(p, s)] += (double)v;
    }
    return sums;
}

static uint32_t largest(const struct sp_profile *p, const double *sizes, const char *counter)
{
    uint32_t best = SP_NONE;
    for (uint32_t e = 0; e < p->events.n; e++) {
        bool branches = sp_str_is(sp_pstr(p, p->events.v[e].name), "lbr") && p->events.n > 1;
        if (!branches && (!counter || event_counter(p, e) == counter) &&
            (best == SP_NONE || sizes[e] > sizes[best]))
            best = e;
    }
    return best;
}

/* Which events have stacks and are not written, branches (`lbr`) too. */
static bool say_left(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    unsigned char *seen = calloc(p->events.n + 1, 1);
    size_t n = 0;
    sp_buf_clear(&w->b);
    for (uint32_t s = 0; seen && s < p->stacks.n; s++) {
        uint32_t e = event_of(p, s);
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
static bool choose_events(struct sp_cg_writer *w, bool *taken)
{
    const struct sp_profile *p = w->p;
    if (w->opts->event != SP_NONE) {
        taken[w->opts->event] = true;
        return true;
    }
    double *sizes = event_sizes(p);
    if (!sizes)
        return false;
    uint32_t first = largest(p, sizes, NULL), other = SP_NONE;
    if (first != SP_NONE) {
        const char *counter = event_counter(p, first);
        taken[first] = true;
        if (counter == on_cpu || counter == off_cpu)
            other = largest(p, sizes, counter == on_cpu ? off_cpu : on_cpu);
        if (other != SP_NONE)
            taken[other] = true;
    }
    free(sizes);
    return say_left(w, taken);
}

/*
 * The primary metric of what is taken; of two events that are weighed differently, which are added up in one
 * tree, samples. Where neither fits each call stack counts once.
 */
static void choose_metric(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->metric = SP_NONE;
    w->samples = SP_ABSENT;
    for (uint32_t e = 0; e < p->events.n; e++) {
        int64_t samples = taken[e] ? sp_event_samples(p, e) : SP_ABSENT;
        uint32_t metric = taken[e] ? sp_one_counted(p, w->opts, e, w->d) : SP_NONE;
        if (!taken[e])
            continue;
        if (samples != SP_ABSENT &&
            __builtin_add_overflow(w->samples == SP_ABSENT ? 0 : w->samples, samples, &w->samples))
            w->samples = INT64_MAX;
        bool differs = w->metric != SP_NONE && metric != w->metric;
        w->metric = differs ? sp_metric_find(p, "samples", 7) : metric;
        if (differs)
            break;
    }
    if (w->metric != SP_NONE)
        sp_one_counts(p, w->opts, w->metric, w->d);
}

/* ---- counters ---- */

static uint32_t counter_named(struct sp_cg_writer *w, const char *p, size_t n)
{
    uint32_t name = sp_profile_str(w->p, p, n);
    for (uint32_t i = 0; name != SP_STR_FAIL && i < w->counters.n; i++)
        if (w->counters.v[i].name == name)
            return i;
    struct sp_cg_counter c = {.name = name};
    return name != SP_STR_FAIL && sp_vec_push(&w->counters, c) ? (uint32_t)w->counters.n - 1 : SP_NONE;
}

static bool is_idle(const struct sp_profile *p, const struct sp_context *c)
{
    struct sp_str comm = sp_pstr(p, c->comm);
    return sp_str_is(comm, "swapper") || begins(comm, "swapper/");
}

/* The counter that samples of a context count for: SP_NONE when out of memory. */
static uint32_t context_counter(struct sp_cg_writer *w, const struct sp_context *c)
{
    const char *asked = sp_own_opt(w->opts->own, w->opts->nown, "counter");
    struct sp_str state = sp_pstr(w->p, c->state);
    if (c->state != SP_STR_NONE && (w->kept.n || !sp_str_is(state, "UNKNOWN")))
        return counter_named(w, state.p, state.n);
    const char *name = c->state != SP_STR_NONE ? any_time : event_counter(w->p, c->event);
    if (name == on_cpu && is_idle(w->p, c))
        name = idle;
    if (asked)
        name = asked;
    return counter_named(w, name, strlen(name));
}

static int by_name(const void *a, const void *b, void *arg)
{
    const struct sp_cg_writer *w = arg;
    return sp_str_cmp(sp_pstr(w->p, w->counters.v[*(const uint32_t *)a].name),
                      sp_pstr(w->p, w->counters.v[*(const uint32_t *)b].name));
}

/* JSON of a name and what follows it, in the arena. */
static bool make_text(struct sp_cg_writer *w, const char *before, uint32_t name, const char *after,
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

static bool make_counters(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->counters_of = malloc((p->contexts.n + 1) * sizeof *w->counters_of);
    if (!w->counters_of)
        return false;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        w->counters_of[i] = SP_NONE;
        if (c->event != SP_NONE && taken[c->event] && (w->counters_of[i] = context_counter(w, c)) == SP_NONE)
            return false;
    }
    uint32_t *order = malloc((w->counters.n + 1) * sizeof *order);
    bool ok = order != NULL;
    for (uint32_t i = 0; ok && i < w->counters.n; i++) {
        order[i] = i;
        ok = make_text(w, "", w->counters.v[i].name, ":", &w->counters.v[i].text);
    }
    if (ok && w->counters.n > 1)
        qsort_r(order, w->counters.n, sizeof *order, by_name, w);
    for (uint32_t i = 0; ok && i < w->counters.n; i++)
        w->counters.v[order[i]].rank = i;
    free(order);
    return ok;
}

/* ---- keys ---- */

/* A frame's key, in w->b: as it was read, or by the names asked for. */
static bool key_text(struct sp_cg_writer *w, uint32_t frame, bool module)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_function *fn = &p->functions.v[f->function];
    struct sp_str func = sp_pstr(p, fn->name), dso = sp_pstr(p, p->dsos.v[fn->dso].name);
    struct sp_span kept = sp_cg_member(sp_pstr(p, f->more), SP_CG_KEY), name = {NULL, 0};
    sp_buf_clear(&w->b);
    if (kept.n > 2 && kept.p[0] == '{')
        name = sp_cg_member((struct sp_str){kept.p + 1, (uint32_t)kept.n - 2}, "name");
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
    } else if (f->flags & SP_FRAME_UNRESOLVED && known) {
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
static bool name_keys(struct sp_cg_writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        if (!key_text(w, i, module))
            return false;
        names[i] = sp_profile_str(p, w->b.len ? w->b.data : "", w->b.len);
        if (names[i] == SP_STR_FAIL)
            return false;
    }
    return true;
}

static bool add_key(struct sp_cg_writer *w, uint32_t name)
{
    if (w->key_ranks[name])
        return true;
    w->key_ranks[name] = 1;
    return sp_vec_push(&w->keys, ((struct sp_cg_key){.name = name}));
}

static int by_key(const void *a, const void *b, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_str_cmp(sp_pstr(p, ((const struct sp_cg_key *)a)->name),
                      sp_pstr(p, ((const struct sp_cg_key *)b)->name));
}

static bool make_keys(struct sp_cg_writer *w, uint32_t *names, bool module)
{
    struct sp_profile *p = w->p;
    if (!name_keys(w, names, module))
        return false;
    w->key_ranks = calloc(p->strs.strs.n + 1, sizeof *w->key_ranks);
    w->heads = calloc(p->contexts.n + 1, sizeof *w->heads);
    w->ranks = malloc((p->frames.n + 1) * sizeof *w->ranks);
    bool ok = w->key_ranks && w->heads && w->ranks;
    for (size_t i = 0; ok && i < p->frames.n; i++)
        ok = add_key(w, names[i]);
    for (size_t i = 1; ok && i < w->extras.nodes.n; i++)
        ok = add_key(w, w->extras.nodes.v[i].name);
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        ok = p->contexts.v[i].comm == SP_STR_NONE || add_key(w, p->contexts.v[i].comm);
    if (ok && w->keys.n > 1)
        qsort_r(w->keys.v, w->keys.n, sizeof *w->keys.v, by_key, p);
    for (size_t i = 0; ok && i < w->keys.n; i++) {
        w->key_ranks[w->keys.v[i].name] = (uint32_t)i + 1;
        ok = make_text(w, SP_CG_CHILDREN, w->keys.v[i].name, ":{", &w->keys.v[i].text);
    }
    for (size_t i = 0; ok && i < p->frames.n; i++)
        w->ranks[i] = w->key_ranks[names[i]];
    for (size_t i = 0; ok && !w->kept.n && i < p->contexts.n; i++)
        if (p->contexts.v[i].comm != SP_STR_NONE)
            w->heads[i] = w->key_ranks[p->contexts.v[i].comm];
    return ok;
}

/* ---- places ---- */

static bool keep_place(struct sp_cg_writer *w, struct sp_str *out)
{
    char *t = w->b.failed ? NULL : sp_arena_dup(&w->text, w->b.len ? w->b.data : "", w->b.len);
    *out = (struct sp_str){t, (uint32_t)w->b.len};
    return t != NULL;
}

/* As it was read: in the frame's own words, else from srcline. */
static bool read_places(struct sp_cg_writer *w)
{
    const struct sp_profile *p = w->p;
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        struct sp_span kept = sp_cg_member(sp_pstr(p, f->more), SP_CG_KEY), file = {NULL, 0}, line = file,
                       in = file;
        sp_buf_clear(&w->b);
        if (kept.n > 2 && kept.p[0] == '{') {
            struct sp_str m = {kept.p + 1, (uint32_t)kept.n - 2};
            file = sp_cg_member(m, "file");
            line = sp_cg_member(m, "line");
            in = sp_cg_member(m, "in_name");
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
        if (w->b.failed || (w->b.len && !keep_place(w, &w->places[i])))
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
static bool make_places(struct sp_cg_writer *w)
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
        ok = keep_place(w, &w->keys.v[i].place);
    }
    free(all);
    return ok;
}

/* ---- all of it ---- */

static bool is_bare(const struct sp_cg_writer *w)
{
    bool bare = !w->extras.nodes.n;
    for (size_t i = 0; bare && i < w->p->frames.n; i++)
        bare = !w->places[i].n;
    for (size_t i = 0; bare && i < w->keys.n; i++)
        bare = !w->keys.v[i].place.n;
    return bare;
}

/* Every stack of the events, of pairs the user's side. */
static bool gather(struct sp_cg_writer *w)
{
    const struct sp_profile *p = w->p;
    w->linked = p->related.n != 0;
    if (!sp_vec_reserve(&w->order, p->stacks.n + 1))
        return false;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        if (w->counters_of[p->stacks.v[s].context] == SP_NONE)
            continue;
        if (w->linked && p->stacks.v[s].type == SP_KERNEL_STACK && sp_stack_partner(p, s) != SP_NONE)
            continue;
        w->order.v[w->order.n++] = s;
    }
    return true;
}

spaa_status sp_cg_prepare(struct sp_cg_writer *w)
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
    bool ok = taken && names && w->places && choose_events(w, taken);
    if (ok)
        choose_metric(w, taken);
    ok = ok && make_counters(w, taken) && make_keys(w, names, module) && gather(w) &&
         (w->kept.n ? read_places(w) : make_places(w));
    free(taken);
    free(names);
    w->bare = ok && is_bare(w);
    return ok ? SPAA_OK : sp_nomem(w->d);
}
