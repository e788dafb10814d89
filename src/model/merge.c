#include "model/labels.h"
#include "model/merge_private.h"
#include "model/source_pieces.h"

#include <stdlib.h>
#include <string.h>

spaa_status sp_merger_new(const struct sp_merge_opts *opts, struct sp_diags *d, struct sp_merger **out)
{
    struct sp_merger *m = calloc(1, sizeof *m);
    if (!m)
        return sp_nomem(d);
    *m = (struct sp_merger){.opts = *opts, .d = d};
    spaa_status st = sp_profile_new(d, &m->p);
    if (st) {
        sp_merger_free(m);
        return st;
    }
    m->p->header.frames = opts->frames;
    m->p->header.group_by = opts->group_by;
    *out = m;
    return SPAA_OK;
}

/* Everything but what outlives a change of the grain. */
static void merge_release(struct sp_merger *m)
{
    sp_profile_free(m->p);
    sp_profile_free(m->own);
    sp_map_free(&m->dsos);
    sp_map_free(&m->frames);
    sp_map_free(&m->pairs);
    m->p = m->own = NULL;
}

void sp_merger_free(struct sp_merger *m)
{
    if (!m)
        return;
    merge_release(m);
    sp_vec_free(&m->snapshots);
    sp_vec_free(&m->sources);
    free(m);
}

static uint32_t *table(struct sp_absorber *a, size_t n)
{
    uint32_t *t = calloc(n + 1, sizeof *t);
    a->nomem = a->nomem || !t;
    return t;
}

static spaa_status offer_labels(struct sp_absorber *a)
{
    for (size_t i = 0; i < a->from->label_offers.n; i++)
        if (!sp_labels_offer(a->to, sp_pstr(a->from, a->from->label_offers.v[i])))
            return sp_nomem(a->d);
    return SPAA_OK;
}

static spaa_status list_sources(struct sp_absorber *a)
{
    struct sp_profile *p = a->to;
    const struct sp_profile *from = a->from;
    if (!a->m->opts.canonical && a->m->opts.by_source)
        return SPAA_OK;
    for (size_t i = 0; i < from->sources.n; i++)
        if (!sp_vec_push(&p->sources, sp_absorb_str(a, from->sources.v[i])))
            return sp_nomem(a->d);
    return from->sources.n || !a->m->opts.canonical || sp_vec_push(&p->sources, a->source) ? SPAA_OK
                                                                                           : sp_nomem(a->d);
}

/* source NULL: it is what was added up so far. */
static spaa_status absorb(struct sp_merger *m, const struct sp_profile *from,
                          const struct sp_profile *from_own, const char *source)
{
    struct sp_absorber a = {.m = m, .to = m->p, .from = from, .from_own = from_own, .d = m->d};
    struct {
        uint32_t **table;
        size_t n;
    } tables[] = {{&a.strs, from->strs.strs.n},      {&a.events, from->events.n},
                  {&a.metrics, from->metrics.n},     {&a.dsos, from->dsos.n},
                  {&a.functions, from->functions.n}, {&a.frames, from->frames.n},
                  {&a.contexts, from->contexts.n},   {&a.layouts, from->layouts.n},
                  {&a.stacks, from->stacks.n},       {&a.edges, from->edge_lists.n}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i].table = table(&a, tables[i].n);
    if (m->opts.canonical || m->opts.by_source)
        a.source = sp_profile_text(m->p, source ? source : "", source ? strlen(source) : 0);
    spaa_status st = a.nomem || a.source == SP_STR_FAIL ? sp_nomem(m->d) : SPAA_OK;
    if (!st) {
        sp_absorb_header(&a, !m->any);
        st = sp_absorb_duration(&a, !m->any, !source);
    }
    if (!st)
        st = list_sources(&a);
    if (!st)
        st = offer_labels(&a);
    if (!st)
        st = sp_absorb_events(&a);
    if (!st)
        st = sp_absorb_dictionary(&a);
    if (!st)
        st = sp_absorb_layouts(&a);
    if (!st)
        st = sp_absorb_stacks(&a);
    if (!st)
        st = sp_absorb_rest(&a);
    if (!st && a.nomem)
        st = sp_nomem(m->d);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        free(*tables[i].table);
    m->any = true;
    return st;
}

