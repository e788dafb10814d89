/*
 * Where a DSO stood when it was recorded, and what its ips are: "x_spaa" of its record,
 *
 *     {"ip":"file_offset","base":"0x…","text":"0x…","symbol":"_stext","map":{"offset":"0x…","size":"0x…"},
 *      "doubtful":true}
 *
 * Earlier versions wrote it under the name of the format that was read. An object that says anything else is
 * not ours: it stays what it is, a member that is kept.
 */
#include "base/num.h"
#include "formats/spaa/read.h"
#include "json/json.h"

#include <stdlib.h>

static bool place_hex(struct sp_json *j, uint64_t *out)
{
    struct sp_span s;
    return sp_json_string_value(j, &s) && s.n > 2 && sp_parse_0x(s.p, s.n, out);
}

static bool place_map(struct sp_json *j, struct sp_dso_place *at)
{
    if (sp_json_type(j) != SP_JSON_OBJECT || !sp_json_object(j))
        return false;
    for (struct sp_span key; sp_json_key(j, &key);) {
        uint64_t *out = sp_span_is(key, "offset") ? &at->map_offset
                        : sp_span_is(key, "size") ? &at->map_size
                                                  : NULL;
        if (!out || !place_hex(j, out))
            return false;
    }
    return at->map_size;
}

static bool place_member(struct sp_json *j, struct sp_span key, struct sp_dso *dso)
{
    struct sp_dso_place *at = &dso->place;
    struct sp_span s;
    if (sp_span_is(key, "doubtful"))
        return sp_json_type(j) == SP_JSON_TRUE && sp_json_bool(j, &dso->doubtful);
    if (sp_span_is(key, "map"))
        return place_map(j, at);
    if (sp_span_is(key, "base"))
        return place_hex(j, &at->base) && at->base;
    if (sp_span_is(key, "text"))
        return place_hex(j, &at->text);
    if (sp_json_type(j) != SP_JSON_STRING)
        return false;
    if (sp_span_is(key, "ip")) {
        at->ips = SP_DSO_FILE_OFFSET;
        return sp_json_string_value(j, &s) && sp_span_is(s, "file_offset");
    }
    if (!sp_span_is(key, "symbol") || !sp_json_string_value(j, &s))
        return false;
    at->symbol = sp_span_is(s, "_text")    ? SP_TEXT_TEXT
                 : sp_span_is(s, "_stext") ? SP_TEXT_STEXT
                                           : SP_TEXT_UNTOLD;
    return at->symbol != SP_TEXT_UNTOLD;
}

/* False: the object says something else. */
static bool place_read(struct sp_span text, struct sp_dso *dso)
{
    struct sp_json j;
    bool ours = true;
    sp_json_init(&j, text.p, text.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        for (struct sp_span key; ours && sp_json_key(&j, &key);)
            ours = place_member(&j, key, dso);
    ours = ours && sp_json_end(&j);
    sp_json_free(&j);
    return ours;
}

bool sp_take_place(struct reader *r, const struct sp_rec *rec, struct sp_dso *out)
{
    static const char *const names[] = {"x_spaa", "x_perf", "x_gperftools", "x_jemalloc", "x_pprof"};
    static const struct sp_dso_place nothing;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sp_odd *own = sp_own(r, rec, names[i]);
        struct sp_dso at = {0};
        if (!own)
            continue;
        struct sp_span text = sp_clean_text(r, &own->value);
        if (!text.p)
            return false;
        if (place_read(text, &at) && (at.doubtful || memcmp(&at.place, &nothing, sizeof nothing) != 0)) {
            own->what |= SP_ODD_USED;
            out->place = at.place;
            out->doubtful = at.doubtful;
            return true;
        }
    }
    return true;
}

/* Names that the file has of binaries that may be other builds: who looked them up was told, who reads them
 * is. */
bool sp_say_doubtful(struct reader *r)
{
    enum { TOLD_MAX = 5 };
    const struct sp_profile *p = r->p;
    unsigned char *named = calloc(p->dsos.n + 1, 1);
    size_t n = 0;
    if (!named)
        return sp_no_memory(r);
    for (size_t i = 0; i < p->frames.n; i++)
        if (!(p->frames.v[i].flags & SP_FRAME_UNRESOLVED))
            named[sp_frame_function(p, (uint32_t)i)->dso] = 1;
    for (uint32_t i = 0; i < p->dsos.n; i++)
        if (named[i] && p->dsos.v[i].doubtful && n++ < TOLD_MAX)
            sp_emit(r->d, SP_W809, SP_AT_NOTHING, "%s", sp_pstr(p, p->dsos.v[i].name).p);
    if (n > TOLD_MAX)
        sp_emit(r->d, SP_W809, SP_AT_NOTHING, "%zu more files", n - TOLD_MAX);
    free(named);
    return true;
}
