/*
 * Mappings as DSOs, locations as frames.
 *
 * A location is one frame for each of its lines, the innermost inlined function first; without lines it is
 * one frame named by its address. The ip is the offset in the mapped file, address - memory_start +
 * file_offset, which no run changes; without a named mapping it is the address. What the tables of a profile
 * do not say and a writer needs stands under x_pprof of the frame: see docs/pprof.md.
 */
#include "base/num.h"
#include "formats/pprof/pprof.h"

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

/* A table for ids that are dense; others are read slowly. */
static bool shorts_begin(struct sp_pp *pp)
{
    size_t ids = pp->location_ids.ndense;
    pp->nshorts = ids < UINT32_MAX ? ids : UINT32_MAX;
    pp->shorts = calloc(pp->nshorts, sizeof *pp->shorts);
    return pp->shorts;
}

spaa_status sp_pp_frames_begin(struct sp_pp *pp)
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
    if (st)
        return st;
    pp->locs = malloc((pp->locations.list.n + 1) * sizeof *pp->locs);
    pp->fns = calloc(pp->functions.list.n + 1, sizeof *pp->fns);
    if (!pp->locs || !pp->fns || !shorts_begin(pp) || !sp_pp_path_begin(&pp->path) ||
        !sp_pp_mappings_index(&pp->maps, pp->p->dsos.n))
        return sp_nomem(pp->d);
    for (size_t i = 0; i < pp->locations.list.n; i++)
        pp->locs[i] = (struct sp_pp_location){SP_NONE, 0};
    return SPAA_OK;
}

/* A location in work: what its frames share. */
struct location {
    uint64_t address;
    uint32_t mapping, dso; /* mapping: SP_NONE: none */
    uint64_t ip;
    bool has_ip, folded;
    bool explicit_mapping, explicit_address; /* they do not follow from DSO and ip */
    uint8_t kind;
};

static void place(struct sp_pp *pp, struct location *l)
{
    const struct sp_pp_mapping *m = l->mapping == SP_NONE ? NULL : &pp->maps.list.v[l->mapping];
    l->dso = m ? m->dso : pp->unknown_dso;
    l->kind = l->dso == pp->unknown_dso ? SP_UNKNOWN : pp->p->dsos.v[l->dso].is_kernel ? SP_KERNEL : SP_USER;
    l->has_ip = l->address && pp->opts->frames != SP_FRAMES_LINE && pp->opts->frames != SP_FRAMES_FUNCTION;
    if (l->address && m && l->dso != pp->unknown_dso) {
        uint64_t in = l->address - m->start;
        bool inside = l->address >= m->start && (!m->limit || l->address < m->limit) &&
                      !__builtin_add_overflow(in, m->offset, &l->ip);
        if (!inside) {
            l->ip = l->address;
            l->explicit_address = true;
        }
    } else {
        l->ip = l->address;
    }
    l->explicit_mapping =
        l->explicit_address || sp_pp_mapping_guess(&pp->maps, l->dso, l->address != 0, l->ip) != l->mapping;
}

/* What a writer cannot derive: members of "x_pprof" for the outermost frame or any other one. */
struct extra {
    struct sp_str name, system_name; /* p NULL: as the frame's name */
    int64_t start_line, line, column;
    bool has_line;
    struct sp_str file; /* p NULL: as the srcline says */
};

static void member(struct sp_buf *b, const char *key)
{
    if (b->len && b->data[b->len - 1] != '{')
        sp_buf_ch(b, ',');
    sp_buf_ch(b, '"');
    sp_buf_puts(b, key);
    sp_buf_puts(b, "\":");
}

static uint32_t more_of(struct sp_pp *pp, const struct location *l, bool outermost, const struct extra *x)
{
    struct sp_buf *b = &pp->text2;
    static const char open[] = "\"x_pprof\":{";
    char t[16];
    sp_buf_clear(b);
    sp_buf_puts(b, open);
    if (x->name.p) {
        member(b, "name");
        sp_pp_json(b, x->name);
    }
    if (x->system_name.p) {
        member(b, "system_name");
        sp_pp_json(b, x->system_name);
    }
    if (x->start_line) {
        member(b, "start_line");
        sp_buf_i64(b, x->start_line);
    }
    if (x->file.p) {
        member(b, "file");
        sp_pp_json(b, x->file);
    }
    if (x->has_line) {
        member(b, "line");
        sp_buf_printf(b, "[%lld,%lld]", (long long)x->line, (long long)x->column);
    }
    if (outermost && l->has_ip && l->explicit_address) {
        member(b, "address");
        sp_buf_puts(b, "\"0x");
        sp_buf_add(b, t, sp_hex_text(l->address, t));
        sp_buf_ch(b, '"');
    }
    if (outermost && l->explicit_mapping) {
        member(b, "mapping");
        sp_buf_u64(b, l->mapping == SP_NONE ? 0 : (uint64_t)l->mapping + 1);
    }
    if (outermost && l->folded) {
        member(b, "folded");
        sp_buf_puts(b, "true");
    }
    if (b->failed)
        return SP_STR_FAIL;
    if (b->len == sizeof open - 1)
        return SP_STR_NONE;
    return sp_buf_ch(b, '}') ? sp_profile_str(pp->p, b->data, b->len) : SP_STR_FAIL;
}

