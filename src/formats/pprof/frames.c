/*
 * Locations as frames.
 *
 * A location is one frame for each of its lines, the innermost inlined function first; without lines it is
 * one frame named by its address. The ip is the offset in the mapped file, address - memory_start +
 * file_offset, which no run changes; without a named mapping it is the address. What the tables of a profile
 * do not say and a writer needs stands under x_pprof of the frame: see docs/pprof.md.
 *
 * Locations and functions are decoded when a sample needs them, which is also when it is reported what is
 * wrong with them.
 */
#include "base/num.h"
#include "formats/pprof/pprof.h"
#include "model/functions.h"

/* A location in work: what its frames share. */
struct location {
    uint64_t address;
    uint32_t mapping, dso; /* mapping: number; SP_NONE: none */
    uint64_t ip;
    bool has_ip, folded;
    bool explicit_mapping, explicit_address; /* they do not follow from DSO and ip */
    uint8_t kind;
};

/* What a writer cannot derive: members of "x_pprof" for the outermost frame or any other one. */
struct extra {
    struct sp_str name, system_name; /* p NULL: as the function's name, or what is known of it */
    int64_t start_line, line, column;
    bool has_line;
    struct sp_str file; /* p NULL: as the srcline says */
};

/* ---- functions ---- */

static bool pprof_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/*
 * Whether other files may have a function of this name: a format that says nothing of it leaves it to names,
 * which say it where they are mangled. Go's have their package in them.
 */
static bool pprof_may_be_local(struct sp_str system, struct sp_str file)
{
    bool mangled = pprof_begins(system, "_Z") || pprof_begins(system, "_R");
    bool go = file.n > 3 && memcmp(file.p + file.n - 3, ".go", 3) == 0;
    return file.n && !go &&
           (!mangled || pprof_begins(system, "_ZL") || memmem(system.p, system.n, "_GLOBAL__N_", 11));
}

/* What frames of the function carry; false: out of memory. */
static bool pprof_function_info(struct sp_pprof *pp, struct sp_pprof_function *f, struct sp_str name,
                                struct sp_str system, struct sp_str file)
{
    struct sp_func_info x = {0};
    if (name.n && system.n && !sp_pprof_same(name, system))
        x.linkage = sp_pprof_str(pp, f->m.system_name);
    if (file.n)
        x.file = sp_pprof_str(pp, f->m.file);
    if (f->m.start_line <= UINT32_MAX)
        x.line = (uint32_t)f->m.start_line;
    if (pprof_may_be_local(system.n ? system : name, file))
        x.flags = SP_FUNC_LOCAL;
    f->info = x.linkage == SP_STR_FAIL || x.file == SP_STR_FAIL ? SP_NONE : sp_func_info_intern(pp->p, &x);
    return f->info != SP_NONE;
}

/* What the file says of a function; all of it that is wrong is reported. */
static bool pprof_decode_function(struct sp_pprof *pp, uint32_t number)
{
    struct sp_pprof_function *f = &pp->functions[number];
    const uint64_t findings = pp->findings;
    *f = (struct sp_pprof_function){.interned = SP_NONE, .more = SP_STR_FAIL};
    if (!sp_pprof_read(pp, &sp_pprof_function_fields, pp->file.functions.v[number], &f->m))
        return false;
    struct sp_str name = sp_pprof_text(pp, f->m.name), other = sp_pprof_text(pp, f->m.system_name);
    struct sp_str file = sp_pprof_text(pp, f->m.file);
    f->has_name = name.n;
    f->named = name.n || other.n;
    f->no_system = name.n && !other.n;
    if (!pprof_function_info(pp, f, name, other, file))
        return false;
    if (f->named)
        f->name = sp_pprof_str(pp, name.n ? f->m.name : f->m.system_name);
    f->decoded = pp->findings == findings;
    return f->name != SP_STR_FAIL;
}

