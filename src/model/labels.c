#include "model/labels.h"

#include "base/hash.h"
#include "base/num.h"
#include "json/find.h"

#include <stdlib.h>

bool sp_label_keys_have(const struct sp_label_keys *keys, struct sp_str key)
{
    for (size_t i = 0; i < keys->n; i++)
        if (sp_str_is(key, keys->v[i]))
            return true;
    return false;
}

const struct sp_label *sp_labels_of(const struct sp_profile *p, uint32_t set, size_t *n)
{
    const struct sp_label_set *s = set ? &p->label_sets.v[set - 1] : NULL;
    *n = s ? s->n : 0;
    return s ? p->labels.v + s->first : NULL;
}

const struct sp_label *sp_labels_find(const struct sp_profile *p, uint32_t set, struct sp_str key)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(p, set, &n);
    for (size_t i = 0; i < n; i++)
        if (sp_str_cmp(sp_pstr(p, l[i].key), key) == 0)
            return &l[i];
    return NULL;
}

bool sp_labels_have(const struct sp_profile *p, struct sp_str key)
{
    for (size_t i = 0; i < p->contexts.n; i++)
        if (sp_labels_find(p, p->contexts.v[i].labels, key))
            return true;
    return false;
}

bool sp_labels_any(const struct sp_profile *p, uint32_t set)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(p, set, &n);
    for (size_t i = 0; i < n; i++)
        if (!(l[i].flags & SP_LABEL_FIELD))
            return true;
    return false;
}

/* ---- sets ---- */

/* By insertion: sets are short and mostly sorted. Labels of one key stay in their order. */
static void labels_sort(const struct sp_profile *p, struct sp_label *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sp_label x = v[i];
        size_t at = i;
        for (; at && sp_str_cmp(sp_pstr(p, v[at - 1].key), sp_pstr(p, x.key)) > 0; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
}

uint32_t sp_labels_intern(struct sp_profile *p, struct sp_label *v, size_t n)
{
    if (!n)
        return 0;
    labels_sort(p, v, n);
    uint64_t hash = sp_hash_key(v, n * sizeof *v);
    struct sp_probe at = sp_map_probe(&p->label_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->label_map, &at)) != SP_MAP_NONE;) {
        const struct sp_label_set *s = &p->label_sets.v[i];
        if (s->n == n && memcmp(p->labels.v + s->first, v, n * sizeof *v) == 0)
            return i + 1;
    }
    struct sp_label_set set = {(uint32_t)p->labels.n, (uint32_t)n};
    if (p->labels.n + n >= SP_NONE || !sp_vec_reserve(&p->labels, p->labels.n + n) ||
        !sp_vec_reserve(&p->label_sets, p->label_sets.n + 1) ||
        !sp_map_add(&p->label_map, hash, (uint32_t)p->label_sets.n))
        return SP_NONE;
    p->label_sets.v[p->label_sets.n++] = set;
    memcpy(p->labels.v + p->labels.n, v, n * sizeof *v);
    p->labels.n += n;
    return (uint32_t)p->label_sets.n;
}

uint32_t sp_labels_with(struct sp_profile *p, uint32_t base, uint32_t set, const struct sp_label_keys *keys)
{
    struct sp_label_list all = {0};
    size_t nbase, nset;
    const struct sp_label *b = sp_labels_of(p, base, &nbase), *l = sp_labels_of(p, set, &nset);
    bool ok = true;
    for (size_t i = 0; ok && i < nbase; i++)
        ok = sp_vec_push(&all.list, b[i]);
    for (size_t i = 0; ok && i < nset; i++) {
        struct sp_label x = l[i];
        struct sp_str key = sp_pstr(p, x.key);
        x.flags &= (uint8_t)~SP_LABEL_FIELD;
        if (sp_label_keys_have(keys, key) && !sp_labels_find(p, base, key))
            ok = sp_vec_push(&all.list, x);
    }
    uint32_t out = ok ? sp_labels_intern(p, all.list.v, all.list.n) : SP_NONE;
    sp_vec_free(&all.list);
    return out;
}