/* "file:line:column" into pp->text; what does not read back goes to x. */
static void srcline(struct sp_pp *pp, struct sp_str file, const struct sp_pp_line *ln, struct extra *x)
{
    struct sp_buf *b = &pp->text;
    int64_t line, column;
    char t[2 * 21];
    size_t n = 0;
    if (file.n && ln->line > 0) {
        t[n++] = ':';
        n += sp_u64_text((uint64_t)ln->line, t + n);
        if (ln->column > 0) {
            t[n++] = ':';
            n += sp_u64_text((uint64_t)ln->column, t + n);
        }
    }
    sp_buf_clear(b);
    sp_buf_add(b, file.p, file.n);
    sp_buf_add(b, t, n);
    if (b->failed || (n && ln->column >= 0 && !(file.p[file.n - 1] >= '0' && file.p[file.n - 1] <= '9')))
        return; /* it reads back: no number ends the file's name */
    n = sp_pp_srcline((struct sp_str){b->data, (uint32_t)b->len}, &line, &column);
    if (n != file.n)
        x->file = file;
    if (line != ln->line || column != ln->column) {
        x->has_line = true;
        x->line = ln->line;
        x->column = ln->column;
    }
}

static bool read_function(struct sp_pp *pp, struct sp_pp_slice s, struct sp_pp_function *out)
{
    struct numbers x;
    uint64_t odd = pp->odd, dangling = pp->dangling;
    bool whole = numbers(pp, s, 5, false, &x) || read_numbers(pp, s, 5, "a function", &x);
    uint64_t name = x.v[2], system_name = x.v[3], file = x.v[4];
    *out = (struct sp_pp_function){.interned = SP_NONE, .more = SP_STR_FAIL, .start_line = (int64_t)x.v[5]};
    struct sp_str text = sp_pp_text(pp, name), other = sp_pp_text(pp, system_name);
    out->has_name = text.n;
    out->named = text.n || other.n;
    if (!sp_pp_same(other, text))
        out->system_name = other;
    out->file = sp_pp_text(pp, file);
    if (out->named)
        out->name = sp_pp_str(pp, text.n ? name : system_name);
    out->read = whole && pp->odd == odd && pp->dangling == dangling;
    return out->name != SP_STR_FAIL;
}

static bool add_frame(struct sp_pp *pp, struct sp_frame *f)
{
    if (f->more == SP_STR_FAIL || f->srcline == SP_STR_FAIL || f->function == SP_NONE)
        return false;
    uint32_t number = sp_frame_intern(pp->p, f);
    return number != SP_NONE && sp_vec_push(&pp->loc_frames, number);
}

/* The function of what has no name but its address. */
static uint32_t address_function(struct sp_pp *pp, uint64_t ip, uint32_t dso)
{
    char t[2 + 16] = "0x";
    uint32_t name = sp_profile_str(pp->p, t, 2 + sp_hex_text(ip, t + 2));
    return name == SP_STR_FAIL ? SP_NONE : sp_function_intern(pp->p, name, dso);
}

static uint32_t line_function(struct sp_pp *pp, struct sp_pp_function *fn, const struct location *l)
{
    if (!fn->named)
        return address_function(pp, l->ip, l->dso);
    if (fn->interned == SP_NONE || fn->dso != l->dso) {
        fn->dso = l->dso;
        fn->interned = sp_function_intern(pp->p, fn->name, l->dso);
    }
    return fn->interned;
}

static uint32_t line_more(struct sp_pp *pp, struct sp_pp_function *fn, const struct location *l,
                          bool outermost, struct extra *x)
{
    bool alone =
        x->file.p || x->has_line || (outermost && (l->explicit_address || l->explicit_mapping || l->folded));
    if (!alone && fn->more != SP_STR_FAIL)
        return fn->more;
    if (!fn->has_name)
        x->name = (struct sp_str){"", 0};
    x->system_name = fn->system_name;
    x->start_line = fn->start_line;
    uint32_t more = more_of(pp, l, outermost, x);
    if (!alone)
        fn->more = more;
    return more;
}

