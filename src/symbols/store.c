#include "symbols/store.h"

#include "symbols/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEX       "0123456789abcdef"
#define NAMES_MAX 4096u /* in a folder that is looked through */

const char *sp_store_folder(const char *asked, struct sp_buf *b)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (asked)
        return *asked && strcmp(asked, "none") != 0 ? sp_path(b, "%s", asked) : NULL;
    if (cache && *cache == '/')
        return sp_path(b, "%s/spaa/symbols", cache);
    return home && *home ? sp_path(b, "%s/.cache/spaa/symbols", home) : NULL;
}

const char *sp_store_path(struct sp_buf *b, const char *store, const char *id, const char *part)
{
    return sp_path(b, "%s/.build-id/%.2s/%s%s", store, id, id + 2, part);
}

bool sp_store_name(const char *name, char id[static SP_STORE_ID_ROOM], char part[static SP_STORE_PART_ROOM])
{
    static const char *const parts[] = {SP_STORE_FILE, SP_STORE_DEBUG, SP_STORE_PDB, SP_STORE_FROM};
    size_t kallsyms = sizeof SP_STORE_KALLSYMS - 1, n = strspn(name, HEX);
    if (n != 2 || name[2] != '/')
        return false;
    const char *rest = name + 3, *tail = rest + strspn(rest, HEX);
    size_t digits = 2 + (size_t)(tail - rest);
    if (digits >= SP_STORE_ID_ROOM || strlen(tail) >= SP_STORE_PART_ROOM)
        return false;
    snprintf(id, SP_STORE_ID_ROOM, "%.2s%.*s", name, (int)(tail - rest), rest);
    snprintf(part, SP_STORE_PART_ROOM, "%s", tail);
    if (!sp_is_build_id(id))
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(tail, parts[i]))
            return true;
    return !strncmp(tail, SP_STORE_KALLSYMS, kallsyms) && strspn(tail + kallsyms, HEX) == 16 &&
           !tail[kallsyms + 16];
}

/* The first of the boots that there are, by the address of _text; false: none. */
static bool store_boot(const char *folder, const char *name, char part[static SP_STORE_PART_ROOM])
{
    size_t n = strlen(name), kallsyms = sizeof SP_STORE_KALLSYMS - 1;
    DIR *d = opendir(folder);
    const struct dirent *e;
    part[0] = '\0';
    for (unsigned i = 0; d && i < NAMES_MAX && (e = readdir(d)); i++) {
        const char *tail = e->d_name + n;
        if (strncmp(e->d_name, name, n) != 0 || strncmp(tail, SP_STORE_KALLSYMS, kallsyms) != 0 ||
            strspn(tail + kallsyms, HEX) != 16 || tail[kallsyms + 16])
            continue;
        if (!part[0] || strcmp(tail, part) < 0)
            snprintf(part, SP_STORE_PART_ROOM, "%s", tail);
    }
    if (d)
        closedir(d);
    return part[0];
}

const char *sp_store_kallsyms(struct sp_buf *b, const char *store, const char *id, uint64_t text)
{
    char part[SP_STORE_PART_ROOM];
    snprintf(part, sizeof part, SP_STORE_KALLSYMS "%016llx", (unsigned long long)text);
    if (!text && !store_boot(sp_path(b, "%s/.build-id/%.2s", store, id), id + 2, part))
        return "";
    return sp_store_path(b, store, id, part);
}

bool sp_store_is_undated(const char *path)
{
    struct statx x;
    size_t n = strlen(path);
    bool copy = strstr(path, "/.build-id/") || strstr(path, "/debuginfod_client/");
    if (!copy || statx(AT_FDCWD, path, 0, STATX_BTIME | STATX_MTIME | STATX_NLINK, &x))
        return false;
    bool perf = n > 4 && strcmp(path + n - 4, "/elf") == 0; /* which links the file itself where it can */
    if (perf && x.stx_mask & STATX_NLINK && x.stx_nlink > 1)
        return false;
    const struct statx_timestamp born = x.stx_btime, written = x.stx_mtime;
    bool older =
        written.tv_sec != born.tv_sec ? written.tv_sec < born.tv_sec : written.tv_nsec < born.tv_nsec;
    return !written.tv_sec || !(x.stx_mask & STATX_BTIME) || !older;
}
