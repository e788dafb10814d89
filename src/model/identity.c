#include "model/identity.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "base/watch.h"
#include "model/labels.h"

#include <stdlib.h>
#include <string.h>

struct sp_str sp_base_name(struct sp_str path)
{
    for (uint32_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return i == path.n ? path : (struct sp_str){path.p + i, path.n - i};
    return path;
}

static void field(struct sp_buf *b, struct sp_str s)
{
    sp_buf_add(b, s.p, s.n);
    sp_buf_ch(b, '\0');
}

static void hex_field(struct sp_buf *b, char mark, uint64_t v)
{
    char t[16];
    sp_buf_ch(b, mark);
    sp_buf_add(b, "0x", 2);
    sp_buf_add(b, t, sp_hex_text(v, t));
}

/* Where in its function: in which part of it, and where there; else the address. */
static void place_field(const struct sp_profile *p, uint32_t frame, struct sp_buf *b)
{
    const struct sp_frame *f = &p->frames.v[frame];
    if (f->flags & SP_FRAME_SYMOFF) {
        struct sp_str part = f->info ? sp_linkage_parts(sp_frame_symbol(p, frame)) : (struct sp_str){"", 0};
        sp_buf_add(b, part.p, part.n);
        hex_field(b, '+', f->symoff);
    } else if (f->flags & SP_FRAME_IP) {
        hex_field(b, '@', f->ip);
    }
}

static bool frame_hash(const struct sp_profile *p, uint32_t frame, struct sp_buf *b, uint64_t *out)
{
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_function *fn = &p->functions.v[f->function];
    struct sp_str dso = sp_pstr(p, p->dsos.v[fn->dso].name);
    bool nowhere = sp_str_is(dso, "[unknown]") && f->flags & SP_FRAME_UNRESOLVED;
    sp_buf_clear(b);
    field(b, nowhere ? (struct sp_str){"", 0} : sp_pstr(p, fn->name));
    field(b, sp_base_name(dso));
    field(b, sp_pstr(p, fn->tells));
    field(b, sp_pstr(p, f->srcline));
    if (!nowhere)
        place_field(p, frame, b);
    sp_buf_ch(b, '\0');
    sp_buf_u64(b, f->inline_depth);
    sp_buf_ch(b, '\0');
    *out = sp_hash64(b->data, b->len);
    return !b->failed;
}

uint64_t sp_function_hash(const struct sp_profile *p, uint32_t function)
{
    const struct sp_function *fn = &p->functions.v[function];
    struct sp_str name = sp_pstr(p, fn->name), dso = sp_base_name(sp_pstr(p, p->dsos.v[fn->dso].name));
    struct sp_str tells = sp_pstr(p, fn->tells);
    uint64_t parts[3] = {sp_hash64(name.p, name.n), sp_hash64(dso.p, dso.n), sp_hash64(tells.p, tells.n)};
    return sp_hash64(parts, fn->tells ? sizeof parts : sizeof *parts * 2);
}

/* Numbers of labels belong to one run; fields of tracepoints are no keys. */
static bool is_key(const struct sp_label *l, bool number)
{
    return !(l->flags & SP_LABEL_FIELD) && number == ((l->flags & SP_LABEL_NUMBER) != 0);
}

static bool has_suffix(const struct sp_profile *p, const struct sp_context *c)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(p, c->labels, &n);
    bool has = c->pid != SP_ABSENT || c->tid != SP_ABSENT || c->cpu != SP_ABSENT;
    for (size_t i = 0; i < n && !has; i++)
        has = is_key(&l[i], true);
    return has;
}

static void add_labels(const struct sp_profile *p, uint32_t set, struct sp_buf *b)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(p, set, &n);
    for (size_t i = 0; i < n; i++) {
        if (!is_key(&l[i], false))
            continue;
        field(b, sp_pstr(p, l[i].key));
        field(b, sp_pstr(p, l[i].value));
    }
}

/* "pid=7;tid=8;cpu=0;KEY=N;" with what there is, labels in order of their keys. */
static uint32_t suffix_of(const struct sp_profile *p, const struct sp_context *c, struct sp_buf *b)
{
    size_t nlabels;
    const struct sp_label *l = sp_labels_of(p, c->labels, &nlabels);
    const int64_t v[] = {c->pid, c->tid, c->cpu};
    static const char *const names[] = {"pid=", "tid=", "cpu="};
    sp_buf_clear(b);
    for (int i = 0; i < 3; i++) {
        if (v[i] == SP_ABSENT)
            continue;
        sp_buf_puts(b, names[i]);
        sp_buf_i64(b, v[i]);
        sp_buf_ch(b, ';');
    }
    for (size_t i = 0; i < nlabels; i++) {
        if (!is_key(&l[i], true))
            continue;
        struct sp_str key = sp_pstr(p, l[i].key), value = sp_pstr(p, l[i].value);
        sp_buf_add(b, key.p, key.n);
        sp_buf_ch(b, '=');
        sp_buf_add(b, value.p, value.n);
        sp_buf_ch(b, ';');
    }
    return (uint32_t)sp_hash64(b->data, b->len);
}

struct keyed {
    uint64_t hash;
    uint32_t suffix, stack;
    bool has_suffix;
};

struct ctx {
    const struct sp_profile *p;
    const struct sp_order *o;
};

/* The other stack of a clean pair, or SP_NONE. */
static uint32_t linked_of(const struct sp_profile *p, uint32_t stack)
{
    uint32_t r = p->stacks.v[stack].linked;
    if (!r || p->linked.v[r - 1].n != 1)
        return SP_NONE;
    uint32_t other = p->linked_stacks.v[p->linked.v[r - 1].first];
    return other == stack ? SP_NONE : other;
}

