#include "formats/common/aggregation/lines.h"

#include "base/hash.h"

#include <string.h>

void sp_agg_lines_init(struct sp_agg_lines *k)
{
    *k = (struct sp_agg_lines){0};
    sp_arena_init(&k->texts, 0);
}

void sp_agg_lines_free(struct sp_agg_lines *k)
{
    sp_vec_free(&k->list);
    sp_map_free(&k->map);
    sp_arena_free(&k->texts);
}

const struct sp_agg_line *sp_agg_lines_find(const struct sp_agg_lines *k, const char *p, size_t n)
{
    struct sp_probe at = sp_map_probe(&k->map, sp_hash_key(p, n));
    for (uint32_t i; (i = sp_map_next(&k->map, &at)) != SP_MAP_NONE;) {
        const struct sp_agg_line *l = &k->list.v[i];
        if (l->text.n == n && memcmp(l->text.p, p, n) == 0)
            return l;
    }
    return NULL;
}

const struct sp_agg_line *sp_agg_lines_add(struct sp_agg_lines *k, const struct sp_agg *a, const char *p,
                                           size_t n, const struct sp_agg_line *about)
{
    struct sp_agg_line l = *about;
    l.text = (struct sp_str){n < SP_NONE ? sp_arena_dup(&k->texts, p, n) : NULL, (uint32_t)n};
    l.told = 0;
    for (uint32_t i = 0; i < l.count; i++)
        l.told |= a->frames.v[l.first + i].side;
    if (!l.text.p || k->list.n >= SP_NONE || !sp_vec_push(&k->list, l) ||
        !sp_map_add(&k->map, sp_hash_key(p, n), (uint32_t)k->list.n - 1))
        return NULL;
    return &k->list.v[k->list.n - 1];
}

bool sp_agg_lines_push(struct sp_agg *a, const struct sp_agg_line *l)
{
    struct sp_agg_block *b = &a->blocks.v[a->blocks.n - 1];
    if (!sp_vec_reserve(&a->block_frames, a->block_frames.n + l->count))
        return false;
    for (uint32_t i = 0; i < l->count; i++)
        a->block_frames.v[a->block_frames.n++] = l->first + i;
    b->n += l->count;
    b->told |= l->told;
    return true;
}
