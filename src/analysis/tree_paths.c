/*
 * A row goes down the beginnings that are known, as long as they are its own; where the next one is new, it
 * is added, and the row stays below it. So a beginning that many rows share is known after as many of them
 * as it has pieces, and there are never more beginnings than rows, however deep stacks are.
 */
#include "analysis/tree_paths.h"

#include "base/hash.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* What a beginning is found by: a copy, as the frames of stacks lie anywhere in memory. */
struct piece {
    uint32_t frames[SP_TREE_PIECE]; /* the last ones */
    uint32_t above;                 /* 1 + the beginning before them; 0: none */
};

/*
 * What is looked up for a row lies anywhere in memory, but is known ahead: the hash of a beginning is made of
 * its frames alone, so that the rows to come can be asked for, first their places in the map, then the
 * pieces that are found there.
 */
enum { DEEP = 8, SLOTS_AHEAD = 24, PIECES_AHEAD = 12, RING = 32 };

struct joiner {
    struct sp_tree_paths *out;
    bool inverted;
    size_t rows;                 /* the paths after them are beginnings */
    SP_VEC(struct piece) pieces; /* per beginning */
    struct sp_map map;           /* of these, by the hash of the beginning */
    uint64_t ahead[RING][DEEP];  /* hashes of the first DEEP beginnings of the rows to come */
    uint32_t *above;             /* per row: 1 + the beginning that it is below; 0: none */
};

/* The frames of a path that filters changed are lent for a moment only. */
static const uint32_t *tree_paths_frames_of(struct sp_selection *s, size_t row, struct sp_arena *steps,
                                            size_t *n)
{
    const uint32_t *f = sp_selected_frames(s, row, n);
    if (!f || !*n || !sp_selected_is_made(s, f))
        return f;
    uint32_t *copy = sp_arena_alloc(steps, *n * sizeof *copy);
    return copy ? memcpy(copy, f, *n * sizeof *copy) : NULL;
}

static bool tree_paths_add_rows(struct sp_selection *s, bool by_comm, struct sp_tree_paths *out)
{
    const struct sp_profile *p = s->profile;
    if (s->rows.n > UINT32_MAX / 2 - 1 || !sp_vec_reserve(&out->v, s->rows.n + 1))
        return false;
    for (size_t i = 0; i < s->rows.n; i++) {
        size_t n;
        const struct sp_selected *x = &s->rows.v[i];
        const uint32_t *f = tree_paths_frames_of(s, i, &out->steps, &n);
        if (!f)
            return false;
        out->v.v[out->v.n++] =
            (struct sp_tree_path){.frames = f,
                                  .n = (uint32_t)n,
                                  .comm = by_comm ? s->pools.comm[p->stacks.v[x->stack].context] : 0,
                                  .row = (uint32_t)i,
                                  .weight = x->weight,
                                  .samples = x->samples};
    }
    return true;
}

/* ---- beginnings ---- */

/* The frames of a row from step n - SP_TREE_PIECE up to step n. */
static const uint32_t *piece_at(const struct joiner *j, const struct sp_tree_path *row, uint32_t n)
{
    return row->frames + (j->inverted ? n - SP_TREE_PIECE : row->n - n);
}

static inline uint64_t hash_on(uint64_t before, const uint32_t *piece)
{
    uint64_t w[SP_TREE_PIECE / 2];
    memcpy(w, piece, sizeof w);
    return sp_hash_mix(sp_hash_mix(w[0], w[1]) + before, sp_hash_mix(w[2], w[3]));
}

static void expect_slots(struct joiner *j, size_t row)
{
    const struct sp_tree_path *x = &j->out->v.v[row];
    uint64_t hash = 0, *at = j->ahead[row % RING];
    for (uint32_t n = SP_TREE_PIECE; n < x->n && n <= DEEP * SP_TREE_PIECE; n += SP_TREE_PIECE) {
        hash = hash_on(hash, piece_at(j, x, n));
        sp_map_expect(&j->map, hash);
        *at++ = hash;
    }
}

static void expect_pieces(struct joiner *j, size_t row)
{
    const struct sp_tree_path *x = &j->out->v.v[row];
    const uint64_t *hash = j->ahead[row % RING];
    for (uint32_t n = SP_TREE_PIECE; n < x->n && n <= DEEP * SP_TREE_PIECE; n += SP_TREE_PIECE) {
        struct sp_probe at = sp_map_probe(&j->map, *hash++);
        uint32_t i = sp_map_next(&j->map, &at);
        if (i == SP_MAP_NONE)
            break;
        __builtin_prefetch(&j->pieces.v[i]);
    }
}

