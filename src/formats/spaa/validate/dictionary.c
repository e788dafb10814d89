/* DSO, frame and thread records. */
#include "formats/spaa/validate/fields.h"

#include "base/num.h"

static bool dictionary_starts_with(struct sp_span s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

/* Hex digits, with or without 0x. */
static bool dictionary_is_hex(struct sp_span s)
{
    if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 32) == 'x') {
        s.p += 2;
        s.n -= 2;
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned c = (unsigned char)s.p[i];
        if (c - '0' > 9 && (c | 32) - 'a' > 5)
            return false;
    }
    return s.n > 0;
}

/* An address, or that of a function without a name: `libfoo.so+0x401200`, as binary and place in it. */
static bool is_address(struct sp_span func)
{
    const char *plus = func.n ? memrchr(func.p, '+', func.n) : NULL;
    if (!plus || plus == func.p)
        return dictionary_is_hex(func);
    struct sp_span at = {plus + 1, (size_t)(func.p + func.n - plus - 1)};
    return at.n > 2 && at.p[0] == '0' && at.p[1] == 'x' && dictionary_is_hex(at);
}

void sp_begin_dso(struct sp_validator *v)
{
    memset(&v->dso, 0, sizeof v->dso);
    v->dso.entry = SP_ID_NONE;
}

void sp_check_dso_id(struct sp_validator *v, const struct sp_checked *x)
{
    v->dso.entry = sp_define(v, &v->known->dsos, x, &v->dso.fresh);
}

void sp_check_dso_name(struct sp_validator *v, const struct sp_checked *x)
{
    v->dso.nameless = sp_span_is(x->text, "[unknown]");
    v->dso.kernel_name = dictionary_starts_with(x->text, "[kernel]") ||
                         dictionary_starts_with(x->text, "[kernel.") ||
                         dictionary_starts_with(x->text, "[guest.kernel");
}

void sp_check_build_id(struct sp_validator *v, const struct sp_checked *x)
{
    size_t ok = 0;
    while (ok < x->text.n && strchr("0123456789abcdef", x->text.p[ok]) && x->text.p[ok])
        ok++;
    if (!ok || ok < x->text.n)
        sp_report(v, SP_E122, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
}

void sp_check_is_kernel(struct sp_validator *v, const struct sp_checked *x)
{
    v->dso.kernel = x->truth;
}

void sp_finish_dso(struct sp_validator *v, const struct sp_rec *rec)
{
    (void)rec;
    if (v->dso.kernel_name && !v->dso.kernel) {
        size_t cut = sp_path_push(v, "is_kernel", 9);
        sp_report_title(v, SP_E125, NULL);
        sp_path_cut(v, cut);
    }
    if (v->dso.entry == SP_ID_NONE || !v->dso.fresh)
        return;
    struct sp_id *e = &v->known->dsos.v[v->dso.entry];
    unsigned wrong = v->dso.kernel ? SP_ID_USER : v->dso.nameless ? 0 : SP_ID_KERNEL;
    if (e->bits & wrong) {
        size_t cut = sp_path_push(v, "is_kernel", 9);
        sp_report(v, SP_E121, NULL, "earlier frames in this DSO are of kind %s",
                  wrong == SP_ID_USER ? "user" : "kernel");
        sp_path_cut(v, cut);
    }
    e->bits = (uint64_t)(SP_ID_DEFINED | (v->dso.kernel ? SP_ID_KERNEL : 0) |
                         (v->dso.nameless ? SP_ID_NAMELESS : 0)) &
              0xFF;
}

void sp_begin_frame(struct sp_validator *v)
{
    memset(&v->frame, 0, sizeof v->frame);
    v->frame.entry = v->frame.dso = SP_ID_NONE;
    v->frame.kind = -1;
}

void sp_check_frame_id(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.entry = sp_define(v, &v->known->frames, x, &v->frame.fresh);
    v->frame.small = sp_small_id(x->text.p, x->text.n);
}

void sp_check_func(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.func_at = x->raw.p;
    v->frame.func_is_address = is_address(x->text);
    v->frame.func_is_none = sp_is_no_name((struct sp_str){x->text.p, (uint32_t)x->text.n});
}

void sp_check_func_resolved(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.unresolved = !x->truth;
}

void sp_check_frame_dso(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.has_dso = true;
    v->frame.dso_fp = sp_fingerprint(x->text.p, x->text.n);
    v->frame.dso = sp_refer(v, &v->known->dsos, x->text, x->raw.p, SP_REF_FRAME_DSO, 0);
}

static void dictionary_check_hex(struct sp_validator *v, const struct sp_checked *x)
{
    if (!dictionary_is_hex(x->text))
        sp_report(v, SP_E126, x->raw.p, "\"%.*s\"", SP_CLIP(x->text));
}

void sp_check_ip(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.has_ip = true;
    v->frame.ip = sp_fingerprint(x->text.p, x->text.n);
    dictionary_check_hex(v, x);
}

void sp_check_symoff(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.symoff = sp_fingerprint(x->text.p, x->text.n);
    dictionary_check_hex(v, x);
}

void sp_check_inlined(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.inlined = x->truth;
}

void sp_check_inline_depth(struct sp_validator *v, const struct sp_checked *x)
{
    int64_t depth;
    unsigned scale;
    v->frame.depth_at = x->raw.p;
    if (sp_decimal_is_negative(x->text)) {
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->text));
    } else if (sp_parse_scaled(x->text.p, x->text.n, &depth, &scale) && !scale && depth < SP_EXTRA_MAX) {
        v->frame.has_depth = true;
        v->frame.depth = (uint64_t)depth;
    }
}

