/*
 * The tables of a file in numbers: ids, mappings, locations with their lines, functions.
 *
 * They are gone through once, in the order of the file, which is quicker than where a sample first needs
 * each. What is not coded as it mostly is, or refers to something that is not there, is left for then, and is
 * reported only if it is needed.
 */
#include "formats/pprof/pprof.h"

#define AHEAD    ((size_t)1 << 20) /* locations or functions that there is room made for */
#define TOGETHER 64u               /* locations that are read together */

/* The fields of a message that are numbers, by their own number, and the lines of a location. */
#define LINES 16u
struct numbers {
    uint64_t v[11];
    unsigned nlines;
    struct sp_pp_slice lines[LINES];
};

/*
 * All fields, where they are numbers up to `fields` and lines (field 4), in the usual coding. False: it takes
 * a cursor.
 */
static bool numbers(const struct sp_pp *pp, struct sp_pp_slice s, unsigned fields, bool lines,
                    struct numbers *x)
{
    const unsigned char *p = s.p, *end = s.p + s.n;
    memset(x->v, 0, sizeof x->v);
    x->nlines = 0;
    if ((size_t)(pp->in + pp->n - end) < 16) /* whole words are loaded */
        return false;
    while (p < end) {
        unsigned tag = *p++;
        if (tag == (4 << 3 | SP_WIRE_BYTES) && lines && x->nlines < LINES && *p <= end - p - 1 && *p < 0x80) {
            x->lines[x->nlines++] = (struct sp_pp_slice){p + 1, *p};
            p += 1 + *p;
            continue;
        }
        uint64_t v = 0;
        size_t n = sp_wire_varint_word(p, &v);
        if (tag & 7 || tag >> 3 > fields || tag < 8 || !n || n > (size_t)(end - p))
            return false;
        x->v[tag >> 3] = v;
        p += n;
    }
    return true;
}

/* The same with a cursor, which reports what is wrong; false: something is. */
static bool read_numbers(struct sp_pp *pp, struct sp_pp_slice s, unsigned fields, const char *what,
                         struct numbers *x)
{
    struct sp_wire w = sp_wire_of(s.p, s.n);
    memset(x->v, 0, sizeof x->v);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.type != SP_WIRE_VARINT || f.number > fields)
            pp->odd++;
        else
            x->v[f.number] = f.v;
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "in %s: %s", what, w.error);
    return !w.error;
}

/* The field 1, an id, of each message. */
static uint64_t id_of(const struct sp_pp *pp, struct sp_pp_slice s)
{
    struct sp_wire w = sp_wire_of(s.p, s.n);
    uint64_t id = 0;
    if (s.n >= 2 && s.p[0] == (1 << 3 | SP_WIRE_VARINT) && (size_t)(pp->in + pp->n - s.p) >= 16) {
        size_t n = sp_wire_varint_word(s.p + 1, &id);
        if (n && n < s.n)
            return id;
    }
    id = 0;
    for (struct sp_wire_field f; sp_wire_next(&w, &f);)
        if (f.number == 1 && f.type == SP_WIRE_VARINT) {
            id = f.v;
            break;
        }
    return id;
}

static uint64_t id_hash(uint64_t id)
{
    return sp_hash_mix(id, 7);
}

uint32_t sp_pp_ids_find(const struct sp_pp_ids *ids, uint64_t id)
{
    if (id < ids->ndense)
        return ids->dense[id] - 1; /* 0: SP_NONE */
    struct sp_probe at = sp_map_probe(&ids->map, id_hash(id));
    for (uint32_t i; (i = sp_map_next(&ids->map, &at)) != SP_MAP_NONE;)
        if (ids->ids[i] == id)
            return i;
    return SP_NONE;
}

void sp_pp_ids_free(struct sp_pp_ids *ids)
{
    free(ids->dense);
    free(ids->ids);
    sp_map_free(&ids->map);
}

