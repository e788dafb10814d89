/*
 * Writes a spindump report: fields, processes, threads and images as the records say, the stacks as trees.
 * What is rendered reads back to the same profile, and is rendered the same way again.
 *
 * Of profiles of other origin one event is written; stacks without a state are taken for running, as what
 * other profilers see is.
 */
#include "base/num.h"
#include "formats/spindump/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sp_span of(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

/* A profile of another origin: what its header says that a report has a field for. */
static void foreign_fields(struct sp_hang_writer *w)
{
    const struct sp_header *h = &w->p->header;
    const struct sp_event *e = &w->p->events.v[w->event];
    struct sp_str hz = sp_pstr(w->p, e->frequency_hz);
    double rate = hz.n ? sp_text_double(hz.p, hz.n) : 0;
    int64_t total = 0;
    sp_hang_key_line(w, "OS Version", of(sp_pstr(w->p, h->host.os)));
    sp_hang_key_line(w, "Architecture", of(sp_pstr(w->p, h->host.arch)));
    sp_puts(w->out, "Data Source:      ");
    struct sp_str tool = sp_pstr(w->p, h->source_tool);
    sp_hang_put(w, tool.n ? of(tool) : (struct sp_span){"spaa", 4});
    sp_puts(w->out, ", event ");
    sp_hang_put(w, of(sp_pstr(w->p, e->name)));
    sp_puts(w->out, "\n");
    if (h->duration) {
        sp_puts(w->out, "Duration:         ");
        sp_hang_put(w, of(sp_pstr(w->p, h->duration)));
        sp_puts(w->out, "s\n");
    }
    for (size_t i = 0; i < w->stacks.n; i++)
        if (__builtin_add_overflow(total, w->stacks.v[i].count, &total))
            total = INT64_MAX;
    sp_printf(w->out, "Steps:            %lld", (long long)total);
    if (w->counts && rate >= 1 && rate <= 1000000)
        sp_printf(w->out, " (%lldus sampling interval)", (long long)(1000000 / rate + 0.5));
    sp_puts(w->out, "\n");
    sp_hang_key_line(w, "Active cpus", of(sp_pstr(w->p, h->host.cpus)));
}

static void put_lines(struct sp_hang_writer *w, struct sp_span list, const char *indent)
{
    for (struct sp_span item; sp_json_next(&list, &item);) {
        sp_puts(w->out, indent);
        sp_hang_put(w, sp_hang_decoded(w, item));
        sp_puts(w->out, "\n");
    }
}

static const char dashes[] = "------------------------------------------------------------\n";

static void put_header(struct sp_hang_writer *w)
{
    struct sp_span raw, x = {NULL, 0};
    bool banner = false;
    if (w->ours)
        sp_json_find(of(sp_pstr(w->p, w->p->header.more)), "x_spindump", &x);
    struct sp_span ips = sp_hang_decoded_member(w, x, "ips");
    if (ips.n) {
        sp_hang_put(w, ips);
        sp_puts(w->out, "\n");
    }
    if (sp_json_find(x, "fields", &raw))
        sp_hang_put_fields(w, raw, 18);
    else
        foreign_fields(w);
    sp_puts(w->out, "\n");
    for (size_t i = 0; i < w->p->extensions.n; i++) {
        struct sp_span record = of(sp_pstr(w->p, w->p->extensions.v[i].json));
        if (!sp_hang_starts(record, "{\"type\":\"x_spindump_") || !sp_json_find(record, "lines", &raw))
            continue;
        if (sp_hang_starts(record, "{\"type\":\"x_spindump_banner\"")) {
            sp_puts(w->out, dashes);
            put_lines(w, raw, "");
            sp_puts(w->out, dashes);
            sp_puts(w->out, "\n");
            banner = true;
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_heaviest\"")) {
            put_lines(w, raw, "");
            sp_puts(w->out, "\n");
        }
    }
    if (!banner && !w->ours)
        sp_printf(w->out, "%sHeavy format: stacks are sorted by count\n%s\n", dashes, dashes);
    sp_puts(w->out, "\n");
}

static void put_histogram(struct sp_hang_writer *w, struct sp_span record)
{
    struct sp_span rows, row, item;
    char unit[16];
    struct sp_span title = sp_hang_decoded_member(w, record, "title");
    bool sizes = sp_hang_starts(title, "IO Size");
    sp_hang_put(w, title);
    sp_printf(w->out, ":\n     Begin      End            %s                     CDF\n",
              sizes ? "Frequency" : "Freq");
    struct sp_span u = sp_hang_decoded_member(w, record, "unit");
    snprintf(unit, sizeof unit, "%.*s", (int)(u.n < 15 ? u.n : 15), u.n ? u.p : "");
    if (!sp_json_find(record, "rows", &rows))
        return;
    while (sp_json_next(&rows, &row)) {
        struct sp_span v[4] = {{0}};
        size_t n = 0;
        while (n < 4 && sp_json_next(&row, &item))
            v[n++] = item;
        if (n < 4)
            continue;
        if (sp_span_is(v[1], "null"))
            sp_printf(w->out, "         > %7.*s%s", (int)v[0].n, v[0].p, unit);
        else
            sp_printf(w->out, "%8.*s%s %8.*s%s", (int)v[0].n, v[0].p, unit, (int)v[1].n, v[1].p, unit);
        sp_printf(w->out, "\t\t%8.*s\t\t%8.*s\n", (int)v[2].n, v[2].p, (int)v[3].n, v[3].p);
    }
    sp_puts(w->out, "\n");
}

static void put_tail(struct sp_hang_writer *w)
{
    struct sp_span raw;
    for (size_t i = 0; i < w->p->extensions.n; i++) {
        struct sp_span record = of(sp_pstr(w->p, w->p->extensions.v[i].json));
        if (sp_hang_starts(record, "{\"type\":\"x_spindump_histogram\"")) {
            put_histogram(w, record);
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_aggregate\"")) {
            sp_hang_put(w, sp_hang_decoded_member(w, record, "title"));
            sp_puts(w->out, ":\n");
            if (sp_json_find(record, "lines", &raw))
                put_lines(w, raw, "\t");
            sp_puts(w->out, "\n");
        } else if (sp_hang_starts(record, "{\"type\":\"x_spindump_tail\"")) {
            if (sp_json_find(record, "lines", &raw))
                put_lines(w, raw, "");
        }
    }
}

static bool put_report(struct sp_hang_writer *w)
{
    put_header(w);
    if (!sp_sd_put_processes(w))
        return false;
    put_tail(w);
    return true;
}

spaa_status sp_sd_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct sp_hang_writer w = {.p = p,
                               .d = d,
                               .out = out,
                               .x_key = "x_spindump",
                               .image_type = "{\"type\":\"x_spindump_image\"",
                               .text_of = sp_sd_frame_text,
                               .state_of = sp_sd_context_text};
    return sp_hang_write(&w, "spindump", opts, put_report);
}
