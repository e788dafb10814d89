/* spaa merge: one profile of many. */
#include "run/run.h"

#include "formats/files.h"

#include <stdlib.h>

/* Paths of --files-from behind the named ones; *list holds them and is the caller's to free. */
static spaa_status more_files(struct sp_run *run, char **list)
{
    const unsigned char *p;
    struct sp_input *in = NULL;
    size_t n = 0;
    const char *path = run->v.files_from;
    sp_diags_source(run->diags, strcmp(path, "-") == 0 ? "<stdin>" : path, NULL);
    spaa_status st = sp_input_open(path, run->diags, &in);
    if (!st)
        st = sp_input_whole(in, &p, &n);
    if (!st)
        st = sp_input_failed(in);
    if (!st && !(*list = malloc(n + 1)))
        st = sp_nomem(run->diags);
    if (!st) {
        memcpy(*list, p, n);
        (*list)[n] = '\0';
    }
    sp_input_close(in);
    sp_diags_source(run->diags, NULL, NULL);
    if (st)
        return st;
    char separator = memchr(*list, '\0', n) ? '\0' : '\n';
    for (char *at = *list, *end = *list + n; at < end; at++) {
        char *stop = memchr(at, separator, (size_t)(end - at));
        stop = stop ? stop : end;
        if (separator == '\0' && stop == end && memchr(at, '\n', (size_t)(end - at))) {
            sp_emit(run->diags, SP_E621, SP_AT((uint64_t)(at - *list)), "NUL bytes first, then lines");
            return SPAA_ERR_INPUT;
        }
        *stop = '\0';
        if (*at && !sp_vec_push(&run->files, at))
            return sp_nomem(run->diags);
        at = stop;
    }
    return SPAA_OK;
}

static int cmd_merge_merge(struct sp_run *run, const struct spaa_format *to)
{
    struct sp_files_opts how = {.skip_bad = run->v.skip_bad != NULL};
    struct sp_write_opts w;
    spaa_status st = sp_run_read_opts(run, &how.read);
    if (st)
        return sp_run_exit(run, st);
    how.merge = (struct sp_merge_opts){.frames = run->v.frames ? how.read.frames : SP_FRAMES_FOREIGN,
                                       .group_by = run->v.group_by ? how.read.group_by : ~0u,
                                       .canonical = true,
                                       .samples = run->v.samples != NULL};
    st = sp_run_read_all(run, &how);
    if (st && st != SPAA_ERR_USAGE && st != SPAA_ERR_NOMEM && !how.skip_bad && run->files.n > 1)
        sp_emit(run->diags, SP_I628, SP_AT_NOTHING, "--skip-bad leaves out inputs that cannot be read");
    int rc = st ? sp_run_exit(run, st) : sp_run_check_own(run, to);
    if (rc)
        return rc;
    if (run->v.strict && sp_diags_count(run->diags, SP_LOSS))
        return SP_EXIT_IO;
    st = sp_run_write_opts(run, &w);
    if (!st)
        st = sp_run_write(run, to, &w);
    return sp_run_exit(run, st);
}

int sp_cmd_merge(struct sp_run *run)
{
    const struct spaa_format *to = NULL;
    char *list = NULL;
    spaa_status st = run->v.files_from ? more_files(run, &list) : SPAA_OK;
    int rc = sp_run_exit(run, st);
    if (!st && !run->files.n)
        rc = sp_run_usage(run, "name them, or list them in a file: --files-from FILE", "merge needs inputs");
    else if (!st && !run->v.output && !run->v.to)
        rc = sp_run_usage(run, "for example: spaa merge a.spaa b.spaa -o all.spaa",
                          "merge needs an output: -o FILE");
    if (!rc) {
        run->v.output = run->v.output ? run->v.output : "-";
        rc = sp_output_format(run->v.output, run->v.to, run->diags, &to) ? SP_EXIT_USAGE
                                                                         : cmd_merge_merge(run, to);
    }
    run->files.n = list ? 0 : run->files.n; /* some stand in the list */
    free(list);
    return rc;
}
