/*
 * spaa view: a profile in another program's viewer. It is written as `spaa convert` writes it, and handed to
 * the viewer where that is a program here; else the answer says how to get it there. Nothing is uploaded, and
 * nothing is served by this program.
 *
 * The Firefox Profiler is a page that reads a file that is dropped on it, or fetches one from an address:
 * from this machine only if what serves it allows that page to (CORS), as python3's own server does not by
 * itself.
 */
#include "inside.h"
#include "pager.h"
#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PORT = 8123 };

/* The format that a viewer reads. */
static const struct viewer {
    const char *name, *format, *file;
} viewers[] = {{"firefox", "firefox", "profile.json"},
               {"speedscope", "speedscope", "profile.speedscope.json"}};

struct view {
    struct cli *c;
    const struct viewer *in;
    char path[PATH_MAX]; /* of the file, absolute where this program chose it */
};

/* A folder of its own, so that what serves it serves nothing else. */
static int view_name(struct view *v)
{
    const char *named = cli_option(v->c, "output"), *folder = getenv("TMPDIR");
    if (named && strcmp(named, "-") == 0)
        return cli_usage(v->c, "name a file, or leave it out", "view needs a file");
    if (named) {
        snprintf(v->path, sizeof v->path, "%s", named);
        return EXIT_FINE;
    }
    char at[PATH_MAX - 32];
    int n = snprintf(at, sizeof at, "%s/spaa-view-XXXXXX", folder && *folder ? folder : "/tmp");
    if (n < 0 || (size_t)n >= sizeof at || !mkdtemp(at)) {
        cli_usage(v->c, "name a file with -o", "no temporary folder could be made in %s: %s",
                  folder && *folder ? folder : "/tmp",
                  (size_t)n >= sizeof at ? "its name is too long" : strerror(errno));
        return EXIT_IO;
    }
    snprintf(v->path, sizeof v->path, "%s/%s", at, v->in->file);
    return EXIT_FINE;
}

/* As `spaa convert --to FORMAT -o PATH` with the same options. */
static int view_write(struct view *v)
{
    struct cli *c = v->c;
    struct spaa_ask_option *options = calloc(c->noptions + 2, sizeof *options);
    struct spaa_run_result result = {.size = sizeof result, .exit_code = EXIT_IO};
    size_t n = 0;
    if (!options)
        return EXIT_IO;
    for (size_t i = 0; i < c->noptions; i++)
        if (strcmp(c->options[i].name, "in") != 0 && strcmp(c->options[i].name, "output") != 0)
            options[n++] = c->options[i];
    options[n++] = (struct spaa_ask_option){.name = "to", .value = v->in->format};
    options[n++] = (struct spaa_ask_option){.name = "output", .value = v->path};
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "convert",
                                 .files = c->files,
                                 .file_count = c->nfiles,
                                 .options = options,
                                 .option_count = n,
                                 .temporary = cli_half_written};
    spaa_run_fd(&o, 1, &result, &c->diags);
    free(options);
    if (result.exit_code && !cli_option(c, "output")) { /* the folder that was made is for nothing then */
        *strrchr(v->path, '/') = '\0';
        rmdir(v->path);
    }
    return result.exit_code;
}

/* Runs the viewer with the file, and waits for it. */
static int view_open(struct view *v)
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        execlp(v->in->name, v->in->name, v->path, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status) ? EXIT_FINE : EXIT_IO;
}

/* As a URL inside another one has it. */
static void put_encoded(FILE *f, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *s; s++)
        fprintf(f, strchr(plain, *s) ? "%c" : "%%25%02X", (unsigned char)*s);
}

/* What is left to do by hand. word: the file, and place: its folder, as a shell takes them. */
static void view_words(const struct view *v, bool failed, const char *word, const char *place, FILE *f)
{
    const char *slash = strrchr(v->path, '/');
    fprintf(f, "wrote %s\n", word);
    if (strcmp(v->in->name, "speedscope") == 0) {
        fprintf(f,
                "%s\n  npm install -g speedscope && speedscope %s\nor drop the file on "
                "https://www.speedscope.app, which reads it in the browser\n",
                failed ? "speedscope failed; by hand:" : "speedscope is not installed here:", word);
        return;
    }
    fprintf(f,
            "drop the file on https://profiler.firefox.com, which reads it in the browser; or serve its "
            "folder to that page alone, from this machine:\n"
            "  cd %s && python3 -c \"import http.server as h;H=h.SimpleHTTPRequestHandler;E=H.end_headers;"
            "H.end_headers=lambda "
            "s:(s.send_header('Access-Control-Allow-Origin','https://profiler.firefox.com'),"
            "E(s));h.HTTPServer(('127.0.0.1',%d),H).serve_forever()\"\nand open\n"
            "  https://profiler.firefox.com/from-url/http%%3A%%2F%%2F127.0.0.1%%3A%d%%2F",
            place, PORT, PORT);
    put_encoded(f, slash ? slash + 1 : v->path);
    fputs("\n", f);
}

/* Line by line, as a terminal may show them. */
static int view_print(struct view *v, char *text)
{
    char *safe = NULL, *line, *rest = text;
    int rc = EXIT_FINE;
    while (!rc && (line = strsep(&rest, "\n")) && (rest || *line)) {
        rc = spaa_safe_text(line, 0, &safe) == SPAA_OK ? cli_print(v->c, safe) : EXIT_IO;
        rc = rc ? rc : cli_print(v->c, "\n");
        spaa_free(safe);
        safe = NULL;
    }
    return rc;
}

static int view_say(struct view *v, bool failed)
{
    char *word = NULL, *place = NULL, *folder = strdup(v->path), *text = NULL;
    size_t n = 0;
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0'; /* "/" stays */
    bool ok = folder && spaa_shell_word(v->path, &word) == SPAA_OK &&
              spaa_shell_word(slash ? folder : ".", &place) == SPAA_OK;
    FILE *f = ok ? open_memstream(&text, &n) : NULL;
    if (f)
        view_words(v, failed, word, place, f);
    int rc = f && !fclose(f) ? view_print(v, text) : EXIT_IO;
    free(text);
    free(folder);
    spaa_free(word);
    spaa_free(place);
    return rc;
}

int cmd_view(struct cli *c)
{
    struct view v = {.c = c};
    const char *in = cli_option(c, "in");
    for (size_t i = 0; in && i < sizeof viewers / sizeof *viewers; i++)
        v.in = strcmp(in, viewers[i].name) == 0 ? &viewers[i] : v.in;
    if (!v.in)
        return cli_usage(c, "--in firefox or --in speedscope",
                         in ? "there is no viewer \"%s\"" : "view needs a viewer", in ? in : "");
    if (c->nfiles > 1) /* none: as convert says it */
        return cli_usage(c, "several are one with `spaa merge A B -o OUT`", "view takes one input, not %zu",
                         c->nfiles);
    int rc = view_name(&v);
    if (!rc)
        rc = view_write(&v);
    if (rc)
        return rc;
    bool here = strcmp(in, "speedscope") == 0 && cli_has_program(in);
    if (here && !view_open(&v))
        return EXIT_FINE;
    rc = view_say(&v, here);
    return rc ? rc : here ? EXIT_IO : EXIT_FINE;
}
