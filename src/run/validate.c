/* spaa validate: is it valid? */
#include "run/heading.h"

#include "formats/open.h"
#include "io/input.h"
#include "render/diag_json.h"
#include "run/walk.h"

#include <stdio.h>
#include <sys/stat.h>

struct verdict {
    uint64_t errors, warnings, files, passed_over;
    bool unreadable, several;
};

/* What a file found in a folder is checked as; NULL: it is not ours to check. */
static const struct spaa_format *found_format(const char *path, const struct spaa_format *probed)
{
    const struct spaa_format *named = sp_format_by_path(path);
    if (probed && probed->validate)
        return probed;
    return named && named->validate ? named : NULL;
}

/* `asked`: the format of --from, or NULL. `walked`: found in a folder, *taken false where it is not checked.
 */
static spaa_status cmd_validate_check(const char *path, const struct spaa_format *asked, bool walked,
                                      unsigned jobs, struct sp_diags *d, bool *taken)
{
    struct sp_input *in = NULL;
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    sp_diags_source(d, name, NULL);
    spaa_status st = sp_input_open(path, d, &in);
    *taken = true;
    if (st)
        return st;
    sp_input_set_jobs(in, jobs);
    const struct spaa_format *f = asked    ? asked
                                  : walked ? found_format(path, sp_format_probe(in, NULL))
                                           : sp_validated_format(in, path, d);
    if (!f) {
        *taken = !walked;
        st = walked ? SPAA_OK : sp_input_failed(in);
        sp_input_close(in);
        return st;
    }
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

/* One file into the verdict; its findings are bounded apart from those of others. */
static spaa_status cmd_validate_judge(struct sp_run *run, const char *path, const struct spaa_format *asked,
                                      bool walked, struct verdict *v)
{
    struct sp_diags own;
    bool taken;
    sp_diags_init(&own);
    own.per_code = run->diags->per_code ? run->diags->per_code : own.per_code;
    spaa_status st = cmd_validate_check(path, asked, walked, sp_run_jobs(run), &own, &taken);
    sp_diags_merge(run->diags, &own);
    sp_diags_free(&own);
    v->files += taken;
    v->passed_over += !taken;
    v->unreadable = v->unreadable || st;
    return st;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static spaa_status judge_folder(struct sp_run *run, const char *path, const struct spaa_format *asked,
                                struct verdict *v)
{
    struct walk w;
    spaa_status st = sp_walk_folder(path, run->diags, &w);
    v->unreadable = v->unreadable || st || w.failed;
    for (size_t i = 0; st != SPAA_ERR_NOMEM && i < w.paths.n; i++)
        st = cmd_validate_judge(run, w.paths.v[i], asked, true, v);
    sp_walk_free(&w);
    return st == SPAA_ERR_NOMEM ? st : SPAA_OK;
}

static void cmd_validate_count(const struct sp_diags *d, struct verdict *v)
{
    v->errors += sp_diags_count(d, SP_ERROR);
    v->warnings += sp_diags_count(d, SP_WARNING) - sp_diags_count(d, SP_ERROR);
}

static void cmd_validate_json_findings(struct sp_jw *w, const struct sp_diags *d)
{
    for (size_t i = 0; i < d->list.n; i++)
        sp_diag_json(w, &d->list.v[i]);
}

static int cmd_validate_answer(struct sp_run *run, const struct verdict *v)
{
    bool valid = !v->errors && !(run->v.strict && v->warnings);
    if (run->form == SP_FORM_JSON) {
        struct sp_jw w;
        sp_jw_init(&w, run->out);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "schema", "spaa.validate/1");
        sp_jw_bool(&w, "valid", valid);
        sp_jw_u64(&w, "errors", v->errors);
        sp_jw_u64(&w, "warnings", v->warnings);
        if (v->several)
            sp_jw_u64(&w, "files", v->files);
        sp_jw_open(&w, "findings", '[');
        cmd_validate_json_findings(&w, run->diags);
        sp_jw_close(&w, ']');
        sp_jw_close(&w, '}');
        sp_puts(run->out, "\n");
        sp_jw_free(&w);
        sp_diags_free(run->diags); /* they are the answer, not to be said twice */
    } else {
        sp_printf(run->out, "%s: %llu error%s, %llu warning%s", valid ? "valid" : "invalid",
                  (unsigned long long)v->errors, v->errors == 1 ? "" : "s", (unsigned long long)v->warnings,
                  v->warnings == 1 ? "" : "s");
        if (v->several)
            sp_printf(run->out, " in %llu files", (unsigned long long)v->files);
        sp_puts(run->out, "\n");
    }
    return v->unreadable ? SP_EXIT_IO : valid ? SP_EXIT_FINE : SP_EXIT_NO;
}

int sp_cmd_validate(struct sp_run *run)
{
    struct verdict v = {0};
    if (!run->files.n)
        return sp_run_usage(run, NULL, "validate needs a file");
    const struct spaa_format *asked =
        run->v.from ? sp_named_format(run->v.from, SP_CAN_VALIDATE, run->diags) : NULL;
    if (run->v.from && !asked)
        return SP_EXIT_USAGE;
    v.several = run->files.n > 1 || is_folder(run->files.v[0]);
    if (v.several)
        run->diags->per_code = 0; /* they are bounded per file */
    for (size_t i = 0; i < run->files.n; i++) {
        const char *path = run->files.v[i];
        spaa_status st = is_folder(path) ? judge_folder(run, path, asked, &v)
                                         : cmd_validate_judge(run, path, asked, false, &v);
        if (st == SPAA_ERR_NOMEM || (!v.several && st && st != SPAA_ERR_INPUT && st != SPAA_ERR_LIMIT))
            return SP_EXIT_IO;
    }
    if (v.passed_over)
        sp_emit(run->diags, SP_I627, SP_AT_NOTHING, "%llu of no format that can be validated",
                (unsigned long long)v.passed_over);
    if (!v.files && !v.unreadable) {
        sp_emit_hint(run->diags, SP_E011, SP_AT_NOTHING, "name the file to have it checked whatever it is",
                     "the directory %s holds no file of a format that can be validated", run->files.v[0]);
        return SP_EXIT_IO;
    }
    cmd_validate_count(run->diags, &v);
    int rc = sp_run_stdout(run);
    if (rc)
        return rc;
    rc = cmd_validate_answer(run, &v);
    run->v.strict = NULL; /* here it is about warnings, not about the exit code of a loss */
    return rc;
}
