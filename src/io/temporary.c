#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define STEP        ((uint64_t)16 << 20) /* bytes written between looks at what is left */
#define SPARE_MAX   ((uint64_t)1 << 30)  /* left for others: a 32nd of the file system, at most this */
#define SPARE_SHARE 32u

const char *sp_temporary_folder(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

int sp_temporary_file(void)
{
    const char *dir = sp_temporary_folder();
#ifdef O_TMPFILE
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
#endif
    static const char pattern[] = "/spaa-XXXXXX";
    size_t n = strlen(dir);
    char *path = malloc(n + sizeof pattern);
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(path, dir, n);
    memcpy(path + n, pattern, sizeof pattern);
    int named = mkostemp(path, O_CLOEXEC);
    int saved = errno;
    if (named >= 0)
        unlink(path);
    free(path);
    errno = saved;
    return named;
}

/* How many more bytes the process may write to a file that stands at `at`. */
static uint64_t may_grow(int fd, off_t at)
{
    struct rlimit most;
    struct stat st;
    if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY || fstat(fd, &st) ||
        !S_ISREG(st.st_mode))
        return UINT64_MAX;
    if (at < 0 || fcntl(fd, F_GETFL) & O_APPEND)
        at = st.st_size;
    return most.rlim_cur > (uint64_t)at ? most.rlim_cur - (uint64_t)at : 0;
}

ssize_t sp_write_fd(int fd, const void *p, size_t n)
{
    uint64_t room = may_grow(fd, lseek(fd, 0, SEEK_CUR));
    if (n > (size_t)1 << 30)
        n = (size_t)1 << 30;
    if (n && !room) {
        errno = EFBIG;
        return -1;
    }
    return write(fd, p, n < room ? n : (size_t)room);
}

/* Whether the file system can spare so many bytes. */
static bool can_spare(int fd, uint64_t n)
{
    struct statvfs fs;
    if (fstatvfs(fd, &fs) || !fs.f_blocks || !fs.f_frsize)
        return true;
    uint64_t spare = fs.f_blocks / SPARE_SHARE * fs.f_frsize, left = (uint64_t)fs.f_bavail * fs.f_frsize;
    spare = spare < SPARE_MAX ? spare : SPARE_MAX;
    if (left > spare && n <= left - spare)
        return true;
    errno = ENOSPC;
    return false;
}

bool sp_temporary_write(int fd, const void *p, size_t n)
{
    const char *from = p;
    off_t at = lseek(fd, 0, SEEK_CUR);
    while (n) {
        uint64_t left = STEP - (uint64_t)(at > 0 ? at : 0) % STEP;
        size_t piece = n < left ? n : (size_t)left;
        if (piece == left && !can_spare(fd, piece))
            return false;
        ssize_t put = sp_write_fd(fd, from, piece);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

bool sp_temporary_size(int fd, uint64_t n)
{
    if (n > INT64_MAX || may_grow(fd, 0) < n) {
        errno = EFBIG;
        return false;
    }
    if (!can_spare(fd, n))
        return false;
    int error;
    do
        error = posix_fallocate(fd, 0, (off_t)n);
    while (error == EINTR);
    errno = error;
    return !error;
}

spaa_status sp_temporary_failed(struct sp_diags *d, const char *what)
{
    int error = errno;
    if (error == ENOMEM)
        return sp_nomem(d);
    const char *hint = error == EFBIG ? "raise the limit of the size of files (`ulimit -f`)"
                                      : "set TMPDIR to a folder with enough free space";
    sp_emit_hint(d, SP_E020, SP_AT_NOTHING, hint, "a temporary file in %s for %s: %s", sp_temporary_folder(),
                 what, strerror(error));
    return SPAA_ERR_IO;
}
