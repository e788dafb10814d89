/*
 * The usual lines of a written file, without looking at what was seen before: stack and sample records in
 * the order and form that writers use. A line is handled here only when the general road would report
 * nothing but what is reported here as well, and would leave the same state; any doubt sends it there.
 *
 * Two memories make that cheap. Contexts: the raw texts of context objects that were found in order; a
 * JSON object ends itself, so equal bytes are the same object. Weights: lists that were found in order,
 * as the texts around their whole numbers.
 */
#include "formats/spaa/validate/fast_frames.h"
#include "formats/spaa/validate/internal.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CONTEXTS      4096 /* a power of two */
#define CONTEXT_WAYS  4
#define CONTEXT_BYTES 168
#define SHAPES        16
#define SHAPE_BYTES   512
#define SHAPE_VALUES  8
#define RELATED       16
#define OTHERS        8
#define PLAIN_DIGITS  18 /* fit in 64 bits */

struct context {
    uint64_t hash;
    uint32_t event, thread, n, used; /* used: the turn of the last use */
    char text[CONTEXT_BYTES];
};

/* Texts and numbers alternate: piece, value, piece, …, value, piece. */
struct shape {
    uint32_t event;
    unsigned values;
    uint16_t piece[SHAPE_VALUES + 1]; /* lengths */
    bool not_zero[SHAPE_VALUES];
    char text[SHAPE_BYTES];
};

struct sp_fast {
    struct context contexts[CONTEXTS];
    uint32_t turn;
    struct shape shapes[SHAPES];
    unsigned nshapes, last, replace;
    struct sp_frame_run frames;
    uint32_t entries[SP_FAST_FRAMES];
};

/* A line that is being recognised. Behind `end` stands a newline or carriage return. */
struct line {
    const char *p, *end, *limit; /* limit: of what is readable */
    struct sp_span id, weights, related[RELATED];
    struct sp_fp fp;
    struct sp_span others[OTHERS]; /* keys of somebody's own */
    unsigned nrelated, nothers;
    size_t nframes;
    int type;
    const struct context *context;
    const struct shape *shape;
    uint64_t values[SHAPE_VALUES];
    bool exclusive;
};

bool sp_fast_init(struct sp_validator *v)
{
    v->fast = calloc(1, sizeof *v->fast);
    return v->fast != NULL;
}

void sp_fast_free(struct sp_validator *v)
{
    free(v->fast);
    v->fast = NULL;
}

static inline bool take(struct line *l, const char *literal, size_t n)
{
    if ((size_t)(l->end - l->p) < n || memcmp(l->p, literal, n) != 0)
        return false;
    l->p += n;
    return true;
}
#define TAKE(l, literal) take((l), literal, sizeof literal - 1)

/* The first of the few slots where a text may stand. */
static struct context *context_set(struct sp_fast *f, uint64_t hash)
{
    return &f->contexts[hash & (CONTEXTS - 1) & ~(uint64_t)(CONTEXT_WAYS - 1)];
}

void sp_fast_learn_context(struct sp_validator *v, struct sp_span raw)
{
    if (raw.n > CONTEXT_BYTES)
        return;
    uint64_t hash = XXH3_64bits(raw.p, raw.n);
    struct context *set = context_set(v->fast, hash), *c = set;
    for (int i = 0; i < CONTEXT_WAYS; i++) {
        if (set[i].hash == hash) {
            c = &set[i];
            break;
        }
        if (set[i].used < c->used)
            c = &set[i];
    }
    *c = (struct context){.hash = hash,
                          .event = v->stack.event,
                          .thread = v->stack.thread,
                          .n = (uint32_t)raw.n,
                          .used = ++v->fast->turn};
    memcpy(c->text, raw.p, raw.n);
}

static bool plain_number(struct sp_span s)
{
    if (!s.n || s.n > PLAIN_DIGITS || (s.p[0] == '0' && s.n > 1))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)(s.p[i] - '0') > 9)
            return false;
    return true;
}

