/*
 * Ids that are defined and referred to, in either order; pairs of stacks that name each other; and the
 * judgement at the end on those that stay undefined. One of several threads notes what it would do: see
 * internal.h.
 */
#include "formats/spaa/validate/internal.h"

#include <stdio.h>

#define LINE_MAX_KEPT ((((uint64_t)1) << 40) - 1)

/* Where a first reference stands, by enum sp_ref: the record, and the path with its index in between. */
static const struct {
    const char *record, *before, *after; /* after NULL: no index */
} refs[] = {
    {"frame", "dso", NULL},          {"stack", "frames[", "]"},
    {"stack", "context.tid", NULL},  {"sample", "tid", NULL},
    {"sample", "context.tid", NULL}, {"stack", "related_stacks[", "]"},
    {"sample", "stack_id", NULL},    {"window", "by_stack[", "].stack_id"},
};

static void first_reference(const struct sp_id *e, struct sp_where *w, char path[static 48])
{
    w->line = e->line;
    w->offset = e->offset == LINE_MAX_KEPT ? SP_NOWHERE : e->offset;
    w->record = refs[e->field].record;
    w->field = path;
    const char *after = refs[e->field].after;
    if (!after)
        snprintf(path, 48, "%s", refs[e->field].before);
    else if (e->extra == SP_EXTRA_MAX)
        snprintf(path, 48, "%s…%s", refs[e->field].before, after);
    else
        snprintf(path, 48, "%s%u%s", refs[e->field].before, (unsigned)e->extra, after);
}

static void no_room(struct sp_validator *v, struct sp_ids *t)
{
    if (t->full)
        sp_limited(v,
                   "more than 16 million ids of one kind: references to the further ones were not checked");
    else
        sp_out_of_memory(v);
}

static uint64_t at_most(uint64_t v, uint64_t max)
{
    return v < max ? v : max;
}

static void refer_again(struct sp_id *e)
{
    if (!(e->bits & SP_ID_DEFINED) && e->count < SP_COUNT_MAX)
        e->count = (e->count + 1) & SP_COUNT_MAX;
}

static void set_first(struct sp_validator *v, struct sp_id *e, const char *at, enum sp_ref by, size_t index)
{
    e->line = at_most(v->line, LINE_MAX_KEPT) & LINE_MAX_KEPT;
    e->offset = at_most(v->offset + (uint64_t)(at - v->text), LINE_MAX_KEPT) & LINE_MAX_KEPT;
    e->field = by & 15;
    e->extra = at_most(index, SP_EXTRA_MAX) & SP_EXTRA_MAX;
}

/* The entry of a reference that was looked up. */
static uint32_t refer(struct sp_validator *v, struct sp_ids *t, uint32_t n, bool added, struct sp_span id,
                      const char *at, enum sp_ref by, size_t index)
{
    if (n == SP_ID_NONE) {
        no_room(v, t);
        return n;
    }
    struct sp_id *e = &t->v[n];
    if (added) {
        set_first(v, e, at, by, index);
        if (!sp_ids_keep_text(t, n, id.p, id.n))
            sp_out_of_memory(v);
    }
    refer_again(e);
    return n;
}

static uint32_t refer_fp(struct sp_validator *v, struct sp_ids *t, struct sp_fp fp, struct sp_span id,
                         const char *at, enum sp_ref by, size_t index)
{
    bool added;
    uint32_t n = sp_ids_get_fp(t, fp, &added);
    return refer(v, t, n, added, id, at, by, index);
}

