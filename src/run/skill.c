/*
 * spaa skill: the texts that tell agents how to use the tool (guide/guide.h): shown, or installed as a folder
 * in which agents look for skills.
 */
#include "run/place.h"

#include "base/buf.h"
#include "guide/guide.h"

#include <stdio.h>

/* The text of that name, NULL being the first; an exit code. */
static int guide_text_find(struct sp_run *run, const char *asked, const struct sp_guide_text **out)
{
    char names[512] = "there are ";
    *out = asked ? sp_guide_find(asked) : sp_guide_texts;
    for (const struct sp_guide_text *t = sp_guide_texts; !*out && t->name; t++) {
        size_t n, at = strlen(names);
        const char *name = sp_guide_short(t, &n);
        snprintf(names + at, sizeof names - at, "%s%.*s", t == sp_guide_texts ? "" : ", ", (int)n, name);
    }
    return *out ? SP_EXIT_FINE : sp_run_usage(run, names, "the skill has no text \"%s\"", asked);
}

static int skill_show(struct sp_run *run, const char *asked)
{
    const struct sp_guide_text *t = NULL;
    int rc = guide_text_find(run, asked, &t);
    if (!rc)
        rc = sp_run_stdout(run);
    if (!rc)
        sp_write(run->out, t->text, t->n);
    return rc;
}

static int skill_install(struct sp_run *run, const char *folder)
{
    struct sp_buf path;
    int rc = sp_run_stdout(run);
    spaa_status st = SPAA_OK;
    sp_buf_init(&path, 0);
    for (const struct sp_guide_text *t = sp_guide_texts; !rc && !st && t->name; t++) {
        sp_buf_clear(&path);
        sp_buf_printf(&path, "%s/spaa/%s", folder, t->name);
        st = path.failed ? sp_nomem(run->diags) : sp_run_place(run, path.data, t->text, t->n);
    }
    sp_buf_free(&path);
    return rc ? rc : sp_run_exit(run, st);
}

int sp_cmd_skill(struct sp_run *run)
{
    const char *folder = run->v.install;
    if (run->files.n > (folder ? 0 : 1))
        return sp_run_usage(run, "spaa skill [NAME], or spaa skill --install DIR",
                            folder ? "skill --install takes no text: it writes all" : "skill shows one text");
    if (folder && !*folder)
        return sp_run_usage(run, "spaa skill --install DIR", "--install needs a folder");
    return folder ? skill_install(run, folder) : skill_show(run, run->files.n ? run->files.v[0] : NULL);
}
