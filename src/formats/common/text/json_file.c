#include "formats/common/text/json_file.h"

#define NOTE_EVERY ((size_t)1 << 20)

spaa_status sp_json_file_open(struct sp_json_file *f, struct sp_input *in, struct sp_diags *d)
{
    const unsigned char *text = NULL;
    size_t n = 0;
    spaa_status st = sp_input_whole(in, &text, &n);
    *f = (struct sp_json_file){.in = in, .d = d, .text = {(const char *)text, n}};
    return st;
}

spaa_status sp_json_file_note(struct sp_json_file *f, const struct sp_json *j)
{
    size_t at = (size_t)(j->p - f->text.p);
    if (at < f->noted || at - f->noted < NOTE_EVERY)
        return SPAA_OK;
    f->noted = at;
    return sp_input_note(f->in, at);
}

spaa_status sp_json_file_ended(const struct sp_json_file *f, const struct sp_json *j)
{
    if (!j->error)
        return SPAA_OK;
    if (j->scratch.failed)
        return sp_nomem(f->d);
    size_t at = (size_t)(j->start - f->text.p) + j->error_at;
    sp_emit(f->d, at >= f->text.n ? SP_L301 : SP_L300, SP_AT(at), "%s", j->error);
    return SPAA_OK;
}

size_t sp_json_frames_max(size_t n)
{
    return ((size_t)64 << 20) + n;
}

spaa_status sp_json_too_many_frames(struct sp_diags *d, struct sp_where at, size_t max, const char *hint)
{
    sp_emit_hint(d, SP_E007, at, hint, "the call stacks add up to more than %zu million frames", max >> 20);
    return SPAA_ERR_LIMIT;
}

bool sp_begins_json_object(const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t'))
        i++;
    return i < n && p[i] == '{';
}
