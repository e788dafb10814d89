/* Answers as CSV: the tables, and nothing else. Tables of the same titles go on; others follow a blank line.
 */
#include "render/answer_private.h"

#include <stdlib.h>

static bool same_titles(const struct sp_table_column *a, size_t na, const struct sp_table *b)
{
    bool same = a && na == b->ncolumns;
    for (size_t i = 0; same && i < na; i++)
        same = strcmp(a[i].title, b->columns[i].title) == 0;
    return same;
}

spaa_status sp_draw_csv(const struct sp_drawing *g)
{
    struct sp_table_column *before = NULL, *titles = NULL;
    size_t nbefore = 0;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < g->answer->items.n; i++) {
        struct sp_table table;
        if (g->answer->items.v[i].kind != SP_ITEM_TABLE)
            continue;
        st = sp_draw_table(g, g->answer->items.v[i].table, &table, &titles);
        if (!st && table.ncolumns) {
            table.goes_on = same_titles(before, nbefore, &table);
            sp_puts(g->out, before && !table.goes_on ? "\n" : "");
            st = sp_table_write(&table, SP_TABLE_CSV, 0, g->out);
            free(before);
            before = titles;
            nbefore = table.ncolumns;
            titles = NULL;
        }
        sp_table_free(&table);
        free(titles);
        titles = NULL;
    }
    free(before);
    return st;
}
