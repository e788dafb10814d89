/* spaa merge: one profile of many. */
#include "cli.h"

#include "formats/files.h"

#include <stdlib.h>

/* Paths of --files-from behind the named ones; *list holds them and is the caller's to free. */
static spaa_status more_files(struct cli *c, char **list)
{
    const unsigned char *p;
    struct sp_input *in = NULL;
    size_t n = 0;
    const char *path = c->v.files_from;
    sp_diags_source(&c->diags, strcmp(path, "-") == 0 ? "<stdin>" : path, NULL);
    spaa_status st = sp_input_open(path, &c->diags, &in);
    if (!st)
        st = sp_input_whole(in, &p, &n);
    if (!st)
        st = sp_input_failed(in);
    if (!st && !(*list = malloc(n + 1)))
        st = sp_nomem(&c->diags);
    if (!st) {
        memcpy(*list, p, n);
        (*list)[n] = '\0';
    }
    sp_input_close(in);
    sp_diags_source(&c->diags, NULL, NULL);
    if (st)
        return st;
    char separator = memchr(*list, '\0', n) ? '\0' : '\n';
    for (char *at = *list, *end = *list + n; at < end; at++) {
        char *stop = memchr(at, separator, (size_t)(end - at));
        stop = stop ? stop : end;
        if (separator == '\0' && stop == end && memchr(at, '\n', (size_t)(end - at))) {
            sp_emit(&c->diags, SP_E621, SP_AT((uint64_t)(at - *list)), "NUL bytes first, then lines");
            return SPAA_ERR_INPUT;
        }
        *stop = '\0';
        if (*at && !sp_vec_push(&c->files, at))
            return sp_nomem(&c->diags);
        at = stop;
    }
    return SPAA_OK;
}

static int cmd_merge_merge(struct cli *c, const struct spaa_format *to)
{
    struct sp_files_opts how = {.skip_bad = c->v.skip_bad != NULL};
    struct sp_write_opts w;
    if (!cli_read_opts(c, &how.read))
        return EXIT_USAGE;
    how.merge = (struct sp_merge_opts){.frames = c->v.frames ? how.read.frames : SP_FRAMES_FOREIGN,
                                       .group_by = c->v.group_by ? how.read.group_by : ~0u,
                                       .canonical = true,
                                       .samples = c->v.samples != NULL};
    spaa_status st = cli_read_all(c, &how);
    if (st && st != SPAA_ERR_USAGE && st != SPAA_ERR_NOMEM && !how.skip_bad && c->files.n > 1)
        sp_emit(&c->diags, SP_I628, SP_AT_NOTHING, "--skip-bad leaves out inputs that cannot be read");
    int rc = st ? cli_exit_of(st) : cli_check_own(c, to);
    if (rc)
        return rc;
    if (c->v.strict && sp_diags_count(&c->diags, SP_LOSS))
        return EXIT_IO;
    st = cli_write_opts(c, &w);
    if (!st)
        st = cli_write(c, to, &w);
    return cli_exit_of(st);
}

int sp_cmd_merge(struct cli *c)
{
    const struct spaa_format *to = NULL;
    char *list = NULL;
    spaa_status st = c->v.files_from ? more_files(c, &list) : SPAA_OK;
    int rc = cli_exit_of(st);
    if (!st && !c->files.n)
        rc = cli_usage(c, "name them, or list them in a file: --files-from FILE", "merge needs inputs");
    else if (!st && !c->v.output && !c->v.to)
        rc = cli_usage(c, "for example: spaa merge a.spaa b.spaa -o all.spaa",
                       "merge needs an output: -o FILE");
    if (!rc) {
        c->v.output = c->v.output ? c->v.output : "-";
        rc = sp_output_format(c->v.output, c->v.to, &c->diags, &to) ? EXIT_USAGE : cmd_merge_merge(c, to);
    }
    c->files.n = list ? 0 : c->files.n; /* some stand in the list */
    free(list);
    return rc;
}
