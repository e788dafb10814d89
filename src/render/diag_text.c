#include "render/diag_text.h"

#include "answer/text.h"

#include <string.h>

const char *sp_diag_word(const struct sp_diag *g)
{
    return g->severity == SP_INFO ? "note" : sp_severity_name(g->severity);
}

void sp_diag_text(struct sp_buf *b, const struct sp_diag *g)
{
    if (g->file && !strstr(g->message, g->file)) {
        sp_text_safe(b, g->file, strlen(g->file));
        sp_buf_puts(b, ": ");
    }
    sp_text_safe(b, g->message, strlen(g->message));
    if (g->line)
        sp_buf_printf(b, ", line %llu", (unsigned long long)g->line);
    if (g->offset != SP_NOWHERE && g->offset)
        sp_buf_printf(b, ", offset %llu (0x%llx)", (unsigned long long)g->offset,
                      (unsigned long long)g->offset);
    if (g->field) {
        sp_buf_puts(b, ", field ");
        sp_text_safe(b, g->field, strlen(g->field));
    }
    sp_buf_printf(b, " [%s]", sp_code_info(g->code)->name);
}
