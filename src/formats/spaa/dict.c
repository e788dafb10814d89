/* The dictionary records of a SPAA file: dso, frame, thread. */
#include "formats/spaa/read.h"

#include "base/num.h"

#include <stdio.h>

/* The digits of a build-id that is not written as it should be; false: it is none, or (out->failed) no
 * memory. */
static bool build_id_digits(struct sp_span s, struct sp_buf *out)
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

static bool build_id_value(struct reader *r, struct sp_span key, uint32_t *out)
{
    struct sp_json before = r->j;
    struct sp_span s;
    struct sp_buf hex;
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "a string");
    if (!sp_json_string_value(&r->j, &s))
        return false;
    size_t plain = 0;
    while (plain < s.n &&
           ((s.p[plain] >= '0' && s.p[plain] <= '9') || (s.p[plain] >= 'a' && s.p[plain] <= 'f')))
        plain++;
    if (s.n && plain == s.n) {
        *out = sp_profile_str(r->p, s.p, s.n);
        return *out != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
    }
    sp_buf_init(&hex, 0);
    bool good = build_id_digits(s, &hex), failed = hex.failed;
    if (good && !failed)
        failed = (*out = sp_profile_str(r->p, hex.data, hex.len)) == SP_STR_FAIL;
    sp_buf_free(&hex);
    if (failed)
        return sp_json_fail(&r->j, "out of memory");
    sp_emit(r->d, SP_E122, sp_here(r, "build_id"), "%s", good ? "it is written so" : " ");
    if (good)
        return true;
    before.scratch = r->j.scratch;
    r->j = before;
    return sp_keep_odd(r, key, "hex digits");
}

/* As the validator has it: the names of kernels and of nothing else. */
static bool kernel_name(struct sp_str s)
{
    static const char *const starts[] = {"[kernel]", "[kernel.", "[guest.kernel"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (s.n >= strlen(starts[i]) && memcmp(s.p, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static void complete_dso(struct reader *r, struct sp_dso *dso)
{
    if (dso->name == SP_STR_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "name"), "taken as [unknown]");
        dso->name = sp_profile_cstr(r->p, "[unknown]");
    }
    if (!dso->is_kernel && dso->name != SP_STR_FAIL && kernel_name(sp_pstr(r->p, dso->name))) {
        sp_emit(r->d, SP_E125, sp_here(r, "is_kernel"), " ");
        dso->is_kernel = true;
    }
}

spaa_status sp_read_dso(struct reader *r)
{
    struct sp_dso dso = {0};
    struct sp_span key, id = {0};
    bool duplicate = false;
    uint32_t id_text = SP_STR_NONE;
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "type")) {
            ok = sp_json_skip(&r->j, &key);
        } else if (sp_span_is(key, "id")) {
            ok = sp_read_id(r, &id);
            id_text = ok ? sp_profile_str(r->p, id.p, id.n) : SP_STR_NONE;
        } else if (sp_span_is(key, "name")) {
            ok = sp_read_str(r, key, &dso.name);
        } else if (sp_span_is(key, "build_id")) {
            ok = build_id_value(r, key, &dso.build_id);
        } else if (sp_span_is(key, "x_raw_hex")) {
            struct raw_field fields[] = {{"name", &dso.name}, {"build_id", &dso.build_id}};
            ok = sp_read_raw_hex(r, key, fields, 2);
        } else if (sp_span_is(key, "is_kernel")) {
            enum sp_json_type t = sp_json_type(&r->j);
            ok = t == SP_JSON_TRUE || t == SP_JSON_FALSE ? sp_json_bool(&r->j, &dso.is_kernel)
                                                         : sp_keep_odd(r, key, "true or false");
        } else {
            ok = sp_keep_member(r, key);
        }
        if (!ok)
            break;
    }
    spaa_status st = sp_json_status(r);
    if (st)
        return st;
    dso.more = sp_take_more(r);
    complete_dso(r, &dso);
    uint32_t n = dso.more == SP_STR_FAIL || dso.name == SP_STR_FAIL || id_text == SP_STR_FAIL
                     ? SP_NONE
                     : sp_dso_intern(r->p, &dso);
    if (n == SP_NONE)
        return sp_nomem(r->d);
    if (id_text == SP_STR_NONE) {
        sp_emit(r->d, SP_L302, sp_here(r, "id"), "a dso record without an id cannot be referenced");
        return SPAA_OK;
    }
    struct sp_str t = sp_pstr(r->p, id_text);
    if (!sp_idmap_add(r, &r->dsos, (struct sp_span){t.p, t.n}, n, &duplicate))
        return sp_nomem(r->d);
    if (duplicate)
        sp_emit(r->d, SP_W311, sp_here(r, "id"), "a second dso with the id %s; the first is used", t.p);
    return SPAA_OK;
}

