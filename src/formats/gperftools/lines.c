/* Lines, and what many of them have alike: a stack at the end; and the maps behind them. */
#include "formats/gperftools/gperftools.h"

#include "base/watch.h"

bool sp_gp_starts(struct sp_str s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && memcmp(s.p, literal, n) == 0;
}

bool sp_gp_next(struct sp_gp *gp)
{
    const char *next;
    if (gp->again) {
        gp->again = false;
        return true;
    }
    if (gp->at >= gp->end)
        return false;
    gp->line.p = gp->at;
    gp->line.n = sp_mapped_eol(gp->at, gp->end, &next);
    gp->line.number = ++gp->number;
    gp->at = next;
    return true;
}

spaa_status sp_gp_maps(struct sp_gp *gp)
{
    return sp_mapped_lines(&gp->m, gp->at, gp->end, (uint64_t)(gp->at - gp->in), gp->number + 1);
}

spaa_status sp_gp_rest(struct sp_gp *gp)
{
    sp_gp_back(gp);
    while (sp_gp_next(gp))
        if (sp_mapped_sentinel(gp->line.p, gp->line.n))
            return sp_gp_maps(gp);
    return SPAA_OK;
}

spaa_status sp_gp_stack(struct sp_gp *gp, const char **p, const char *end, enum sp_mapped_are are, bool *ok)
{
    enum { ASK_STACKS = 256 };
    uint64_t at = (uint64_t)(*p - gp->in), size = (uint64_t)(gp->end - gp->in);
    if (gp->stacks++ % ASK_STACKS == 0 && sp_progress(gp->d, "reading", gp->d->file, "bytes", at, size))
        return SPAA_ERR_CANCELLED;
    *p = sp_mapped_blank(*p, end);
    *ok = *ok && *p < end && *(*p)++ == '@';
    spaa_status st = *ok ? sp_mapped_addresses(&gp->m, p, end, are) : SPAA_OK;
    *ok = *ok && *p == end;
    if (!st && !*ok)
        sp_mapped_drop(&gp->m);
    return st;
}

spaa_status sp_gp_stack_or_say(struct sp_gp *gp, const char **p, const char *end, bool *ok)
{
    spaa_status st = sp_gp_stack(gp, p, end, SP_MAPPED_CALLERS, ok);
    if (!st && *ok && gp->line.p + gp->line.n == gp->end) { /* of its last address digits may be missing */
        sp_emit(gp->d, SP_L301, sp_gp_here(gp), "it ends in the middle of a line");
        sp_mapped_drop(&gp->m);
        *ok = false;
    } else if (!st && !*ok)
        sp_emit(gp->d, SP_L766, sp_gp_here(gp), "at column %zu", (size_t)(*p - gp->line.p) + 1);
    return st;
}
