/*
 * Records a profile: runs a small interpreter, notes every so many of its steps where it is, and writes SPAA.
 *
 *     cc -o record record.c $(pkg-config --cflags --libs spaa)
 *     ./record out.spaa && spaa top out.spaa
 */
#include <spaa/spaa.h>

#include <stdio.h>

/* What is profiled: two kinds of requests, of calls that take steps. */
static const char *const functions[] = {"main", "handle", "parse", "render"};
enum { MAIN, HANDLE, PARSE, RENDER, FUNCTIONS };

struct recorder {
    struct spaa_builder *builder;
    struct spaa_diagnostics *said;
    size_t samples, steps, event, frames[FUNCTIONS];
    spaa_status status; /* of the first call that failed */
};

static void begin(struct recorder *r)
{
    struct spaa_builder_options o = {
        .size = sizeof o, .source_tool = "record", .group_by = "pid,tid,comm", .clock = "monotonic"};
    struct spaa_event_spec e = {.size = sizeof e, .name = "steps", .kind = "software", .sample_period = 100};
    r->status = spaa_builder_new(&o, &r->builder, &r->said);
    if (!r->status)
        r->status = spaa_builder_metric(r->builder, "samples", NULL, &r->samples, &r->said);
    if (!r->status)
        r->status = spaa_builder_metric(r->builder, "period", NULL, &r->steps, &r->said);
    e.metric = r->steps;
    if (!r->status)
        r->status = spaa_builder_event(r->builder, &e, &r->event, &r->said);
    for (size_t i = 0; !r->status && i < FUNCTIONS; i++) {
        struct spaa_frame_spec f = {.size = sizeof f, .name = functions[i]};
        r->status = spaa_builder_frame(r->builder, &f, &r->frames[i], &r->said);
    }
}

/* One observation: in `leaf`, while this request is handled. */
static void sample(struct recorder *r, int leaf, const char *request, int64_t time_ns)
{
    const size_t frames[] = {r->frames[leaf], r->frames[HANDLE], r->frames[MAIN]};
    const struct spaa_stack_label label = {.key = "request", .text = request};
    const struct spaa_stack_weight weights[] = {{r->samples, 1}, {r->steps, 100}};
    struct spaa_stack_spec stack = {.size = sizeof stack,
                                    .event = r->event,
                                    .frames = frames,
                                    .frame_count = 3,
                                    .pid = 1,
                                    .tid = 1,
                                    .cpu = SPAA_ABSENT,
                                    .comm = "server",
                                    .labels = &label,
                                    .label_count = 1,
                                    .weights = weights,
                                    .weight_count = 2};
    struct spaa_sample_spec at = {.size = sizeof at,
                                  .time_ns = time_ns,
                                  .pid = SPAA_ABSENT,
                                  .tid = SPAA_ABSENT,
                                  .cpu = SPAA_ABSENT,
                                  .weight = 100};
    if (!r->status)
        r->status = spaa_builder_stack(r->builder, &stack, &at.stack, &r->said);
    if (!r->status)
        r->status = spaa_builder_sample(r->builder, &at, &r->said);
}

static void run(struct recorder *r)
{
    for (int step = 0; step < 10000; step += 100) {
        const char *request = step / 100 % 4 ? "GET /" : "POST /form";
        sample(r, step / 100 % 3 ? RENDER : PARSE, request, (int64_t)step * 1000);
    }
}

int main(int argc, char **argv)
{
    struct recorder r = {0};
    struct spaa_profile *profile = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: record FILE.spaa   (libspaa %s)\n", spaa_version());
        return 2;
    }
    begin(&r);
    run(&r);
    if (!r.status)
        r.status = spaa_builder_finish(r.builder, &profile, &r.said);
    if (!r.status)
        r.status = spaa_profile_write(profile, argv[1], NULL, &r.said);
    for (size_t i = 0; i < spaa_diagnostics_count(r.said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(r.said, i, &d) == SPAA_OK)
            fprintf(stderr, "%s: %s [%s]\n", d.severity, d.message, d.code);
    }
    spaa_builder_free(r.builder);
    spaa_profile_free(profile);
    spaa_diagnostics_free(r.said);
    return r.status == SPAA_OK ? 0 : 1;
}
