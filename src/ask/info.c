/* info: what is in a profile, and how good it is. */
#include "ask/info.h"

#include "base/num.h"
#include "formats/format.h"
#include "formats/original.h"

static const struct sp_answer_column info_facts[] = {
    FACT("source_tool", SP_COL_TEXT, "what recorded the profile; null: not known"),
    FACT("format", SP_COL_TEXT, "what the file was read as; null: not known"),
    FACT("threads", SP_COL_COUNT, "how many there are"),
    FACT("processes", SP_COL_COUNT, "likewise"),
    FACT("reported.processes", SP_COL_COUNT,
         "what the profiler says it saw, with and without samples; reported null: it says nothing"),
    FACT("reported.began", SP_COL_COUNT, "of these, how many began while it watched"),
    FACT("reported.ended", SP_COL_COUNT, "and ended"),
    FACT("reported.images", SP_COL_COUNT, "binaries where they were loaded"),
    FACT("dsos", SP_COL_COUNT, "likewise: binaries"),
    FACT("functions", SP_COL_COUNT, "likewise"),
    FACT("frames", SP_COL_COUNT, "likewise"),
    FACT("stacks", SP_COL_COUNT, "likewise"),
    FACT("time_range.start", SP_COL_NUMBER, "when it began; time_range null: not known"),
    FACT("time_range.end", SP_COL_NUMBER, "when it ended"),
    FACT("time_range.unit", SP_COL_TEXT, "seconds, …"),
    FACT("duration", SP_COL_NUMBER, "seconds; null: not known"),
    FACT("clock", SP_COL_TEXT, "what time was taken from; null: not known"),
    FACT("source.tool", SP_COL_TEXT, "the program that recorded"),
    FACT("source.command", SP_COL_TEXT, "the command that was recorded"),
    FACT("source.tool_version", SP_COL_TEXT, "of the program"),
    FACT("host.name", SP_COL_TEXT, "the machine"),
    FACT("host.os", SP_COL_TEXT, "its system"),
    FACT("host.arch", SP_COL_TEXT, "its processor"),
    FACT("host.cpus", SP_COL_NUMBER, "how many of these"),
    FACT("granularity", SP_COL_TEXT, "what frames are told apart by: address, line, function"),
    FACT("group_by", SP_COL_TEXTS, "what stacks are told apart by"),
    FACT("report.fields", SP_COL_TEXTS,
         "of hang reports: pairs of a name and a text, as the header has them"),
    FACT("report.frontmost.name", SP_COL_TEXT, "the application in front; frontmost null: none is named"),
    FACT("report.frontmost.pid", SP_COL_COUNT, "its process"),
    FACT("report.frontmost.main_tid", SP_COL_COUNT, "its main thread"),
    {0},
};

enum { ORIGINAL_FORMAT, ORIGINAL_FILE, ORIGINAL_SIZE };
static const struct sp_answer_column info_original_columns[] = {
    [ORIGINAL_FORMAT] = {"format", SP_COL_TEXT, .doc = "what convert --to gives it back as"},
    [ORIGINAL_FILE] = {"file", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                       .doc = "of a recording in several files"},
    [ORIGINAL_SIZE] = {"size", SP_COL_COUNT, .doc = "bytes"},
};
static const struct sp_table_decl info_originals = {"originals", info_original_columns, 3,
                                                    .doc = "files that the profile keeps (--lossless)"};
static const struct sp_table_decl *const info_tables[] = {&sp_info_events,
                                                          &sp_info_metrics,
                                                          &sp_info_metric_rows,
                                                          &sp_info_pools,
                                                          &sp_info_labels,
                                                          &sp_info_binaries,
                                                          &info_originals,
                                                          &sp_info_tiers,
                                                          &sp_info_histograms,
                                                          &sp_info_buckets,
                                                          &sp_info_io_rows,
                                                          &sp_info_io_buckets,
                                                          NULL};

/* Numbers as files have them. */
static void fact_decimal(struct sp_info *x, const char *name, uint32_t s)
{
    struct sp_str t = sp_pstr(x->profile, s);
    int64_t v;
    unsigned scale;
    if (s != SP_STR_NONE && sp_parse_scaled(t.p, t.n, &v, &scale))
        sp_fact_scaled(x->out, name, v, scale);
    else
        sp_fact_null(x->out, name);
}

static void fact_of(struct sp_info *x, const char *name, uint32_t s)
{
    struct sp_str t = sp_pstr(x->profile, s);
    sp_fact_text(x->out, name, s == SP_STR_NONE ? NULL : t.p, t.n);
}

static void info_reported(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    if (!p->processes.n && !p->images.n) {
        sp_fact_null(x->out, "reported");
        return;
    }
    sp_fact_count(x->out, "reported.processes", (int64_t)p->processes.n);
    sp_fact_count(x->out, "reported.began", sp_info_told(p, false));
    sp_fact_count(x->out, "reported.ended", sp_info_told(p, true));
    sp_fact_count(x->out, "reported.images", (int64_t)p->images.n);
}

