/*
 * The usual lines of a written file, without looking at what was seen before: stack and sample records in
 * the order and form that writers use. A line is handled here only when the general road would report
 * nothing but what is reported here as well, and would leave the same state; any doubt sends it there.
 *
 * Two memories make that cheap. Contexts: the raw texts of context objects that were found in order; a
 * JSON object ends itself, so equal bytes are the same object. Weights: lists that were found in order,
 * as the texts around their whole numbers.
 */
#include "formats/spaa/validate/fast.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PLAIN_DIGITS 18 /* fit in 64 bits */

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

/* The first of the few slots where a text may stand. */
static struct sp_known_context *context_set(struct sp_fast *f, uint64_t hash)
{
    return &f->contexts[hash & (SP_CONTEXTS - 1) & ~(uint64_t)(SP_CONTEXT_WAYS - 1)];
}

void sp_fast_learn_context(struct sp_validator *v, struct sp_span raw)
{
    if (raw.n > SP_CONTEXT_BYTES)
        return;
    uint64_t hash = XXH3_64bits(raw.p, raw.n);
    struct sp_known_context *set = context_set(v->fast, hash), *c = set;
    for (int i = 0; i < SP_CONTEXT_WAYS; i++) {
        if (set[i].hash == hash) {
            c = &set[i];
            break;
        }
        if (set[i].used < c->used)
            c = &set[i];
    }
    *c = (struct sp_known_context){.hash = hash,
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
    struct sp_shape s = {.event = v->stack.event};
    const char *from = raw.p;
    size_t at = 0;
    if (!l->n || l->n > SP_SHAPE_VALUES)
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
        if (n > SP_SHAPE_BYTES - at)
            return;
        memcpy(s.text + at, from, n);
        s.piece[i] = (uint16_t)n;
        at += n;
        from = i < l->n ? to + l->v[i].value.n : to;
    }
    s.values = (unsigned)l->n;
    struct sp_fast *f = v->fast;
    unsigned slot = f->nshapes < SP_SHAPES ? f->nshapes++ : f->replace++ % SP_SHAPES;
    f->shapes[slot] = s;
}

/* The numbers of a list of this shape at p; returns its end, or NULL. */
static const char *match_shape(const struct sp_shape *s, const char *p, const char *end, uint64_t *values)
{
    const char *piece = s->text;
    for (unsigned i = 0;; i++) {
        size_t n = s->piece[i];
        if ((size_t)(end - p) < n || !sp_same_text(p, piece, n))
            return NULL;
        p += n;
        piece += n;
        if (i == s->values)
            return p;
        if (!sp_plain_number(&p, end, &values[i]))
            return NULL;
    }
}