/* ---- made of facts ---- */

bool sp_labels_offer(struct sp_profile *p, struct sp_str key)
{
    for (size_t i = 0; i < p->label_offers.n; i++)
        if (sp_str_cmp(sp_pstr(p, p->label_offers.v[i]), key) == 0)
            return true;
    uint32_t name = sp_profile_str(p, key.p, key.n);
    return name != SP_STR_FAIL && sp_vec_push(&p->label_offers, name);
}

bool sp_labels_ask(struct sp_profile *p, const struct sp_label_keys *keys, const char *key,
                   struct sp_str value, struct sp_label_list *out)
{
    struct sp_str name = {key, (uint32_t)strlen(key)};
    if (!keys || !value.n)
        return true;
    if (!sp_label_keys_have(keys, name))
        return sp_labels_offer(p, name);
    struct sp_label x = {.key = sp_profile_str(p, name.p, name.n),
                         .value = sp_profile_text(p, value.p, value.n)};
    return x.key != SP_STR_FAIL && x.value != SP_STR_FAIL && sp_vec_push(&out->list, x);
}

/* spindump: "com.apple.main-thread"(1); sample: DispatchQueue_1: com.apple.main-thread  (serial) */
static struct sp_str labels_queue_name(struct sp_str queue)
{
    static const char lead[] = "DispatchQueue_", tail[] = "  (";
    const char *p = queue.p, *end = p + queue.n, *at;
    if (sp_str_is(queue, "none"))
        return (struct sp_str){"", 0};
    if (queue.n && *p == '"') {
        at = memrchr(p + 1, '"', queue.n - 1);
        return at ? (struct sp_str){p + 1, (uint32_t)(at - p - 1)} : queue;
    }
    if (queue.n < sizeof lead || memcmp(p, lead, sizeof lead - 1) != 0)
        return queue;
    at = memmem(p, queue.n, ": ", 2);
    p = at ? at + 2 : p;
    at = memmem(p, (size_t)(end - p), tail, sizeof tail - 1);
    return (struct sp_str){p, (uint32_t)((at ? at : end) - p)};
}

uint32_t sp_labels_with_queue(struct sp_profile *p, uint32_t base, const struct sp_label_keys *keys,
                              struct sp_str queue)
{
    struct sp_label_list list = {0};
    bool ok = sp_labels_ask(p, keys, "queue", labels_queue_name(queue), &list);
    uint32_t set = ok ? sp_labels_intern(p, list.list.v, list.list.n) : SP_NONE;
    sp_vec_free(&list.list);
    if (!set)
        return base;
    return set == SP_NONE ? SP_NONE : sp_labels_with(p, base, set, keys);
}

/* ---- as JSON ---- */

static int labels_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Appends what a string says, or the bytes of {"hex":"…"}; false: it is neither. */
static bool labels_text(struct sp_span raw, struct sp_buf *t)
{
    struct sp_span hex;
    if (sp_json_text_to(t, raw))
        return true;
    if (!raw.n || *raw.p != '{' || !sp_json_find(raw, "hex", &hex) || hex.n < 2 || hex.n & 1)
        return false;
    bool ok = true;
    for (size_t i = 1; ok && i + 1 < hex.n; i += 2) {
        int hi = labels_digit(hex.p[i]), lo = labels_digit(hex.p[i + 1]);
        ok = hi >= 0 && lo >= 0 && sp_buf_ch(t, (char)(hi << 4 | lo));
    }
    return ok;
}

