/* Why names and lines are missing, as notes on the profile's DSOs: what answers say of their quality. */
#include "base/hash.h"
#include "symbols/internal.h"
#include "symbols/symbolize.h"

#include <string.h>

struct notes {
    struct sp_profile *p;
    struct sp_map by_name; /* dsos, by their name's number */
    struct sp_buf why, hint;
};

static uint64_t hash_of(uint32_t name)
{
    return sp_hash_mix(name, 0);
}

/* What the DSO of a module is called in profiles. */
static uint32_t notes_name_of(struct notes *x, const struct sp_module *m)
{
    const char *path = m->key.path ? m->key.path : "";
    switch (m->key.kind) {
    case SP_MODULE_KERNEL:
        return sp_profile_cstr(x->p, "[kernel]");
    case SP_MODULE_KMOD:
        sp_buf_clear(&x->why);
        sp_buf_printf(&x->why, "[%s]", path);
        return x->why.failed ? SP_STR_FAIL : sp_profile_str(x->p, x->why.data, x->why.len);
    case SP_MODULE_JIT:
        return sp_profile_cstr(x->p, *path ? "[anon]" : "[unknown]");
    default:
        return sp_profile_cstr(x->p, path);
    }
}

static bool same_build(const struct notes *x, const struct sp_dso *dso, const struct sp_module *m)
{
    struct sp_str id = sp_pstr(x->p, dso->build_id);
    return !dso->build_id || !m->key.build_id || sp_str_is(id, m->key.build_id);
}

static bool notes_add(struct notes *x, const struct sp_module *m, uint32_t name, enum sp_note_of of,
                      uint64_t n, const char *why, const char *remedy)
{
    struct sp_probe at = sp_map_probe(&x->by_name, hash_of(name));
    for (uint32_t i; (i = sp_map_next(&x->by_name, &at)) != SP_MAP_NONE;)
        if (x->p->dsos.v[i].name == name && same_build(x, &x->p->dsos.v[i], m) &&
            !sp_profile_note(x->p, i, of, n, why, remedy))
            return false;
    return true;
}

static bool note_names(struct notes *x, const struct sp_module *m, uint32_t name)
{
    if (!m->misses)
        return true;
    sp_buf_clear(&x->why);
    sp_buf_clear(&x->hint);
    const char *advice = sp_module_missing(m, &x->why, &x->hint);
    if (!x->why.len)
        sp_buf_puts(&x->why, "no symbol of it covers these addresses");
    return !x->why.failed && !x->hint.failed &&
           notes_add(x, m, name, SP_NOTE_NAMES, m->misses, sp_buf_cstr(&x->why), advice);
}

spaa_status sp_symbols_note(struct sp_symbols *s, struct sp_profile *p)
{
    struct notes x = {.p = p};
    if (s->failed)
        return s->failed;
    bool ok = true, any = false;
    for (uint32_t i = 0; i < p->dsos.n && s->opts.no_symbols && ok; i++)
        ok = sp_profile_note(p, i, SP_NOTE_NAMES, 1, "names were not looked up (--no-symbols)", "");
    for (size_t i = 0; i < s->modules.n; i++)
        any |= s->modules.v[i]->misses || sp_module_lacks_lines(s->modules.v[i]);
    if (!any)
        return ok ? SPAA_OK : sp_nomem(s->d);
    sp_buf_init(&x.why, 64 << 10);
    sp_buf_init(&x.hint, 16 << 10);
    for (uint32_t i = 0; i < p->dsos.n && ok; i++)
        ok = sp_map_add(&x.by_name, hash_of(p->dsos.v[i].name), i);
    for (size_t i = 0; i < s->modules.n && ok; i++) {
        const struct sp_module *m = s->modules.v[i];
        bool lines = sp_module_lacks_lines(m);
        uint32_t name = m->misses || lines ? notes_name_of(&x, m) : SP_STR_NONE;
        ok = name != SP_STR_FAIL && (name == SP_STR_NONE || note_names(&x, m, name));
        if (ok && lines)
            ok = notes_add(&x, m, name, SP_NOTE_LINES, m->lineless, "no debug information was found",
                           m->elf.macho ? SP_HINT_DSYM : SP_HINT_LINES);
    }
    sp_buf_free(&x.why);
    sp_buf_free(&x.hint);
    sp_map_free(&x.by_name);
    return ok ? SPAA_OK : sp_nomem(s->d);
}
