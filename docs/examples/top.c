/*
 * Prints the heaviest functions of a profile, of any format that spaa reads.
 *
 *     cc -o top top.c $(pkg-config --cflags --libs spaa)
 *     ./top perf.data 10
 */
#include <spaa/spaa.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void say(const struct spaa_diagnostics *said)
{
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(said, i, &d) == SPAA_OK)
            fprintf(stderr, "%s: %s [%s]\n", d.severity, d.message, d.code);
    }
}

static void print(const struct spaa_rows *rows, size_t limit)
{
    struct spaa_whole whole = {.size = sizeof whole};
    if (spaa_rows_whole(rows, &whole) != SPAA_OK)
        return;
    printf("%s, %s in %s\n", whole.event, whole.metric, *whole.unit ? whole.unit : "counts");
    for (size_t i = 0; i < spaa_rows_count(rows) && i < limit; i++) {
        struct spaa_row row = {.size = sizeof row};
        if (spaa_rows_get(rows, i, &row) == SPAA_OK)
            printf("%14" PRId64 " %5.1f%%  %s (%s)\n", row.self,
                   whole.whole ? 100.0 * (double)row.self / (double)whole.whole : 0.0, row.name, row.dso);
    }
}

int main(int argc, char **argv)
{
    struct spaa_profile *profile = NULL;
    struct spaa_rows *rows = NULL;
    struct spaa_diagnostics *said = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: top FILE [ROWS]   (libspaa %s)\n", spaa_version());
        return 2;
    }
    spaa_status st = spaa_profile_open(argv[1], NULL, &profile, &said);
    if (st == SPAA_OK)
        st = spaa_top(profile, NULL, &rows, &said);
    if (st == SPAA_OK)
        print(rows, argc > 2 ? strtoul(argv[2], NULL, 10) : 10);
    say(said);
    spaa_rows_free(rows); /* before the profile it is about */
    spaa_profile_free(profile);
    spaa_diagnostics_free(said);
    return st == SPAA_OK ? 0 : 1;
}
