#include "analysis/top_keys.h"

#include "analysis/event_fields.h"
#include "analysis/names.h"
#include "analysis/tags.h"
#include "analysis/top.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/labels.h"
#include "model/thread_names.h"

#include <stdlib.h>

static spaa_status top_no_label(const struct sp_profile *p, struct sp_str key, struct sp_diags *d)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_add(&b, key.p, key.n);
    spaa_status st = sp_no_label(p, "by label:", sp_buf_cstr(&b), d);
    sp_buf_free(&b);
    return st;
}

spaa_status sp_top_keys_init(struct sp_top_keys *x, struct sp_selection *s, const struct sp_by_list *by,
                             struct sp_strtab *names, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    *x = (struct sp_top_keys){.s = s, .names = names, .n = by->n};
    sp_buf_init(&x->text, 0);
    for (size_t k = 0; k < x->n; k++) {
        struct sp_top_key *key = &x->v[k];
        key->by = by->v[k];
        if (key->by.kind == SP_TOP_LABEL && !sp_labels_have(p, key->by.label))
            return top_no_label(p, key->by.label, d);
        if (key->by.kind != SP_TOP_FUNCTION && key->by.kind != SP_TOP_DSO)
            continue;
        size_t n = key->by.kind == SP_TOP_DSO ? p->dsos.n : p->functions.n;
        key->whole = malloc((n + 1) * sizeof *key->whole);
        if (!key->whole)
            return sp_nomem(d);
        memset(key->whole, 0xff, (n + 1) * sizeof *key->whole); /* SP_NONE */
    }
    return sp_by_has(by, SP_TOP_PROCESS) ? sp_processes_of(p, d, &x->processes) : SPAA_OK;
}

void sp_top_keys_free(struct sp_top_keys *x)
{
    for (size_t k = 0; k < x->n; k++) {
        sp_vec_free(&x->v[k].groups);
        sp_map_free(&x->v[k].map);
        free(x->v[k].whole);
    }
    sp_buf_free(&x->text);
    sp_processes_free(&x->processes);
}

static uint32_t new_group(struct sp_top_key *key, const struct sp_top_group *g)
{
    return sp_vec_push(&key->groups, *g) ? (uint32_t)key->groups.n - 1 : SP_NONE;
}

/* The group with this function, DSO and text: one that is there gets the tags. */
static uint32_t group_for(struct sp_top_keys *x, struct sp_top_key *key, struct sp_top_group g,
                          const char *text, size_t n)
{
    g.name = sp_intern(x->names, text, n);
    if (g.name == SP_STR_FAIL)
        return SP_NONE;
    uint64_t hash = sp_hash_mix((uint64_t)g.function << 32 | g.dso, g.name);
    struct sp_probe at = sp_map_probe(&key->map, hash);
    for (uint32_t i; (i = sp_map_next(&key->map, &at)) != SP_MAP_NONE;) {
        struct sp_top_group *have = &key->groups.v[i];
        if (have->function == g.function && have->dso == g.dso && have->name == g.name) {
            have->tags |= g.tags;
            return i;
        }
    }
    return sp_map_add(&key->map, hash, (uint32_t)key->groups.n) ? new_group(key, &g) : SP_NONE;
}

/* ---- of frames ---- */

static unsigned frame_tags(const struct sp_frame *f)
{
    return (f->flags & SP_FRAME_UNRESOLVED ? SP_TAG_UNRESOLVED : 0u) |
           (f->flags & SP_FRAME_INLINED ? SP_TAG_INLINED : 0u);
}

/* What a row of a function is called. */
static struct sp_str function_label(const struct sp_profile *p, uint32_t function)
{
    return sp_pstr(p, p->functions.v[function].name);
}

/* Groups that are whole functions or DSOs are found by these: frames of one function need no name looked up.
 */
