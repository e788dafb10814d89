/*
 * The tables of a file in numbers: ids, mappings, locations with their lines, functions.
 *
 * They are gone through once, in the order of the file, which is quicker than where a sample first needs
 * each. What is not coded as it mostly is, or refers to something that is not there, is left for then, and is
 * reported only if it is needed.
 */
#include "formats/pprof/pprof.h"

#define AHEAD ((size_t)1 << 20) /* locations or functions that there is room made for */

/* The fields of a message that are numbers, by their own number, and the lines of a location. */
#define LINES  16u
#define FIELDS 10u
struct numbers {
    uint64_t v[FIELDS + 1];
    unsigned nlines;
    struct sp_pp_slice lines[LINES];
};

/*
 * All fields, where they are numbers up to `fields` and lines (field 4), in the usual coding. False: it takes
 * a cursor.
 */
PP_INLINE bool numbers(const struct sp_pp *pp, struct sp_pp_slice s, unsigned fields, bool lines,
                       struct numbers *x, sp_pp_number *number)
{
    const unsigned char *p = s.p, *end = s.p + s.n;
    for (unsigned i = 0; i <= fields; i++)
        x->v[i] = 0;
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
        size_t n = number(p, &v);
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

static bool begin_ids(struct sp_pp_ids *x, size_t n)
{
    x->ndense = n < UINT32_MAX / 4 ? 2 * n + 64 : UINT32_MAX / 2;
    x->dense = calloc(x->ndense, sizeof *x->dense);
    x->ids = calloc(n + 1, sizeof *x->ids);
    return x->dense && x->ids;
}

/* The id of number i; false: out of memory. */
static bool add_id(struct sp_pp *pp, struct sp_pp_ids *x, uint32_t i, uint64_t id, struct sp_pp_slice s,
                   const char *what)
{
    x->ids[i] = id;
    if (id && id < x->ndense && !x->dense[id]) {
        x->dense[id] = i + 1;
        return true;
    }
    if (!id || sp_pp_ids_find(x, id) != SP_NONE) {
        sp_emit(pp->d, id ? SP_W725 : SP_L722, sp_pp_at(pp, s.p),
                id ? "a second %s %llu; the first one counts" : "a %s without an id (%llu)", what,
                (unsigned long long)id);
        return true;
    }
    return sp_map_add(&x->map, id_hash(id), i);
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

static spaa_status read_mapping(struct sp_pp *pp, uint32_t number)
{
    const struct sp_pp_slice s = pp->mappings.list.v[number];
    struct sp_pp_mapping m = {.dso = SP_NONE};
    struct numbers x;
    if (!add_id(pp, &pp->mapping_ids, number, id_of(pp, s), s, "mapping"))
        return sp_nomem(pp->d);
    read_numbers(pp, s, FIELDS, "a mapping", &x);
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
        if (!sp_pp_is_linked(&m))
            dso.more = sp_profile_cstr(pp->p, PP_FILE_OFFSETS);
        m.dso = dso.more == SP_STR_FAIL ? SP_NONE : sp_dso_intern(pp->p, &dso);
    } else {
        m.dso = pp->unknown_dso;
    }
    if (m.dso == SP_NONE || !sp_vec_push(&pp->maps.list, m))
        return sp_nomem(pp->d);
    return SPAA_OK;
}

static struct sp_pp_line line_of(const struct sp_pp *pp, const struct numbers *x)
{
    return (struct sp_pp_line){.function = sp_pp_ids_find(&pp->function_ids, x->v[1]),
                               .text = SP_STR_FAIL,
                               .line = (int64_t)x->v[2],
                               .column = (int64_t)x->v[3]};
}

/* The same with a cursor, behind the others of its location, which begin at `first`. */
static bool read_line(struct sp_pp *pp, struct sp_pp_slice s, size_t first)
{
    struct numbers x;
    read_numbers(pp, s, 3, "a line", &x);
    struct sp_pp_line line = line_of(pp, &x);
    if (line.function == SP_NONE) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, sp_pp_at(pp, s.p), "a line in function %llu", (unsigned long long)x.v[1]);
        return true;
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

/* A location in the usual coding, of which nothing must be reported; *id is its own. */
PP_INLINE bool read_location(struct sp_pp *pp, struct sp_pp_slice s, struct sp_pp_location *out, uint64_t *id,
                             sp_pp_number *number)
{
    struct numbers x, line;
    const size_t first = pp->lines.n;
    if (!numbers(pp, s, 5, true, &x, number) || first + x.nlines >= SP_NONE ||
        !sp_vec_reserve(&pp->lines, first + x.nlines))
        return false;
    *id = x.v[1];
    if (x.v[2] && (out->mapping = sp_pp_ids_find(&pp->mapping_ids, x.v[2])) == SP_NONE)
        return false;
    for (unsigned i = 0; i < x.nlines; i++) {
        if (!numbers(pp, x.lines[i], 3, false, &line, number))
            return false;
        pp->lines.v[first + i] = line_of(pp, &line);
        if (pp->lines.v[first + i].function == SP_NONE)
            return false;
    }
    pp->lines.n += x.nlines;
    out->address = x.v[3];
    out->folded = x.v[5];
    out->line = (uint32_t)first;
    out->nlines = x.nlines;
    return true;
}

PP_INLINE bool read_locations(struct sp_pp *pp, sp_pp_number *number)
{
    const struct sp_pp_slice *s = pp->locations.list.v;
    bool ok = true;
    for (uint32_t i = 0; ok && i < pp->locations.list.n; i++) {
        struct sp_pp_location *out = &pp->locs[i];
        uint64_t id = 0;
        *out = (struct sp_pp_location){.mapping = SP_NONE, .first = SP_NONE};
        out->plain = read_location(pp, s[i], out, &id, number);
        ok = add_id(pp, &pp->location_ids, i, out->plain ? id : id_of(pp, s[i]), s[i], "location");
    }
    return ok;
}

PP_INLINE bool read_functions(struct sp_pp *pp, sp_pp_number *number)
{
    const struct sp_pp_slice *s = pp->functions.list.v;
    struct numbers x;
    bool ok = true;
    for (uint32_t i = 0; ok && i < pp->functions.list.n; i++) {
        struct sp_pp_function *out = &pp->fns[i];
        *out = (struct sp_pp_function){.interned = SP_NONE, .more = SP_STR_FAIL};
        out->plain = numbers(pp, s[i], 5, false, &x, number);
        uint64_t id = out->plain ? x.v[1] : id_of(pp, s[i]);
        for (unsigned k = 0; out->plain && k < PP_TEXTS; k++) {
            out->plain = x.v[2 + k] < pp->strings.n || !x.v[2 + k];
            out->texts[k] = (uint32_t)x.v[2 + k];
        }
        out->start_line = out->plain ? (int64_t)x.v[5] : 0;
        ok = add_id(pp, &pp->function_ids, i, id, s[i], "function");
    }
    return ok;
}

#ifdef PP_NEEDED
PP_NEEDED static bool read_quickly(struct sp_pp *pp)
{
    return read_functions(pp, sp_pp_number_quick) && read_locations(pp, sp_pp_number_quick);
}
#endif

static bool read_both(struct sp_pp *pp)
{
#ifdef PP_NEEDED
    if (pp->shapes.usable)
        return read_quickly(pp);
#endif
    return read_functions(pp, sp_wire_varint_word) && read_locations(pp, sp_wire_varint_word);
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

/* A table for ids that are dense; others are read slowly. */
static bool shorts_begin(struct sp_pp *pp)
{
    size_t ids = pp->location_ids.ndense;
    pp->nshorts = ids < UINT32_MAX ? ids : UINT32_MAX;
    pp->shorts = calloc(pp->nshorts, sizeof *pp->shorts);
    pp->ready = calloc(pp->nshorts, sizeof *pp->ready);
    return pp->shorts && pp->ready;
}

static bool read_tables(struct sp_pp *pp)
{
    size_t nlocations = pp->locations.list.n, nfunctions = pp->functions.list.n;
    pp->locs = malloc((nlocations + 1) * sizeof *pp->locs);
    pp->fns = malloc((nfunctions + 1) * sizeof *pp->fns);
    return pp->locs && pp->fns && sp_vec_reserve(&pp->lines, nlocations) &&
           begin_ids(&pp->location_ids, nlocations) && begin_ids(&pp->function_ids, nfunctions) &&
           read_both(pp);
}

/* Room ahead for what most locations give: growing is moving it. */
static bool make_room(struct sp_pp *pp)
{
    struct sp_profile *p = pp->p;
    size_t lines = pp->lines.n > pp->locations.list.n ? pp->lines.n : pp->locations.list.n;
    size_t functions = pp->functions.list.n < AHEAD ? pp->functions.list.n : AHEAD;
    lines = lines < AHEAD ? lines : AHEAD;
    return sp_vec_reserve(&p->frames, lines) && sp_map_grow(&p->frame_map, lines) &&
           sp_vec_reserve(&p->functions, functions) && sp_map_grow(&p->function_map, functions) &&
           sp_vec_reserve(&p->strs.strs, lines + functions) && sp_map_grow(&p->strs.map, lines + functions) &&
           sp_vec_reserve(&pp->loc_frames, lines);
}

spaa_status sp_pp_tables(struct sp_pp *pp)
{
    struct sp_dso unknown = {.name = sp_profile_cstr(pp->p, "[unknown]")};
    pp->unknown_dso = unknown.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(pp->p, &unknown);
    pp->maps.unknown = pp->unknown_dso;
    sp_pp_shapes(&pp->shapes);
    if (pp->unknown_dso == SP_NONE || !sp_pp_path_begin(&pp->path) ||
        !begin_ids(&pp->mapping_ids, pp->mappings.list.n))
        return sp_nomem(pp->d);
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < pp->mappings.list.n; i++)
        st = read_mapping(pp, i);
    if (!st && (!read_tables(pp) || !make_room(pp) || !sp_pp_texts(pp) || !shorts_begin(pp) ||
                !sp_pp_mappings_index(&pp->maps, pp->p->dsos.n) || !sp_pp_frames_ahead(pp)))
        st = sp_nomem(pp->d);
    return st;
}
