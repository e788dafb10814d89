/*
 * From the text of a stack to its number in the profile.
 *
 * A recording repeats itself: a million samples may hold 1,600 distinct stacks of 1,500 distinct lines. So
 * the text of an entry is looked up among those that were met, and only a new one is parsed. An entry is
 * what makes up one physical frame: inlined frames before it, its own line, and source lines under
 * either:
 *
 *     \t  7f44 _dl_map_segments (inlined)
 *       map.c:18
 *     \t  7f44 _dl_map_object_from_fd (/lib/x86_64-linux-gnu/ld-2.27.so)
 *       map.c:90
 *
 * Entries are kept up to ENTRY_BYTES.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/perf_script/perf_script.h"
#include "json/json.h"

#include <string.h>

#define ENTRY_BYTES ((size_t)256 << 20)

spaa_status sp_ps_stacks_init(struct sp_ps_stacks *st, struct sp_profile *p, enum sp_granularity frames,
                              struct sp_diags *d)
{
    memset(st, 0, sizeof *st);
    st->p = p;
    st->d = d;
    st->frames = frames;
    sp_arena_init(&st->entry_text, 0);
    sp_buf_init(&st->buf, 0);
    const struct sp_symbol_opts names_only = {.no_symbols = true};
    return sp_symbols_new(&names_only, d, &st->symbols);
}

void sp_ps_stacks_free(struct sp_ps_stacks *st)
{
    sp_symbols_free(st->symbols);
    sp_arena_free(&st->entry_text);
    sp_vec_free(&st->entries);
    sp_vec_free(&st->names);
    sp_map_free(&st->entry_map);
    sp_map_free(&st->name_map);
    sp_vec_free(&st->pool);
    sp_vec_free(&st->scratch);
    sp_vec_free(&st->pieces);
    sp_buf_free(&st->buf);
}

/* A function's name as it is shown: demangled, without parts. */
static bool perf_script_name_of(struct sp_ps_stacks *st, struct sp_ps_text symbol, struct sp_ps_name *out)
{
    uint32_t raw = sp_profile_str(st->p, symbol.p, symbol.n);
    if (raw == SP_STR_FAIL)
        return false;
    struct sp_probe at = sp_map_probe(&st->name_map, sp_hash_mix(raw, 1));
    for (uint32_t i; (i = sp_map_next(&st->name_map, &at)) != SP_MAP_NONE;)
        if (st->names.v[i].raw == raw) {
            *out = st->names.v[i];
            return true;
        }
    const char *name = NULL;
    uint64_t out_of_memory = st->d->count[SP_E008];
    if (symbol.n > 2 && symbol.p[0] == '_')
        name = sp_symbols_demangle(st->symbols, sp_pstr(st->p, raw).p);
    if (st->d->count[SP_E008] != out_of_memory) /* not a name that is not mangled */
        return false;
    struct sp_str shown =
        sp_function_shown(name ? (struct sp_str){name, (uint32_t)strlen(name)} : sp_pstr(st->p, raw));
    *out = (struct sp_ps_name){raw, sp_profile_str(st->p, shown.p, shown.n)};
    if (out->func == SP_STR_FAIL)
        return false;
    return sp_map_add(&st->name_map, sp_hash_mix(raw, 1), (uint32_t)st->names.n) &&
           sp_vec_push(&st->names, *out);
}

/* `extra_json` with the DSO as printed. */
static uint32_t perf_script_raw_dso(struct sp_ps_stacks *st, struct sp_ps_text dso)
{
    sp_buf_clear(&st->buf);
    sp_buf_puts(&st->buf, "\"x_raw_dso\":");
    sp_json_string(&st->buf, dso.p, dso.n);
    return st->buf.failed ? SP_STR_FAIL : sp_profile_str(st->p, st->buf.data, st->buf.len);
}

