/*
 * The frames at an address, made once.
 *
 * An interpreted file has addresses of one run, and not where its modules were: they would make the same
 * stack another one in the next run, so they are no `ip` but stand in `x_heaptrack`.
 */
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "json/json.h"

#define INLINE_MAX 64

static uint32_t heaptrack_frames_unknown_dso(struct sp_ht *ht)
{
    struct sp_dso dso = {.name = sp_profile_cstr(ht->p, "[unknown]")};
    if (ht->unknown_dso == SP_NONE && dso.name != SP_STR_FAIL)
        ht->unknown_dso = sp_dso_intern(ht->p, &dso);
    return ht->unknown_dso;
}

/* A frame at an address, interned at the granularity asked for, behind `numbers`. */
static spaa_status heaptrack_frames_add(struct sp_ht *ht, struct sp_frame *f, uint32_t name, uint32_t dso)
{
    enum sp_granularity keep = ht->opts->frames;
    if (keep == SP_FRAMES_LINE || keep == SP_FRAMES_FUNCTION) {
        f->ip = f->symoff = 0;
        f->flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
        if (!ht->raw)
            f->more = SP_STR_NONE;
    }
    if (keep == SP_FRAMES_FUNCTION)
        f->srcline = SP_STR_NONE;
    f->function = dso == SP_NONE ? SP_NONE : sp_function_intern(ht->p, name, dso);
    uint32_t number = f->function == SP_NONE ? SP_NONE : sp_frame_intern(ht->p, f);
    return number == SP_NONE || !sp_vec_push(&ht->numbers, number) ? sp_nomem(ht->d) : SPAA_OK;
}

/* ---- interpreted addresses ---- */

/* "0x7f…" behind `before`; SP_STR_FAIL: out of memory. */
static uint32_t heaptrack_frames_hex_text(struct sp_profile *p, const char *before, uint64_t v,
                                          const char *behind)
{
    char t[64], hex[16];
    size_t n = strlen(before), m = strlen(behind), digits = sp_hex_text(v, hex);
    memcpy(t, before, n);
    memcpy(t + n, hex, digits);
    memcpy(t + n + digits, behind, m);
    return sp_profile_str(p, t, n + digits + m);
}

static uint32_t heaptrack_frames_srcline(struct sp_ht *ht, const struct sp_ht_frame *f)
{
    struct sp_buf b;
    struct sp_str file = sp_pstr(ht->p, f->file);
    if (f->file == SP_STR_NONE || !file.n || ht->opts->frames == SP_FRAMES_FUNCTION)
        return SP_STR_NONE;
    sp_buf_init(&b, 0);
    sp_buf_add(&b, file.p, file.n);
    if (f->line) {
        sp_buf_ch(&b, ':');
        sp_buf_u64(&b, f->line);
    }
    uint32_t s = b.failed ? SP_STR_FAIL : sp_profile_str(ht->p, b.data, b.len);
    sp_buf_free(&b);
    return s;
}

static spaa_status heaptrack_frames_interpreted(struct sp_ht *ht, const struct sp_ht_ip *ip)
{
    struct sp_dso row = {.name = ip->module};
    uint32_t dso = ip->module == SP_STR_NONE ? heaptrack_frames_unknown_dso(ht) : sp_dso_intern(ht->p, &row);
    uint32_t more = heaptrack_frames_hex_text(ht->p, "\"x_heaptrack\":{\"ip\":\"0x", ip->addr, "\"}");
    uint32_t hex = heaptrack_frames_hex_text(ht->p, "0x", ip->addr, "");
    if (dso == SP_NONE || more == SP_STR_FAIL || hex == SP_STR_FAIL)
        return sp_nomem(ht->d);
    if (!ip->n) {
        struct sp_frame f = {.kind = SP_USER, .flags = SP_FRAME_UNRESOLVED};
        return heaptrack_frames_add(ht, &f, hex, dso);
    }
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < ip->n; i++) {
        const struct sp_ht_frame *x = &ht->frames.v[ip->first + i];
        struct sp_frame f = {.kind = SP_USER, .more = more, .inline_depth = ip->n - 1 - i};
        bool named = x->function != SP_STR_NONE && sp_pstr(ht->p, x->function).n;
        f.flags = (uint8_t)((f.inline_depth ? SP_FRAME_INLINED : 0) | (named ? 0 : SP_FRAME_UNRESOLVED));
        f.srcline = heaptrack_frames_srcline(ht, x);
        st = f.srcline == SP_STR_FAIL ? sp_nomem(ht->d)
                                      : heaptrack_frames_add(ht, &f, named ? x->function : hex, dso);
    }
    return st;
}

