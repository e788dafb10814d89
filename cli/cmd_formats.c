/* spaa formats, spaa help: what there is. */
#include "answer.h"
#include "declarations.h"

#include "formats/open.h"
#include "render/text.h"

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

static int one_format(struct cli *c, const struct spaa_format *f)
{
    sp_printf(c->out, "%s — %s\n\n", f->name, f->title);
    sp_printf(c->out, "  can           %s%s%s%s\n", f->caps & SP_CAN_READ ? " read" : "",
              f->caps & SP_CAN_WRITE ? " write" : "", f->caps & SP_CAN_VALIDATE ? " validate" : "",
              f->caps & SP_CAN_DUMP ? " dump" : "");
    sp_printf(c->out, "  extensions     %s\n", f->extensions);
    sp_printf(c->out, "  comes back     %s%s\n",
              strcmp(f->name, "spaa") == 0 ? "" : "with --lossless the same bytes; without: ", f->comes_back);
    if (f->sections && f->sections->name)
        sp_puts(c->out, "\nsections of `spaa dump`\n");
    for (const struct sp_dump_section *s = f->sections; s && s->name; s++)
        sp_printf(c->out, "  %-24s %s\n", s->name, s->help);
    if (f->options && f->options->name)
        sp_puts(c->out, "\noptions of its own\n");
    for (const struct sp_format_option *o = f->options; o && o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        int pad = 24 - (int)sp_text_width(left, strlen(left));
        sp_printf(c->out, "  %s%*s %-8s %s\n", left, pad > 0 ? pad : 0, "",
                  o->when == SP_CAN_READ    ? "(read)"
                  : o->when == SP_CAN_WRITE ? "(write)"
                                            : "",
                  o->help);
    }
    return EXIT_FINE;
}

static int all_formats(struct cli *c)
{
    static const struct sp_table_column columns[] = {
        {"format", false, false},   {"read", false, false},       {"write", false, false},
        {"validate", false, false}, {"extensions", false, false}, {"what it is", false, true}};
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
    int rc = answer_table(c, &t);
    if (!rc && c->format == FORMAT_TABLE)
        sp_puts(c->out, "spaa formats NAME shows what comes back and the format's own options\n");
    sp_table_free(&t);
    return rc;
}

int sp_cmd_formats(struct cli *c)
{
    const struct spaa_format *f = NULL;
    if (c->files.n) {
        f = sp_named_format(c->files.v[0], 0, &c->diags);
        if (!f)
            return EXIT_USAGE;
    }
    int rc = cli_stdout(c);
    if (rc)
        return rc;
    if (c->format == FORMAT_JSON) {
        struct sp_jw w;
        sp_jw_init(&w, c->out);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "schema", "spaa.formats/1");
        sp_jw_open(&w, "formats", '[');
        for (size_t i = 0; spaa_formats[i]; i++)
            if (!f || f == spaa_formats[i])
                json_format(&w, spaa_formats[i]);
        sp_jw_close(&w, ']');
        answer_close(c, &w);
        return EXIT_FINE;
    }
    return f ? one_format(c, f) : all_formats(c);
}

int sp_cmd_help(struct cli *c)
{
    const struct cli_command *found = NULL;
    const char *names[64];
    char near[256];
    size_t n = 0;
    for (const struct cli_command *x = cli_commands(); x->name; x++) {
        if (n < 63)
            names[n++] = x->name;
        if (c->files.n && strcmp(x->name, c->files.v[0]) == 0)
            found = x;
    }
    names[n] = NULL;
    if (c->files.n && !found) {
        cli_nearest(c->files.v[0], names, near, sizeof near);
        return cli_usage(c, *near ? near : "`spaa help` lists them", "there is no command %s", c->files.v[0]);
    }
    int rc = cli_stdout(c);
    if (!rc && c->v.json)
        cli_declarations(c->out);
    else if (!rc)
        cli_help(found, c->out);
    return rc;
}
