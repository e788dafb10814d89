/*
 * Asks a profile any question of `spaa help`, with any of its options, and prints the answer in one form.
 *
 *     cc -o ask ask.c $(pkg-config --cflags --libs spaa)
 *     ./ask json perf.data top by=comm,function limit=5
 *     ./ask text perf.data tree inverted
 *     ./ask markdown perf.data function:main
 */
#include <spaa/spaa.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 32 };

static void say(const struct spaa_diagnostics *said)
{
    for (size_t i = 0; i < spaa_diagnostics_count(said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(said, i, &d) == SPAA_OK)
            fprintf(stderr, "%s: %s [%s]\n", d.severity, d.message, d.code);
    }
}

/* What stands behind the first `mark` of a word, which ends there then; NULL: it has none. */
static char *cut_at(char *word, char mark)
{
    char *at = strchr(word, mark);
    if (at)
        *at++ = '\0';
    return at;
}

int main(int argc, char **argv)
{
    struct spaa_profile *profile = NULL;
    struct spaa_answer *answer = NULL;
    struct spaa_diagnostics *said = NULL;
    struct spaa_ask_option options[MOST];
    struct spaa_ask_options o = {.size = sizeof o, .options = options};
    if (argc < 4 || argc - 4 > MOST) {
        fprintf(stderr, "usage: ask FORM FILE QUESTION[:ARGUMENT] [OPTION[=VALUE]]...   (libspaa %s)\n",
                spaa_version());
        return 2;
    }
    struct spaa_render_options how = {.size = sizeof how, .form = argv[1], .width = 120};
    o.argument = cut_at(argv[3], ':');
    o.question = argv[3];
    for (; o.option_count < (size_t)argc - 4; o.option_count++) {
        char *word = argv[o.option_count + 4], *value = cut_at(word, '=');
        options[o.option_count] = (struct spaa_ask_option){word, value};
    }
    spaa_status st = spaa_profile_open(argv[2], NULL, &profile, &said);
    if (st == SPAA_OK)
        st = spaa_ask(&profile, 1, &o, &answer, &said);
    if (st == SPAA_OK)
        st = spaa_answer_write_fd(answer, STDOUT_FILENO, &how, &said);
    int verdict = spaa_answer_verdict(answer); /* as the exit code of the command line */
    say(said);
    spaa_answer_free(answer); /* before the profile it is about */
    spaa_profile_free(profile);
    spaa_diagnostics_free(said);
    return st == SPAA_OK ? verdict : 2;
}