struct frame_fields {
    struct sp_frame f;
    uint32_t func, id, dso;
    bool has_id, has_dso, has_kind;
};

static bool hex_value(struct reader *r, struct sp_span key, uint64_t *out, uint8_t *flags, uint8_t flag)
{
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "a hex string");
    struct sp_json before = r->j;
    struct sp_span s;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    if (sp_parse_0x(s.p, s.n, out)) {
        *flags |= flag;
        return true;
    }
    before.scratch = r->j.scratch;
    r->j = before;
    return sp_keep_odd(r, key, "a hex string");
}

static bool flag_value(struct reader *r, struct sp_span key, bool set_when, uint8_t *flags, uint8_t flag)
{
    enum sp_json_type t = sp_json_type(&r->j);
    if (t != SP_JSON_TRUE && t != SP_JSON_FALSE)
        return sp_keep_odd(r, key, "true or false");
    bool v;
    if (!sp_json_bool(&r->j, &v))
        return false;
    if (v == set_when)
        *flags |= flag;
    return true;
}

static bool kind_value(struct reader *r, struct sp_span key, struct frame_fields *x)
{
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "user, kernel or unknown");
    struct sp_span s;
    if (!sp_json_string_value(&r->j, &s))
        return false;
    int k = sp_name_index(sp_frame_kind_names, s.p, s.n);
    if (k < 0)
        sp_emit(r->d, SP_W203, sp_here(r, "kind"), "taken as unknown");
    x->f.kind = (uint8_t)(k < 0 ? SP_UNKNOWN : k);
    x->has_kind = true;
    return true;
}

static bool depth_value(struct reader *r, struct sp_span key, struct sp_frame *f)
{
    int64_t v = SP_ABSENT;
    if (!sp_read_i64(r, key, &v))
        return false;
    if (v >= 0 && v <= UINT32_MAX)
        f->inline_depth = (uint32_t)v;
    else if (v != SP_ABSENT)
        sp_emit(r->d, SP_W203, sp_here(r, "inline_depth"), "ignored");
    return true;
}

static bool frame_member(struct reader *r, struct sp_span key, struct frame_fields *x)
{
    struct sp_span s;
    if (sp_span_is(key, "type"))
        return sp_json_skip(&r->j, &s);
    if (sp_span_is(key, "id")) {
        x->has_id = sp_read_id(r, &s);
        x->id = x->has_id ? sp_profile_str(r->p, s.p, s.n) : SP_STR_NONE;
        return x->has_id && (x->id != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory"));
    }
    if (sp_span_is(key, "func"))
        return sp_read_str(r, key, &x->func);
    if (sp_span_is(key, "dso")) {
        if (!sp_read_id(r, &s))
            return false;
        x->dso = sp_idmap_find(r, &r->dsos, s);
        x->has_dso = true;
        return true;
    }
    if (sp_span_is(key, "ip"))
        return hex_value(r, key, &x->f.ip, &x->f.flags, SP_FRAME_IP);
    if (sp_span_is(key, "symoff"))
        return hex_value(r, key, &x->f.symoff, &x->f.flags, SP_FRAME_SYMOFF);
    if (sp_span_is(key, "srcline"))
        return sp_read_str(r, key, &x->f.srcline);
    if (sp_span_is(key, "func_resolved"))
        return flag_value(r, key, false, &x->f.flags, SP_FRAME_UNRESOLVED);
    if (sp_span_is(key, "srcline_resolved"))
        return flag_value(r, key, false, &x->f.flags, SP_FRAME_NO_SRCLINE);
    if (sp_span_is(key, "inlined"))
        return flag_value(r, key, true, &x->f.flags, SP_FRAME_INLINED);
    if (sp_span_is(key, "inline_depth"))
        return depth_value(r, key, &x->f);
    if (sp_span_is(key, "kind"))
        return kind_value(r, key, x);
    if (sp_span_is(key, "x_inferred"))
        return flag_value(r, key, true, &x->f.flags, SP_FRAME_INFERRED);
    if (sp_span_is(key, "x_raw_hex")) {
        struct raw_field fields[] = {{"func", &x->func}, {"srcline", &x->f.srcline}};
        return sp_read_raw_hex(r, key, fields, 2);
    }
    return sp_keep_member(r, key);
}

/* The DSO of frames that name none, or one that is not there. */
static uint32_t unknown_dso(struct reader *r)
{
    struct sp_dso dso = {.name = sp_profile_cstr(r->p, "[unknown]")};
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(r->p, &dso);
}

/* A frame without a name is its address, or unknown. */
static bool name_nameless(struct reader *r, struct frame_fields *x)
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
bool sp_kind_fits(const struct sp_profile *p, uint32_t number, uint8_t kind)
{
    const struct sp_dso *dso = &p->dsos.v[number];
    if (kind != SP_KERNEL)
        return kind != SP_USER || !dso->is_kernel;
    return dso->is_kernel || sp_str_is(sp_pstr(p, dso->name), "[unknown]");
}

static void settle_kind(struct reader *r, struct frame_fields *x)
{
    if (sp_kind_fits(r->p, x->dso, x->f.kind))
        return;
    sp_emit(r->d, SP_E121, sp_here(r, "kind"), "taken as unknown");
    x->f.kind = SP_UNKNOWN;
}

uint32_t sp_missing_frame(struct reader *r)
{
    struct sp_frame f = {.kind = SP_UNKNOWN, .flags = SP_FRAME_UNRESOLVED};
    uint32_t name = sp_profile_cstr(r->p, "[unknown]"), dso = unknown_dso(r);
    f.function = name == SP_STR_FAIL || dso == SP_NONE ? SP_NONE : sp_function_intern(r->p, name, dso);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &f);
}

