#include "run/declarations.h"

#include "ask/common.h"
#include "json/json.h"

#include <stdio.h>

static const char *type_name(enum sp_column_type type)
{
    static const char *const names[] = {[SP_COL_NAME] = "text",          [SP_COL_DSO] = "text",
                                        [SP_COL_HANDLE] = "handle",      [SP_COL_WEIGHT] = "weight",
                                        [SP_COL_PERCENT] = "percent",    [SP_COL_COUNT] = "count",
                                        [SP_COL_TEXT] = "text",          [SP_COL_TIME] = "ns",
                                        [SP_COL_NUMBER] = "number",      [SP_COL_BOOL] = "true or false",
                                        [SP_COL_TEXTS] = "list of texts"};
    return names[type];
}

static void declared(struct sp_jw *w, const struct sp_answer_column *c)
{
    if (c->flags & SP_COL_NO_JSON)
        return;
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "name", c->name);
    sp_jw_cstr(w, "type", type_name(c->type));
    sp_jw_bool(w, "optional", c->flags & (SP_COL_OPTIONAL | SP_COL_SOMETIMES));
    const char *dot = strrchr(c->name, '.');
    sp_jw_bool(w, "short", c->type == SP_COL_NAME && strcmp(dot ? dot + 1 : c->name, "function") == 0);
    sp_jw_cstr(w, "doc", c->doc);
    sp_jw_close(w, '}');
}

static void declared_facts(struct sp_jw *w, const struct sp_answer_column *facts)
{
    sp_jw_open(w, "facts", '[');
    for (; facts && facts->name; facts++)
        declared(w, facts);
    sp_jw_close(w, ']');
}

static void declared_tables(struct sp_jw *w, const struct sp_table_decl *const *tables)
{
    sp_jw_open(w, "tables", '[');
    for (; *tables; tables++) {
        if ((*tables)->joined)
            continue;
        sp_jw_open(w, NULL, '{');
        char path[64];
        const char *of = (*tables)->of;
        snprintf(path, sizeof path, "%s%s%s", of ? of : "", of ? "." : "", (*tables)->name);
        sp_jw_cstr(w, "name", path);
        sp_jw_cstr(w, "doc", (*tables)->doc);
        sp_jw_open(w, "columns", '[');
        for (size_t i = 0; i < (*tables)->ncolumns; i++)
            declared(w, &(*tables)->columns[i]);
        sp_jw_close(w, ']');
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

void sp_declarations(struct sp_output *out)
{
    struct sp_jw w;
    sp_jw_init(&w, out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.help/1");
    sp_jw_open(&w, "common", '{');
    declared_facts(&w, sp_common_facts);
    declared_tables(&w, sp_common_tables);
    sp_jw_close(&w, '}');
    sp_jw_open(&w, "questions", '[');
    for (size_t i = 0; sp_questions[i]; i++) {
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "name", sp_questions[i]->name);
        sp_jw_cstr(&w, "schema", sp_questions[i]->schema);
        sp_jw_cstr(&w, "title", sp_questions[i]->title);
        declared_facts(&w, sp_questions[i]->facts);
        declared_tables(&w, sp_questions[i]->tables);
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_jw_close(&w, '}');
    sp_puts(out, "\n");
    sp_jw_free(&w);
}
