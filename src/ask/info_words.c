/* What stands above the tables of `spaa info`: where the profile is from, what it holds, what it lacks. */
#include "ask/info.h"

#include "formats/format.h"
#include "formats/original.h"
#include "symbols/rsds.h"

enum { SHOWN = 8, BINARIES_SHOWN = 20, LACKING_SHOWN = 3 };

/* "name         words" of what is in the scratch, which is empty then. */
static void words_line(struct sp_info *x, const char *name)
{
    x->out->failed |= x->b.failed;
    sp_answer_line(x->out, "%-12s %s", name, sp_buf_cstr(&x->b));
    sp_buf_clear(&x->b);
}

static void words_of(struct sp_info *x, const char *name, uint32_t s)
{
    struct sp_str t = sp_pstr(x->profile, s);
    if (s == SP_STR_NONE)
        return;
    sp_buf_add(&x->b, t.p, t.n);
    words_line(x, name);
}

static void words_head(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    const struct sp_header *h = &p->header;
    if (x->q->format) {
        sp_buf_puts(&x->b, x->q->format->title);
        words_line(x, "format");
    }
    words_of(x, "tool", h->source_tool);
    words_of(x, "version", h->tool_version);
    words_of(x, "command", h->command);
    words_of(x, "host", h->host.name);
    words_of(x, "os", h->host.os);
    words_of(x, "arch", h->host.arch);
    words_of(x, "cpus", h->host.cpus);
    if (h->time_start) {
        struct sp_str unit = sp_pstr(p, h->time_unit);
        sp_buf_printf(&x->b, "%s to %s ", sp_str_cstr(&p->strs, h->time_start),
                      sp_str_cstr(&p->strs, h->time_end));
        sp_buf_add(&x->b, unit.p, unit.n);
        words_line(x, "time");
    }
    if (h->duration) {
        sp_buf_printf(&x->b, "%s s", sp_str_cstr(&p->strs, h->duration));
        words_line(x, "duration");
    }
    words_of(x, "clock", h->clock);
}

static void words_pools(struct sp_info *x)
{
    size_t n = x->pools.pools.n;
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        struct sp_str name = sp_str_at(&x->pools.names, x->pool_list[i]->name);
        sp_buf_puts(&x->b, i ? ", " : "");
        sp_buf_add(&x->b, name.p, name.n);
    }
    if (n > SHOWN)
        sp_buf_printf(&x->b, " and %zu more (--json)", n - SHOWN);
    if (n)
        words_line(x, "pools");
}

/* On samples alone, it is they that are counted. */
static void words_labels(struct sp_info *x)
{
    size_t n = x->labels.rows.n;
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct sp_label_row *r = &x->labels.rows.v[i];
        struct sp_str key = sp_pstr(x->profile, r->key);
        bool samples = !r->weight && x->labels.samples;
        sp_buf_add(&x->b, key.p, key.n);
        sp_buf_printf(&x->b, ": %llu value%s, on ", (unsigned long long)r->values, r->values == 1 ? "" : "s");
        if (samples)
            sp_text_percent(&x->b, (int64_t)r->samples, (int64_t)x->labels.samples);
        else
            sp_text_percent(&x->b, r->weight, x->labels_of);
        sp_buf_puts(&x->b, samples ? "% of samples" : "% of the weight");
        words_line(x, i ? "" : "labels");
    }
    if (n > SHOWN) {
        sp_buf_printf(&x->b, "and %zu more (--json)", n - SHOWN);
        words_line(x, "");
    }
}

/* In each form that people compare: with SPDDump's, with the PDB's, with a symbol server's. */
static void words_binaries(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    char guid[SP_GUID_ROOM], key[SP_RSDS_KEY_ROOM];
    struct sp_rsds r;
    size_t n = 0;
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str name = sp_pstr(p, p->dsos.v[i].name);
        if (!sp_info_rsds(p, &p->dsos.v[i], &r) || n++ >= BINARIES_SHOWN)
            continue;
        sp_guid_text(r.guid, guid);
        sp_rsds_key(&r, true, key);
        sp_buf_add(&x->b, name.p, name.n);
        sp_buf_printf(&x->b, "  %s age %u (0x%x)  %s", guid, r.age, r.age, key);
        words_line(x, n == 1 ? "binaries" : "");
    }
    if (n > BINARIES_SHOWN) {
        sp_buf_printf(&x->b, "and %zu more (--json)", n - BINARIES_SHOWN);
        words_line(x, "");
    }
}

static void words_granularity(struct sp_info *x)
{
    const struct sp_header *h = &x->profile->header;
    sp_buf_printf(&x->b, "frames by %s, stacks by", sp_granularity_names[h->frames]);
    for (unsigned i = 0; sp_group_names[i]; i++)
        if (h->group_by >> i & 1)
            sp_buf_printf(&x->b, " %s", sp_group_names[i]);
    sp_buf_puts(&x->b, h->group_by ? "" : " nothing");
    words_line(x, "granularity");
}

/* ---- what is lacking ---- */

static void words_losses(struct sp_info *x)
{
    const struct sp_header *h = &x->profile->header;
    const struct sp_quality q = {.lost = h->lost,
                                 .truncated = h->truncated,
                                 .unfinished = h->unfinished,
                                 .throttled_ns = h->throttled_ns};
    sp_losses_text(&x->b, &q);
    if (x->b.len)
        words_line(x, "quality");
}