spaa_status sp_read_frame(struct reader *r)
{
    struct frame_fields x = {.f.kind = SP_UNKNOWN, .dso = SP_NONE};
    struct sp_span key;
    bool duplicate = false;
    while (sp_json_key(&r->j, &key) && frame_member(r, key, &x))
        ;
    spaa_status st = sp_json_status(r);
    if (st)
        return st;
    if (x.dso == SP_NONE) {
        if (x.has_dso && !r->deferred_pass)
            return SPAA_ERR_NOT_FOUND; /* its dso may come later */
        sp_emit(r->d, SP_E112, sp_here(r, "dso"), "taken as [unknown]");
        x.dso = unknown_dso(r);
    }
    if (!x.has_kind)
        sp_emit(r->d, SP_W208, sp_here(r, "kind"), "unknown");
    if (x.func == SP_STR_NONE && !name_nameless(r, &x))
        return sp_nomem(r->d);
    if (x.dso != SP_NONE)
        settle_kind(r, &x);
    x.f.more = sp_take_more(r);
    x.f.function =
        x.dso == SP_NONE || x.f.more == SP_STR_FAIL ? SP_NONE : sp_function_intern(r->p, x.func, x.dso);
    uint32_t n = x.f.function == SP_NONE ? SP_NONE : sp_frame_intern(r->p, &x.f);
    if (n == SP_NONE)
        return sp_nomem(r->d);
    if (!x.has_id) {
        sp_emit(r->d, SP_L302, sp_here(r, "id"), "a frame record without an id cannot be referenced");
        return SPAA_OK;
    }
    struct sp_str t = sp_pstr(r->p, x.id);
    if (!sp_idmap_add(r, &r->frames, (struct sp_span){t.p, t.n}, n, &duplicate))
        return sp_nomem(r->d);
    if (duplicate)
        sp_emit(r->d, SP_W311, sp_here(r, "id"), "a second frame with the id %s; the first is used", t.p);
    return SPAA_OK;
}

spaa_status sp_read_thread(struct reader *r)
{
    int64_t pid = SP_ABSENT, tid = SP_ABSENT;
    uint32_t comm = SP_STR_NONE;
    bool has_pid = false, has_tid = false;
    struct sp_span key;
    while (sp_json_key(&r->j, &key)) {
        bool ok;
        if (sp_span_is(key, "type"))
            ok = sp_json_skip(&r->j, &key);
        else if (sp_span_is(key, "pid"))
            has_pid = ok = sp_read_i64(r, key, &pid);
        else if (sp_span_is(key, "tid"))
            has_tid = ok = sp_read_i64(r, key, &tid);
        else if (sp_span_is(key, "comm"))
            ok = sp_read_str(r, key, &comm);
        else if (sp_span_is(key, "x_raw_hex"))
            ok = sp_read_raw_hex(r, key, &(struct raw_field){"comm", &comm}, 1);
        else
            ok = sp_keep_member(r, key);
        if (!ok)
            break;
    }
    spaa_status st = sp_json_status(r);
    if (st)
        return st;
    if (!has_pid || !has_tid) {
        sp_emit(r->d, SP_E109, sp_here(r, has_pid ? "tid" : "pid"), "the thread is left out");
        return SPAA_OK;
    }
    size_t before = r->p->threads.n;
    uint32_t more = sp_take_more(r);
    uint32_t n = more == SP_STR_FAIL ? SP_NONE : sp_thread_intern(r->p, pid, tid, comm);
    if (n == SP_NONE)
        return sp_nomem(r->d);
    if (r->p->threads.n == before)
        sp_emit(r->d, SP_W311, sp_here(r, "tid"), "a second thread record for one tid; the first is used");
    else
        r->p->threads.v[n].more = more;
    return SPAA_OK;
}
