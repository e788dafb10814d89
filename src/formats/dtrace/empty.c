/*
 * Which of a record's two stacks is empty.
 *
 * Of `@[stack(), ustack()]` a sample in user mode has no kernel stack, and a kernel thread no user stack. A
 * stack is printed as a newline and its frames, so the empty one is a blank line: before the frames if it is
 * the first, behind them if it is the second.
 *
 *                   zfs`zio_execute+0xa7          <- the kernel's, and nothing of the user
 *
 *                     1
 *
 *
 *                   myapp`main+0x3e               <- the user's; the kernel's is empty
 *                     7
 *
 * What stands before a record depends on the one before it, so what stands behind is looked at, and compared
 * with what the records with both stacks have there: printa() may print blank lines of its own. Where none
 * has both, as of a program that does nothing but compute, some have more blank lines than the others. How
 * many are behind a record's only stack is kept as the place of its block until the last record has been
 * read.
 */
#include "formats/dtrace/records.h"

enum { OPEN_PLACE = 0x8000, AFTER_MAX = 100, AFTER_VARIES = AFTER_MAX + 2 };

void dt_note_end(struct dt_reader *r, struct dt_group *g)
{
    size_t n = r->agg.blocks.n - r->first_block;
    uint16_t after = (uint16_t)(r->after < AFTER_MAX ? r->after : AFTER_MAX);
    if (n == 1 && r->keys.stacks == 1) {
        r->agg.blocks.v[r->first_block].place = (uint16_t)(OPEN_PLACE | after);
        g->fewest = !g->fewest || after + 1 < g->fewest ? (uint16_t)(after + 1) : g->fewest;
        g->most = after + 1 > g->most ? (uint16_t)(after + 1) : g->most;
    }
    if (n != 2 || r->keys.stacks != 2)
        return;
    if (!g->after)
        g->after = (uint16_t)(after + 1);
    else if (g->after != after + 1)
        g->after = AFTER_VARIES;
}

static unsigned after_both(const struct dt_reader *r, const struct sp_agg_record *record)
{
    uint32_t group = r->p->contexts.v[record->context].event - r->groups.v[0].event; /* one after the other */
    const struct dt_group *g = &r->groups.v[group < r->groups.n ? group : 0];
    if (g->after)
        return g->after;
    if (g->most > g->fewest) /* none has both: some have the first alone, others the second */
        return g->fewest;
    return sp_agg_keys_stacks(&r->keys) == 2 ? 1 : 0;
}

void dt_settle_empty(struct dt_reader *r)
{
    for (size_t i = 0; i < r->agg.records.n; i++) {
        const struct sp_agg_record *record = &r->agg.records.v[i];
        struct sp_agg_block *b = record->blocks == 1 ? &r->agg.blocks.v[record->first_block] : NULL;
        if (!b || !(b->place & OPEN_PLACE))
            continue;
        b->place = after_both(r, record) == 1 + (b->place & ~(unsigned)OPEN_PLACE);
        b->side = (uint8_t)sp_agg_keys_side(&r->keys, b->place);
    }
    for (size_t i = 0; i < r->agg.blocks.n; i++) /* of records that were given other blocks since */
        if (r->agg.blocks.v[i].place & OPEN_PLACE)
            r->agg.blocks.v[i].place = 0;
}