/* ---- raw addresses ---- */

static spaa_status heaptrack_frames_open_module(struct sp_ht *ht, struct sp_ht_module *m)
{
    struct sp_str name = sp_pstr(ht->p, m->name);
    struct sp_dso dso = {.name = m->name};
    spaa_status st = SPAA_OK;
    m->opened = true;
    if (name.n && *name.p == '/') { /* linux-vdso.so.1 is no file */
        struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = name.p};
        st = sp_symbols_module(ht->symbols, &key, &m->module);
        const char *id = st ? NULL : sp_module_build_id(m->module);
        if (id)
            dso.build_id = sp_profile_cstr(ht->p, id);
    }
    if (st)
        return st;
    m->dso = dso.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(ht->p, &dso);
    return m->dso == SP_NONE ? sp_nomem(ht->d) : SPAA_OK;
}

static spaa_status heaptrack_frames_add_named(struct sp_ht *ht, const struct sp_resolved *r,
                                              struct sp_frame *f, uint32_t dso)
{
    struct sp_buf b;
    uint32_t name = sp_profile_cstr(ht->p, r->func);
    f->symoff = r->symoff;
    f->flags |= SP_FRAME_SYMOFF;
    f->inline_depth = r->inline_depth;
    if (r->inline_depth)
        f->flags |= SP_FRAME_INLINED;
    if (r->srcline)
        f->srcline = sp_profile_cstr(ht->p, r->srcline);
    if (r->raw) {
        sp_buf_init(&b, 0);
        sp_buf_puts(&b, "\"x_raw_func\":");
        sp_json_string(&b, r->raw, strlen(r->raw));
        f->more = b.failed ? SP_STR_FAIL : sp_profile_str(ht->p, b.data, b.len);
        sp_buf_free(&b);
    }
    if (name == SP_STR_FAIL || f->srcline == SP_STR_FAIL || f->more == SP_STR_FAIL)
        return sp_nomem(ht->d);
    return heaptrack_frames_add(ht, f, name, dso);
}

static spaa_status heaptrack_frames_raw(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    struct sp_ht_module *m = ip->module == SP_NONE ? NULL : &ht->modules.v[ip->module];
    struct sp_resolved found[INLINE_MAX];
    struct sp_frame f = {.ip = ip->addr, .kind = SP_USER, .flags = SP_FRAME_IP};
    char hex[2 + 16] = "0x";
    size_t n = 0;
    spaa_status st = m && !m->opened ? heaptrack_frames_open_module(ht, m) : SPAA_OK;
    if (st)
        return st;
    if (m)
        f.ip -= m->base;
    if (m && m->module)
        n = sp_module_resolve(m->module, f.ip, found, INLINE_MAX);
    uint32_t dso = m ? m->dso : heaptrack_frames_unknown_dso(ht);
    for (size_t i = 0; !st && i < n; i++) {
        struct sp_frame row = f;
        st = heaptrack_frames_add_named(ht, &found[i], &row, dso);
    }
    if (st || n)
        return st;
    f.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name = sp_profile_str(ht->p, hex, 2 + sp_hex_text(f.ip, hex + 2));
    return name == SP_STR_FAIL || dso == SP_NONE ? sp_nomem(ht->d) : heaptrack_frames_add(ht, &f, name, dso);
}

spaa_status sp_ht_frames(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    ip->made = (uint32_t)ht->numbers.n + 1;
    spaa_status st = ht->raw ? heaptrack_frames_raw(ht, ip) : heaptrack_frames_interpreted(ht, ip);
    ip->nmade = (uint32_t)ht->numbers.n + 1 - ip->made;
    return st;
}
