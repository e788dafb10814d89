/*
 * Writes the JSON that PostAgentProfile takes, in canonical form: no blanks; start, end, agentMetadata,
 * callgraph, then other members; in a node counts by name, file, line, other members, and last the children
 * by the bytes of their names. A CodeGuru profile that was read comes back with every key and number;
 * profiles of other sources get their metadata from the header.
 *
 * Counts are samples, by thread state. Where a source has no states, on-CPU samples are RUNNABLE, off-CPU
 * ones WAITING, others WALL_TIME (texts.c).
 *
 * The stacks are sorted first (order.c), so that the tree can be written as it comes: what a stack has in
 * common with the one before is open already.
 */
#include "formats/codeguru/writer.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>

#define CHILDREN_SIZE (sizeof SP_CG_CHILDREN - 1)

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
    struct sp_cg_writer *w;
    struct sp_output *out;
    SP_VEC(struct level) levels;
    SP_VEC(struct cell) cells; /* of the innermost node */
    bool nomem;
};

static void put(struct tree *t, struct sp_str s)
{
    sp_write(t->out, s.p, s.n);
}

static void comma(struct tree *t, struct level *l)
{
    if (l->any)
        sp_write(t->out, ",", 1);
    l->any = true;
}

/* ---- counts ---- */

/* The sum of two numbers as text, exactly where it fits. */
static void add_texts(struct tree *t, struct cell *c, struct sp_str text)
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

static struct sp_str number(struct tree *t, int64_t v)
{
    char out[64];
    size_t n = sp_scaled_text(v, 0, out);
    char *kept = sp_arena_dup(&t->w->text, out, n);
    t->nomem = t->nomem || !kept;
    return (struct sp_str){kept ? kept : "", kept ? (uint32_t)n : 0};
}

static void add_cell(struct tree *t, uint32_t counter, int64_t v, struct sp_str text)
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
            c->text = number(t, c->v);
        add_texts(t, c, v == SP_DECIMAL ? text : number(t, v));
        c->v = SP_DECIMAL;
        return;
    }
    t->nomem = !sp_vec_push(&t->cells, ((struct cell){counter, v, text})) || t->nomem;
}

/* Of sources other than CodeGuru counts are whole and positive; 0: nothing to write. */
static int64_t count_of(struct sp_cg_writer *w, uint32_t stack, struct sp_str *text)
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

static int by_rank(const void *a, const void *b, void *arg)
{
    const struct sp_cg_writer *w = arg;
    uint32_t x = w->counters.v[((const struct cell *)a)->counter].rank,
             y = w->counters.v[((const struct cell *)b)->counter].rank;
    return (x > y) - (x < y);
}

static void put_cell(struct tree *t, const struct cell *c)
{
    put(t, t->w->counters.v[c->counter].text);
    if (c->v == SP_DECIMAL) {
        put(t, c->text);
        return;
    }
    char *room = sp_output_room(t->out, 64);
    if (c->v >= 0)
        sp_output_took(t->out, sp_u64_text((uint64_t)c->v, room));
    else
        sp_output_took(t->out, sp_scaled_text(c->v, 0, room));
}

/* Kept counts (zeros, and what is no number) between the others; a counter that has both keeps the sum. */
static void put_counts_with(struct tree *t, struct sp_span kept)
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
            put_cell(t, &t->cells.v[i]);
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
        put_cell(t, &t->cells.v[i]);
        any = true;
    }
    t->nomem = t->nomem || j.scratch.failed;
    sp_json_free(&j);
    sp_write(t->out, "}", 1);
}

static void put_counts(struct tree *t, struct level *l, struct sp_span kept)
{
    if (t->cells.n > 1)
        qsort_r(t->cells.v, t->cells.n, sizeof *t->cells.v, by_rank, t->w);
    if (!t->cells.n && !kept.n)
        return;
    comma(t, l);
    sp_write(t->out, "\"counts\":", 9);
    if (kept.n && (kept.p[0] == '{' || !t->cells.n)) {
        if (kept.p[0] == '{')
            put_counts_with(t, kept);
        else
            sp_write(t->out, kept.p, kept.n);
    } else {
        for (size_t i = 0; i < t->cells.n; i++) {
            sp_write(t->out, i ? "," : "{", 1);
            put_cell(t, &t->cells.v[i]);
        }
        sp_write(t->out, "}", 1);
    }
    t->cells.n = 0;
}

