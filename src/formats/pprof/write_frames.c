/*
 * Frames as locations: a physical frame with what is inlined into it is one, with a line for each. A frame
 * that is only an address is a location without lines, so that pprof can look for its symbol.
 */
#include "base/num.h"
#include "formats/common/text/srcline.h"
#include "formats/pprof/write.h"
#include "json/find.h"

static void pprof_read_extra(struct sp_pw *w, struct sp_json *j, struct sp_span key, struct sp_pw_extra *x)
{
    struct sp_span s, raw;
    enum sp_json_type is = sp_json_type(j);
    struct sp_str *text = sp_span_is(key, "name")          ? &x->name
                          : sp_span_is(key, "system_name") ? &x->system_name
                          : sp_span_is(key, "file")        ? &x->file
                                                           : NULL;
    if (text && sp_pw_text_ahead(j)) {
        *text = sp_pw_text(w, j);
    } else if (is == SP_JSON_STRING && sp_span_is(key, "address") && sp_json_string_value(j, &s)) {
        x->has_address = sp_parse_0x(s.p, s.n, &x->address);
    } else if (is == SP_JSON_NUMBER && sp_span_is(key, "start_line") && sp_json_number(j, &s)) {
        if (sp_parse_i64(s.p, s.p + s.n, &x->start_line) != s.n)
            x->start_line = 0;
    } else if (is == SP_JSON_NUMBER && sp_span_is(key, "mapping")) {
        x->has_mapping = sp_json_u64(j, &x->mapping);
    } else if (is == SP_JSON_TRUE && sp_span_is(key, "folded")) {
        x->folded = sp_json_skip(j, &raw);
    } else if (is == SP_JSON_ARRAY && sp_span_is(key, "line")) {
        int64_t v[2] = {0};
        unsigned i = 0;
        sp_json_array(j);
        while (sp_json_item(j))
            if (sp_json_type(j) != SP_JSON_NUMBER || i > 1)
                sp_json_skip(j, &raw);
            else if (sp_json_number(j, &s) && sp_parse_i64(s.p, s.p + s.n, &v[i]) == s.n)
                i++;
        x->has_line = i == 2;
        x->line = v[0];
        x->column = v[1];
    } else {
        sp_json_skip(j, &raw);
    }
}

static void pprof_extra_of(struct sp_pw *w, uint32_t frame, struct sp_pw_extra *x)
{
    uint32_t more = w->p->frames.v[frame].extra_json;
    const struct sp_func_info *known = sp_frame_known(w->p, frame);
    *x = (struct sp_pw_extra){0};
    if (known && known->linkage) {
        struct sp_str linkage = sp_pstr(w->p, known->linkage);
        x->system_name = sp_pw_keep(w, (struct sp_span){linkage.p, linkage.n});
    }
    if (!more)
        return;
    struct sp_json j;
    struct sp_span key;
    struct sp_buf *b = &w->scratch;
    sp_pw_member(w, more, b);
    if (!b->len)
        return;
    sp_json_init(&j, b->data, b->len);
    if (sp_json_object(&j))
        while (sp_json_key(&j, &key))
            pprof_read_extra(w, &j, key, x);
    sp_json_free(&j);
}

/* The id of a function, written when it is new. */
static uint64_t pprof_function_id(struct sp_pw *w, const uint64_t key[5])
{
    enum { KEY = 5 };
    uint64_t hash = sp_hash_key(key, KEY * sizeof *key);
    struct sp_probe at = sp_map_probe(&w->function_map, hash);
    for (uint32_t i; (i = sp_map_next(&w->function_map, &at)) != SP_MAP_NONE;)
        if (memcmp(w->function_keys.v + (size_t)KEY * i, key, KEY * sizeof *key) == 0)
            return (uint64_t)i + 1;
    size_t n = w->function_keys.n;
    if (n / KEY >= SP_NONE - 1 || !sp_vec_reserve(&w->function_keys, n + KEY) ||
        !sp_map_add(&w->function_map, hash, (uint32_t)(n / KEY))) {
        w->nomem = true;
        return 0;
    }
    memcpy(w->function_keys.v + n, key, KEY * sizeof *key);
    w->function_keys.n += KEY;
    char t[64];
    struct sp_buf b = {.data = t, .cap = sizeof t, .max = sizeof t}; /* five numbers fit */
    sp_wire_put_number(&b, 1, n / KEY + 1);
    for (uint32_t i = 0; i < 3; i++)
        sp_wire_put_number(&b, 2 + i, key[i]);
    sp_wire_put_number(&b, 5, key[3]);
    sp_wire_put_bytes(&w->functions, PPROF_FUNCTION, b.data, b.len);
    return n / KEY + 1;
}