/* A string of a function, of which it was reported if it is none of the file. */
static struct sp_str pprof_function_text(const struct sp_pprof *pp, uint64_t string)
{
    return string < pp->file.strings.n ? pp->file.strings.v[string] : (struct sp_str){"", 0};
}

/* The function of what has no name but its address. */
static uint32_t pprof_address_function(struct sp_pprof *pp, uint64_t ip, uint32_t dso)
{
    char t[2 + 16] = "0x";
    uint32_t name = sp_profile_str(pp->p, t, 2 + sp_hex_text(ip, t + 2));
    return name == SP_STR_FAIL ? SP_NONE : sp_function_intern(pp->p, name, dso);
}

static uint32_t pprof_line_function(struct sp_pprof *pp, struct sp_pprof_function *fn,
                                    const struct location *l)
{
    if (!fn->named)
        return pprof_address_function(pp, l->ip, l->dso);
    if (fn->interned == SP_NONE || fn->dso != l->dso) {
        fn->dso = l->dso;
        fn->interned = sp_function_known(pp->p, fn->name, l->dso, fn->info);
    }
    return fn->interned;
}

/* ---- x_pprof of a frame ---- */

static void pprof_member(struct sp_buf *b, const char *key)
{
    if (b->len && b->data[b->len - 1] != '{')
        sp_buf_ch(b, ',');
    sp_buf_ch(b, '"');
    sp_buf_puts(b, key);
    sp_buf_puts(b, "\":");
}

static uint32_t pprof_extra_json(struct sp_pprof *pp, const struct location *l, bool outermost,
                                 const struct extra *x)
{
    struct sp_buf *b = &pp->text2;
    static const char open[] = "\"x_pprof\":{";
    char t[16];
    sp_buf_clear(b);
    sp_buf_puts(b, open);
    if (x->name.p) {
        pprof_member(b, "name");
        sp_pprof_json(b, x->name);
    }
    if (x->system_name.p) {
        pprof_member(b, "system_name");
        sp_pprof_json(b, x->system_name);
    }
    if (x->start_line) {
        pprof_member(b, "start_line");
        sp_buf_i64(b, x->start_line);
    }
    if (x->file.p) {
        pprof_member(b, "file");
        sp_pprof_json(b, x->file);
    }
    if (x->has_line) {
        pprof_member(b, "line");
        sp_buf_printf(b, "[%lld,%lld]", (long long)x->line, (long long)x->column);
    }
    if (outermost && l->has_ip && l->explicit_address) {
        pprof_member(b, "address");
        sp_buf_puts(b, "\"0x");
        sp_buf_add(b, t, sp_hex_text(l->address, t));
        sp_buf_ch(b, '"');
    }
    if (outermost && l->explicit_mapping) {
        pprof_member(b, "mapping");
        sp_buf_u64(b, l->mapping == SP_NONE ? 0 : (uint64_t)l->mapping + 1);
    }
    if (outermost && l->folded) {
        pprof_member(b, "folded");
        sp_buf_puts(b, "true");
    }
    if (b->failed)
        return SP_STR_FAIL;
    if (b->len == sizeof open - 1)
        return SP_STR_NONE;
    return sp_buf_ch(b, '}') ? sp_profile_str(pp->p, b->data, b->len) : SP_STR_FAIL;
}

/* The same of a line; of functions of which nothing else is to be said it is the same each time. */
static uint32_t pprof_line_extra_json(struct sp_pprof *pp, struct sp_pprof_function *fn,
                                      const struct location *l, bool outermost, struct extra *x)
{
    bool alone =
        x->file.p || x->has_line || (outermost && (l->explicit_address || l->explicit_mapping || l->folded));
    if (!alone && fn->more != SP_STR_FAIL)
        return fn->more;
    if (!fn->has_name)
        x->name = (struct sp_str){"", 0};
    if (fn->no_system)
        x->system_name = (struct sp_str){"", 0};
    x->start_line = fn->m.start_line > UINT32_MAX ? (int64_t)fn->m.start_line : 0;
    uint32_t more = pprof_extra_json(pp, l, outermost, x);
    if (!alone)
        fn->more = more;
    return more;
}

