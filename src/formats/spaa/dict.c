/* The dictionary records of a SPAA file: dso, frame, thread. */
#include "formats/spaa/facts.h"

#include "base/num.h"
#include "model/kernel_names.h"

#include <stdio.h>

/* ---- dso ---- */

/* The digits of a build-id that is not written as it should be; false: it is none, or (out->failed) no
 * memory. */
static bool dict_build_id_digits(struct sp_span s, struct sp_buf *out)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool upper = c >= 'A' && c <= 'F';
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || upper)
            sp_buf_ch(out, upper ? (char)(c - 'A' + 'a') : c);
        else if (c != '-' && c != ':' && c != ' ')
            return false;
    }
    return out->len > 0;
}

static bool dict_build_id(struct reader *r, const struct sp_token *v, uint32_t *out)
{
    struct sp_span s = sp_token_text(v, &r->text);
    struct sp_buf hex;
    size_t plain = 0;
    if (!s.p)
        return sp_no_memory(r);
    while (plain < s.n &&
           ((s.p[plain] >= '0' && s.p[plain] <= '9') || (s.p[plain] >= 'a' && s.p[plain] <= 'f')))
        plain++;
    if (s.n && plain == s.n) {
        *out = sp_profile_str(r->p, s.p, s.n);
        return *out != SP_STR_FAIL || sp_no_memory(r);
    }
    sp_buf_init(&hex, 0);
    bool good = dict_build_id_digits(s, &hex), failed = hex.failed;
    if (good && !failed)
        failed = (*out = sp_profile_str(r->p, hex.data, hex.len)) == SP_STR_FAIL;
    sp_buf_free(&hex);
    if (failed)
        return sp_no_memory(r);
    sp_emit(r->d, SP_E122, sp_here(r, "build_id"), "%s", good ? "it is written so" : " ");
    return good || sp_keep_odd(r, "build_id", v, "hex digits");
}

static void dict_complete_dso(struct reader *r, struct sp_dso *dso)
{
    if (dso->name == SP_STR_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "name"), "taken as [unknown]");
        dso->name = sp_profile_cstr(r->p, "[unknown]");
    }
    if (!dso->is_kernel && dso->name != SP_STR_FAIL && sp_is_kernel_name(sp_pstr(r->p, dso->name))) {
        sp_emit(r->d, SP_E125, sp_here(r, "is_kernel"), " ");
        dso->is_kernel = true;
    }
}

/* Enters an id of a record that is number `n` of its table; `what` names the record. */
static spaa_status dict_define(struct reader *r, struct idmap *m, const struct sp_token *id, uint32_t n,
                               const char *what)
{
    struct sp_span s = sp_token_text(id, &r->text);
    bool duplicate = false;
    if (!id->p) {
        sp_emit(r->d, SP_L302, sp_here(r, "id"), "a %s record without an id cannot be referenced", what);
        return SPAA_OK;
    }
    if (!s.p || !sp_idmap_add(r, m, s, n, &duplicate))
        return sp_nomem(r->d);
    if (duplicate)
        sp_emit(r->d, SP_W311, sp_here(r, "id"), "a second %s with the id %.*s; the first is used", what,
                (int)s.n, s.p);
    return SPAA_OK;
}

spaa_status sp_take_dso(struct reader *r, const struct sp_rec_DSO *x)
{
    struct sp_dso dso = {.is_kernel = x->is_kernel.kind == SP_JSON_TRUE};
    size_t kept = r->kept.n;
    struct raw_field raw[] = {{"name", &dso.name}, {"build_id", &dso.build_id}};
    if ((x->name.p && !sp_take_str(r, &x->name, &dso.name)) ||
        (x->build_id.p && !dict_build_id(r, &x->build_id, &dso.build_id)) ||
        !sp_take_raw_hex(r, &x->h, raw, 2) || !sp_take_place(r, &x->h, &dso) ||
        !sp_extra(r, &x->h, SP_T_DSO, kept, &dso.extra_json))
        return r->st;
    dict_complete_dso(r, &dso);
    uint32_t n = dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &dso);
    return n == SP_NONE ? sp_nomem(r->d) : dict_define(r, &r->dsos, &x->id, n, "dso");
}

/* ---- frame ---- */

struct frame_fields {
    struct sp_frame f;
    struct sp_func_info info;
    uint32_t func, dso;
    uint32_t more; /* what x_func has beside, members */
};

