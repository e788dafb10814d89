#include "ask/summary_rows.h"

struct sp_answer_table *sp_summary_table(struct sp_summary *x, const struct sp_table_decl *decl,
                                         unsigned keep)
{
    struct sp_answer_table *t = sp_answer_table(x->x.out, decl);
    if (t) {
        t->quiet = true;
        t->keep = keep;
        t->fixed = !keep;
    }
    return t;
}

size_t sp_summary_room(struct sp_answer_table *t, size_t n, size_t most)
{
    if (t && n > most)
        t->left_out = n - most;
    return n < most ? n : most;
}

void sp_summary_put_cstr(struct sp_summary *x, struct sp_answer_table *t, size_t column, const char *s)
{
    sp_put_text(x->x.out, t, column, s, s ? strlen(s) : 0);
}

void sp_summary_put_function(struct sp_summary *x, struct sp_answer_table *t, size_t at, uint32_t function)
{
    sp_put_function(&x->x, t, at, function);
    if (function == SP_NONE)
        sp_summary_put_cstr(x, t, at + SP_FUNCTION_NAME, "[no own function]");
}
