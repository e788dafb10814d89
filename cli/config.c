#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 8192, SETTINGS = CLI_SETTINGS };

const struct config_key config_keys[] = {
    {"symfs", CONFIG_PATH, "symfs", "look for recorded files under this folder"},
    {"debug-dir", CONFIG_PATH, "debug-dir", "look for debug files here too"},
    {"dsym", CONFIG_PATH, "dsym", "look for Mach-O and .dSYM files below this folder"},
    {"symbol-store", CONFIG_PLACE, "symbol-store", "where copies of binaries are kept, or none"},
    {"kallsyms", CONFIG_PATH, "kallsyms", "kernel symbols of the recorded boot"},
    {"debuginfod", CONFIG_YES, "debuginfod", "yes: ask the servers of DEBUGINFOD_URLS"},
    {"own", CONFIG_TEXT, "own", "what the program's own functions are: as --own"},
    {"allocators", CONFIG_TEXT, "allocators", "wrappers of the allocator: as --allocators"},
    {"pools", CONFIG_NO, "no-pool", "no: each thread has a row of its own"},
    {NULL, CONFIG_TEXT, NULL, NULL},
};

static int config_mistake(struct cli *c, const char *file, unsigned line, const char *what, const char *hint)
{
    return cli_usage(c, hint, "%s:%u: %s", file, line, what);
}

static int no_memory(struct cli *c)
{
    spaa_diagnostics_add(&c->diags, "SPAA-E008", NULL, "out of memory");
    return EXIT_IO;
}

static char *joined(const char *a, const char *between, const char *b)
{
    char *out = malloc(strlen(a) + strlen(between) + strlen(b) + 1);
    if (out)
        sprintf(out, "%s%s%s", a, between, b);
    return out;
}

/* ---- lines ---- */

static char *trimmed(char *s)
{
    s += strspn(s, " \t\r\n");
    size_t n = strlen(s);
    while (n && strchr(" \t\r\n", s[n - 1]))
        s[--n] = '\0';
    return s;
}

/* As it is used: from the folder of the file that says it. */
static char *config_path(const char *file, const char *value)
{
    const char *home = getenv("HOME"), *slash = strrchr(file, '/');
    if (value[0] == '/')
        return strdup(value);
    if (value[0] == '~' && value[1] == '/' && home)
        return joined(home, "/", value + 2);
    char *folder = slash ? strndup(file, (size_t)(slash - file)) : strdup(".");
    char *out = folder ? joined(folder, "/", value) : NULL;
    free(folder);
    return out;
}

static const struct config_key *config_key_of(const char *name)
{
    for (const struct config_key *k = config_keys; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

static int unknown_key(struct cli *c, const char *file, unsigned line, const char *name)
{
    const char *names[SETTINGS];
    char near[260], hint[330], what[120];
    size_t n = 0;
    for (const struct config_key *k = config_keys; k->name && n < SETTINGS; k++)
        names[n++] = k->name;
    cli_nearest(name, names, n, near, sizeof near);
    snprintf(hint, sizeof hint, "%s`spaa config` lists the settings", near);
    snprintf(what, sizeof what, "there is no setting \"%.60s\"", name);
    return config_mistake(c, file, line, what, hint);
}

/* The first counts, as the nearer of the two files does. */
static void say_if_twice(struct cli *c, const struct config *x, const struct config_setting *s)
{
    char text[700];
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].key == s->key && strcmp(x->v[i].file, s->file) == 0) {
            snprintf(text, sizeof text, "%.500s:%u: %s stands in line %u already, which counts", s->file,
                     s->line, s->key->name, x->v[i].line);
            spaa_diagnostics_add(&c->diags, "SPAA-W038", "leave one of them out", text);
            return;
        }
}