static bool perf_script_add_frame(struct sp_ps_stacks *st, const struct sp_ps_frame *f,
                                  struct sp_ps_text symbol, const struct sp_ps_dso *dso,
                                  struct sp_ps_text printed_dso, struct sp_ps_text srcline, uint32_t depth)
{
    struct sp_frame frame = {.inline_depth = depth};
    struct sp_dso d = {.name = sp_profile_str(st->p, dso->name.p, dso->name.n), .is_kernel = dso->kernel};
    d.doubtful = dso->is_file && f->deleted;
    if (f->has_dsoff)
        d.place.ips = SP_DSO_FILE_OFFSET;
    struct sp_ps_name name = {0};
    struct sp_func_info info = {0};
    bool unresolved = !symbol.n;
    if (unresolved) {
        char hex[2 + 16] = "0x";
        size_t n = 2 + sp_hex_text(f->ip, hex + 2);
        name.func = sp_profile_str(st->p, hex, n);
        frame.flags |= SP_FRAME_UNRESOLVED;
    } else if (!perf_script_name_of(st, symbol, &name)) {
        return false;
    }
    if (dso->renamed && (unresolved || !dso->jit))
        frame.extra_json = perf_script_raw_dso(st, printed_dso);
    if (d.name == SP_STR_FAIL || name.func == SP_STR_FAIL || frame.extra_json == SP_STR_FAIL)
        return false;
    if (name.raw != name.func && !unresolved)
        info.linkage = name.raw;
    uint32_t dso_number = sp_dso_intern(st->p, &d);
    if (dso_number == SP_NONE)
        return false;
    if (!sp_frame_set_function(st->p, &frame, name.func, dso_number, &info, st->frames))
        return false;
    frame.kind = dso->unknown ? SP_UNKNOWN : dso->kernel ? SP_KERNEL : SP_USER;
    if (depth)
        frame.flags |= SP_FRAME_INLINED;
    if (srcline.n && st->frames != SP_FRAMES_FUNCTION) {
        frame.srcline = sp_profile_str(st->p, srcline.p, srcline.n);
        if (frame.srcline == SP_STR_FAIL)
            return false;
    }
    if (st->frames == SP_FRAMES_ADDRESS) {
        frame.ip = f->ip;
        frame.flags |= SP_FRAME_IP;
        if (f->has_symoff) {
            frame.symoff = f->symoff;
            frame.flags |= SP_FRAME_SYMOFF;
        }
    }
    uint32_t number = sp_frame_intern(st->p, &frame);
    return number != SP_NONE && sp_vec_push(&st->pool, number);
}

/*
 * The physical frame of an entry; one of a Java perf map may name the methods inlined into it, which stand at
 * the same offset.
 */
static bool perf_script_add_physical(struct sp_ps_stacks *st, const struct sp_ps_piece *piece,
                                     const struct sp_ps_dso *dso)
{
    const struct sp_ps_frame *f = &piece->frame;
    size_t parts = dso->jit ? sp_ps_jit_parts(f->symbol) : 1;
    struct sp_ps_text left = f->symbol;
    for (size_t depth = parts - 1; depth > 0; depth--) {
        size_t i = left.n - 2;
        while (memcmp(left.p + i, "->", 2) != 0)
            i--;
        struct sp_ps_text name = {left.p + i + 2, left.n - i - 2};
        if (!perf_script_add_frame(st, f, name, dso, f->dso, (struct sp_ps_text){NULL, 0}, (uint32_t)depth))
            return false;
        left.n = i;
    }
    return perf_script_add_frame(st, f, left, dso, f->dso, piece->srcline, 0);
}

/* A whole run of inlined frames is of one file; where the offset in it was printed, that is the address. */
static void perf_script_take_file(struct sp_ps_frame *f, const struct sp_ps_frame *physical, bool use)
{
    f->deleted = physical->deleted;
    f->has_dsoff = use;
    if (use)
        f->ip = physical->dsoff;
}

/*
 * Frames of the collected pieces, leaf first, onto the pool. Inlined frames belong to the physical one
 * of their address. Where that is missing, perf has printed it as inlined, because its name in the debug
 * information is not that of the symbol (`f` and `f.part.0`): the outermost is it, of a DSO not printed.
 */
static bool perf_script_add_pieces(struct sp_ps_stacks *st)
{
    struct sp_ps_piece *v = st->pieces.v;
    for (size_t i = 0, n = st->pieces.n, end; i < n; i = end) {
        for (end = i + 1; end < n && v[end].frame.ip == v[i].frame.ip; end++)
            ;
        const struct sp_ps_piece *outer = &v[end - 1];
        struct sp_ps_piece physical = *outer;
        if (outer->frame.inlined)
            physical.frame.dso = (struct sp_ps_text){NULL, 0};
        struct sp_ps_dso dso;
        sp_ps_classify_dso(physical.frame.dso, outer->frame.ip, &dso);
        bool offsets = dso.is_file && outer->frame.has_dsoff && st->frames == SP_FRAMES_ADDRESS;
        for (size_t k = i; k < end; k++)
            perf_script_take_file(&v[k].frame, &physical.frame, offsets);
        perf_script_take_file(&physical.frame, &physical.frame, offsets);
        for (; i + 1 < end; i++)
            if (!perf_script_add_frame(st, &v[i].frame, v[i].frame.symbol, &dso, physical.frame.dso,
                                       v[i].srcline, (uint32_t)(end - 1 - i)))
                return false;
        if (!perf_script_add_physical(st, &physical, &dso))
            return false;
    }
    return true;
}

