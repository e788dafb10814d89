/* Rows of one key as groups, so that what is said of their names is worked out once for each. */
#include "render/answer_private.h"

#include <stdlib.h>

static bool groups_take(struct sp_row_groups *x, size_t from, size_t to)
{
    const struct sp_row_maker *maker = x->t->maker;
    for (size_t row = from; row < to; row++) {
        uint32_t *group = &x->of_key[maker->key(maker->arg, row)];
        if (*group)
            continue;
        if (!sp_vec_push(&x->row_of, (uint32_t)row))
            return false;
        *group = (uint32_t)x->row_of.n;
    }
    return true;
}

bool sp_row_groups_init(struct sp_row_groups *x, const struct sp_answer_table *t, size_t rows, bool by_key)
{
    size_t first = t->json_rows < rows ? t->json_rows : rows;
    *x = (struct sp_row_groups){.t = t, .n = rows, .shown = rows - first};
    if (!by_key)
        return rows < UINT32_MAX;
    x->of_key = calloc(t->maker->keys + 1, sizeof *x->of_key);
    bool ok = x->of_key && rows < UINT32_MAX && groups_take(x, first, rows);
    x->shown = x->row_of.n;
    ok = ok && groups_take(x, 0, first);
    x->n = x->row_of.n;
    return ok;
}

void sp_row_groups_free(struct sp_row_groups *x)
{
    free(x->of_key);
    x->of_key = NULL;
    sp_vec_free(&x->row_of);
}