void sp_fast_learn_weights(struct sp_validator *v, struct sp_span raw)
{
    const sp_weights *l = &v->stack.weights;
    const struct sp_event *event = &v->header.events.v[v->stack.event];
    struct shape s = {.event = v->stack.event};
    const char *from = raw.p;
    size_t at = 0;
    if (!l->n || l->n > SHAPE_VALUES)
        return;
    for (size_t i = 0; i <= l->n; i++) {
        const char *to = raw.p + raw.n;
        if (i < l->n) {
            const struct sp_weight *w = &l->v[i];
            if (!w->value.p || !plain_number(w->value) || w->value.p < from)
                return;
            to = w->value.p;
            s.not_zero[i] = w->classes & SP_METRIC_PERIOD ||
                            (w->classes & SP_METRIC_OBSERVATIONS && sp_fp_equal(w->metric, event->primary));
        }
        size_t n = (size_t)(to - from);
        if (n > SHAPE_BYTES - at)
            return;
        memcpy(s.text + at, from, n);
        s.piece[i] = (uint16_t)n;
        at += n;
        from = i < l->n ? to + l->v[i].value.n : to;
    }
    s.values = (unsigned)l->n;
    struct sp_fast *f = v->fast;
    unsigned slot = f->nshapes < SHAPES ? f->nshapes++ : f->replace++ % SHAPES;
    f->shapes[slot] = s;
}

/* The numbers of a list of this shape at p; returns its end, or NULL. */
static const char *match_shape(const struct shape *s, const char *p, const char *end, uint64_t *values)
{
    const char *piece = s->text;
    for (unsigned i = 0;; i++) {
        size_t n = s->piece[i];
        if ((size_t)(end - p) < n || memcmp(p, piece, n) != 0)
            return NULL;
        p += n;
        piece += n;
        if (i == s->values)
            return p;
        const char *from = p;
        uint64_t x = 0;
        for (unsigned d; (d = (unsigned)(unsigned char)*p - '0') <= 9; p++)
            x = x * 10 + d;
        if (p == from || p - from > PLAIN_DIGITS || (*from == '0' && p - from > 1))
            return NULL;
        values[i] = x;
    }
}

/* A string of plain ASCII without escapes; the opening quote is taken. */
static bool take_text(struct line *l, struct sp_span *out)
{
    const char *end = sp_fast_text(l->p, l->limit);
    if (!end)
        return false;
    *out = (struct sp_span){l->p, (size_t)(end - l->p)};
    l->p = end + 1;
    return true;
}

static bool take_frames(struct sp_validator *v, struct line *l)
{
    struct sp_frame_run *run = &v->fast->frames;
    const char *p = sp_fast_frames(&v->frames, l->p, l->limit, v->header.order == SP_LEAF_FIRST, run);
    if (!p)
        return false;
    l->p = p;
    l->nframes = run->n;
    return true;
}

/* The end of the object at p if it has no escapes, or NULL. */
static const char *object_end(const char *p, const char *end)
{
    size_t depth = 0;
    bool quoted = false;
    for (; p < end; p++) {
        if (*p == '\\')
            return NULL;
        if (*p == '"')
            quoted = !quoted;
        else if (*p == '{' && !quoted)
            depth++;
        else if (*p == '}' && !quoted && --depth == 0)
            return p + 1;
    }
    return NULL;
}

static bool known_context(struct sp_validator *v, struct line *l, const char *end)
{
    size_t n = (size_t)(end - l->p);
    if (n > CONTEXT_BYTES)
        return false;
    uint64_t hash = XXH3_64bits(l->p, n);
    struct context *c = context_set(v->fast, hash), *end_of_set = c + CONTEXT_WAYS;
    while (c->hash != hash || c->n != n || memcmp(c->text, l->p, n) != 0)
        if (++c == end_of_set)
            return false;
    c->used = ++v->fast->turn;
    l->context = c;
    l->p = end;
    return true;
}