void sp_check_frame_kind(struct sp_validator *v, const struct sp_checked *x)
{
    v->frame.kind = x->choice;
    v->frame.kind_at = x->raw.p;
}

static void dictionary_kind_against_dso(struct sp_validator *v)
{
    unsigned mine = v->frame.kind == SP_USER ? SP_ID_USER : v->frame.kind == SP_KERNEL ? SP_ID_KERNEL : 0;
    if (v->frame.dso == SP_ID_NONE || !mine)
        return;
    struct sp_id *dso = &v->known->dsos.v[v->frame.dso];
    if (!(dso->bits & SP_ID_DEFINED)) {
        dso->bits = (dso->bits | mine) & 0xFF;
        return;
    }
    bool kernel = dso->bits & SP_ID_KERNEL;
    if (mine == SP_ID_USER ? kernel : !kernel && !(dso->bits & SP_ID_NAMELESS)) {
        size_t cut = sp_path_push(v, "kind", 4);
        sp_report(v, SP_E121, v->frame.kind_at, "a %s frame in a DSO with is_kernel %s",
                  sp_frame_kind_names[v->frame.kind], kernel ? "true" : "false");
        sp_path_cut(v, cut);
    }
}

void sp_check_func_line(struct sp_validator *v, const struct sp_checked *x)
{
    if (sp_decimal_is_negative(x->text))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->text));
}

void sp_check_func_start(struct sp_validator *v, const struct sp_checked *x)
{
    dictionary_check_hex(v, x);
}

/* Of what has no address, "[unknown]" is all there is to say. */
static bool dictionary_names_unresolved(const struct sp_validator *v)
{
    return v->frame.unresolved && v->frame.func_at && !v->frame.func_is_address &&
           (v->frame.has_ip || !v->frame.func_is_none);
}

void sp_finish_frame(struct sp_validator *v, const struct sp_rec *rec)
{
    (void)rec;
    if (dictionary_names_unresolved(v)) {
        size_t cut = sp_path_push(v, "func", 4);
        sp_report_title(v, SP_W217, v->frame.func_at);
        sp_path_cut(v, cut);
    }
    if (v->frame.has_depth && v->frame.inlined != (v->frame.depth > 0)) {
        size_t cut = sp_path_push(v, "inline_depth", 12);
        sp_report(v, SP_W218, v->frame.depth_at, "a frame that is %s at depth %u",
                  v->frame.inlined ? "inlined" : "not inlined", (unsigned)v->frame.depth);
        sp_path_cut(v, cut);
    }
    dictionary_kind_against_dso(v);
    if (v->frame.entry == SP_ID_NONE || !v->frame.fresh)
        return;
    struct sp_id *e = &v->known->frames.v[v->frame.entry];
    struct sp_fp where[3] = {v->frame.dso_fp, v->frame.ip, v->frame.symoff};
    e->place = v->frame.has_dso && v->frame.has_ip ? sp_fingerprint(where, sizeof where).a | 1 : 0;
    e->extra = (v->frame.has_depth ? v->frame.depth : v->frame.inlined ? SP_EXTRA_MAX : 0) & 0xFFF;
    unsigned kind = v->frame.kind == SP_USER ? SP_ID_USER : v->frame.kind == SP_KERNEL ? SP_ID_KERNEL : 0;
    e->bits = (uint64_t)(SP_ID_DEFINED | (v->frame.inlined ? SP_ID_INLINED : 0) | kind) & 0xFF;
    sp_ids_note_small(&v->known->frames, v->frame.small, v->frame.entry);
}

void sp_check_thread_tid(struct sp_validator *v, const struct sp_checked *x)
{
    bool fresh;
    sp_define(v, &v->known->threads, x, &fresh);
}
