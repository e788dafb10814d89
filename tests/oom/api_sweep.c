/*
 * The public interface with every allocation failing in turn: a program builds a profile, merges it with
 * another, writes it to memory, asks it and queries it. Each time all succeeds with the same result, or
 * something says that memory ran out; nothing that was allocated may be left.
 */
#include "heap.h"
#include "spaa/spaa.h"

#include <stdio.h>
#include <string.h>

static spaa_status build(struct spaa_builder *b)
{
    struct spaa_event_spec e = {.size = sizeof e, .name = "cpu"};
    const char *const names[] = {"leaf", "main"};
    size_t frames[2], stack = 0, event, dso;
    struct spaa_metric_spec mean = {
        .size = sizeof mean, .name = "x_mean", .unit = "ns", .combine = "none", .derivation = "measured"};
    size_t not_used;
    spaa_status st = spaa_builder_metric(b, "samples", NULL, &e.metric, NULL);
    if (!st)
        st = spaa_builder_metric_spec(b, &mean, &not_used, NULL);
    if (!st)
        st = spaa_builder_event(b, &e, &event, NULL);
    if (!st)
        st = spaa_builder_dso(b, "/bin/a", "ab", 0, &dso, NULL);
    for (size_t i = 0; !st && i < 2; i++) {
        struct spaa_frame_spec f = {
            .size = sizeof f, .name = names[i], .linkage = "_Z4leafv", .file = "a.cc", .srcline = "a.cc:1"};
        f.has_dso = i == 0;
        f.dso = i ? 0 : dso;
        st = spaa_builder_frame(b, &f, &frames[i], NULL);
    }
    if (st)
        return st;
    const struct spaa_stack_label label = {.key = "k", .text = "v"};
    const struct spaa_stack_weight w = {e.metric, 5};
    struct spaa_stack_spec s = {.size = sizeof s,
                                .event = event,
                                .frames = frames,
                                .frame_count = 2,
                                .pid = 1,
                                .tid = 1,
                                .cpu = SPAA_ABSENT,
                                .comm = "c",
                                .labels = &label,
                                .label_count = 1,
                                .weights = &w,
                                .weight_count = 1};
    st = spaa_builder_stack(b, &s, &stack, NULL);
    if (!st)
        st = spaa_builder_stack(b, &s, &stack, NULL);
    const struct spaa_window_weights in = {stack, &w, 1};
    struct spaa_window_spec window = {
        .size = sizeof window, .id = "w", .end_ns = 5, .stacks = &in, .stack_count = 1};
    return st ? st : spaa_builder_window(b, &window, NULL);
}

static spaa_status built(struct spaa_profile **p)
{
    struct spaa_builder_options o = {.size = sizeof o, .source_tool = "t"};
    struct spaa_builder *b = NULL;
    spaa_status st = spaa_builder_new(&o, &b, NULL);
    if (!st)
        st = build(b);
    if (!st)
        st = spaa_builder_finish(b, p, NULL);
    spaa_builder_free(b);
    return st;
}

static spaa_status ask(struct spaa_profile *p, long *sum)
{
    struct spaa_ask_options o = {.size = sizeof o, .question = "top"};
    struct spaa_answer *a = NULL;
    struct spaa_table t = {.size = sizeof t};
    char *text = NULL;
    size_t n = 0;
    spaa_status st = spaa_ask(&p, 1, &o, &a, NULL);
    for (size_t i = 0; !st && i < spaa_answer_table_count(a); i++) {
        st = spaa_answer_table(a, i, &t);
        for (size_t k = 0; !st && k < t.columns; k++) {
            struct spaa_column c = {.size = sizeof c};
            st = spaa_answer_column(a, i, k, &c, NULL);
            *sum += (long)c.rows + (c.integers && c.rows ? (long)(c.integers[0] % 1000) : 0);
        }
    }
    if (!st)
        st = spaa_answer_render(a, NULL, &text, &n, NULL);
    *sum += (long)n;
    spaa_free(text);
    spaa_answer_free(a);
    return st;
}

static spaa_status query(struct spaa_profile *p, long *sum)
{
    struct spaa_query_options o = {.size = sizeof o, .sql = "select name, self from functions order by name"};
    struct spaa_result *r = NULL;
    struct spaa_result_column c = {.size = sizeof c};
    spaa_status st = spaa_query(p, &o, &r, NULL);
    if (!st)
        st = spaa_result_column_get(r, 1, &c);
    for (size_t i = 0; !st && i < c.rows; i++)
        *sum += (long)c.integers[i] * (long)(i + 1);
    spaa_result_free(r);
    return st;
}

static spaa_status once(long *sum)
{
    struct spaa_profile *p[2] = {0}, *merged = NULL, *again = NULL;
    char *data = NULL;
    size_t n = 0;
    spaa_status st = built(&p[0]);
    if (!st)
        st = built(&p[1]);
    if (!st)
        st = spaa_merge(p, 2, NULL, &merged, NULL);
    if (!st)
        st = spaa_profile_write_memory(merged, &data, &n, NULL, NULL);
    if (!st)
        st = spaa_profile_open_memory(data, n, NULL, NULL, &again, NULL);
    *sum = (long)n;
    if (!st)
        st = ask(again, sum);
    if (!st)
        st = query(again, sum);
    spaa_free(data);
    spaa_profile_free(p[0]);
    spaa_profile_free(p[1]);
    spaa_profile_free(merged);
    spaa_profile_free(again);
    return st;
}

int main(void)
{
    long expected, sum;
    int bad = 0;
    if (once(&expected)) { /* what libraries keep is there now */
        puts("the first run failed");
        return 1;
    }
    for (unsigned long at = 1;; at++) {
        long before = atomic_load(&heap.live);
        heap_arm(at, false);
        spaa_status st = once(&sum);
        bool failed = atomic_load(&heap.failed);
        heap_arm(0, false);
        if ((st && st != SPAA_ERR_NOMEM) || (!st && sum != expected) || atomic_load(&heap.live) != before) {
            printf("allocation %lu: %s, sum %ld of %ld, %ld pieces left\n", at, spaa_status_name(st), sum,
                   expected, atomic_load(&heap.live) - before);
            bad++;
        }
        if (!failed) {
            printf("%lu allocations\n", at - 1);
            return bad || at < 100;
        }
    }
}