enum { HAS_FUNCTIONS = 1, HAS_FILENAMES = 2, HAS_LINES = 4, HAS_INLINES = 8 };

/*
 * What a frame of a mapping has. What a file said of its mapping holds but for what a symbolizer has named
 * since: these frames know how far into their function they are.
 */
static void pprof_note_has(struct sp_pw *w, uint64_t mapping, const struct sp_frame *f, unsigned has)
{
    if (!mapping)
        return;
    struct sp_pprof_mapping *m = &w->maps.list.v[mapping - 1];
    if (!m->stated || f->flags & SP_FRAME_SYMOFF)
        m->has |= (uint8_t)has;
}

/* A function as it goes out. */
struct function_out {
    struct sp_str name, system, file;
    int64_t start_line;
};

static struct function_out pprof_function_of(const struct sp_pw *w, uint32_t frame,
                                             const struct sp_pw_extra *x, struct sp_str file)
{
    static const struct sp_func_info nothing;
    const struct sp_func_info *known = sp_frame_known(w->p, frame);
    known = known ? known : &nothing;
    struct function_out f = {.name = sp_pstr(w->p, sp_frame_function(w->p, frame)->name), .file = file};
    f.system = known->linkage ? sp_pstr(w->p, known->linkage) : f.name;
    if (x->name.p && !x->name.n &&
        w->p->frames.v[frame].flags & SP_FRAME_UNRESOLVED) /* neither name, but an address */
        f.system = x->name;
    if (!file.n)
        f.file = sp_pstr(w->p, known->file);
    f.name = x->name.p ? x->name : f.name;
    f.system = x->system_name.p ? x->system_name : f.system;
    f.file = x->file.p ? x->file : f.file;
    /* pprof has one file for lines and where the function begins: what is included into it is in another one.
     */
    if (!known->file || sp_pprof_same(f.file, sp_pstr(w->p, known->file)))
        f.start_line = known->line;
    f.start_line = x->start_line ? x->start_line : f.start_line;
    return f;
}

static void pprof_put_line(struct sp_pw *w, struct sp_buf *b, uint32_t frame, const struct sp_pw_extra *x,
                           uint64_t mapping)
{
    const struct sp_frame *f = &w->p->frames.v[frame];
    struct sp_str file = {"", 0};
    int64_t line = 0, column = 0;
    if (f->srcline) {
        file = sp_pstr(w->p, f->srcline);
        file.n = (uint32_t)sp_srcline_split(file, &line, &column);
    }
    const struct function_out fn = pprof_function_of(w, frame, x, file);
    pprof_note_has(w, mapping, f,
                   (fn.name.n ? HAS_FUNCTIONS : 0u) | (fn.file.n ? HAS_FILENAMES : 0u) |
                       ((x->has_line ? x->line : line) ? HAS_LINES : 0u));
    uint64_t key[5] = {sp_pw_str(w, fn.name), sp_pw_str(w, fn.system), sp_pw_str(w, fn.file),
                       (uint64_t)fn.start_line, 0};
    struct sp_buf *l = &w->line;
    sp_buf_clear(l);
    sp_wire_put_number(l, 1, pprof_function_id(w, key));
    sp_wire_put_number(l, 2, (uint64_t)(x->has_line ? x->line : line));
    sp_wire_put_number(l, 3, (uint64_t)(x->has_line ? x->column : column));
    sp_wire_put_bytes(b, 4, l->data, l->len);
    w->nomem |= l->failed;
}

#define PAGE 4096u

/*
 * A mapping for a DSO that no file has told of. Addresses as linked are what pprof takes those of a mapping
 * from 0 to nowhere for. Offsets in the file take the range of the frames, at a place that is not 0: pprof
 * would have addresses of an executable at 0 counted from its segment.
 */
static struct sp_pprof_mapping pprof_fresh_mapping(const struct sp_pw *w, uint32_t dso)
{
    const struct sp_pw_range *r = &w->ranges[dso];
    const struct sp_dso *d = &w->p->dsos.v[dso];
    struct sp_pprof_mapping m = {.file = d->name, .build_id = d->build_id, .dso = dso, .limit = UINT64_MAX};
    if (!r->offsets || !r->high || r->high > UINT64_MAX - 3 * PAGE)
        return m;
    m.offset = r->size ? r->offset : (r->low - (r->low > 0)) / PAGE * PAGE;
    m.start = m.offset ? m.offset : PAGE;
    m.limit = m.start + (r->size ? r->size : (r->high / PAGE + 1) * PAGE - m.offset);
    return m;
}

