/* Page faults: of which kind they are says what helps. */
#include "analysis/finding_private.h"

static bool fault_tell(const struct finding_rule *r, struct finder *x)
{
    static const struct {
        enum sp_finding_part part;
        const char *remedy;
    } kinds[] = {
        {SP_PART_FRESH, "keep memory and use it again, or larger pages (THP)"},
        {SP_PART_FILES, "touch fewer pages of files, or map them at once (MAP_POPULATE)"},
        {SP_PART_COW, "write to less of what fork shares"},
        {SP_PART_SWAP, "use less memory: it is swapped"},
        {SP_PART_NUMA, "keep threads where their memory is (numactl), or balance less"},
    };
    struct sp_finding f;
    if (!finding_of_hits(r, x, UINT32_MAX, &f))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((__int128)f.parts[kinds[i].part] * 2 > f.weight)
            f.remedy = kinds[i].remedy;
    return finding_add(x, &f);
}

/* The kind is what the handler called first: clearing a page is of what wanted it. */
static bool fault_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                      struct finding_hit *hit)
{
    if (!finding_class_hit(r, x, row, hit))
        return false;
    unsigned part = 0;
    for (size_t k = hit->top + 1; k-- > 0 && !part;)
        part = x->classes[x->p->frames.v[row->frames[k]].function] >> FC_FAULT & 1
                   ? x->parts[x->p->frames.v[row->frames[k]].function]
                   : 0;
    hit->parts = part ? 1u << part : 0;
    return true;
}

const struct finding_rule finding_rule_fault = {SP_FIND_FAULT, FC_FAULT, fault_hit, fault_tell};