static bool take_context(struct sp_validator *v, struct line *l)
{
    if (l->p >= l->end || *l->p != '{')
        return false;
    const char *brace = memchr(l->p, '}', (size_t)(l->end - l->p));
    if (!brace)
        return false;
    if (known_context(v, l, brace + 1))
        return true;
    const char *end = object_end(l->p, l->end);
    return end && end != brace + 1 && known_context(v, l, end);
}

static bool try_shape(struct line *l, const struct shape *s)
{
    if (s->event != l->context->event)
        return false;
    const char *end = match_shape(s, l->p, l->end, l->values);
    if (!end)
        return false;
    for (unsigned i = 0; i < s->values; i++)
        if (s->not_zero[i] && !l->values[i])
            return false;
    l->shape = s;
    l->weights = (struct sp_span){l->p, (size_t)(end - l->p)};
    l->p = end;
    return true;
}

static bool take_weights(struct sp_validator *v, struct line *l)
{
    struct sp_fast *f = v->fast;
    if (!l->context || !f->nshapes)
        return false;
    if (try_shape(l, &f->shapes[f->last]))
        return true;
    for (unsigned i = 0; i < f->nshapes; i++) {
        if (i != f->last && try_shape(l, &f->shapes[i])) {
            f->last = i;
            return true;
        }
    }
    return false;
}

static bool take_exclusive(struct sp_validator *v, struct line *l)
{
    if (!l->shape || !l->nframes || !TAKE(l, "{\"frame\":"))
        return false;
    const char *from = l->p;
    uint32_t id = 0;
    for (unsigned d; (d = (unsigned)(unsigned char)*l->p - '0') <= 9; l->p++)
        id = id * 10 + d;
    if (l->p == from || l->p - from > 7 || (*from == '0' && l->p - from > 1) ||
        id != v->fast->frames.ids[v->header.order == SP_LEAF_FIRST ? 0 : l->nframes - 1] ||
        !TAKE(l, ",\"weights\":"))
        return false;
    /* Usually the leaf has all the weight. */
    if (!take(l, l->weights.p, l->weights.n)) {
        uint64_t own[SHAPE_VALUES];
        const char *end = match_shape(l->shape, l->p, l->end, own);
        if (!end)
            return false;
        for (unsigned i = 0; i < l->shape->values; i++)
            if (own[i] > l->values[i])
                return false;
        l->p = end;
    }
    l->exclusive = true;
    return TAKE(l, "}");
}

static bool take_related(struct line *l)
{
    if (TAKE(l, "]"))
        return true;
    do {
        if (l->nrelated == RELATED || !TAKE(l, "\"") || !take_text(l, &l->related[l->nrelated]))
            return false;
        l->nrelated++;
    } while (TAKE(l, ","));
    return TAKE(l, "]");
}

static bool take_type(struct line *l)
{
    for (int t = 0; sp_stack_type_names[t]; t++)
        if (take(l, sp_stack_type_names[t], strlen(sp_stack_type_names[t]))) {
            l->type = t;
            return TAKE(l, "\"");
        }
    return false;
}

/* The id is looked up when all else is known to be in order; until then its slot is fetched. */
static bool look_ahead(struct sp_validator *v, struct line *l)
{
    XXH128_hash_t h = XXH3_128bits(l->id.p, l->id.n);
    l->fp = (struct sp_fp){h.low64, h.high64};
    if (v->stacks.slots)
        __builtin_prefetch(&v->stacks.slots[l->fp.a & v->stacks.mask], 1);
    return true;
}

/* A number without sign and exponent. */
static bool take_number(struct line *l, struct sp_span *out)
{
    const char *from = l->p, *p = from;
    while ((unsigned char)(*p - '0') <= 9)
        p++;
    if (p == from || (*from == '0' && p - from > 1))
        return false;
    if (*p == '.') {
        const char *fraction = ++p;
        while ((unsigned char)(*p - '0') <= 9)
            p++;
        if (p == fraction)
            return false;
    }
    *out = (struct sp_span){from, (size_t)(p - from)};
    l->p = p;
    return *p == ',' || *p == '}';
}