/* "file:line", or nothing: `??:0`, `:0`, `libc.so.6[27b25]` and empty lines say that it is unknown. */
static struct sp_ps_text perf_script_srcline_of(const char *p, const char *end)
{
    while (p < end && sp_ps_blank(*p))
        p++;
    end = p + sp_ps_source_before_branches(p, end);
    while (end > p && (sp_ps_blank(end[-1]) || end[-1] == '\r'))
        end--;
    if (p == end || *p == '?' || *p == ':' || end[-1] == ']')
        end = p;
    return (struct sp_ps_text){p, (size_t)(end - p)};
}

/*
 * Whether the line at p is what `-F +srcline` prints under a frame: two blanks and text, or nothing. trimmed:
 * the frame stands at the margin, where the blanks may be missing too.
 */
static bool perf_script_is_srcline(const char *p, const char *end, bool trimmed)
{
    if (p < end && (*p == '\n' || *p == '\r'))
        return true;
    if (trimmed && p < end && !sp_ps_blank(*p)) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        return sp_ps_trimmed_source(p, nl ? nl : end);
    }
    return end - p >= 2 && p[0] == ' ' && p[1] == ' ' && (end - p == 2 || !sp_ps_blank(p[2]));
}

static void perf_script_bad_line(struct sp_ps_stacks *st, const char *p, const char *end,
                                 const struct sp_ps_place *at, uint64_t offset, uint64_t line, bool last)
{
    st->bad++;
    int n = end - p > 80 ? 80 : (int)(end - p);
    if (last && at->at_end)
        sp_emit(st->d, SP_L301, SP_AT_LINE(line, offset), "the last line is incomplete: \"%.*s\"", n, p);
    else
        sp_emit(st->d, SP_L302, SP_AT_LINE(line, offset), "not a frame: \"%.*s\"", n, p);
}

/* Only blanks, without a line end: the indent of a frame that is cut off. perf ends what it prints by a line
 * end. */
static bool perf_script_is_indent(const char *p, const char *end)
{
    while (p < end && sp_ps_blank(*p))
        p++;
    return p == end;
}

/* Parses the lines of an entry; lines that are no frames are reported. False: out of memory. */
static bool perf_script_parse_entry(struct sp_ps_stacks *st, struct sp_ps_text text,
                                    const struct sp_ps_place *at, uint64_t offset, uint64_t line, bool *bad)
{
    const char *p = text.p, *end = p + text.n;
    bool trimmed = !sp_ps_blank(*p);
    st->pieces.n = 0;
    for (; p < end; line++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *eol = nl ? nl : end, *next = nl ? nl + 1 : end;
        while (eol > p && eol[-1] == '\r')
            eol--;
        struct sp_ps_piece piece = {0};
        struct sp_ps_piece *under = st->pieces.n ? &st->pieces.v[st->pieces.n - 1] : NULL;
        /* Without its line end a frame ends as it should, or it is cut. */
        bool last = !nl && at->at_end && !at->one_line, cut = last && (eol == p || eol[-1] != ')');
        if (last && perf_script_is_indent(p, eol)) {
            *bad = true;
            perf_script_bad_line(st, p, eol, at, offset + (uint64_t)(p - text.p), line, true);
        } else if (under && perf_script_is_srcline(p, eol, trimmed)) {
            under->srcline = perf_script_srcline_of(p, eol);
        } else if (!cut && !(under && !under->frame.inlined) && sp_ps_frame_line(p, eol, &piece.frame) &&
                   (piece.frame.dso.p || !st->dso_seen)) {
            st->dso_seen |= !piece.frame.inlined && piece.frame.dso.p;
            if (!sp_vec_push(&st->pieces, piece))
                return false;
        } else if (cut || perf_script_srcline_of(p, eol).n) {
            *bad = true;
            perf_script_bad_line(st, p, eol, at, offset + (uint64_t)(p - text.p), line, !nl);
        }
        p = next;
    }
    return true;
}

