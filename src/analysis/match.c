#include "analysis/match.h"

#include "analysis/own_name.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

struct matcher {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
};

static void matcher_free(struct matcher *m)
{
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->limits);
    pcre2_code_free(m->code);
}

static spaa_status matcher_new(const char *pattern, struct sp_diags *d, struct matcher *m)
{
    int error;
    PCRE2_SIZE at;
    *m = (struct matcher){0};
    m->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_MATCH_INVALID_UTF,
                            &error, &at, NULL);
    if (!m->code) {
        PCRE2_UCHAR words[256];
        pcre2_get_error_message(error, words, sizeof words);
        sp_emit(d, SP_E035, SP_AT_NOTHING, "%s at character %zu of \"%s\"", (char *)words, (size_t)at + 1,
                pattern);
        return SPAA_ERR_USAGE;
    }
    m->data = pcre2_match_data_create_from_pattern(m->code, NULL);
    m->limits = pcre2_match_context_create(NULL);
    if (!m->data || !m->limits) {
        matcher_free(m);
        return sp_nomem(d);
    }
    /* Names are short; a pattern that backtracks without end gives up instead of hanging. */
    pcre2_set_match_limit(m->limits, 1000000);
    return SPAA_OK;
}

spaa_status sp_match_check(const char *pattern, struct sp_diags *d)
{
    struct matcher m;
    spaa_status st = matcher_new(pattern, d, &m);
    if (!st)
        matcher_free(&m);
    return st;
}

static bool match_matches(const struct matcher *m, struct sp_str s)
{
    return pcre2_match(m->code, (PCRE2_SPTR)s.p, s.n, 0, 0, m->data, m->limits) >= 0;
}

static spaa_status match_all(const struct sp_profile *p, size_t n,
                             struct sp_str (*name)(const struct sp_profile *, size_t), const char *pattern,
                             struct sp_diags *d, unsigned char **out)
{
    struct matcher m;
    spaa_status st = matcher_new(pattern, d, &m);
    if (st)
        return st;
    unsigned char *hits = calloc(n + 1, 1);
    for (size_t i = 0; hits && i < n; i++)
        hits[i] = match_matches(&m, name(p, i));
    matcher_free(&m);
    *out = hits;
    return hits ? SPAA_OK : sp_nomem(d);
}

static struct sp_str function_name(const struct sp_profile *p, size_t i)
{
    return sp_pstr(p, p->functions.v[i].name);
}

static struct sp_str dso_name(const struct sp_profile *p, size_t i)
{
    return sp_pstr(p, p->dsos.v[i].name);
}

/* The pattern is of names as answers show them: without arguments of templates and calls. */
static spaa_status match_plain(const struct sp_profile *p, const char *pattern, struct sp_diags *d,
                               unsigned char *hits)
{
    struct matcher m;
    struct sp_buf plain;
    spaa_status st = matcher_new(pattern, d, &m);
    if (st)
        return st;
    sp_buf_init(&plain, 0);
    for (size_t i = 0; !plain.failed && i < p->functions.n; i++) {
        sp_buf_clear(&plain);
        sp_own_plain_name(&plain, function_name(p, i));
        hits[i] = match_matches(&m, (struct sp_str){sp_buf_text(&plain), (uint32_t)plain.len});
    }
    st = plain.failed ? sp_nomem(d) : SPAA_OK;
    sp_buf_free(&plain);
    matcher_free(&m);
    return st;
}

spaa_status sp_match_functions(const struct sp_profile *p, const char *pattern, struct sp_diags *d,
                               unsigned char **out)
{
    spaa_status st = match_all(p, p->functions.n, function_name, pattern, d, out);
    if (!st && !memchr(*out, 1, p->functions.n)) {
        st = match_plain(p, pattern, d, *out);
        if (st)
            free(*out);
    }
    return st;
}

spaa_status sp_match_dsos(const struct sp_profile *p, const char *pattern, struct sp_diags *d,
                          unsigned char **out)
{
    return match_all(p, p->dsos.n, dso_name, pattern, d, out);
}

spaa_status sp_match_strings(const struct sp_strtab *strs, const uint32_t *items, size_t n,
                             const char *pattern, struct sp_diags *d, unsigned char **out)
{
    struct matcher m;
    spaa_status st = matcher_new(pattern, d, &m);
    if (st)
        return st;
    unsigned char *hits = calloc(n + 1, 1);
    for (size_t i = 0; hits && i < n; i++) {
        uint32_t s = items ? items[i] : (uint32_t)i;
        hits[i] = (!items || s != SP_STR_NONE) && match_matches(&m, sp_str_at(strs, s));
    }
    matcher_free(&m);
    *out = hits;
    return hits ? SPAA_OK : sp_nomem(d);
}
