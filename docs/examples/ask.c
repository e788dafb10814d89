/*
 * Asks a profile what is heaviest by some key: prints a column of the answer, or all of it as JSON.
 *
 *     cc -o ask ask.c $(pkg-config --cflags --libs spaa)
 *     ./ask perf.data comm,function
 *     ./ask perf.data dso json
 */
#include <spaa/spaa.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void say(const struct spaa_diagnostics *said)
{
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(said, i, &d) == SPAA_OK)
            fprintf(stderr, "%s: %s [%s]\n", d.severity, d.message, d.code);
    }
}

/* Of the table "rows" the self weights, each beside the texts of its row. */
static spaa_status print_columns(struct spaa_answer *answer, struct spaa_diagnostics **said)
{
    size_t t = spaa_answer_find_table(answer, "rows");
    struct spaa_table table = {.size = sizeof table};
    struct spaa_column self = {.size = sizeof self};
    spaa_status st = spaa_answer_table(answer, t, &table);
    if (st == SPAA_OK)
        st = spaa_answer_column(answer, t, spaa_answer_find_column(answer, t, "self"), &self, said);
    for (size_t row = 0; st == SPAA_OK && row < table.rows; row++) {
        printf("%" PRId64, self.integers[row]);
        for (size_t k = 0; st == SPAA_OK && k < table.columns; k++) {
            struct spaa_column c = {.size = sizeof c};
            st = spaa_answer_column(answer, t, k, &c, said);
            if (st == SPAA_OK && c.title && c.texts && !c.first && c.texts[row])
                printf("\t%s", c.texts[row]);
        }
        printf("\n");
    }
    return st;
}

static spaa_status print_json(struct spaa_answer *answer, struct spaa_diagnostics **said)
{
    char *text = NULL;
    spaa_status st = spaa_answer_render(answer, NULL, &text, NULL, said);
    if (st == SPAA_OK)
        printf("%s", text);
    spaa_free(text);
    return st;
}

int main(int argc, char **argv)
{
    struct spaa_profile *profile = NULL;
    struct spaa_answer *answer = NULL;
    struct spaa_diagnostics *said = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: ask FILE KEYS [json]   (libspaa %s)\n", spaa_version());
        return 2;
    }
    struct spaa_ask_option by = {"by", argv[2]};
    struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &by, .option_count = 1};
    spaa_status st = spaa_profile_open(argv[1], NULL, &profile, &said);
    if (st == SPAA_OK)
        st = spaa_ask(&profile, 1, &o, &answer, &said);
    if (st == SPAA_OK)
        st = argc > 3 ? print_json(answer, &said) : print_columns(answer, &said);
    say(said);
    spaa_answer_free(answer); /* before the profile it is about */
    spaa_profile_free(profile);
    spaa_diagnostics_free(said);
    return st == SPAA_OK ? 0 : 1;
}
