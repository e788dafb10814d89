#include "analysis/label_report.h"

#include "base/hash.h"
#include "model/labels.h"

#include <stdlib.h>

/* What has a set of labels. */
struct carried {
    bool used;
    int64_t weight;
    uint64_t samples;
};

struct reporter {
    struct sp_profile *p;
    struct sp_label_report *r;
    SP_VEC(struct carried) sets; /* by number of set */
    struct sp_map values;        /* numbers of labels, one for each value */
};

static struct carried *label_carried(struct reporter *x, uint32_t set)
{
    if (!sp_vec_reserve(&x->sets, (size_t)set + 1))
        return NULL;
    for (; x->sets.n <= set; x->sets.n++)
        x->sets.v[x->sets.n] = (struct carried){0};
    x->sets.v[set].used = true;
    return &x->sets.v[set];
}

static bool label_stacks(struct reporter *x, const struct sp_selection *s)
{
    const struct sp_profile *p = x->p;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct carried *c = label_carried(x, p->contexts.v[p->stacks.v[s->rows.v[i].stack].context].labels);
        if (!c)
            return false;
        c->weight += s->rows.v[i].weight;
    }
    return true;
}

static bool label_samples(struct reporter *x, const struct sp_sample *rows, size_t n)
{
    x->r->samples = n;
    for (size_t i = 0; i < n; i++) {
        uint32_t set = sp_labels_of_sample(x->p, &rows[i]);
        struct carried *c = set == SP_NONE ? NULL : label_carried(x, set);
        if (!c)
            return false;
        c->samples++;
    }
    return true;
}

static struct sp_label_row *label_row(struct reporter *x, uint32_t key)
{
    for (size_t i = 0; i < x->r->rows.n; i++)
        if (x->r->rows.v[i].key == key)
            return &x->r->rows.v[i];
    struct sp_label_row row = {.key = key};
    return sp_vec_push(&x->r->rows, row) ? &x->r->rows.v[x->r->rows.n - 1] : NULL;
}

/* Whether a value was not seen before; false too when memory is out, which *ok says. */
static bool label_is_new(struct reporter *x, const struct sp_label *l, bool *ok)
{
    const struct sp_profile *p = x->p;
    uint64_t hash = sp_hash_mix((uint64_t)l->key << 32 | l->value, (uint64_t)l->unit << 1 | (l->flags & 1u));
    struct sp_probe at = sp_map_probe(&x->values, hash);
    for (uint32_t i; (i = sp_map_next(&x->values, &at)) != SP_MAP_NONE;) {
        const struct sp_label *o = &p->labels.v[i];
        if (o->key == l->key && o->value == l->value && o->unit == l->unit &&
            !((o->flags ^ l->flags) & SP_LABEL_NUMBER))
            return false;
    }
    *ok = sp_map_add(&x->values, hash, (uint32_t)(l - p->labels.v));
    return *ok;
}

static bool label_set(struct reporter *x, uint32_t set)
{
    size_t n;
    const struct sp_label *l = sp_labels_of(x->p, set, &n);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        struct sp_label_row *row = label_row(x, l[i].key);
        if (!row)
            return false;
        row->values += label_is_new(x, &l[i], &ok);
        if (i && l[i - 1].key == l[i].key) /* the key stands several times */
            continue;
        row->weight += x->sets.v[set].weight;
        row->samples += x->sets.v[set].samples;
    }
    return ok;
}

static void label_sort(const struct sp_profile *p, struct sp_label_row *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct sp_label_row x = v[i];
        size_t at = i;
        for (; at && sp_str_cmp(sp_pstr(p, v[at - 1].key), sp_pstr(p, x.key)) > 0; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
}

spaa_status sp_label_report_of(struct sp_profile *p, const struct sp_selection *s, struct sp_diags *d,
                               struct sp_label_report *out)
{
    struct reporter x = {.p = p, .r = out};
    struct sp_sample *rows = NULL;
    size_t n = 0;
    *out = (struct sp_label_report){0};
    spaa_status st = p->samples ? sp_samples_rows(p->samples, &rows, &n) : SPAA_OK;
    bool ok = !st && label_stacks(&x, s) && label_samples(&x, rows, n);
    for (uint32_t i = 1; ok && i < x.sets.n; i++)
        ok = !x.sets.v[i].used || label_set(&x, i);
    label_sort(p, out->rows.v, out->rows.n);
    sp_vec_free(&x.sets);
    sp_map_free(&x.values);
    if (!ok)
        sp_label_report_free(out);
    return ok ? SPAA_OK : st ? st : sp_nomem(d);
}

void sp_label_report_free(struct sp_label_report *r)
{
    sp_vec_free(&r->rows);
}
