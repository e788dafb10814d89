/* Frames of a V8 heap profile: a function, named as developer tools name it, and where it begins. */
#include "base/num.h"
#include "formats/heapprofile/heapprofile.h"
#include "model/identity.h"
#include "symbols/bind.h"

static bool call_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static uint32_t call_dso(struct sp_profile *p, const char *name)
{
    struct sp_dso dso = {.name = sp_profile_cstr(p, name)};
    return dso.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &dso);
}

void sp_v8_calls_init(struct sp_v8_calls *c, struct sp_profile *p, enum sp_granularity grain)
{
    *c = (struct sp_v8_calls){.p = p, .grain = grain, .unknown = SP_NONE, .node = SP_NONE, .v8 = SP_NONE};
    sp_buf_init(&c->text, 0);
}

static int call_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool sp_v8_path(struct sp_buf *out, struct sp_str url)
{
    static const char scheme[] = "file://";
    sp_buf_clear(out);
    if (!call_begins(url, "file:///")) {
        sp_buf_add(out, url.p, url.n);
        return !out->failed;
    }
    uint32_t i = sizeof scheme - 1;
    if (url.n > i + 2 && url.p[i + 2] == ':') /* file:///C:/app.js */
        i++;
    for (; i < url.n; i++) {
        int high = i + 2 < url.n && url.p[i] == '%' ? call_hex(url.p[i + 1]) : -1;
        int low = high < 0 ? -1 : call_hex(url.p[i + 2]);
        bool escape = low >= 0 && high * 16 + low >= ' ';
        sp_buf_ch(out, escape ? (char)(high * 16 + low) : url.p[i]);
        i += escape ? 2 : 0;
    }
    return !out->failed;
}

/*
 * Node's own sources are a part of its binary, and V8's functions without a script are the engine's. What has
 * a script that V8 did not find any more can be of anybody.
 */
static uint32_t call_dso_of(struct sp_v8_calls *c, const struct sp_v8_call *call, struct sp_str url)
{
    bool node = call_begins(url, "node:") || call_begins(url, "internal/");
    uint32_t *dso = node ? &c->node : !call->has_script ? &c->v8 : &c->unknown;
    c->node_seen = c->node_seen || node;
    if (*dso == SP_NONE)
        *dso = node                ? call_dso(c->p, "[node]")
               : !call->has_script ? call_dso(c->p, "[v8]")
                                   : sp_unknown_dso(c->p);
    return *dso;
}

static void call_place(struct sp_buf *b, const struct sp_v8_call *call)
{
    sp_buf_printf(b, ":%lld", (long long)call->line + 1);
    if (call->column >= 0)
        sp_buf_printf(b, ":%lld", (long long)call->column + 1);
}

/* A function without a name is named by its place, if that is known: a file has many of them. */
static uint32_t call_name(struct sp_v8_calls *c, const struct sp_v8_call *call, struct sp_str url)
{
    if (call->name.len)
        return sp_profile_text(c->p, call->name.data, call->name.len);
    struct sp_str base = sp_base_name(url);
    sp_buf_clear(&c->text);
    sp_buf_puts(&c->text, call->line < 0 ? "[unknown script]" : "(anonymous)");
    if (call->line >= 0) {
        sp_buf_ch(&c->text, ' ');
        sp_buf_add(&c->text, base.p, base.n);
        call_place(&c->text, call);
    }
    return c->text.failed ? SP_STR_FAIL : sp_profile_text(c->p, c->text.data, c->text.len);
}

/* Methods of two classes in one file have the same name: where it begins tells a function from others. */
static uint32_t call_linkage(struct sp_v8_calls *c, const struct sp_v8_call *call)
{
    if (!call->name.len || call->line < 0)
        return SP_STR_NONE;
    sp_buf_clear(&c->text);
    sp_buf_add(&c->text, call->name.data, call->name.len);
    call_place(&c->text, call);
    return c->text.failed ? SP_STR_FAIL : sp_profile_text(c->p, c->text.data, c->text.len);
}

uint32_t sp_v8_frame(struct sp_v8_calls *c, const struct sp_v8_call *call)
{
    struct sp_frame f = {.kind = SP_USER};
    struct sp_func_info info = {.flags = SP_FUNC_LOCAL | SP_FUNC_PATH};
    struct sp_str url = {call->url.data, (uint32_t)call->url.len};
    uint32_t dso = call_dso_of(c, call, url);
    if (!sp_v8_path(&c->text, url))
        return SP_NONE;
    if (c->text.len)
        info.file = sp_profile_text(c->p, c->text.data, c->text.len);
    if (c->text.len && call->line >= 0 && call->line < UINT32_MAX)
        info.line = (uint32_t)call->line + 1;
    uint32_t name = info.file == SP_STR_FAIL ? SP_STR_FAIL : call_name(c, call, sp_pstr(c->p, info.file));
    info.linkage = call_linkage(c, call);
    if (dso == SP_NONE || name == SP_STR_FAIL || info.linkage == SP_STR_FAIL ||
        !sp_frame_set_function(c->p, &f, name, dso, &info, c->grain))
        return SP_NONE;
    return sp_frame_intern(c->p, &f);
}
