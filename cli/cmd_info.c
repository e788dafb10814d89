/* spaa info: what is in a profile, and how good it is. */
#include "answer.h"
#include "info.h"

#include "base/num.h"
#include "formats/original.h"
#include "render/text.h"
#include "symbols/rsds.h"

#include <stdlib.h>

struct event_info {
    int64_t samples; /* SP_ABSENT: not counted */
    int64_t total;
    unsigned scale;
    bool cannot_add;
    struct sp_str unit;
    uint64_t stacks;
    struct sp_quality quality;
    struct sp_chains *chains;
};

struct profile_info {
    struct event_info *events; /* by event */
    struct info_metrics *metrics;
    struct info_pools pools;
    struct info_labels labels;
};

static spaa_status event_info_of(struct cli *c, uint32_t event, struct event_info *f)
{
    struct sp_selection s;
    struct sp_select_opts o = {.event_number = &event, .view = "all"};
    spaa_status st = sp_select(c->profile, &o, &c->diags, &s);
    if (st)
        return st;
    *f = (struct event_info){s.samples, s.kept, s.scale, s.cannot_add, s.unit, s.rows.n, {0}, NULL};
    st = sp_quality_of(&s, &c->diags, &f->quality);
    f->chains = s.chains; /* which the answer tells when the selection is gone */
    s.chains = NULL;
    sp_selection_free(&s);
    return st;
}

static uint64_t processes(const struct sp_profile *p)
{
    uint64_t n = 0;
    struct sp_map seen = {0};
    for (uint32_t i = 0; i < p->threads.n; i++) {
        uint64_t hash = (uint64_t)p->threads.v[i].pid * 0x9E3779B97F4A7C15u;
        struct sp_probe at = sp_map_probe(&seen, hash);
        uint32_t k;
        while ((k = sp_map_next(&seen, &at)) != SP_MAP_NONE && p->threads.v[k].pid != p->threads.v[i].pid)
            ;
        if (k == SP_MAP_NONE && sp_map_add(&seen, hash, i))
            n++;
    }
    sp_map_free(&seen);
    return n;
}

static void cmd_info_str(struct sp_jw *w, const char *key, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    if (s == SP_STR_NONE)
        sp_jw_null(w, key);
    else
        sp_jw_str(w, key, t.p, t.n);
}

static void raw(struct sp_jw *w, const char *key, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    if (s == SP_STR_NONE)
        sp_jw_null(w, key);
    else
        sp_jw_raw(w, key, t.p, t.n);
}

static void json_event(struct sp_jw *w, const struct sp_profile *p, uint32_t i, const struct event_info *f,
                       const struct info_metrics *metrics)
{
    const struct sp_event *e = &p->events.v[i];
    sp_jw_open(w, NULL, '{');
    cmd_info_str(w, "name", p, e->name);
    sp_jw_cstr(w, "kind", sp_event_kind_names[e->kind]);
    sp_jw_cstr(w, "mode", sp_mode_names[e->mode]);
    cmd_info_str(w, "primary_metric", p, p->metrics.v[e->primary].name);
    if (f->unit.n)
        sp_jw_str(w, "unit", f->unit.p, f->unit.n);
    else
        sp_jw_null(w, "unit");
    raw(w, "sample_period", p, e->sample_period);
    raw(w, "frequency_hz", p, e->frequency_hz);
    if (f->samples == SP_ABSENT)
        sp_jw_null(w, "samples");
    else
        sp_jw_i64(w, "samples", f->samples);
    if (f->cannot_add)
        sp_jw_null(w, "whole");
    else
        sp_jw_scaled(w, "whole", f->total, f->scale);
    sp_jw_u64(w, "stacks", f->stacks);
    sp_jw_bool(w, "default", i == sp_default_event(p));
    info_metrics_json(w, p, i, metrics);
    struct sp_selection s = {.profile = p, .kept = f->total, .chains = f->chains};
    answer_quality(w, "quality", &s, &f->quality);
    sp_jw_close(w, '}');
}