static spaa_status index_ids(struct sp_pp *pp, const struct sp_pp_slices *s, const char *what,
                             struct sp_pp_ids *out)
{
    size_t n = s->list.n;
    out->ndense = n < UINT32_MAX / 4 ? 2 * n + 64 : UINT32_MAX / 2;
    out->dense = calloc(out->ndense, sizeof *out->dense);
    out->ids = calloc(n + 1, sizeof *out->ids);
    if (!out->dense || !out->ids)
        return sp_nomem(pp->d);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = out->ids[i] = id_of(pp, s->list.v[i]);
        if (!id || sp_pp_ids_find(out, id) != SP_NONE) {
            sp_emit(pp->d, id ? SP_W725 : SP_L722, sp_pp_at(pp, s->list.v[i].p),
                    id ? "a second %s %llu; the first one counts" : "a %s without an id (%llu)", what,
                    (unsigned long long)id);
            continue;
        }
        if (id < out->ndense)
            out->dense[id] = i + 1;
        else if (!sp_map_add(&out->map, id_hash(id), i))
            return sp_nomem(pp->d);
    }
    return SPAA_OK;
}

static bool starts(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool is_kernel(struct sp_str file)
{
    return starts(file, "[kernel") || starts(file, "[guest.kernel") ||
           (file.n > 3 && memcmp(file.p + file.n - 3, ".ko", 3) == 0);
}

static spaa_status read_mapping(struct sp_pp *pp, struct sp_pp_slice s)
{
    struct sp_pp_mapping m = {.dso = SP_NONE};
    struct numbers x;
    read_numbers(pp, s, 10, "a mapping", &x);
    m.start = x.v[2];
    m.limit = x.v[3];
    m.offset = x.v[4];
    for (unsigned k = 0; k < 4; k++)
        m.has |= (uint8_t)((x.v[7 + k] != 0) << k);
    m.file = sp_pp_str(pp, x.v[5]);
    m.build_id = sp_pp_str(pp, x.v[6]);
    if (m.file == SP_STR_FAIL || m.build_id == SP_STR_FAIL)
        return sp_nomem(pp->d);
    struct sp_str name = sp_pstr(pp->p, m.file);
    if (name.n && !sp_str_is(name, "[unknown]")) {
        struct sp_dso dso = {.name = m.file, .is_kernel = is_kernel(name)};
        if (sp_pp_is_build_id(sp_pstr(pp->p, m.build_id)))
            dso.build_id = m.build_id;
        dso.more = sp_profile_cstr(pp->p, "\"x_pprof\":{\"ip\":\"file_offset\"}");
        m.dso = dso.more == SP_STR_FAIL ? SP_NONE : sp_dso_intern(pp->p, &dso);
    } else {
        m.dso = pp->unknown_dso;
    }
    if (m.dso == SP_NONE || !sp_vec_push(&pp->maps.list, m))
        return sp_nomem(pp->d);
    return SPAA_OK;
}

/* A line as the file says; false: of another coding, or of no function. */
static bool plain_line(const struct sp_pp *pp, struct sp_pp_slice s, struct sp_pp_line *out)
{
    struct numbers x;
    if (!numbers(pp, s, 3, false, &x))
        return false;
    *out = (struct sp_pp_line){.function = sp_pp_ids_find(&pp->function_ids, x.v[1]),
                               .text = SP_STR_FAIL,
                               .line = (int64_t)x.v[2],
                               .column = (int64_t)x.v[3]};
    return out->function != SP_NONE;
}

/* The same with a cursor, behind the others of its location, which begin at `first`. */
static bool read_line(struct sp_pp *pp, struct sp_pp_slice s, size_t first)
{
    struct numbers x;
    struct sp_pp_line line;
    if (!plain_line(pp, s, &line)) {
        read_numbers(pp, s, 3, "a line", &x);
        line = (struct sp_pp_line){.function = sp_pp_ids_find(&pp->function_ids, x.v[1]),
                                   .text = SP_STR_FAIL,
                                   .line = (int64_t)x.v[2],
                                   .column = (int64_t)x.v[3]};
        if (line.function == SP_NONE) {
            pp->dangling++;
            sp_emit(pp->d, SP_L722, sp_pp_at(pp, s.p), "a line in function %llu", (unsigned long long)x.v[1]);
            return true;
        }
    }
    size_t n = pp->lines.n - first;
    if (n >= PP_LINES_MAX) {
        if (n == PP_LINES_MAX)
            sp_emit(pp->d, SP_L723, sp_pp_at(pp, s.p), "a location with more than %u inlined functions",
                    PP_LINES_MAX);
        return true;
    }
    return pp->lines.n < SP_NONE - 1 && sp_vec_push(&pp->lines, line);
}

static void read_plain_location(struct sp_pp *pp, struct sp_pp_slice s, struct sp_pp_location *out)
{
    struct numbers x;
    const size_t first = pp->lines.n;
    *out = (struct sp_pp_location){.mapping = SP_NONE, .first = SP_NONE};
    if (!numbers(pp, s, 5, true, &x) || first + x.nlines >= SP_NONE ||
        !sp_vec_reserve(&pp->lines, first + x.nlines))
        return;
    if (x.v[2] && (out->mapping = sp_pp_ids_find(&pp->mapping_ids, x.v[2])) == SP_NONE)
        return;
    for (unsigned i = 0; i < x.nlines; i++)
        if (!plain_line(pp, x.lines[i], &pp->lines.v[first + i]))
            return;
    pp->lines.n += x.nlines;
    out->address = x.v[3];
    out->folded = x.v[5];
    out->line = (uint32_t)first;
    out->nlines = x.nlines;
    out->plain = true;
}

static void read_plain_function(struct sp_pp *pp, struct sp_pp_slice s, struct sp_pp_function *out)
{
    struct numbers x;
    *out = (struct sp_pp_function){.interned = SP_NONE, .more = SP_STR_FAIL};
    if (!numbers(pp, s, 5, false, &x))
        return;
    out->plain = true;
    for (unsigned i = 0; i < PP_TEXTS; i++) {
        out->plain &= x.v[2 + i] < pp->strings.n || !x.v[2 + i];
        out->texts[i] = (uint32_t)x.v[2 + i];
    }
    out->start_line = (int64_t)x.v[5];
}

bool sp_pp_location_again(struct sp_pp *pp, uint32_t number)
{
    struct sp_pp_slice s = pp->locations.list.v[number];
    struct sp_pp_location *out = &pp->locs[number];
    struct sp_wire w = sp_wire_of(s.p, s.n);
    uint64_t v[6] = {0};
    *out = (struct sp_pp_location){.mapping = SP_NONE, .first = SP_NONE, .line = (uint32_t)pp->lines.n};
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number == 4 && f.type == SP_WIRE_BYTES) {
            if (!read_line(pp, (struct sp_pp_slice){f.p, f.n}, out->line))
                return false;
        } else if (f.type != SP_WIRE_VARINT || f.number > 5) {
            pp->odd++;
        } else {
            v[f.number] = f.v;
        }
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "in a location: %s", w.error);
    out->address = v[3];
    out->folded = v[5];
    out->nlines = (uint32_t)(pp->lines.n - out->line);
    if (v[2] && (out->mapping = sp_pp_ids_find(&pp->mapping_ids, v[2])) == SP_NONE) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, sp_pp_at(pp, s.p), "a location in mapping %llu", (unsigned long long)v[2]);
    }
    return true;
}

