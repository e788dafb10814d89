/*
 * Prints what is heaviest in a profile of any format that spaa reads: some columns of the rows of `spaa top`.
 *
 *     cc -o top top.c $(pkg-config --cflags --libs spaa)
 *     ./top perf.data
 *     ./top perf.data comm,function
 */
#include <spaa/spaa.h>

#include <inttypes.h>
#include <math.h>
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

/* A cell, by the array that its column has. Weights are exact integers at the scale of their measure. */
static void print_cell(const struct spaa_column *c, size_t row)
{
    if (c->texts)
        printf("%s", c->texts[row] ? c->texts[row] : "");
    else if (c->reals && !isnan(c->reals[row]))
        printf("%.2f%s", c->reals[row], strcmp(c->type, "percent") == 0 ? "%" : "");
    else if (c->integers && c->integers[row] != SPAA_ABSENT)
        printf("%" PRId64, c->integers[row]);
}

/* Columns of the table "rows" by their names, as docs/json.md lists them; between tabs. */
static spaa_status print_rows(struct spaa_answer *answer, struct spaa_diagnostics **said)
{
    static const char *const names[] = {"self", "self_percent", "total", "total_percent", "name", "dso"};
    enum { NAMES = sizeof names / sizeof *names };
    struct spaa_column columns[NAMES];
    struct spaa_table table = {.size = sizeof table};
    size_t t = spaa_answer_find_table(answer, "rows"), n = 0;
    spaa_status st = spaa_answer_table(answer, t, &table);
    for (size_t i = 0; st == SPAA_OK && i < NAMES; i++) {
        size_t k = spaa_answer_find_column(answer, t, names[i]);
        if (k == SPAA_NONE) /* rows that are in no binary have no "dso" */
            continue;
        columns[n].size = sizeof *columns;
        st = spaa_answer_column(answer, t, k, &columns[n], said); /* all rows at once */
        if (st == SPAA_OK)
            printf("%s%s", n++ ? "\t" : "", names[i]);
    }
    for (size_t row = 0; st == SPAA_OK && row < table.rows; row++)
        for (size_t i = 0; i < n; i++) {
            printf(i ? "\t" : "\n");
            print_cell(&columns[i], row);
        }
    printf("\n");
    return st;
}

static spaa_status print_answer(struct spaa_answer *answer, struct spaa_diagnostics **said)
{
    struct spaa_measure m = {.size = sizeof m};
    spaa_status st = spaa_answer_measure(answer, 0, &m);
    if (st != SPAA_OK)
        return st;
    printf("# %s, %s in %s", m.event, m.metric, *m.unit ? m.unit : "counts");
    printf(m.scale ? ", to be divided by 10^%u\n" : "\n", m.scale);
    return print_rows(answer, said);
}

int main(int argc, char **argv)
{
    struct spaa_profile *profile = NULL;
    struct spaa_answer *answer = NULL;
    struct spaa_diagnostics *said = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: top FILE [KEYS]   (libspaa %s)\n", spaa_version());
        return 2;
    }
    struct spaa_ask_option by = {"by", argc > 2 ? argv[2] : "function"};
    struct spaa_ask_options o = {.size = sizeof o, .question = "top", .options = &by, .option_count = 1};
    spaa_status st = spaa_profile_open(argv[1], NULL, &profile, &said);
    if (st == SPAA_OK)
        st = spaa_ask(&profile, 1, &o, &answer, &said);
    if (st == SPAA_OK)
        st = print_answer(answer, &said);
    say(said);
    spaa_answer_free(answer); /* before the profile it is about */
    spaa_profile_free(profile);
    spaa_diagnostics_free(said);
    return st == SPAA_OK ? 0 : 1;
}
