/*
 * Whether the file at a path is the one that was mapped, where no build-id says so: perf stores those of
 * binaries that samples stopped in, and none when it writes to a pipe.
 *
 * It is when device, inode and (where the map tells it) generation are the same, and it was neither written
 * nor replaced since: its times are not later than those of the recording, whose file is as old as its end,
 * or younger, if it is a copy. With --symfs files of another place are meant, of which nothing is known.
 *
 * It is another one when the device is the same and the inode or its generation is not, on the machine that
 * recorded: elsewhere the numbers say nothing. Whoever looks names up later is to know that, too. The one
 * that was changed since the recording may be: its content, with the time of writing set back, or its names
 * alone.
 *
 * perf reads the build-ids that it stores when the recording ends: of a file that was replaced meanwhile,
 * that of the new one. So it is where the file at the path is another one, has this build-id, and was written
 * before the end; one that was written more than a day before it was there when it was mapped, on another
 * machine of that name. And so it is of a file that was written to between the map and the end.
 *
 * Two of these last when the path has yet another file, or none: maps of several files under one path, whose
 * stored build-id is that of the last one at best; and what perf kept in ~/.debug under the stored build-id,
 * a link to the file that it found at the end. Another inode there, which was written on the last day and
 * linked since the recording began, is not the file that was mapped. One that is older is of an equal build
 * that was kept before. The same inode tells whether it was written to meanwhile.
 */
#include "base/hash.h"
#include "dwarf/elf.h"
#include "formats/perf_data/perf_data.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

static bool pd_mapped_later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/* Written before the recording's end, and less than a day: one that is older was there before, on another
 * machine of that name. */
static bool pd_mapped_on_last_day(struct timespec written, struct timespec recorded)
{
    struct timespec day_before = {recorded.tv_sec - 24 * 3600, recorded.tv_nsec};
    return !pd_mapped_later(written, recorded) && pd_mapped_later(written, day_before);
}

enum pd_generation { PD_GENERATION_UNTOLD, PD_GENERATION_SAME, PD_GENERATION_OTHER };

/*
 * A map that was read from /proc does not tell the generation; nor do some file systems have one. For the
 * files that `perf inject --jit` makes (jitted-PID-NUMBER.so) it writes 1.
 */
static enum pd_generation pd_mapped_generation(int fd, const char *path, uint64_t recorded)
{
    int now = 0;
    const char *slash = strrchr(path, '/');
    bool made = recorded == 1 && slash && strncmp(slash, "/jitted-", 8) == 0;
    if (!recorded || made || ioctl(fd, FS_IOC_GETVERSION, &now) != 0)
        return PD_GENERATION_UNTOLD;
    return (uint32_t)now == recorded ? PD_GENERATION_SAME : PD_GENERATION_OTHER;
}

/* Numbers of devices and inodes are those of one machine. */
static bool pd_mapped_is_here(const struct sp_pd *pd)
{
    struct utsname host;
    size_t n = pd->hostname.n;
    return pd->hostname.p && !uname(&host) && n == strlen(host.nodename) &&
           memcmp(pd->hostname.p, host.nodename, n) == 0;
}

