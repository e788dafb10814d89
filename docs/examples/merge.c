/*
 * Merges files of any formats, a hundred as well as two, into one profile.
 *
 *     cc -o merge merge.c $(pkg-config --cflags --libs spaa)
 *     ./merge all.spaa.zst run-*.data
 */
#include <spaa/spaa.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    struct spaa_profile *merged = NULL;
    struct spaa_diagnostics *said = NULL;
    struct spaa_open_options open = {.size = sizeof open, .jobs = 4};
    struct spaa_merge_options how = {.size = sizeof how, .skip_bad = 1};
    if (argc < 3) {
        fprintf(stderr, "usage: merge OUT.spaa FILE...   (libspaa %s)\n", spaa_version());
        return 2;
    }
    const char *const *paths = (const char *const *)argv + 2;
    spaa_status st = spaa_merge_files(paths, (size_t)argc - 2, &open, &how, &merged, &said);
    if (st == SPAA_OK)
        st = spaa_profile_write(merged, argv[1], NULL, &said);
    if (st == SPAA_OK)
        printf("%d files, %zu stacks\n", argc - 2, spaa_profile_stack_count(merged));
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(said, i, &d) == SPAA_OK)
            fprintf(stderr, "%s: %s [%s]\n", d.severity, d.message, d.code);
    }
    spaa_profile_free(merged);
    spaa_diagnostics_free(said);
    return st == SPAA_OK ? 0 : 1;
}