/* "file:line:column" into pp->text; what does not read back goes to x. */
static void pprof_put_srcline(struct sp_pprof *pp, struct sp_str file, int64_t line, int64_t column,
                              struct extra *x)
{
    struct sp_buf *b = &pp->text;
    int64_t read_line, read_column;
    sp_buf_clear(b);
    sp_buf_add(b, file.p, file.n);
    if (file.n && line > 0) {
        sp_buf_ch(b, ':');
        sp_buf_u64(b, (uint64_t)line);
        if (column > 0) {
            sp_buf_ch(b, ':');
            sp_buf_u64(b, (uint64_t)column);
        }
    }
    if (b->failed)
        return;
    if (sp_pprof_srcline((struct sp_str){b->data, (uint32_t)b->len}, &read_line, &read_column) != file.n)
        x->file = file;
    if (read_line != line || read_column != column) {
        x->has_line = true;
        x->line = line;
        x->column = column;
    }
}

static uint32_t pprof_srcline(struct sp_pprof *pp, const struct sp_pprof_function *fn,
                              const struct sp_pprof_line_msg *line, struct extra *x)
{
    pprof_put_srcline(pp, pprof_function_text(pp, fn->m.file), (int64_t)line->line, (int64_t)line->column, x);
    if (pp->text.failed)
        return SP_STR_FAIL;
    return pp->text.len ? sp_profile_str(pp->p, pp->text.data, pp->text.len) : SP_STR_NONE;
}

/* ---- frames ---- */

static bool pprof_add_frame(struct sp_pprof *pp, const struct location *l, struct sp_frame *f)
{
    if (f->extra_json == SP_STR_FAIL || f->srcline == SP_STR_FAIL || f->function == SP_NONE)
        return false;
    if (l->has_ip) {
        f->ip = l->ip;
        f->flags |= SP_FRAME_IP;
    }
    uint32_t frame = sp_frame_intern(pp->p, f);
    return frame != SP_NONE && pp->loc_frames.n < SP_NONE && sp_vec_push(&pp->loc_frames, frame);
}

static bool pprof_line_frame(struct sp_pprof *pp, const struct location *l,
                             const struct sp_pprof_line_msg *line, uint32_t depth)
{
    struct extra x = {0};
    struct sp_frame f = {.kind = l->kind, .inline_depth = depth};
    struct sp_pprof_function *fn = &pp->functions[line->function];
    if (!fn->decoded && !pprof_decode_function(pp, (uint32_t)line->function))
        return false;
    f.function = pprof_line_function(pp, fn, l);
    f.info = pp->opts->frames == SP_FRAMES_FUNCTION ? 0 : fn->info; /* else the function's */
    if (!fn->named)
        f.flags |= SP_FRAME_UNRESOLVED;
    if (depth)
        f.flags |= SP_FRAME_INLINED;
    if (pp->opts->frames != SP_FRAMES_FUNCTION) {
        f.srcline = pprof_srcline(pp, fn, line, &x);
        f.extra_json = pprof_line_extra_json(pp, fn, l, depth == 0, &x);
    }
    return pprof_add_frame(pp, l, &f);
}

static bool pprof_bare_frame(struct sp_pprof *pp, const struct location *l)
{
    struct extra x = {0};
    struct sp_frame f = {.kind = l->kind, .flags = SP_FRAME_UNRESOLVED};
    if (pp->opts->frames != SP_FRAMES_FUNCTION)
        f.extra_json = pprof_extra_json(pp, l, true, &x);
    f.function = pprof_address_function(pp, l->ip, l->dso);
    return pprof_add_frame(pp, l, &f);
}

/* ---- locations ---- */

