/*
 * Careful file reading: descriptors of regular files, whole files, checksums.
 *
 * Files are read, not mapped: a mapped file that somebody truncates kills the process.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK ((size_t)64 << 10)

int sp_file_open(const char *path, uint64_t *size)
{
    struct stat st;
    /* Asked before opening too: the mere opening of some devices has effects. */
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    *size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return fd;
}

/* Says something about this file, which is not the one that is being converted. */
static spaa_status file_tell(const char *path, struct sp_diags *d, enum sp_code code, uint64_t at,
                             const char *what)
{
    const char *file = d->file, *format = d->format;
    sp_diags_source(d, path, NULL);
    sp_emit(d, code, SP_AT(at), "%s: %s", path, what);
    d->file = file;
    d->format = format;
    return SPAA_ERR_IO;
}

static spaa_status shorter(const char *path, struct sp_diags *d, uint64_t size, uint64_t now)
{
    char what[80];
    snprintf(what, sizeof what, "of %llu bytes %llu are left", (unsigned long long)size,
             (unsigned long long)now);
    return file_tell(path, d, SP_E014, now, what);
}

spaa_status sp_file_check(int fd, uint64_t size, const char *path, struct sp_diags *d)
{
    struct stat st;
    uint64_t now = !fstat(fd, &st) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return now < size ? shorter(path, d, size, now) : SPAA_OK;
}

