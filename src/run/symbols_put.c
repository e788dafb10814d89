/*
 * A file into the symbol store. It appears there whole, under the build-id that it has itself; two that put
 * the same one at once put the same bytes. What has more of names (a debug file with DWARF, a binary that is
 * not stripped) takes the place of what has less.
 */
#include "run/symbols.h"

#include "io/file.h"
#include "run/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

spaa_status sp_run_symbols_copy(struct sp_run *run, int fd, uint64_t size, const char *path,
                                struct sp_output *out)
{
    spaa_status st = SPAA_OK;
    for (uint64_t at = 0; at < size && !st; at += BLOCK) {
        size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
        char *room = sp_output_room(out, n);
        st = sp_file_read(fd, size, at, room, n, path, run->diags);
        if (!st)
            sp_output_took(out, n);
        st = st ? st : out->status;
    }
    return st ? st : sp_file_check(fd, size, path, run->diags);
}

/* Files of /proc do not say how long they are. */
static spaa_status put_text(struct sp_run *run, int fd, struct sp_output *out)
{
    char path[40], *data;
    size_t n;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    spaa_status st = sp_file_slurp(path, (size_t)256 << 20, run->diags, &data, &n);
    if (st)
        return st;
    sp_write(out, data, n);
    free(data);
    return out->status;
}

/* The bytes, shared with the original where the file system can do that. Kernel addresses are nobody else's.
 */
static spaa_status put_bytes(struct sp_run *run, int fd, const struct symbols_file *file,
                             struct sp_output *out)
{
    bool text = strncmp(file->part, SP_STORE_KALLSYMS, sizeof SP_STORE_KALLSYMS - 1) == 0;
    int to = open(sp_output_temporary(out), O_WRONLY | O_CLOEXEC);
    bool shared = !text && to >= 0 && ioctl(to, FICLONE, fd) == 0;
    if (text && to >= 0)
        fchmod(to, 0600);
    if (to >= 0)
        close(to);
    if (shared)
        return SPAA_OK;
    return text ? put_text(run, fd, out) : sp_run_symbols_copy(run, fd, file->bytes, file->path, out);
}

static spaa_status put_new(struct sp_run *run, int fd, const struct symbols_file *file, char *to)
{
    struct sp_output *out = NULL;
    spaa_status st = sp_run_folders(run, to);
    st = st ? st : sp_run_output_open(run, to, &out);
    if (!st)
        st = put_bytes(run, fd, file, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    return st;
}

/* How much of names the file has that is there; false: none is, or it is not what it should be. */
static bool put_is_there(struct sp_run *run, const char *path, const struct symbols_file *file,
                         unsigned *names, spaa_status *st)
{
    struct sp_store_file f;
    uint64_t size;
    const char *why;
    int fd = sp_file_open(path, &size);
    if (fd < 0)
        return false;
    *st = sp_store_judge(fd, file->id, file->part, run->diags, &f, &why);
    *names = f.names;
    close(fd);
    return !*st && !why;
}

/* A binary with DWARF is its own debug file, too: other programs look for that alone. */
static spaa_status put_as_debug(const char *store, const char *id, const char *path)
{
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    const char *debug = sp_store_path(&b, store, id, SP_STORE_DEBUG);
    /* Where one is there, or the file system has no links, it is left: we ourselves do without. */
    bool nomem = b.nomem || (*debug && link(path, debug) != 0 && errno == ENOMEM);
    sp_buf_free(&b);
    return nomem ? SPAA_ERR_NOMEM : SPAA_OK;
}

/*
 * The copy has the time at which the original was written: by it sources are older or newer than the binary.
 * Of two originals the older tells, also of a copy whose time is that of copying.
 */
static void put_time(int fd, const struct symbols_file *file, const char *to)
{
    struct stat from, is;
    bool text = strncmp(file->part, SP_STORE_KALLSYMS, sizeof SP_STORE_KALLSYMS - 1) == 0;
    if (text || (file->path && sp_store_is_undated(file->path)) || fstat(fd, &from) || stat(to, &is))
        return;
    const struct timespec a = from.st_mtim, b = is.st_mtim;
    bool older = a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
    bool known = a.tv_sec || file->status == SYMBOLS_ADDED;
    if (known && (older || !b.tv_sec))
        utimensat(AT_FDCWD, to, (const struct timespec[2]){{.tv_nsec = UTIME_OMIT}, a}, 0);
}

spaa_status sp_run_symbols_put(struct sp_run *run, const char *store, int fd, struct symbols_file *file)
{
    struct sp_store_file f;
    struct sp_buf b;
    unsigned names = 0;
    spaa_status st = sp_store_judge(fd, file->id, file->part, run->diags, &f, &file->why);
    file->status = SYMBOLS_REFUSED;
    file->hint = "";
    if (st || file->why)
        return st;
    if (f.whole) /* not twice, and with its code in it */
        file->part[0] = '\0';
    sp_buf_init(&b, PATH_MAX);
    const char *to = sp_store_path(&b, store, file->id, file->part);
    if (!*to) {
        file->why = "the name of the store is too long";
    } else if (put_is_there(run, to, file, &names, &st) && names >= f.names) {
        file->status = SYMBOLS_THERE;
        sp_file_used(to);
    } else if (!st && !(st = put_new(run, fd, file, b.data))) {
        file->status = SYMBOLS_ADDED;
        if (!file->part[0] && f.names & 2)
            st = put_as_debug(store, file->id, to);
    }
    if (!st && file->status <= SYMBOLS_THERE)
        put_time(fd, file, to);
    struct stat is;
    if (!st && file->status <= SYMBOLS_THERE && stat(to, &is) == 0)
        file->bytes = (uint64_t)is.st_size; /* files of /proc do not say it before */
    bool nomem = b.nomem || st == SPAA_ERR_NOMEM;
    sp_buf_free(&b);
    return nomem ? sp_nomem(run->diags) : st;
}

spaa_status sp_run_symbols_put_name(struct sp_run *run, const char *store, const char *id, const char *name)
{
    struct sp_output *out = NULL;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    const char *to = sp_store_path(&b, store, id, SP_STORE_FROM);
    spaa_status st = b.nomem ? sp_nomem(run->diags) : SPAA_OK;
    if (!st && *to && access(to, F_OK) != 0) {
        st = sp_run_output_open(run, to, &out);
        if (!st) {
            sp_puts(out, name);
            sp_puts(out, "\n");
            st = sp_output_commit(out);
        }
        sp_run_output_close(run, out);
    }
    sp_buf_free(&b);
    return st;
}