/* {"num":N,"unit":"U"}; false: it is none. */
static bool labels_number(struct sp_profile *p, struct sp_span raw, struct sp_label *l)
{
    struct sp_span num, unit;
    struct sp_buf t;
    if (!sp_json_find(raw, "num", &num) || !num.n || (*num.p != '-' && (*num.p < '0' || *num.p > '9')))
        return false;
    sp_buf_init(&t, 0);
    if (sp_json_find(raw, "unit", &unit) && labels_text(unit, &t) && t.len)
        l->unit = sp_profile_str(p, t.data, t.len);
    l->unit = t.failed ? SP_STR_FAIL : l->unit;
    l->flags |= SP_LABEL_NUMBER;
    l->value = sp_profile_str(p, num.p, num.n);
    sp_buf_free(&t);
    return true;
}

static bool labels_value(struct sp_profile *p, struct sp_span raw, struct sp_label l,
                         struct sp_label_list *out)
{
    char first = raw.n ? *raw.p : ' ';
    struct sp_buf t;
    sp_buf_init(&t, 0);
    if (labels_text(raw, &t)) {
        l.value = sp_profile_str(p, t.data ? t.data : "", t.len);
    } else if (first != '{' || !labels_number(p, raw, &l)) {
        l.value = sp_profile_str(p, raw.p, raw.n);
        l.flags |= first == '-' || (first >= '0' && first <= '9') ? SP_LABEL_NUMBER : 0;
    }
    bool ok = !t.failed && l.value != SP_STR_FAIL && l.unit != SP_STR_FAIL && sp_vec_push(&out->list, l);
    sp_buf_free(&t);
    return ok;
}

bool sp_labels_parse(struct sp_profile *p, struct sp_span object, uint8_t flags, struct sp_label_list *out)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool ok = true;
    sp_json_init(&j, object.p, object.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (ok && sp_json_key(&j, &key)) {
            struct sp_label l = {.key = sp_profile_str(p, key.p, key.n), .flags = flags};
            ok = l.key != SP_STR_FAIL;
            if (!ok || !sp_json_skip(&j, &raw))
                break;
            struct sp_span rest = raw, item;
            bool list = raw.n && *raw.p == '[';
            while (ok && list && sp_json_next(&rest, &item))
                ok = labels_value(p, item, l, out);
            if (ok && !list)
                ok = labels_value(p, raw, l, out);
        }
    ok = ok && !j.scratch.failed;
    sp_json_free(&j);
    return ok;
}

static void labels_json_text(struct sp_str s, struct sp_buf *b)
{
    size_t at = b->len;
    bool damaged = false;
    sp_json_string_to(b, s.p, s.n, &damaged);
    if (!damaged || b->failed)
        return;
    b->len = at;
    sp_buf_puts(b, "{\"hex\":\"");
    for (uint32_t i = 0; i < s.n; i++)
        sp_buf_printf(b, "%02x", (unsigned char)s.p[i]);
    sp_buf_puts(b, "\"}");
}

static void labels_json_value(const struct sp_profile *p, const struct sp_label *l, struct sp_buf *b)
{
    struct sp_str value = sp_pstr(p, l->value), unit = sp_pstr(p, l->unit);
    if (!(l->flags & SP_LABEL_NUMBER)) {
        labels_json_text(value, b);
    } else if (!l->unit) {
        sp_buf_add(b, value.p, value.n);
    } else {
        sp_buf_puts(b, "{\"num\":");
        sp_buf_add(b, value.p, value.n);
        sp_buf_puts(b, ",\"unit\":");
        labels_json_text(unit, b);
        sp_buf_ch(b, '}');
    }
}

void sp_labels_json(const struct sp_profile *p, uint32_t set, struct sp_buf *b)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(p, set, &n);
    bool first = true;
    sp_buf_ch(b, '{');
    for (size_t i = 0; i < n;) {
        size_t end = i + 1, own = !(l[i].flags & SP_LABEL_FIELD);
        for (; end < n && l[end].key == l[i].key; end++)
            own += !(l[end].flags & SP_LABEL_FIELD);
        struct sp_str key = sp_pstr(p, l[i].key);
        if (own && !first)
            sp_buf_ch(b, ',');
        if (own) {
            sp_json_string(b, key.p, key.n);
            sp_buf_puts(b, own > 1 ? ":[" : ":");
        }
        for (bool comma = false; i < end; i++) {
            if (l[i].flags & SP_LABEL_FIELD)
                continue;
            if (comma)
                sp_buf_ch(b, ',');
            labels_json_value(p, &l[i], b);
            comma = true;
        }
        if (own > 1)
            sp_buf_ch(b, ']');
        first = first && !own;
    }
    sp_buf_ch(b, '}');
}

