/*
 * Locations as frames.
 *
 * A location is one frame for each of its lines, the innermost inlined function first; without lines it is
 * one frame named by its address. The ip is the offset in the mapped file, address - memory_start +
 * file_offset, which no run changes; without a named mapping it is the address. What the tables of a profile
 * do not say and a writer needs stands under x_pprof of the frame: see docs/pprof.md.
 */
#include "base/num.h"
#include "formats/pprof/pprof.h"

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

bool sp_pp_put_srcline(struct sp_buf *b, struct sp_str file, const struct sp_pp_line *ln)
{
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
    sp_buf_add(b, file.p, file.n);
    sp_buf_add(b, t, n);
    return n && ln->column >= 0 && !(file.p[file.n - 1] >= '0' && file.p[file.n - 1] <= '9');
}

/* The same into pp->text; what does not read back goes to x. */
static void srcline(struct sp_pp *pp, struct sp_str file, const struct sp_pp_line *ln, struct extra *x)
{
    struct sp_buf *b = &pp->text;
    int64_t line, column;
    sp_buf_clear(b);
    if (sp_pp_put_srcline(b, file, ln) || b->failed)
        return;
    size_t n = sp_pp_srcline((struct sp_str){b->data, (uint32_t)b->len}, &line, &column);
    if (n != file.n)
        x->file = file;
    if (line != ln->line || column != ln->column) {
        x->has_line = true;
        x->line = ln->line;
        x->column = ln->column;
    }
}

static struct sp_str text_of(const struct sp_pp *pp, uint32_t string)
{
    return string < pp->strings.n ? pp->strings.v[string] : (struct sp_str){"", 0};
}

bool sp_pp_function_name(struct sp_pp *pp, uint32_t number)
{
    struct sp_pp_function *f = &pp->fns[number];
    bool whole = f->plain || sp_pp_function_again(pp, number);
    struct sp_str name = text_of(pp, f->texts[PP_NAME]), other = text_of(pp, f->texts[PP_SYSTEM_NAME]);
    f->has_name = name.n;
    f->named = name.n || other.n;
    f->other_name = !sp_pp_same(other, name);
    if (f->named)
        f->name = sp_pp_str(pp, f->texts[name.n ? PP_NAME : PP_SYSTEM_NAME]);
    f->read = whole;
    return f->name != SP_STR_FAIL;
}

static bool add_frame(struct sp_pp *pp, const struct sp_frame *f)
{
    if (f->more == SP_STR_FAIL || f->srcline == SP_STR_FAIL || f->function == SP_NONE)
        return false;
    struct sp_pp_made made = {*f, sp_frame_hash(f)};
    sp_map_expect(&pp->p->frame_map, made.hash);
    return sp_vec_push(&pp->made, made);
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
    if (fn->other_name)
        x->system_name = text_of(pp, fn->texts[PP_SYSTEM_NAME]);
    x->start_line = fn->start_line;
    uint32_t more = more_of(pp, l, outermost, x);
    if (!alone)
        fn->more = more;
    return more;
}

static uint32_t line_text(struct sp_pp *pp, const struct sp_pp_function *fn, const struct sp_pp_line *ln,
                          struct extra *x)
{
    if (ln->text != SP_STR_FAIL)
        return ln->text;
    srcline(pp, text_of(pp, fn->texts[PP_FILE]), ln, x);
    if (pp->text.failed)
        return SP_STR_FAIL;
    return pp->text.len ? sp_profile_str(pp->p, pp->text.data, pp->text.len) : SP_STR_NONE;
}

static bool line_frame(struct sp_pp *pp, const struct location *l, const struct sp_pp_line *ln,
                       uint32_t depth)
{
    struct extra x = {0};
    struct sp_frame f = {.kind = l->kind, .inline_depth = depth};
    struct sp_pp_function *fn = &pp->fns[ln->function];
    if (!fn->read && !sp_pp_function_name(pp, ln->function))
        return false;
    f.function = line_function(pp, fn, l);
    if (!fn->named)
        f.flags |= SP_FRAME_UNRESOLVED;
    if (pp->opts->frames != SP_FRAMES_FUNCTION) {
        f.srcline = line_text(pp, fn, ln, &x);
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

static void set_short(struct sp_pp *pp, uint32_t number)
{
    const struct sp_pp_location *l = &pp->locs[number];
    const uint32_t *f = pp->loc_frames.v + l->first;
    uint64_t id = pp->location_ids.ids[number];
    bool row = id < pp->nshorts && l->n <= PP_SHORT_MAX && f[l->n - 1] <= UINT32_MAX >> PP_SHORT_BITS;
    for (uint32_t k = 1; row && k < l->n; k++)
        row = f[k] == f[0] + k;
    if (row)
        pp->ready[id] = f[l->n - 1] << PP_SHORT_BITS | l->n * (uint32_t)sizeof *f;
}

/* Makes the frames of a location, behind those that are made. */
static bool make_frames(struct sp_pp *pp, uint32_t number)
{
    struct sp_pp_location *at = &pp->locs[number];
    if (!at->plain && !sp_pp_location_again(pp, number))
        return false;
    struct location l = {.address = at->address, .mapping = at->mapping, .folded = at->folded};
    uint32_t n = at->nlines;
    place(pp, &l);
    bool ok = n || bare_frame(pp, &l);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = line_frame(pp, &l, &pp->lines.v[at->line + i], n - 1 - i);
    at->n = (uint16_t)(n ? n : 1);
    return ok;
}

bool sp_pp_locations_frames(struct sp_pp *pp, const uint32_t *numbers, size_t n)
{
    const struct sp_pp_made *next;
    pp->made.n = 0;
    for (size_t k = 0; k < n; k++)
        if (!make_frames(pp, numbers[k]))
            return false;
    if (pp->loc_frames.n >= SP_NONE - pp->made.n ||
        !sp_vec_reserve(&pp->loc_frames, pp->loc_frames.n + pp->made.n))
        return false;
    next = pp->made.v;
    for (size_t k = 0; k < n; k++) {
        struct sp_pp_location *l = &pp->locs[numbers[k]];
        l->first = (uint32_t)pp->loc_frames.n;
        for (unsigned i = 0; i < l->n; i++, next++) {
            uint32_t frame = sp_frame_intern_hashed(pp->p, &next->frame, next->hash);
            if (frame == SP_NONE)
                return false;
            pp->loc_frames.v[pp->loc_frames.n++] = frame;
        }
        set_short(pp, numbers[k]);
    }
    return true;
}