/* ---- nodes ---- */

enum part { PLACE, OTHERS, CHILDREN };

static enum part part_of(struct sp_span key)
{
    return sp_span_is(key, "children")                          ? CHILDREN
           : sp_span_is(key, "file") || sp_span_is(key, "line") ? PLACE
                                                                : OTHERS;
}

/* Members that were kept, a part of them; but counts, which are merged. */
static void put_kept(struct tree *t, struct level *l, struct sp_span member, enum part part)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_json_init(&j, member.p, member.n);
    j.first = true;
    while (j.p < j.end && sp_json_key(&j, &key)) {
        bool wanted = part_of(key) == part && !sp_span_is(key, "counts");
        sp_buf_clear(&t->w->b);
        sp_json_string(&t->w->b, key.p, key.n);
        t->nomem = t->nomem || t->w->b.failed;
        if (!sp_json_skip(&j, &raw))
            break;
        if (!wanted)
            continue;
        comma(t, l);
        sp_write(t->out, t->w->b.data, t->w->b.len);
        sp_write(t->out, ":", 1);
        sp_write(t->out, raw.p, raw.n);
    }
    t->nomem = t->nomem || j.scratch.failed;
    sp_json_free(&j);
}

/* Everything of the innermost node but its children. */
static void put_head(struct tree *t, struct level *l)
{
    struct sp_span none = {NULL, 0},
                   member = l->extra == SP_NONE ? none : t->w->extras.nodes.v[l->extra].member;
    struct sp_str m = {member.p, (uint32_t)member.n};
    put_counts(t, l, member.n ? sp_cg_member(m, "counts") : none);
    if (l->place.n) {
        comma(t, l);
        put(t, l->place);
    } else if (member.n) {
        put_kept(t, l, member, PLACE);
    }
    if (member.n)
        put_kept(t, l, member, OTHERS);
    l->head = true;
}

static void close_level(struct tree *t)
{
    struct level *l = &t->levels.v[t->levels.n - 1];
    if (!l->head)
        put_head(t, l);
    if (l->open)
        sp_write(t->out, "}}", 2);
    else {
        if (l->extra != SP_NONE && t->w->extras.nodes.v[l->extra].member.n)
            put_kept(t, l, t->w->extras.nodes.v[l->extra].member, CHILDREN);
        sp_write(t->out, "}", 1);
    }
    t->levels.n--;
}

static void open_level(struct tree *t, uint32_t rank, uint32_t extra, struct sp_str place)
{
    struct level *up = &t->levels.v[t->levels.n - 1];
    if (!up->head)
        put_head(t, up);
    struct sp_str key = t->w->keys.v[rank].text;
    if (!up->open) {
        comma(t, up);
        up->open = true;
        put(t, key);
    } else {
        sp_write(t->out, ",", 1);
        sp_write(t->out, key.p + CHILDREN_SIZE, key.n - CHILDREN_SIZE);
    }
    struct level l = {.extra = extra, .place = place};
    if (!sp_vec_push(&t->levels, l))
        t->nomem = true;
}

/* The next child of the innermost level's kept node that was not written; SP_NONE: there is none. */
static uint32_t next_extra(const struct tree *t, uint32_t *rank)
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
static void put_extras(struct tree *t, uint32_t limit)
{
    size_t base = t->levels.n;
    while (!t->nomem) {
        uint32_t rank = 0, c = next_extra(t, &rank);
        if (c != SP_NONE && (t->levels.n > base || rank < limit)) {
            t->levels.v[t->levels.n - 1].cursor++;
            open_level(t, rank, c, (struct sp_str){"", 0});
        } else if (t->levels.n > base) {
            close_level(t);
        } else {
            return;
        }
    }
}

static void open_child(struct tree *t, uint32_t stack, size_t depth)
{
    struct sp_cg_writer *w = t->w;
    uint32_t rank = sp_cg_key(w, stack, depth) - 1, extra = SP_NONE, at = 0;
    if (t->levels.v[t->levels.n - 1].extra != SP_NONE) {
        put_extras(t, rank);
        uint32_t c = next_extra(t, &at);
        if (c != SP_NONE && at == rank) {
            extra = c;
            t->levels.v[t->levels.n - 1].cursor++;
        }
    }
    uint32_t frame = sp_cg_frame_at(w, stack, depth);
    struct sp_str place = frame == SP_NONE ? (struct sp_str){"", 0} : w->places[frame];
    if (!w->kept.n)
        place = w->keys.v[rank].place;
    if (!t->nomem)
        open_level(t, rank, extra, place);
}

