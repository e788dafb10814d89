#include "run/walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
    const char *path;
    unsigned depth;
};
typedef SP_VEC(struct entry) entries;

static int cmp_entry(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* "folder/name" in the arena; NULL when out of memory. */
static char *walk_join(struct walk *w, const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    a -= a > 1 && folder[a - 1] == '/';
    char *path = sp_arena_alloc(&w->arena, a + b + 2);
    if (!path)
        return NULL;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return path;
}

static void unreadable(struct walk *w, struct sp_diags *d, const char *path)
{
    sp_diags_source(d, path, NULL);
    sp_emit(d, SP_E001, SP_AT_NOTHING, "%s", strerror(errno));
    sp_diags_source(d, NULL, NULL);
    w->failed = true;
}

/* The names in a folder, sorted. */
static spaa_status walk_entries(struct walk *w, struct sp_diags *d, const struct entry *folder, entries *out)
{
    DIR *dir = opendir(folder->path);
    spaa_status st = SPAA_OK;
    if (!dir) {
        unreadable(w, d, folder->path);
        return SPAA_OK;
    }
    for (struct dirent *e; !st && (errno = 0, e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct entry x = {walk_join(w, folder->path, e->d_name), folder->depth + 1};
        if (!x.path || !sp_vec_push(out, x))
            st = sp_nomem(d);
    }
    closedir(dir);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, cmp_entry);
    return st;
}

static spaa_status visit(struct walk *w, struct sp_diags *d, const struct entry *e, entries *inside)
{
    struct stat link, st;
    if (lstat(e->path, &link) != 0 || (S_ISLNK(link.st_mode) && stat(e->path, &st) != 0))
        return SPAA_OK; /* gone, or a link to nothing */
    if (!S_ISLNK(link.st_mode))
        st = link;
    if (S_ISREG(st.st_mode))
        return sp_vec_push(&w->paths, e->path) ? SPAA_OK : sp_nomem(d);
    if (!S_ISDIR(st.st_mode) || S_ISLNK(link.st_mode))
        return SPAA_OK;
    if (e->depth > WALK_DEPTH) {
        sp_diags_source(d, e->path, NULL);
        sp_emit(d, SP_E007, SP_AT_NOTHING, "folders in folders, more than %d deep", WALK_DEPTH);
        sp_diags_source(d, NULL, NULL);
        w->failed = true;
        return SPAA_OK;
    }
    return walk_entries(w, d, e, inside);
}

/* What is in a folder comes where the folder stands among its neighbours. */
spaa_status sp_walk_folder(const char *path, struct sp_diags *d, struct walk *out)
{
    entries todo = {0}; /* the next one last */
    struct entry top = {path, 0};
    *out = (struct walk){0};
    sp_arena_init(&out->arena, 0);
    entries inside = {0};
    spaa_status st = walk_entries(out, d, &top, &inside);
    for (;;) {
        for (size_t i = inside.n; !st && i-- > 0;)
            if (!sp_vec_push(&todo, inside.v[i]))
                st = sp_nomem(d);
        inside.n = 0;
        if (st || !todo.n)
            break;
        struct entry e = todo.v[--todo.n];
        st = visit(out, d, &e, &inside);
    }
    sp_vec_free(&todo);
    sp_vec_free(&inside);
    return st;
}

void sp_walk_free(struct walk *w)
{
    sp_vec_free(&w->paths);
    sp_arena_free(&w->arena);
}