/* The mapping of a frame, by what it says or where its DSO is; 0: none. DSOs without one get theirs here. */
static uint64_t pprof_mapping_of(struct sp_pw *w, uint32_t frame, const struct sp_pw_extra *x)
{
    const struct sp_frame *f = &w->p->frames.v[frame];
    uint32_t dso = sp_frame_function(w->p, frame)->dso;
    if (x->has_mapping && !x->mapping)
        return 0;
    if (x->has_mapping && x->mapping <= w->maps.list.n && !w->maps.list.v[x->mapping - 1].gone)
        return x->mapping;
    uint32_t m = sp_pprof_mapping_guess(&w->maps, dso, f->flags & SP_FRAME_IP, f->ip);
    if (m != SP_NONE || dso == w->maps.unknown)
        return m == SP_NONE ? 0 : (uint64_t)m + 1;
    struct sp_pprof_mapping fresh = pprof_fresh_mapping(w, dso);
    fresh.next = w->maps.first.v[dso];
    if (!sp_vec_push(&w->maps.list, fresh)) {
        w->nomem = true;
        return 0;
    }
    w->maps.first.v[dso] = (uint32_t)w->maps.list.n - 1;
    return w->maps.list.n;
}

/* Of a caller pprof wants an address within the call. */
static uint64_t pprof_address_of(struct sp_pw *w, uint32_t frame, bool returns, const struct sp_pw_extra *x,
                                 uint64_t mapping)
{
    const struct sp_frame *f = &w->p->frames.v[frame];
    uint64_t ip = f->ip - returns;
    if (x->has_address || !(f->flags & SP_FRAME_IP))
        return x->address;
    if (!mapping || sp_frame_function(w->p, frame)->dso == w->maps.unknown)
        return ip;
    const struct sp_pprof_mapping *m = &w->maps.list.v[mapping - 1];
    return ip - m->offset + m->start;
}

static void pprof_put_location(struct sp_pw *w, const uint32_t *frames, size_t n, bool returns)
{
    struct sp_pw_extra x;
    struct sp_buf *b = &w->locations, one;
    uint32_t outer = frames[n - 1];
    pprof_extra_of(w, outer, &x);
    sp_buf_init(&one, 0);
    uint64_t mapping = pprof_mapping_of(w, outer, &x);
    sp_wire_put_number(&one, 1, ++w->nlocations);
    sp_wire_put_number(&one, 2, mapping);
    sp_wire_put_number(&one, 3, pprof_address_of(w, outer, returns, &x, mapping));
    const struct sp_frame *f = &w->p->frames.v[outer];
    struct sp_str func = sp_pstr(w->p, sp_frame_function(w->p, outer)->name);
    uint64_t addr;
    bool bare = n == 1 && f->flags & SP_FRAME_UNRESOLVED && !f->srcline && !x.name.p &&
                sp_parse_0x(func.p, func.n, &addr);
    bool folded = x.folded;
    for (size_t i = 0; i < n && !bare; i++) {
        if (i + 1 < n)
            pprof_extra_of(w, frames[i], &x);
        else if (n > 1)
            pprof_extra_of(w, outer, &x);
        pprof_put_line(w, &one, frames[i], &x, mapping);
    }
    pprof_note_has(w, mapping, f, n > 1 ? HAS_INLINES : 0);
    sp_wire_put_number(&one, 5, folded);
    sp_wire_put_bytes(b, PPROF_LOCATION, one.data, one.len);
    w->nomem |= one.failed || b->failed;
    sp_buf_free(&one);
}

/* The location of several frames. */
static uint32_t pprof_group_location(struct sp_pw *w, const uint32_t *frames, uint32_t n, bool returns)
{
    uint64_t hash = sp_hash_key_seed(frames, n * sizeof *frames, returns);
    struct sp_probe at = sp_map_probe(&w->group_map, hash);
    for (uint32_t i; (i = sp_map_next(&w->group_map, &at)) != SP_MAP_NONE;) {
        const struct sp_pw_group *g = &w->groups.v[i];
        if (g->n == n && g->returns == returns &&
            memcmp(w->group_frames.v + g->at, frames, n * sizeof *frames) == 0)
            return w->group_frames.v[g->at + n];
    }
    struct sp_pw_group g = {w->group_frames.n, n, returns};
    if (w->groups.n >= SP_NONE - 1 || !sp_vec_push(&w->groups, g) ||
        !sp_vec_reserve(&w->group_frames, g.at + n + 1) ||
        !sp_map_add(&w->group_map, hash, (uint32_t)w->groups.n - 1)) {
        w->nomem = true;
        return 0;
    }
    memcpy(w->group_frames.v + g.at, frames, n * sizeof *frames);
    pprof_put_location(w, frames, n, returns);
    w->group_frames.v[g.at + n] = w->nlocations;
    w->group_frames.n += n + 1;
    return w->nlocations;
}

