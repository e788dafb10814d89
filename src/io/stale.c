/*
 * What nobody holds: of a process that is no more, without its lock, a minute old, and ours. The lock tells
 * of processes that are not seen from here (in another container), the minute of those that made the file and
 * did not yet lock it. Where there is a process of that number it may be another one: then a day old.
 */
#include "io/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOKED_AT_MAX 4096 /* names in a folder */
#define OLD_SECONDS   60
#define DAY_SECONDS   (24 * 60 * 60)

void sp_half_hold(int fd)
{
    flock(fd, LOCK_EX | LOCK_NB);
}

/* The process that a name is of; 0: the name is none of ours. */
static long process_of(const char *name)
{
    const size_t n = sizeof SP_HALF_BEGIN - 1;
    char *end;
    if (strncmp(name, SP_HALF_BEGIN, n) != 0 || !isdigit((unsigned char)name[n]))
        return 0;
    errno = 0;
    long pid = strtol(name + n, &end, 10);
    if (errno || *end != '-' || !isdigit((unsigned char)end[1]))
        return 0;
    strtoul(end + 1, &end, 10);
    return strcmp(end, SP_HALF_END) == 0 ? pid : 0;
}

static void clean(int folder, const char *name, time_t age)
{
    struct stat st, now;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    bool stale = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                 time(NULL) - st.st_mtime > age && !flock(fd, LOCK_EX | LOCK_NB);
    if (stale && !fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) && now.st_ino == st.st_ino &&
        now.st_dev == st.st_dev)
        unlinkat(folder, name, 0);
    close(fd);
}

void sp_half_clean(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(n + 2);
    if (!name)
        return;
    memcpy(name, path, n);
    memcpy(name + n, ".", 2);
    DIR *d = opendir(name);
    free(name);
    const struct dirent *e;
    for (int i = 0; d && i < LOOKED_AT_MAX && (e = readdir(d)); i++) {
        long pid = process_of(e->d_name);
        bool gone = pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
        if (pid > 0)
            clean(dirfd(d), e->d_name, gone ? OLD_SECONDS : DAY_SECONDS);
    }
    if (d)
        closedir(d);
}
