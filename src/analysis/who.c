#include "analysis/who.h"

#include "analysis/match.h"
#include "analysis/names.h"
#include "analysis/pool.h"
#include "analysis/thread_info.h"
#include "base/num.h"
#include "model/thread_names.h"

#include <fnmatch.h>
#include <stdlib.h>

struct asked {
    const struct sp_profile *p;
    const struct sp_pools *pools;
    struct sp_thread_info info; /* of threads */
    const char *text;
    bool threads; /* by thread, else by comm */
    struct sp_buf row;
};

/* The labels in `"a"(1), "b"(12)`, and a text without quotes as it stands. */
static bool each_queue(struct asked *x, struct sp_str s, bool (*fits)(const struct asked *, struct sp_str))
{
    if (s.n && *s.p != '"')
        return fits(x, s);
    for (uint32_t i = 0, k; i < s.n; i = k + 1) { /* a label may hold quotes: it ends at `"(` */
        i += s.p[i] == '"';
        for (k = i; k < s.n && !(s.p[k] == '"' && (k + 1 == s.n || s.p[k + 1] == '(')); k++)
            continue;
        if (k > i && fits(x, (struct sp_str){s.p + i, k - i}))
            return true;
        while (k < s.n && s.p[k] != ',')
            k++;
        while (k + 1 < s.n && s.p[k + 1] == ' ')
            k++;
    }
    return false;
}

/* What a context is called: its comm, and of threads what the profiler knows them by. */
static bool each_name(struct asked *x, uint32_t context, bool (*fits)(const struct asked *, struct sp_str))
{
    const struct sp_context *c = &x->p->contexts.v[context];
    uint32_t name = x->pools->thread[context];
    uint32_t comm = sp_context_name(x->p, c);
    if ((comm && fits(x, sp_pstr(x->p, comm))) ||
        (x->threads && name && fits(x, sp_str_at(&x->pools->names, name))))
        return true;
    const struct sp_reported_thread *t =
        x->threads && c->tid != SP_ABSENT ? sp_thread_info_thread(&x->info, c->tid) : NULL;
    return t &&
           ((t->name && fits(x, sp_pstr(x->p, t->name))) || each_queue(x, sp_pstr(x->p, t->queue), fits));
}

static bool who_is_text(const struct asked *x, struct sp_str name)
{
    return sp_str_is(name, x->text);
}

bool sp_who_lists(const char *list, int64_t number)
{
    char text[64];
    sp_scaled_text(number, 0, text);
    if (strcmp(list, text) == 0)
        return true;
    if (list[strspn(list, "0123456789, ")]) /* a name may have commas */
        return false;
    size_t n = strlen(text);
    for (const char *p = list + strspn(list, ", "); *p; p += strspn(p, ", ")) {
        size_t m = strcspn(p, ", ");
        if (m == n && memcmp(p, text, n) == 0)
            return true;
        p += m;
    }
    return false;
}

static bool is_itself(struct asked *x, uint32_t context)
{
    const struct sp_context *c = &x->p->contexts.v[context];
    char tid[64];
    if (each_name(x, context, who_is_text))
        return true;
    if (!x->threads || c->tid == SP_ABSENT)
        return false;
    uint64_t hex; /* as hang reports print it */
    size_t n = strncmp(x->text, "0x", 2) ? 0 : sp_parse_hex(x->text + 2, x->text + strlen(x->text), &hex);
    if (n && !x->text[2 + n] && hex == (uint64_t)c->tid)
        return true;
    sp_scaled_text(c->tid, 0, tid);
    sp_buf_clear(&x->row);
    sp_thread_name(&x->row, x->p, c);
    return strcmp(tid, x->text) == 0 || strcmp(sp_buf_cstr(&x->row), x->text) == 0;
}

static bool is_listed(struct asked *x, uint32_t context)
{
    int64_t tid = x->p->contexts.v[context].tid;
    return x->threads && tid != SP_ABSENT && sp_who_lists(x->text, tid);
}

/* A thread's time before it was named is of its pool, but not of the pool's comm. */
static bool has_comm_of(const struct asked *x, uint32_t context, const struct sp_pool *pool)
{
    struct sp_str comm = sp_pstr(x->p, sp_context_name(x->p, &x->p->contexts.v[context])),
                  name = sp_str_at(&x->pools->names, x->pools->thread[context]);
    return sp_pool_of_comm(x->pools, context) || sp_str_cmp(comm, name) != 0 ||
           sp_str_cmp(comm, sp_str_at(&x->pools->names, pool->pattern)) == 0;
}

