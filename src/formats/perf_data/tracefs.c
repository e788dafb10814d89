/*
 * Formats of tracepoints that the recording does not hold: from a folder that was named, else from this
 * machine's tracefs, if its kernel has the recorded release. A format is believed only if its ID is the
 * event's.
 *
 * Source: the kernel's Documentation/trace/events.rst; events/SYSTEM/NAME/format.
 */
#include "formats/perf_data/perf_data.h"

#include "io/file.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>

#define FORMAT_BYTES ((size_t)1 << 20)

static bool is_word(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(((p[i] | 32) >= 'a' && (p[i] | 32) <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '_' ||
              p[i] == '-'))
            return false;
    return n > 0 && n <= NAME_MAX;
}

/* "sched:sched_switch:u" -> "ROOT/events/sched/sched_switch/format"; false: it is no name of a tracepoint. */
static bool path_of(const char *root, struct sp_pd_text name, char path[static PATH_MAX])
{
    const char *colon = memchr(name.p, ':', name.n);
    if (!colon)
        return false;
    size_t system = (size_t)(colon - name.p), rest = name.n - system - 1;
    const char *more = memchr(colon + 1, ':', rest);
    size_t event = more ? (size_t)(more - colon - 1) : rest;
    if (!is_word(name.p, system) || !is_word(colon + 1, event))
        return false;
    int n = snprintf(path, PATH_MAX, "%s/events/%.*s/%.*s/format", root, (int)system, name.p, (int)event,
                     colon + 1);
    return n > 0 && n < PATH_MAX;
}

/* The format below a root, if its ID is the event's. */
static spaa_status try_root(struct sp_pd *pd, const char *root, const struct sp_pd_attr *a)
{
    char path[PATH_MAX], *text = NULL;
    size_t n = 0;
    spaa_status st = SPAA_ERR_NOT_FOUND;
    if (path_of(root, a->name, path))
        st = sp_file_slurp(path, FORMAT_BYTES, pd->d, &text, &n);
    if (st)
        return st == SPAA_ERR_NOMEM ? sp_nomem(pd->d) : st == SPAA_ERR_IO ? st : SPAA_OK;
    const char *copy = sp_arena_dup(&pd->arena, text, n); /* fields are named by it */
    free(text);
    return copy ? sp_pd_trace_format(pd, a->config, copy, n) : sp_nomem(pd->d);
}

static bool same_kernel(const struct sp_pd *pd)
{
    struct utsname u;
    return pd->osrelease.n && !uname(&u) && strlen(u.release) == pd->osrelease.n &&
           memcmp(u.release, pd->osrelease.p, pd->osrelease.n) == 0;
}

spaa_status sp_pd_tracefs(struct sp_pd *pd)
{
    const char *named = sp_own_opt(pd->opts->own, pd->opts->nown, "tracefs");
    const char *const roots[] = {named, "/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    unsigned found = 0, missing = 0;
    bool here = !named && same_kernel(pd);
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < pd->attrs.n && !st; i++) {
        const struct sp_pd_attr *a = &pd->attrs.v[i];
        if (a->type != PD_TRACEPOINT || !(a->sample_type & PD_RAW) || sp_pd_trace_find(pd, a->config))
            continue;
        for (size_t k = named ? 0 : 1; k < (here ? 3u : 1u) && !st; k++)
            if (!sp_pd_trace_find(pd, a->config))
                st = try_root(pd, roots[k], a);
        bool is_there = sp_pd_trace_find(pd, a->config);
        found += is_there;
        missing += !is_there;
    }
    if (found)
        sp_emit(pd->d, SP_I832, SP_AT_NOTHING, "%u event%s, from %s", found, found == 1 ? "" : "s",
                named ? named : "this machine");
    if (missing && pd->opts->samples)
        sp_emit(pd->d, SP_I833, SP_AT_NOTHING, "%u of %zu events", missing, pd->attrs.n);
    return st;
}
