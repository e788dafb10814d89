#include "formats/read_digest.h"

#include "base/buf.h"
#include "base/hash.h"
#include "model/facts.h"
#include "model/samples.h"
#include "json/json.h"

#include <endian.h>
#include <stdlib.h>

enum { PAGE_MASK = 0xfff };

struct frame_hash {
    uint64_t addresses, names;
    bool hidden; /* not there where names do not count */
    bool unnamed, unlined;
};

struct stack_hash {
    uint64_t addresses, names;
};

struct digest {
    const struct sp_profile *p;
    struct sp_read_digest *out;
    struct frame_hash *frames;
    struct stack_hash *stacks;
    struct sp_buf b;     /* what is hashed */
    struct sp_buf clean; /* scratch */
};

/* A text that SPAA keeps with its bytes, UTF-8 or not (x_raw_hex): names of code and of threads. */
static void digest_bytes(struct digest *d, uint32_t s)
{
    struct sp_str v = sp_pstr(d->p, s);
    sp_buf_u64(&d->b, v.n);
    sp_buf_ch(&d->b, ':');
    sp_buf_add(&d->b, v.p, v.n);
}

/* Another text, as it comes back from SPAA. */
static void read_digest_text(struct digest *d, uint32_t s)
{
    struct sp_str v = sp_pstr(d->p, s);
    if (sp_utf8_prefix(v.p, v.n) == v.n) {
        digest_bytes(d, s);
        return;
    }
    sp_buf_clear(&d->clean);
    sp_utf8_clean(&d->clean, v.p, v.n);
    sp_buf_u64(&d->b, d->clean.len);
    sp_buf_ch(&d->b, ':');
    sp_buf_add(&d->b, d->clean.data, d->clean.len);
}

static void digest_number(struct digest *d, int64_t v)
{
    if (v != SP_ABSENT)
        sp_buf_i64(&d->b, v);
    sp_buf_ch(&d->b, ';');
}

static void digest_event(struct digest *d, uint32_t event)
{
    read_digest_text(d, event == SP_NONE ? SP_STR_NONE : d->p->events.v[event].name);
}

/* Code whose file turns out to be a just-in-time compiler's when symbols are looked up. */
static bool may_be_jit(struct sp_str dso)
{
    return sp_str_is(dso, "[anon]") || sp_str_is(dso, "[unknown]") || sp_str_is(dso, "[jit]") ||
           (dso.n >= 6 && memcmp(dso.p, "memfd:", 6) == 0);
}

static void digest_names(struct digest *d, const struct sp_frame *f)
{
    const struct sp_profile *p = d->p;
    const uint8_t named = SP_FRAME_UNRESOLVED | SP_FRAME_INLINED | SP_FRAME_SYMOFF;
    bool hex = f->flags & SP_FRAME_UNRESOLVED && f->flags & SP_FRAME_IP; /* the address once more */
    digest_bytes(d, hex ? SP_STR_NONE : p->functions.v[f->function].name);
    digest_bytes(d, f->srcline);
    digest_number(d, f->flags & named);
    digest_number(d, f->inline_depth);
    if (f->flags & SP_FRAME_SYMOFF)
        sp_buf_u64(&d->b, f->symoff);
}

static void digest_frame(struct digest *d, uint32_t frame)
{
    const struct sp_profile *p = d->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct frame_hash *h = &d->frames[frame];
    uint32_t dso = sp_frame_dso(p, frame)->name;
    bool ip = f->flags & SP_FRAME_IP;
    sp_buf_clear(&d->b);
    digest_number(d, f->kind);
    digest_bytes(d, ip && may_be_jit(sp_pstr(p, dso)) ? SP_STR_NONE : dso);
    if (ip) {
        sp_buf_u64(&d->b, f->ip & PAGE_MASK);
        h->addresses = sp_hash64(d->b.data, d->b.len);
        h->hidden = f->flags & SP_FRAME_INLINED || f->inline_depth;
        h->unnamed = f->flags & SP_FRAME_UNRESOLVED;
        h->unlined = !h->hidden && !f->srcline;
    } else {
        read_digest_text(d, f->extra_json);
    }
    digest_names(d, f);
    h->names = sp_hash64(d->b.data, d->b.len);
    if (!ip)
        h->addresses = h->names;
}

static void digest_value(struct digest *d, uint32_t metric, uint32_t unit, int64_t v, struct sp_str text)
{
    read_digest_text(d, d->p->metrics.v[metric].name);
    read_digest_text(d, unit);
    if (v == SP_DECIMAL)
        sp_buf_add(&d->b, text.p, text.n);
    digest_number(d, v == SP_DECIMAL ? SP_ABSENT : v);
}

