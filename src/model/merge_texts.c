/* Texts of an input in the whole, and texts of numbers added up. */
#include "model/merge_private.h"

#include "base/decimal.h"

uint32_t sp_absorb_str(struct sp_absorber *a, uint32_t s)
{
    if (s == SP_STR_NONE)
        return s;
    if (a->strs[s] == SP_STR_NONE) {
        struct sp_str t = sp_pstr(a->from, s);
        a->strs[s] = sp_profile_str(a->to, t.p, t.n);
        if (a->strs[s] == SP_STR_FAIL) {
            a->nomem = true;
            a->strs[s] = SP_STR_NONE;
        }
    }
    return a->strs[s];
}

uint32_t sp_absorb_text(struct sp_absorber *a, uint32_t s)
{
    return sp_pstr(a->from, s).n ? sp_absorb_str(a, s) : SP_STR_NONE;
}

void sp_absorb_facts(struct sp_absorber *a, const struct sp_fact *facts, void *row)
{
    for (const struct sp_fact *f = facts; f->key; f++)
        if (f->type == SP_FACT_TEXT) {
            uint32_t *text = sp_fact_place(f, row);
            *text = sp_absorb_str(a, *text);
        }
}

int sp_merge_text_cmp(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? 1 : -1;
    return sp_str_cmp(sp_pstr(p, a), sp_pstr(p, b));
}

uint32_t sp_merge_add_texts(struct sp_merger *m, uint32_t a, uint32_t b, spaa_status *st)
{
    char sum[SP_DECIMAL_DIGITS + 4];
    struct sp_str x = sp_pstr(m->p, a), y = sp_pstr(m->p, b);
    size_t n = sp_decimal_add(x.p, x.n, y.p, y.n, sum);
    if (!n) {
        sp_emit(m->d, SP_E620, SP_AT_NOTHING, "%.40s and %.40s", x.p, y.p);
        *st = SPAA_ERR_LIMIT;
        return SP_STR_NONE;
    }
    uint32_t s = sp_profile_str(m->p, sum, n);
    if (s != SP_STR_FAIL)
        return s;
    *st = sp_nomem(m->d);
    return SP_STR_NONE;
}
