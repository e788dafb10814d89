/* Every table and column that a query may name, one after the other. */
#include "sql/internal.h"

bool sp_sql_about(size_t i, struct sp_sql_about *out)
{
    for (int t = 0; sql_tables[t]; t++) {
        const struct sql_table *table = sql_tables[t];
        *out = (struct sp_sql_about){.table = table->name, .about = table->about};
        if (!i--)
            return true;
        for (const struct sql_column *c = table->columns; c->name; c++)
            if (!(c->flags & SQL_OLD) && !i--) {
                *out = (struct sp_sql_about){.table = table->name,
                                             .about = c->about,
                                             .column = c->name,
                                             .type = sql_type_name(c->type),
                                             .parameter = (c->flags & SQL_PARAM) != 0};
                return true;
            }
    }
    return sql_question_about(&i, out);
}