static int config_line(struct cli *c, struct config *x, const char *file, unsigned line, char *text)
{
    char *name = trimmed(text), *eq = strchr(name, '=');
    if (!*name || *name == '#')
        return EXIT_FINE;
    if (!eq)
        return config_mistake(c, file, line, "a line without =", "key = value, or # and a comment");
    *eq = '\0';
    name = trimmed(name);
    char *value = trimmed(eq + 1);
    const struct config_key *key = config_key_of(name);
    if (!key)
        return unknown_key(c, file, line, name);
    bool flag = key->kind == CONFIG_YES || key->kind == CONFIG_NO;
    if (flag && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return config_mistake(c, file, line, "this setting is yes or no", NULL);
    if (!*value)
        return config_mistake(c, file, line, "a setting without a value", NULL);
    if (x->n >= SETTINGS)
        return config_mistake(c, file, line, "more settings than there are keys", NULL);
    bool path = key->kind == CONFIG_PATH || (key->kind == CONFIG_PLACE && strcmp(value, "none") != 0);
    struct config_setting s = {.key = key,
                               .value = path ? config_path(file, value) : strdup(value),
                               .file = strdup(file),
                               .line = line};
    if (!s.value || !s.file) {
        free(s.value);
        free(s.file);
        return no_memory(c);
    }
    say_if_twice(c, x, &s);
    x->v[x->n++] = s;
    return EXIT_FINE;
}

/* ---- files ---- */

/* As editors of Windows begin a file. */
static char *behind_bom(char *text)
{
    static const char bom[] = "\xef\xbb\xbf";
    return text + (strncmp(text, bom, sizeof bom - 1) == 0 ? sizeof bom - 1 : 0);
}

static void say_not_read(struct cli *c, const char *path, const char *why, const char *hint)
{
    char text[600];
    snprintf(text, sizeof text, "%.400s was not read: %s", path, why);
    spaa_diagnostics_add(&c->diags, "SPAA-W038", hint, text);
}

/* There is a file of settings; what is there and is none is told, and not opened: a pipe would wait. */
static bool is_settings_file(struct cli *c, const char *path)
{
    struct stat is;
    const char *why = NULL;
    if (!path || lstat(path, &is))
        return false;
    if (stat(path, &is))
        why = errno == ENOENT ? "it is a link that leads nowhere" : strerror(errno);
    else if (!S_ISREG(is.st_mode))
        why = S_ISDIR(is.st_mode) ? "it is a folder" : "it is no regular file";
    if (why)
        say_not_read(c, path, why, NULL);
    return !why;
}

/* Only who runs this, or root, may say what it does. */
static bool is_trusted(struct cli *c, const char *path, int fd)
{
    struct stat is;
    if (fstat(fd, &is) || !S_ISREG(is.st_mode))
        return false;
    bool mine = is.st_uid == geteuid() || is.st_uid == 0;
    if (mine && !(is.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    say_not_read(c, path, mine ? "others may write to it" : "it belongs to another user",
                 mine ? "chmod go-w" : NULL);
    return false;
}

/* The next line, with what is wrong with it as text; false: there is none. */
static bool next_line(FILE *f, char *text, const char **wrong)
{
    size_t n = 0;
    int ch = 0;
    *wrong = NULL;
    while (ch != '\n' && n < LINE - 1 && (ch = fgetc(f)) != EOF) {
        if (!ch)
            *wrong = "a NUL byte, which no text has";
        text[n++] = (char)ch;
    }
    text[n] = '\0';
    if (!*wrong && n == LINE - 1 && ch != '\n')
        *wrong = "a line that is too long";
    return n > 0;
}

static int config_file(struct cli *c, struct config *x, const char *path, bool *there)
{
    FILE *f = is_settings_file(c, path) ? fopen(path, "re") : NULL;
    char text[LINE];
    const char *wrong;
    int rc = EXIT_FINE;
    if (!f || !is_trusted(c, path, fileno(f))) {
        if (f)
            fclose(f);
        return EXIT_FINE;
    }
    *there = true;
    for (unsigned line = 1; !rc && next_line(f, text, &wrong); line++) {
        if (wrong)
            rc = config_mistake(c, path, line, wrong, NULL);
        else
            rc = config_line(c, x, path, line, line == 1 ? behind_bom(text) : text);
    }
    fclose(f);
    return rc;
}

static char *user_file(void)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        return joined(xdg, "/", "spaa/config");
    return home && *home ? joined(home, "/", ".config/spaa/config") : NULL;
}

/* The nearest .spaa; above the home directory nobody's project is looked for. */
static char *project_file(struct cli *c)
{
    const char *home = getenv("HOME");
    char *at = getcwd(NULL, 0), *found = NULL;
    while (at && !found) {
        char *path = joined(strcmp(at, "/") == 0 ? "" : at, "/", ".spaa");
        if (is_settings_file(c, path))
            found = path;
        else
            free(path);
        char *slash = strrchr(at, '/');
        if (found || !slash || !at[1] || (home && strcmp(at, home) == 0))
            break;
        slash[slash == at ? 1 : 0] = '\0';
    }
    free(at);
    return found;
}

int config_read(struct cli *c, struct config *out)
{
    *out = (struct config){.v = calloc(SETTINGS, sizeof *out->v)};
    if (!out->v)
        return no_memory(c);
    if (getenv("SPAA_NO_CONFIG"))
        return EXIT_FINE;
    out->project = project_file(c);
    out->user = user_file();
    int rc = config_file(c, out, out->project, &out->has_project);
    return rc ? rc : config_file(c, out, out->user, &out->has_user);
}

const struct config_setting *config_of(const struct config *x, const struct config_key *key)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->v[i].key == key)
            return &x->v[i];
    return NULL;
}