/* Whether the file is the one that was mapped; x->other: whether it is another one. */
static bool pd_mapped_is_same(const struct sp_pd *pd, struct sp_pd_mapped_file *x)
{
    struct timespec recorded = {0};
    struct stat sb;
    bool dated = sp_input_written(pd->in, &recorded), here = pd_mapped_is_here(pd);
    int fd = x->inode ? open(x->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    if (fd < 0)
        return false;
    bool there = fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && major(sb.st_dev) == x->major &&
                 minor(sb.st_dev) == x->minor;
    enum pd_generation generation = pd_mapped_generation(fd, x->path, x->generation);
    bool another = there && (sb.st_ino != x->inode || generation == PD_GENERATION_OTHER);
    bool later = dated && (pd_mapped_later(sb.st_mtim, recorded) || pd_mapped_later(sb.st_ctim, recorded));
    close(fd);
    x->meanwhile = another && here && dated && pd_mapped_on_last_day(sb.st_mtim, recorded);
    /* Whoever makes another link of a file changes its inode, too. */
    x->other = here && (another || (there && later && sb.st_nlink == 1));
    x->same_inode = here && there && !another;
    x->written = sb.st_mtim;
    return there && dated && !later && !another && (generation == PD_GENERATION_SAME || !x->generation);
}

/* When what is so many ns before the last sample was: the recording's file is written last after that. */
static bool pd_mapped_when(const struct sp_pd *pd, uint64_t before, struct timespec *out)
{
    struct timespec t = {0};
    if (!pd->told_first || !sp_input_written(pd->in, &t) || !t.tv_nsec)
        return false;
    t.tv_sec -= (int64_t)(before / 1000000000);
    t.tv_nsec -= (int64_t)(before % 1000000000);
    if (t.tv_nsec < 0) {
        t.tv_sec--;
        t.tv_nsec += 1000000000;
    }
    *out = t;
    return true;
}

/* What perf kept in ~/.debug when it ended, as the file of the stored build-id; false: none is there. */
static bool pd_mapped_kept(const struct sp_pd_mapped_file *x, const char *id, struct stat *sb)
{
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    int n = home ? snprintf(path, sizeof path, "%s/.debug/.build-id/%.2s/%s/elf", home, id, id + 2) : -1;
    return n > 0 && (size_t)n < sizeof path && stat(path, sb) == 0 && S_ISREG(sb->st_mode) &&
           major(sb->st_dev) == x->major && minor(sb->st_dev) == x->minor;
}

/* A link to another file than was mapped, or to that one, which tells when it was written. */
static void pd_mapped_take_kept(const struct sp_pd *pd, struct sp_pd_mapped_file *x, const char *id)
{
    struct timespec begun, recorded = {0};
    struct stat sb;
    if (x->shown || !pd_mapped_is_here(pd) || !sp_input_written(pd->in, &recorded) ||
        !pd_mapped_when(pd, pd->told_last - pd->told_first, &begun) || !pd_mapped_kept(x, id, &sb))
        return;
    if (sb.st_ino == x->inode && !x->same_inode && strlen(id) < sizeof x->build_id) {
        x->same_inode = true;
        x->written = sb.st_mtim;
        memcpy(x->build_id, id, strlen(id) + 1);
    }
    x->kept_other = sb.st_ino != x->inode && pd_mapped_later(sb.st_ctim, begun) &&
                    pd_mapped_on_last_day(sb.st_mtim, recorded);
}

/*
 * Whether the file was written to after it was mapped, and before the end. The recording's file is written
 * last after its last sample, so that a map was at its time at the latest. Archives and copies know seconds
 * at times: then nothing is.
 */
static bool pd_mapped_is_rewritten(const struct sp_pd *pd, const struct sp_pd_mapped_file *x, uint64_t time)
{
    struct timespec recorded = {0}, mapped;
    uint64_t from = time > pd->told_first ? time : pd->told_first;
    return x->same_inode && from <= pd->told_last && x->written.tv_nsec &&
           pd_mapped_when(pd, pd->told_last - from, &mapped) && sp_input_written(pd->in, &recorded) &&
           !pd_mapped_later(x->written, recorded) && pd_mapped_later(x->written, mapped);
}

static bool pd_mapped_equals(const struct sp_pd_mapped_file *x, const struct sp_pd_mmap *m)
{
    return x->inode == m->inode && x->generation == m->generation && x->major == m->major &&
           x->minor == m->minor && strcmp(x->path, m->path.p) == 0;
}

static spaa_status pd_mapped_read(struct sp_pd *pd, struct sp_pd_mapped_file *x)
{
    struct sp_elf e = {0};
    x->shown = pd_mapped_is_same(pd, x) && !pd->opts->symbols.no_symbols;
    if (!x->meanwhile && !x->shown && !pd_mapped_is_rewritten(pd, x, 0))
        return SPAA_OK;
    spaa_status st = sp_elf_read(x->path, pd->d, &e, NULL);
    if (st == SPAA_OK && strlen(e.build_id) < sizeof x->build_id)
        memcpy(x->build_id, e.build_id, strlen(e.build_id) + 1);
    sp_elf_free(&e);
    return st == SPAA_ERR_NOMEM ? sp_nomem(pd->d) : SPAA_OK;
}

/* What is known of the file of a map; *out NULL: nothing. */
static spaa_status pd_mapped_file(struct sp_pd *pd, const struct sp_pd_mmap *m, const char *stored,
                                  const struct sp_pd_mapped_file **out)
{
    *out = NULL;
    if (!m->inode || m->data || m->path.p[0] != '/')
        return SPAA_OK;
    struct sp_probe at = sp_map_probe(&pd->mapped_file_map, sp_hash_key(m->path.p, m->path.n) ^ m->inode);
    uint32_t i;
    while ((i = sp_map_next(&pd->mapped_file_map, &at)) != SP_MAP_NONE)
        if (pd_mapped_equals(&pd->mapped_files.v[i], m))
            break;
    if (i == SP_MAP_NONE) {
        struct sp_pd_mapped_file fresh = {.path = sp_arena_dup(&pd->arena, m->path.p, m->path.n),
                                          .major = m->major,
                                          .minor = m->minor,
                                          .inode = m->inode,
                                          .generation = m->generation};
        spaa_status st = fresh.path ? pd_mapped_read(pd, &fresh) : sp_nomem(pd->d);
        if (st)
            return st;
        if (stored)
            pd_mapped_take_kept(pd, &fresh, stored);
        i = (uint32_t)pd->mapped_files.n;
        if (i >= SP_MAP_NONE - 1 || !sp_vec_push(&pd->mapped_files, fresh) ||
            !sp_map_add_at(&pd->mapped_file_map, &at, i))
            return sp_nomem(pd->d);
    }
    *out = &pd->mapped_files.v[i];
    return SPAA_OK;
}

static bool pd_mapped_is_inode(const struct sp_pd_inode *a, const struct sp_pd_mmap *m)
{
    return a->inode == m->inode && a->major == m->major && a->minor == m->minor &&
           (a->generation == m->generation || !a->generation || !m->generation);
}

void sp_pd_mapped_last(struct sp_pd *pd)
{
    struct sp_pd_mmap m;
    for (size_t i = 0; pd->build_ids.n && i < pd->sides.n; i++) {
        const unsigned char *rec = sp_pd_at(pd, pd->sides.v[i].pos);
        if (!rec || sp_pd_u32(rec, pd->swap) != PD_MMAP2 || !sp_pd_mmap_read(pd, rec, &m) || !m.inode ||
            m.data || m.build_id)
            continue;
        struct sp_pd_build_id *b = sp_pd_build_id_entry(pd, m.path.p, m.path.n);
        if (b)
            b->last = (struct sp_pd_inode){m.major, m.minor, m.inode, m.generation};
    }
}

/* The stored build-id is not that of the map, as far as the recording itself tells. */
static bool pd_mapped_is_earlier(const struct sp_pd *pd, const struct sp_pd_mmap *m)
{
    const struct sp_pd_build_id *b = sp_pd_build_id_entry(pd, m->path.p, m->path.n);
    return b && (b->several || (b->last.inode && !pd_mapped_is_inode(&b->last, m)));
}

spaa_status sp_pd_mapped_id(struct sp_pd *pd, const struct sp_pd_mmap *m, const char **id, bool *other)
{
    const struct sp_pd_mapped_file *x;
    const char *stored = *id;
    spaa_status st = pd_mapped_file(pd, m, stored, &x);
    *other = false;
    if (st || !x)
        return st;
    bool rewritten = pd_mapped_is_rewritten(pd, x, m->time), shown = x->shown && *x->build_id;
    if (stored && !shown)
        *other = ((x->meanwhile || rewritten) && strcmp(x->build_id, stored) == 0) || x->kept_other ||
                 pd_mapped_is_earlier(pd, m);
    else if (stored)
        *other = rewritten && strcmp(x->build_id, stored) == 0;
    else
        *other = x->other || rewritten;
    if (stored && *other)
        *id = NULL;
    else if (shown && !pd->opts->symbols.symfs && !*other && (!stored || pd_mapped_is_earlier(pd, m)))
        *id = x->build_id;
    return SPAA_OK;
}