static bool dict_hex(struct reader *r, const char *name, const struct sp_token *v, uint64_t *out,
                     uint8_t *flags, uint8_t flag)
{
    struct sp_span s = sp_token_text(v, &r->text);
    if (!s.p)
        return sp_no_memory(r);
    if (!sp_parse_0x(s.p, s.n, out))
        return sp_keep_odd(r, name, v, "a hex string");
    *flags |= flag;
    return true;
}

static bool dict_depth(struct reader *r, const struct sp_token *v, struct sp_frame *f)
{
    int64_t depth = SP_ABSENT;
    if (!sp_take_i64(r, "inline_depth", v, &depth))
        return false;
    if (depth >= 0 && depth <= UINT32_MAX)
        f->inline_depth = (uint32_t)depth;
    else if (depth != SP_ABSENT)
        sp_emit(r->d, SP_W203, sp_here(r, "inline_depth"), "ignored");
    return true;
}

static bool dict_kind(struct reader *r, const struct sp_token *v, struct sp_frame *f)
{
    struct sp_span s = sp_token_text(v, &r->text);
    if (!s.p)
        return sp_no_memory(r);
    int k = sp_name_index(sp_frame_kind_names, s.p, s.n);
    if (k < 0)
        sp_emit(r->d, SP_W203, sp_here(r, "kind"), "taken as unknown");
    f->kind = (uint8_t)(k < 0 ? SP_UNKNOWN : k);
    return true;
}

static bool dict_inferred(struct reader *r, const struct sp_rec *rec, struct sp_frame *f)
{
    struct sp_odd *o = sp_own(r, rec, "x_inferred");
    if (!o)
        return true;
    o->what |= SP_ODD_USED;
    if (o->value.kind != SP_JSON_TRUE && o->value.kind != SP_JSON_FALSE)
        return sp_keep_odd(r, "x_inferred", &o->value, "true or false");
    if (o->value.kind == SP_JSON_TRUE)
        f->flags |= SP_FRAME_INFERRED;
    return true;
}

static bool dict_line(struct reader *r, const struct sp_token *v, struct sp_func_info *x)
{
    int64_t line = SP_ABSENT;
    if (!sp_take_i64(r, "line", v, &line))
        return false;
    if (line > 0 && line <= UINT32_MAX)
        x->line = (uint32_t)line;
    else if (line != SP_ABSENT && line)
        sp_emit(r->d, SP_W203, sp_here(r, "x_func.line"), "ignored");
    return true;
}

static bool dict_start(struct reader *r, const struct sp_token *v, struct sp_func_info *x)
{
    uint8_t found = 0;
    if (!dict_hex(r, "start", v, &x->start, &found, 1))
        return false;
    x->flags |= found ? SP_FUNC_START : 0u;
    return true;
}

/* x_func; what has no place in the model is kept beside it, as x_func_more. */
static bool dict_func(struct reader *r, const struct sp_nested *v, struct frame_fields *x, uint32_t *more)
{
    const struct sp_rec_FUNC *in = sp_rec_FUNC(r->dec, v->first);
    struct sp_func_info *info = &x->info;
    size_t kept = r->kept.n;
    if (in->local.kind == SP_JSON_TRUE)
        info->flags |= SP_FUNC_LOCAL;
    if (in->by_path.kind == SP_JSON_TRUE)
        info->flags |= SP_FUNC_PATH;
    return (!in->linkage.p || sp_take_str(r, &in->linkage, &info->linkage)) &&
           (!in->file.p || sp_take_str(r, &in->file, &info->file)) &&
           (!in->line.p || dict_line(r, &in->line, info)) &&
           (!in->start.p || dict_start(r, &in->start, info)) && sp_extra(r, &in->h, SP_T_FUNC, kept, more);
}

/* The linkage name as files had it before there was x_func. */
static bool dict_raw_func(struct reader *r, const struct sp_rec *rec, struct sp_func_info *x)
{
    struct sp_odd *o = x->linkage ? NULL : sp_own(r, rec, "x_raw_func");
    if (!o || o->value.kind != SP_JSON_STRING)
        return true;
    o->what |= SP_ODD_USED;
    return sp_take_str(r, &o->value, &x->linkage);
}

/* Frames of one function mostly come together. */
static bool dict_function(struct reader *r, const struct sp_token *v, struct frame_fields *x)
{
    const struct sp_profile *p = r->p;
    if (r->last_function != SP_NONE && !v->escaped) {
        const struct sp_function *f = &p->functions.v[r->last_function];
        struct sp_str name = sp_pstr(p, f->name);
        if (name.n == v->n && memcmp(name.p, v->p, v->n) == 0) {
            x->func = f->name;
            return true;
        }
    }
    return sp_take_str(r, v, &x->func);
}

