/* spaa config: the settings, and where each comes from. */
#include "config.h"
#include "inside.h"

#include "run/heading.h"
#include "run/run.h"

#include <stdlib.h>

static const char *in_effect(const struct config *x, const struct config_key *key, const char **from,
                             unsigned *line)
{
    const struct config_setting *s = config_of(x, key);
    *from = s ? s->file : NULL;
    *line = s ? s->line : 0;
    return s ? s->value : NULL;
}

static void config_json_file(struct sp_jw *w, const char *key, const char *path, bool is_read)
{
    sp_jw_open(w, key, '{');
    if (path)
        sp_jw_cstr(w, "path", path);
    else
        sp_jw_null(w, "path");
    sp_jw_bool(w, "read", is_read);
    sp_jw_close(w, '}');
}

static int config_json(struct sp_run *run, const struct config *x)
{
    struct sp_jw w;
    const char *from;
    unsigned line;
    sp_jw_init(&w, run->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.config/1");
    config_json_file(&w, "project", x->project, x->has_project);
    config_json_file(&w, "user", x->user, x->has_user);
    sp_jw_open(&w, "settings", '[');
    for (const struct config_key *k = config_keys; k->name; k++) {
        const char *value = in_effect(x, k, &from, &line);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "name", k->name);
        if (value) {
            sp_jw_cstr(&w, "value", value);
            sp_jw_cstr(&w, "file", from);
            sp_jw_u64(&w, "line", line);
        } else {
            sp_jw_null(&w, "value");
        }
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_run_json_close(run, &w);
    return SP_EXIT_FINE;
}

static int config_rows(struct sp_run *run, const struct config *x)
{
    static const struct sp_table_column columns[] = {{"setting", false, SP_CUT_NEVER},
                                                     {"value", false, SP_CUT_FIRST},
                                                     {"from", false, SP_CUT_FIRST},
                                                     {"what it is", false, SP_CUT_LAST}};
    struct sp_table t;
    const char *from;
    unsigned line;
    sp_table_init(&t, columns, 4);
    for (const struct config_key *k = config_keys; k->name; k++) {
        const char *value = in_effect(x, k, &from, &line);
        sp_table_cell(&t, k->name, strlen(k->name));
        sp_table_cell(&t, value ? value : "-", value ? strlen(value) : 1);
        if (from)
            sp_table_printf(&t, "%s:%u", from, line);
        else
            sp_table_cell(&t, "-", 1);
        sp_table_cell(&t, k->what, strlen(k->what));
    }
    int rc = sp_run_table_write(run, &t);
    sp_table_free(&t);
    return rc;
}

int cmd_config(void *cli, struct sp_run *run)
{
    struct config x;
    if (run->files.n)
        return sp_run_usage(run, "spaa config", "config takes no files");
    int rc = config_read(cli, &x);
    if (!rc)
        rc = sp_run_stdout(run);
    if (!rc)
        rc = run->form == SP_FORM_JSON ? config_json(run, &x) : config_rows(run, &x);
    config_free(&x);
    return rc;
}
