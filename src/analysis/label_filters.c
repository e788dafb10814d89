#include "analysis/label_filters.h"

#include "analysis/match.h"
#include "model/labels.h"

#include <stdlib.h>

struct sp_str sp_label_filter_key(const char *filter)
{
    size_t n = strcspn(filter, "=~");
    return (struct sp_str){filter, filter[n] ? (uint32_t)n : 0};
}

static bool label_is(const struct sp_profile *p, const struct sp_label *l, const char *value,
                     struct sp_buf *said)
{
    if (sp_str_is(sp_pstr(p, l->value), value))
        return true;
    sp_buf_clear(said);
    sp_label_say(p, l, said);
    return sp_str_is((struct sp_str){said->data ? said->data : "", (uint32_t)said->len}, value);
}

/* Which labels of the table fit: each is looked at once, whatever sets have it. */
static spaa_status labels_equal(const struct sp_profile *p, struct sp_str key, const char *value,
                                struct sp_diags *d, unsigned char *hits)
{
    struct sp_buf said;
    sp_buf_init(&said, 0);
    for (size_t i = 0; i < p->labels.n; i++)
        hits[i] = sp_str_cmp(sp_pstr(p, p->labels.v[i].key), key) == 0 &&
                  label_is(p, &p->labels.v[i], value, &said);
    bool failed = said.failed;
    sp_buf_free(&said);
    return failed ? sp_nomem(d) : SPAA_OK;
}

/* The texts are matched in a table of their own: with units, and as often as they differ. */
static spaa_status labels_match(const struct sp_profile *p, struct sp_str key, const char *regex,
                                struct sp_diags *d, unsigned char *hits)
{
    struct sp_strtab texts;
    struct sp_buf said;
    unsigned char *matched = NULL;
    if (!sp_strtab_init(&texts))
        return sp_nomem(d);
    sp_buf_init(&said, 0);
    uint32_t *numbers = calloc(p->labels.n + 1, sizeof *numbers);
    bool ok = numbers != NULL;
    for (size_t i = 0; ok && i < p->labels.n; i++) {
        if (sp_str_cmp(sp_pstr(p, p->labels.v[i].key), key) != 0)
            continue;
        sp_buf_clear(&said);
        sp_label_say(p, &p->labels.v[i], &said);
        numbers[i] = sp_intern(&texts, said.data ? said.data : "", said.len);
        ok = !said.failed && numbers[i] != SP_STR_FAIL;
    }
    spaa_status st = ok ? sp_match_strings(&texts, numbers, p->labels.n, regex, d, &matched) : sp_nomem(d);
    if (!st)
        memcpy(hits, matched, p->labels.n);
    free(matched);
    free(numbers);
    sp_buf_free(&said);
    sp_strtab_free(&texts);
    return st;
}

static spaa_status label_filter(const struct sp_profile *p, const char *filter, struct sp_diags *d,
                                unsigned char *fits)
{
    struct sp_str key = sp_label_filter_key(filter);
    if (!key.n) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "like --label KEY=VALUE or --label KEY~REGEX", "--label %s",
                     filter);
        return SPAA_ERR_USAGE;
    }
    unsigned char *hits = calloc(p->labels.n + 1, 1);
    const char *value = filter + key.n + 1;
    spaa_status st = !hits                  ? sp_nomem(d)
                     : filter[key.n] == '=' ? labels_equal(p, key, value, d, hits)
                                            : labels_match(p, key, value, d, hits);
    for (size_t i = 0; !st && i < p->contexts.n; i++) {
        uint32_t set = p->contexts.v[i].labels;
        bool fit = false;
        for (uint32_t k = 0; set && k < p->label_sets.v[set - 1].n && !fit; k++)
            fit = hits[p->label_sets.v[set - 1].first + k];
        fits[i] = fits[i] && fit;
    }
    free(hits);
    return st;
}

spaa_status sp_label_contexts(const struct sp_profile *p, const char *const *filters, size_t n,
                              struct sp_diags *d, unsigned char **out)
{
    unsigned char *fits = malloc(p->contexts.n + 1);
    spaa_status st = fits ? SPAA_OK : sp_nomem(d);
    if (!st)
        memset(fits, 1, p->contexts.n + 1);
    for (size_t i = 0; !st && i < n; i++)
        st = label_filter(p, filters[i], d, fits);
    if (st) {
        free(fits);
        fits = NULL;
    }
    *out = fits;
    return st;
}