bool sp_pw_locations(struct sp_pw *w, struct sp_returns how, const uint32_t *frames, size_t n)
{
    const struct sp_frame *all = w->p->frames.v;
    for (size_t i = 0, k; i < n && !w->nomem; i = k) {
        uint32_t depth = all[frames[i]].inline_depth, id;
        for (k = i + 1; depth && k < n && all[frames[k]].inline_depth < depth; k++)
            depth = all[frames[k]].inline_depth;
        bool returns = sp_is_return(how, &all[frames[k - 1]], i ? &all[frames[i - 1]] : NULL);
        if (k > i + 1) {
            id = pprof_group_location(w, frames + i, (uint32_t)(k - i), returns);
        } else {
            uint32_t *known = &w->location_of[2 * (size_t)frames[i] + returns];
            if (!*known) {
                pprof_put_location(w, frames + i, 1, returns);
                *known = w->nlocations;
            }
            id = *known;
        }
        if (!sp_vec_push(&w->scratch_locations, id))
            w->nomem = true;
    }
    return !w->nomem;
}

static bool pprof_find_ranges(struct sp_pw *w)
{
    const struct sp_profile *p = w->p;
    w->ranges = calloc(p->dsos.n + 1, sizeof *w->ranges);
    if (!w->ranges)
        return false;
    for (uint32_t i = 0; i < p->dsos.n; i++) {
        const struct sp_dso_place *at = &p->dsos.v[i].place;
        w->ranges[i].offsets = at->ips == SP_DSO_FILE_OFFSET;
        if (w->ranges[i].offsets && at->map_offset <= INT64_MAX && at->map_size <= INT64_MAX) {
            w->ranges[i].offset = at->map_offset;
            w->ranges[i].size = at->map_size;
        }
    }
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        struct sp_pw_range *r = &w->ranges[sp_frame_function(p, i)->dso];
        if (!(f->flags & SP_FRAME_IP))
            continue;
        r->low = !r->high || f->ip < r->low ? f->ip : r->low;
        r->high = f->ip > r->high ? f->ip : r->high;
    }
    return true;
}

/*
 * The mappings of a DSO that was symbolized since its file told of them: its frames have addresses as linked
 * now, for which one is enough.
 */
static void pprof_renew_mappings(struct sp_pw *w)
{
    bool *done = calloc(w->p->dsos.n + 1, 1);
    w->nomem |= !done;
    for (size_t k = 0; done && k < w->maps.list.n; k++) {
        struct sp_pprof_mapping *m = &w->maps.list.v[k];
        uint32_t dso = m->dso;
        if (dso == SP_NONE || dso == w->maps.unknown || w->ranges[dso].offsets || sp_pprof_is_linked(m))
            continue;
        if (!done[dso])
            *m = pprof_fresh_mapping(w, dso);
        else
            *m = (struct sp_pprof_mapping){.dso = SP_NONE, .gone = true};
        done[dso] = true;
    }
    free(done);
}

/* The DSO of a mapping that the header tells of: of its name and build id, and kind of ips if there are two.
 */
static uint32_t pprof_dso_of(const struct sp_pw *w, const struct sp_map *by_name,
                             const struct sp_pprof_mapping *m)
{
    const struct sp_profile *p = w->p;
    uint32_t id = sp_pprof_is_build_id(sp_pstr(p, m->build_id)) ? m->build_id : SP_STR_NONE, best = SP_NONE;
    struct sp_probe at = sp_map_probe(by_name, sp_hash_mix(m->file, 0));
    int most = 0;
    for (uint32_t i; (i = sp_map_next(by_name, &at)) != SP_MAP_NONE;) {
        const struct sp_dso *d = &p->dsos.v[i];
        if (d->name != m->file || (id && d->build_id != id))
            continue;
        /* A symbolizer tells build ids that the file did not, and makes addresses of offsets. */
        int fit = 1 + 2 * (d->build_id == id) + (w->ranges[i].offsets != sp_pprof_is_linked(m));
        if (fit > most) {
            most = fit;
            best = i;
        }
    }
    return best;
}

