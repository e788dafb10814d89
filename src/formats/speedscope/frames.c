/*
 * The table of frames: a name, a file, a line, a column, each but the first may be missing.
 *
 * A name and a file make a function; line and column are where in it, in files of ours where it is declared.
 * What has a file and no line is of a binary: kernels are known by their brackets.
 */
#include "base/num.h"
#include "formats/speedscope/speedscope.h"
#include "model/extent.h"
#include "symbols/bind.h"

struct ss_frame {
    struct sp_buf name, file, srcline;
    int64_t line, column;
};

static bool ss_text(struct sp_buf *out, struct sp_span raw)
{
    sp_buf_clear(out);
    if (raw.n && *raw.p == '"')
        sp_json_text_to(out, raw);
    return !out->failed;
}

static int64_t ss_position(struct sp_span raw)
{
    int64_t v;
    bool number = raw.n && sp_parse_i64(raw.p, raw.p + raw.n, &v) == raw.n;
    return number && v > 0 && v < UINT32_MAX ? v : 0;
}

static bool ss_begins(const struct sp_buf *b, const char *with)
{
    return b->len >= strlen(with) && memcmp(b->data, with, strlen(with)) == 0;
}

static uint32_t ss_dso(struct sp_ss *r, struct ss_frame *x, struct sp_frame *f)
{
    if (!x->file.len || x->line)
        return sp_unknown_dso(r->p);
    struct sp_dso dso = {.name = sp_profile_text(r->p, x->file.data, x->file.len)};
    dso.is_kernel = ss_begins(&x->file, "[kernel") || ss_begins(&x->file, "[guest.kernel");
    if (!ss_begins(&x->file, "[unknown]"))
        f->kind = dso.is_kernel ? SP_KERNEL : SP_USER;
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &dso);
}

static bool ss_place(struct sp_ss *r, struct ss_frame *x, struct sp_frame *f, struct sp_func_info *info)
{
    if (!x->file.len || !x->line)
        return true;
    info->file = sp_profile_text(r->p, x->file.data, x->file.len);
    info->flags = SP_FUNC_LOCAL | SP_FUNC_PATH;
    if (r->ours) {
        info->line = (uint32_t)x->line;
        return info->file != SP_STR_FAIL;
    }
    sp_buf_clear(&x->srcline);
    sp_buf_add(&x->srcline, x->file.data, x->file.len);
    sp_buf_printf(&x->srcline, ":%lld", (long long)x->line);
    if (x->column)
        sp_buf_printf(&x->srcline, ":%lld", (long long)x->column);
    if (r->opts->frames != SP_FRAMES_FUNCTION && !x->srcline.failed &&
        sp_profile_composes(r->p, x->srcline.len))
        f->srcline = sp_profile_text(r->p, x->srcline.data, x->srcline.len);
    return !x->srcline.failed && f->srcline != SP_STR_FAIL && info->file != SP_STR_FAIL;
}

static uint32_t ss_intern(struct sp_ss *r, struct ss_frame *x)
{
    struct sp_frame f = {.kind = SP_UNKNOWN};
    struct sp_func_info info = {0};
    uint32_t dso = ss_dso(r, x, &f);
    uint32_t name =
        x->name.len ? sp_profile_text(r->p, x->name.data, x->name.len) : sp_profile_cstr(r->p, "[unknown]");
    if (sp_is_no_name((struct sp_str){x->name.data, (uint32_t)x->name.len}))
        f.flags |= SP_FRAME_UNRESOLVED;
    if (dso == SP_NONE || name == SP_STR_FAIL || !ss_place(r, x, &f, &info) ||
        !sp_frame_set_function(r->p, &f, name, dso, &info, r->opts->frames))
        return SP_NONE;
    return sp_frame_intern(r->p, &f);
}

static bool ss_take_frame(struct sp_ss *r, struct sp_json *j, struct ss_frame *x)
{
    struct sp_json_member m[] = {{"name", {0}}, {"file", {0}}, {"line", {0}}, {"col", {0}}};
    struct sp_span raw;
    uint64_t at = (uint64_t)(j->p - r->file.text.p);
    uint32_t frame = SP_NONE;
    if (sp_json_type(j) == SP_JSON_OBJECT) {
        if (!sp_json_members(j, m, sizeof m / sizeof *m))
            return false;
        if (!m[0].raw.n || *m[0].raw.p != '"')
            sp_emit(r->d, SP_L300, SP_AT(at), "a frame without a name");
        if (!ss_text(&x->name, m[0].raw) || !ss_text(&x->file, m[1].raw)) {
            r->status = sp_nomem(r->d);
            return false;
        }
        x->line = ss_position(m[2].raw);
        x->column = ss_position(m[3].raw);
        frame = ss_intern(r, x);
        if (frame == SP_NONE)
            r->status = sp_nomem(r->d);
    } else {
        if (!sp_json_skip(j, &raw))
            return false;
        sp_emit(r->d, SP_L300, SP_AT(at), "a frame that is no object");
    }
    if (!r->status && !sp_vec_push(&r->frames, frame))
        r->status = sp_nomem(r->d);
    return !r->status;
}

bool sp_ss_read_frames(struct sp_ss *r, struct sp_span frames)
{
    struct ss_frame x;
    struct sp_json j;
    sp_buf_init(&x.name, 0);
    sp_buf_init(&x.file, 0);
    sp_buf_init(&x.srcline, 0);
    sp_json_init(&j, frames.p, frames.n);
    if (frames.n && sp_json_array(&j))
        while (sp_json_item(&j) && ss_take_frame(r, &j, &x) && sp_ss_note(r, &j))
            ;
    bool ok = sp_ss_ended(r, &j);
    sp_buf_free(&x.name);
    sp_buf_free(&x.file);
    sp_buf_free(&x.srcline);
    sp_json_free(&j);
    return ok;
}
