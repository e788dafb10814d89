/*
 * spaa symbols gc: what was not used for long goes, a build at a time, the longest unused first. What was
 * used within the last hour stays: somebody may be reading it, and open the next part of it only later.
 */
#include "run/symbols.h"

#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HOUR 3600
#define DAY  86400

/* "500M": a number and perhaps a unit of 1024, 1024², …; false: it is none. */
static bool gc_size(const char *s, uint64_t *out)
{
    static const char units[] = "KMGT";
    const char *end = s + strlen(s), *unit;
    size_t n = sp_parse_u64(s, end, out);
    s += n;
    if (!n || !*s)
        return n;
    unit = strchr(units, toupper((unsigned char)*s));
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!unit || *out > UINT64_MAX >> shift)
        return false;
    *out <<= shift;
    s++;
    return !*s || strcmp(s, "B") == 0 || strcmp(s, "iB") == 0;
}

/* Somebody took it after it was looked at. The time of the note on where it is from means nothing. */
static bool gc_used_since(const struct symbols_store *x, const struct symbols_build *b, int64_t until)
{
    struct stat is;
    for (size_t i = b->first; i < b->first + b->n; i++) {
        const char *path = x->walk.paths.v[i], *dot = strrchr(path, '.');
        if (stat(path, &is) == 0 && strcmp(dot, SP_STORE_FROM) != 0 && is.st_atime > until)
            return true;
    }
    return false;
}

static spaa_status gc_remove(struct sp_run *run, const struct symbols_store *x, struct symbols_build *b,
                             int64_t hour_ago)
{
    b->in_use = gc_used_since(x, b, hour_ago);
    b->removed = !b->in_use;
    if (run->v.gc_dry_run || b->in_use)
        return SPAA_OK;
    for (size_t i = b->first; i < b->first + b->n; i++)
        if (unlink(x->walk.paths.v[i]) != 0 && errno != ENOENT) {
            sp_emit(run->diags, SP_E020, SP_AT_NOTHING, "%s: %s", x->walk.paths.v[i], strerror(errno));
            b->removed = false;
            return SPAA_ERR_IO;
        }
    return SPAA_OK;
}

/* The least recently used stand last. */
static spaa_status gc_all(struct sp_run *run, struct symbols_store *x, int64_t oldest, uint64_t most)
{
    uint64_t left = x->bytes;
    int64_t hour_ago = (int64_t)time(NULL) - HOUR;
    spaa_status st = SPAA_OK;
    for (size_t i = x->v.n; i-- > 0 && !st;) {
        struct symbols_build *b = &x->v.v[i];
        if (b->used >= oldest && left <= most)
            continue;
        st = gc_remove(run, x, b, hour_ago);
        left -= b->removed ? b->bytes : 0;
    }
    return st;
}

int sp_run_symbols_gc(struct sp_run *run, const char *store)
{
    struct symbols_store x;
    uint64_t days = 0, most = UINT64_MAX;
    const char *older = run->v.older_than, *size = run->v.max_size;
    if (!older && !size)
        return sp_run_usage(run, "spaa symbols gc --older-than 90, or --max-size 2G",
                            "symbols gc needs to be told what may go");
    if (older &&
        (sp_parse_u64(older, older + strlen(older), &days) != strlen(older) || !*older || days > 100000))
        return sp_run_usage(run, "a number of days: --older-than 90", "--older-than \"%s\"", older);
    if (size && !gc_size(size, &most))
        return sp_run_usage(run, "a number of bytes, K, M, G or T: --max-size 2G", "--max-size \"%s\"", size);
    spaa_status st = sp_run_symbols_read(run, store, &x);
    int64_t oldest = older ? (int64_t)time(NULL) - (int64_t)days * DAY : INT64_MIN;
    if (!st)
        st = gc_all(run, &x, oldest, most);
    int rc = st ? sp_run_exit(run, st) : sp_run_symbols_show(run, store, &x, true);
    sp_run_symbols_store_free(&x);
    return rc;
}