static void json_header(struct sp_jw *w, const struct sp_profile *p)
{
    const struct sp_header *h = &p->header;
    if (h->time_start || h->time_end) {
        sp_jw_open(w, "time_range", '{');
        raw(w, "start", p, h->time_start);
        raw(w, "end", p, h->time_end);
        cmd_info_str(w, "unit", p, h->time_unit);
        sp_jw_close(w, '}');
    } else {
        sp_jw_null(w, "time_range");
    }
    raw(w, "duration", p, h->duration);
    cmd_info_str(w, "clock", p, h->clock);
    sp_jw_open(w, "source", '{');
    cmd_info_str(w, "tool", p, h->tool);
    cmd_info_str(w, "command", p, h->command);
    cmd_info_str(w, "tool_version", p, h->tool_version);
    sp_jw_close(w, '}');
    sp_jw_open(w, "host", '{');
    cmd_info_str(w, "name", p, h->host.name);
    cmd_info_str(w, "os", p, h->host.os);
    cmd_info_str(w, "arch", p, h->host.arch);
    raw(w, "cpus", p, h->host.cpus);
    sp_jw_close(w, '}');
    sp_jw_cstr(w, "granularity", sp_granularity_names[h->frames]);
    sp_jw_open(w, "group_by", '[');
    for (unsigned i = 0; sp_group_names[i]; i++)
        if (h->group_by >> i & 1)
            sp_jw_cstr(w, NULL, sp_group_names[i]);
    sp_jw_close(w, ']');
}

/* The GUID and age that a binary's build-id is made of; 40 digits are a SHA-1 where it is not SPT. */
static bool rsds_of(const struct sp_profile *p, const struct sp_dso *d, struct sp_rsds *out)
{
    struct sp_str id = sp_pstr(p, d->build_id);
    return (id.n != 40 || sp_str_is(sp_pstr(p, p->header.source_tool), "spt")) &&
           sp_rsds_from_key(id.p, id.n, out);
}

static void json_binaries(struct sp_jw *w, const struct sp_profile *p)
{
    char t[SP_RSDS_KEY_ROOM];
    struct sp_rsds r;
    sp_jw_open(w, "binaries", '[');
    for (size_t i = 0; i < p->dsos.n; i++) {
        if (!rsds_of(p, &p->dsos.v[i], &r))
            continue;
        sp_jw_open(w, NULL, '{');
        cmd_info_str(w, "name", p, p->dsos.v[i].name);
        sp_guid_text(r.guid, t);
        sp_jw_cstr(w, "guid", t);
        sp_jw_u64(w, "age", r.age);
        sp_rsds_key(&r, true, t);
        sp_jw_cstr(w, "pdb_key", t);
        cmd_info_str(w, "build_id", p, p->dsos.v[i].build_id);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* In each form that people compare: with SPDDump's, with the PDB's, with a symbol server's. */
static void binary_lines(struct cli *c)
{
    enum { SHOWN = 20 };
    const struct sp_profile *p = c->profile;
    char guid[SP_GUID_ROOM], key[SP_RSDS_KEY_ROOM];
    struct sp_rsds r;
    struct sp_buf name;
    size_t n = 0;
    sp_buf_init(&name, 0);
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str t = sp_pstr(p, p->dsos.v[i].name);
        if (!rsds_of(p, &p->dsos.v[i], &r) || n++ >= SHOWN)
            continue;
        sp_buf_clear(&name);
        sp_text_safe(&name, t.p, t.n);
        sp_guid_text(r.guid, guid);
        sp_rsds_key(&r, true, key);
        sp_printf(c->out, "%-12s %s  %s age %u (0x%x)  %s\n", n == 1 ? "binaries" : "", sp_buf_cstr(&name),
                  guid, r.age, r.age, key);
    }
    if (n > SHOWN)
        sp_printf(c->out, "%-12s and %zu more (--json)\n", "", n - SHOWN);
    sp_buf_free(&name);
}

/* ---- originals (--lossless) ---- */

static spaa_status json_original(void *arg, const struct sp_original_about *about)
{
    struct sp_jw *w = arg;
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "format", about->format);
    if (about->file)
        sp_jw_cstr(w, "file", about->file);
    sp_jw_u64(w, "size", about->size);
    sp_jw_close(w, '}');
    return SPAA_OK;
}

