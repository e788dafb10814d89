/*
 * Makes every allocation fail in turn while names are looked up: symbols_sweep [-d] SYMFS PROFILE...
 *
 * As oom_sweep, with symbols, and with the allocations of the libraries that read them (libelf, zlib,
 * libzstd, liblzma, libc) failing too, unless a sanitizer has its own allocator. Each profile is read by one
 * thread, and by three. What comes out is what comes out without the failure, or nothing, and then memory ran
 * out and that was said. Nothing of ours may be left; -d allows it, for names of D, of which libiberty cannot
 * free what it holds. The folder SYMFS has the files; tests/test_symbols_sweep.py makes them.
 */
#include "heap.h"
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, RUNS_MAX = 20000, SHOWN_MAX = 20 };

static const char *symfs;
static bool may_leave;

struct result {
    spaa_status status;
    bool failed; /* an allocation did */
    bool said;   /* that memory ran out */
    bool same;   /* wrote what is expected */
    long left;   /* pieces of ours not freed */
};

/* Compares what comes out with *expected; the first time, that is NULL and becomes it. */
static struct result look_up(const struct sweep_file *f, unsigned jobs, unsigned long fail_at, bool on_and_on,
                             struct sp_output **expected)
{
    struct sp_diags d;
    struct sp_output *out;
    struct result r = {0};
    size_t n = 0, m = 0;
    sp_diags_init(&d);
    long before = heap.live;
    heap_arm(fail_at, on_and_on);
    r.status = sweep_names(f->bytes, f->n, symfs, jobs, &d, &out);
    heap.fail_at = 0;
    r.failed = heap.failed;
    r.said = d.count[SP_E008] > 0;
    sp_diags_free(&d);
    if (!*expected && !r.failed) {
        *expected = out;
        return r;
    }
    const char *p = out ? sp_output_data(out, &n) : "", *q = *expected ? sp_output_data(*expected, &m) : "";
    r.same = n == m && !memcmp(p, q, n);
    sp_output_close(out);
    r.left = heap.live - before;
    return r;
}

static const char *judge(const struct result *r, const struct result *normal)
{
    if (r->left != normal->left && !(may_leave && r->status == SPAA_ERR_NOMEM))
        return "memory is left";
    if (r->status == SPAA_ERR_NOMEM)
        return r->said ? NULL : "out of memory, and no message";
    if (r->status != normal->status)
        return "another status";
    return r->same ? NULL : "another answer, without an error";
}

static int each(const struct sweep_file *f, unsigned jobs)
{
    int wrong = 0;
    unsigned long runs = 0;
    bool reached = true;
    struct sp_output *expected = NULL;
    look_up(f, jobs, 0, false, &expected);
    struct result normal = look_up(f, jobs, 0, false, &expected);
    for (unsigned long at = 1; reached && runs < RUNS_MAX; at++) {
        for (int on_and_on = 0; on_and_on < 2; on_and_on++, runs++) {
            struct result r = look_up(f, jobs, at, on_and_on, &expected);
            const char *what = judge(&r, &normal);
            if (what && wrong++ < SHOWN_MAX)
                printf("%s, %u threads: allocation %lu%s: %s (status %d; %ld left)\n", f->path, jobs, at,
                       on_and_on ? " and on" : "", what, (int)r.status, r.left - normal.left);
            reached = r.failed;
        }
    }
    printf("%s, %u threads: status %d, %lu runs, %d wrong\n", f->path, jobs, (int)normal.status, runs, wrong);
    sp_output_close(expected);
    return wrong + (normal.status != SPAA_OK);
}

static int each_file(const struct sweep_file *f)
{
    return each(f, 1) + each(f, 3);
}

int main(int argc, char **argv)
{
    may_leave = argc > 1 && !strcmp(argv[1], "-d");
    argc -= may_leave;
    argv += may_leave;
    if (argc < 3)
        return 2;
    symfs = argv[1];
    int wrong = sweep_files(argc - 1, argv + 1, FILE_MAX, each_file);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
