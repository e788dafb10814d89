/*
 * Runs commands as the command line does: draws the flame graph of a profile that is made here, in memory,
 * and prints `top` of files as text.
 *
 *     cc -o run run.c $(pkg-config --cflags --libs spaa)
 *     ./run perf.data > top.txt
 */
#include <spaa/spaa.h>

#include <stdio.h>
#include <string.h>

/* What a program would have counted. */
static const struct {
    const char *functions[3]; /* leaf first */
    size_t depth;
    int64_t steps;
} counted[] = {
    {{"parse", "handle", "main"}, 3, 300}, {{"render", "handle", "main"}, 3, 600}, {{"main"}, 1, 100}};

static spaa_status add_all(struct spaa_builder *b, struct spaa_diagnostics **said)
{
    struct spaa_event_spec e = {.size = sizeof e, .name = "steps"};
    size_t event, stack, frames[3];
    spaa_status st = spaa_builder_metric(b, "samples", NULL, &e.metric, said);
    if (!st)
        st = spaa_builder_event(b, &e, &event, said);
    for (size_t i = 0; !st && i < sizeof counted / sizeof *counted; i++) {
        for (size_t k = 0; !st && k < counted[i].depth; k++) {
            struct spaa_frame_spec f = {.size = sizeof f, .name = counted[i].functions[k]};
            st = spaa_builder_frame(b, &f, &frames[k], said);
        }
        const struct spaa_stack_weight weight = {e.metric, counted[i].steps};
        struct spaa_stack_spec s = {.size = sizeof s,
                                    .event = event,
                                    .frames = frames,
                                    .frame_count = counted[i].depth,
                                    .pid = SPAA_ABSENT,
                                    .tid = SPAA_ABSENT,
                                    .cpu = SPAA_ABSENT,
                                    .weights = &weight,
                                    .weight_count = 1};
        if (!st)
            st = spaa_builder_stack(b, &s, &stack, said);
    }
    return st;
}

static spaa_status build(struct spaa_profile **profile, struct spaa_diagnostics **said)
{
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "run"};
    struct spaa_builder *b = NULL;
    spaa_status st = spaa_builder_new(&o, &b, said);
    if (!st)
        st = add_all(b, said);
    if (!st)
        st = spaa_builder_finish(b, profile, said);
    spaa_builder_free(b);
    return st;
}

/* `spaa flamegraph --title Steps -o -` of a profile: into memory. */
static spaa_status draw(struct spaa_profile *profile, struct spaa_diagnostics **said)
{
    const struct spaa_ask_option options[] = {{"title", "Steps"}, {"output", "-"}};
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "flamegraph",
                                 .profiles = &profile,
                                 .profile_count = 1,
                                 .options = options,
                                 .option_count = 2};
    struct spaa_run_result result = {.size = sizeof result};
    char *svg = NULL;
    size_t size = 0;
    spaa_status st = spaa_run_memory(&o, &svg, &size, &result, said);
    if (!st)
        printf("%zu bytes of SVG, %d frames%s\n", size, (int)result.frames,
               strstr(svg, "Steps") ? ", titled" : "");
    spaa_free(svg);
    return st;
}

/* `spaa top -n 5 FILE…` */
static spaa_status top(const char *const *files, size_t n, struct spaa_diagnostics **said)
{
    const struct spaa_ask_option limit = {"limit", "5"};
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "top",
                                 .files = files,
                                 .file_count = n,
                                 .options = &limit,
                                 .option_count = 1};
    fflush(stdout); /* what is written to the descriptor comes behind */
    return spaa_run_fd(&o, 1, NULL, said);
}

int main(int argc, char **argv)
{
    struct spaa_diagnostics *said = NULL;
    struct spaa_profile *profile = NULL;
    spaa_status st = build(&profile, &said);
    if (!st)
        st = draw(profile, &said);
    if (!st && argc > 1)
        st = top((const char *const *)argv + 1, (size_t)argc - 1, &said);
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        char *text = NULL;
        if (spaa_diagnostics_text(said, i, 0, &text) == SPAA_OK)
            fputs(text, stderr);
        spaa_free(text);
    }
    spaa_diagnostics_free(said);
    spaa_profile_free(profile);
    return st != SPAA_OK;
}
