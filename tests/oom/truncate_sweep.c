/*
 * Reads damaged fixtures: truncate_sweep FILE-OR-FOLDER...
 *
 * Every prefix of every fixture (with a stride in larger ones), and copies with bytes changed, removed and
 * repeated by a fixed sequence, are read by the format they are of; some by every other format too.
 * Whatever is read must be written as SPAA that reads back to the same bytes, and no status may say that
 * we are to blame. Sanitizers see the rest.
 */
#include "sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20, PREFIXES = 1000, MUTATIONS = 400, OTHERS = 24 };
static const size_t work_max = (size_t)48 << 20; /* bytes read per fixture, about */

/* The SPAA that was written is valid enough to give itself again. */
static bool reads_back(struct sp_output *out)
{
    struct sp_diags d;
    struct sp_output *again;
    size_t n, m = 0;
    const char *p = sp_output_data(out, &n), *q = "";
    sp_diags_init(&d);
    spaa_status st = sweep_convert(sp_format_by_name("spaa"), p, n, 0, false, &d, &again);
    if (again)
        q = sp_output_data(again, &m);
    bool same = !st && n == m && !memcmp(p, q, n);
    sp_output_close(again);
    sp_diags_free(&d);
    return same;
}

static int try(const char *path, const struct spaa_format *format, const unsigned char *p, size_t n,
               const char *what, unsigned long number)
{
    struct sp_diags d;
    struct sp_output *out;
    const char *wrong = NULL;
    unsigned char *exact = malloc(n ? n : 1); /* so that reading behind it is seen */
    if (!exact)
        return 1;
    memcpy(exact, p, n);
    sp_diags_init(&d);
    spaa_status st = sweep_convert(format, exact, n, 0, number % 4 == 3, &d, &out);
    if (st == SPAA_ERR_BUG || st == SPAA_ERR_NOMEM || st == SPAA_ERR_USAGE || st == SPAA_ERR_CLOSED)
        wrong = "an odd status";
    else if (st && st != SPAA_ERR_UNSUPPORTED && !sp_diags_count(&d, SP_LOSS))
        wrong = "an error without a message";
    else if (!st && !reads_back(out))
        wrong = "written as SPAA that does not read back to itself";
    if (wrong)
        printf("%s as %s: %s %lu: %s (status %d)\n", path, format->name, what, number, wrong, (int)st);
    sp_output_close(out);
    sp_diags_free(&d);
    free(exact);
    return wrong != NULL;
}

static int each(const struct sweep_file *f)
{
    const struct spaa_format *own = sweep_probe(f);
    unsigned char *copy = malloc(f->n ? f->n : 1);
    uint64_t seed = 88172645463325252u;
    int wrong = 0;
    unsigned long runs = 0;
    size_t budget = work_max / (f->n + 4096) / sweep_part();
    size_t prefixes = budget < PREFIXES / sweep_part() ? budget : PREFIXES / sweep_part();
    size_t stride = f->n / (prefixes + 1) + 1;
    if (!copy)
        return 1;
    for (size_t n = 0; own && n <= f->n && wrong < 5; n += stride, runs++)
        wrong += try(f->path, own, f->bytes, n, "prefix", n);
    for (unsigned long i = 0;
         own && i < (budget < MUTATIONS / sweep_part() ? budget : MUTATIONS / sweep_part()) && wrong < 10;
         i++, runs++) {
        memcpy(copy, f->bytes, f->n);
        size_t n = sweep_damage(copy, f->n, &seed);
        wrong += try(f->path, own, copy, n, "mutation", i);
    }
    for (size_t k = 0; spaa_formats[k] && wrong < 15; k++) {
        if (spaa_formats[k] == own || !(spaa_formats[k]->caps & SP_CAN_READ))
            continue;
        for (unsigned long i = 0; i < OTHERS && f->n; i += sweep_part(), runs++)
            wrong += try(f->path, spaa_formats[k], f->bytes, f->n - f->n * i / OTHERS, "part", i);
    }
    printf("%s: %lu runs\n", f->path, runs);
    free(copy);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = sweep_files(argc, argv, FILE_MAX, each);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
