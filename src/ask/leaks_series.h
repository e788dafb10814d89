/* leaks of several dumps: its rows, and what puts them into the answer. */
#ifndef SP_LEAKS_SERIES_H
#define SP_LEAKS_SERIES_H

#include "ask/series_parts.h"

struct sp_growth_row {
    size_t owner;
    struct sp_heap_growth g;
    int64_t first, last;        /* in these dumps */
    uint32_t selected;          /* its heaviest record in the last dump; SP_NONE: it has none */
    int64_t weight;             /* of that */
    size_t frame;               /* which of its frames the row is of */
    uint32_t function, through; /* of the last dump's profile, or SP_NONE */
    struct sp_heap_callers callers;
    uint32_t line; /* text of that profile, or SP_STR_NONE */
};

struct sp_growth {
    struct sp_series s;
    SP_VEC(struct sp_growth_row) rows;
    size_t limit;
};

struct sp_str sp_growth_name(const struct sp_growth *x, const struct sp_growth_row *r);
struct sp_str sp_growth_line(const struct sp_growth *x, const struct sp_growth_row *r); /* n 0: none */
/* leaks_series_rows.c: " < copy_request 60 %": for whom the row grew, where several ask it; else nothing. */
void sp_growth_say_callers(const struct sp_growth *x, const struct sp_growth_row *r, struct sp_buf *b);
/* The table. */
void sp_growth_put(struct sp_growth *x);

#endif
