/* Stacks and frames of a processed profile as those of the profile: each row is looked at once. */
#include "base/num.h"
#include "formats/firefox/read.h"
#include "model/extent.h"
#include "symbols/bind.h"

#define DEPTH_MAX 65536

/* The library of a row of frames; SP_ABSENT: none. */
static int64_t ff_lib_of(const struct sp_ff_tables *t, int64_t frame)
{
    int64_t resource = sp_ff_at(&t->resource, sp_ff_at(&t->func, frame));
    return t->lib.n ? sp_ff_at(&t->lib, frame) : sp_ff_at(&t->resource_lib, resource);
}

static uint32_t ff_named_dso(struct sp_ff_reader *r, struct sp_str name, bool kernel)
{
    struct sp_dso dso = {.name = sp_profile_text(r->p, name.p, name.n), .is_kernel = kernel};
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &dso);
}

/* The library of a frame; of what is no native code the site, the extension or the like that it is of. */
static uint32_t ff_dso(struct sp_ff_reader *r, struct sp_ff_tables *t, int64_t frame, int64_t func,
                       bool kernel)
{
    int64_t resource = sp_ff_at(&t->resource, func), lib = ff_lib_of(t, frame);
    struct sp_ff_tables *of = t->libs.n ? t : &r->shared;
    if (lib >= 0 && (uint64_t)lib < of->libs.n)
        return sp_ff_lib_dso(r, &of->libs.v[lib], kernel);
    if (kernel)
        return ff_named_dso(r, (struct sp_str){"[kernel]", 8}, true);
    struct sp_str name = sp_ff_text(r, t, sp_ff_at(&t->resource_name, resource));
    return name.n ? ff_named_dso(r, name, false) : sp_unknown_dso(r->p);
}

static uint8_t ff_kind(const struct sp_ff_reader *r, uint32_t dso, int64_t kind)
{
    if (r->p->dsos.v[dso].is_kernel)
        return SP_KERNEL;
    return kind == SP_ABSENT ? SP_UNKNOWN : (uint8_t)kind;
}

static bool ff_place(struct sp_ff_reader *r, const struct sp_ff_tables *t, int64_t frame, int64_t func,
                     struct sp_frame *f, struct sp_func_info *info)
{
    int64_t source = sp_ff_at(&t->source, func), line = sp_ff_at(&t->line, frame);
    int64_t column = sp_ff_at(&t->column, frame);
    const struct sp_ff_tables *of = t->source_file.n ? t : &r->shared;
    int64_t string = t->source.n ? sp_ff_at(&of->source_file, source) : sp_ff_at(&t->file, func);
    struct sp_str file = sp_ff_text(r, t, string);
    if (!file.n)
        return !r->status;
    info->file = sp_profile_text(r->p, file.p, file.n);
    info->flags = SP_FUNC_LOCAL | SP_FUNC_PATH;
    if (line > 0 && r->opts->frames != SP_FRAMES_FUNCTION) {
        sp_buf_printf(&r->b, ":%lld", (long long)line);
        if (column > 0)
            sp_buf_printf(&r->b, ":%lld", (long long)column);
        if (r->b.failed)
            return sp_ff_fail(r);
        if (sp_profile_composes(r->p, r->b.len))
            f->srcline = sp_profile_text(r->p, r->b.data, r->b.len);
    }
    return (info->file != SP_STR_FAIL && f->srcline != SP_STR_FAIL) || sp_ff_fail(r);
}

/* Functions of one name in one script are told apart by where they begin, as those of V8's heap profiles are.
 */
static bool ff_begin(struct sp_ff_reader *r, const struct sp_ff_tables *t, int64_t func,
                     struct sp_func_info *info)
{
    int64_t line = sp_ff_at(&t->first_line, func), column = sp_ff_at(&t->first_column, func);
    if (sp_ff_at(&t->js, func) != 1 || line <= 0 || line >= UINT32_MAX || !info->file)
        return true;
    struct sp_str name = sp_ff_text(r, t, sp_ff_at(&t->name, func));
    if (!name.n)
        return !r->status;
    info->line = (uint32_t)line;
    sp_buf_printf(&r->b, ":%lld", (long long)line);
    if (column > 0)
        sp_buf_printf(&r->b, ":%lld", (long long)column);
    info->linkage = r->b.failed ? SP_STR_FAIL : sp_profile_text(r->p, r->b.data, r->b.len);
    return info->linkage != SP_STR_FAIL || sp_ff_fail(r);
}