/* Stacks may be referred to before they come; anything else has to be there, for what it is is asked. */
static uint32_t note_reference(struct sp_validator *v, const struct sp_ids *t, struct sp_span id,
                               const char *at, enum sp_ref by, size_t index)
{
    struct sp_fp fp = sp_fingerprint(id.p, id.n);
    if (t == &v->known->stacks) {
        bool lasting = id.p >= v->text && id.p <= v->text + v->n && index < UINT32_MAX;
        v->notes->unsure |= !lasting;
        sp_note(v, (struct sp_note){SP_NOTE_REFER, (uint32_t)index, by, id, fp, at});
        return SP_ID_NONE;
    }
    uint32_t n = sp_ids_find(t, fp);
    if (n != SP_ID_NONE && t == &v->known->threads)
        sp_note(v, (struct sp_note){.kind = SP_NOTE_THREAD, .number = n});
    else if (n == SP_ID_NONE || !(t->v[n].bits & SP_ID_DEFINED))
        v->notes->unsure = true;
    return n;
}

uint32_t sp_refer(struct sp_validator *v, struct sp_ids *t, struct sp_span id, const char *at, enum sp_ref by,
                  size_t index)
{
    if (v->notes)
        return note_reference(v, t, id, at, by, index);
    bool added;
    uint32_t n = sp_ids_get(t, id.p, id.n, &added);
    return refer(v, t, n, added, id, at, by, index);
}

