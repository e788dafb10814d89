/* Source text that a profile carries: `x_spaa_source` records, a piece of a file each. */
#include "formats/spaa/fact_values.h"
#include "formats/spaa/facts.h"

#include "model/source_pieces.h"

static void source_unused(struct reader *r, const char *field, const char *why)
{
    sp_emit(r->d, SP_W225, sp_here(r, field), "%s", why);
}

/* Fields that a file may have as bytes which are no UTF-8. */
static bool source_bytes(struct reader *r, const struct sp_rec *rec, struct sp_source_piece *x, bool *taken)
{
    const struct raw_field fields[] = {
        {"file", &x->file},     {"path", &x->path}, {"comp_dir", &x->comp_dir},
        {"binary", &x->binary}, {"text", &x->text},
    };
    size_t kept = r->kept.n;
    struct sp_odd *o = sp_own(r, rec, "x_raw_hex");
    if (r->st || !o)
        return !r->st;
    bool ok = sp_take_raw_hex(r, rec, fields, sizeof fields / sizeof *fields);
    *taken = o->what & SP_ODD_USED && r->kept.n == kept;
    r->kept.n = kept;
    if (ok && !*taken)
        source_unused(r, "x_raw_hex", SP_RAW_HEX_FAULT);
    return ok;
}

static bool source_take(struct reader *r, const struct sp_rec *rec, struct sp_span json,
                        struct sp_source_piece *x, bool *taken)
{
    static const char *const leave[] = {"type", "x_raw_hex", NULL};
    struct sp_buf rest;
    sp_buf_init(&rest, 0);
    bool ok = sp_facts_take(r, json, sp_source_facts, x, leave, true, &rest) &&
              sp_facts_str(r, &rest, &x->extra_json);
    sp_buf_free(&rest);
    *taken = true;
    return ok && source_bytes(r, rec, x, taken);
}

bool sp_take_source(struct reader *r, const struct sp_rec *rec, struct sp_span json, bool *taken)
{
    struct sp_source_piece x = {0};
    const char *field, *fault;
    sp_facts_clear(sp_source_facts, &x);
    if (!source_take(r, rec, json, &x, taken))
        return false;
    if (!*taken)
        return true;
    fault = sp_source_fault(sp_pstr(r->p, x.file), sp_pstr(r->p, x.text), x.lines, x.first, &field);
    if (fault)
        source_unused(r, field, fault);
    *taken = !fault;
    size_t n = sp_pstr(r->p, x.text).n;
    if (*taken && n > SP_SOURCE_TEXT_MAX - r->source_bytes) {
        sp_emit(r->d, SP_L300, sp_here(r, "text"),
                "more than %llu MiB of source text: the record is kept, and not used",
                (unsigned long long)(SP_SOURCE_TEXT_MAX >> 20));
        *taken = false;
    }
    if (*taken)
        r->source_bytes += n;
    return !*taken || sp_vec_push(&r->p->source_pieces, x) || sp_no_memory(r);
}