/* Decodes a line behind those of its location, its function's number in place of the id. */
static bool pprof_decode_line(struct sp_pprof *pp, struct sp_str message)
{
    struct sp_pprof_line_msg line = {0};
    if (!sp_pprof_read(pp, &sp_pprof_line_fields, message, &line))
        return false;
    uint32_t function = sp_pprof_find(&pp->function_ids, line.function);
    if (function == SP_NONE) {
        sp_emit(pp->d, SP_L722, sp_pprof_at(pp, message.p), "a line in function %llu",
                (unsigned long long)line.function);
        return true;
    }
    if (pp->lines.n >= PPROF_LINES_MAX) {
        if (pp->lines.n == PPROF_LINES_MAX)
            sp_emit(pp->d, SP_L723, sp_pprof_at(pp, message.p),
                    "a location with more than %u inlined functions", PPROF_LINES_MAX);
        return true;
    }
    line.function = function;
    return sp_vec_push(&pp->lines, line);
}

static bool pprof_decode_location(struct sp_pprof *pp, uint32_t number, struct location *l)
{
    const struct sp_str message = pp->file.locations.v[number];
    struct sp_pprof_location_msg *m = &pp->location;
    struct sp_pprof_list lines = {m->lines.v, 0, m->lines.cap}; /* its room again */
    *m = (struct sp_pprof_location_msg){.lines = lines};
    pp->lines.n = 0;
    if (!sp_pprof_read(pp, &sp_pprof_location_fields, message, m))
        return false;
    for (size_t i = 0; i < m->lines.n; i++)
        if (!pprof_decode_line(pp, m->lines.v[i]))
            return false;
    *l = (struct location){.address = m->address, .mapping = SP_NONE, .folded = m->folded};
    if (m->mapping && (l->mapping = sp_pprof_find(&pp->mapping_ids, m->mapping)) == SP_NONE)
        sp_emit(pp->d, SP_L722, sp_pprof_at(pp, message.p), "a location in mapping %llu",
                (unsigned long long)m->mapping);
    return true;
}

/* Where the location is: its DSO, and its place there. */
static void pprof_place(const struct sp_pprof *pp, struct location *l)
{
    const struct sp_pprof_mapping *m = l->mapping == SP_NONE ? NULL : &pp->maps.list.v[l->mapping];
    l->dso = m ? m->dso : pp->unknown_dso;
    l->kind = l->dso == pp->unknown_dso ? SP_UNKNOWN : pp->p->dsos.v[l->dso].is_kernel ? SP_KERNEL : SP_USER;
    l->has_ip = l->address && pp->opts->frames != SP_FRAMES_LINE && pp->opts->frames != SP_FRAMES_FUNCTION;
    l->ip = l->address;
    if (l->address && m && l->dso != pp->unknown_dso) {
        uint64_t in = l->address - m->start;
        bool inside = l->address >= m->start && (!m->limit || l->address < m->limit) &&
                      !__builtin_add_overflow(in, m->offset, &l->ip);
        if (!inside) {
            l->ip = l->address;
            l->explicit_address = true;
        }
    }
    l->explicit_mapping = l->explicit_address ||
                          sp_pprof_mapping_guess(&pp->maps, l->dso, l->address != 0, l->ip) != l->mapping;
}

bool sp_pprof_frames(struct sp_pprof *pp, uint32_t number)
{
    struct sp_pprof_location *out = &pp->locations[number];
    struct location l;
    if (!pprof_decode_location(pp, number, &l))
        return false;
    pprof_place(pp, &l);
    const size_t first = pp->loc_frames.n, n = pp->lines.n;
    bool ok = n || pprof_bare_frame(pp, &l);
    for (size_t i = 0; ok && i < n; i++)
        ok = pprof_line_frame(pp, &l, &pp->lines.v[i], (uint32_t)(n - 1 - i));
    pp->used++;
    *out = (struct sp_pprof_location){(uint32_t)first, ok ? (uint32_t)(pp->loc_frames.n - first) : 0};
    return ok;
}
