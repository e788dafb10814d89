#include "formats/spt/modules.h"

#include "base/nearest.h"
#include "base/num.h"
#include "formats/common/spt/spt.h"
#include "symbols/windows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 5 };

/* `id` as bytes, as many of 16 as there are; false: it is no hex. */
static bool spt_first_bytes(struct sp_str id, unsigned char out[static 16])
{
    uint64_t byte;
    memset(out, 0, 16);
    if (!id.n || id.n % 2)
        return false;
    for (uint32_t i = 0; i < 16 && 2 * i < id.n; i++) {
        if (sp_parse_hex(id.p + (size_t)2 * i, id.p + (size_t)2 * i + 2, &byte) != 2)
            return false;
        out[i] = (unsigned char)byte;
    }
    return true;
}

static enum sp_spt_known_by spt_identify(const struct sp_spt_modules *m, const struct sp_dso *dso,
                                         struct sp_rsds *out)
{
    struct sp_str id = sp_pstr(m->p, dso->build_id);
    char uuid[33];
    *out = (struct sp_rsds){0};
    if (dso->place.ips == SP_DSO_FILE_OFFSET)
        return SP_SPT_BY_OFFSETS;
    if ((id.n != 40 || m->from_spt || sp_is_windows_path(sp_pstr(m->p, dso->name).p)) &&
        sp_rsds_from_key(id.p, id.n, out))
        return SP_SPT_BY_PDB;
    *out = (struct sp_rsds){0};
    if (id.n == 32) {
        memcpy(uuid, id.p, 32);
        uuid[32] = '0';
        if (sp_rsds_from_key(uuid, sizeof uuid, out))
            return SP_SPT_BY_UUID;
    } else if (spt_first_bytes(id, out->guid)) {
        return SP_SPT_BY_BUILD_ID;
    }
    *out = (struct sp_rsds){0};
    return SP_SPT_BY_NAME;
}

/* Names in brackets are no files, but for the kernel, its modules, the code it lends to programs, and what
 * stands for the empty name of a binary of a trace. */
static bool spt_is_module(const struct sp_spt_modules *m, const struct sp_dso *dso)
{
    struct sp_str name = sp_pstr(m->p, dso->name);
    if (!name.n || sp_str_is(name, "//anon") || sp_str_is(name, "[bpf]"))
        return false;
    return name.p[0] != '[' || dso->is_kernel || sp_str_is(name, "[vdso]") || sp_str_is(name, SP_SPT_NO_NAME);
}

/* Calls `each` for every NAME of --binary; false when one did. */
static bool spt_names_asked(struct sp_spt_modules *m, const struct sp_write_opts *opts, struct sp_diags *d,
                            bool (*each)(struct sp_spt_modules *m, struct sp_str name, struct sp_diags *d),
                            bool *any)
{
    *any = false;
    for (size_t i = 0; i < opts->nown; i++) {
        const char *v = opts->own[i].value;
        if (strcmp(opts->own[i].name, "binary") != 0)
            continue;
        for (; *v; v += *v == ',') {
            size_t n = strcspn(v, ",");
            *any = true;
            if (n && !each(m, (struct sp_str){v, (uint32_t)n}, d))
                return false;
            v += n;
        }
    }
    return true;
}

static void spt_say_no_binary(const struct sp_spt_modules *m, struct sp_str name, struct sp_diags *d)
{
    char asked[128];
    struct sp_buf hint;
    size_t n = m->p->dsos.n;
    struct sp_str *names = calloc(n + 1, sizeof *names);
    sp_buf_init(&hint, 4096);
    snprintf(asked, sizeof asked, "%.*s", (int)(name.n < 120 ? name.n : 120), name.p);
    for (size_t i = 0; names && i < n; i++)
        names[i] = sp_spt_base_name(sp_pstr(m->p, m->p->dsos.v[i].name));
    if (names)
        sp_nearest_words(&hint, asked, names, n);
    sp_emit_hint(d, SP_E420, SP_AT_NOTHING, sp_buf_cstr(&hint), "the profile has no binary %s", asked);
    sp_buf_free(&hint);
    free(names);
}

/* Marks the DSOs that a NAME means; false, reported, when there is none or it is no module. */
static bool spt_mark_binary(struct sp_spt_modules *m, struct sp_str name, struct sp_diags *d)
{
    bool any = false;
    for (size_t i = 0; i < m->p->dsos.n; i++) {
        struct sp_str dso = sp_pstr(m->p, m->p->dsos.v[i].name);
        if (!sp_spt_name_is(dso, name))
            continue;
        if (!spt_is_module(m, &m->p->dsos.v[i])) {
            sp_emit(d, SP_E420, SP_AT_NOTHING, "%.*s is no module", (int)dso.n, dso.p);
            return false;
        }
        m->v[i].fate = SP_SPT_IN;
        any = true;
    }
    if (!any)
        spt_say_no_binary(m, name, d);
    return any;
}

