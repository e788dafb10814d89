/* Functions by the table of names. */
#include "analysis/finding_private.h"
#include "analysis/function_tags.h"
#include "analysis/own_name.h"

enum where { ANY, USER, KERNEL };
enum how { IS, BEGINS, ENDS, HOLDS, FULL };

static const struct known {
    const char *text;
    uint8_t n, class, part, where, how;
} known[] = {
#define SP_NAME(class, part, where, how, text)                                                               \
    {text, sizeof text - 1, FC_##class, SP_PART_##part, where, how},
#include "analysis/finding_names.def"
#undef SP_NAME
};
enum { KNOWN = sizeof known / sizeof *known };

const char *const sp_finding_part_words[SP_PARTS] = {
#define SP_PART(part, words) words,
#include "analysis/finding_names.def"
#undef SP_PART
};

static bool name_holds(struct sp_str s, const struct known *k)
{
    return s.n >= k->n && memmem(s.p, s.n, k->text, k->n);
}

static bool name_fits(const struct known *k, struct sp_str plain, struct sp_str whole)
{
    switch ((enum how)k->how) {
    case IS:
        return plain.n == k->n && memcmp(plain.p, k->text, k->n) == 0;
    case BEGINS:
        return plain.n >= k->n && memcmp(plain.p, k->text, k->n) == 0;
    case ENDS:
        return plain.n >= k->n && memcmp(plain.p + plain.n - k->n, k->text, k->n) == 0;
    case HOLDS:
        return name_holds(plain, k);
    case FULL:
        return name_holds(whole, k);
    }
    return false;
}

/* Where a function's code stands: the profile may not say. */
static enum where side_of(const struct sp_profile *p, uint32_t function)
{
    const struct sp_dso *dso = &p->dsos.v[p->functions.v[function].dso];
    struct sp_str name = sp_pstr(p, dso->name);
    if (dso->is_kernel)
        return KERNEL;
    return !name.n || sp_str_is(name, "[unknown]") ? ANY : USER;
}

/* "malloc" of "malloc@@GLIBC_2.2.5". */
static struct sp_str without_version(struct sp_str s)
{
    const char *at = s.n > 1 ? memchr(s.p + 1, '@', s.n - 1) : NULL;
    return at ? (struct sp_str){s.p, (uint32_t)(at - s.p)} : s;
}

static uint32_t tagged(const struct finder *x, uint32_t function)
{
    unsigned tags = sp_function_tags_by_name(x->p, x->s->event, function);
    return (tags & SP_TAG_IDLE ? 1u << FC_IDLE : 0) | (tags & SP_TAG_WAIT ? 1u << FC_WAIT : 0) |
           (tags & SP_TAG_IRQ ? 1u << FC_IRQ : 0);
}

bool finding_names(struct finder *x)
{
    struct sp_buf b;
    bool ok = true;
    sp_buf_init(&b, UINT32_MAX);
    for (uint32_t i = 0; ok && i < x->p->functions.n; i++) {
        struct sp_str whole = sp_pstr(x->p, x->p->functions.v[i].name);
        enum where side = side_of(x->p, i);
        sp_buf_clear(&b);
        sp_own_plain_name(&b, whole);
        ok = !b.failed;
        struct sp_str plain = without_version((struct sp_str){sp_buf_text(&b), (uint32_t)b.len});
        x->classes[i] = tagged(x, i);
        x->kernel_seen = x->kernel_seen || side == KERNEL;
        for (size_t k = 0; ok && k < KNOWN; k++) {
            if ((known[k].where && side && known[k].where != side) || !name_fits(&known[k], plain, whole))
                continue;
            x->classes[i] |= 1u << known[k].class;
            if (known[k].part)
                x->parts[i] = known[k].part;
        }
    }
    sp_buf_free(&b);
    return ok;
}