static void info_counts(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    const char *format = x->q->format ? x->q->format->name : NULL;
    fact_of(x, "source_tool", p->header.source_tool);
    sp_fact_cstr(x->out, "format", format);
    sp_fact_count(x->out, "threads", (int64_t)p->threads.n);
    sp_fact_count(x->out, "processes", (int64_t)x->processes);
    info_reported(x);
    sp_fact_count(x->out, "dsos", (int64_t)p->dsos.n);
    sp_fact_count(x->out, "functions", (int64_t)p->functions.n);
    sp_fact_count(x->out, "frames", (int64_t)p->frames.n);
    sp_fact_count(x->out, "stacks", (int64_t)p->stacks.n);
}

static void info_header(struct sp_info *x)
{
    const struct sp_header *h = &x->profile->header;
    if (h->time_start || h->time_end) {
        fact_decimal(x, "time_range.start", h->time_start);
        fact_decimal(x, "time_range.end", h->time_end);
        fact_of(x, "time_range.unit", h->time_unit);
    } else {
        sp_fact_null(x->out, "time_range");
    }
    fact_decimal(x, "duration", h->duration);
    fact_of(x, "clock", h->clock);
    fact_of(x, "source.tool", h->tool);
    fact_of(x, "source.command", h->command);
    fact_of(x, "source.tool_version", h->tool_version);
    fact_of(x, "host.name", h->host.name);
    fact_of(x, "host.os", h->host.os);
    fact_of(x, "host.arch", h->host.arch);
    fact_decimal(x, "host.cpus", h->host.cpus);
    sp_fact_cstr(x->out, "granularity", sp_granularity_names[h->frames]);
    sp_answer_open(x->out, "group_by", '[');
    for (unsigned i = 0; sp_group_names[i]; i++)
        if (h->group_by >> i & 1)
            sp_fact_cstr(x->out, "group", sp_group_names[i]);
    sp_answer_close(x->out);
}

struct info_originals_to {
    struct sp_info *x;
    struct sp_answer_table *t;
};

static spaa_status info_original(void *arg, const struct sp_original_about *about)
{
    struct info_originals_to *to = arg;
    sp_table_row(to->x->out, to->t);
    sp_put_text(to->x->out, to->t, ORIGINAL_FORMAT, about->format, about->format ? strlen(about->format) : 0);
    sp_put_text(to->x->out, to->t, ORIGINAL_FILE, about->file, about->file ? strlen(about->file) : 0);
    sp_put_int(to->t, ORIGINAL_SIZE, about->size < INT64_MAX ? (int64_t)about->size : INT64_MAX);
    return SPAA_OK;
}

/* That of the default event; without one, what the header says. */
static void info_quality(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    uint32_t first = sp_default_event(p);
    const struct sp_info_event *e = first == SP_NONE ? NULL : &x->events[first];
    struct sp_quality none = {.lost = p->header.lost,
                              .truncated = p->header.truncated,
                              .unfinished = p->header.unfinished,
                              .throttled_ns = p->header.throttled_ns,
                              .frames = p->frames.n};
    struct sp_asked asked = {
        .q = x->q,
        .out = x->out,
        .s = {.profile = p, .kept = e ? e->total : 0, .chains = e ? e->chains : NULL},
    };
    sp_quality_facts(&asked, e ? &e->quality : &none);
}

static spaa_status info_answer(struct sp_info *x)
{
    struct info_originals_to to = {.x = x};
    info_counts(x);
    spaa_status st = sp_info_words(x);
    if (st)
        return st;
    sp_info_tables(x);
    to.t = sp_answer_table(x->out, &info_originals);
    st = to.t ? sp_original_each(x->profile->originals, false, x->q->diags, info_original, &to) : SPAA_OK;
    info_header(x);
    if (!st && !x->q->brief)
        st = sp_info_report(x);
    if (!x->q->brief)
        info_quality(x);
    return st;
}

static spaa_status info_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_info x;
    if (q->options->io)
        return sp_info_io(q, out);
    spaa_status st = sp_info_gather(q, out, &x);
    if (!st)
        st = info_answer(&x);
    sp_info_free(&x);
    return st;
}

const struct sp_question sp_question_info = {
    .name = "info",
    .args = "FILE…",
    .groups = G_READ | G_ANSWER | G_BUDGET | G_INFO,
    .title = "what is in a profile, and how good it is",
    .examples = "spaa info perf.data\n"
                "spaa info profile.spaa --json",
    .schema = "spaa.info/3",
    .facts = info_facts,
    .tables = info_tables,
    .ask = info_ask,
};
