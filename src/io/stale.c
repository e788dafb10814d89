/*
 * A half-written file goes when its name is one of ours, it is a file of the user's own, nobody has its lock,
 * and nobody has written to it for an hour.
 *
 * The lock says whether its writer lives. The number of the process in its name does not: in a container it
 * is that of something else here, as 1 always is, and numbers are used again. Locks are those of this
 * system's, whatever the container; on file systems that several machines share they may not be seen: there
 * nobody has to have written for a day. The hour is for what shares a folder of this machine unseen, as a
 * virtual machine does, and for a file that was made and is not locked yet.
 */
#include "io/stale.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define LOOKED_AT_MAX 4096 /* names in a folder */
#define OLD_SECONDS   (60 * 60)
#define DAY_SECONDS   (24 * 60 * 60)

void sp_half_hold(int fd)
{
    flock(fd, LOCK_EX | LOCK_NB);
}

static bool is_half_name(const char *name)
{
    const size_t n = sizeof SP_HALF_BEGIN - 1;
    char *end;
    if (strncmp(name, SP_HALF_BEGIN, n) != 0 || !isdigit((unsigned char)name[n]))
        return false;
    strtoul(name + n, &end, 10);
    if (*end != '-' || !isdigit((unsigned char)end[1]))
        return false;
    strtoul(end + 1, &end, 10);
    return strcmp(end, SP_HALF_END) == 0;
}

/* Whether no other machine writes to the file system; what is not known is taken for shared. */
static bool is_of_this_machine(int fd)
{
    static const uint32_t kinds[] = {
        0xEF53 /* ext */,         0x58465342 /* XFS */, 0x9123683E /* Btrfs */, 0x01021994 /* tmpfs */,
        0x794C7630 /* overlay */, 0x2FC12FC1 /* ZFS */, 0xF2F52010 /* F2FS */,  0xCA451A4E /* bcachefs */};
    struct statfs fs;
    for (size_t i = 0; !fstatfs(fd, &fs) && i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)fs.f_type == kinds[i])
            return true;
    return false;
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
        if (is_half_name(e->d_name))
            clean(dirfd(d), e->d_name, is_of_this_machine(dirfd(d)) ? OLD_SECONDS : DAY_SECONDS);
    }
    if (d)
        closedir(d);
}
