/* Stack records: frames and their order, the context, exclusive weights, links; and samples and windows. */
#include "formats/spaa/validate/fields.h"

/* The order of inlined frames is looked at in stacks of up to so many frames. */
#define FRAMES_MAX ((size_t)1 << 20)

void sp_begin_stack(struct sp_validator *v)
{
    struct sp_stack_judged *s = &v->stack;
    s->entry = s->event = s->thread = SP_ID_NONE;
    s->type = SP_UNIFIED;
    s->kinds = 0;
    s->list.n = s->weights.n = s->exclusive.n = 0;
    s->exclusive_at = NULL;
    s->weights_again = NULL;
    s->exclusive_again = s->changes = false;
}

void sp_check_stack_id(struct sp_validator *v, const struct sp_checked *x)
{
    bool fresh;
    v->stack.entry = sp_define(v, &v->known->stacks, x, &fresh);
}

/* An item of a list of ids as text, its own or in `digits`; p NULL: it is none. */
static struct sp_span stack_item(struct sp_validator *v, const struct sp_nested *list, size_t index,
                                 char digits[static 16])
{
    const struct sp_decoder *d = &v->decoder;
    uint32_t id = d->ids.v[list->first + index];
    if (id < SP_ID_OTHER) {
        char *p = digits + 16;
        do
            *--p = (char)('0' + id % 10);
        while (id /= 10);
        return (struct sp_span){p, (size_t)(digits + 16 - p)};
    }
    const struct sp_token *value = &d->other_ids.v[id - SP_ID_OTHER];
    if (value->kind != SP_JSON_STRING && value->kind != SP_JSON_NUMBER)
        return (struct sp_span){NULL, 0};
    struct sp_span text = sp_token_text(value, &v->scratch);
    if (!text.p)
        sp_out_of_memory(v);
    return text;
}

/* Where a list of ids is being read; items are asked for in their order. */
struct stack_place {
    const char *at;
    uint32_t item;
};

static const char *stack_item_at(const struct sp_validator *v, const struct sp_nested *list,
                                 struct stack_place *place, size_t index)
{
    uint32_t id = v->decoder.ids.v[list->first + index];
    return id < SP_ID_OTHER ? sp_id_item(list, &place->at, &place->item, (uint32_t)index)
                            : sp_token_raw(&v->decoder.other_ids.v[id - SP_ID_OTHER]).p;
}

static void stack_no_id(struct sp_validator *v, const struct sp_nested *list, size_t index)
{
    const struct sp_token *value =
        &v->decoder.other_ids.v[v->decoder.ids.v[list->first + index] - SP_ID_OTHER];
    size_t cut = sp_path_item(v, index);
    sp_report_type(v, value->p, "a number or a string", value->kind);
    sp_path_cut(v, cut);
}

/* The entry of a frame that the direct cache does not know; SP_ID_NONE where it is not defined (yet). */
static uint32_t stack_frame_entry(struct sp_validator *v, const struct sp_nested *list, size_t index,
                                  struct stack_place *place)
{
    char digits[16];
    struct sp_span id = stack_item(v, list, index, digits);
    if (!id.p) {
        if (v->status == SPAA_OK)
            stack_no_id(v, list, index);
        return SP_ID_NONE;
    }
    struct sp_ids *frames = &v->known->frames;
    uint32_t known = sp_ids_small(frames, sp_small_id(id.p, id.n));
    uint32_t e = known >> 24 ? (known & 0xFFFFFF) - 1
                             : sp_refer(v, frames, id, stack_item_at(v, list, place, index),
                                        SP_REF_STACK_FRAME, index);
    return e == SP_ID_NONE || !(frames->v[e].bits & SP_ID_DEFINED) ? SP_ID_NONE : e;
}

void sp_check_stack_frames(struct sp_validator *v, const struct sp_checked *x)
{
    const struct sp_ids *frames = &v->known->frames;
    const uint32_t *ids = v->decoder.ids.v + x->list->first;
    struct sp_stack_judged *s = &v->stack;
    struct stack_place place = {NULL, 0};
    size_t n = x->list->count < FRAMES_MAX ? x->list->count : FRAMES_MAX;
    if (!sp_vec_reserve(&s->list, n)) {
        sp_out_of_memory(v);
        return;
    }
    for (size_t i = 0; i < x->list->count && v->status == SPAA_OK; i++) {
        uint32_t known = sp_ids_small(frames, ids[i]), e = (known & 0xFFFFFF) - 1;
        if (known >> 24) {
            s->kinds |= known >> 24;
        } else {
            e = stack_frame_entry(v, x->list, i, &place);
            s->kinds |= e == SP_ID_NONE ? 0 : (unsigned)frames->v[e].bits;
        }
        if (i < n)
            s->list.v[s->list.n++] = e;
    }
}