spaa_status sp_spt_modules_new(const struct sp_profile *p, const struct sp_write_opts *opts,
                               struct sp_diags *d, struct sp_spt_modules *out)
{
    bool any, no_kernel = sp_own_opt(opts->own, opts->nown, "no-kernel") != NULL;
    *out = (struct sp_spt_modules){.p = p, .v = calloc(p->dsos.n + 1, sizeof *out->v)};
    out->from_spt = sp_str_is(sp_pstr(p, p->header.source_tool), "spt");
    if (!out->v)
        return sp_nomem(d);
    if (!spt_names_asked(out, opts, d, spt_mark_binary, &any))
        return SPAA_ERR_USAGE;
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_spt_module *m = &out->v[i];
        const struct sp_dso *dso = &p->dsos.v[i];
        if (!any)
            m->fate = spt_is_module(out, dso) ? SP_SPT_IN : SP_SPT_NO_MODULE;
        if (no_kernel && dso->is_kernel)
            m->fate = SP_SPT_OUT;
        m->known_by = spt_identify(out, dso, &m->rsds);
    }
    return SPAA_OK;
}

void sp_spt_modules_free(struct sp_spt_modules *m)
{
    free(m->v);
    m->v = NULL;
}

struct sp_str sp_spt_module_name(const struct sp_spt_modules *m, uint32_t dso)
{
    struct sp_str name = sp_pstr(m->p, m->p->dsos.v[dso].name);
    if (!m->from_spt && m->v[dso].known_by < SP_SPT_BY_NAME)
        name = sp_spt_base_name(name);
    if (sp_str_is(name, SP_SPT_NO_NAME))
        return (struct sp_str){"", 0};
    name.n = (uint32_t)strnlen(name.p, name.n);
    return name;
}

/* "NAME, NAME and 3 more" of those that are `known_by` and were used; n: how many. */
static size_t spt_used_names(const struct sp_spt_modules *m, enum sp_spt_known_by known_by, struct sp_buf *b)
{
    size_t n = 0;
    sp_buf_clear(b);
    for (uint32_t i = 0; i < m->p->dsos.n; i++) {
        struct sp_str name = sp_pstr(m->p, m->p->dsos.v[i].name);
        if (!m->v[i].used || m->v[i].known_by != known_by)
            continue;
        if (n++ < TOLD_MAX)
            sp_buf_printf(b, "%s%.*s", n > 1 ? ", " : "", (int)name.n, name.p);
    }
    if (n > TOLD_MAX)
        sp_buf_printf(b, " and %zu more", n - TOLD_MAX);
    return n;
}

static int spt_by_loss(const void *a, const void *b)
{
    const struct sp_spt_module *const *x = a, *const *y = b;
    uint64_t m = (*x)->lost_hits, n = (*y)->lost_hits;
    if (m == n)
        m = (*x)->lost_frames, n = (*y)->lost_frames;
    if (m != n)
        return m < n ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

/* "12 hits and 3 frames of call stacks in [unknown], …"; false: out of memory. */
static bool spt_say_lost(const struct sp_spt_modules *m, struct sp_buf *b)
{
    struct sp_spt_module **list = malloc((m->p->dsos.n + 1) * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < m->p->dsos.n; i++)
        if (m->v[i].lost_hits || m->v[i].lost_frames)
            list[n++] = &m->v[i];
    if (n)
        qsort(list, n, sizeof *list, spt_by_loss);
    for (size_t i = 0; i < n && i < TOLD_MAX; i++) {
        struct sp_str name = sp_pstr(m->p, m->p->dsos.v[list[i] - m->v].name);
        sp_buf_puts(b, i ? "; " : "");
        if (list[i]->lost_hits)
            sp_buf_printf(b, "%llu hits", (unsigned long long)list[i]->lost_hits);
        if (list[i]->lost_frames)
            sp_buf_printf(b, "%s%llu frames of call stacks", list[i]->lost_hits ? " and " : "",
                          (unsigned long long)list[i]->lost_frames);
        sp_buf_printf(b, " in %.*s", (int)name.n, name.p);
    }
    if (n > TOLD_MAX)
        sp_buf_printf(b, "; and %zu more", n - TOLD_MAX);
    free(list);
    return list;
}

bool sp_spt_modules_report(const struct sp_spt_modules *m, struct sp_diags *d)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (!spt_say_lost(m, &b)) {
        sp_buf_free(&b);
        return false;
    }
    if (b.len)
        sp_emit(d, SP_L431, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    if (spt_used_names(m, SP_SPT_BY_OFFSETS, &b))
        sp_emit_hint(d, SP_W447, SP_AT_NOTHING,
                     "`--symfs DIR`, else `spaa symbolize FILE --symfs DIR -o OUT.spaa` before, makes them "
                     "RVAs of the files there",
                     "addresses that are offsets in a file that was not found: %s", sp_buf_cstr(&b));
    if (!m->from_spt && spt_used_names(m, SP_SPT_BY_NAME, &b))
        sp_emit(d, SP_W447, SP_AT_NOTHING, "no build-id: %s", sp_buf_cstr(&b));
    if (!m->from_spt && spt_used_names(m, SP_SPT_BY_BUILD_ID, &b))
        sp_emit(d, SP_I452, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    bool ok = !b.failed;
    sp_buf_free(&b);
    return ok;
}
