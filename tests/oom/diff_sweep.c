/*
 * Several runs a side whose functions were renamed and inlined, with every allocation failing in turn: it is
 * said, nothing is left behind, and what is answered is the answer.
 */
#include "ask/question.h"
#include "base/hash.h"
#include "formats/open.h"
#include "heap.h"
#include "io/input.h"
#include "render/answer_render.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 3, PROFILES = 2 * RUNS };

/* Of the base: sum at line 14 and scale, called by apply; of the new side: total in the same place, no scale.
 */
static size_t recording(char *out, size_t room, unsigned run)
{
    unsigned fresh = run >= RUNS;
    static const char head[] = "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":"
                               "\"perf\",\"frame_order\":"
                               "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\","
                               "\"sampling\":{\"mode\":\"period\","
                               "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
                               "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n";
    static const char *const frames[] = {"main", NULL, "apply", "scale", "fold", "hash"};
    const unsigned weights[2][6] = {{0, 30, 30, 60, 300, 200}, {0, 31, 90, 0, 300, 200}};
    size_t n = (size_t)snprintf(out, room, "%s", head);
    for (unsigned i = 0; i < 6; i++) {
        const char *name = frames[i] ? frames[i] : fresh ? "total" : "sum";
        n += (size_t)snprintf(
            out + n, room - n,
            "{\"type\":\"frame\",\"id\":%u,\"func\":\"%s\",\"dso\":1,\"kind\":\"user\",\"ip\":"
            "\"0x%x\",\"symoff\":\"0x4\",\"x_func\":{\"start\":\"0x%x\",\"file\":\"a.c\",\"line\":%u}}\n",
            i, name, 0x1000 + 64 * i + 4, 0x1000 + 64 * i, 10 + i);
    }
    for (unsigned i = 1; i < 6; i++)
        if (weights[fresh][i])
            n += (size_t)snprintf(
                out + n, room - n,
                "{\"type\":\"stack\",\"id\":\"s%u\",\"frames\":[%u,%u],\"context\":{\"event\":\"e\"},"
                "\"weights\":[{\"metric\":\"samples\",\"value\":%u},{\"metric\":\"period\","
                "\"value\":%u}]}\n",
                i, i, i == 3 ? 2u : 0u, weights[fresh][i] + run % RUNS,
                1000 * (weights[fresh][i] + run % RUNS));
    return n;
}

static spaa_status run(struct sp_profile **p, enum sp_answer_form form, struct sp_diags *d, uint64_t *hash)
{
    static const char *const names[PROFILES] = {"a", "b", "c", "d", "e", "f"};
    struct sp_options options = {0};
    struct sp_answer answer;
    struct sp_output *out = NULL;
    struct sp_ask q = {.question = sp_question_find("diff"),
                       .options = &options,
                       .diags = d,
                       .profiles = p,
                       .nprofiles = PROFILES,
                       .names = names,
                       .nnames = PROFILES,
                       .split = RUNS,
                       .brief = form == SP_FORM_TEXT};
    const struct sp_render_opts how = {.form = form, .width = 80, .notes = true, .more = "-n 0"};
    sp_answer_init(&answer, q.question->schema, d);
    spaa_status st = sp_ask(&q, &answer);
    if (!st)
        st = sp_output_memory(d, &out);
    if (!st)
        st = sp_render(&answer, &how, d, out);
    if (!st) {
        size_t n;
        const char *bytes = sp_output_data(out, &n);
        st = out->status ? sp_nomem(d) : SPAA_OK;
        *hash = sp_hash64(bytes, n);
        if (form == SP_FORM_TEXT && !heap.fail_at &&
            (!memmem(bytes, n, "sum → total", 13) || !memmem(bytes, n, "MOVED: ", 7)))
            st = SPAA_ERR_INPUT;
    }
    sp_output_close(out);
    sp_answer_free(&answer);
    return st;
}

static int sweep(struct sp_profile **p, enum sp_answer_form form)
{
    int wrong = 0;
    uint64_t normal = 0, hash = 0;
    struct sp_diags d, *own[PROFILES];
    sp_diags_init(&d);
    for (size_t i = 0; i < PROFILES; i++) {
        own[i] = p[i]->diags;
        p[i]->diags = &d;
    }
    spaa_status expected = run(p, form, &d, &normal);
    sp_diags_free(&d);
    unsigned long at = 1;
    for (; expected == SPAA_OK && wrong < 5; at++) {
        long before = heap.live;
        sp_diags_init(&d);
        heap_arm(at, false);
        spaa_status st = run(p, form, &d, &hash);
        bool said = d.count[SP_E008] > 0, failed = heap.failed, lost = d.lost > 0;
        heap_arm(0, false);
        sp_diags_free(&d);
        if (heap.live != before || (st == SPAA_ERR_NOMEM && !said) || (st && st != SPAA_ERR_NOMEM) ||
            (!st && hash != normal && !lost)) {
            printf("form %d: allocation %lu: status %d, %ld left\n", (int)form, at, (int)st,
                   heap.live - before);
            wrong++;
        }
        if (!failed)
            break;
    }
    for (size_t i = 0; i < PROFILES; i++)
        p[i]->diags = own[i];
    printf("diff, form %d: %lu runs, status %d\n", (int)form, at, (int)expected);
    return wrong + (expected != SPAA_OK);
}

int main(void)
{
    struct sp_diags d;
    struct sp_input *in[PROFILES] = {NULL};
    struct sp_profile *p[PROFILES] = {NULL};
    static char text[PROFILES][8192];
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS};
    spaa_status st = SPAA_OK;
    int wrong = 0;
    sp_diags_init(&d);
    for (unsigned i = 0; !st && i < PROFILES; i++) {
        size_t n = recording(text[i], sizeof text[i], i);
        st = sp_input_memory(text[i], n, "run", &d, &in[i]);
        if (!st)
            st = sp_read_profile(in[i], sp_format_by_name("spaa"), &opts, &d, &p[i]);
    }
    if (!st)
        for (int form = SP_FORM_TEXT; form <= SP_FORM_JSON; form++)
            wrong += sweep(p, (enum sp_answer_form)form);
    for (unsigned i = 0; i < PROFILES; i++) {
        sp_profile_free(p[i]);
        sp_input_close(in[i]);
    }
    sp_diags_free(&d);
    return wrong != 0 || st;
}