static spaa_status text_original(void *arg, const struct sp_original_about *about)
{
    struct cli *c = arg;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (about->damage) {
        sp_buf_puts(&b, about->damage);
    } else {
        sp_text_safe(&b, about->format, strlen(about->format));
        if (about->file) {
            sp_buf_puts(&b, ", ");
            sp_text_safe(&b, about->file, strlen(about->file));
        }
        sp_buf_puts(&b, ", ");
        sp_text_bytes(&b, about->size < INT64_MAX ? (int64_t)about->size : INT64_MAX, 0);
        sp_buf_puts(&b, " (convert --lossless --to ");
        sp_text_safe(&b, about->format, strlen(about->format));
        sp_buf_puts(&b, " gives it back)");
    }
    sp_printf(c->out, "%-12s %s\n", "original", sp_buf_cstr(&b));
    sp_buf_free(&b);
    return SPAA_OK;
}

static int cmd_info_answer_json(struct cli *c, const struct profile_info *all)
{
    const struct event_info *events = all->events;
    const struct sp_profile *p = c->profile;
    struct sp_jw w;
    sp_jw_init(&w, c->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.info/2");
    cmd_info_str(&w, "source_tool", p, p->header.source_tool);
    sp_jw_cstr(&w, "format", c->input->name);
    sp_jw_open(&w, "events", '[');
    for (uint32_t i = 0; i < p->events.n; i++)
        json_event(&w, p, i, &events[i], &all->metrics[i]);
    sp_jw_close(&w, ']');
    sp_jw_u64(&w, "threads", p->threads.n);
    sp_jw_u64(&w, "processes", processes(p));
    info_pools_json(&all->pools, &w);
    info_labels_json(&all->labels, p, &w);
    sp_jw_u64(&w, "dsos", p->dsos.n);
    sp_jw_u64(&w, "functions", p->functions.n);
    sp_jw_u64(&w, "frames", p->frames.n);
    sp_jw_u64(&w, "stacks", p->stacks.n);
    json_binaries(&w, p);
    json_header(&w, p);
    sp_jw_open(&w, "originals", '[');
    sp_original_each(p->originals, false, &c->diags, json_original, &w);
    sp_jw_close(&w, ']');
    info_report_json(c, &w);
    uint32_t first = sp_default_event(p);
    struct sp_selection s = {.profile = p,
                             .kept = first == SP_NONE ? 0 : events[first].total,
                             .chains = first == SP_NONE ? NULL : events[first].chains};
    struct sp_quality none = {.lost = p->header.lost,
                              .truncated = p->header.truncated,
                              .unfinished = p->header.unfinished,
                              .throttled_ns = p->header.throttled_ns,
                              .frames = p->frames.n};
    answer_quality(&w, "quality", &s, first == SP_NONE ? &none : &events[first].quality);
    answer_close(c, &w);
    return EXIT_FINE;
}

static void cmd_info_line(struct cli *c, const char *name, const struct sp_profile *p, uint32_t s)
{
    struct sp_buf b;
    struct sp_str t = sp_pstr(p, s);
    if (s == SP_STR_NONE)
        return;
    sp_buf_init(&b, 0);
    sp_text_safe(&b, t.p, t.n);
    sp_printf(c->out, "%-12s %s\n", name, sp_buf_cstr(&b));
    sp_buf_free(&b);
}

static int event_table(struct cli *c, const struct event_info *events)
{
    static const struct sp_table_column columns[] = {{"event", false, true},   {"kind", false, false},
                                                     {"mode", false, false},   {"samples", true, false},
                                                     {"metric", false, false}, {"whole", true, false},
                                                     {"stacks", true, false},  {"unresolved%", true, false}};
    const struct sp_profile *p = c->profile;
    char exact[64];
    struct sp_table t;
    struct sp_buf b;
    sp_table_init(&t, columns, 8);
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < p->events.n; i++) {
        const struct sp_event *e = &p->events.v[i];
        const struct event_info *f = &events[i];
        struct sp_str name = sp_pstr(p, e->name);
        sp_table_cell(&t, name.p, name.n);
        sp_table_printf(&t, "%s", sp_event_kind_names[e->kind]);
        struct sp_str hz = sp_pstr(p, e->frequency_hz), period = sp_pstr(p, e->sample_period);
        sp_table_printf(&t, "%s%s%s%s", sp_mode_names[e->mode], hz.n || period.n ? " " : "",
                        hz.n ? hz.p : period.p, hz.n ? " Hz" : "");
        sp_buf_clear(&b);
        if (f->samples != SP_ABSENT)
            c->format == FORMAT_CSV ? sp_buf_i64(&b, f->samples) : sp_text_grouped(&b, f->samples, 0);
        sp_table_cell(&t, b.data ? b.data : "", b.len);
        struct sp_str metric = sp_pstr(p, p->metrics.v[e->primary].name);
        sp_table_cell(&t, metric.p, metric.n);
        sp_buf_clear(&b);
        struct sp_selection s = {.unit = f->unit, .scale = f->scale};
        if (f->cannot_add)
            sp_buf_puts(&b, c->format == FORMAT_CSV ? "" : "-");
        else if (c->format == FORMAT_CSV)
            sp_buf_add(&b, exact, sp_scaled_text(f->total, f->scale, exact));
        else
            weight_text(&b, &s, f->total);
        sp_table_cell(&t, b.data ? b.data : "", b.len);
        sp_table_printf(&t, "%llu", (unsigned long long)f->stacks);
        sp_buf_clear(&b);
        sp_text_percent(&b, f->quality.unresolved_leaf, f->total);
        sp_table_cell(&t, b.data, b.len);
    }
    int rc = answer_table(c, &t);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

/* How much weight of the event has no names, or no debug information; the worst binaries, why, and what
 * helps. */
static void lacking(struct cli *c, const char *what, const struct event_info *f, uint32_t event,
                    enum sp_note_of of)
{
    const struct sp_profile *p = c->profile;
    const struct sp_quality *q = &f->quality;
    const struct sp_dso_weights *dsos = of == SP_NOTE_NAMES ? &q->dsos : &q->no_lines;
    const struct sp_dso_weight *v = dsos->list.v;
    size_t n = dsos->list.n;
    struct sp_buf b;
    if (!n)
        return;
    sp_buf_init(&b, 0);
    sp_text_percent(&b, of == SP_NOTE_NAMES ? q->unresolved_leaf : q->lineless, f->total);
    sp_buf_puts(&b, "% of ");
    struct sp_str name = sp_pstr(p, p->events.v[event].name);
    sp_text_safe(&b, name.p, name.n);
    sp_printf(c->out, "%-12s %s\n", what, sp_buf_cstr(&b));
    for (size_t i = 0; i < n && i < 3; i++) {
        const struct sp_dso_note *note = sp_profile_note_of(p, v[i].dso, of);
        name = sp_pstr(p, p->dsos.v[v[i].dso].name);
        sp_buf_clear(&b);
        sp_text_percent(&b, v[i].weight, f->total);
        sp_buf_puts(&b, "% ");
        sp_text_safe(&b, name.p, name.n);
        for (int k = 0; note && k < 2; k++) {
            struct sp_str text = sp_pstr(p, k ? note->hint : note->why);
            if (text.n)
                sp_buf_puts(&b, k ? "; " : ": ");
            sp_text_safe(&b, text.p, text.n);
        }
        sp_printf(c->out, "%-12s   %s\n", "", sp_buf_cstr(&b));
    }
    if (n > 3)
        sp_printf(c->out, "%-12s   %zu more: --json has ten\n", "", n - 3);
    sp_buf_free(&b);
}

static void bounds_line(struct cli *c, const struct event_info *f)
{
    const struct sp_selection s = {.profile = c->profile, .kept = f->total, .chains = f->chains};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bounds_text(&s, &b);
    if (b.len)
        sp_printf(c->out, "%-12s %s\n", "callchains", sp_buf_cstr(&b));
    sp_buf_free(&b);
}

static int answer_text(struct cli *c, const struct profile_info *all)
{
    const struct event_info *events = all->events;
    const struct sp_profile *p = c->profile;
    const struct sp_header *h = &p->header;
    if (c->format == FORMAT_TABLE) {
        sp_printf(c->out, "%-12s %s\n", "format", c->input->title);
        cmd_info_line(c, "tool", p, h->source_tool);
        cmd_info_line(c, "version", p, h->tool_version);
        cmd_info_line(c, "command", p, h->command);
        cmd_info_line(c, "host", p, h->host.name);
        cmd_info_line(c, "os", p, h->host.os);
        cmd_info_line(c, "arch", p, h->host.arch);
        cmd_info_line(c, "cpus", p, h->host.cpus);
        if (h->time_start) {
            struct sp_buf unit;
            struct sp_str t = sp_pstr(p, h->time_unit);
            sp_buf_init(&unit, 0);
            sp_text_safe(&unit, t.p, t.n);
            sp_printf(c->out, "%-12s %s to %s %s\n", "time", sp_str_cstr(&p->strs, h->time_start),
                      sp_str_cstr(&p->strs, h->time_end), sp_buf_cstr(&unit));
            sp_buf_free(&unit);
        }
        if (h->duration)
            sp_printf(c->out, "%-12s %s s\n", "duration", sp_str_cstr(&p->strs, h->duration));
        cmd_info_line(c, "clock", p, h->clock);
        sp_printf(c->out, "%-12s %zu of %llu processes\n", "threads", p->threads.n,
                  (unsigned long long)processes(p));
        info_pools_text(c, &all->pools);
        info_labels_text(c, &all->labels);
        sp_printf(c->out, "%-12s %zu stacks of %zu frames, %zu functions, %zu binaries\n", "tables",
                  p->stacks.n, p->frames.n, p->functions.n, p->dsos.n);
        binary_lines(c);
        sp_printf(c->out, "%-12s frames by %s, stacks by", "granularity", sp_granularity_names[h->frames]);
        for (unsigned i = 0; sp_group_names[i]; i++)
            if (h->group_by >> i & 1)
                sp_printf(c->out, " %s", sp_group_names[i]);
        sp_printf(c->out, "%s\n", h->group_by ? "" : " nothing");
        struct sp_quality q = {.lost = h->lost,
                               .truncated = h->truncated,
                               .unfinished = h->unfinished,
                               .throttled_ns = h->throttled_ns};
        if (answer_has_losses(&q)) {
            sp_printf(c->out, "%-12s ", "quality");
            answer_losses(c->out, &q);
        }
        uint32_t first = sp_default_event(p);
        if (first != SP_NONE && !events[first].cannot_add) {
            bounds_line(c, &events[first]);
            lacking(c, "no names", &events[first], first, SP_NOTE_NAMES);
            lacking(c, "no lines", &events[first], first, SP_NOTE_LINES);
        }
        if (first != SP_NONE && p->events.n > 1)
            cmd_info_line(c, "default", p, p->events.v[first].name);
        info_report_text(c);
        sp_original_each(p->originals, false, &c->diags, text_original, c);
        sp_puts(c->out, "\n");
    }
    int rc = event_table(c, events);
    return rc || c->format == FORMAT_CSV ? rc : info_metrics_text(c, all->metrics);
}

int sp_cmd_info(struct cli *c)
{
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    if (c->v.io)
        return info_io(c);
    size_t n = c->profile->events.n, done = 0;
    struct profile_info all = {
        calloc(n + 1, sizeof *all.events), calloc(n + 1, sizeof *all.metrics), {.n = 0}, {.whole = 0}};
    spaa_status st = all.events && all.metrics ? info_pools_of(c, &all.pools) : sp_nomem(&c->diags);
    for (; !st && done < n; done++)
        st = event_info_of(c, (uint32_t)done, &all.events[done]);
    if (!st)
        st = info_labels_of(c, &all.labels);
    for (size_t i = 0; !st && i < n; i++)
        st = info_metrics_of(c, (uint32_t)i, &all.metrics[i]);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = c->format == FORMAT_JSON ? cmd_info_answer_json(c, &all) : answer_text(c, &all);
    for (size_t i = 0; i < done; i++) {
        sp_quality_free(&all.events[i].quality);
        sp_chains_free(all.events[i].chains);
    }
    for (size_t i = 0; all.metrics && i < n; i++)
        sp_vec_free(&all.metrics[i]);
    info_pools_free(&all.pools);
    info_labels_free(&all.labels);
    free(all.events);
    free(all.metrics);
    return rc;
}
