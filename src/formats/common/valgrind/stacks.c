/* Places of valgrind's stacks as frames of a profile, and what its events have alike: see valgrind.h. */
#include "base/num.h"
#include "formats/common/valgrind/valgrind.h"
#include "symbols/bind.h"
#include "symbols/demangle.h"

#include <string.h>

bool sp_vg_init(struct sp_vg *v, struct sp_profile *p, const struct sp_read_opts *opts)
{
    *v = (struct sp_vg){.p = p, .opts = opts, .unknown = sp_unknown_dso(p)};
    return v->unknown != SP_NONE;
}

void sp_vg_free(struct sp_vg *v)
{
    sp_vec_free(&v->frames);
}

/* --demangle=no, and Rust's newer names, which valgrind leaves as they are: "_Z…", "_R…". */
static uint32_t vg_name(struct sp_vg *v, struct sp_str name)
{
    struct sp_buf plain, text;
    if (name.n < 3 || name.p[0] != '_' || (name.p[1] != 'Z' && name.p[1] != 'R') || name.n > 65536)
        return sp_profile_text(v->p, name.p, name.n);
    sp_buf_init(&plain, 0);
    sp_buf_init(&text, 0);
    sp_buf_add(&text, name.p, name.n);
    sp_buf_ch(&text, '\0');
    bool ok = !text.failed && !memchr(name.p, 0, name.n) && sp_demangle(text.data, &plain) && !plain.failed;
    uint32_t s = ok ? sp_profile_text(v->p, plain.data, plain.len) : sp_profile_text(v->p, name.p, name.n);
    sp_buf_free(&plain);
    sp_buf_free(&text);
    return s;
}

/* "stl_vector.h:378": a name that headers of libstdc++ and files of Rust's alloc have; no proof, only a hint.
 */
static bool vg_is_bare(struct sp_str at)
{
    static const char *const names[] = {"stl_",          "new_allocator.h:", "alloc_traits.h:",
                                        "basic_string.", "unique_ptr.h:",    "shared_ptr_base.",
                                        "hashtable",     "raw_vec.rs:",      "alloc.rs:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (at.n > n && memcmp(at.p, names[i], n) == 0)
            return !memchr(at.p, '/', at.n);
    }
    return false;
}

void sp_vg_say(const struct sp_vg *v, struct sp_diags *d)
{
    if (v->bare)
        sp_emit_hint(d, SP_I322, SP_AT_NOTHING,
                     "record with valgrind's --fullpath-after= (nothing behind it)",
                     "without --fullpath-after= inlined library functions look like the program's");
}

bool sp_vg_place(struct sp_vg *v, const struct sp_vg_frame *f, struct sp_vg_place *out)
{
    *out = (struct sp_vg_place){.addr = f->addr};
    v->bare += vg_is_bare(f->at);
    out->nameless = sp_str_is(f->name, "UnknownInlinedFun"); /* where debug info has no name for it */
    out->name = out->nameless ? sp_profile_cstr(v->p, SP_VG_NAMELESS)
                : f->name.n   ? vg_name(v, f->name)
                              : SP_STR_NONE;
    out->at = f->at.n ? sp_profile_text(v->p, f->at.p, f->at.n) : SP_STR_NONE;
    out->object = f->object.n ? sp_profile_text(v->p, f->object.p, f->object.n) : SP_STR_NONE;
    return out->name != SP_STR_FAIL && out->at != SP_STR_FAIL && out->object != SP_STR_FAIL;
}

bool sp_vg_mark(struct sp_vg *v, const char *words, struct sp_vg_place *out)
{
    *out = (struct sp_vg_place){.name = sp_profile_cstr(v->p, words), .mark = true};
    return out->name != SP_STR_FAIL;
}

/* "x_valgrind":{"ip":"0x…"} */
static uint32_t vg_address_member(struct sp_vg *v, uint64_t addr)
{
    char t[64] = "\"x_valgrind\":{\"ip\":\"0x", digits[16];
    size_t n = strlen(t), k = sp_hex_text(addr, digits);
    memcpy(t + n, digits, k);
    memcpy(t + n + k, "\"}", 2);
    return sp_profile_str(v->p, t, n + k + 2);
}

