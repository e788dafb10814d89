/*
 * spaa skill: the texts that tell agents how to use the tool (guide/guide.h): shown, or installed as a folder
 * in which agents look for skills.
 */
#include "run/run.h"

#include "base/buf.h"
#include "guide/guide.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

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

/* Makes the folders above the last slash of a path, those that are missing. */
static spaa_status folders_above(struct sp_run *run, char *path)
{
    struct stat st;
    for (char *p = path + (*path == '/'); (p = strchr(p, '/')); p++) {
        *p = '\0';
        int error = mkdir(path, 0777) == 0 ? 0 : errno;
        if (error == EEXIST)
            error = stat(path, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
        if (error)
            sp_emit(run->diags, SP_E020, SP_AT_NOTHING, "%s: %s", path, strerror(error));
        *p = '/';
        if (error)
            return SPAA_ERR_IO;
    }
    return SPAA_OK;
}

/* The file appears when it is complete; one of its name is replaced, which the answer says. */
static spaa_status skill_write(struct sp_run *run, const struct sp_guide_text *t, char *path)
{
    struct sp_output *out = NULL;
    struct stat before;
    spaa_status st = folders_above(run, path);
    bool there = !st && stat(path, &before) == 0;
    st = st ? st : sp_run_output_open(run, path, &out);
    if (!st) {
        sp_write(out, t->text, t->n);
        st = sp_output_commit(out);
    }
    sp_run_output_close(run, out);
    if (!st)
        sp_printf(run->out, "%s %s\n", there ? "replaced" : "wrote   ", path);
    return st;
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
        st = path.failed ? sp_nomem(run->diags) : skill_write(run, t, path.data);
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
