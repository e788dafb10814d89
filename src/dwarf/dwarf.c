/* Opening, and the question: address to frames. */
#include "dwarf/dwarf.h"

#include "base/thread.h"
#include "base/watch.h"
#include "dwarf/private.h"

#include <stdlib.h>

#define CANDIDATES_MAX 64u /* units that are asked about one address */
#define THREADS_MAX    64u

spaa_status sp_dwarf_open(const char *path, const struct sp_dwarf_places *places, struct sp_diags *diags,
                          struct sp_dwarf **out)
{
    struct sp_dwarf *d = calloc(1, sizeof *d);
    if (!d)
        return SPAA_ERR_NOMEM;
    bool ok = true;
    d->diags = diags;
    sp_arena_init(&d->arena, 0);
    pthread_mutex_init(&d->lock, NULL);
    d->root = sp_dw_copy(places ? places->root : NULL, &ok);
    d->debug_dir = sp_dw_copy(places ? places->debug_dir : NULL, &ok);
    d->store = sp_dw_copy(places ? places->store : NULL, &ok);
    for (unsigned i = 0; places && i < SP_DWARF_BESIDE; i++)
        if (places->beside[i] && strcmp(places->beside[i], path) != 0)
            d->beside[i] = sp_dw_copy(places->beside[i], &ok);
    spaa_status st =
        ok ? sp_dw_file_open(path, false, places ? places->uuid : NULL, diags, &d->main) : SPAA_ERR_NOMEM;
    if (!st && d->main->unlinked)
        st = SPAA_ERR_NOT_FOUND;
    if (!st)
        st = sp_dw_units(d, d->main);
    if (!st)
        st = sp_dw_covers(d);
    if (!st)
        st = sp_dwarf_failed(d);
    if (st)
        sp_dwarf_free(d);
    else
        *out = d;
    return st;
}

void sp_dwarf_free(struct sp_dwarf *d)
{
    if (!d)
        return;
    sp_dw_file_free(d->main);
    sp_dw_file_free(d->dwp);
    for (size_t i = 0; i < d->dwos.n; i++)
        sp_dw_file_free(d->dwos.v[i]);
    sp_vec_free(&d->dwos);
    sp_dw_lines_free(d);
    sp_dw_abbrevs_free(d);
    sp_vec_free(&d->covers);
    sp_vec_free(&d->functions);
    sp_map_free(&d->function_map);
    sp_arena_free(&d->arena);
    pthread_mutex_destroy(&d->lock);
    for (size_t i = 0; i < d->unusable.n; i++)
        free(d->unusable.v[i].path);
    sp_vec_free(&d->unusable);
    for (unsigned i = 0; i < SP_DWARF_BESIDE; i++)
        free(d->beside[i]);
    free(d->root);
    free(d->debug_dir);
    free(d->store);
    free(d);
}

const char *sp_dwarf_missing(const struct sp_dwarf *d, size_t *units)
{
    *units = d->missing;
    return d->missing_name;
}

/* Fills in what a unit has not yet built. */
static void build(struct sp_dwarf *d, struct sp_dw_unit *u, enum sp_dwarf_want want)
{
    sp_dw_split(d, u);
    bool ok = sp_dw_inlines_build(d, u->split ? u->split : u);
    if (want == SP_DWARF_LINES)
        ok = sp_dw_lines_build(d, u) && ok;
    if (!ok)
        sp_dw_fail(d, SPAA_ERR_NOMEM);
}