static ssize_t read_some(int fd, void *p, size_t n, uint64_t at)
{
    ssize_t got;
    do
        got = pread(fd, p, n, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Up to n bytes: fewer where the file ends. False: it cannot be read, which is reported. */
static bool read_upto(int fd, uint64_t at, void *p, size_t n, size_t *len, const char *path,
                      struct sp_diags *d)
{
    for (*len = 0; *len < n;) {
        ssize_t got = read_some(fd, (char *)p + *len, n - *len, at + *len);
        if (got < 0)
            file_tell(path, d, SP_E002, at + *len, strerror(errno));
        if (got <= 0)
            return !got;
        *len += (size_t)got;
    }
    return true;
}

spaa_status sp_file_read(int fd, uint64_t size, uint64_t at, void *p, size_t n, const char *path,
                         struct sp_diags *d)
{
    size_t len;
    if (!read_upto(fd, at, p, n, &len, path, d))
        return SPAA_ERR_IO;
    if (len == n)
        return SPAA_OK;
    /* Cut off, if only for a moment. */
    return sp_file_check(fd, size, path, d) ? SPAA_ERR_IO : shorter(path, d, size, at + len);
}

/* Files of /proc say they are empty, those of /sys that they are longer than they are. */
static spaa_status slurp(int fd, uint64_t size, size_t max, const char *path, struct sp_diags *d, char **data,
                         size_t *n)
{
    size_t cap = size ? (size_t)size : BLOCK, len = 0;
    if (size > max)
        return SPAA_ERR_LIMIT;
    char *p = malloc(cap + 1);
    for (;;) {
        size_t got;
        if (!p)
            return SPAA_ERR_NOMEM;
        if (!read_upto(fd, len, p + len, cap - len, &got, path, d)) {
            free(p);
            return SPAA_ERR_IO;
        }
        len += got;
        if (len < cap || size)
            break;
        if (cap > max) {
            free(p);
            return SPAA_ERR_LIMIT;
        }
        char *more = realloc(p, 2 * cap + 1);
        if (!more)
            free(p);
        p = more;
        cap *= 2;
    }
    p[len] = '\0';
    *data = p;
    *n = len;
    return SPAA_OK;
}

static bool is_ours(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* The file, and the name: in /tmp anybody's link may lead to a file of root. Of what is called so in a folder
 * like /tmp nobody but its owner can make something else. */
static bool is_own(int fd, const char *path)
{
    struct stat name, file;
    return !lstat(path, &name) && is_ours(&name) && !fstat(fd, &file) && is_ours(&file);
}

spaa_status sp_file_slurp_own(const char *path, size_t max, bool any, struct sp_diags *d, char **data,
                              size_t *n)
{
    uint64_t size;
    char *p = NULL;
    int fd = sp_file_open(path, &size);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    spaa_status st = any || is_own(fd, path) ? SPAA_OK : SPAA_ERR_USAGE;
    if (!st)
        st = slurp(fd, size, max, path, d, &p, n);
    if (!st)
        st = sp_file_check(fd, size, path, d);
    close(fd);
    if (st)
        free(p);
    else
        *data = p;
    return st;
}

spaa_status sp_file_slurp_through(const struct sp_file_gate *gate, const char *path, size_t max,
                                  struct sp_diags *d, char **data, size_t *n)
{
    char name[32];
    if (!gate->open)
        return sp_file_slurp(path, max, d, data, n);
    int fd = gate->open(gate->arg, path);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd); /* what was opened, whatever has that path by now */
    spaa_status st = sp_file_slurp(name, max, d, data, n);
    close(fd);
    return st;
}

spaa_status sp_file_slurp(const char *path, size_t max, struct sp_diags *d, char **data, size_t *n)
{
    return sp_file_slurp_own(path, max, true, d, data, n);
}

/* Opened to see which file it is, and no more; -1. `unknown`: the kernel cannot, or may not be asked. */
static int open_below(const char *root, const char *rest, bool *unknown)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int at = open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
    int fd = at < 0 ? -1 : (int)syscall(SYS_openat2, at, rest, &how, sizeof how);
    *unknown = at >= 0 && fd < 0 && (errno == ENOSYS || errno == EPERM || errno == E2BIG);
    if (at >= 0)
        close(at);
    return fd;
}

/* Where the kernel cannot tell: that all links together do not lead out. */
static bool stays_below(const char *root, const char *path)
{
    char *top = realpath(root, NULL), *end = realpath(path, NULL);
    size_t n = top ? strlen(top) : 0;
    bool ok = top && end && !strncmp(end, top, n) && (n == 1 || end[n] == '/');
    free(top);
    free(end);
    return ok;
}

const char *sp_file_below(const char *root, struct sp_buf *path)
{
    const char *text = sp_buf_cstr(path), *rest = text + strlen(root);
    struct stat is, plain;
    char link[64], target[PATH_MAX];
    bool unknown;
    if (path->failed || strncmp(text, root, strlen(root)) != 0)
        return "";
    while (*rest == '/')
        rest++;
    int fd = open_below(root, *rest ? rest : ".", &unknown);
    if (fd < 0)
        return unknown && stays_below(root, text) ? text : "";
    if (!fstat(fd, &is) && !stat(text, &plain) && is.st_dev == plain.st_dev && is.st_ino == plain.st_ino) {
        close(fd);
        return text;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    close(fd);
    if (n <= 0 || n == sizeof target - 1)
        return "";
    target[n] = '\0';
    sp_buf_clear(path);
    return sp_buf_puts(path, target) ? sp_buf_cstr(path) : "";
}

spaa_status sp_file_crc32(const char *path, struct sp_diags *d, uint32_t *crc)
{
    uint64_t size, at = 0;
    int fd = sp_file_open(path, &size);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    unsigned char *block = malloc(BLOCK);
    spaa_status st = block ? SPAA_OK : SPAA_ERR_NOMEM;
    uLong sum = crc32(0, NULL, 0);
    for (size_t n; !st && at < size; at += n) {
        n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
        st = sp_file_read(fd, size, at, block, n, path, d);
        if (!st)
            sum = crc32(sum, block, (uInt)n);
    }
    *crc = (uint32_t)sum;
    free(block);
    close(fd);
    return st;
}

void sp_file_used(const char *path)
{
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
    utimensat(AT_FDCWD, path, now, 0); /* one that may only be read keeps its time */
}