static bool line_frame(struct sp_pp *pp, const struct location *l, const struct sp_pp_line *ln,
                       uint32_t depth)
{
    struct extra x = {0};
    struct sp_frame f = {.kind = l->kind, .inline_depth = depth};
    struct sp_pp_function *fn = &pp->fns[ln->function];
    if (!fn->read && !read_function(pp, pp->functions.list.v[ln->function], fn))
        return false;
    f.function = line_function(pp, fn, l);
    if (!fn->named)
        f.flags |= SP_FRAME_UNRESOLVED;
    srcline(pp, fn->file, ln, &x);
    if (pp->text.failed)
        return false;
    if (pp->opts->frames != SP_FRAMES_FUNCTION) {
        if (pp->text.len)
            f.srcline = sp_profile_str(pp->p, pp->text.data, pp->text.len);
        f.more = line_more(pp, fn, l, depth == 0, &x);
    }
    if (l->has_ip) {
        f.ip = l->ip;
        f.flags |= SP_FRAME_IP;
    }
    if (depth)
        f.flags |= SP_FRAME_INLINED;
    return add_frame(pp, &f);
}

static bool bare_frame(struct sp_pp *pp, const struct location *l)
{
    struct extra x = {0};
    struct sp_frame f = {.kind = l->kind, .flags = SP_FRAME_UNRESOLVED};
    if (l->has_ip) {
        f.ip = l->ip;
        f.flags |= SP_FRAME_IP;
    }
    if (pp->opts->frames != SP_FRAMES_FUNCTION)
        f.more = more_of(pp, l, true, &x);
    f.function = address_function(pp, l->ip, l->dso);
    return add_frame(pp, &f);
}

static bool read_line(struct sp_pp *pp, struct sp_pp_slice s)
{
    struct numbers x;
    if (!numbers(pp, s, 3, false, &x))
        read_numbers(pp, s, 3, "a line", &x);
    struct sp_pp_line ln = {.function = x.v[1], .line = (int64_t)x.v[2], .column = (int64_t)x.v[3]};
    uint32_t number = sp_pp_ids_find(&pp->function_ids, ln.function);
    if (number == SP_NONE) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, sp_pp_at(pp, s.p), "a line in function %llu",
                (unsigned long long)ln.function);
        return true;
    }
    if (pp->lines.n >= PP_LINES_MAX) {
        if (pp->lines.n == PP_LINES_MAX)
            sp_emit(pp->d, SP_L723, sp_pp_at(pp, s.p), "a location with more than %u inlined functions",
                    PP_LINES_MAX);
        return true;
    }
    ln.function = number;
    return sp_vec_push(&pp->lines, ln);
}

static void set_short(struct sp_pp *pp, uint32_t number)
{
    const struct sp_pp_location *l = &pp->locs[number];
    const uint32_t *f = pp->loc_frames.v + l->first;
    uint64_t id = pp->location_ids.ids[number];
    bool row = id < pp->nshorts && l->n <= PP_SHORT_MAX && f[l->n - 1] <= UINT32_MAX >> PP_SHORT_BITS;
    for (uint32_t k = 1; row && k < l->n; k++)
        row = f[k] == f[0] + k;
    if (row)
        pp->shorts[id] = f[l->n - 1] << PP_SHORT_BITS | l->n * (uint32_t)sizeof *f;
}

/* The parts of a location in the usual way, its lines into pp->lines. */
static bool read_location(struct sp_pp *pp, struct sp_pp_slice s, struct numbers *x)
{
    struct sp_wire w = sp_wire_of(s.p, s.n);
    memset(x->v, 0, sizeof x->v);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number == 4 && f.type == SP_WIRE_BYTES) {
            if (!read_line(pp, (struct sp_pp_slice){f.p, f.n}))
                return false;
        } else if (f.type != SP_WIRE_VARINT || f.number > 5) {
            pp->odd++;
        } else {
            x->v[f.number] = f.v;
        }
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "in a location: %s", w.error);
    return true;
}

bool sp_pp_location_read(struct sp_pp *pp, uint32_t number)
{
    struct sp_pp_slice s = pp->locations.list.v[number];
    struct location l = {.mapping = SP_NONE};
    struct numbers x;
    bool ok = true;
    pp->lines.n = 0;
    if (numbers(pp, s, 5, true, &x)) {
        for (unsigned i = 0; ok && i < x.nlines; i++)
            ok = read_line(pp, x.lines[i]);
    } else {
        ok = read_location(pp, s, &x);
    }
    if (!ok)
        return false;
    uint64_t mapping = x.v[2];
    l.address = x.v[3];
    l.folded = x.v[5];
    if (mapping && (l.mapping = sp_pp_ids_find(&pp->mapping_ids, mapping)) == SP_NONE) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, sp_pp_at(pp, s.p), "a location in mapping %llu", (unsigned long long)mapping);
    }
    place(pp, &l);
    uint32_t first = (uint32_t)pp->loc_frames.n, n = (uint32_t)pp->lines.n;
    if (pp->loc_frames.n >= SP_NONE - PP_LINES_MAX)
        return false;
    ok = n || bare_frame(pp, &l);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = line_frame(pp, &l, &pp->lines.v[i], n - 1 - i);
    if (!ok)
        return false;
    pp->locs[number] = (struct sp_pp_location){first, n ? n : 1};
    set_short(pp, number);
    pp->used++;
    return true;
}