static uint32_t whole_group(struct sp_top_keys *x, struct sp_top_key *key, const struct sp_frame *f)
{
    const struct sp_profile *p = x->s->profile;
    uint32_t dso = p->functions.v[f->function].dso;
    bool dsos = key->by.kind == SP_TOP_DSO;
    uint32_t *group = &key->whole[dsos ? dso : f->function];
    if (*group == SP_NONE) {
        struct sp_str name = dsos ? sp_pstr(p, p->dsos.v[dso].name) : function_label(p, f->function);
        struct sp_top_group g = {dsos ? SP_NONE : f->function, dso, SP_NONE, 0,
                                 p->dsos.v[dso].is_kernel ? SP_TAG_KERNEL : 0u};
        g.name = sp_intern(x->names, name.p, name.n);
        *group = g.name == SP_STR_FAIL ? SP_NONE : new_group(key, &g);
    }
    if (*group != SP_NONE && !dsos)
        key->groups.v[*group].tags |= frame_tags(f);
    return *group;
}

static struct sp_str symbol_of(const struct sp_profile *p, const struct sp_frame *f)
{
    uint32_t linkage = f->info ? p->func_infos.v[f->info - 1].linkage : SP_STR_NONE;
    return linkage ? sp_pstr(p, linkage) : function_label(p, f->function);
}

uint32_t sp_top_group_of_frame(struct sp_top_keys *x, size_t k, uint32_t frame)
{
    const struct sp_profile *p = x->s->profile;
    struct sp_top_key *key = &x->v[k];
    enum sp_by by = key->by.kind;
    if (frame == SP_NONE) { /* an observation without a stack is weight all the same */
        struct sp_top_group none = {SP_NONE, SP_NONE, SP_NONE, 0, SP_TAG_UNRESOLVED};
        return group_for(x, key, none, "[no stack]", 10);
    }
    const struct sp_frame *f = &p->frames.v[frame];
    if (key->whole)
        return whole_group(x, key, f);
    struct sp_str name = by == SP_TOP_SYMBOL ? symbol_of(p, f) : function_label(p, f->function);
    char t[16];
    sp_buf_clear(&x->text);
    sp_buf_add(&x->text, name.p, name.n);
    if (by == SP_TOP_LINE && f->srcline) {
        struct sp_str line = sp_pstr(p, f->srcline);
        sp_buf_ch(&x->text, ' ');
        sp_buf_add(&x->text, line.p, line.n);
    } else if (by == SP_TOP_ADDRESS && f->flags & SP_FRAME_SYMOFF) {
        sp_buf_puts(&x->text, "+0x");
        sp_buf_add(&x->text, t, sp_hex_text(f->symoff, t));
    } else if (by == SP_TOP_ADDRESS && f->flags & SP_FRAME_IP && !(f->flags & SP_FRAME_UNRESOLVED)) {
        sp_buf_puts(&x->text, " 0x");
        sp_buf_add(&x->text, t, sp_hex_text(f->ip, t));
    }
    struct sp_top_group g = {f->function, p->functions.v[f->function].dso, SP_NONE, 0, frame_tags(f)};
    return x->text.failed ? SP_NONE : group_for(x, key, g, sp_buf_text(&x->text), x->text.len);
}

/* ---- of contexts ---- */

static void top_number(struct sp_buf *b, int64_t v)
{
    if (v == SP_ABSENT)
        sp_buf_puts(b, "?");
    else
        sp_buf_i64(b, v);
}

static void top_name(struct sp_buf *b, struct sp_str t)
{
    sp_buf_add(b, t.n ? t.p : "?", t.n ? t.n : 1);
}

static unsigned state_tags(struct sp_str state)
{
    return sp_str_is(state, "IDLE") ? SP_TAG_IDLE
           : sp_str_is(state, "WAITING") || sp_str_is(state, "TIMED_WAITING") || sp_str_is(state, "BLOCKED")
               ? SP_TAG_WAIT
               : 0;
}

void sp_thread_row(struct sp_buf *b, const struct sp_selection *s, uint32_t context)
{
    const struct sp_pool *pool = sp_pool_of_thread(&s->pools, context);
    struct sp_str name = sp_str_at(&s->pools.names, pool ? pool->name : SP_STR_NONE);
    if (pool)
        sp_buf_add(b, name.p, name.n);
    else
        sp_thread_name(b, s->profile, &s->profile->contexts.v[context]);
}

