/* What rows of one key have alike, put together once. */
#include "render/answer_private.h"

#include <stdlib.h>

enum { MOST_TEXT = 1 << 26 }; /* bytes that are kept */

bool sp_pieces_init(struct sp_pieces *p, const struct sp_answer_table *t, size_t runs)
{
    *p = (struct sp_pieces){.t = t};
    sp_buf_init(&p->text, 2 * MOST_TEXT);
    if (!t->maker || !t->maker->walk || !runs) /* few rows: each is put together */
        return true;
    p->n = runs;
    p->at = calloc(t->maker->keys * runs + 1, sizeof *p->at);
    return p->at;
}

void sp_pieces_free(struct sp_pieces *p)
{
    sp_buf_free(&p->text);
    free(p->at);
}

const struct sp_cell *sp_pieces_row(const struct sp_pieces *p, size_t row)
{
    return p->n ? sp_row_own_cells(p->t, row) : sp_row_cells(p->t, row);
}

const struct sp_cell *sp_pieces_cells(const struct sp_pieces *p, size_t row)
{
    return sp_row_cells(p->t, row);
}

static struct sp_piece *pieces_find(const struct sp_pieces *p, size_t run, size_t row)
{
    return &p->at[p->t->maker->key(p->t->maker->arg, row) * p->n + run];
}

bool sp_pieces_add(const struct sp_pieces *p, size_t run, size_t row, struct sp_buf *b)
{
    const struct sp_piece *one = pieces_find(p, run, row);
    if (one->n)
        sp_buf_add(b, p->text.data + one->at, one->n);
    return one->n;
}

bool sp_pieces_keep(struct sp_pieces *p, size_t run, size_t row, const struct sp_buf *b, size_t from)
{
    size_t n = b->len - from;
    if (b->failed || !n || n > MOST_TEXT || p->text.len > MOST_TEXT)
        return !b->failed;
    *pieces_find(p, run, row) = (struct sp_piece){(uint32_t)p->text.len, (uint32_t)n};
    return sp_buf_add(&p->text, b->data + from, n);
}
