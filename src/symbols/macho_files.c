/*
 * The Mach-O images that a folder holds somewhere, by UUID: binaries as they are, and the files of .dSYM
 * bundles (X.dSYM/Contents/Resources/DWARF/X). A report has but the base name of an image and its UUID, and a
 * copy may have another name, so every file below the folder is looked at, as far as its first bytes say that
 * it is one. Each folder is gone through once, when it is asked for first.
 *
 * Links are not followed and other file systems not entered, so the walk ends. Which of several files with
 * one UUID is taken does not depend on the order in which a folder lists them.
 */
#include "dwarf/macho.h"
#include "io/file.h"
#include "symbols/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOKED_MAX 250000u /* files and folders */

struct walk {
    struct sp_symbols *s;
    struct sp_macho_files *out;
    SP_VEC(const char *) todo; /* folders */
    struct sp_buf path;
    dev_t device;
    size_t looked;
};

bool sp_is_uuid(const char *build_id)
{
    return sp_is_build_id(build_id) && strlen(build_id) == SP_UUID_ROOM - 1;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum looks { LOOKS_OTHER, LOOKS_THIN, LOOKS_FAT, LOOKS_CACHE };

static enum looks looks_like(const char *path)
{
    unsigned char first[6];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    ssize_t got = fd < 0 ? 0 : pread(fd, first, sizeof first, 0);
    if (fd >= 0)
        close(fd);
    if (got != (ssize_t)sizeof first)
        return LOOKS_OTHER;
    if (memcmp(first, "dyld_v", 6) == 0)
        return LOOKS_CACHE;
    if ((first[0] & 0xfe) == 0xce && memcmp(first + 1, "\xfa\xed\xfe", 3) == 0)
        return LOOKS_THIN;
    return memcmp(first, "\xca\xfe\xba", 3) == 0 && (first[3] & 0xfe) == 0xbe ? LOOKS_FAT : LOOKS_OTHER;
}

/* The images of a file; one that cannot be read is kept without a UUID. */
static spaa_status add_images(struct walk *w, const char *path, bool thin)
{
    struct sp_macho_image images[SP_MACHO_IMAGES_MAX];
    struct sp_diags said;
    size_t n;
    sp_diags_init(&said);
    spaa_status st = sp_macho_images(path, &said, images, &n);
    sp_diags_free(&said);
    if (!n && thin && st == SPAA_ERR_INPUT) /* fat ones may be Java's */
        images[n++] = (struct sp_macho_image){0};
    for (size_t i = 0; i < n; i++) {
        struct sp_macho_file f = {.path = path, .debug = images[i].debug};
        memcpy(f.uuid, images[i].uuid, sizeof f.uuid);
        if (!sp_vec_push(&w->out->v, f))
            return SPAA_ERR_NOMEM;
    }
    return st == SPAA_ERR_NOMEM ? st : SPAA_OK;
}

static spaa_status look_at(struct walk *w, const char *path)
{
    enum looks like = looks_like(path);
    const char *kept = like == LOOKS_OTHER ? path : sp_arena_dup(&w->s->arena, path, strlen(path));
    if (!kept)
        return SPAA_ERR_NOMEM;
    if (like == LOOKS_CACHE && (!w->out->cache || strcmp(kept, w->out->cache) < 0))
        w->out->cache = kept;
    return like == LOOKS_THIN || like == LOOKS_FAT ? add_images(w, kept, like == LOOKS_THIN) : SPAA_OK;
}

/* What an entry of a folder is; DT_UNKNOWN: nothing that is looked at. */
static unsigned char kind_of(const char *path, unsigned char type)
{
    struct stat sb;
    if (type != DT_UNKNOWN)
        return type;
    if (lstat(path, &sb))
        return DT_UNKNOWN;
    return S_ISREG(sb.st_mode) ? DT_REG : S_ISDIR(sb.st_mode) ? DT_DIR : DT_UNKNOWN;
}

static spaa_status walk_entry(struct walk *w, const char *folder, const struct dirent *e)
{
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
        return SPAA_OK;
    const char *path = sp_path(&w->path, "%s/%s", folder, e->d_name);
    unsigned char kind = *path ? kind_of(path, e->d_type) : DT_UNKNOWN;
    w->looked++;
    if (kind == DT_REG)
        return look_at(w, path);
    const char *kept = kind == DT_DIR ? sp_arena_dup(&w->s->arena, path, strlen(path)) : NULL;
    return kind != DT_DIR || (kept && sp_vec_push(&w->todo, kept)) ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* A folder that cannot be listed holds nothing. */
static spaa_status walk_folder(struct walk *w, const char *folder)
{
    struct stat sb;
    struct dirent *e;
    spaa_status st = SPAA_OK;
    errno = 0;
    DIR *d = opendir(folder);
    if (!d)
        return errno == ENOMEM ? SPAA_ERR_NOMEM : SPAA_OK;
    bool here = !fstat(dirfd(d), &sb) && sb.st_dev == w->device;
    while (here && !st && w->looked < LOOKED_MAX && (e = readdir(d)))
        st = walk_entry(w, folder, e);
    closedir(d);
    return st;
}

/* By UUID; of one UUID a path that comes first. */
static int by_uuid(const void *a, const void *b)
{
    const struct sp_macho_file *x = a, *y = b;
    int order = strcmp(x->uuid, y->uuid);
    return order ? order : strcmp(x->path, y->path);
}

static int by_name(const void *a, const void *b)
{
    const struct sp_macho_file *x = *(const struct sp_macho_file *const *)a;
    const struct sp_macho_file *y = *(const struct sp_macho_file *const *)b;
    int order = strcmp(base_of(x->path), base_of(y->path));
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : strcmp(x->uuid, y->uuid);
}

/* False: out of memory. */
static bool sort_files(struct sp_macho_files *f)
{
    if (!f->v.n)
        return true;
    qsort(f->v.v, f->v.n, sizeof *f->v.v, by_uuid);
    for (size_t i = 0; i < f->v.n; i++)
        if (!sp_vec_push(&f->named, &f->v.v[i]))
            return false;
    qsort(f->named.v, f->named.n, sizeof *f->named.v, by_name);
    return true;
}

static spaa_status walk_all(struct sp_symbols *s, const char *root, struct sp_macho_files *out)
{
    struct stat sb;
    struct walk w = {.s = s, .out = out};
    spaa_status st = SPAA_OK;
    if (stat(root, &sb))
        return SPAA_OK;
    w.device = sb.st_dev;
    sp_buf_init(&w.path, PATH_MAX);
    if (S_ISREG(sb.st_mode))
        st = look_at(&w, root);
    else if (!sp_vec_push(&w.todo, root))
        st = SPAA_ERR_NOMEM;
    while (!st && w.todo.n && w.looked < LOOKED_MAX)
        st = walk_folder(&w, w.todo.v[--w.todo.n]);
    if (w.looked >= LOOKED_MAX)
        sp_emit(s->d, SP_W836, SP_AT_NOTHING, "%s: %zu files and folders", root, w.looked);
    if (!st && !sort_files(out))
        st = SPAA_ERR_NOMEM;
    sp_vec_free(&w.todo);
    return sp_path_end(&w.path, st);
}

/* What the folder number i holds. */
static spaa_status files_of(struct sp_symbols *s, unsigned i, const struct sp_macho_files **out)
{
    const char *root = i ? s->opts.symfs : s->opts.dsym;
    struct sp_macho_files *f = &s->macho_files[i];
    *out = f;
    if (f->tried || !root)
        return SPAA_OK;
    f->tried = true;
    return walk_all(s, root, f);
}

spaa_status sp_macho_find(struct sp_symbols *s, const char *uuid, bool debug, const char **path)
{
    const struct sp_macho_files *f;
    spaa_status st = SPAA_OK;
    *path = NULL;
    for (unsigned i = 0; i < SP_MACHO_FOLDERS && !st && !*path; i++) {
        st = files_of(s, i, &f);
        size_t lo = 0, hi = f->v.n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (strcmp(f->v.v[mid].uuid, uuid) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; !*path && lo < f->v.n && !strcmp(f->v.v[lo].uuid, uuid); lo++)
            if (f->v.v[lo].debug == debug)
                *path = f->v.v[lo].path;
    }
    return st;
}

const struct sp_macho_file *sp_macho_named(const struct sp_symbols *s, const char *name, bool debug)
{
    const char *base = base_of(name);
    for (unsigned i = 0; i < SP_MACHO_FOLDERS; i++) {
        const struct sp_macho_files *f = &s->macho_files[i];
        size_t lo = 0, hi = f->named.n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (strcmp(base_of(f->named.v[mid]->path), base) < 0)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; lo < f->named.n && !strcmp(base_of(f->named.v[lo]->path), base); lo++)
            if (f->named.v[lo]->debug == debug)
                return f->named.v[lo];
    }
    return NULL;
}

const char *sp_macho_cache(const struct sp_symbols *s)
{
    return s->macho_files[0].cache ? s->macho_files[0].cache : s->macho_files[1].cache;
}

void sp_macho_files_free(struct sp_symbols *s)
{
    for (unsigned i = 0; i < SP_MACHO_FOLDERS; i++) {
        sp_vec_free(&s->macho_files[i].v);
        sp_vec_free(&s->macho_files[i].named);
    }
}
