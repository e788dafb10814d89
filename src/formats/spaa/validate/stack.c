/* Stack records: frames and their order, the context, exclusive weights, links; and samples and windows. */
#include "formats/spaa/validate/fields.h"

/* The order of inlined frames is looked at in stacks of up to so many frames. */
#define FRAMES_MAX ((size_t)1 << 20)

void sp_begin_stack(struct sp_validator *v)
{
    struct sp_stack_state *s = &v->stack;
    s->entry = s->event = s->thread = SP_ID_NONE;
    s->type = SP_UNIFIED;
    s->kinds = 0;
    s->frames = s->list.n = s->weights.n = s->exclusive.n = 0;
    s->leaf_known = s->exclusive_known = s->has_exclusive_weights = false;
    s->exclusive_at = s->exclusive_weights_at = NULL;
}

void sp_check_stack_id(struct sp_validator *v, const struct sp_value *x)
{
    bool fresh;
    v->stack.entry = sp_define(v, &v->stacks, x, &fresh);
}

/* The entry of a defined frame, its bits or-ed into *bits; SP_ID_NONE where there is none (yet). */
static uint32_t frame_entry(struct sp_validator *v, const struct sp_value *x, unsigned *bits)
{
    const struct sp_ids *t = &v->frames;
    uint32_t small = sp_small_id(x->text.p, x->text.n);
    if (small < t->nnumbers && t->briefs[small].bits) {
        *bits |= t->briefs[small].bits;
        return t->numbers[small] - 1;
    }
    uint32_t e = sp_refer(v, &v->frames, x->text, x->raw.p, SP_REF_STACK_FRAME, x->index);
    if (e == SP_ID_NONE || !(t->v[e].bits & SP_ID_DEFINED))
        return SP_ID_NONE;
    *bits |= (unsigned)t->v[e].bits;
    return e;
}

void sp_check_stack_frame(struct sp_validator *v, const struct sp_value *x)
{
    struct sp_stack_state *s = &v->stack;
    bool leaf = v->header.order == SP_ROOT_FIRST || !s->frames;
    uint32_t e = x->text.p ? frame_entry(v, x, &s->kinds) : SP_ID_NONE;
    if (leaf) { /* so far */
        s->leaf_known = x->text.p != NULL;
        s->leaf = s->leaf_known ? sp_fingerprint(x->text.p, x->text.n) : (struct sp_fp){0, 0};
    }
    s->frames++;
    if (s->list.n < FRAMES_MAX && !sp_vec_push(&s->list, e))
        v->status = sp_nomem(v->d);
}

void sp_check_stack_type(struct sp_validator *v, const struct sp_value *x)
{
    v->stack.type = x->choice;
}

void sp_begin_context(struct sp_validator *v)
{
    v->stack.findings = v->findings;
}

