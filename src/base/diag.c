#include "base/diag.h"

#include "base/buf.h"
#include "base/watch.h"

#include <stdarg.h>
#include <string.h>

static const struct sp_code_info infos[SP_CODES] = {
#define SPAA_DIAG(code, severity, title, hint) {"SPAA-" #code, SP_##severity, title, hint},
#include "base/diag.def"
#undef SPAA_DIAG
};

const struct sp_code_info *sp_code_info(enum sp_code code)
{
    return &infos[code];
}

const char *sp_severity_name(enum sp_severity s)
{
    static const char *const names[] = {"info", "warning", "data-loss", "error", "fatal"};
    return names[s];
}

void sp_diags_init(struct sp_diags *d)
{
    *d = (struct sp_diags){.per_code = 10};
    sp_arena_init(&d->arena, 0);
}

void sp_diags_free(struct sp_diags *d)
{
    sp_arena_free(&d->arena);
    sp_vec_free(&d->list);
    struct sp_watch *watch = d->watch;
    sp_diags_init(d);
    d->watch = watch;
}

static const char *copy(struct sp_diags *d, const char *s)
{
    return s ? sp_arena_dup(&d->arena, s, strlen(s)) : NULL;
}

void sp_diags_source(struct sp_diags *d, const char *file, const char *format)
{
    d->file = copy(d, file);
    d->format = copy(d, format);
    d->lost += (uint64_t)(file && !d->file) + (uint64_t)(format && !d->format);
}

/* What is said of a call that is being left is only about that. */
static bool diag_left(const struct sp_diags *d)
{
    return d->watch && d->watch->left;
}

static void emit(struct sp_diags *d, enum sp_code code, struct sp_where where, const char *hint,
                 const char *fmt, va_list ap)
{
    if (diag_left(d) || (++d->count[code] > d->per_code && d->per_code))
        return;
    struct sp_buf text;
    sp_buf_init(&text, 64 << 10);
    const char *message = infos[code].title;
    if (strcmp(fmt, " ") != 0) {
        sp_buf_printf(&text, "%s: ", infos[code].title);
        sp_buf_vprintf(&text, fmt, ap);
        message = sp_buf_cstr(&text);
    }
    struct sp_diag g = {code,
                        infos[code].severity,
                        where.offset,
                        where.line,
                        d->format,
                        d->file,
                        copy(d, where.record),
                        copy(d, where.field),
                        text.failed ? NULL : copy(d, message),
                        hint ? copy(d, hint) : infos[code].hint};
    bool whole = g.message && g.hint;
    if (!g.message)
        g.message = infos[code].title;
    if (!g.hint)
        g.hint = infos[code].hint;
    if (text.failed || !sp_vec_push(&d->list, g) || !whole)
        d->lost++;
    sp_buf_free(&text);
}

void sp_emit(struct sp_diags *d, enum sp_code code, struct sp_where where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(d, code, where, NULL, fmt, ap);
    va_end(ap);
}

void sp_emit_hint(struct sp_diags *d, enum sp_code code, struct sp_where where, const char *hint,
                  const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(d, code, where, hint, fmt, ap);
    va_end(ap);
}

spaa_status sp_nomem(struct sp_diags *d)
{
    if (diag_left(d))
        return SPAA_ERR_CANCELLED;
    if (!d->count[SP_E008])
        sp_emit(d, SP_E008, SP_AT_NOTHING, " ");
    return SPAA_ERR_NOMEM;
}

void sp_diags_recode(struct sp_diags *d, enum sp_code code, enum sp_code to)
{
    uint64_t moved = 0, others = 0;
    for (size_t i = 0; i < d->list.n; i++) {
        struct sp_diag *g = &d->list.v[i];
        bool here = g->file == d->file || (g->file && d->file && strcmp(g->file, d->file) == 0);
        if (g->code != code)
            continue;
        moved += here;
        others += !here;
        if (!here)
            continue;
        g->code = to;
        g->severity = infos[to].severity;
        if (strcmp(g->hint, infos[code].hint) == 0)
            g->hint = infos[to].hint;
        if (strcmp(g->message, infos[code].title) == 0)
            g->message = infos[to].title;
    }
    moved = others ? moved : d->count[code]; /* with those that were not kept */
    d->count[code] -= moved;
    d->count[to] += moved;
}

uint64_t sp_diags_count(const struct sp_diags *d, enum sp_severity at_least)
{
    uint64_t n = 0;
    for (int c = 0; c < SP_CODES; c++)
        if (infos[c].severity >= at_least)
            n += d->count[c];
    return n;
}

void sp_diags_merge(struct sp_diags *into, const struct sp_diags *from)
{
    uint64_t seen[SP_CODES] = {0};
    for (size_t i = 0; i < from->list.n; i++) {
        struct sp_diag g = from->list.v[i];
        if (into->per_code && into->count[g.code] + seen[g.code]++ >= into->per_code)
            continue;
        g.format = copy(into, g.format);
        g.file = copy(into, g.file);
        g.record = copy(into, g.record);
        g.field = copy(into, g.field);
        g.message = copy(into, g.message);
        g.hint = copy(into, g.hint);
        if (!g.message || !g.hint || !sp_vec_push(&into->list, g))
            into->lost++;
    }
    for (int c = 0; c < SP_CODES; c++)
        into->count[c] += from->count[c];
    into->lost += from->lost;
}