void sp_refer_thread(struct sp_validator *v, uint32_t thread)
{
    if (v->notes)
        sp_note(v, (struct sp_note){.kind = SP_NOTE_THREAD, .number = thread});
    else
        refer_again(&v->known->threads.v[thread]);
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Stacks may stand anywhere; the dictionaries before what uses them. */
static void defined_late(struct sp_validator *v, const struct sp_ids *t, const struct sp_checked *id,
                         const struct sp_id *e)
{
    const struct sp_known *k = v->known;
    if (t != &k->dsos && t != &k->frames && t != &k->threads)
        return;
    char path[48];
    struct sp_where w;
    first_reference(e, &w, path);
    sp_report_at(v, SP_E120, w, "%s %.*s is defined on line %llu (referred to %u time%s before)",
                 t == &k->dsos     ? "DSO"
                 : t == &k->frames ? "frame"
                                   : "thread",
                 SP_CLIP(id->text), (unsigned long long)v->line, (unsigned)e->count, plural(e->count));
}

static void set_defined(struct sp_validator *v, struct sp_id *e)
{
    e->line = at_most(v->line, LINE_MAX_KEPT) & LINE_MAX_KEPT;
    e->bits = (e->bits | SP_ID_DEFINED) & 0xFF;
    e->extra = 0;
    e->place = 0;
}

uint32_t sp_define(struct sp_validator *v, struct sp_ids *t, const struct sp_checked *id, bool *fresh)
{
    bool added;
    *fresh = false;
    if (v->notes) {
        v->notes->unsure |= t != &v->known->stacks;
        sp_note(v, (struct sp_note){.kind = SP_NOTE_DEFINE, .fp = sp_fingerprint(id->text.p, id->text.n)});
        return SP_ID_NONE;
    }
    uint32_t n = sp_ids_get(t, id->text.p, id->text.n, &added);
    if (n == SP_ID_NONE) {
        no_room(v, t);
        return n;
    }
    struct sp_id *e = &t->v[n];
    if (!added && e->bits & SP_ID_DEFINED) {
        sp_report(v, SP_E119, id->raw.p, "%.*s, first on line %llu", SP_CLIP(id->text),
                  (unsigned long long)e->line);
        return n;
    }
    if (!added)
        defined_late(v, t, id, e);
    *fresh = true;
    set_defined(v, e);
    if (t->direct)
        sp_ids_note_small(t, sp_small_id(id->text.p, id->text.n), n);
    return n;
}

void sp_link(struct sp_validator *v, uint32_t from, uint32_t to, const char *at, size_t index)
{
    if (from == SP_ID_NONE || to == SP_ID_NONE || from == to)
        return;
    struct sp_ids *links = &v->known->links;
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    uint64_t key = (uint64_t)low << 32 | high;
    /* Any spread of the key does: b keeps it whole. */
    uint64_t mixed = key * 0x9E3779B97F4A7C15u;
    bool added;
    uint32_t n = sp_ids_get_fp(links, (struct sp_fp){mixed ^ mixed >> 32, key}, &added);
    if (n == SP_ID_NONE) {
        no_room(v, links);
        return;
    }
    struct sp_id *e = &links->v[n];
    if (added)
        set_first(v, e, at, SP_REF_RELATED, index);
    e->bits = (e->bits | (from == low ? SP_ID_FORTH : SP_ID_BACK)) & 0xFF;
}

/* Nothing has to be said of it in words, and the stack that it defines is new. */
static bool enters(const struct sp_validator *v, const struct sp_note *note)
{
    const struct sp_ids *stacks = &v->known->stacks;
    if (note->kind == SP_NOTE_FINDING)
        return sp_only_counted(v->known, note->number);
    uint32_t n = note->kind == SP_NOTE_DEFINE ? sp_ids_find(stacks, note->fp) : SP_ID_NONE;
    return n == SP_ID_NONE || !(stacks->v[n].bits & SP_ID_DEFINED);
}

bool sp_enter_notes(struct sp_validator *v, const struct sp_note *notes, size_t n)
{
    struct sp_known *k = v->known;
    uint32_t stack = SP_ID_NONE, to;
    bool added;
    for (size_t i = 0; i < n; i++)
        if (!enters(v, &notes[i]))
            return false;
    for (const struct sp_note *x = notes; x < notes + n; x++) {
        switch (x->kind) {
        case SP_NOTE_DEFINE:
            stack = sp_ids_get_fp(&k->stacks, x->fp, &added);
            if (stack == SP_ID_NONE)
                no_room(v, &k->stacks);
            else
                set_defined(v, &k->stacks.v[stack]);
            break;
        case SP_NOTE_REFER:
            to = refer_fp(v, &k->stacks, x->fp, x->id, x->at, x->by, x->number);
            if (x->by == SP_REF_RELATED)
                sp_link(v, stack, to, x->at, x->number);
            break;
        case SP_NOTE_THREAD:
            refer_again(&k->threads.v[x->number]);
            break;
        case SP_NOTE_FINDING:
            sp_emit(k->d, x->number, SP_AT_NOTHING, " ");
        }
    }
    return true;
}

static void undefined(struct sp_validator *v, const struct sp_ids *t, enum sp_code code)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct sp_id *e = &t->v[i];
        if (e->bits & SP_ID_DEFINED)
            continue;
        char path[48];
        struct sp_where w;
        first_reference(e, &w, path);
        const struct sp_id_text *x = sp_ids_text(t, i);
        struct sp_span id = {x ? x->text : "id", x ? x->n : 2};
        sp_report_at(v, code, w, "%.*s%s (%s%u reference%s)", SP_CLIP(id), x && x->cut ? "…" : "",
                     e->count == SP_COUNT_MAX ? "at least " : "", (unsigned)e->count, plural(e->count));
    }
}

static void one_way_links(struct sp_validator *v)
{
    for (uint32_t i = 0; i < v->known->links.n; i++) {
        const struct sp_id *e = &v->known->links.v[i];
        uint32_t low = (uint32_t)(e->fp.b >> 32), high = (uint32_t)e->fp.b;
        bool forth = e->bits & SP_ID_FORTH, back = e->bits & SP_ID_BACK;
        /* An id that is no stack's was reported as such. */
        const struct sp_id *other = &v->known->stacks.v[forth ? high : low];
        if ((forth && back) || !(other->bits & SP_ID_DEFINED))
            continue;
        char path[48];
        struct sp_where w;
        first_reference(e, &w, path);
        sp_report_at(v, SP_W205, w, "the stack on line %llu does not name this one",
                     (unsigned long long)other->line);
    }
}

void sp_judge_references(struct sp_validator *v, bool all_read)
{
    undefined(v, &v->known->dsos, SP_E112);
    undefined(v, &v->known->frames, SP_E113);
    undefined(v, &v->known->threads, SP_W206);
    if (!all_read)
        return; /* stacks may come after the place where the input broke off */
    undefined(v, &v->known->stacks, SP_E118);
    one_way_links(v);
}