/* A key of somebody's own with a value that holds no keys; the quote of the key is taken. */
static bool take_other(struct line *l)
{
    struct sp_span key, value;
    if (l->limit - l->p < 2 || memcmp(l->p, "x_", 2) != 0 || l->nothers == OTHERS || !take_text(l, &key) ||
        !TAKE(l, ":"))
        return false;
    for (unsigned i = 0; i < l->nothers; i++)
        if (l->others[i].n == key.n && memcmp(l->others[i].p, key.p, key.n) == 0)
            return false;
    l->others[l->nothers++] = key;
    if (TAKE(l, "\""))
        return take_text(l, &value);
    return TAKE(l, "true") || TAKE(l, "false") || TAKE(l, "null") || take_number(l, &value);
}

enum { ID = 1, FRAME_LIST = 2, TYPE = 4, CONTEXT = 8, WEIGHTS = 16, EXCLUSIVE = 32, LINKS = 64 };

/* The members up to the closing brace; *seen: which there were. */
static bool take_stack_members(struct sp_validator *v, struct line *l, unsigned *seen)
{
    while (TAKE(l, ",\"")) {
        unsigned what = 0;
        bool ok = false;
        if (TAKE(l, "id\":\""))
            what = ID, ok = take_text(l, &l->id) && look_ahead(v, l);
        else if (TAKE(l, "frames\":["))
            what = FRAME_LIST, ok = take_frames(v, l);
        else if (TAKE(l, "stack_type\":\""))
            what = TYPE, ok = take_type(l);
        else if (TAKE(l, "context\":"))
            what = CONTEXT, ok = take_context(v, l);
        else if (TAKE(l, "weights\":"))
            what = WEIGHTS, ok = take_weights(v, l);
        else if (TAKE(l, "exclusive\":"))
            what = EXCLUSIVE, ok = take_exclusive(v, l);
        else if (TAKE(l, "related_stacks\":["))
            what = LINKS, ok = take_related(l);
        else
            ok = take_other(l);
        if (!ok || *seen & what)
            return false;
        *seen |= what;
    }
    return TAKE(l, "}") && l->p == l->end;
}

/* Whatever else is in the stack, there is nothing to say about this pair. */
static bool follows(const struct sp_id *inner, const struct sp_id *outer)
{
    bool places = inner->place == outer->place || !inner->place || !outer->place;
    return inner->bits & SP_ID_INLINED && places && outer->extra < inner->extra;
}

/*
 * A run that is not the usual one of its frames is judged like on the general road; if it is in order, its
 * frames know each other from now on.
 */
static bool runs_in_order(struct sp_validator *v, struct sp_frame_run *run)
{
    struct sp_ids *t = &v->frames;
    uint32_t *entries = v->fast->entries;
    for (size_t i = 0; i < run->n; i++)
        entries[i] = t->numbers[run->ids[i]] - 1;
    struct sp_inline_findings f = sp_inline_check(v, entries, run->n);
    if (f.disorder >= 0 || f.mismatch >= 0)
        return false;
    bool leaf_first = v->header.order == SP_LEAF_FIRST;
    for (size_t i = 0; i + 1 < run->n; i++) {
        uint32_t inner = run->ids[leaf_first ? i : i + 1], outer = run->ids[leaf_first ? i + 1 : i];
        if (follows(&t->v[t->numbers[inner] - 1], &t->v[t->numbers[outer] - 1]))
            t->briefs[inner].caller = outer + 1;
    }
    return true;
}

static bool frames_in_order(struct sp_validator *v, const struct line *l)
{
    struct sp_frame_run *run = &v->fast->frames;
    bool user = run->bits & SP_ID_USER, kernel = run->bits & SP_ID_KERNEL;
    if ((l->type == SP_USER_STACK && kernel) || (l->type == SP_KERNEL_STACK && user) ||
        (v->header.dtrace && l->type == SP_UNIFIED && kernel && user))
        return false;
    return !run->unusual || runs_in_order(v, run);
}