static bool dict_frame_fields(struct reader *r, const struct sp_rec_FRAME *in, struct frame_fields *x)
{
    struct sp_frame *f = &x->f;
    struct raw_field raw[] = {{"func", &x->func},
                              {"srcline", &f->srcline},
                              {"x_func.linkage", &x->info.linkage},
                              {"x_func.file", &x->info.file}};
    if (in->func_resolved.kind == SP_JSON_FALSE)
        f->flags |= SP_FRAME_UNRESOLVED;
    if (in->srcline_resolved.kind == SP_JSON_FALSE)
        f->flags |= SP_FRAME_NO_SRCLINE;
    if (in->inlined.kind == SP_JSON_TRUE)
        f->flags |= SP_FRAME_INLINED;
    return (!in->func.p || dict_function(r, &in->func, x)) &&
           (!in->dso.p || sp_idmap_find_token(r, &r->dsos, &in->dso, &x->dso)) &&
           (!in->ip.p || dict_hex(r, "ip", &in->ip, &f->ip, &f->flags, SP_FRAME_IP)) &&
           (!in->symoff.p || dict_hex(r, "symoff", &in->symoff, &f->symoff, &f->flags, SP_FRAME_SYMOFF)) &&
           (!in->srcline.p || sp_take_str(r, &in->srcline, &f->srcline)) &&
           (!in->inline_depth.p || dict_depth(r, &in->inline_depth, f)) &&
           (!in->kind.p || dict_kind(r, &in->kind, f)) &&
           (!in->x_func.v.p || dict_func(r, &in->x_func, x, &x->more)) &&
           (!in->h.unknown || (dict_inferred(r, &in->h, f) && dict_raw_func(r, &in->h, &x->info) &&
                               sp_take_raw_hex(r, &in->h, raw, 4)));
}

/* The DSO of frames that name none, or one that is not there. */
static uint32_t dict_unknown_dso(struct reader *r)
{
    struct sp_dso dso = {.name = sp_profile_cstr(r->p, "[unknown]")};
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &dso);
}

/* A frame without a name is its address, or unknown. */
static bool dict_name_nameless(struct reader *r, struct frame_fields *x)
{
    char text[24] = "[unknown]";
    if (x->f.flags & SP_FRAME_IP)
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)x->f.ip);
    sp_emit(r->d, SP_E109, sp_here(r, "func"), "taken as %s", text);
    x->f.flags |= SP_FRAME_UNRESOLVED;
    x->func = sp_profile_cstr(r->p, text);
    return x->func != SP_STR_FAIL;
}

/* A kernel's binary has frames of the kernel and no others; what contradicts it is of unknown kind. */
static bool dict_kind_fits(const struct sp_profile *p, uint32_t number, uint8_t kind)
{
    const struct sp_dso *dso = &p->dsos.v[number];
    if (kind != SP_KERNEL)
        return kind != SP_USER || !dso->is_kernel;
    return dso->is_kernel || sp_str_is(sp_pstr(p, dso->name), "[unknown]");
}

static void dict_settle_kind(struct reader *r, struct frame_fields *x)
{
    if (dict_kind_fits(r->p, x->dso, x->f.kind))
        return;
    sp_emit(r->d, SP_E121, sp_here(r, "kind"), "taken as unknown");
    x->f.kind = SP_UNKNOWN;
}

uint32_t sp_missing_frame(struct reader *r)
{
    struct sp_frame f = {.kind = SP_UNKNOWN, .flags = SP_FRAME_UNRESOLVED};
    uint32_t name = sp_profile_cstr(r->p, "[unknown]"), dso = dict_unknown_dso(r);
    f.function = name == SP_STR_FAIL || dso == SP_NONE ? SP_NONE : sp_function_intern(r->p, name, dso);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
}

/* What x_func has beside its fields, to the other members of the frame. */
static bool dict_add_more(struct reader *r, const struct sp_rec *rec, struct frame_fields *x)
{
    if (!x->more)
        return true;
    if (rec->unknown && sp_own(r, rec, "x_func_more")) {
        sp_emit(r->d, SP_W203, sp_here(r, "x_func"),
                "its unknown members are left out for those of x_func_more");
        return true;
    }
    struct sp_str had = sp_pstr(r->p, x->f.extra_json), more = sp_pstr(r->p, x->more);
    sp_buf_clear(&r->more);
    sp_buf_add(&r->more, had.p, had.n);
    sp_buf_puts(&r->more, had.n ? ",\"x_func_more\":{" : "\"x_func_more\":{");
    sp_buf_add(&r->more, more.p, more.n);
    sp_buf_ch(&r->more, '}');
    x->f.extra_json = r->more.failed ? SP_STR_FAIL : sp_profile_str(r->p, r->more.data, r->more.len);
    return x->f.extra_json != SP_STR_FAIL || sp_no_memory(r);
}

