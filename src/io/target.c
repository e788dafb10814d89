/*
 * Output files appear whole: they are written as `.spaa-PID-N.tmp` beside their final name and renamed.
 * Those of processes that were killed meanwhile are removed by the next one (io/stale.h).
 *
 * Symbolic links are written through, an existing file keeps its mode and must be writable itself;
 * devices, pipes and standard output under its names in /dev are written directly.
 */
#include "io/target.h"

#include "io/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, TRIES = 10000 };

static spaa_status refuse(struct sp_diags *d, const char *path, int error)
{
    if (error == ENOMEM)
        return sp_nomem(d);
    sp_emit(d, SP_E020, SP_AT_NOTHING, "%s: %s", path, strerror(error));
    return SPAA_ERR_IO;
}

static bool is_standard_output(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(path, names[i]))
            return true;
    return false;
}

/* The folder part of a path with its slash, then the tail; NULL with errno. */
static char *beside(const char *path, const char *tail)
{
    const char *slash = strrchr(path, '/');
    size_t dir = slash ? (size_t)(slash - path) + 1 : 0, n = strlen(tail);
    if (*tail == '/')
        dir = 0;
    char *s = malloc(dir + n + 1);
    if (!s) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(s, path, dir);
    memcpy(s + dir, tail, n + 1);
    return s;
}

/* The name at the end of a chain of symbolic links, whether or not a file is there; NULL with errno. */
static char *follow(const char *path)
{
    char *at = beside("", path);
    char *link = malloc(PATH_MAX);
    int error = link ? ELOOP : ENOMEM;
    for (int i = 0; at && link && i < LINKS_MAX; i++) {
        ssize_t n = readlink(at, link, PATH_MAX - 1);
        if (n < 0) { /* no link: the end */
            free(link);
            return at;
        }
        link[n] = '\0';
        char *next = beside(at, link);
        free(at);
        at = next;
        if (!at)
            error = ENOMEM;
    }
    free(at);
    free(link);
    errno = error;
    return NULL;
}

/* A new file beside t->final. The mode is left to the umask. */
static int open_temporary(struct sp_target *t)
{
    char name[64];
    for (unsigned i = 0; i < TRIES; i++) {
        snprintf(name, sizeof name, SP_HALF_BEGIN "%ld-%u" SP_HALF_END, (long)getpid(), i);
        t->temp = beside(t->final, name);
        if (!t->temp)
            return ENOMEM;
        t->fd = open(t->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        if (t->fd >= 0) {
            sp_half_hold(t->fd);
            return 0;
        }
        int error = errno;
        free(t->temp);
        t->temp = NULL;
        if (error != EEXIST)
            return error;
    }
    return EEXIST;
}

static int open_target(struct sp_target *t, const char *path)
{
    struct stat sb;
    bool exists = !stat(path, &sb);
    if (!*path || (!exists && errno != ENOENT))
        return errno;
    if (exists && S_ISDIR(sb.st_mode))
        return EISDIR;
    t->close = true;
    if (exists && !S_ISREG(sb.st_mode)) {
        t->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return t->fd < 0 ? errno : 0;
    }
    if (exists && access(path, W_OK))
        return errno;
    t->final = follow(path);
    if (!t->final)
        return errno;
    sp_half_clean(t->final);
    int error = open_temporary(t);
    if (!error && exists && fchmod(t->fd, sb.st_mode & 0777))
        error = errno;
    return error;
}

spaa_status sp_target_open(struct sp_target *t, const char *path, struct sp_diags *d)
{
    *t = (struct sp_target){.fd = -1};
    if (is_standard_output(path)) {
        t->fd = STDOUT_FILENO;
        return SPAA_OK;
    }
    int error = open_target(t, path);
    if (!error)
        return SPAA_OK;
    sp_target_discard(t);
    return refuse(d, path, error);
}

static int close_fd(struct sp_target *t)
{
    int fd = t->fd;
    t->fd = -1;
    return fd >= 0 && t->close && close(fd) && errno != EINTR ? errno : 0;
}

int sp_target_finish(struct sp_target *t)
{
    int error = 0;
    if (t->temp && fsync(t->fd) && errno != EINVAL && errno != ENOTSUP)
        error = errno;
    int closing = close_fd(t);
    if (!error)
        error = closing;
    if (!error && t->temp && rename(t->temp, t->final))
        error = errno;
    if (!error) { /* the name is no longer ours to remove */
        free(t->temp);
        t->temp = NULL;
    }
    sp_target_discard(t);
    return error;
}

void sp_target_discard(struct sp_target *t)
{
    close_fd(t);
    if (t->temp)
        unlink(t->temp);
    free(t->temp);
    free(t->final);
    *t = (struct sp_target){.fd = -1};
}
