#include "render/diag_json.h"

void sp_diag_json(struct sp_jw *w, const struct sp_diag *g)
{
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "code", sp_code_info(g->code)->name);
    sp_jw_cstr(w, "severity", sp_severity_name(g->severity));
    sp_jw_cstr(w, "file", g->file);
    if (g->line)
        sp_jw_u64(w, "line", g->line);
    else
        sp_jw_null(w, "line");
    if (g->offset == SP_NOWHERE)
        sp_jw_null(w, "offset");
    else
        sp_jw_u64(w, "offset", g->offset);
    sp_jw_cstr(w, "path", g->field);
    sp_jw_cstr(w, "message", g->message);
    sp_jw_cstr(w, "hint", g->hint);
    sp_jw_close(w, '}');
}
