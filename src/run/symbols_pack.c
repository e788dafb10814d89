/* spaa symbols pack: the files that a recording needs as an archive in the layout of a store. */
#include "run/symbols.h"

#include "io/file.h"
#include "io/tar.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_ROOM 200 /* .build-id/ab/cdef… and the part */

static bool pack_name(const struct symbols_file *f, const char *part, char out[static NAME_ROOM])
{
    int n = snprintf(out, NAME_ROOM, ".build-id/%.2s/%s%s", f->id, f->id + 2, part);
    return n > 0 && n < NAME_ROOM;
}

/* When a file was written, by which sources are older or newer; 0: not known, as of files of /proc. */
static int64_t pack_time(int fd, const char *path, const char *text)
{
    struct stat is;
    return !text && !sp_store_is_undated(path) && fstat(fd, &is) == 0 ? is.st_mtim.tv_sec : 0;
}

/* One that was found, and is what it should be. */
static spaa_status pack_file(struct sp_run *run, struct symbols_file *f, struct sp_output *out)
{
    struct sp_store_file is;
    char name[NAME_ROOM];
    int fd = sp_file_open(f->path, &f->bytes);
    spaa_status st = SPAA_OK;
    f->status = SYMBOLS_REFUSED;
    f->why = "it is not there any more";
    f->hint = "";
    if (fd < 0)
        return SPAA_OK;
    char *text = NULL; /* of /proc, which does not say how long it is */
    size_t n = 0;
    if (!f->bytes) {
        st = sp_file_slurp(f->path, (size_t)256 << 20, run->diags, &text, &n);
        f->bytes = n;
    }
    if (!st)
        st = sp_store_judge(fd, f->id, f->part, run->diags, &is, &f->why);
    if (!st && !f->why) {
        if (!pack_name(f, f->part, name) ||
            !sp_tar_begin(out, name, f->bytes, pack_time(fd, f->path, text))) {
            f->why = "it is too large for an archive";
        } else {
            f->status = SYMBOLS_ADDED;
            if (text)
                sp_write(out, text, n);
            st = text ? out->status : sp_run_symbols_copy(run, fd, f->bytes, f->path, out);
            sp_tar_end_file(out, f->bytes);
        }
    }
    free(text);
    close(fd);
    return st;
}

/* Where a build was, behind the last of its files. */
static void pack_from(const struct symbols_file *f, struct sp_output *out)
{
    char name[NAME_ROOM];
    size_t n = strlen(f->name);
    if (!pack_name(f, SP_STORE_FROM, name) || !sp_tar_begin(out, name, n + 1, 0))
        return;
    sp_write(out, f->name, n);
    sp_puts(out, "\n");
    sp_tar_end_file(out, n + 1);
}

static int by_place(const void *a, const void *b)
{
    const struct symbols_file *x = *(struct symbols_file *const *)a, *y = *(struct symbols_file *const *)b;
    int order = strcmp(x->id, y->id);
    return order ? order : strcmp(x->part, y->part);
}

static spaa_status pack_all(struct sp_run *run, struct symbols_file **order, size_t n, struct sp_output *out)
{
    spaa_status st = SPAA_OK;
    bool some = false;
    qsort(order, n, sizeof(*order), by_place);
    for (size_t i = 0; i < n && !st; i++) {
        st = pack_file(run, order[i], out);
        some |= order[i]->status == SYMBOLS_ADDED;
        if (!st && some && (i + 1 == n || strcmp(order[i]->id, order[i + 1]->id) != 0)) {
            pack_from(order[i], out);
            some = false;
        }
    }
    sp_tar_end(out);
    return st;
}

static spaa_status pack_write(struct sp_run *run, struct symbols_files *x, bool *any)
{
    struct symbols_file **order = calloc(x->v.n + 1, sizeof(*order));
    struct sp_output *out = NULL;
    size_t n = 0;
    if (!order)
        return sp_nomem(run->diags);
    for (size_t i = 0; i < x->v.n; i++)
        if (x->v.v[i].path)
            order[n++] = &x->v.v[i];
    spaa_status st = n ? sp_run_output_open(run, run->v.output, &out) : SPAA_OK;
    if (!st && n)
        st = pack_all(run, order, n, out);
    for (size_t i = 0; i < n; i++)
        *any |= order[i]->status == SYMBOLS_ADDED;
    if (!st && *any)
        st = sp_output_commit(out);
    if (n)
        sp_run_output_close(run, out);
    free(order);
    return st;
}

/* Where the archive goes to standard output, what is not in it is said beside it. */
static int pack_tell(struct sp_run *run, const struct symbols_files *x, bool any)
{
    for (size_t i = 0; i < x->v.n; i++)
        if (x->v.v[i].status != SYMBOLS_ADDED)
            sp_emit_hint(run->diags, SP_W808, SP_AT_NOTHING, x->v.v[i].hint ? x->v.v[i].hint : "", "%s: %s",
                         x->v.v[i].name, x->v.v[i].why);
    return any ? SP_EXIT_FINE : SP_EXIT_NO;
}

int sp_run_symbols_pack(struct sp_run *run)
{
    struct symbols_files need = {0};
    bool any = false;
    if (!run->v.output || !*run->v.output)
        return sp_run_usage(run, "spaa symbols pack perf.data -o symbols.tar.zst",
                            "symbols pack needs -o to write to");
    if (run->files.n > 2)
        return sp_run_usage(run, "spaa symbols pack perf.data -o symbols.tar.zst",
                            "symbols pack takes one recording");
    sp_arena_init(&need.arena, 0);
    spaa_status st = sp_run_symbols_gather(run, run->files.v[1], &need);
    if (!st)
        st = pack_write(run, &need, &any);
    int rc = st                                ? sp_run_exit(run, st)
             : strcmp(run->v.output, "-") == 0 ? pack_tell(run, &need, any)
                                               : sp_run_symbols_answer(run, &need, NULL, run->v.output);
    sp_run_symbols_files_free(&need);
    return rc;
}