void config_apply(struct cli *c, const struct config *x)
{
    struct spaa_command_option o = {.size = sizeof o};
    for (size_t k = 0; spaa_command_option_get(c->number, k, &o) == SPAA_OK; k++)
        for (const struct config_key *key = config_keys; key->name; key++) {
            const struct config_setting *s = config_of(x, key);
            if (!s || strcmp(o.name, key->option) != 0 || cli_option(c, key->option))
                continue;
            if (strcmp(key->option, "allocators") == 0 && cli_option(c, "keep-allocators"))
                continue; /* which exclude each other */
            bool flag = key->kind == CONFIG_YES || key->kind == CONFIG_NO;
            if (!flag)
                c->options[c->noptions++] = (struct spaa_ask_option){key->option, s->value};
            else if (strcmp(s->value, key->kind == CONFIG_YES ? "yes" : "no") == 0)
                c->options[c->noptions++] = (struct spaa_ask_option){key->option, NULL};
        }
}

/* "--own ^acme::" of filters that fit nothing, "^acme::(" in quotes where it is no expression. */
static bool is_to_blame(const struct config_setting *s, const struct spaa_diagnostic *d)
{
    char *option = joined(s->key->option, " ", s->value), *quoted = joined("\"", s->value, "\"");
    bool is = s->key->kind == CONFIG_TEXT && option && quoted &&
              ((strcmp(d->code, "SPAA-E032") == 0 && strstr(d->message, option)) ||
               (strcmp(d->code, "SPAA-E035") == 0 && strstr(d->message, quoted)));
    free(option);
    free(quoted);
    return is;
}

static bool config_is_applied(const struct cli *c, const struct config_setting *s)
{
    for (size_t i = 0; i < c->noptions; i++)
        if (c->options[i].value == s->value)
            return true;
    return false;
}

static void config_say_where(struct cli *c, const struct config_setting *s, size_t i,
                             const struct spaa_diagnostic *d)
{
    const char *what = strstr(d->message, ": "); /* behind the code's title, which is put there again */
    char message[1400], hint[1024];
    snprintf(message, sizeof message, "%.600s:%u: %s: %.600s", s->file, s->line, s->key->name,
             what ? what + 2 : d->message);
    snprintf(hint, sizeof hint, "%s", d->hint);
    c->replaced = i + 1;
    spaa_diagnostics_add(&c->diags, d->code, hint, message); /* which lends d no longer */
}

void config_blame(struct cli *c, const struct config *x)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    for (size_t i = c->said; spaa_diagnostics_get(c->diags, i, &d) == SPAA_OK; i++)
        for (size_t k = 0; k < x->n; k++)
            if (config_is_applied(c, &x->v[k]) && is_to_blame(&x->v[k], &d)) {
                config_say_where(c, &x->v[k], i, &d);
                return;
            }
}

void config_free(struct config *x)
{
    for (size_t i = 0; i < x->n; i++) {
        free(x->v[i].value);
        free(x->v[i].file);
    }
    free(x->v);
    free(x->user);
    free(x->project);
}
