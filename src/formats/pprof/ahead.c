/*
 * Frames of all locations, made ahead and in the order of the file: where a sample first needs each, what
 * they are made of would have to be waited for. Those that no sample has needed in the end go again.
 *
 * What is not plain is left for when a sample needs it, which is also when it is reported.
 */
#include "formats/pprof/pprof.h"
#include "model/unused.h"

#include <stdlib.h>

#define TOGETHER 64u /* locations that are made together */

/* What locations need, one step after the other, each asked for of all of them before the next. */
static void expect(const struct sp_pp *pp, const uint32_t *list, size_t n)
{
    const struct sp_pp_line *lines = pp->lines.v;
    for (size_t k = 0; k < n; k++)
        if (pp->locs[list[k]].nlines)
            __builtin_prefetch(&pp->fns[lines[pp->locs[list[k]].line].function]);
    for (size_t k = 0; k < n; k++) {
        const struct sp_pp_location *l = &pp->locs[list[k]];
        if (l->nlines && l->mapping != SP_NONE)
            sp_function_expect(pp->p, pp->fns[lines[l->line].function].name, pp->maps.list.v[l->mapping].dso);
    }
}

/* Nothing about the location can have to be reported, and samples can name it. */
static bool is_plain(const struct sp_pp *pp, uint32_t number)
{
    const struct sp_pp_location *l = &pp->locs[number];
    bool plain = l->plain && sp_pp_ids_find(&pp->location_ids, pp->location_ids.ids[number]) == number;
    for (uint32_t i = 0; plain && i < l->nlines; i++)
        plain = pp->fns[pp->lines.v[l->line + i].function].plain;
    return plain;
}

bool sp_pp_frames_ahead(struct sp_pp *pp)
{
    uint32_t list[TOGETHER];
    size_t count = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < pp->locations.list.n; i++) {
        if (is_plain(pp, i))
            list[count++] = i;
        if (count == TOGETHER || i + 1 == pp->locations.list.n) {
            expect(pp, list, count);
            ok = sp_pp_locations_frames(pp, list, count);
            count = 0;
        }
    }
    return ok;
}

/* Of a location that its id finds, as those do that have frames. */
static bool is_used(const struct sp_pp *pp, uint32_t number)
{
    const uint64_t id = pp->location_ids.ids[number];
    return pp->locs[number].used || (id < pp->nshorts && pp->shorts[id]);
}

bool sp_pp_location_use(struct sp_pp *pp, uint32_t number)
{
    struct sp_pp_location *l = &pp->locs[number];
    const uint64_t id = pp->location_ids.ids[number];
    if (is_used(pp, number))
        return true;
    if (l->first == SP_NONE && !sp_pp_locations_frames(pp, &number, 1))
        return false;
    l->used = true;
    pp->used++;
    if (id < pp->nshorts) {
        pp->shorts[id] = pp->ready[id];
        pp->ready[id] = 0;
    }
    return true;
}

bool sp_pp_drop_unused(struct sp_pp *pp)
{
    const size_t n = pp->p->frames.n;
    size_t kept = 0;
    if (pp->used == pp->locations.list.n)
        return true;
    bool *keep = calloc(n + 1, sizeof *keep);
    if (!keep)
        return false;
    for (uint32_t i = 0; i < pp->locations.list.n; i++) {
        const struct sp_pp_location *l = &pp->locs[i];
        const uint32_t used = l->first != SP_NONE && is_used(pp, i) ? l->n : 0;
        for (uint32_t k = 0; k < used; k++) {
            const uint32_t frame = pp->loc_frames.v[l->first + k];
            kept += !keep[frame];
            keep[frame] = true;
        }
    }
    bool ok = kept == n || sp_frames_keep(pp->p, keep);
    free(keep);
    return ok;
}