/* The weights of a list; from v, or the columns of `stack`. */
static void digest_weights(struct digest *d, uint32_t layout, uint32_t stack, const struct sp_value *v)
{
    const struct sp_profile *p = d->p;
    const struct sp_layout *l = layout == SP_NONE ? NULL : &p->layouts.v[layout];
    for (uint32_t i = 0; l && i < l->n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[l->first + i];
        int64_t value = v ? v[i].v : sp_weight(p, stack, f->metric);
        struct sp_str text = value != SP_DECIMAL ? (struct sp_str){"", 0}
                             : v                 ? sp_pstr(p, v[i].text)
                                                 : sp_weight_text(p, stack, f->metric);
        digest_value(d, f->metric, f->unit, value, text);
    }
}

static void digest_facts(struct digest *d, const struct sp_fact *facts, const void *row, uint32_t more)
{
    for (const struct sp_fact *f = facts; f->key; f++) {
        if (f->type == SP_FACT_NUMBER)
            digest_number(d, sp_fact_get_number(f, row));
        else if (f->type == SP_FACT_TEXT)
            read_digest_text(d, sp_fact_get_text(f, row));
        else
            sp_buf_u64(&d->b,
                       f->type == SP_FACT_ADDRESS ? sp_fact_get_address(f, row) : sp_fact_get_flag(f, row));
    }
    read_digest_text(d, more);
}

static void digest_context(struct digest *d, const struct sp_context *c)
{
    const struct sp_wait_fact *wait = sp_context_wait(d->p, c);
    digest_event(d, c->event);
    digest_number(d, c->pid);
    digest_number(d, c->tid);
    digest_number(d, c->cpu);
    digest_bytes(d, c->comm);
    read_digest_text(d, c->state);
    read_digest_text(d, c->source);
    read_digest_text(d, c->extra_json);
    if (wait)
        digest_facts(d, sp_wait_facts, wait, wait->extra_json);
}

static void digest_exclusive(struct digest *d, const struct sp_exclusive *e, bool names)
{
    const struct frame_hash *f = e->frame == SP_NONE ? NULL : &d->frames[e->frame];
    /* Of a leaf that inlined functions were found for, the innermost is named now. */
    sp_buf_u64(&d->b, f && names ? f->names : 0);
    digest_weights(d, e->layout, SP_NONE, d->p->values.v + e->first);
}

/* The hash of the stack, with names or without: what `d->b` holds already, and its frames. */
static uint64_t digest_chain(struct digest *d, uint32_t stack, bool names)
{
    const struct sp_profile *p = d->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(p, stack);
    size_t common = d->b.len;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct frame_hash *h = &d->frames[f[i]];
        uint64_t one = htole64(names ? h->names : h->addresses);
        if (names || !h->hidden)
            sp_buf_add(&d->b, &one, sizeof one);
    }
    if (s->exclusive >= 2)
        digest_exclusive(d, &p->exclusives.v[s->exclusive - 2], names);
    uint64_t hash = sp_hash64(d->b.data, d->b.len);
    d->b.len = common;
    return hash;
}

static void digest_stack(struct digest *d, uint32_t stack)
{
    const struct sp_profile *p = d->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(p, stack);
    sp_buf_clear(&d->b);
    digest_context(d, &p->contexts.v[s->context]);
    digest_number(d, s->type);
    digest_number(d, s->exclusive == SP_EXCLUSIVE_NONE || !s->n);
    digest_number(d, s->linked ? p->linked.v[s->linked - 1].n : 0);
    digest_weights(d, s->layout, stack, NULL);
    d->stacks[stack].addresses = digest_chain(d, stack, false);
    d->stacks[stack].names = digest_chain(d, stack, true);
    for (uint32_t i = 0; i < s->n; i++) {
        d->out->unnamed += d->frames[f[i]].unnamed;
        d->out->unlined += d->frames[f[i]].unlined;
    }
}

static void digest_add(struct digest *d)
{
    uint64_t hash = sp_hash64(d->b.data, d->b.len);
    d->out->addresses += hash;
    d->out->names += hash;
    sp_buf_clear(&d->b);
}

/* The record in d->b, which names a stack. */
static void digest_add_of(struct digest *d, const struct stack_hash *stack)
{
    uint64_t seed = sp_hash64(d->b.data, d->b.len);
    uint64_t addresses = htole64(stack->addresses), names = htole64(stack->names);
    d->out->addresses += sp_hash64_seed(&addresses, sizeof addresses, seed);
    d->out->names += sp_hash64_seed(&names, sizeof names, seed);
    sp_buf_clear(&d->b);
}