bool sp_pp_function_again(struct sp_pp *pp, uint32_t function)
{
    struct sp_pp_function *out = &pp->fns[function];
    struct numbers x;
    uint64_t odd = pp->odd, dangling = pp->dangling;
    bool whole = read_numbers(pp, pp->functions.list.v[function], 5, "a function", &x);
    for (unsigned i = 0; i < PP_TEXTS; i++) {
        sp_pp_text(pp, x.v[2 + i]); /* reports it */
        out->texts[i] = x.v[2 + i] < pp->strings.n ? (uint32_t)x.v[2 + i] : SP_NONE;
    }
    out->start_line = (int64_t)x.v[5];
    return whole && pp->odd == odd && pp->dangling == dangling;
}

/* What locations need, one step after the other, each asked for of all of them before the next. */
static void expect(const struct sp_pp *pp, const uint32_t *list, size_t n)
{
    const struct sp_pp_line *lines = pp->lines.v;
    for (size_t k = 0; k < n; k++)
        __builtin_prefetch(&lines[pp->locs[list[k]].line]);
    for (size_t k = 0; k < n; k++)
        if (pp->locs[list[k]].nlines)
            __builtin_prefetch(&pp->fns[lines[pp->locs[list[k]].line].function]);
    for (size_t k = 0; k < n; k++) {
        const struct sp_pp_location *l = &pp->locs[list[k]];
        if (l->nlines && l->mapping != SP_NONE)
            sp_function_expect(pp->p, pp->fns[lines[l->line].function].name, pp->maps.list.v[l->mapping].dso);
    }
}

