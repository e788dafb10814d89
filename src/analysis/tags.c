#include "analysis/tags.h"

#include "analysis/label_filters.h"
#include "base/nearest.h"
#include "model/edges.h"
#include "model/labels.h"

#include <string.h>

#define SP_TAG_KEYS 256 /* that are named as near */

/* Every key once, of contexts and of samples that were looked at, and those that could be asked for. */
static size_t tag_known_keys(const struct sp_profile *p, struct sp_str *names)
{
    size_t n = 0;
    for (size_t i = 0; i < p->labels.n; i++) {
        struct sp_str key = sp_pstr(p, p->labels.v[i].key);
        size_t k = 0;
        while (k < n && sp_str_cmp(names[k], key) != 0)
            k++;
        if (k == n && n < SP_TAG_KEYS)
            names[n++] = key;
    }
    for (size_t i = 0; i < p->label_offers.n && n < SP_TAG_KEYS; i++)
        names[n++] = sp_pstr(p, p->label_offers.v[i]);
    return n;
}

spaa_status sp_no_label(const struct sp_profile *p, const char *option, const char *asked, struct sp_diags *d)
{
    struct sp_str names[SP_TAG_KEYS];
    struct sp_str word = sp_label_filter_key(asked);
    size_t n = tag_known_keys(p, names);
    struct sp_buf hint, key;
    sp_buf_init(&hint, 4096);
    sp_buf_init(&key, 4096);
    sp_buf_add(&key, asked, word.n ? word.n : strlen(asked));
    if (n)
        sp_nearest_words(&hint, sp_buf_cstr(&key), names, n);
    else
        sp_buf_printf(&hint,
                      "nothing in the profile has labels; recordings have them on their samples: ask the "
                      "recordings themselves, all in one command, or convert them with --samples, or merge "
                      "them with --group-by state,label:%s",
                      sp_buf_cstr(&key));
    bool prefix = option[strlen(option) - 1] == ':';
    sp_emit_hint(d, SP_E032, SP_AT_NOTHING, sp_buf_cstr(&hint), "no label is named %s: --%s%s%s",
                 sp_buf_cstr(&key), option, prefix ? "" : " ", asked);
    sp_buf_free(&key);
    sp_buf_free(&hint);
    return SPAA_ERR_NOT_FOUND;
}

/* The frames of one list of keys: of key k and context c, v[k * contexts + c]; in order from the root. */
struct tag_frames {
    SP_VEC(uint32_t) v;
    size_t keys, contexts;
};

static uint32_t tag_frame(struct sp_profile *p, uint32_t dso, uint32_t context, struct sp_str key,
                          struct sp_buf *b)
{
    sp_buf_clear(b);
    sp_buf_add(b, key.p, key.n);
    sp_buf_ch(b, ':');
    if (!sp_context_label(p, context, key, b)) {
        sp_buf_clear(b);
        sp_buf_puts(b, "[no ");
        sp_buf_add(b, key.p, key.n);
        sp_buf_ch(b, ']');
    }
    uint32_t name = b->failed ? SP_STR_FAIL : sp_profile_str(p, b->data, b->len);
    struct sp_frame f = {.kind = SP_UNKNOWN};
    f.function = name == SP_STR_FAIL ? SP_NONE : sp_function_known(p, name, dso, 0);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &f);
}

static spaa_status tag_key(struct sp_profile *p, const char *option, struct sp_str key,
                           struct tag_frames *out, struct sp_diags *d)
{
    struct sp_dso label = {.name = sp_profile_cstr(p, SP_TAG_DSO)};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (!sp_labels_have(p, key)) {
        sp_buf_add(&b, key.p, key.n);
        spaa_status st = sp_no_label(p, option, sp_buf_cstr(&b), d);
        sp_buf_free(&b);
        return st;
    }
    uint32_t dso = label.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &label);
    bool ok = dso != SP_NONE;
    for (uint32_t i = 0; ok && i < out->contexts; i++) {
        uint32_t frame = tag_frame(p, dso, i, key, &b);
        ok = frame != SP_NONE && sp_vec_push(&out->v, frame);
    }
    out->keys++;
    sp_buf_free(&b);
    return ok ? SPAA_OK : sp_nomem(d);
}

static spaa_status tag_keys(struct sp_profile *p, const char *option, const char *keys,
                            struct tag_frames *out, struct sp_diags *d)
{
    spaa_status st = SPAA_OK;
    out->contexts = p->contexts.n;
    while (!st && keys && *keys) {
        struct sp_str key = {keys, (uint32_t)strcspn(keys, ",")};
        if (key.n)
            st = tag_key(p, option, key, out, d);
        keys += key.n;
        keys += *keys == ',';
    }
    return st;
}

/* Calls are counted from the leaf, where there are more frames now. */
static bool tag_edges(struct sp_profile *p, struct sp_stack *s, size_t shift)
{
    SP_VEC(struct sp_edge) list = {0};
    size_t n;
    const struct sp_edge *e = sp_edges_of(p, s->edges, &n);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = sp_vec_push(&list, ((struct sp_edge){e[i].at + (uint32_t)shift, e[i].kind, e[i].frame}));
    if (ok && n)
        s->edges = sp_edges_intern(p, list.v, n);
    sp_vec_free(&list);
    return ok && s->edges != SP_NONE;
}

/* Of a pair the kernel's record has the leaf, the user's the root. */
static bool tag_stack(struct sp_profile *p, uint32_t stack, const struct tag_frames *root,
                      const struct tag_frames *leaf)
{
    struct sp_stack *s = &p->stacks.v[stack];
    size_t roots = s->linked && s->type == SP_KERNEL_STACK ? 0 : root->keys;
    size_t leaves = s->linked && s->type == SP_USER_STACK ? 0 : leaf->keys;
    size_t first = p->stack_frames.n;
    if (!sp_vec_reserve(&p->stack_frames, first + s->n + roots + leaves))
        return false;
    uint32_t *to = p->stack_frames.v + first;
    for (size_t k = leaves; k-- > 0;)
        *to++ = leaf->v.v[k * leaf->contexts + s->context];
    if (s->n)
        memcpy(to, p->stack_frames.v + s->first, s->n * sizeof *to);
    to += s->n;
    for (size_t k = roots; k-- > 0;)
        *to++ = root->v.v[k * root->contexts + s->context];
    p->stack_frames.n = first + s->n + roots + leaves;
    s->first = first;
    s->n += (uint32_t)(roots + leaves);
    if (leaves && s->exclusive > SP_EXCLUSIVE_SAME)
        p->exclusives.v[s->exclusive - 2].frame = p->stack_frames.v[first];
    return !leaves || !s->edges || tag_edges(p, s, leaves);
}

spaa_status sp_tag_stacks(struct sp_profile *p, const char *root_keys, const char *leaf_keys,
                          struct sp_diags *d)
{
    struct tag_frames root = {0}, leaf = {0};
    spaa_status st = tag_keys(p, "tagroot", root_keys, &root, d);
    if (!st)
        st = tag_keys(p, "tagleaf", leaf_keys, &leaf, d);
    for (uint32_t i = 0; !st && (root.keys || leaf.keys) && i < p->stacks.n; i++)
        st = tag_stack(p, i, &root, &leaf) ? SPAA_OK : sp_nomem(d);
    if (root.keys || leaf.keys)
        p->ids.n = 0;
    sp_vec_free(&root.v);
    sp_vec_free(&leaf.v);
    return st;
}
