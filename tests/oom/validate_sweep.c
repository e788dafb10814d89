/*
 * The validator with every allocation failing in turn: validate_sweep FILE-OR-FOLDER...
 *
 * The Nth allocation fails, once alone and once with all that follow, with one thread and with several. Then
 * the validator either says that memory ran out, or finds what it finds without the failure: only messages
 * may be lost. Nothing that was allocated may be left. Linked with --wrap as the other sweeps.
 */
#include "formats/spaa/validate/validate.h"
#include "heap.h"
#include "sweep.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 64 << 10, RUNS_MAX = 600 };

struct run {
    spaa_status status;
    bool failed, said;
    uint64_t count[SP_CODES];
    long left;
};

static struct run run(const struct sweep_file *f, unsigned long fail_at, bool on_and_on, unsigned jobs)
{
    struct sp_diags d;
    struct sp_input *in = NULL;
    struct run r = {0};
    struct sp_chunking how = SP_CHUNKING(jobs);
    if (jobs > 1)
        how = (struct sp_chunking){.jobs = jobs, .chunk = 500};
    sp_diags_init(&d);
    if (sp_input_memory(f->bytes, f->n, f->path, &d, &in))
        return r;
    long before = heap.live;
    heap_arm(fail_at, on_and_on);
    r.status = sp_spaa_validate_chunked(in, &d, how);
    heap.fail_at = 0;
    r.failed = heap.failed;
    r.said = d.count[SP_E008] > 0;
    memcpy(r.count, d.count, sizeof r.count);
    sp_input_close(in);
    sp_diags_free(&d);
    r.left = heap.live - before;
    return r;
}

static int judge(const struct sweep_file *f, unsigned long at, bool on_and_on, struct run r,
                 struct run normal)
{
    const char *wrong = NULL;
    if (r.left != normal.left)
        wrong = "memory is left";
    else if (r.status == SPAA_ERR_NOMEM)
        wrong = r.said ? NULL : "out of memory, and no message";
    else if (r.status != normal.status)
        wrong = "another status";
    else if (memcmp(r.count, normal.count, sizeof r.count) != 0)
        wrong = "other findings, without an error";
    if (wrong)
        printf("%s: allocation %lu%s: %s (status %d, normally %d; %ld left)\n", f->path, at,
               on_and_on ? " and on" : "", wrong, (int)r.status, (int)normal.status, r.left - normal.left);
    return wrong != NULL;
}

static int sweep(const struct sweep_file *f, unsigned jobs)
{
    struct run normal = run(f, 0, false, jobs);
    int wrong = 0, runs = 0;
    for (unsigned long at = 1; runs < RUNS_MAX && wrong < 5; at += sweep_part() + at / 100) {
        struct run once = run(f, at, false, jobs), on = run(f, at, true, jobs);
        if (!once.failed)
            break;
        wrong += judge(f, at, false, once, normal) + judge(f, at, true, on, normal);
        runs += 2;
    }
    return wrong;
}

static int each(const struct sweep_file *f)
{
    return sweep(f, 1) + sweep(f, 2);
}

int main(int argc, char **argv)
{
    int wrong = sweep_files(argc, argv, FILE_MAX, each);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