/* Levels of which each has nothing but the next one. */
static void open_run(struct tree *t, uint32_t stack, size_t from, size_t to)
{
    if (from >= to || !sp_vec_reserve(&t->levels, t->levels.n + (to - from))) {
        t->nomem = t->nomem || from < to;
        return;
    }
    struct level *l = &t->levels.v[t->levels.n];
    t->levels.n += to - from;
    for (; from < to; from++, l++) {
        l[-1].head = l[-1].any = l[-1].open = true;
        *l = (struct level){.extra = SP_NONE, .place = {"", 0}};
        put(t, t->w->keys.v[sp_cg_key(t->w, stack, from) - 1].text);
    }
}

static void close_child(struct tree *t)
{
    put_extras(t, UINT32_MAX);
    close_level(t);
}

static void close_children(struct tree *t, size_t levels)
{
    bool innermost = true;
    while (t->levels.n > levels && !t->nomem) {
        if (innermost || !t->w->bare) {
            close_child(t);
        } else { /* the others are open, and have nothing else */
            sp_write(t->out, "}}", 2);
            t->levels.n--;
        }
        innermost = false;
    }
}

static size_t common_with_last(const struct sp_cg_writer *w, size_t i)
{
    return w->common ? w->common[i] : i ? sp_cg_common(w, w->order.v[i - 1], w->order.v[i]) : 0;
}

static void put_tree(struct tree *t)
{
    struct sp_cg_writer *w = t->w;
    struct level root = {.extra = w->extras.nodes.n ? 0 : SP_NONE};
    t->nomem = !sp_vec_push(&t->levels, root);
    sp_write(t->out, "{", 1);
    for (size_t i = 0; i < w->order.n && !t->nomem && !t->out->status; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        size_t common = common_with_last(w, i), depth = sp_cg_depth(w, stack);
        close_children(t, common + 1);
        for (size_t k = common; k < depth && !t->nomem; k++) {
            open_child(t, stack, k);
            if (w->bare) {
                open_run(t, stack, k + 1, depth);
                break;
            }
        }
        int64_t v = count_of(w, stack, &text);
        if (v != SP_ABSENT)
            add_cell(t, w->counters_of[w->p->stacks.v[stack].context], v, text);
    }
    close_children(t, 0);
}

/* ---- the file ---- */

static spaa_status put_metadata(struct sp_cg_writer *w, struct sp_cg_meta *m)
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
        const struct sp_cg_counter *c = &w->counters.v[i];
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
static void add_up(struct sp_cg_writer *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->order.n; i++) {
        uint32_t stack = w->order.v[i];
        struct sp_str text = {"", 0};
        int64_t v = w->kept.n ? 0 : count_of(w, stack, &text);
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
    struct sp_cg_writer w = {.p = p, .d = d, .out = out, .opts = opts};
    sp_arena_init(&w.text, 0);
    sp_buf_init(&w.b, 0);
    if (p->sources.n < 2) /* what several say alike, weights and durations, is not true of all together */
        w.kept = sp_cg_member(sp_pstr(p, p->header.more), SP_CG_KEY);
    struct sp_cg_meta meta = {.p = p, .kept = w.kept};
    struct tree t = {.w = &w, .out = out};
    spaa_status st = sp_cg_prepare(&w);
    if (!st) {
        add_up(&w);
        st = sp_cg_sort(&w);
    }
    if (!st)
        st = put_metadata(&w, &meta);
    if (!st) {
        put_tree(&t);
        sp_buf_clear(&w.b);
        sp_cg_meta_end(&meta, &w.b);
        sp_write(out, w.b.data, w.b.len);
        st = t.nomem || w.b.failed ? sp_nomem(d) : out->status;
    }
    sp_vec_free(&t.levels);
    sp_vec_free(&t.cells);
    free(w.counters_of);
    free(w.heads);
    free(w.ranks);
    free(w.places);
    free(w.key_ranks);
    sp_vec_free(&w.keys);
    sp_vec_free(&w.counters);
    sp_vec_free(&w.order);
    free(w.common);
    sp_cg_extras_free(&w.extras);
    sp_arena_free(&w.text);
    sp_buf_free(&w.b);
    return st;
}
