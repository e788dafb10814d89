/* Where a finding is, and what ends the reading. */
#include "formats/spaa/read.h"

struct sp_where sp_here(const struct reader *r, const char *field)
{
    return (struct sp_where){r->offset, r->line, r->record, field};
}

bool sp_no_memory(struct reader *r)
{
    if (!r->st)
        r->st = sp_nomem(r->d);
    return false;
}

bool sp_fault(struct reader *r, const char *literal, const char *at)
{
    r->fault = literal;
    r->fault_at = at;
    return false;
}

bool sp_fault_limit(struct reader *r, const char *literal)
{
    r->fault = literal;
    r->fault_limit = true;
    return false;
}