static bool take_frames(const struct sp_validator *v, struct sp_scratch *s, struct sp_line *l)
{
    const char *p = sp_fast_frames(&v->frames, l->p, l->limit, v->header.order == SP_LEAF_FIRST, &s->frames);
    if (!p)
        return false;
    l->p = p;
    l->nframes = s->frames.n;
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

static bool known_context(const struct sp_validator *v, struct sp_line *l, const char *end)
{
    size_t n = (size_t)(end - l->p);
    if (n > SP_CONTEXT_BYTES)
        return false;
    uint64_t hash = XXH3_64bits(l->p, n);
    struct sp_known_context *c = context_set(v->fast, hash), *end_of_set = c + SP_CONTEXT_WAYS;
    while (c->hash != hash || c->n != n || !sp_same_text(c->text, l->p, n))
        if (++c == end_of_set)
            return false;
    /* When it was used says only which one to forget; any thread may note it. */
    if (__atomic_load_n(&c->used, __ATOMIC_RELAXED) != v->fast->turn)
        __atomic_store_n(&c->used, v->fast->turn, __ATOMIC_RELAXED);
    l->context = c;
    l->p = end;
    return true;
}

static bool take_context(const struct sp_validator *v, struct sp_line *l)
{
    if (l->p >= l->limit || *l->p != '{')
        return false;
    const char *limit = l->limit - l->p > SP_CONTEXT_BYTES ? l->p + SP_CONTEXT_BYTES : l->limit;
    const char *brace = memchr(l->p, '}', (size_t)(limit - l->p));
    if (!brace)
        return false;
    if (known_context(v, l, brace + 1))
        return true;
    const char *end = object_end(l->p, limit);
    return end && end != brace + 1 && known_context(v, l, end);
}

static bool try_shape(struct sp_line *l, const struct sp_shape *s)
{
    if (s->event != l->context->event)
        return false;
    const char *end = match_shape(s, l->p, l->limit, l->values);
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

static bool take_weights(const struct sp_validator *v, struct sp_scratch *s, struct sp_line *l)
{
    const struct sp_fast *f = v->fast;
    if (!l->context || !f->nshapes)
        return false;
    if (s->last < f->nshapes && try_shape(l, &f->shapes[s->last]))
        return true;
    for (unsigned i = 0; i < f->nshapes; i++) {
        if (i != s->last && try_shape(l, &f->shapes[i])) {
            s->last = i;
            return true;
        }
    }
    return false;
}

static bool take_exclusive(const struct sp_validator *v, const struct sp_scratch *s, struct sp_line *l)
{
    uint64_t id;
    if (!l->shape || !l->nframes || !TAKE(l, "{\"frame\":") || !sp_plain_number(&l->p, l->limit, &id) ||
        id != s->frames.ids[v->header.order == SP_LEAF_FIRST ? 0 : l->nframes - 1] ||
        !TAKE(l, ",\"weights\":"))
        return false;
    /* Usually the leaf has all the weight. */
    if (!sp_take(l, l->weights.p, l->weights.n)) {
        uint64_t own[SP_SHAPE_VALUES];
        const char *end = match_shape(l->shape, l->p, l->limit, own);
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

static bool take_related(struct sp_line *l)
{
    if (TAKE(l, "]"))
        return true;
    do {
        if (l->nrelated == SP_FAST_RELATED || !TAKE(l, "\"") || !sp_take_text(l, &l->related[l->nrelated]))
            return false;
        l->nrelated++;
    } while (TAKE(l, ","));
    return TAKE(l, "]");
}

static bool take_type(struct sp_line *l)
{
    for (int t = 0; sp_stack_type_names[t]; t++)
        if (sp_take(l, sp_stack_type_names[t], strlen(sp_stack_type_names[t]))) {
            l->type = t;
            return TAKE(l, "\"");
        }
    return false;
}

/* A number without sign and exponent. */
static bool take_number(struct sp_line *l, struct sp_span *out)
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
static bool take_other(struct sp_line *l)
{
    struct sp_span key, value;
    if (l->limit - l->p < 2 || memcmp(l->p, "x_", 2) != 0 || l->nothers == SP_FAST_OTHERS ||
        !sp_take_text(l, &key) || !TAKE(l, ":"))
        return false;
    for (unsigned i = 0; i < l->nothers; i++)
        if (l->others[i].n == key.n && memcmp(l->others[i].p, key.p, key.n) == 0)
            return false;
    l->others[l->nothers++] = key;
    if (TAKE(l, "\""))
        return sp_take_text(l, &value);
    return TAKE(l, "true") || TAKE(l, "false") || TAKE(l, "null") || take_number(l, &value);
}

enum { ID = 1, FRAME_LIST = 2, TYPE = 4, CONTEXT = 8, WEIGHTS = 16, EXCLUSIVE = 32, LINKS = 64 };

/* The members up to the closing brace; *seen: which there were. */
static bool take_stack_members(const struct sp_validator *v, struct sp_scratch *s, struct sp_line *l,
                               unsigned *seen)
{
    while (TAKE(l, ",\"")) {
        unsigned what = 0;
        bool ok = false;
        if (TAKE(l, "id\":\""))
            what = ID, ok = sp_take_text(l, &l->id);
        else if (TAKE(l, "frames\":["))
            what = FRAME_LIST, ok = take_frames(v, s, l);
        else if (TAKE(l, "stack_type\":\""))
            what = TYPE, ok = take_type(l);
        else if (TAKE(l, "context\":"))
            what = CONTEXT, ok = take_context(v, l);
        else if (TAKE(l, "weights\":"))
            what = WEIGHTS, ok = take_weights(v, s, l);
        else if (TAKE(l, "exclusive\":"))
            what = EXCLUSIVE, ok = take_exclusive(v, s, l);
        else if (TAKE(l, "related_stacks\":["))
            what = LINKS, ok = take_related(l);
        else
            ok = take_other(l);
        if (!ok || *seen & what)
            return false;
        *seen |= what;
    }
    return sp_take_end(l);
}

/* Whatever else is in the stack, there is nothing to say about this pair. */
static bool follows(const struct sp_id *inner, const struct sp_id *outer)
{
    bool places = inner->place == outer->place || !inner->place || !outer->place;
    return inner->bits & SP_ID_INLINED && places && outer->extra < inner->extra;
}

/*
 * A run that is not the usual one of its frames is judged like on the general road; if it is in order, its
 * frames know each other from now on, in any thread.
 */
static bool runs_in_order(const struct sp_validator *v, struct sp_scratch *s)
{
    const struct sp_ids *t = &v->frames;
    const struct sp_frame_run *run = &s->frames;
    for (size_t i = 0; i < run->n; i++)
        s->entries[i] = t->numbers[run->ids[i]] - 1;
    struct sp_inline_findings f = sp_inline_check(v, s->entries, run->n);
    if (f.disorder >= 0 || f.mismatch >= 0)
        return false;
    bool leaf_first = v->header.order == SP_LEAF_FIRST;
    for (size_t i = 0; i + 1 < run->n; i++) {
        uint32_t inner = run->ids[leaf_first ? i : i + 1], outer = run->ids[leaf_first ? i + 1 : i];
        if (follows(&t->v[t->numbers[inner] - 1], &t->v[t->numbers[outer] - 1]))
            __atomic_store_n(&t->briefs[inner].caller, outer + 1, __ATOMIC_RELAXED);
    }
    return true;
}

static bool frames_in_order(const struct sp_validator *v, struct sp_scratch *s, const struct sp_line *l)
{
    const struct sp_frame_run *run = &s->frames;
    bool user = run->bits & SP_ID_USER, kernel = run->bits & SP_ID_KERNEL;
    if ((l->type == SP_USER_STACK && kernel) || (l->type == SP_KERNEL_STACK && user) ||
        (v->header.dtrace && l->type == SP_UNIFIED && kernel && user))
        return false;
    return !run->unusual || runs_in_order(v, s);
}

static bool stack_line(const struct sp_validator *v, struct sp_scratch *s, struct sp_line *l,
                       struct sp_usual *out)
{
    unsigned seen = 0, needed = ID | FRAME_LIST | CONTEXT | WEIGHTS;
    if (!take_stack_members(v, s, l, &seen) || (seen & needed) != needed || !frames_in_order(v, s, l))
        return false;
    out->kind = l->nrelated ? SP_LINE_LINKS : SP_LINE_STACK;
    out->id = l->id;
    out->thread = l->context->thread;
    out->exclusive = l->exclusive;
    return true;
}

static bool enter_stack(struct sp_validator *v, const struct sp_line *l, const struct sp_usual *u)
{
    bool added;
    uint32_t n = sp_ids_get_fp(&v->stacks, u->fp, &added);
    if (n == SP_ID_NONE || v->stacks.v[n].bits & SP_ID_DEFINED)
        return false;
    /* From here on the line is handled. */
    struct sp_id *e = &v->stacks.v[n];
    e->line = v->line & (((uint64_t)1 << 40) - 1);
    e->bits = SP_ID_DEFINED;
    e->extra = 0;
    e->place = 0;
    if (u->thread != SP_ID_NONE)
        sp_refer_again(&v->threads.v[u->thread]);
    for (unsigned i = 0; u->kind == SP_LINE_LINKS && i < l->nrelated; i++) {
        struct sp_span to = l->related[i];
        sp_link(v, n, sp_refer(v, &v->stacks, to, to.p - 1, SP_REF_RELATED, i), to.p - 1, i);
    }
    if (!u->exclusive) {
        sp_path_cut(v, 0);
        v->record = "stack";
        sp_report_no_exclusive(v);
    }
    return true;
}

struct sample {
    struct sp_span timestamp, tid, event, period, stack, other;
};

static bool take_sample_members(struct sp_line *l, struct sample *s)
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
            what = 16, ok = sp_take_text(l, &s->event);
        else if (TAKE(l, "period\":"))
            what = 32, ok = take_number(l, &s->period) && *s->period.p != '0';
        else if (TAKE(l, "stack_id\":\""))
            what = 64, ok = sp_take_text(l, &s->stack);
        else if (TAKE(l, "context\":{}"))
            what = 128, ok = true;
        else
            ok = take_other(l);
        if (!ok || seen & what)
            return false;
        seen |= what;
    }
    return seen & 64 && seen & 1 && sp_take_end(l);
}

static bool sample_line(const struct sp_validator *v, struct sp_line *l, struct sp_usual *out)
{
    struct sample s = {0};
    if (!take_sample_members(l, &s) || (v->header.has_range && !sp_time_in_range(&v->header, s.timestamp)))
        return false;
    if (s.event.p && sp_ids_find(&v->header.event_ids, sp_fingerprint(s.event.p, s.event.n)) == SP_ID_NONE)
        return false;
    out->thread = s.tid.p ? sp_ids_find(&v->threads, sp_fingerprint(s.tid.p, s.tid.n)) : SP_ID_NONE;
    if (s.tid.p && out->thread == SP_ID_NONE)
        return false;
    out->kind = SP_LINE_SAMPLE;
    out->id = s.stack;
    return true;
}

bool sp_fast_recognise(const struct sp_validator *v, struct sp_scratch *s, const char *p, const char *limit,
                       struct sp_line *l, struct sp_usual *out)
{
    l->p = p;
    l->limit = limit;
    l->nrelated = l->nothers = 0;
    l->nframes = 0;
    l->type = SP_UNIFIED;
    l->context = NULL;
    l->shape = NULL;
    l->exclusive = false;
    out->kind = SP_LINE_OTHER;
    if (!(TAKE(l, "{\"type\":\"stack\"") ? stack_line(v, s, l, out)
                                         : TAKE(l, "{\"type\":\"sample\"") && sample_line(v, l, out)))
        return false;
    out->end = l->p;
    XXH128_hash_t h = XXH3_128bits(out->id.p, out->id.n);
    out->fp = (struct sp_fp){h.low64, h.high64};
    return true;
}

bool sp_fast_enter(struct sp_validator *v, const struct sp_line *l, const struct sp_usual *u)
{
    if (u->kind != SP_LINE_SAMPLE)
        return enter_stack(v, l, u);
    if (u->thread != SP_ID_NONE)
        sp_refer_again(&v->threads.v[u->thread]);
    sp_refer_fp(v, &v->stacks, u->fp, u->id, u->id.p - 1, SP_REF_SAMPLE, 0);
    return true;
}

const char *sp_fast_line(struct sp_validator *v, const char *p, const char *limit)
{
    struct sp_line l;
    struct sp_usual u;
    if (!sp_fast_ready(v))
        return NULL;
    v->text = p;
    if (!sp_fast_recognise(v, &v->fast->scratch, p, limit, &l, &u))
        return sp_fast_frame_record(v, p, limit);
    if (!sp_fast_enter(v, &l, &u))
        return NULL;
    v->usual++;
    return u.end;
}