static uint32_t vg_frame(struct sp_vg *v, const struct sp_vg_place *x, uint32_t depth)
{
    enum sp_granularity grain = v->opts->frames;
    struct sp_frame f = {.kind = x->mark ? SP_UNKNOWN : SP_USER, .inline_depth = depth};
    struct sp_dso dso = {.name = x->object};
    char t[18] = "0x";
    uint32_t name = x->name, number = x->object ? sp_dso_intern(v->p, &dso) : v->unknown;
    if (depth)
        f.flags |= SP_FRAME_INLINED;
    if (x->nameless) {
        f.kind = SP_UNKNOWN;
    } else if (!name) {
        f.flags |= SP_FRAME_UNRESOLVED;
        name = sp_profile_str(v->p, t, 2 + sp_hex_text(x->addr, t + 2));
    }
    if (grain != SP_FRAMES_FUNCTION)
        f.srcline = x->at;
    if (grain != SP_FRAMES_FUNCTION && grain != SP_FRAMES_LINE && !x->mark)
        f.extra_json = vg_address_member(v, x->addr);
    if (number == SP_NONE || name == SP_STR_FAIL || f.extra_json == SP_STR_FAIL)
        return SP_NONE;
    f.function = sp_function_intern(v->p, name, number);
    return f.function == SP_NONE ? SP_NONE : sp_frame_intern(v->p, &f);
}

/* Whether a is inlined into b, which calls it as the text goes. */
static bool vg_is_inlined(const struct sp_vg_place *a, const struct sp_vg_place *b)
{
    return !a->mark && !b->mark && a->addr == b->addr && (a->name != b->name || a->at != b->at);
}

uint32_t sp_vg_stack(struct sp_vg *v, const struct sp_vg_place *places, size_t n, uint32_t context,
                     uint32_t layout)
{
    bool is_new;
    uint32_t depth = 0;
    if (n > SP_VG_DEPTH) {
        v->p->header.truncated++;
        n = SP_VG_DEPTH;
    }
    if (!sp_vec_reserve(&v->frames, n + 1))
        return SP_NONE;
    v->frames.n = n;
    for (size_t i = n; i-- > 0;) {
        depth = i + 1 < n && vg_is_inlined(&places[i], &places[i + 1]) ? depth + 1 : 0;
        if ((v->frames.v[i] = vg_frame(v, &places[i], depth)) == SP_NONE)
            return SP_NONE;
    }
    uint32_t stack = sp_stack_intern(v->p, v->frames.v, n, context, SP_UNIFIED, &is_new);
    if (stack != SP_NONE && is_new)
        sp_stack_set_layout(v->p, stack, layout);
    return stack;
}

bool sp_vg_declare(struct sp_vg *v, struct sp_vg_event *e)
{
    struct sp_profile *p = v->p;
    struct sp_weight_field fields[SP_VG_METRICS];
    struct sp_event row = {.name = sp_profile_cstr(p, e->name), .kind = e->kind, .mode = SP_EVENT};
    if (e->allocation_tracking)
        row.allocation_tracking = sp_profile_cstr(p, e->allocation_tracking);
    for (size_t i = 0; i < e->nmetrics; i++) {
        uint32_t unit = sp_profile_cstr(p, e->metrics[i].unit);
        e->metric[i] = sp_metric_intern(p, e->metrics[i].name, strlen(e->metrics[i].name));
        if (e->metric[i] == SP_NONE || unit == SP_STR_FAIL)
            return false;
        fields[i] = (struct sp_weight_field){e->metric[i], unit, 0};
    }
    if (row.name == SP_STR_FAIL || row.allocation_tracking == SP_STR_FAIL)
        return false;
    row.primary = e->metric[0];
    row.unit = fields[0].unit;
    e->event = sp_event_add(p, &row);
    e->layout = sp_layout_intern(p, fields, e->nmetrics);
    return e->event != SP_NONE && e->layout != SP_NONE;
}

/* With them "x_valgrind":{"folders":false} where names of files alone may hide that they are libraries'. */
static uint32_t vg_extra(struct sp_vg *v, const struct sp_buf *more)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_add(&b, more->data ? more->data : "", more->len);
    if (v->bare)
        sp_buf_printf(&b, "%s\"x_valgrind\":{\"folders\":false}", b.len ? "," : "");
    uint32_t s = more->failed || b.failed ? SP_STR_FAIL : sp_profile_str(v->p, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
    return s;
}

bool sp_vg_header(struct sp_vg *v, struct sp_str command, const struct sp_buf *more)
{
    struct sp_header *h = &v->p->header;
    h->version = sp_profile_cstr(v->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(v->p, "valgrind");
    h->command = command.n ? sp_profile_text(v->p, command.p, command.n) : SP_STR_NONE;
    h->has_x_spaa = true;
    h->ips = SP_IPS_CALL;
    h->frames = v->opts->frames > SP_FRAMES_ADDRESS ? v->opts->frames : SP_FRAMES_ADDRESS;
    h->extra_json = vg_extra(v, more);
    return h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->command != SP_STR_FAIL &&
           h->extra_json != SP_STR_FAIL;
}
