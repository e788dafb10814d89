#include "model/memory_doubts.h"

#include "json/find.h"

/* Whether a member of the header, or a member of that, is `false`. */
static bool doubt_is_false(const struct sp_profile *p, const char *outer, const char *key, const char *within)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span raw = {more.p, more.n};
    if (!more.n || !sp_json_find2(raw, outer, key, &raw))
        return false;
    return (!within || (raw.n && *raw.p == '{' && sp_json_find(raw, within, &raw))) &&
           sp_span_is(raw, "false");
}

bool sp_end_without_stacks(const struct sp_profile *p)
{
    return doubt_is_false(p, "x_massif", "end", "detailed");
}

bool sp_files_without_folders(const struct sp_profile *p)
{
    return doubt_is_false(p, "x_valgrind", "folders", NULL);
}

uint64_t sp_leak_stacks_cut(const struct sp_profile *p)
{
    return sp_str_is(sp_pstr(p, p->header.source_tool), "lsan") ? p->header.unfinished : 0;
}
