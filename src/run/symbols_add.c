/* spaa symbols add: what a recording needs, a binary or debug file itself, or an archive of another store. */
#include "run/symbols.h"

#include "io/file.h"
#include "io/tar.h"

#include <unistd.h>

/* One that was found. */
static spaa_status add_found(struct sp_run *run, const char *store, struct symbols_file *file)
{
    int fd = sp_file_open(file->path, &file->bytes);
    spaa_status st = SPAA_OK;
    if (fd < 0) {
        file->status = SYMBOLS_MISSING;
        file->why = "it is not there any more";
        file->hint = "";
        return st;
    }
    st = sp_run_symbols_put(run, store, fd, file);
    close(fd);
    if (!st && file->status <= SYMBOLS_THERE)
        st = sp_run_symbols_put_name(run, store, file->id, file->name);
    return st;
}

static spaa_status add_recording(struct sp_run *run, const char *store, const char *path,
                                 struct symbols_files *out)
{
    struct symbols_files need = {0};
    sp_arena_init(&need.arena, 0);
    spaa_status st = sp_run_symbols_gather(run, path, &need);
    for (size_t i = 0; i < need.v.n && !st; i++) {
        struct symbols_file *f = &need.v.v[i];
        if (f->path)
            st = add_found(run, store, f);
        if (!st)
            st = sp_run_symbols_files_add(run, out, f);
    }
    sp_run_symbols_files_free(&need);
    return st;
}

/* A binary or debug file that was named; *is false: it is something else. */
static spaa_status add_binary(struct sp_run *run, const char *store, const char *path, bool *is,
                              struct symbols_files *out)
{
    struct sp_store_file f;
    struct symbols_file file = {.name = path, .path = path, .status = SYMBOLS_REFUSED, .hint = ""};
    int fd = sp_file_open(path, &file.bytes);
    *is = false;
    if (fd < 0)
        return SPAA_OK; /* whoever opens it as a recording says why */
    spaa_status st = sp_store_judge(fd, NULL, NULL, run->diags, &f, &file.why);
    *is = !st && (!file.why || f.binary);
    if (!st && *is) {
        file.id = f.id[0] ? f.id : NULL;
        memcpy(file.part, f.part, sizeof file.part);
        st = file.why ? SPAA_OK : sp_run_symbols_put(run, store, fd, &file);
    }
    close(fd);
    if (!st && *is && file.status <= SYMBOLS_THERE)
        st = sp_run_symbols_put_name(run, store, file.id, path);
    if (!st && *is)
        st = sp_run_symbols_files_add(run, out, &file);
    return st;
}

static spaa_status add_archive(struct sp_run *run, const char *store, const char *path, bool *is,
                               struct symbols_files *out)
{
    struct sp_input *in = NULL;
    *is = false;
    sp_diags_source(run->diags, path, NULL);
    spaa_status st = sp_input_open(path, run->diags, &in);
    if (!st)
        st = sp_tar_is(in, is);
    if (!st && *is)
        st = sp_run_symbols_unpack(run, store, in, out);
    sp_input_close(in);
    sp_diags_source(run->diags, NULL, NULL);
    return st;
}

int sp_run_symbols_add(struct sp_run *run, const char *store)
{
    struct symbols_files done = {0};
    spaa_status st = SPAA_OK;
    sp_arena_init(&done.arena, 0);
    for (size_t i = 1; i < run->files.n && !st; i++) {
        const char *path = run->files.v[i];
        bool is = false, standard = strcmp(path, "-") == 0; /* of a stream only a recording is read */
        if (!standard)
            st = add_binary(run, store, path, &is, &done);
        if (!st && !is && !standard)
            st = add_archive(run, store, path, &is, &done);
        if (!st && !is)
            st = add_recording(run, store, path, &done);
    }
    int rc = st ? sp_run_exit(run, st) : sp_run_symbols_answer(run, &done, store, NULL);
    sp_run_symbols_files_free(&done);
    return rc;
}
