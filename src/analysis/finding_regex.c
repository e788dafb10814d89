/* Regular expressions, templates and locales that are built, rather than used. */
#include "analysis/finding_private.h"

static bool regex_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    if (!finding_of_hits(r, x, UINT32_MAX, &f))
        return false;
    f.parts[SP_PART_MATCHING] = x->matching;
    if (!finding_reaches(x, &f))
        return true;
    if (!finding_repeats(x, x->hits[r->kind].v, x->hits[r->kind].n, &f))
        return false;
    if (f.repeats)
        f.title = r->kind == SP_FIND_REGEX ? "REGEX COMPILED PER CALL" : "TEMPLATE OR LOCALE BUILT PER CALL";
    return finding_add(x, &f);
}

/* Matching is beside it. */
static bool regex_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                      struct finding_hit *hit)
{
    bool built = finding_class_hit(r, x, row, hit);
    if (r->kind == SP_FIND_REGEX && !built && row->classes >> FC_MATCH & 1)
        x->matching += row->s->weight;
    hit->parts = row->parts & 1u << SP_PART_START;
    return built;
}

const struct finding_rule finding_rule_regex = {SP_FIND_REGEX, FC_REGEX, regex_hit, regex_tell};
const struct finding_rule finding_rule_format = {SP_FIND_FORMAT, FC_FORMAT, regex_hit, regex_tell};