/* The number of covers that begin at or below addr. */
static size_t covers_upto(const struct sp_dwarf *d, uint64_t addr)
{
    size_t lo = 0, hi = d->covers.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (d->covers.v[mid].lo <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The number of covers up to the last of the first `upto` that addr is in; 0: it is in none. */
static size_t covered(const struct sp_dwarf *d, size_t upto, uint64_t addr)
{
    bool none = !upto || sp_dwarf_failed(d) || sp_dw_excess(d);
    return none ? 0 : sp_dw_reach_find(&d->covers.v->reach, sizeof *d->covers.v, upto, addr);
}

/* An address of the unit as those that are asked about; 0: not known. */
static uint64_t asked(const struct sp_dwarf *d, uint64_t addr)
{
    return addr ? addr - d->main->base : 0;
}

/* The frames of a node of a unit, innermost first. */
static size_t frames_of(struct sp_dwarf *d, struct sp_dw_unit *u, uint32_t node, uint64_t addr,
                        struct sp_dwarf_frame *out, size_t max)
{
    struct sp_dw_unit *code = u->split ? u->split : u;
    const struct sp_dw_inlines *in = &code->inlines;
    const struct sp_dw_lines *lines = u->lines && u->lines->built ? u->lines : NULL;
    const struct sp_dw_line_row *row = lines ? sp_dw_lines_find(lines, addr) : NULL;
    size_t depth = 0, n = 0;
    for (uint32_t i = node; i != DW_NO_NODE; i = in->nodes.v[i].parent)
        depth++;
    struct sp_dwarf_frame place = {0};
    if (row) {
        sp_dw_file_of(lines, row->file, &place.file);
        place.line = row->line;
        place.column = row->column;
    }
    if (!depth) {
        out[0] = place;
        return place.file.name != NULL;
    }
    for (uint32_t i = node; i != DW_NO_NODE; depth--) {
        const struct sp_dw_node *k = &in->nodes.v[i];
        if (depth <= max) {
            out[n] = sp_dw_function_of(d, code, k->die);
            out[n].file = place.file;
            out[n].line = place.line;
            out[n].column = place.column;
            out[n].copy = k->parent == DW_NO_NODE ? 0 : asked(d, sp_dw_inlines_copy(in, k->die));
            out[n++].entry = asked(d, k->entry);
        }
        place = (struct sp_dwarf_frame){.line = k->call_line, .column = k->call_column};
        if (lines)
            sp_dw_file_of(lines, k->call_file, &place.file);
        i = k->parent;
    }
    return n;
}

size_t sp_dwarf_find(struct sp_dwarf *d, uint64_t addr, enum sp_dwarf_want want, struct sp_dwarf_frame *out,
                     size_t max)
{
    addr += d->main->base;
    size_t at = covers_upto(d, addr), first = SIZE_MAX;
    for (unsigned tries = 0; max && tries < CANDIDATES_MAX && (at = covered(d, at, addr)); tries++, at--) {
        const struct sp_dw_cover *c = &d->covers.v[at - 1];
        struct sp_dw_unit *u = &d->main->units.v[c->unit];
        build(d, u, want);
        if (sp_dwarf_failed(d) || sp_dw_excess(d))
            return 0;
        uint32_t node = sp_dw_inlines_find(u->split ? &u->split->inlines : &u->inlines, addr);
        if (node != DW_NO_NODE)
            return frames_of(d, u, node, addr, out, max);
        first = first == SIZE_MAX ? c->unit : first;
    }
    return first == SIZE_MAX ? 0 : frames_of(d, &d->main->units.v[first], DW_NO_NODE, addr, out, max);
}

/* What several threads share while they build units. */
struct team {
    struct sp_dwarf *d;
    enum sp_dwarf_want want;
    const uint32_t *units;
    size_t n;
    atomic_size_t next;
};

static void *dwarf_work(void *arg)
{
    struct team *t = arg;
    for (size_t i;
         !sp_cancelled(t->d->diags) && !sp_dw_excess(t->d) && (i = atomic_fetch_add(&t->next, 1)) < t->n;)
        build(t->d, &t->d->main->units.v[t->units[i]], t->want);
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

void sp_dwarf_prepare(struct sp_dwarf *d, const uint64_t *addrs, size_t n, enum sp_dwarf_want want,
                      unsigned jobs)
{
    SP_VEC(uint32_t) units = {0};
    pthread_t threads[THREADS_MAX];
    unsigned started = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t addr = addrs[i] + d->main->base;
        size_t at = covered(d, covers_upto(d, addr), addr);
        const struct sp_dw_cover *c = at ? &d->covers.v[at - 1] : NULL;
        if (c && (!units.n || units.v[units.n - 1] != c->unit) && !sp_vec_push(&units, c->unit))
            sp_dw_fail(d, SPAA_ERR_NOMEM);
    }
    if (units.n)
        qsort(units.v, units.n, sizeof *units.v, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < units.n; i++)
        if (!kept || units.v[kept - 1] != units.v[i])
            units.v[kept++] = units.v[i];
    struct team t = {.d = d, .want = want, .units = units.v, .n = kept};
    for (; started + 1 < jobs && started + 1 < kept && started < THREADS_MAX; started++)
        if (sp_thread_start(&threads[started], dwarf_work, &t))
            break;
    dwarf_work(&t); /* with one thread, too: what a file may not ask for depends on what was read of it */
    while (started)
        pthread_join(threads[--started], NULL);
    sp_vec_free(&units);
}