void sp_check_stack_type(struct sp_validator *v, const struct sp_checked *x)
{
    v->stack.type = x->choice;
}

static void stack_check_event(struct sp_validator *v, const struct sp_checked *x, uint32_t *event)
{
    if (!v->known->header.events_known)
        return;
    uint32_t e = sp_ids_find(&v->known->header.event_ids, sp_fingerprint(x->text.p, x->text.n));
    if (e == SP_ID_NONE)
        sp_report(v, SP_E114, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
    else
        *event = e;
}

void sp_check_context_event(struct sp_validator *v, const struct sp_checked *x)
{
    stack_check_event(v, x, &v->stack.event);
}

void sp_check_context_tid(struct sp_validator *v, const struct sp_checked *x)
{
    v->stack.thread = sp_refer(v, &v->known->threads, x->text, x->raw.p, SP_REF_CONTEXT_TID, 0);
}

static struct sp_context_judged *stack_context_place(struct sp_validator *v, uint32_t row)
{
    return &v->contexts[row % SP_CONTEXTS_JUDGED];
}

bool sp_context_again(struct sp_validator *v, uint32_t row)
{
    const struct sp_context_judged *c = stack_context_place(v, row);
    if (c->event == SP_ID_NONE || c->row != row || c->cleared != v->decoder.cleared)
        return false;
    v->stack.event = c->event;
    v->stack.thread = c->thread;
    if (c->thread != SP_ID_NONE)
        sp_refer_thread(v, c->thread);
    return true;
}

void sp_remember_context(struct sp_validator *v, uint32_t row)
{
    *stack_context_place(v, row) =
        (struct sp_context_judged){row, v->decoder.cleared, v->stack.event, v->stack.thread};
}

/* Keys that neither the specification nor a producer's prefix explains. */
void sp_check_context(struct sp_validator *v, const struct sp_checked *x)
{
    const struct sp_odd *odd = v->decoder.odd.v;
    for (uint32_t i = x->rec->odd; i != SP_ODD_END; i = odd[i].next) {
        const struct sp_token *key = &odd[i].key;
        if (!(odd[i].what & SP_ODD_UNKNOWN))
            continue;
        struct sp_span name = sp_token_text(key, &v->scratch);
        if (!name.p) {
            sp_out_of_memory(v);
            return;
        }
        if (name.n > 2 && name.p[0] == 'x' && name.p[1] == '_')
            continue;
        size_t cut = key->escaped ? sp_path_push(v, "?", 1) : sp_path_push(v, key->p, key->n);
        sp_report_title(v, SP_W202, key->escaped ? sp_token_raw(&odd[i].value).p : key->p - 1);
        sp_path_cut(v, cut);
    }
}

void sp_check_exclusive_frame(struct sp_validator *v, const struct sp_checked *x)
{
    v->stack.exclusive_frame = sp_fingerprint(x->text.p, x->text.n);
    v->stack.exclusive_at = x->raw.p;
}

void sp_check_related(struct sp_validator *v, const struct sp_checked *x)
{
    struct stack_place place = {NULL, 0};
    for (size_t i = 0; i < x->list->count && v->status == SPAA_OK; i++) {
        char digits[16];
        struct sp_span id = stack_item(v, x->list, i, digits);
        if (id.p) {
            const char *at = stack_item_at(v, x->list, &place, i);
            uint32_t to = sp_refer(v, &v->known->stacks, id, at, SP_REF_RELATED, i);
            sp_link(v, v->stack.entry, to, at, i);
        } else if (v->status == SPAA_OK) {
            stack_no_id(v, x->list, i);
        }
    }
}

/* The frames of a stack from leaf to root, whatever the order they stand in. */
struct stack_walk {
    const struct sp_known *known;
    const uint32_t *list;
    size_t n;
};

static size_t stack_position(const struct stack_walk *w, size_t i)
{
    return w->known->header.order == SP_LEAF_FIRST ? i : w->n - 1 - i;
}

static const struct sp_id *stack_frame_at(const struct stack_walk *w, size_t i)
{
    uint32_t e = i < w->n ? w->list[stack_position(w, i)] : SP_ID_NONE;
    return e == SP_ID_NONE ? NULL : &w->known->frames.v[e];
}

static bool stack_other_place(const struct sp_id *a, const struct sp_id *b)
{
    return a->place && b->place && a->place != b->place;
}

/*
 * The physical frame follows its inlined ones towards the root. It is on the wrong side when the frame on
 * the leaf's side of the run has the run's address and the one on the root's side has not.
 */
static bool stack_physical_before(const struct stack_walk *w, size_t i, const struct sp_id *e,
                                  const struct sp_id *next)
{
    bool missing = next ? stack_other_place(e, next) : i + 1 >= w->n;
    if (!missing || !e->place)
        return false;
    while (i > 0) {
        const struct sp_id *p = stack_frame_at(w, --i);
        if (!p || p->place != e->place)
            return false;
        if (!(p->bits & SP_ID_INLINED))
            return true;
    }
    return false;
}

static bool stack_out_of_order(const struct stack_walk *w, size_t i, const struct sp_id *e,
                               const struct sp_id *next)
{
    if (!next || !(next->bits & SP_ID_INLINED))
        return stack_physical_before(w, i, e, next);
    return e->extra != SP_EXTRA_MAX && next->extra != SP_EXTRA_MAX && next->extra >= e->extra &&
           !stack_other_place(e, next);
}

/* The next frame towards the root belongs to the same run by its depth, and has another address. */
static bool stack_differs(const struct sp_id *e, const struct sp_id *next)
{
    if (!next || !stack_other_place(e, next))
        return false;
    if (next->bits & SP_ID_INLINED)
        return e->extra != SP_EXTRA_MAX && next->extra + 1 == e->extra;
    return e->extra == 1 || e->extra == SP_EXTRA_MAX;
}

/* Positions in the list of frames, or -1. */
struct stack_inlines {
    ptrdiff_t disorder, mismatch;
};

static struct stack_inlines stack_check_inlines(const struct sp_validator *v)
{
    struct stack_walk w = {v->known, v->stack.list.v, v->stack.list.n};
    struct stack_inlines f = {-1, -1};
    for (size_t i = 0; i < w.n; i++) {
        const struct sp_id *e = stack_frame_at(&w, i);
        if (!e || !(e->bits & SP_ID_INLINED))
            continue;
        const struct sp_id *next = stack_frame_at(&w, i + 1);
        if (f.disorder < 0 && stack_out_of_order(&w, i, e, next))
            f.disorder = (ptrdiff_t)stack_position(&w, i);
        else if (f.mismatch < 0 && stack_differs(e, next) && !stack_out_of_order(&w, i, e, next))
            f.mismatch = (ptrdiff_t)stack_position(&w, i);
    }
    return f;
}

static void stack_report_frame(struct sp_validator *v, enum sp_code code, const char *at, ptrdiff_t index)
{
    if (index < 0)
        return;
    size_t cut = sp_path_push(v, "frames", 6);
    sp_path_item(v, (size_t)index);
    sp_report_title(v, code, at);
    sp_path_cut(v, cut);
}

static void stack_judge_frames(struct sp_validator *v, const struct sp_nested *frames)
{
    struct sp_stack_judged *s = &v->stack;
    const struct sp_header_known *h = &v->known->header;
    const char *at = frames->v.p;
    bool user = s->kinds & SP_ID_USER, kernel = s->kinds & SP_ID_KERNEL;
    size_t cut = sp_path_push(v, "frames", 6);
    if (!frames->count)
        sp_report_title(v, SP_W204, at);
    if ((s->type == SP_USER_STACK && kernel) || (s->type == SP_KERNEL_STACK && user))
        sp_report(v, SP_W221, at, "a %s frame in a stack of type %s",
                  s->type == SP_USER_STACK ? "kernel" : "user", sp_stack_type_names[s->type]);
    if (h->dtrace && s->type == SP_UNIFIED && kernel && user)
        sp_report_title(v, SP_W222, at);
    sp_path_cut(v, cut);
    if (s->kinds & SP_ID_INLINED && h->order != SP_ORDER_UNKNOWN) {
        struct stack_inlines f = stack_check_inlines(v);
        stack_report_frame(v, SP_E117, at, f.disorder);
        stack_report_frame(v, SP_W219, at, f.mismatch);
    }
    if (frames->count > FRAMES_MAX)
        sp_limited(v, "a stack has more than a million frames: the order of inlined ones was not checked");
}

static void stack_judge_leaf(struct sp_validator *v, const struct sp_nested *frames)
{
    const struct sp_stack_judged *s = &v->stack;
    bool first = v->known->header.order == SP_LEAF_FIRST;
    if (!s->exclusive_at || v->known->header.order == SP_ORDER_UNKNOWN)
        return;
    if (frames->count) {
        char digits[16];
        struct sp_span leaf = stack_item(v, frames, first ? 0 : frames->count - 1, digits);
        if (!leaf.p || sp_fp_equal(s->exclusive_frame, sp_fingerprint(leaf.p, leaf.n)))
            return;
    }
    size_t cut = sp_path_push(v, "exclusive.frame", 15);
    sp_report(v, SP_E116, s->exclusive_at, frames->count ? "it is not the %s frame" : "there are no frames",
              first ? "first" : "last");
    sp_path_cut(v, cut);
}

void sp_finish_stack(struct sp_validator *v, const struct sp_rec *rec)
{
    struct sp_stack_judged *s = &v->stack;
    const struct sp_nested *frames = sp_field_nested(v, rec, SP_F_STACK_frames);
    if (frames) {
        stack_judge_frames(v, frames);
        stack_judge_leaf(v, frames);
    }
    if (!((rec->present | rec->wrong) & SP_BIT(STACK, exclusive)) && v->whole) {
        size_t cut = sp_path_push(v, "exclusive", 9);
        sp_report_title(v, SP_I230, NULL);
        sp_path_cut(v, cut);
    }
    sp_finish_weights(v, rec, s->event == SP_ID_NONE ? NULL : &v->known->header.events.v[s->event]);
}

static bool stack_in_range(const struct sp_header_known *h, struct sp_span t)
{
    struct sp_digits d = sp_decimal(t);
    return sp_decimal_order(d, h->start_value) >= 0 && sp_decimal_order(d, h->end_value) <= 0;
}

void sp_check_timestamp(struct sp_validator *v, const struct sp_checked *x)
{
    if (!v->known->header.has_range)
        return;
    const struct sp_header_known *h = &v->known->header;
    if (!stack_in_range(h, x->raw))
        sp_report(v, SP_W212, x->raw.p, "%.*s is not in %.*s to %.*s", SP_CLIP(x->raw),
                  SP_CLIP(h->range_start), SP_CLIP(h->range_end));
}

void sp_check_sample_tid(struct sp_validator *v, const struct sp_checked *x)
{
    sp_refer(v, &v->known->threads, x->text, x->raw.p, SP_REF_SAMPLE_TID, 0);
}

void sp_check_sample_context_tid(struct sp_validator *v, const struct sp_checked *x)
{
    sp_refer(v, &v->known->threads, x->text, x->raw.p, SP_REF_SAMPLE_CONTEXT_TID, 0);
}

void sp_check_sample_event(struct sp_validator *v, const struct sp_checked *x)
{
    uint32_t event = SP_ID_NONE;
    stack_check_event(v, x, &event);
}

void sp_check_sample_period(struct sp_validator *v, const struct sp_checked *x)
{
    if (sp_decimal_is_zero(x->raw))
        sp_report(v, SP_W203, x->raw.p, "the period is 0");
    else if (sp_decimal_is_negative(x->raw))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->raw));
}

void sp_check_sample_stack(struct sp_validator *v, const struct sp_checked *x)
{
    sp_refer(v, &v->known->stacks, x->text, x->raw.p, SP_REF_SAMPLE, 0);
}

void sp_finish_sample(struct sp_validator *v, const struct sp_rec *rec)
{
    if (!v->whole || (rec->present | rec->wrong) & SP_BIT(SAMPLE, timestamp))
        return;
    size_t cut = sp_path_push(v, "timestamp", 9);
    sp_report_title(v, SP_W213, NULL);
    sp_path_cut(v, cut);
}

void sp_check_window_id(struct sp_validator *v, const struct sp_checked *x)
{
    bool fresh;
    sp_define(v, &v->known->windows, x, &fresh);
}

void sp_check_window_stack(struct sp_validator *v, const struct sp_checked *x)
{
    sp_refer(v, &v->known->stacks, x->text, x->raw.p, SP_REF_WINDOW, 0);
}
