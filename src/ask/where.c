#include "ask/where.h"

#include "ask/next.h"
#include "ask/usage.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const words[] = {"--base-where", "--new-where"};

static bool is_filter(const struct sp_option *o)
{
    return o->groups & (G_SELECT | G_TIME | G_EVENT);
}

static const struct sp_option *where_find(const char *name, size_t n)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (is_filter(o) && strlen(o->name) == n && memcmp(o->name, name, n) == 0)
            return o;
    return NULL;
}

static size_t where_word(const char *p)
{
    return strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
}

/* Whether a filter begins at p: NAME=, whatever name, or the name of a flag alone. */
static bool begins_filter(const char *p)
{
    p += strspn(p, " ");
    size_t n = where_word(p);
    const struct sp_option *o = where_find(p, n);
    if (n && p[n] == '=')
        return true;
    p += n;
    p += strspn(p, " ");
    return o && !o->value && (!*p || *p == ',');
}

static spaa_status where_unknown(struct sp_diags *d, unsigned side, const char *name, size_t n)
{
    const char *names[64];
    char asked[64], near[256], hint[800];
    size_t count = 0;
    for (const struct sp_option *o = sp_option_table; o->name && count < 63; o++)
        if (is_filter(o))
            names[count++] = o->name;
    names[count] = NULL;
    snprintf(asked, sizeof asked, "%.*s", (int)(n < 60 ? n : 60), name);
    sp_near_hint(asked, names, near, sizeof near);
    int at = snprintf(hint, sizeof hint, "%s%sfilters:", near, *near ? " " : "");
    for (size_t i = 0; names[i] && (size_t)at < sizeof hint; i++)
        at += snprintf(hint + at, sizeof hint - (size_t)at, "%s %s", i ? "," : "", names[i]);
    if ((size_t)at < sizeof hint)
        snprintf(hint + at, sizeof hint - (size_t)at,
                 "; a comma within a value needs quotes: focus='f(a,b=1)'");
    return sp_usage(d, hint, "%s has no filter \"%s\"", words[side], asked);
}

/* A value in quotes, up to the closing one; NULL: there is none. In double quotes \" and \\ stand for " and
 * \. */
static const char *where_quoted(const char *p, struct sp_buf *out)
{
    char q = *p++;
    for (; *p && *p != q; p++) {
        if (q == '"' && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
            p++;
        sp_buf_ch(out, *p);
    }
    return *p ? p + 1 : NULL;
}

/* A value as it stands, up to the comma before the next filter; "\," is a comma. */
static const char *where_plain(const char *p, struct sp_buf *out)
{
    for (; *p && !(*p == ',' && begins_filter(p + 1)); p++) {
        if (*p == '\\' && p[1] == ',')
            p++;
        sp_buf_ch(out, *p);
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    return p;
}

static spaa_status where_add(struct sp_diags *d, unsigned side, const struct sp_option *o,
                             struct sp_buf *value, struct sp_side_where *out)
{
    if (sp_where_has(out, o->name))
        return sp_usage(d, NULL, "%s has %s twice", words[side], o->name);
    const char *text = sp_buf_cstr(value);
    struct sp_where_filter f = {o, value->failed ? NULL : malloc(value->len + 1)};
    if (f.value)
        memcpy(f.value, text, value->len + 1);
    if (f.value && sp_vec_push(&out->filters, f))
        return SPAA_OK;
    free(f.value);
    return sp_nomem(d);
}

/* One filter at *p, which goes behind it. */
static spaa_status where_take(struct sp_diags *d, unsigned side, const char *all, const char **at,
                              struct sp_buf *value, struct sp_side_where *out)
{
    const char *p = *at + strspn(*at, " ");
    p += strncmp(p, "--", 2) == 0 ? 2 : 0; /* as the option is written */
    size_t n = where_word(p);
    const struct sp_option *o = where_find(p, n);
    sp_buf_clear(value);
    if (!n)
        return sp_usage(d, "like comm=NAME,time=1..2", "%s \"%s\" has no filter's name at \"%s\"",
                        words[side], all, p);
    if (!o)
        return where_unknown(d, side, p, n);
    p += n;
    if (!o->value && *p == '=')
        return sp_usage(d, NULL, "%s: %s takes no value", words[side], o->name);
    if (o->value && *p != '=')
        return sp_usage(d, NULL, "%s: %s needs a value: %s=%s", words[side], o->name, o->name, o->value);
    p += o->value ? 1 : 0;
    bool quotes = o->value && (*p == '\'' || *p == '"');
    p = !o->value ? p : quotes ? where_quoted(p, value) : where_plain(p, value);
    if (!p)
        return sp_usage(d, NULL, "%s: the quote of %s is not closed", words[side], o->name);
    p += strspn(p, " ");
    if (*p && *p != ',')
        return sp_usage(d, "filters are separated by commas", "%s: \"%s\" after %s", words[side], p, o->name);
    if (o->value && !value->len)
        return sp_usage(d, NULL, "%s: %s needs a value: %s=%s", words[side], o->name, o->name, o->value);
    *at = p;
    return where_add(d, side, o, value, out);
}

spaa_status sp_where_parse(const struct sp_options *v, unsigned side, struct sp_diags *d,
                           struct sp_side_where *out)
{
    struct sp_buf value;
    spaa_status st = SPAA_OK;
    sp_buf_init(&value, 64 << 10);
    for (size_t i = 0; !st && i < v->wheres[side].n; i++)
        for (const char *p = v->wheres[side].v[i]; !st;) {
            st = where_take(d, side, v->wheres[side].v[0], &p, &value, out);
            if (!st && *p++ != ',')
                break;
        }
    sp_buf_free(&value);
    return st;
}

void sp_where_free(struct sp_side_where *w)
{
    for (size_t i = 0; i < w->filters.n; i++)
        free(w->filters.v[i].value);
    sp_vec_free(&w->filters);
}

struct sp_options sp_where_values(const struct sp_side_where *w, const struct sp_options *v)
{
    struct sp_options out = *v;
    for (size_t i = 0; i < w->filters.n; i++)
        *(const char **)(void *)((char *)&out + w->filters.v[i].option->offset) = w->filters.v[i].value;
    return out;
}

bool sp_where_has(const struct sp_side_where *w, const char *name)
{
    for (size_t i = 0; i < w->filters.n; i++)
        if (strcmp(w->filters.v[i].option->name, name) == 0)
            return true;
    return false;
}