static bool stack_line(struct sp_validator *v, struct line *l)
{
    unsigned seen = 0, needed = ID | FRAME_LIST | CONTEXT | WEIGHTS;
    if (!take_stack_members(v, l, &seen) || (seen & needed) != needed || !frames_in_order(v, l))
        return false;
    bool added;
    uint32_t n = sp_ids_get_fp(&v->stacks, l->fp, &added);
    if (n == SP_ID_NONE || v->stacks.v[n].bits & SP_ID_DEFINED)
        return false;
    /* From here on the line is handled. */
    struct sp_id *e = &v->stacks.v[n];
    e->line = v->line & (((uint64_t)1 << 40) - 1);
    e->bits = SP_ID_DEFINED;
    e->extra = 0;
    e->place = 0;
    if (l->context->thread != SP_ID_NONE)
        sp_refer_again(&v->threads.v[l->context->thread]);
    for (unsigned i = 0; i < l->nrelated; i++) {
        struct sp_span to = l->related[i];
        sp_link(v, n, sp_refer(v, &v->stacks, to, to.p - 1, SP_REF_RELATED, i), to.p - 1, i);
    }
    if (!l->exclusive) {
        sp_path_cut(v, 0);
        v->record = "stack";
        sp_report_no_exclusive(v);
    }
    return true;
}

struct sample {
    struct sp_span timestamp, tid, event, period, stack, other;
};

static bool take_sample_members(struct line *l, struct sample *s)
{
    unsigned seen = 0;
    while (TAKE(l, ",\"")) {
        unsigned what = 0;
        bool ok = false;
        if (TAKE(l, "timestamp\":"))
            what = 1, ok = take_number(l, &s->timestamp);
        else if (TAKE(l, "pid\":"))
            what = 2, ok = take_number(l, &s->other);
        else if (TAKE(l, "tid\":"))
            what = 4, ok = take_number(l, &s->tid);
        else if (TAKE(l, "cpu\":"))
            what = 8, ok = take_number(l, &s->other);
        else if (TAKE(l, "event\":\""))
            what = 16, ok = take_text(l, &s->event);
        else if (TAKE(l, "period\":"))
            what = 32, ok = take_number(l, &s->period) && *s->period.p != '0';
        else if (TAKE(l, "stack_id\":\""))
            what = 64, ok = take_text(l, &s->stack);
        else if (TAKE(l, "context\":{}"))
            what = 128, ok = true;
        else
            ok = take_other(l);
        if (!ok || seen & what)
            return false;
        seen |= what;
    }
    return seen & 64 && seen & 1 && TAKE(l, "}") && l->p == l->end;
}

static bool sample_line(struct sp_validator *v, struct line *l)
{
    struct sample s = {0};
    uint32_t thread = SP_ID_NONE;
    if (!take_sample_members(l, &s) || (v->header.has_range && !sp_time_in_range(&v->header, s.timestamp)))
        return false;
    if (s.event.p && sp_ids_find(&v->header.event_ids, sp_fingerprint(s.event.p, s.event.n)) == SP_ID_NONE)
        return false;
    if (s.tid.p && (thread = sp_ids_find(&v->threads, sp_fingerprint(s.tid.p, s.tid.n))) == SP_ID_NONE)
        return false;
    if (thread != SP_ID_NONE)
        sp_refer_again(&v->threads.v[thread]);
    sp_refer(v, &v->stacks, s.stack, s.stack.p - 1, SP_REF_SAMPLE, 0);
    return true;
}

bool sp_fast_line(struct sp_validator *v, const char *p, size_t n, const char *limit)
{
    if (!v->header.events_known || v->header.order == SP_ORDER_UNKNOWN)
        return false;
    struct line l;
    l.p = p;
    l.end = p + n;
    l.limit = limit;
    l.nrelated = l.nothers = 0;
    l.nframes = 0;
    l.type = SP_UNIFIED;
    l.context = NULL;
    l.shape = NULL;
    l.exclusive = false;
    if (TAKE(&l, "{\"type\":\"stack\""))
        return stack_line(v, &l);
    return TAKE(&l, "{\"type\":\"sample\"") && sample_line(v, &l);
}