static int cmp_keyed(const void *va, const void *vb, void *arg)
{
    const struct keyed *a = va, *b = vb;
    const struct ctx *x = arg;
    if (a->has_suffix != b->has_suffix)
        return a->has_suffix ? 1 : -1;
    if (a->suffix != b->suffix)
        return a->suffix < b->suffix ? -1 : 1;
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int c = sp_stack_content_cmp(x->p, x->o, a->stack, b->stack);
    if (c)
        return c;
    /* Partners that have no identity, as unresolved frames of one run, leave pairs with equal hashes. */
    uint32_t pa = linked_of(x->p, a->stack), pb = linked_of(x->p, b->stack);
    c = pa == SP_NONE || pb == SP_NONE ? (pa == SP_NONE) - (pb == SP_NONE)
                                       : sp_stack_content_cmp(x->p, x->o, pa, pb);
    return c ? c : (a->stack > b->stack) - (a->stack < b->stack);
}

/* Base hashes of all stacks into k[].hash. */
static spaa_status bases(const struct sp_profile *p, struct keyed *k)
{
    spaa_status st = SPAA_ERR_NOMEM;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    uint64_t *frames = malloc((p->frames.n + 1) * sizeof *frames);
    if (!frames)
        goto done;
    for (uint32_t i = 0; i < p->frames.n; i++)
        if (!frame_hash(p, i, &b, &frames[i]))
            goto done;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        const struct sp_stack *s = &p->stacks.v[i];
        const struct sp_context *c = &p->contexts.v[s->context];
        const uint32_t *f = sp_stack_frames(p, i);
        if (sp_leaving(p->diags, i))
            goto done;
        sp_buf_clear(&b);
        field(&b, c->event == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->events.v[c->event].name));
        sp_buf_puts(&b, sp_stack_type_names[s->type]);
        sp_buf_ch(&b, '\0');
        field(&b, sp_pstr(p, c->comm));
        field(&b, sp_pstr(p, c->state));
        add_labels(p, c->labels, &b);
        if (!sp_buf_reserve(&b, (size_t)s->n * 8))
            goto done;
        for (uint32_t j = s->n; j-- > 0;) {
            uint64_t h = htole64(frames[f[j]]);
            memcpy(b.data + b.len, &h, 8);
            b.len += 8;
        }
        k[i].hash = sp_hash64(b.data, b.len);
    }
    st = SPAA_OK;
done:
    free(frames);
    sp_buf_free(&b);
    return st;
}

/* Partners of linked pairs hash both; anything but a clean pair keeps its own base. */
static void pairs(const struct sp_profile *p, const uint64_t *base, struct keyed *k)
{
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        uint32_t other = linked_of(p, i);
        if (other == SP_NONE)
            continue;
        uint64_t both[2] = {htole64(base[i]), htole64(base[other])};
        k[i].hash = sp_hash64(both, sizeof both);
    }
}

spaa_status sp_profile_identify(struct sp_profile *p, const struct sp_order *o)
{
    size_t n = p->stacks.n;
    struct ctx x = {p, o};
    struct keyed *k = malloc((n + 1) * sizeof *k);
    uint64_t *base = malloc((n + 1) * sizeof *base);
    spaa_status st = k && base && sp_vec_reserve(&p->ids, n) ? bases(p, k) : SPAA_ERR_NOMEM;
    struct sp_buf text;
    sp_buf_init(&text, 0);
    if (st)
        goto done;
    for (uint32_t i = 0; i < n; i++) {
        const struct sp_context *c = &p->contexts.v[p->stacks.v[i].context];
        k[i].stack = i;
        k[i].has_suffix = has_suffix(p, c);
        k[i].suffix = k[i].has_suffix ? suffix_of(p, c, &text) : 0;
        base[i] = k[i].hash;
        if (text.failed) {
            st = SPAA_ERR_NOMEM;
            goto done;
        }
    }
    if (p->linked.n)
        pairs(p, base, k);
    qsort_r(k, n, sizeof *k, cmp_keyed, &x);
    p->ids.n = n;
    p->header.id_name = sp_profile_cstr(p, SP_IDENTITY_NAME);
    st = p->header.id_name == SP_STR_FAIL ? SPAA_ERR_NOMEM : SPAA_OK;
    for (size_t i = 0; i < n; i++) {
        bool same_run = i && k[i].has_suffix == k[i - 1].has_suffix && k[i].suffix == k[i - 1].suffix;
        if (same_run && k[i].hash <= k[i - 1].hash)
            k[i].hash = k[i - 1].hash + 1;
        p->ids.v[k[i].stack] =
            (struct sp_stack_id){.hash = k[i].hash,
                                 .suffix = k[i].suffix,
                                 .flags = (uint8_t)(SP_ID_SET | (k[i].has_suffix ? SP_ID_SUFFIX : 0))};
    }
done:
    sp_buf_free(&text);
    free(k);
    free(base);
    return st ? sp_nomem(p->diags) : SPAA_OK;
}

spaa_status sp_stack_ids(struct sp_profile *p)
{
    struct sp_order order;
    if (p->ids.n == p->stacks.n)
        return SPAA_OK;
    spaa_status st = sp_order_dictionaries(p, &order);
    if (st)
        return st;
    st = sp_profile_identify(p, &order);
    sp_order_free(&order);
    return st;
}
