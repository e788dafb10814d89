/*
 * Growable arrays. SP_VEC(T) declares one; a zeroed one is empty and valid.
 *
 *     SP_VEC(struct row) rows = {0};
 *     if (!sp_vec_push(&rows, row)) goto nomem;
 *     for (size_t i = 0; i < rows.n; i++) use(&rows.v[i]);
 *     sp_vec_free(&rows);
 *
 * Growth doubles; a push that fails leaves the array as it was.
 */
#ifndef SP_VEC_H
#define SP_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SP_VEC(T)                                                                                            \
    struct {                                                                                                 \
        T *v;                                                                                                \
        size_t n, cap;                                                                                       \
    }

/* Makes room for `need` elements in all; false when memory is exhausted or the size overflows. */
bool sp_vec_grow(void **v, size_t *cap, size_t need, size_t elem);
/*
 * Tables of many megabytes are walked at random: few large pages cost less than many small ones. For memory
 * that was not touched yet; nothing happens where there are none, or when it is small.
 */
void sp_large_pages(void *p, size_t bytes);
/* For memory that will be written all over: its pages are there at once, which costs less than one by one. */
void sp_touch_pages(void *p, size_t bytes);

#define sp_vec_reserve(a, need)                                                                              \
    ((need) <= (a)->cap || sp_vec_grow((void **)&(a)->v, &(a)->cap, (need), sizeof *(a)->v))
#define sp_vec_push(a, x) (sp_vec_reserve((a), (a)->n + 1) && ((a)->v[(a)->n++] = (x), true))
#define sp_vec_free(a)    (free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)

#endif