static void check_event(struct sp_validator *v, const struct sp_value *x, uint32_t *event)
{
    if (!v->header.events_known)
        return;
    uint32_t e = sp_ids_find(&v->header.event_ids, sp_fingerprint(x->text.p, x->text.n));
    if (e == SP_ID_NONE)
        sp_report(v, SP_E114, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
    else
        *event = e;
}

void sp_check_context_event(struct sp_validator *v, const struct sp_value *x)
{
    check_event(v, x, &v->stack.event);
}

void sp_check_context_tid(struct sp_validator *v, const struct sp_value *x)
{
    v->stack.thread = sp_refer(v, &v->threads, x->text, x->raw.p, SP_REF_CONTEXT_TID, 0);
}

void sp_check_context(struct sp_validator *v, const struct sp_value *x)
{
    for (size_t i = x->members; i < x->members + x->nmembers; i++) {
        const struct sp_member *m = &v->members.v[i];
        if (m->prefixed || sp_field_known(v, x->field->inner, m->key))
            continue;
        struct sp_span name = m->name.p ? m->name : (struct sp_span){"?", 1};
        size_t cut = sp_path_push(v, name.p, name.n);
        sp_report_title(v, SP_W202, m->name.p ? name.p - 1 : m->raw.p);
        sp_path_cut(v, cut);
    }
    if (x->field->inner == SP_T_CONTEXT && v->fast && v->clean && v->findings == v->stack.findings &&
        v->stack.event != SP_ID_NONE)
        sp_fast_learn_context(v, x->raw);
}

void sp_check_exclusive_frame(struct sp_validator *v, const struct sp_value *x)
{
    v->stack.exclusive_known = true;
    v->stack.exclusive_frame = sp_fingerprint(x->text.p, x->text.n);
    v->stack.exclusive_at = x->raw.p;
}

struct sp_span sp_member_raw(const struct sp_validator *v, size_t first, size_t n, const char *name)
{
    for (size_t i = first; i < first + n; i++) {
        struct sp_member m = v->members.v[i];
        if (m.name.p && sp_span_is(m.name, name))
            return m.raw;
    }
    return (struct sp_span){NULL, 0};
}

static bool is_list(struct sp_span raw)
{
    return raw.p && *raw.p == '[';
}

void sp_check_exclusive(struct sp_validator *v, const struct sp_value *x)
{
    struct sp_span weights = sp_member_raw(v, x->members, x->nmembers, "weights");
    v->stack.has_exclusive_weights = is_list(weights);
    v->stack.exclusive_weights_at = weights.p;
}

void sp_check_related(struct sp_validator *v, const struct sp_value *x)
{
    if (!x->text.p)
        return;
    uint32_t to = sp_refer(v, &v->stacks, x->text, x->raw.p, SP_REF_RELATED, x->index);
    sp_link(v, v->stack.entry, to, x->raw.p, x->index);
}

/* The frames of a stack from leaf to root, whatever the order they stand in. */
struct walk {
    const struct sp_validator *v;
    const uint32_t *list;
    size_t n;
};

static size_t position(const struct walk *w, size_t i)
{
    return w->v->header.order == SP_LEAF_FIRST ? i : w->n - 1 - i;
}

static const struct sp_id *frame_at(const struct walk *w, size_t i)
{
    uint32_t e = i < w->n ? w->list[position(w, i)] : SP_ID_NONE;
    return e == SP_ID_NONE ? NULL : &w->v->frames.v[e];
}

static bool other_place(const struct sp_id *a, const struct sp_id *b)
{
    return a->place && b->place && a->place != b->place;
}

/*
 * The physical frame follows its inlined ones towards the root. It is on the wrong side when the frame on
 * the leaf's side of the run has the run's address and the one on the root's side has not.
 */
static bool physical_before(const struct walk *w, size_t i, const struct sp_id *e, const struct sp_id *next)
{
    bool missing = next ? other_place(e, next) : i + 1 >= w->n;
    if (!missing || !e->place)
        return false;
    while (i > 0) {
        const struct sp_id *p = frame_at(w, --i);
        if (!p || p->place != e->place)
            return false;
        if (!(p->bits & SP_ID_INLINED))
            return true;
    }
    return false;
}

static bool out_of_order(const struct walk *w, size_t i, const struct sp_id *e, const struct sp_id *next)
{
    if (!next || !(next->bits & SP_ID_INLINED))
        return physical_before(w, i, e, next);
    return e->extra != SP_EXTRA_MAX && next->extra != SP_EXTRA_MAX && next->extra >= e->extra &&
           !other_place(e, next);
}

/* The next frame towards the root belongs to the same run by its depth, and has another address. */
static bool differs(const struct sp_id *e, const struct sp_id *next)
{
    if (!next || !other_place(e, next))
        return false;
    if (next->bits & SP_ID_INLINED)
        return e->extra != SP_EXTRA_MAX && next->extra + 1 == e->extra;
    return e->extra == 1 || e->extra == SP_EXTRA_MAX;
}

struct sp_inline_findings sp_inline_check(const struct sp_validator *v, const uint32_t *list, size_t n)
{
    struct walk w = {v, list, n};
    struct sp_inline_findings f = {-1, -1};
    for (size_t i = 0; i < n; i++) {
        const struct sp_id *e = frame_at(&w, i);
        if (!e || !(e->bits & SP_ID_INLINED))
            continue;
        const struct sp_id *next = frame_at(&w, i + 1);
        if (f.disorder < 0 && out_of_order(&w, i, e, next))
            f.disorder = (ptrdiff_t)position(&w, i);
        else if (f.mismatch < 0 && differs(e, next) && !out_of_order(&w, i, e, next))
            f.mismatch = (ptrdiff_t)position(&w, i);
    }
    return f;
}

static void report_frame(struct sp_validator *v, enum sp_code code, ptrdiff_t index)
{
    if (index < 0)
        return;
    size_t cut = sp_path_push(v, "frames", 6);
    sp_path_item(v, (size_t)index);
    sp_report_title(v, code, sp_member_raw(v, 0, v->members.n, "frames").p);
    sp_path_cut(v, cut);
}

static void check_frames(struct sp_validator *v, struct sp_span frames)
{
    struct sp_stack_state *s = &v->stack;
    size_t cut = sp_path_push(v, "frames", 6);
    if (!s->frames)
        sp_report_title(v, SP_W204, frames.p);
    if ((s->type == SP_USER_STACK && s->kinds & SP_ID_KERNEL) ||
        (s->type == SP_KERNEL_STACK && s->kinds & SP_ID_USER))
        sp_report(v, SP_W221, frames.p, "a %s frame in a stack of type %s",
                  s->type == SP_USER_STACK ? "kernel" : "user", sp_stack_type_names[s->type]);
    if (v->header.dtrace && s->type == SP_UNIFIED && s->kinds & SP_ID_KERNEL && s->kinds & SP_ID_USER)
        sp_report_title(v, SP_W222, frames.p);
    sp_path_cut(v, cut);
    if (s->kinds & SP_ID_INLINED && v->header.order != SP_ORDER_UNKNOWN) {
        struct sp_inline_findings f = sp_inline_check(v, s->list.v, s->list.n);
        report_frame(v, SP_E117, f.disorder);
        report_frame(v, SP_W219, f.mismatch);
    }
    if (s->frames > FRAMES_MAX)
        sp_limited(v, "a stack has more than a million frames: the order of inlined ones was not checked");
}

static void check_leaf(struct sp_validator *v)
{
    const struct sp_stack_state *s = &v->stack;
    bool first = v->header.order == SP_LEAF_FIRST;
    if (!s->exclusive_known || v->header.order == SP_ORDER_UNKNOWN)
        return;
    if (s->frames && (!s->leaf_known || sp_fp_equal(s->exclusive_frame, s->leaf)))
        return;
    size_t cut = sp_path_push(v, "exclusive.frame", 15);
    sp_report(v, SP_E116, s->exclusive_at, s->frames ? "it is not the %s frame" : "there are no frames",
              first ? "first" : "last");
    sp_path_cut(v, cut);
}

void sp_report_no_exclusive(struct sp_validator *v)
{
    size_t cut = sp_path_push(v, "exclusive", 9);
    sp_report_title(v, SP_I230, NULL);
    sp_path_cut(v, cut);
}

void sp_finish_stack(struct sp_validator *v)
{
    struct sp_stack_state *s = &v->stack;
    struct sp_span frames = sp_member_raw(v, 0, v->members.n, "frames");
    struct sp_span weights = sp_member_raw(v, 0, v->members.n, "weights");
    if (is_list(frames)) {
        check_frames(v, frames);
        check_leaf(v);
    }
    bool learn = v->fast && v->clean && v->findings == v->line_findings;
    if (!sp_member_raw(v, 0, v->members.n, "exclusive").p && v->whole)
        sp_report_no_exclusive(v);
    uint64_t before = v->findings;
    s->has_weights = is_list(weights);
    s->weights_at = weights.p;
    sp_finish_weights(v, s->event == SP_ID_NONE ? NULL : &v->header.events.v[s->event]);
    if (learn && v->findings == before && s->has_weights && s->event != SP_ID_NONE)
        sp_fast_learn_weights(v, weights);
}

bool sp_time_in_range(const struct sp_header_state *h, struct sp_span t)
{
    struct sp_decimal d = sp_decimal(t);
    return sp_decimal_order(d, h->start_value) >= 0 && sp_decimal_order(d, h->end_value) <= 0;
}

void sp_check_timestamp(struct sp_validator *v, const struct sp_value *x)
{
    if (!v->header.has_range)
        return;
    const struct sp_header_state *h = &v->header;
    if (!sp_time_in_range(h, x->raw))
        sp_report(v, SP_W212, x->raw.p, "%.*s is not in %.*s to %.*s", SP_CLIP(x->raw),
                  SP_CLIP(h->range_start), SP_CLIP(h->range_end));
}

void sp_check_sample_tid(struct sp_validator *v, const struct sp_value *x)
{
    sp_refer(v, &v->threads, x->text, x->raw.p, SP_REF_SAMPLE_TID, 0);
}

void sp_check_sample_context_tid(struct sp_validator *v, const struct sp_value *x)
{
    sp_refer(v, &v->threads, x->text, x->raw.p, SP_REF_SAMPLE_CONTEXT_TID, 0);
}

void sp_check_sample_event(struct sp_validator *v, const struct sp_value *x)
{
    uint32_t event = SP_ID_NONE;
    check_event(v, x, &event);
}

void sp_check_sample_period(struct sp_validator *v, const struct sp_value *x)
{
    if (sp_decimal_is_zero(x->raw))
        sp_report(v, SP_W203, x->raw.p, "the period is 0");
    else if (sp_decimal_is_negative(x->raw))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->raw));
}

void sp_check_sample_stack(struct sp_validator *v, const struct sp_value *x)
{
    sp_refer(v, &v->stacks, x->text, x->raw.p, SP_REF_SAMPLE, 0);
}

void sp_finish_sample(struct sp_validator *v)
{
    if (!v->whole || sp_member_raw(v, 0, v->members.n, "timestamp").p)
        return;
    size_t cut = sp_path_push(v, "timestamp", 9);
    sp_report_title(v, SP_W213, NULL);
    sp_path_cut(v, cut);
}

void sp_check_window_id(struct sp_validator *v, const struct sp_value *x)
{
    bool fresh;
    sp_define(v, &v->windows, x, &fresh);
}

void sp_check_window_stack(struct sp_validator *v, const struct sp_value *x)
{
    sp_refer(v, &v->stacks, x->text, x->raw.p, SP_REF_WINDOW, v->by_stack_index);
}
