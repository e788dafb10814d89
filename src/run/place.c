#include "run/place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

spaa_status sp_run_folders(struct sp_run *run, char *path)
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

spaa_status sp_run_place(struct sp_run *run, char *path, const void *data, size_t n)
{
    struct sp_output *out = NULL;
    struct stat before;
    spaa_status st = sp_run_folders(run, path);
    bool there = !st && stat(path, &before) == 0;
    st = st ? st : sp_run_output_open(run, path, &out);
    if (!st) {
        sp_write(out, data, n);
        st = sp_output_commit(out);
    }
    sp_run_output_close(run, out);
    if (!st)
        sp_printf(run->out, "%s %s\n", there ? "replaced" : "wrote   ", path);
    return st;
}
