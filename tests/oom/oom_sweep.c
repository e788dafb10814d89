/*
 * Makes every allocation fail in turn: oom_sweep FILE-OR-FOLDER...
 *
 * For every fixture, the Nth allocation of a conversion to SPAA, and of merging it with itself, fails, for N
 * = 1, 2, 3, ... with a stride that grows, once alone and once with all that follow. Then the conversion
 * either says that memory ran out, or ends as it does without the failure, with the same bytes: only messages
 * may be lost. Nothing that was allocated may be left. Linked with --wrap for malloc, calloc, realloc and
 * free.
 */
#include "heap.h"
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 10, RUNS_MAX = 1500 };

struct run {
    spaa_status status;
    bool failed; /* an allocation did */
    bool said;   /* that memory ran out */
    bool same;   /* wrote what the first run wrote */
    long left;   /* pieces not freed */
};

static struct run run(const struct sweep_file *f, unsigned long fail_at, bool on_and_on, bool merged,
                      struct sp_output *expected)
{
    struct sp_diags d;
    struct sp_output *out;
    struct run r = {0};
    sp_diags_init(&d);
    long before = heap.live;
    heap_arm(fail_at, on_and_on);
    r.status = sweep_convert(NULL, f->bytes, f->n, 0, merged, &d, &out);
    heap.fail_at = 0;
    r.failed = heap.failed;
    r.said = d.count[SP_E008] > 0;
    if (out) {
        size_t n, m;
        const char *p = sp_output_data(out, &n), *q = sp_output_data(expected, &m);
        r.same = n == m && !memcmp(p, q, n);
    }
    sp_output_close(out);
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
    else if (r.status == SPAA_OK && !r.same)
        wrong = "another profile, without an error";
    if (wrong)
        printf("%s: allocation %lu%s: %s (status %d, normally %d; %ld left)\n", f->path, at,
               on_and_on ? " and on" : "", wrong, (int)r.status, (int)normal.status, r.left - normal.left);
    return wrong != NULL;
}

static int sweep(const struct sweep_file *f, bool merged)
{
    struct sp_diags d;
    struct sp_output *expected;
    int wrong = 0, runs = 0;
    sp_diags_init(&d);
    sweep_convert(NULL, f->bytes, f->n, 0, merged, &d, &expected);
    if (!expected) {
        printf("%s: cannot even begin\n", f->path);
        sp_diags_free(&d);
        return 1;
    }
    struct run normal = run(f, 0, false, merged, expected);
    for (unsigned long at = 1; runs < RUNS_MAX && wrong < 5; at += sweep_part() + at / 100) {
        struct run once = run(f, at, false, merged, expected), on = run(f, at, true, merged, expected);
        if (!once.failed)
            break;
        wrong += judge(f, at, false, once, normal) + judge(f, at, true, on, normal);
        runs += 2;
    }
    printf("%s%s: %d runs\n", f->path, merged ? ", merged" : "", runs);
    sp_output_close(expected);
    sp_diags_free(&d);
    return wrong;
}

static int each(const struct sweep_file *f)
{
    return sweep_probe(f) ? sweep(f, false) + sweep(f, true) : 0;
}

int main(int argc, char **argv)
{
    int wrong = sweep_files(argc, argv, FILE_MAX, each);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