/* ---- of samples ---- */

bool sp_labels_members(struct sp_profile *p, struct sp_span members, struct sp_label_list *out)
{
    struct sp_span raw;
    return (!sp_json_find(members, "x_labels", &raw) || sp_labels_parse(p, raw, 0, out)) &&
           (!sp_json_find(members, "trace_fields", &raw) || sp_labels_parse(p, raw, SP_LABEL_FIELD, out));
}

uint32_t sp_labels_of_sample(struct sp_profile *p, const struct sp_sample *x)
{
    if (!x->context)
        return 0;
    struct sp_probe at = sp_map_probe(&p->sample_label_map, sp_hash_mix(x->context, 7));
    for (uint32_t i; (i = sp_map_next(&p->sample_label_map, &at)) != SP_MAP_NONE;)
        if (p->sample_labels.v[i].context == x->context)
            return p->sample_labels.v[i].set;
    struct sp_label_list list = {0};
    struct sp_str s = sp_pstr(p, x->context);
    struct sp_sample_labels known = {x->context, SP_NONE};
    if (sp_labels_members(p, (struct sp_span){s.p, s.n}, &list))
        known.set = sp_labels_intern(p, list.list.v, list.list.n);
    sp_vec_free(&list.list);
    if (known.set == SP_NONE ||
        !sp_map_add(&p->sample_label_map, sp_hash_mix(x->context, 7), (uint32_t)p->sample_labels.n) ||
        !sp_vec_push(&p->sample_labels, known))
        return SP_NONE;
    return known.set;
}

/* ---- in words ---- */

void sp_label_say(const struct sp_profile *p, const struct sp_label *l, struct sp_buf *b)
{
    struct sp_str value = sp_pstr(p, l->value), unit = sp_pstr(p, l->unit);
    sp_buf_add(b, value.p, value.n);
    if (unit.n) {
        sp_buf_ch(b, ' ');
        sp_buf_add(b, unit.p, unit.n);
    }
}

bool sp_context_label(const struct sp_profile *p, uint32_t context, struct sp_str key, struct sp_buf *b)
{
    size_t n;
    bool found = false;
    const struct sp_label *l = sp_labels_of(p, p->contexts.v[context].labels, &n);
    for (size_t i = 0; i < n; i++) {
        if (sp_str_cmp(sp_pstr(p, l[i].key), key) != 0)
            continue;
        if (found)
            sp_buf_ch(b, ',');
        sp_label_say(p, &l[i], b);
        found = true;
    }
    return found;
}

/* ---- keys ---- */

bool sp_labels_keys(const struct sp_profile *p, struct sp_label_list *out)
{
    bool *used = calloc(p->contexts.n + 1, sizeof *used), ok = used;
    for (size_t i = 0; ok && i < p->stacks.n; i++)
        used[p->stacks.v[i].context] = true;
    for (size_t i = 0; ok && i < p->contexts.n; i++) {
        size_t n, k;
        if (!used[i])
            continue;
        const struct sp_label *l = sp_labels_of(p, p->contexts.v[i].labels, &n);
        for (; ok && n; n--, l++) {
            for (k = 0; k < out->list.n && out->list.v[k].key != l->key; k++)
                ;
            if (k == out->list.n && !(l->flags & SP_LABEL_FIELD))
                ok = sp_vec_push(&out->list, *l);
        }
    }
    free(used);
    labels_sort(p, out->list.v, out->list.n);
    return ok;
}