/* The end of the entry that starts at p: behind the line of a physical frame and its source line. */
static const char *perf_script_entry_end(const char *p, const char *end, uint32_t *lines)
{
    for (;;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *next = nl ? nl + 1 : end, *eol = nl ? nl : end;
        (*lines)++;
        if (eol > p && eol[-1] == '\r')
            eol--;
        bool inlined = eol - p >= 9 && eol[-1] == ')' && memcmp(eol - 9, "(inlined)", 9) == 0;
        bool source = next < end && *next != '\t' && p[0] != ' ' &&
                      perf_script_is_srcline(next, end, !sp_ps_blank(p[0]));
        p = next;
        if (p == end)
            return p;
        if (source) {
            nl = memchr(p, '\n', (size_t)(end - p));
            p = nl ? nl + 1 : end;
            (*lines)++;
        }
        if (!inlined || p == end)
            return p;
    }
}

/* The frames of one entry, onto the scratch stack. */
static bool perf_script_push_entry(struct sp_ps_stacks *st, struct sp_ps_text text,
                                   const struct sp_ps_place *at, uint64_t offset, uint64_t line)
{
    uint64_t hash = sp_hash_key(text.p, text.n);
    struct sp_probe probe = sp_map_probe(&st->entry_map, hash);
    for (uint32_t i; (i = sp_map_next(&st->entry_map, &probe)) != SP_MAP_NONE;) {
        const struct sp_ps_entry *e = &st->entries.v[i];
        if (e->n != text.n || memcmp(e->text, text.p, text.n) != 0)
            continue;
        if (e->frames == 1)
            return sp_vec_push(&st->scratch, st->pool.v[e->first]);
        for (uint32_t k = 0; k < e->frames; k++)
            if (!sp_vec_push(&st->scratch, st->pool.v[e->first + k]))
                return false;
        return true;
    }
    size_t first = st->pool.n;
    bool entry_bad = false;
    if (!perf_script_parse_entry(st, text, at, offset, line, &entry_bad) ||
        (st->pieces.n && !perf_script_add_pieces(st)))
        return false;
    for (size_t k = first; k < st->pool.n; k++)
        if (!sp_vec_push(&st->scratch, st->pool.v[k]))
            return false;
    if (entry_bad || text.n >= UINT32_MAX || st->entry_text.total > ENTRY_BYTES || st->pool.n >= SP_NONE) {
        st->pool.n = first;
        return true;
    }
    struct sp_ps_entry e = {sp_arena_dup(&st->entry_text, text.p, text.n), (uint32_t)text.n, (uint32_t)first,
                            (uint32_t)(st->pool.n - first)};
    return e.text && sp_vec_push(&st->entries, e) &&
           sp_map_add(&st->entry_map, hash, (uint32_t)st->entries.n - 1);
}

/* The frames of a text, in scratch. */
static bool perf_script_build(struct sp_ps_stacks *st, struct sp_ps_text text, const struct sp_ps_place *at,
                              uint32_t *lines)
{
    const char *p = text.p, *end = p + text.n;
    st->scratch.n = 0;
    *lines = 0;
    while (p < end) {
        uint32_t before = *lines;
        const char *nl = *p == '\t' ? NULL : memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        if (*p != '\t' && !at->one_line && (sp_ps_is_more(p, eol) || sp_ps_has_branches(p, eol))) {
            ++*lines;
            p = nl ? nl + 1 : end;
            continue;
        }
        const char *next = perf_script_entry_end(p, end, lines);
        if (!perf_script_push_entry(st, (struct sp_ps_text){p, (size_t)(next - p)}, at,
                                    at->offset + (uint64_t)(p - text.p), at->line + before))
            return false;
        p = next;
    }
    return true;
}

spaa_status sp_ps_stack(struct sp_ps_stacks *st, struct sp_ps_text text, uint32_t context,
                        const struct sp_ps_place *at, uint32_t *stack, uint32_t *lines)
{
    bool is_new;
    if (!perf_script_build(st, text, at, lines))
        return sp_nomem(st->d);
    *stack = sp_stack_intern(st->p, st->scratch.v, st->scratch.n, context, SP_UNIFIED, &is_new);
    return *stack == SP_NONE ? sp_nomem(st->d) : SPAA_OK;
}
