/* spaa formats: what there is. */
#include "run/fold.h"
#include "run/heading.h"

#include "answer/text.h"
#include "formats/open.h"

#include <stdio.h>
#include <string.h>

static void json_format(struct sp_jw *w, const struct spaa_format *f)
{
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "name", f->name);
    sp_jw_cstr(w, "title", f->title);
    sp_jw_bool(w, "read", f->caps & SP_CAN_READ);
    sp_jw_bool(w, "write", f->caps & SP_CAN_WRITE);
    sp_jw_bool(w, "validate", f->caps & SP_CAN_VALIDATE);
    sp_jw_bool(w, "dump", f->caps & SP_CAN_DUMP);
    sp_jw_cstr(w, "extensions", f->extensions);
    sp_jw_cstr(w, "media_type", f->media_type);
    sp_jw_cstr(w, "comes_back", f->comes_back);
    sp_jw_open(w, "options", '[');
    for (const struct sp_format_option *o = f->options; o && o->name; o++) {
        sp_jw_open(w, NULL, '{');
        sp_jw_cstr(w, "name", o->name);
        sp_jw_cstr(w, "value", o->value);
        sp_jw_cstr(w, "help", o->help);
        sp_jw_bool(w, "read", o->when & SP_CAN_READ);
        sp_jw_bool(w, "write", o->when & SP_CAN_WRITE);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
    sp_jw_open(w, "sections", '[');
    for (const struct sp_dump_section *s = f->sections; s && s->name; s++)
        sp_jw_cstr(w, NULL, s->name);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

static int one_format(struct sp_run *run, const struct spaa_format *f)
{
    sp_printf(run->out, "%s — %s\n\n", f->name, f->title);
    sp_printf(run->out, "  can           %s%s%s%s\n", f->caps & SP_CAN_READ ? " read" : "",
              f->caps & SP_CAN_WRITE ? " write" : "", f->caps & SP_CAN_VALIDATE ? " validate" : "",
              f->caps & SP_CAN_DUMP ? " dump" : "");
    sp_printf(run->out, "  extensions     %s\n", f->extensions);
    sp_printf(run->out, "  comes back     %s%s\n",
              strcmp(f->name, "spaa") == 0 ? "" : "with --lossless the same bytes; without: ", f->comes_back);
    if (f->sections && f->sections->name)
        sp_puts(run->out, "\nsections of `spaa dump`\n");
    for (const struct sp_dump_section *s = f->sections; s && s->name; s++)
        sp_printf(run->out, "  %-24s %s\n", s->name, s->help);
    if (f->options && f->options->name)
        sp_puts(run->out, "\noptions of its own\n");
    for (const struct sp_format_option *o = f->options; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        int pad = 24 - (int)sp_text_width(left, strlen(left));
        sp_printf(run->out, "  %s%*s %-8s %s\n", left, pad > 0 ? pad : 0, "",
                  o->when == SP_CAN_READ    ? "(read)"
                  : o->when == SP_CAN_WRITE ? "(write)"
                                            : "",
                  o->help);
    }
    return SP_EXIT_FINE;
}

static int all_formats(struct sp_run *run)
{
    static const struct sp_table_column columns[] = {
        {"format", false, SP_CUT_NEVER},     {"read", false, SP_CUT_NEVER},
        {"write", false, SP_CUT_NEVER},      {"validate", false, SP_CUT_OUT},
        {"extensions", false, SP_CUT_FIRST}, {"what it is", false, SP_CUT_LAST}};
    struct sp_table t;
    sp_table_init(&t, columns, 6);
    for (size_t i = 0; spaa_formats[i]; i++) {
        const struct spaa_format *f = spaa_formats[i];
        sp_table_printf(&t, "%s", f->name);
        sp_table_printf(&t, "%s", f->caps & SP_CAN_READ ? "yes" : "-");
        sp_table_printf(&t, "%s", f->caps & SP_CAN_WRITE ? "yes" : "-");
        sp_table_printf(&t, "%s", f->caps & SP_CAN_VALIDATE ? "yes" : "-");
        sp_table_printf(&t, "%s", f->extensions);
        sp_table_printf(&t, "%s", f->title);
    }
    int rc = sp_run_table_write(run, &t);
    if (!rc && run->form == SP_FORM_TEXT)
        sp_puts(run->out, "spaa formats NAME shows what comes back and the format's own options\n");
    sp_table_free(&t);
    return rc;
}

int sp_cmd_formats(struct sp_run *run)
{
    const struct spaa_format *f = NULL;
    if (run->files.n) {
        f = sp_named_format(run->files.v[0], 0, run->diags);
        if (!f)
            return SP_EXIT_USAGE;
    }
    int rc = sp_run_stdout(run);
    if (rc)
        return rc;
    if (run->form == SP_FORM_JSON) {
        struct sp_jw w;
        sp_jw_init(&w, run->out);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "schema", "spaa.formats/1");
        sp_jw_open(&w, "formats", '[');
        for (size_t i = 0; spaa_formats[i]; i++)
            if (!f || f == spaa_formats[i])
                json_format(&w, spaa_formats[i]);
        sp_jw_close(&w, ']');
        sp_run_json_close(run, &w);
        return SP_EXIT_FINE;
    }
    if (!f)
        return all_formats(run);
    struct sp_output *kept;
    rc = sp_run_fold_begin(run, &kept);
    return sp_run_fold_end(run, kept, rc ? rc : one_format(run, f));
}