/* False: out of memory. */
static bool dict_set_function(struct reader *r, struct frame_fields *x)
{
    static const struct sp_func_info nothing;
    const struct sp_function *last =
        r->last_function == SP_NONE ? NULL : &r->p->functions.v[r->last_function];
    bool known = memcmp(&x->info, &nothing, sizeof nothing) != 0;
    if (x->dso == SP_NONE)
        return false;
    if (known && !sp_frame_set_function(r->p, &x->f, x->func, x->dso, &x->info, r->p->header.frames))
        return false;
    if (!known && last && last->name == x->func && last->dso == x->dso && !last->tells)
        x->f.function = r->last_function;
    else if (!known)
        x->f.function = sp_function_intern(r->p, x->func, x->dso);
    r->last_function = x->f.function;
    return x->f.function != SP_NONE;
}

spaa_status sp_take_frame(struct reader *r, const struct sp_rec_FRAME *in)
{
    struct frame_fields x = {.f.kind = SP_UNKNOWN, .func = SP_STR_NONE, .dso = SP_NONE};
    size_t kept = r->kept.n;
    if (!dict_frame_fields(r, in, &x))
        return r->st;
    if (x.dso == SP_NONE) {
        if (in->dso.p && !r->deferred_pass)
            return SPAA_ERR_NOT_FOUND; /* its dso may come later */
        sp_emit(r->d, SP_E112, sp_here(r, "dso"), "taken as [unknown]");
        x.dso = dict_unknown_dso(r);
    }
    if (!in->kind.p)
        sp_emit(r->d, SP_W208, sp_here(r, "kind"), "unknown");
    if (x.func == SP_STR_NONE && !dict_name_nameless(r, &x))
        return sp_nomem(r->d);
    if (x.dso != SP_NONE)
        dict_settle_kind(r, &x);
    if (!sp_extra(r, &in->h, SP_T_FRAME, kept, &x.f.extra_json))
        return r->st;
    if (!dict_add_more(r, &in->h, &x))
        return r->st;
    uint32_t n = dict_set_function(r, &x) ? sp_frame_intern(r->p, &x.f) : SP_NONE;
    return n == SP_NONE ? sp_nomem(r->d) : dict_define(r, &r->frames, &in->id, n, "frame");
}

/* ---- thread ---- */

/* Its facts, and what is no fact. */
static bool dict_thread_more(struct reader *r, uint32_t number, uint32_t more)
{
    struct sp_thread t = r->p->threads.v[number];
    t.extra_json = more;
    bool ok = sp_facts_of_thread(r, &t);
    r->p->threads.v[number] = t;
    return ok;
}

spaa_status sp_take_thread(struct reader *r, const struct sp_rec_THREAD *x)
{
    int64_t pid = SP_ABSENT, tid = SP_ABSENT;
    uint32_t comm = SP_STR_NONE, more;
    size_t kept = r->kept.n, before = r->p->threads.n;
    if ((x->pid.p && !sp_take_i64(r, "pid", &x->pid, &pid)) ||
        (x->tid.p && !sp_take_i64(r, "tid", &x->tid, &tid)) ||
        (x->comm.p && !sp_take_str(r, &x->comm, &comm)) ||
        !sp_take_raw_hex(r, &x->h, &(struct raw_field){"comm", &comm}, 1))
        return r->st;
    if (!x->pid.p || !x->tid.p) {
        sp_emit(r->d, SP_E109, sp_here(r, x->pid.p ? "tid" : "pid"), "the thread is left out");
        return SPAA_OK;
    }
    if (!sp_extra(r, &x->h, SP_T_THREAD, kept, &more))
        return r->st;
    uint32_t n = sp_thread_intern(r->p, pid, tid, comm);
    if (n == SP_NONE)
        return sp_nomem(r->d);
    if (r->p->threads.n == before)
        sp_emit(r->d, SP_W311, sp_here(r, "tid"), "a second thread record for one tid; the first is used");
    else
        return dict_thread_more(r, n, more) ? SPAA_OK : r->st;
    return SPAA_OK;
}