static bool is_pool(struct asked *x, uint32_t context)
{
    const struct sp_pool *thread = sp_pool_of_thread(x->pools, context),
                         *comm = sp_pool_of_comm(x->pools, context);
    return (thread && who_is_text(x, sp_str_at(&x->pools->names, thread->name)) &&
            (x->threads || has_comm_of(x, context, thread))) ||
           (comm && who_is_text(x, sp_str_at(&x->pools->names, comm->name)));
}

static bool fits_glob(const struct asked *x, struct sp_str name)
{
    char part[256]; /* of a list of labels */
    if (name.p[name.n] == '\0')
        return fnmatch(x->text, name.p, 0) == 0;
    if (name.n >= sizeof part)
        return false;
    memcpy(part, name.p, name.n);
    part[name.n] = '\0';
    return fnmatch(x->text, part, 0) == 0;
}

static bool is_glob(struct asked *x, uint32_t context)
{
    return strpbrk(x->text, "*?[") && each_name(x, context, fits_glob);
}

static bool who_mark(struct asked *x, bool (*fits)(struct asked *, uint32_t), unsigned char *out)
{
    bool any = false;
    for (uint32_t i = 0; i < x->p->contexts.n; i++) {
        out[i] = fits(x, i);
        any = any || out[i];
    }
    return any;
}

/* /RE/ */
static spaa_status mark_matches(struct asked *x, struct sp_diags *d, unsigned char *out)
{
    struct sp_buf pattern;
    size_t n = strlen(x->text), contexts = x->p->contexts.n;
    unsigned char *hits = NULL;
    if (n < 3 || x->text[0] != '/' || x->text[n - 1] != '/')
        return SPAA_OK;
    uint32_t *comms = malloc((contexts + 1) * sizeof *comms);
    for (size_t i = 0; comms && i < contexts; i++)
        comms[i] = sp_context_name(x->p, &x->p->contexts.v[i]);
    sp_buf_init(&pattern, 0);
    sp_buf_add(&pattern, x->text + 1, n - 2);
    spaa_status st = pattern.failed || !comms ? sp_nomem(d) : SPAA_OK;
    for (int names = 0; !st && names <= x->threads; names++) {
        st = names ? sp_match_strings(&x->pools->names, x->pools->thread, contexts, sp_buf_cstr(&pattern), d,
                                      &hits)
                   : sp_match_strings(&x->p->strs, comms, contexts, sp_buf_cstr(&pattern), d, &hits);
        for (size_t i = 0; !st && i < contexts; i++)
            out[i] |= hits[i];
        free(hits);
        hits = NULL;
    }
    free(comms);
    sp_buf_free(&pattern);
    return st;
}

static spaa_status who_find(const struct sp_profile *p, const char *text, bool threads, struct sp_diags *d,
                            unsigned char **out)
{
    struct sp_pools pools;
    spaa_status st = sp_pools_of(p, NULL, d, &pools); /* rows that --no-pool takes apart can be asked for */
    if (st)
        return st;
    struct asked x = {.p = p, .pools = &pools, .text = text, .threads = threads};
    if (threads && (st = sp_thread_info_of(p, d, &x.info))) {
        sp_pools_free(&pools);
        return st;
    }
    unsigned char *hits = malloc(p->contexts.n + 1);
    sp_buf_init(&x.row, 0);
    if (!hits)
        st = sp_nomem(d);
    else if (!who_mark(&x, is_itself, hits) && !who_mark(&x, is_listed, hits) &&
             !who_mark(&x, is_pool, hits) && !who_mark(&x, is_glob, hits))
        st = mark_matches(&x, d, hits);
    sp_buf_free(&x.row);
    sp_thread_info_free(&x.info);
    sp_pools_free(&pools);
    if (st)
        free(hits);
    else
        *out = hits;
    return st;
}

spaa_status sp_who_comms(const struct sp_profile *p, const char *asked, struct sp_diags *d,
                         unsigned char **out)
{
    return who_find(p, asked, false, d, out);
}

spaa_status sp_who_threads(const struct sp_profile *p, const char *asked, struct sp_diags *d,
                           unsigned char **out)
{
    return who_find(p, asked, true, d, out);
}
