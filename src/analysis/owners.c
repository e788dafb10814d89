#include "analysis/owners.h"

#include "analysis/match.h"
#include "analysis/owner_names.h"
#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

/* What lines say of a function, and of a binary. */
enum { IN_LIBRARY = 1, ELSEWHERE = 2, HAS_INLINED = 4, IS_MIXED = 8 };

struct owner_judge {
    const struct sp_profile *p;
    struct sp_owner_names *names;
    unsigned char *signs, *binaries, *dso_lines; /* per DSO: its functions' signs; its kind; its lines */
    unsigned char *known, *lines; /* per function: its name or binary is in the table; its lines */
    unsigned char *kinds;         /* per function: the answer */
};

static void look_at_binaries(struct owner_judge *x)
{
    const struct sp_profile *p = x->p;
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        struct sp_str base = sp_base_name(sp_pstr(p, p->dsos.v[i].name));
        x->binaries[i] = (unsigned char)sp_owner_by_binary(x->names, base);
    }
    for (uint32_t i = 0; i < p->functions.n; i++) {
        const struct sp_function *f = &p->functions.v[i];
        x->signs[f->dso] |= (unsigned char)sp_owner_signs(sp_pstr(p, f->name));
    }
}

static void look_at_functions(struct owner_judge *x)
{
    const struct sp_profile *p = x->p;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        const struct sp_function *f = &p->functions.v[i];
        enum sp_owner_kind kind;
        x->known[i] = sp_owner_by_name(x->names, sp_pstr(p, f->name), x->signs[f->dso], &kind);
        if (!x->known[i])
            kind = (enum sp_owner_kind)x->binaries[f->dso];
        x->known[i] |= kind != SP_MAY_OWN;
        x->kinds[i] = (unsigned char)kind;
    }
}

/* Lines of functions; those of one after the other are often of one place. */
static void look_at_lines(struct owner_judge *x)
{
    const struct sp_profile *p = x->p;
    uint32_t last = SP_STR_NONE;
    unsigned char of_last = 0;
    for (size_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        unsigned char *dso = &x->dso_lines[p->functions.v[f->function].dso];
        *dso |= f->flags & SP_FRAME_INLINED ? HAS_INLINED : 0;
        if (f->srcline == SP_STR_NONE || f->flags & SP_FRAME_UNRESOLVED)
            continue;
        if (f->srcline != last) {
            enum sp_owner_kind kind = sp_owner_by_source(x->names, sp_pstr(p, f->srcline));
            of_last = kind == SP_MAY_OWN ? ELSEWHERE : IN_LIBRARY;
            last = f->srcline;
        }
        x->lines[f->function] |= of_last;
    }
}

/*
 * A function that has lines in headers of a library alone is that library's. Where a binary has no inlined
 * functions, and lines of others stand in both, headers prove nothing: own.h.
 */
static void judge_by_lines(struct owner_judge *x)
{
    const struct sp_profile *p = x->p;
    const unsigned char both = IN_LIBRARY | ELSEWHERE;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        unsigned char *dso = &x->dso_lines[p->functions.v[i].dso];
        *dso |= !(*dso & HAS_INLINED) && (x->lines[i] & both) == both ? IS_MIXED : 0;
    }
    for (uint32_t i = 0; i < p->functions.n; i++)
        if (!x->known[i] && x->lines[i] == IN_LIBRARY && !(x->dso_lines[p->functions.v[i].dso] & IS_MIXED))
            x->kinds[i] = SP_CONTAINER;
}

static spaa_status add_allocators(const struct sp_profile *p, const char *pattern, bool *any,
                                  struct sp_diags *d, unsigned char *kinds)
{
    unsigned char *hits;
    spaa_status st = sp_match_functions(p, pattern, d, &hits);
    if (st)
        return st;
    for (uint32_t i = 0; i < p->functions.n; i++)
        kinds[i] = hits[i] ? SP_ALLOCATOR : kinds[i];
    *any = memchr(hits, 1, p->functions.n) != NULL;
    free(hits);
    return SPAA_OK;
}

spaa_status sp_owner_kinds(const struct sp_profile *p, const char *more, bool *any, struct sp_diags *d,
                           unsigned char **out)
{
    size_t functions = p->functions.n + 1, dsos = p->dsos.n + 1;
    unsigned char *room = calloc(3, dsos), *rooms = calloc(2, functions), *kinds = malloc(functions);
    struct owner_judge x = {.p = p, .names = sp_owner_names(), .kinds = kinds};
    bool ok = room && rooms && kinds && x.names;
    if (ok) {
        x.signs = room;
        x.binaries = room + dsos;
        x.dso_lines = room + 2 * dsos;
        x.known = rooms;
        x.lines = rooms + functions;
        look_at_binaries(&x);
        look_at_functions(&x);
        look_at_lines(&x);
        judge_by_lines(&x);
        ok = !sp_owner_names_failed(x.names);
    }
    sp_owner_names_free(x.names);
    free(room);
    free(rooms);
    spaa_status st = !ok ? sp_nomem(d) : more ? add_allocators(p, more, any, d, kinds) : SPAA_OK;
    if (st)
        free(kinds);
    else
        *out = kinds;
    return st;
}

/* ---- stacks ---- */

static enum sp_owner_kind kind_at(const struct sp_profile *p, const unsigned char *kinds, uint32_t frame)
{
    return (enum sp_owner_kind)kinds[p->frames.v[frame].function];
}

/* Of a stack that nothing owns by its name: see owners.h. */
static size_t without_owner(const struct sp_profile *p, const unsigned char *kinds, const uint32_t *frames,
                            size_t n)
{
    size_t first = 0, container = n, i;
    while (first < n && kind_at(p, kinds, frames[first]) == SP_ALLOCATOR)
        first++;
    for (i = first; i < n && kind_at(p, kinds, frames[i]) != SP_RUNTIME; i++)
        if (kind_at(p, kinds, frames[i]) == SP_CONTAINER)
            container = i;
    if (container < n)
        return container;
    for (; i < n; i++)
        if (kind_at(p, kinds, frames[i]) == SP_RUNTIME &&
            !(p->frames.v[frames[i]].flags & SP_FRAME_UNRESOLVED))
            return i;
    return first < n ? first : n ? n - 1 : 0;
}

size_t sp_owner_skip(const struct sp_profile *p, const unsigned char *kinds, const uint32_t *frames, size_t n)
{
    size_t first = 0;
    while (first < n && kind_at(p, kinds, frames[first]) != SP_MAY_OWN)
        first++;
    return first < n ? first : without_owner(p, kinds, frames, n);
}

bool sp_is_of_memory(const struct sp_profile *p, uint32_t metric)
{
    static const char *const names[] = {"alloc_bytes",       "alloc_count", "free_bytes", "free_count",
                                        "live_bytes",        "live_count",  "peak_bytes", "x_peak_count",
                                        "x_temporary_count", NULL};
    struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
    return sp_name_index(names, name.p, name.n) >= 0;
}