static void digest_sample(struct digest *d, const struct sp_sample *x)
{
    sp_buf_puts(&d->b, "sample ");
    read_digest_text(d, x->time_text);
    digest_number(d, x->flags & SP_SAMPLE_TIME && !x->time_text ? x->time : SP_ABSENT);
    digest_number(d, x->pid);
    digest_number(d, x->tid);
    digest_number(d, x->cpu);
    digest_event(d, x->event);
    digest_number(d, x->period == SP_DECIMAL ? SP_ABSENT : x->period);
    read_digest_text(d, x->period_text);
    read_digest_text(d, x->context);
    read_digest_text(d, x->more);
    digest_add_of(d, &d->stacks[x->stack]);
}

static spaa_status digest_samples(struct digest *d)
{
    struct sp_sample *rows = NULL;
    size_t n = 0;
    spaa_status st = d->p->samples ? sp_samples_rows(d->p->samples, &rows, &n) : SPAA_OK;
    for (size_t i = 0; !st && i < n; i++)
        if (rows[i].stack != SP_NONE) /* as they are written */
            digest_sample(d, &rows[i]);
    return st;
}

static void digest_window(struct digest *d, const struct sp_window *x)
{
    const struct sp_profile *p = d->p;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct sp_window_row *r = &p->window_rows.v[x->first + i];
        if (r->stack == SP_NONE)
            continue;
        sp_buf_puts(&d->b, "window ");
        read_digest_text(d, x->id);
        read_digest_text(d, x->start);
        read_digest_text(d, x->end);
        read_digest_text(d, x->unit);
        digest_weights(d, r->layout, SP_NONE, p->values.v + r->first);
        digest_add_of(d, &d->stacks[r->stack]);
    }
}

static void digest_tables(struct digest *d)
{
    const struct sp_profile *p = d->p;
    sp_buf_clear(&d->b);
    for (size_t i = 0; i < p->events.n; i++) {
        const struct sp_event *e = &p->events.v[i];
        sp_buf_puts(&d->b, "event ");
        read_digest_text(d, e->name);
        digest_number(d, e->kind);
        digest_number(d, e->mode);
        read_digest_text(d, e->primary == SP_NONE ? SP_STR_NONE : p->metrics.v[e->primary].name);
        digest_add(d);
    }
    for (size_t i = 0; i < p->threads.n; i++) {
        const struct sp_thread *t = &p->threads.v[i];
        sp_buf_puts(&d->b, "thread ");
        digest_number(d, t->pid == SP_ABSENT ? -1 : t->pid); /* as they are written */
        digest_number(d, t->tid == SP_ABSENT ? -1 : t->tid);
        digest_bytes(d, t->comm);
        if (sp_facts_any(sp_thread_facts, t))
            digest_facts(d, sp_thread_facts, t, SP_STR_NONE);
        read_digest_text(d, t->extra_json);
        digest_add(d);
    }
    for (size_t i = 0; i < p->processes.n; i++) {
        sp_buf_puts(&d->b, "process ");
        digest_facts(d, sp_process_facts, &p->processes.v[i], p->processes.v[i].extra_json);
        digest_add(d);
    }
    for (size_t i = 0; i < p->images.n; i++) {
        sp_buf_puts(&d->b, "image ");
        digest_facts(d, sp_image_facts, &p->images.v[i], p->images.v[i].extra_json);
        digest_add(d);
    }
}

spaa_status sp_read_digest(const struct sp_profile *p, struct sp_read_digest *out)
{
    struct digest d = {.p = p, .out = out};
    *out = (struct sp_read_digest){0};
    sp_buf_init(&d.b, 0);
    sp_buf_init(&d.clean, 0);
    d.frames = calloc(p->frames.n + 1, sizeof *d.frames);
    d.stacks = calloc(p->stacks.n + 1, sizeof *d.stacks);
    spaa_status st = d.frames && d.stacks ? SPAA_OK : SPAA_ERR_NOMEM;
    if (st)
        goto end;
    for (uint32_t i = 0; i < p->frames.n; i++)
        digest_frame(&d, i);
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        digest_stack(&d, i);
        out->addresses += d.stacks[i].addresses;
        out->names += d.stacks[i].names;
    }
    digest_tables(&d);
    st = digest_samples(&d);
    for (size_t i = 0; !st && i < p->windows.n; i++)
        digest_window(&d, &p->windows.v[i]);
end:
    if (!st && (d.b.nomem || d.clean.nomem))
        st = SPAA_ERR_NOMEM;
    free(d.frames);
    free(d.stacks);
    sp_buf_free(&d.b);
    sp_buf_free(&d.clean);
    return st == SPAA_ERR_NOMEM ? sp_nomem(p->diags) : st;
}
