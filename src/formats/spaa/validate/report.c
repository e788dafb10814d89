/* Findings: their path, how many of a kind are told, and what ends the validation. */
#include "formats/spaa/validate/internal.h"

void sp_note(struct sp_validator *v, struct sp_note note)
{
    if (!sp_vec_push(&v->notes->list, note))
        v->notes->unsure = true;
}

/* The finding is noted, or only counted. */
static bool report_briefly(struct sp_validator *v, enum sp_code code)
{
    v->findings++;
    if (v->notes)
        sp_note(v, (struct sp_note){.kind = SP_NOTE_FINDING, .number = code});
    else if (sp_only_counted(v->known, code))
        sp_emit(v->known->d, code, SP_AT_NOTHING, " ");
    else
        return false;
    return true;
}

static struct sp_where report_place(struct sp_validator *v, const char *at)
{
    sp_buf_clear(&v->path);
    for (const struct sp_step *s = v->steps; s < v->steps + v->nsteps; s++) {
        if (s->name)
            sp_path_add_name(&v->path, s->name, s->n);
        else
            sp_path_add_index(&v->path, s->n);
    }
    return (struct sp_where){.offset = v->offset + (at ? (uint64_t)(at - v->text) : 0),
                             .line = v->line,
                             .record = v->record,
                             .field = v->path.len ? sp_buf_cstr(&v->path) : NULL};
}

static void report_report(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt,
                          va_list ap)
{
    struct sp_buf text;
    sp_buf_init(&text, 4096);
    sp_buf_vprintf(&text, fmt, ap);
    sp_emit(v->known->d, code, where, "%s", sp_buf_cstr(&text));
    sp_buf_free(&text);
}

int sp_clip(struct sp_span s)
{
    return (int)sp_utf8_prefix(s.p, s.n < 80 ? s.n : 80);
}

void sp_report(struct sp_validator *v, enum sp_code code, const char *at, const char *fmt, ...)
{
    if (report_briefly(v, code))
        return;
    va_list ap;
    va_start(ap, fmt);
    report_report(v, code, report_place(v, at), fmt, ap);
    va_end(ap);
}

void sp_report_title(struct sp_validator *v, enum sp_code code, const char *at)
{
    if (!report_briefly(v, code))
        sp_emit(v->known->d, code, report_place(v, at), " "); /* the title says it all */
}

void sp_report_at(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt, ...)
{
    if (report_briefly(v, code))
        return;
    va_list ap;
    va_start(ap, fmt);
    report_report(v, code, where, fmt, ap);
    va_end(ap);
}

void sp_limited(struct sp_validator *v, const char *what)
{
    if (v->notes) {
        v->notes->unsure = true;
        return;
    }
    if (!v->known->limited)
        sp_emit_hint(v->known->d, SP_E007, SP_AT_LINE(v->line, v->offset),
                     "the answer covers the rest of the file", "%s", what);
    v->known->limited = true;
}

bool sp_only_counted(const struct sp_known *k, enum sp_code code)
{
    return k->d->per_code && k->d->count[code] >= k->d->per_code;
}

void sp_out_of_memory(struct sp_validator *v)
{
    if (v->notes)
        v->notes->unsure = true; /* who is alone says so, if it happens again */
    else
        v->status = sp_nomem(v->known->d);
}

void sp_path_add_index(struct sp_buf *path, size_t index)
{
    sp_buf_ch(path, '[');
    sp_buf_u64(path, index);
    sp_buf_ch(path, ']');
}

void sp_path_add_name(struct sp_buf *path, const char *name, size_t n)
{
    if (path->len)
        sp_buf_ch(path, '.');
    sp_buf_add(path, name, n);
}
