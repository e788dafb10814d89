/* spaa validate: is it valid? */
#include "answer.h"

#include "formats/open.h"
#include "io/input.h"

#include <stdio.h>

struct verdict {
    uint64_t errors, warnings;
    bool unreadable;
};

/* `asked`: the format of --from, or NULL. */
static spaa_status check(const char *path, const struct spaa_format *asked, struct sp_diags *d, bool *opened)
{
    struct sp_input *in = NULL;
    const char *reason, *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    sp_diags_source(d, name, NULL);
    spaa_status st = sp_input_open(path, d, &in);
    *opened = !st;
    if (st)
        return st;
    const struct spaa_format *f = asked ? asked : sp_format_probe(in, &reason);
    if (!f) /* what a validator is asked about is meant to be SPAA, however broken */
        f = sp_format_by_name("spaa");
    if (!f->validate) {
        sp_emit_hint(d, SP_E009, SP_AT_NOTHING,
                     "`spaa formats` shows which can be; `spaa info` reads this one",
                     "%s files cannot be validated", f->name);
        sp_input_close(in);
        return SPAA_ERR_UNSUPPORTED;
    }
    sp_diags_source(d, name, f->name);
    st = f->validate(in, d);
    if (!st)
        st = sp_input_failed(in);
    sp_input_close(in);
    return st;
}

static void count(const struct sp_diags *d, struct verdict *v)
{
    v->errors += sp_diags_count(d, SP_ERROR);
    v->warnings += sp_diags_count(d, SP_WARNING) - sp_diags_count(d, SP_ERROR);
}

static void json_findings(struct sp_jw *w, const struct sp_diags *d)
{
    for (size_t i = 0; i < d->list.n; i++)
        answer_diag(w, &d->list.v[i]);
}

static int answer(struct cli *c, const struct verdict *v)
{
    bool valid = !v->errors && !(c->v.strict && v->warnings);
    if (c->format == FORMAT_JSON) {
        struct sp_jw w;
        sp_jw_init(&w, c->out);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "schema", "spaa.validate/1");
        sp_jw_bool(&w, "valid", valid);
        sp_jw_u64(&w, "errors", v->errors);
        sp_jw_u64(&w, "warnings", v->warnings);
        sp_jw_open(&w, "findings", '[');
        json_findings(&w, &c->diags);
        sp_jw_close(&w, ']');
        sp_jw_close(&w, '}');
        sp_puts(c->out, "\n");
        sp_jw_free(&w);
        sp_diags_free(&c->diags); /* they are the answer, not to be said twice */
    } else {
        sp_printf(c->out, "%s: %llu error%s, %llu warning%s\n", valid ? "valid" : "invalid",
                  (unsigned long long)v->errors, v->errors == 1 ? "" : "s", (unsigned long long)v->warnings,
                  v->warnings == 1 ? "" : "s");
    }
    return v->unreadable ? EXIT_IO : valid ? EXIT_FINE : EXIT_NO;
}

int sp_cmd_validate(struct cli *c)
{
    struct verdict v = {0};
    if (!c->files.n)
        return cli_usage(c, NULL, "validate needs a file");
    const struct spaa_format *asked =
        c->v.from ? sp_named_format(c->v.from, SP_CAN_VALIDATE, &c->diags) : NULL;
    if (c->v.from && !asked)
        return EXIT_USAGE;
    for (size_t i = 0; i < c->files.n; i++) {
        bool opened;
        spaa_status st = check(c->files.v[i], asked, &c->diags, &opened);
        v.unreadable = v.unreadable || st;
        if (!opened || st == SPAA_ERR_NOMEM || st == SPAA_ERR_UNSUPPORTED)
            return EXIT_IO;
    }
    sp_diags_source(&c->diags, NULL, NULL);
    count(&c->diags, &v);
    int rc = cli_stdout(c);
    if (rc)
        return rc;
    rc = answer(c, &v);
    c->v.strict = NULL; /* here it is about warnings, not about the exit code of a loss */
    return rc;
}
