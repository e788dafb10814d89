/*
 * Careful file reading: descriptors of regular files, whole files, checksums.
 *
 * Files are read, not mapped: a mapped file that somebody truncates kills the process.
 */
#include "symbols/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK ((size_t)64 << 10)

int sp_file_open(const char *path)
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
    return fd;
}

static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;
    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Files of /proc say they are empty, so the size is a first guess only. */
static spaa_status slurp(int fd, size_t max, char **data, size_t *n)
{
    struct stat st;
    size_t cap = BLOCK, len = 0;
    if (!fstat(fd, &st) && st.st_size > 0) {
        if ((uintmax_t)st.st_size > max)
            return SPAA_ERR_LIMIT;
        cap = (size_t)st.st_size + 2;
    }
    char *p = malloc(cap);
    for (;;) {
        if (!p)
            return SPAA_ERR_NOMEM;
        ssize_t got = read_some(fd, p + len, cap - len - 1);
        len += got > 0 ? (size_t)got : 0;
        if (got < 0 || len > max) {
            free(p);
            return got < 0 ? SPAA_ERR_IO : SPAA_ERR_LIMIT;
        }
        if (!got)
            break;
        if (len + 1 < cap)
            continue;
        char *more = cap <= SIZE_MAX / 2 ? realloc(p, cap * 2) : NULL;
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

spaa_status sp_file_slurp(const char *path, size_t max, char **data, size_t *n)
{
    int fd = sp_file_open(path);
    if (fd < 0)
        return SPAA_ERR_NOT_FOUND;
    spaa_status st = slurp(fd, max, data, n);
    close(fd);
    return st;
}

bool sp_file_crc32(const char *path, uint32_t *crc)
{
    int fd = sp_file_open(path);
    unsigned char *block = malloc(BLOCK);
    bool ok = fd >= 0 && block;
    uLong sum = crc32(0, NULL, 0);
    for (ssize_t got = 1; ok && got > 0;) {
        got = read_some(fd, block, BLOCK);
        if (got > 0)
            sum = crc32(sum, block, (uInt)got);
        ok = got >= 0;
    }
    *crc = (uint32_t)sum;
    free(block);
    if (fd >= 0)
        close(fd);
    return ok;
}
