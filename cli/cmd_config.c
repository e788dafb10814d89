/* spaa config: the settings, and where each comes from. */
#include "config.h"
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void config_json_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || (unsigned char)*s == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, out);
    fputc('"', out);
}

static void config_json_file(FILE *out, const char *key, const char *path, bool is_read)
{
    fprintf(out, ",\"%s\":{\"path\":", key);
    if (path)
        config_json_text(out, path);
    else
        fputs("null", out);
    fprintf(out, ",\"read\":%s}", is_read ? "true" : "false");
}

static void config_json(FILE *out, const struct config *x)
{
    fputs("{\"schema\":\"spaa.config/1\"", out);
    config_json_file(out, "project", x->project, x->has_project);
    config_json_file(out, "user", x->user, x->has_user);
    fputs(",\"settings\":[", out);
    for (const struct config_key *k = config_keys; k->name; k++) {
        const struct config_setting *s = config_of(x, k);
        fprintf(out, "%s{\"name\":\"%s\",\"value\":", k == config_keys ? "" : ",", k->name);
        if (s) {
            config_json_text(out, s->value);
            fputs(",\"file\":", out);
            config_json_text(out, s->file);
            fprintf(out, ",\"line\":%u}", s->line);
        } else {
            fputs("null}", out);
        }
    }
    fputs("]}\n", out);
}

/* "symfs       build/sysroot  (.spaa:2)"; values of strangers' files are shown escaped. */
static void config_text(FILE *out, const struct config *x)
{
    for (const struct config_key *k = config_keys; k->name; k++) {
        const struct config_setting *s = config_of(x, k);
        char *value = NULL, *file = NULL;
        if (!s)
            fprintf(out, "%-12s -  %s\n", k->name, k->what);
        else if (spaa_safe_text(s->value, 0, &value) == SPAA_OK &&
                 spaa_safe_text(s->file, 0, &file) == SPAA_OK)
            fprintf(out, "%-12s %s  (%s:%u)\n", k->name, value, file, s->line);
        spaa_free(value);
        spaa_free(file);
    }
}

int cmd_config(struct cli *c)
{
    const char *format = cli_option(c, "format");
    struct config x;
    char *text = NULL;
    size_t n;
    if (c->nfiles)
        return cli_usage(c, "spaa config", "config takes no files");
    if (format && strcmp(format, "json") != 0 && strcmp(format, "table") != 0)
        return cli_usage(c, "one of: table, json", "config has no form \"%s\"", format);
    int rc = config_read(c, &x), printed = EXIT_FINE;
    /* A mistake is told with the settings that there are, which is where its hint leads. */
    FILE *out = rc && (rc != EXIT_USAGE || c->json) ? NULL : open_memstream(&text, &n);
    if (out && c->json)
        config_json(out, &x);
    else if (out)
        config_text(out, &x);
    if (out ? fclose(out) != 0 : !rc) {
        spaa_diagnostics_add(&c->diags, "SPAA-E008", NULL, "out of memory");
        rc = EXIT_IO;
    } else if (out) {
        printed = cli_print(c, text);
    }
    rc = rc ? rc : printed ? printed : config_check(c, &x);
    free(text);
    config_free(&x);
    return rc;
}