static uint32_t ff_make_frame(struct sp_ff_reader *r, struct sp_ff_tables *t, int64_t frame, bool inlined)
{
    int64_t func = sp_ff_at(&t->func, frame);
    int64_t address = sp_ff_at(&t->address, frame);
    struct sp_frame f = {0};
    struct sp_func_info info = {0};
    int64_t kind = sp_ff_at(&r->kinds, sp_ff_at(&t->category, frame));
    uint32_t dso = ff_dso(r, t, frame, func, kind == SP_KERNEL);
    struct sp_str text = sp_ff_text(r, t, sp_ff_at(&t->name, func));
    if (dso == SP_NONE || r->status)
        return SP_NONE;
    if (sp_is_no_name(text))
        f.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name = text.n ? sp_profile_text(r->p, text.p, text.n) : sp_profile_cstr(r->p, "[unknown]");
    f.kind = ff_kind(r, dso, kind);
    if (address >= 0 && r->opts->frames == SP_FRAMES_ADDRESS) {
        f.ip = (uint64_t)address;
        f.flags |= SP_FRAME_IP;
    }
    if (inlined) {
        f.inline_depth = (uint32_t)sp_ff_at(&t->depth, frame);
        f.flags |= SP_FRAME_INLINED;
    }
    if (name == SP_STR_FAIL || !ff_place(r, t, frame, func, &f, &info) || !ff_begin(r, t, func, &info) ||
        !sp_frame_set_function(r->p, &f, name, dso, &info, r->opts->frames))
        return SP_NONE;
    return sp_frame_intern(r->p, &f);
}

static uint32_t ff_frame(struct sp_ff_reader *r, struct sp_ff_tables *t, int64_t frame, bool inlined)
{
    uint32_t *known = &t->frame_of[2 * frame + inlined];
    if (!*known)
        *known = ff_make_frame(r, t, frame, inlined) + 1;
    if (!*known && !r->status)
        sp_ff_fail(r);
    return *known - 1;
}

/* Parents stand before their children in every version: what does not is no parent. */
static int64_t ff_parent(struct sp_ff_reader *r, const struct sp_ff_tables *t, int64_t stack)
{
    int64_t parent = sp_ff_at(&t->prefix, stack);
    if (t->offset.n) {
        int64_t offset = sp_ff_at(&t->offset, stack);
        parent = offset > 0 ? stack - offset : SP_ABSENT;
    }
    if (parent == SP_ABSENT)
        return SP_ABSENT;
    if (parent >= 0 && parent < stack)
        return parent;
    r->bad++;
    return SP_ABSENT;
}

/* Whether a row can be inlined into the one that called it, which counts as `depth` deep: code of one
 * address. */
static bool ff_is_inlined(const struct sp_ff_tables *t, int64_t frame, int64_t caller, int64_t depth)
{
    return sp_ff_at(&t->depth, frame) > depth && sp_ff_at(&t->depth, frame) < DEPTH_MAX &&
           sp_ff_at(&t->address, frame) == sp_ff_at(&t->address, caller) &&
           ff_lib_of(t, frame) == ff_lib_of(t, caller);
}

/*
 * The rows in r->path as frames. What says that it is inlined, and does not stand below what it is inlined
 * into, was called.
 */
static bool ff_frames(struct sp_ff_reader *r, struct sp_ff_tables *t)
{
    int64_t caller = SP_ABSENT, depth = 0;
    for (size_t i = r->path.n; i-- > 0;) {
        int64_t row = r->path.v[i];
        bool inlined = caller != SP_ABSENT && ff_is_inlined(t, row, caller, depth);
        depth = inlined ? sp_ff_at(&t->depth, row) : 0;
        caller = row;
        r->path.v[i] = ff_frame(r, t, row, inlined);
        if (r->status)
            return false;
    }
    return true;
}

bool sp_ff_path(struct sp_ff_reader *r, struct sp_ff_tables *t, int64_t stack)
{
    struct sp_ff_tables *stacks = t->frame.n ? t : &r->shared, *frames = t->func.n ? t : &r->shared;
    r->path.n = 0;
    if (stack >= 0 && (uint64_t)stack >= stacks->frame.n)
        r->bad++;
    for (int64_t s = stack; s >= 0 && (uint64_t)s < stacks->frame.n; s = ff_parent(r, stacks, s)) {
        int64_t frame = stacks->frame.v[s];
        if (frame < 0 || (uint64_t)frame >= frames->func.n) {
            r->bad++;
            continue;
        }
        if (!sp_vec_push(&r->path, (uint32_t)frame))
            return sp_ff_fail(r);
        if (r->p->stack_frames.n + r->path.n > r->frames_max) {
            r->status = sp_json_too_many_frames(r->d, SP_AT_NOTHING, r->frames_max,
                                                "stacks this deep, all of them different, are no profile");
            return false;
        }
    }
    return ff_frames(r, frames);
}