/* What was added so far, again: with coarser frames or fewer groups, or to be rid of stale texts. */
static spaa_status merge_coarsen(struct sp_merger *m, enum sp_granularity frames, unsigned group_by)
{
    struct sp_merger old = *m;
    struct sp_merge_opts opts = m->opts;
    *m = (struct sp_merger){.opts = opts, .d = old.d};
    spaa_status st = sp_profile_new(m->d, &m->p);
    if (!st) {
        m->p->header.frames = frames;
        m->p->header.group_by = group_by;
        st = absorb(m, old.p, old.own, NULL);
    }
    m->samples_left = old.samples_left;
    m->windows_left = old.windows_left;
    m->text_left = old.text_left;
    m->links_left = old.links_left;
    m->kernel_left = old.kernel_left;
    memcpy(&m->snapshots, &old.snapshots, sizeof m->snapshots);
    memcpy(&m->sources, &old.sources, sizeof m->sources);
    m->beyond = m->beyond || old.beyond;
    m->units_differ = m->units_differ || old.units_differ;
    merge_release(&old);
    return st;
}

/* Sums that are texts leave the texts of earlier sums behind. */
static bool mostly_stale(const struct sp_merger *m)
{
    size_t texts = m->p->strs.arena.total + (m->own ? m->own->strs.arena.total : 0);
    return m->stale > (size_t)16 << 20 && m->stale > texts / 4;
}

spaa_status sp_merger_add(struct sp_merger *m, const struct sp_profile *from, const char *source)
{
    const struct sp_header *h = &m->p->header;
    enum sp_granularity frames = from->header.frames > h->frames ? from->header.frames : h->frames;
    unsigned group_by = h->group_by & sp_stated_groups(from);
    spaa_status st = SPAA_OK;
    if (!m->any) {
        m->p->header.frames = frames;
        if (m->opts.canonical)
            m->p->header.group_by = group_by;
    } else if (frames > h->frames || (m->opts.canonical && group_by != h->group_by) || mostly_stale(m)) {
        st = merge_coarsen(m, frames, m->opts.canonical ? group_by : h->group_by);
    }
    if (!st && (!sp_merge_note_snapshot(m, from) || !sp_merge_note_sources(m, from)))
        st = sp_nomem(m->d);
    return st ? st : absorb(m, from, NULL, source);
}

/* Who asks about several files (by_source) takes no notice of other records than stacks, samples and windows.
 */
static void say_left_out(const struct sp_merger *m)
{
    if (m->samples_left + m->windows_left || (!m->opts.by_source && m->text_left))
        sp_emit(m->d, SP_I321, SP_AT_NOTHING, "%llu samples, %llu windows and %llu extension records%s",
                (unsigned long long)m->samples_left, (unsigned long long)m->windows_left,
                (unsigned long long)m->text_left,
                m->opts.canonical && !m->opts.samples && m->samples_left + m->windows_left
                    ? "; --samples keeps samples and windows"
                    : "");
    if (m->beyond)
        sp_emit(m->d, SP_W624, SP_AT_NOTHING, " ");
    sp_merge_say_snapshots(m);
    if (m->units_differ)
        sp_emit(m->d, SP_W625, SP_AT_NOTHING, " ");
    if (m->links_left)
        sp_emit(m->d, SP_W626, SP_AT_NOTHING, "%llu stacks; %llu kernel sides were left out",
                (unsigned long long)m->links_left, (unsigned long long)m->kernel_left);
}

spaa_status sp_merger_finish(struct sp_merger *m, struct sp_profile **out)
{
    spaa_status st = sp_merge_exclusives(m);
    if (!st && m->opts.canonical)
        st = sp_merge_sort_rest(m);
    if (!st)
        sp_merge_drop_sources(m);
    if (!st)
        st = sp_source_pieces_settle(m->p, m->d);
    if (!st && !sp_functions_settle(m->p))
        st = sp_nomem(m->d);
    if (st)
        return st;
    say_left_out(m);
    *out = m->p;
    m->p = NULL;
    return SPAA_OK;
}