bool sp_pp_locations_read(struct sp_pp *pp, const uint32_t *ids, size_t n)
{
    uint32_t list[TOGETHER];
    size_t found = 0, count = 0;
    while (n-- && found < TOGETHER) {
        uint32_t i = pp->shorts[ids[n]] ? SP_NONE : sp_pp_ids_find(&pp->location_ids, ids[n]);
        if (i == SP_NONE)
            continue;
        __builtin_prefetch(&pp->locs[i]);
        list[found++] = i;
    }
    for (size_t k = 0; k < found; k++) {
        struct sp_pp_location *l = &pp->locs[list[k]];
        if (l->first != SP_NONE || !l->plain)
            continue;
        l->first = 0; /* each once */
        list[count++] = list[k];
    }
    expect(pp, list, count);
    return !count || sp_pp_locations_frames(pp, list, count);
}

/* A table for ids that are dense; others are read slowly. */
static bool shorts_begin(struct sp_pp *pp)
{
    size_t ids = pp->location_ids.ndense;
    pp->nshorts = ids < UINT32_MAX ? ids : UINT32_MAX;
    pp->shorts = calloc(pp->nshorts, sizeof *pp->shorts);
    return pp->shorts;
}

static spaa_status read_tables(struct sp_pp *pp)
{
    size_t nlocations = pp->locations.list.n, nfunctions = pp->functions.list.n;
    pp->locs = malloc((nlocations + 1) * sizeof *pp->locs);
    pp->fns = malloc((nfunctions + 1) * sizeof *pp->fns);
    if (!pp->locs || !pp->fns || !sp_vec_reserve(&pp->lines, nlocations))
        return sp_nomem(pp->d);
    for (size_t i = 0; i < nfunctions; i++)
        read_plain_function(pp, pp->functions.list.v[i], &pp->fns[i]);
    for (size_t i = 0; i < nlocations; i++)
        read_plain_location(pp, pp->locations.list.v[i], &pp->locs[i]);
    return SPAA_OK;
}

/* Room ahead for what most locations give: growing is moving it. */
static bool make_room(struct sp_pp *pp)
{
    struct sp_profile *p = pp->p;
    size_t nlocations = pp->locations.list.n < AHEAD ? pp->locations.list.n : AHEAD;
    size_t nfunctions = pp->functions.list.n < AHEAD ? pp->functions.list.n : AHEAD;
    return sp_vec_reserve(&p->frames, nlocations) && sp_map_grow(&p->frame_map, nlocations) &&
           sp_vec_reserve(&p->functions, nfunctions) && sp_map_grow(&p->function_map, nfunctions) &&
           sp_vec_reserve(&p->strs.strs, nlocations + nfunctions) &&
           sp_map_grow(&p->strs.map, nlocations + nfunctions) && sp_vec_reserve(&pp->loc_frames, nlocations);
}

spaa_status sp_pp_tables(struct sp_pp *pp)
{
    struct sp_dso unknown = {.name = sp_profile_cstr(pp->p, "[unknown]")};
    spaa_status st = index_ids(pp, &pp->mappings, "mapping", &pp->mapping_ids);
    if (!st)
        st = index_ids(pp, &pp->locations, "location", &pp->location_ids);
    if (!st)
        st = index_ids(pp, &pp->functions, "function", &pp->function_ids);
    pp->unknown_dso = unknown.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(pp->p, &unknown);
    if (!st && pp->unknown_dso == SP_NONE)
        st = sp_nomem(pp->d);
    pp->maps.unknown = pp->unknown_dso;
    for (size_t i = 0; !st && i < pp->mappings.list.n; i++)
        st = read_mapping(pp, pp->mappings.list.v[i]);
    if (!st)
        st = read_tables(pp);
    if (!st && (!make_room(pp) || !sp_pp_texts(pp) || !shorts_begin(pp) || !sp_pp_path_begin(&pp->path) ||
                !sp_pp_mappings_index(&pp->maps, pp->p->dsos.n)))
        st = sp_nomem(pp->d);
    return st;
}