static void words_chains(struct sp_info *x, const struct sp_info_event *e)
{
    const struct sp_selection s = {.profile = x->profile, .kept = e->total, .chains = e->chains};
    if (!sp_chains_tell(&s))
        return;
    sp_chains_words(&s, &x->b);
    sp_buf_puts(&x->b, "; ");
    sp_chains_hint(&s, &x->b);
    words_line(x, "callchains");
}

/* How much weight of the event has no names, or no debug information; the worst binaries, why, and what
 * helps. */
static void words_lacking(struct sp_info *x, uint32_t event, enum sp_note_of of)
{
    const struct sp_profile *p = x->profile;
    const struct sp_info_event *e = &x->events[event];
    const struct sp_quality *q = &e->quality;
    const struct sp_dso_weights *dsos = of == SP_NOTE_NAMES ? &q->dsos : &q->no_lines;
    struct sp_str name = sp_pstr(p, p->events.v[event].name);
    if (!dsos->list.n)
        return;
    sp_text_percent(&x->b, of == SP_NOTE_NAMES ? q->unresolved_leaf : q->lineless, e->total);
    sp_buf_puts(&x->b, "% of ");
    sp_buf_add(&x->b, name.p, name.n);
    words_line(x, of == SP_NOTE_NAMES ? "no names" : "no lines");
    if (of == SP_NOTE_NAMES && dsos->list.n <= LACKING_SHOWN)
        sp_answer_tells(x->out, SP_I320);
    for (size_t i = 0; i < dsos->list.n && i < LACKING_SHOWN; i++) {
        const struct sp_dso_weight *v = &dsos->list.v[i];
        const struct sp_dso_note *note = sp_profile_note_of(p, v->dso, of);
        sp_buf_puts(&x->b, "  ");
        sp_text_percent(&x->b, v->weight, e->total);
        sp_buf_puts(&x->b, "% ");
        name = sp_dso_name(p, v->dso);
        sp_buf_add(&x->b, name.p, name.n);
        for (int k = 0; note && k < 2; k++) {
            struct sp_str text = sp_pstr(p, k ? note->hint : note->why);
            sp_buf_puts(&x->b, !text.n ? "" : k ? "; " : ": ");
            sp_buf_add(&x->b, text.p, text.n);
        }
        words_line(x, "");
    }
    if (dsos->list.n > LACKING_SHOWN) {
        sp_buf_printf(&x->b, "  %zu more: --json has ten", dsos->list.n - LACKING_SHOWN);
        words_line(x, "");
    }
}

/* ---- originals (--lossless) ---- */

static spaa_status words_original(void *arg, const struct sp_original_about *about)
{
    struct sp_info *x = arg;
    if (about->damage) {
        sp_buf_puts(&x->b, about->damage);
    } else {
        sp_buf_puts(&x->b, about->format);
        if (about->file)
            sp_buf_printf(&x->b, ", %s", about->file);
        sp_buf_puts(&x->b, ", ");
        sp_text_bytes(&x->b, about->size < INT64_MAX ? (int64_t)about->size : INT64_MAX, 0);
        sp_buf_printf(&x->b, " (convert --lossless --to %s gives it back)", about->format);
    }
    words_line(x, "original");
    return SPAA_OK;
}

/* Of hang reports the samples say it all: each process has some. */
static void words_reported(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    int64_t began = sp_info_told(p, false), ended = sp_info_told(p, true);
    if (!began && !ended && p->processes.n <= x->processes)
        return;
    sp_buf_printf(&x->b, "%zu reported", p->processes.n);
    if (began || ended)
        sp_buf_printf(&x->b, ", of which %lld began and %lld ended meanwhile", (long long)began,
                      (long long)ended);
    if (x->reused)
        sp_buf_printf(&x->b, "; %llu number%s of several, one after the other", (unsigned long long)x->reused,
                      x->reused == 1 ? " was" : "s were");
    words_line(x, "processes");
}

spaa_status sp_info_words(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    uint32_t first = sp_default_event(p);
    if (!x->q->brief)
        return SPAA_OK;
    words_head(x);
    if (p->threads.n) {
        sp_text_grouped(&x->b, (int64_t)p->threads.n, 0);
        sp_buf_printf(&x->b, " of %llu process%s", (unsigned long long)x->processes,
                      x->processes == 1 ? "" : "es");
        words_line(x, "threads");
    }
    words_reported(x);
    words_pools(x);
    words_labels(x);
    const size_t sizes[] = {p->stacks.n, p->frames.n, p->functions.n};
    static const char *const of[] = {"stack", "frame", "function"}, *const behind[] = {" of ", ", ", ", "};
    for (size_t i = 0; i < 3; i++) {
        sp_text_count(&x->b, sizes[i], of[i]);
        sp_buf_puts(&x->b, behind[i]);
    }
    sp_text_grouped(&x->b, (int64_t)p->dsos.n, 0);
    sp_buf_puts(&x->b, p->dsos.n == 1 ? " binary" : " binaries");
    words_line(x, "tables");
    words_binaries(x);
    words_granularity(x);
    words_losses(x);
    if (first != SP_NONE && !x->events[first].cannot_add) {
        words_chains(x, &x->events[first]);
        words_lacking(x, first, SP_NOTE_NAMES);
        words_lacking(x, first, SP_NOTE_LINES);
    }
    if (first != SP_NONE && p->events.n > 1)
        words_of(x, "default", p->events.v[first].name);
    spaa_status st = sp_info_report(x);
    if (!st)
        st = sp_original_each(p->originals, false, x->q->diags, words_original, x);
    sp_answer_line(x->out, "%s", "");
    return st;
}
