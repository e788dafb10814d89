#include "complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The option of --event, -e or -qe, n bytes of a word, if it takes a value. */
static bool complete_takes_value(const struct complete *x, const char *w, size_t n,
                                 struct spaa_command_option *out)
{
    bool is_long = n > 2 && w[1] == '-';
    *out = (struct spaa_command_option){.size = sizeof *out};
    for (size_t k = 0; spaa_command_option_get(x->c->number, k, out) == SPAA_OK; k++)
        if (out->value && (is_long ? strlen(out->name) == n - 2 && memcmp(out->name, w + 2, n - 2) == 0
                                   : out->letter && out->letter == w[n - 1]))
            return true;
    out->name = NULL;
    return false;
}

/* "~/x", "$HOME/x" and "${HOME}/x" as the shell would have them, which asks before it expands them; they last
 * until the program ends. */
static const char *complete_expanded(const char *word)
{
    static const char *const homes[] = {"~/", "$HOME/", "${HOME}/"};
    const char *home = getenv("HOME");
    for (size_t i = 0; home && i < sizeof homes / sizeof *homes; i++) {
        size_t n = strlen(homes[i]);
        char *path = strncmp(word, homes[i], n) == 0 ? malloc(strlen(home) + strlen(word) + 2) : NULL;
        if (path) {
            sprintf(path, "%s/%s", home, word + n);
            return path;
        }
    }
    return word;
}

/* Words behind the one that is asked about count, too: `spaa top --event <tab> perf.data`. */
static void complete_take_words(struct complete *x, int argc, char **argv, int at)
{
    struct cli *c = x->c;
    struct spaa_command_option pending = {0}, o;
    for (int i = 0; i < argc; i++) {
        const char *w = argv[i];
        size_t n = w[0] == '-' && w[1] == '-' ? strcspn(w, "=") : strlen(w);
        if (pending.name) {
            if (i == at)
                x->option = pending;
            else
                c->options[c->noptions++] = (struct spaa_ask_option){pending.name, complete_expanded(w)};
            pending.name = NULL;
        } else if (w[0] != '-' || !w[1]) {
            if (i != at)
                c->files[c->nfiles++] = complete_expanded(w);
        } else if (complete_takes_value(x, w, n, &o)) {
            if (i == at && w[n] == '=') {
                x->option = o;
                x->before = n + 1;
                x->word += n + 1;
            } else if (w[n] == '=') {
                c->options[c->noptions++] = (struct spaa_ask_option){o.name, w + n + 1};
            } else if (i != at) {
                pending = o;
            }
        }
    }
}

/* ---- what there is ---- */

static void complete_commands(struct complete *x)
{
    struct spaa_command command = {.size = sizeof command};
    for (size_t i = 0; spaa_command_get(i, &command) == SPAA_OK; i++)
        complete_offer(x, command.name, command.title);
}

static const char *complete_first(struct complete *x)
{
    complete_commands(x);
    if (*x->word != '-')
        return "files";
    complete_offer(x, "--help", NULL);
    complete_offer(x, "--version", NULL);
    return "none";
}

/* Several formats may have an option of one name. */
static bool complete_is_first(const struct complete *x, const char *name, size_t k)
{
    struct spaa_command_option o = {.size = sizeof o};
    for (size_t i = 0; i < k && spaa_command_option_get(x->c->number, i, &o) == SPAA_OK; i++)
        if (strcmp(o.name, name) == 0)
            return false;
    return true;
}

static const char *complete_options(struct complete *x)
{
    struct spaa_command_option o = {.size = sizeof o};
    char name[80];
    for (size_t k = 0; spaa_command_option_get(x->c->number, k, &o) == SPAA_OK; k++) {
        snprintf(name, sizeof name, "--%s", o.name);
        if (complete_is_first(x, o.name, k))
            complete_offer(x, name, o.help);
    }
    return "none";
}

static const char *complete_word(struct complete *x, int argc, char **argv, int at)
{
    struct cli *c = x->c;
    int named = cli_find_command(c, argv[0]); /* else it is a file */
    if (at == 0)
        return complete_first(x);
    if (!named && !cli_find_command(c, "summary"))
        return "files";
    complete_take_words(x, argc - named, argv + named, at - named);
    if (x->option.name)
        return complete_option(x);
    if (*x->word == '-')
        return complete_options(x);
    if (strcmp(c->command.name, "help") == 0)
        complete_commands(x);
    return complete_argument(x);
}

int cli_complete(struct cli *c, int argc, char **argv)
{
    struct complete x = {.c = c};
    long asked = argc > 0 ? strtol(argv[0], NULL, 10) : -1;
    if (asked < 0 || asked > argc - 2)
        return EXIT_FINE;
    int at = (int)asked;
    complete_start_clock();
    c->options = calloc((size_t)argc, sizeof *c->options);
    c->files = calloc((size_t)argc, sizeof *c->files);
    if (!c->options || !c->files)
        return EXIT_FINE;
    x.word = argv[at + 1];
    const char *also = complete_word(&x, argc - 1, argv + 1, at);
    complete_stop_clock();
    int rc = cli_print(c, also);
    if (!rc)
        rc = cli_print(c, "\n");
    if (!rc && x.text)
        rc = cli_print(c, x.text);
    free(x.text);
    return rc;
}