/* The beginning of a row's first n steps; `above` is that of the piece before. SP_NONE: out of memory. */
static uint32_t beginning(struct joiner *j, uint32_t row, uint32_t n, uint64_t hash, uint32_t above,
                          bool *fresh)
{
    const struct sp_tree_path *x = &j->out->v.v[row];
    struct piece piece = {.above = above};
    memcpy(piece.frames, piece_at(j, x, n), sizeof piece.frames);
    struct sp_probe at = sp_map_probe(&j->map, hash);
    *fresh = false;
    for (uint32_t i; (i = sp_map_next(&j->map, &at)) != SP_MAP_NONE;)
        if (!memcmp(&j->pieces.v[i], &piece, sizeof piece))
            return i;
    *fresh = true;
    struct sp_tree_path y = {
        .frames = j->inverted ? x->frames : x->frames + (x->n - n), .n = n, .row = row, .samples = SP_ABSENT};
    return sp_map_add_at(&j->map, &at, (uint32_t)j->pieces.n) && sp_vec_push(&j->pieces, piece) &&
                   sp_vec_push(&j->out->v, y)
               ? (uint32_t)j->pieces.n - 1
               : SP_NONE;
}

static bool find_above(struct joiner *j, uint32_t row)
{
    uint32_t above = 0, steps = j->out->v.v[row].n;
    uint64_t hash = 0;
    bool fresh = false;
    for (uint32_t n = SP_TREE_PIECE, k = 0; n < steps && !fresh; n += SP_TREE_PIECE, k++) {
        hash = k < DEEP ? j->ahead[row % RING][k] : hash_on(hash, piece_at(j, &j->out->v.v[row], n));
        uint32_t i = beginning(j, row, n, hash, above, &fresh);
        if (i == SP_NONE)
            return false;
        above = i + 1;
    }
    j->above[row] = above;
    return true;
}

static bool find_beginnings(struct joiner *j)
{
    j->above = malloc((j->rows + 1) * sizeof *j->above);
    /* At once for all there may be: large pages, which looking up at random needs more than less memory. */
    if (!j->above || !sp_vec_reserve(&j->pieces, j->rows) || !sp_map_grow(&j->map, j->rows))
        return false;
    for (size_t row = 0; row < SLOTS_AHEAD && row < j->rows; row++)
        expect_slots(j, row);
    for (uint32_t row = 0; row < j->rows; row++) {
        if (row + SLOTS_AHEAD < j->rows)
            expect_slots(j, row + SLOTS_AHEAD);
        if (row + PIECES_AHEAD < j->rows)
            expect_pieces(j, row + PIECES_AHEAD);
        if (!find_above(j, row))
            return false;
    }
    return true;
}

/* 1 + the beginning that a path is below; 0: none. */
static uint32_t above(const struct joiner *j, size_t path)
{
    return path < j->rows ? j->above[path] : j->pieces.v[path - j->rows].above;
}

static void add_to_above(struct joiner *j, size_t path)
{
    const struct sp_tree_path *x = &j->out->v.v[path];
    uint32_t to = above(j, path);
    if (!to)
        return;
    struct sp_tree_path *y = &j->out->v.v[j->rows + to - 1];
    y->weight += x->weight;
    sp_tree_add_samples(&y->samples, x->samples);
    y->below++;
}

/* A beginning stands before those below it: from the end on, each is complete when it is added. */
static void sum_up(struct joiner *j)
{
    for (size_t i = 0; i < j->rows; i++)
        add_to_above(j, i);
    for (size_t i = j->out->v.n; i-- > j->rows;)
        add_to_above(j, i);
}

static bool list_below(struct joiner *j)
{
    struct sp_tree_paths *out = j->out;
    size_t n = out->v.n;
    uint32_t *list = malloc((n + 1) * sizeof *list), *next = malloc((j->pieces.n + 1) * sizeof *next);
    bool ok = list && next;
    for (size_t i = 0; ok && i < n; i++)
        out->begin += !above(j, i);
    uint32_t at = out->begin;
    if (ok)
        next[0] = 0;
    for (size_t i = 0; ok && i < j->pieces.n; i++) {
        out->v.v[j->rows + i].first = next[i + 1] = at;
        at += out->v.v[j->rows + i].below;
    }
    for (size_t i = 0; ok && i < n; i++)
        list[next[above(j, i)]++] = (uint32_t)i;
    free(next);
    out->list = list;
    return ok;
}

static bool join_paths(struct sp_tree_paths *out, bool inverted)
{
    struct joiner j = {.out = out, .inverted = inverted, .rows = out->v.n};
    bool ok = find_beginnings(&j);
    if (ok) {
        sum_up(&j);
        ok = list_below(&j);
    }
    sp_map_free(&j.map);
    sp_vec_free(&j.pieces);
    free(j.above);
    return ok;
}

bool sp_tree_paths_make(struct sp_selection *s, const struct sp_tree_opts *opts, bool join,
                        struct sp_tree_paths *out)
{
    *out = (struct sp_tree_paths){0};
    sp_arena_init(&out->steps, 0);
    if (!tree_paths_add_rows(s, opts->by_comm, out))
        return false;
    out->begin = (uint32_t)out->v.n;
    if (!join)
        return true;
    out->begin = 0;
    return join_paths(out, opts->inverted);
}

void sp_tree_paths_free(struct sp_tree_paths *p)
{
    sp_vec_free(&p->v);
    free(p->list);
    sp_arena_free(&p->steps);
}
