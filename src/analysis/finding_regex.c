/* Regular expressions, templates, locales and streams that are built, rather than used. */
#include "analysis/finding_private.h"
#include "analysis/own_name.h"

enum { OTHERS, STREAMS }; /* groups of what FORMAT is about */

static bool begins(struct sp_str s, const char *text)
{
    size_t n = strlen(text);
    return s.n >= n && memcmp(s.p, text, n) == 0;
}

static bool says(struct sp_str s, const char *text)
{
    return s.n && memmem(s.p, s.n, text, strlen(text));
}

/* Where to keep it, in the words of the language; of those that are not known nothing. */
static const char *remedy_of(struct sp_str plain, struct sp_str whole, const char *otherwise)
{
    if (begins(plain, "std::") || begins(plain, "boost::"))
        return "build it once and keep it (static const)";
    if (begins(plain, "regexp.") || begins(plain, "regexp/") || begins(plain, "text/template") ||
        begins(plain, "html/template"))
        return "build it once and keep it (a package-level variable)";
    if (says(whole, ".py") || says(whole, "java") || begins(plain, "v8::"))
        return "build it once and keep it (of the module or class)";
    return otherwise;
}

static bool say_remedy(const struct finder *x, struct sp_finding *f)
{
    if (f->function == SP_NONE)
        return true;
    struct sp_str whole = sp_pstr(x->p, x->p->functions.v[f->function].name);
    struct sp_buf b;
    sp_buf_init(&b, UINT32_MAX);
    sp_own_plain_name(&b, whole);
    bool ok = !b.failed;
    struct sp_str plain = {sp_buf_text(&b), ok ? (uint32_t)b.len : 0};
    bool keeps = f->kind == SP_FIND_REGEX || begins(plain, "text/") || begins(plain, "html/");
    f->remedy = keeps ? remedy_of(plain, whole, f->remedy) : f->remedy;
    sp_buf_free(&b);
    return ok;
}

static bool tell_group(const struct finding_rule *r, struct finder *x, uint32_t group)
{
    struct sp_finding f;
    if (!finding_of_hits(r, x, group, &f))
        return false;
    f.parts[SP_PART_MATCHING] = x->matching;
    if (!finding_reaches(x, &f))
        return true;
    if (!finding_repeats(x, x->hits[r->kind].v, x->hits[r->kind].n, &f) || !say_remedy(x, &f))
        return false;
    bool streams = r->kind == SP_FIND_FORMAT && group == STREAMS;
    if (streams) /* once, or where it is not known: nothing is to be said of it */
        f.remedy = "keep one and clear it, or convert without one (std::to_chars)";
    if (streams && !f.repeats)
        return true;
    if (f.repeats)
        f.title = streams                    ? "STREAM CONSTRUCTED PER CALL"
                  : r->kind == SP_FIND_REGEX ? "REGEX COMPILED PER CALL"
                                             : "TEMPLATE OR LOCALE BUILT PER CALL";
    return finding_add(x, &f);
}

static bool regex_tell(const struct finding_rule *r, struct finder *x)
{
    return tell_group(r, x, UINT32_MAX);
}

static bool format_tell(const struct finding_rule *r, struct finder *x)
{
    return tell_group(r, x, OTHERS) && tell_group(r, x, STREAMS);
}

/* Matching is beside it. */
static bool regex_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                      struct finding_hit *hit)
{
    bool built = finding_class_hit(r, x, row, hit);
    if (r->kind == SP_FIND_REGEX && !built && row->classes >> FC_MATCH & 1)
        x->matching += row->s->weight;
    hit->parts = row->parts & 1u << SP_PART_START;
    hit->group = row->parts >> SP_PART_STREAM & 1 ? STREAMS : OTHERS;
    return built;
}

const struct finding_rule finding_rule_regex = {SP_FIND_REGEX, FC_REGEX, regex_hit, regex_tell};
const struct finding_rule finding_rule_format = {SP_FIND_FORMAT, FC_FORMAT, regex_hit, format_tell};