static struct sp_str pprof_file_name(struct sp_str path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    size_t from = slash ? (size_t)(slash - path.p) + 1 : 0;
    return (struct sp_str){path.p + from, path.n - (uint32_t)from};
}

/* The program: the file that was run, else the only one with a main. SP_NONE: not known. */
static uint32_t pprof_program(const struct sp_profile *p)
{
    struct sp_str command = sp_pstr(p, p->header.command);
    const char *space = command.n ? memchr(command.p, ' ', command.n) : NULL;
    uint32_t found = SP_NONE;
    command.n = space ? (uint32_t)(space - command.p) : command.n;
    struct sp_str name = pprof_file_name(command);
    bool several = false;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        const struct sp_function *f = &p->functions.v[i];
        struct sp_str dso = f->dso < p->dsos.n ? sp_pstr(p, p->dsos.v[f->dso].name) : (struct sp_str){0};
        if (name.n && sp_str_cmp(pprof_file_name(dso), name) == 0)
            return f->dso;
        if (!dso.n || !sp_str_is(sp_pstr(p, f->name), "main"))
            continue;
        several = several || (found != SP_NONE && found != f->dso);
        found = f->dso;
    }
    return several ? SP_NONE : found;
}

/* Where no file told of mappings, that of the program is the first: pprof takes this one for it. */
static bool pprof_program_first(struct sp_pw *w)
{
    uint32_t dso = w->maps.list.n ? SP_NONE : pprof_program(w->p);
    return dso == SP_NONE || dso == w->maps.unknown ||
           sp_vec_push(&w->maps.list, pprof_fresh_mapping(w, dso));
}

bool sp_pw_frames_begin(struct sp_pw *w)
{
    const struct sp_profile *p = w->p;
    struct sp_map by_name = {0};
    bool ok = pprof_find_ranges(w);
    w->maps.unknown = SP_NONE;
    for (uint32_t i = 0; ok && i < p->dsos.n; i++) {
        if (sp_str_is(sp_pstr(p, p->dsos.v[i].name), "[unknown]") && w->maps.unknown == SP_NONE)
            w->maps.unknown = i;
        ok = sp_map_add(&by_name, sp_hash_mix(p->dsos.v[i].name, 0), i);
    }
    for (size_t k = 0; ok && k < w->maps.list.n; k++) {
        struct sp_pprof_mapping *m = &w->maps.list.v[k];
        struct sp_str file = sp_pstr(p, m->file);
        m->dso = !file.n || sp_str_is(file, "[unknown]") ? w->maps.unknown : pprof_dso_of(w, &by_name, m);
        if (!sp_pstr(p, m->build_id).n && m->dso != SP_NONE)
            m->build_id = p->dsos.v[m->dso].build_id;
    }
    sp_map_free(&by_name);
    if (ok)
        pprof_renew_mappings(w);
    ok = ok && pprof_program_first(w);
    w->location_of = calloc(2 * p->frames.n + 2, sizeof *w->location_of);
    return ok && w->location_of && sp_pprof_mappings_index(&w->maps, p->dsos.n);
}

void sp_pw_put_mappings(struct sp_pw *w)
{
    struct sp_buf *b = &w->line;
    for (size_t i = 0; i < w->maps.list.n; i++) {
        const struct sp_pprof_mapping *m = &w->maps.list.v[i];
        if (m->gone)
            continue;
        sp_buf_clear(b);
        sp_wire_put_number(b, 1, i + 1);
        sp_wire_put_number(b, 2, m->start);
        sp_wire_put_number(b, 3, m->limit);
        sp_wire_put_number(b, 4, m->offset);
        sp_wire_put_number(b, 5, sp_pw_str(w, sp_pstr(w->p, m->file)));
        sp_wire_put_number(b, 6, sp_pw_str(w, sp_pstr(w->p, m->build_id)));
        for (uint32_t k = 0; k < 4; k++)
            sp_wire_put_number(b, 7 + k, m->has >> k & 1);
        sp_buf_clear(&w->scratch);
        sp_wire_put_bytes(&w->scratch, PPROF_MAPPING, b->data, b->len);
        if (b->failed || w->scratch.failed)
            w->nomem = true;
        else
            sp_write(w->out, w->scratch.data, w->scratch.len);
    }
}
