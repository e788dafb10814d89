/* Values of other tools' options, as ours take them. */
#include "words_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A literal, in an expression. */
static char *values_quoted(char *to, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strchr("\\^$.[]()*+?{}|/", name[i]))
            *to++ = '\\';
        *to++ = name[i];
    }
    return to;
}

/* Without a part as compilers set aside, .isra.0 or .cold; as long: it has none. */
static size_t values_without_part(const char *name, size_t n)
{
    static const char *const parts[] = {".cold", ".isra", ".part", ".constprop", ".lto_priv", NULL};
    size_t at = n;
    while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    at = at && at < n && name[at - 1] == '.' ? at - 1 : n;
    for (size_t i = 0; parts[i]; i++) {
        size_t m = strlen(parts[i]);
        if (at > m && memcmp(name + at - m, parts[i], m) == 0)
            return at - m;
    }
    return n;
}

/* What perf calls [kernel.kallsyms] is [kernel] here; functions are named without the parts that compilers
 * set aside. */
static char *values_called_here(char *to, const char *name, size_t n)
{
    static const char symbols[] = ".kallsyms]";
    size_t tail = sizeof symbols - 1, whole = n, less;
    if (n > tail && *name == '[' && memcmp(name + n - tail, symbols, tail) == 0) {
        *to++ = '|';
        to = values_quoted(to, name, n - tail);
        return values_quoted(to, "]", 1);
    }
    while ((less = values_without_part(name, whole)) < whole)
        whole = less;
    if (whole == n)
        return to;
    *to++ = '|';
    return values_quoted(to, name, whole);
}

/*
 * "a,b.c" as an expression that takes these names alone: of threads "/^(a|b\.c)$/", of rows also the last
 * part of a path, and a function with its parameters.
 */
char *words_list_as_regex(const char *list, bool threads)
{
    char *out = malloc(4 * strlen(list) + 24), *to = out;
    if (!out)
        return NULL;
    to += sprintf(to, "%s", threads ? "/^(" : "(^|/)(");
    for (const char *p = list; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        to = values_quoted(to, p, n);
        if (!threads)
            to = values_called_here(to, p, n);
        p += n;
        if (*p)
            *to++ = '|';
    }
    sprintf(to, "%s", threads ? ")$/" : ")($|\\()");
    return out;
}

/* One of these, which commas separate. */
static bool values_has(const char *list, const char *one)
{
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == strlen(one) && memcmp(p, one, strlen(one)) == 0)
            return true;
    return false;
}

/* perf's pid is "command and tid of the task". Of columns that are always there alone it makes one row. */
char *words_keys_as_by(const char *keys, const char **bad)
{
    static const struct {
        const char *perf, *ours;
    } known[] = {{"overhead", ""},    {"overhead_children", ""},
                 {"sample", ""},      {"period", ""},
                 {"comm", "comm"},    {"dso", "dso"},
                 {"sym", "function"}, {"symbol", "function"},
                 {"pid", "thread"},   {"tid", "thread"},
                 {"cpu", "cpu"},      {"srcline", "line"},
                 {"addr", "address"}, {"ip", "address"},
                 {NULL, NULL}};
    char *out = calloc(1, 4 * strlen(keys) + 16); /* "ip" is "address" */
    for (const char *p = keys; out && *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ","), k = 0;
        while (known[k].perf && (strlen(known[k].perf) != n || memcmp(known[k].perf, p, n) != 0))
            k++;
        if (!known[k].perf) {
            *bad = p;
            free(out);
            return NULL;
        }
        if (*known[k].ours && !values_has(out, known[k].ours))
            sprintf(out + strlen(out), "%s%s", *out ? "," : "", known[k].ours);
    }
    if (out && !*out)
        sprintf(out, "event"); /* which is one row */
    return out;
}

char *words_span_as_range(const char *value)
{
    char *out = malloc(strlen(value) + 8);
    size_t n = strcspn(value, ",");
    if (out)
        sprintf(out, "@%.*s..%s", (int)n, value, value + n + (value[n] == ','));
    return out;
}

char *words_name_as_regex(const char *value)
{
    char *out = malloc(strlen(value) + 3);
    if (out)
        sprintf(out, "/%s/", value);
    return out;
}