const struct sp_pool *sp_top_pool(const struct sp_selection *s, enum sp_by by, const struct sp_top_row *row)
{
    return row->context == SP_NONE ? NULL
           : by == SP_TOP_THREAD   ? sp_pool_of_thread(&s->pools, row->context)
           : by == SP_TOP_COMM     ? sp_pool_of_comm(&s->pools, row->context)
                                   : NULL;
}

static void comm_text(struct sp_top_keys *x, uint32_t context)
{
    uint32_t comm = x->s->pools.comm[context];
    struct sp_str name = sp_str_at(&x->s->pools.names, comm);
    sp_buf_add(&x->text, comm == SP_STR_NONE ? "?" : name.p, comm == SP_STR_NONE ? 1 : name.n);
}

/* A name of threads as it is shown where some thread has it: of pools, their pattern. */
static void named_text(struct sp_top_keys *x, uint32_t value)
{
    const struct sp_profile *p = x->s->profile;
    struct sp_str name = sp_pstr(p, value);
    for (uint32_t i = 0; i < p->contexts.n; i++)
        if (sp_context_name(p, &p->contexts.v[i]) == value && x->s->pools.comm[i] != SP_STR_NONE) {
            name = sp_str_at(&x->s->pools.names, x->s->pools.comm[i]);
            break;
        }
    sp_buf_add(&x->text, name.p, name.n);
}

/* A field of a tracepoint has one value. */
static void field_text(struct sp_top_keys *x, const struct sp_by_key *by, uint32_t context)
{
    const struct sp_profile *p = x->s->profile;
    const struct sp_label *l = sp_labels_find(p, p->contexts.v[context].labels, by->label);
    if (!l)
        sp_buf_printf(&x->text, "[no %.*s]", (int)by->label.n, by->label.p);
    else if (by->say == SP_SAY_STATE && p->contexts.v[context].tid == 0) /* the idle task never waits */
        sp_buf_puts(&x->text, "no longer idle (its CPU)");
    else if (by->say == SP_SAY_COMM)
        named_text(x, l->value);
    else
        sp_event_field_say(p, by->say, sp_pstr(p, l->value), &x->text);
}

static void label_text(struct sp_top_keys *x, struct sp_str key, uint32_t context)
{
    if (!sp_context_label(x->s->profile, context, key, &x->text))
        sp_buf_printf(&x->text, "[no %.*s]", (int)key.n, key.p);
}

uint32_t sp_top_group_of_context(struct sp_top_keys *x, size_t k, uint32_t context)
{
    const struct sp_profile *p = x->s->profile;
    const struct sp_context *c = &p->contexts.v[context];
    struct sp_top_key *key = &x->v[k];
    struct sp_buf *t = &x->text;
    enum sp_by by = key->by.kind;
    sp_buf_clear(t);
    if (by == SP_TOP_CPU)
        top_number(t, c->cpu);
    else if (by == SP_TOP_STATE)
        top_name(t, sp_pstr(p, c->state));
    else if (by == SP_TOP_SOURCE)
        top_name(t, sp_pstr(p, c->source));
    else if (by == SP_TOP_EVENT)
        top_name(t, sp_pstr(p, p->events.v[c->event].name));
    else if (by == SP_TOP_PROCESS)
        sp_process_text(p, &x->processes, c, t);
    else if (by == SP_TOP_THREAD)
        sp_thread_row(t, x->s, context);
    else if (by == SP_TOP_LABEL && key->by.say != SP_SAY_TEXT)
        field_text(x, &key->by, context);
    else if (by == SP_TOP_LABEL)
        label_text(x, key->by.label, context);
    else
        comm_text(x, context);
    unsigned tags = by == SP_TOP_STATE ? state_tags(sp_pstr(p, c->state)) : 0;
    struct sp_top_group g = {SP_NONE, SP_NONE, context, 0, tags};
    return t->failed ? SP_NONE : group_for(x, key, g, sp_buf_text(t), t->len);
}
