#include "analysis/redacted_name.h"

#include "model/entries.h"

#include <string.h>

static const char *const marks[] = {"", "-allocator", "-container", "-runtime"}; /* by enum sp_owner_kind */
static const char library[] = "-library";

static bool redacted_drop(struct sp_str *name, const char *end)
{
    uint32_t n = (uint32_t)strlen(end);
    if (name->n < n || memcmp(name->p + name->n - n, end, n) != 0)
        return false;
    name->n -= n;
    return true;
}

static bool redacted_is_hash(const char *p)
{
    for (int i = 2; i < 14; i++)
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
            return false;
    return p[0] == 'f' && p[1] == '-';
}

bool sp_redacted_name(struct sp_str name, struct sp_redacted_name *out)
{
    enum { HASH = 14 };
    *out = (struct sp_redacted_name){.kind = SP_MAY_OWN};
    out->library = redacted_drop(&name, library);
    for (int k = SP_ALLOCATOR; k <= SP_RUNTIME && out->kind == SP_MAY_OWN; k++)
        if (redacted_drop(&name, marks[k]))
            out->kind = (enum sp_owner_kind)k;
    if (name.n < HASH || !redacted_is_hash(name.p + name.n - HASH))
        return false;
    name.n -= HASH;
    if (!name.n)
        return true;
    name.n--;
    return name.n && strchr("-@", name.p[name.n]) && sp_entry_of(name, SP_SIDE_USER).n == name.n;
}

void sp_redacted_marks(struct sp_buf *b, const struct sp_redacted_name *what)
{
    sp_buf_puts(b, marks[what->kind]);
    sp_buf_puts(b, what->library ? library : "");
}
