/* What was mapped where: lines of maps, and the range that holds an address. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/common/mapped/mapped.h"
#include "formats/common/text/lines.h"
#include "json/json.h"

#define LINE_MAX_BYTES ((size_t)64 << 10) /* no path is longer */

static const char deleted[] = " (deleted)";

static bool mapped_maps_is_hex(struct sp_str s)
{
    uint64_t v;
    return s.n && sp_parse_hex(s.p, s.p + s.n, &v) == s.n;
}

/* The word at *p, which moves behind it. */
static struct sp_str mapped_maps_word(const char **p, const char *end)
{
    const char *q = *p = sp_mapped_blank(*p, end);
    while (q < end && *q != ' ' && *q != '\t')
        q++;
    struct sp_str s = {*p, (uint32_t)(q - *p)};
    *p = q;
    return s;
}

static bool mapped_maps_is_perms(struct sp_str s)
{
    if (s.n < 3 || s.n > 5)
        return false;
    for (uint32_t i = 0; i < s.n; i++)
        if (!memchr("rwxps-", s.p[i], 6))
            return false;
    return true;
}

/* "file.cc:12] " before a line is of a logger that wrote it. */
static const char *mapped_maps_after_log(const char *p, const char *end)
{
    const char *close = memchr(p, ']', (size_t)(end - p)), *q = close;
    if (!close || close + 1 >= end || close[1] != ' ' || memchr(p, '[', (size_t)(close - p)))
        return p;
    while (q > p && q[-1] >= '0' && q[-1] <= '9')
        q--;
    return q < close && q > p + 1 && q[-1] == ':' ? close + 2 : p;
}

static bool mapped_maps_address(const char **p, const char *end, uint64_t *out)
{
    const char *q = sp_mapped_blank(*p, end);
    if (end - q > 2 && q[0] == '0' && q[1] == 'x')
        q += 2;
    size_t n = sp_parse_hex(q, end, out);
    *p = q + n;
    return n;
}

struct maps_entry {
    uint64_t start, end, offset;
    struct sp_str path, build_id;
    bool executable, deleted;
};

/* What follows the range and the rights: "OFFSET MAJ:MIN INODE PATH"; false: another form. */
static bool mapped_maps_proc_rest(const char *p, const char *end, struct maps_entry *e)
{
    struct sp_str offset = mapped_maps_word(&p, end), device = mapped_maps_word(&p, end),
                  inode = mapped_maps_word(&p, end);
    const char *colon = device.n ? memchr(device.p, ':', device.n) : NULL;
    uint64_t v;
    if (!mapped_maps_is_hex(offset) || !colon || !inode.n ||
        sp_parse_u64(inode.p, inode.p + inode.n, &v) != inode.n)
        return false;
    sp_parse_hex(offset.p, offset.p + offset.n, &e->offset);
    e->path = sp_mapped_trim(p, (size_t)(end - p));
    return true;
}

/* "PATH (@OFFSET) BUILD_ID", each of which may be missing. */
static void mapped_maps_brief_rest(const char *p, const char *end, struct maps_entry *e)
{
    const char *at = memmem(p, (size_t)(end - p), " (@", 3);
    e->path = mapped_maps_word(&p, end);
    if (at) {
        size_t n = at > e->path.p ? (size_t)(at - e->path.p) : 0; /* " (@" may be all there is */
        e->path = sp_mapped_trim(e->path.p, n);
        p = at + 3;
        p += sp_parse_hex(p, end, &e->offset);
        p += p < end && *p == ')';
    }
    struct sp_str id = mapped_maps_word(&p, end);
    if (mapped_maps_is_hex(id) || id.n > 16)
        e->build_id = id;
}

static bool mapped_maps_parse_entry(const char *p, const char *end, struct maps_entry *e)
{
    *e = (struct maps_entry){.executable = true, .path = {"", 0}, .build_id = {"", 0}};
    if (!mapped_maps_address(&p, end, &e->start))
        return false;
    if (p < end && (*p == '-' || *p == ' ' || *p == '\t'))
        p++;
    if (!mapped_maps_address(&p, end, &e->end))
        return false;
    p += p < end && *p == ':';
    if (p < end && *p != ' ' && *p != '\t')
        return false;
    const char *rest = p;
    struct sp_str perms = mapped_maps_word(&rest, end);
    if (mapped_maps_is_perms(perms)) {
        e->executable = memchr(perms.p, 'x', perms.n) != NULL;
        p = rest;
    }
    if (!mapped_maps_proc_rest(p, end, e))
        mapped_maps_brief_rest(p, end, e);
    size_t suffix = sizeof deleted - 1;
    e->deleted = e->path.n > suffix && memcmp(e->path.p + e->path.n - suffix, deleted, suffix) == 0;
    if (e->deleted)
        e->path.n -= (uint32_t)suffix;
    return e->end > e->start;
}

/* $NAME by its value, into m->text, when there is any. False: out of memory. */
static bool mapped_maps_expand(struct sp_mapped *m, const char *p, size_t n, struct sp_str *out)
{
    struct sp_buf *b = &m->text;
    *out = (struct sp_str){p, (uint32_t)n};
    if (!m->nattrs || !memchr(p, '$', n))
        return true;
    sp_buf_clear(b);
    for (size_t i = 0; i < n && b->len < LINE_MAX_BYTES && !b->failed;) {
        uint32_t k = 0;
        const struct sp_mapped_attr *a = m->attrs;
        while (k < m->nattrs &&
               (p[i] != '$' || a[k].name.n > n - i - 1 || memcmp(p + i + 1, a[k].name.p, a[k].name.n) != 0))
            k++;
        if (k < m->nattrs) {
            sp_buf_add(b, a[k].value.p, a[k].value.n);
            i += 1 + a[k].name.n;
        } else {
            sp_buf_ch(b, p[i++]);
        }
    }
    *out = (struct sp_str){b->len ? b->data : "", (uint32_t)b->len};
    return !b->failed;
}

static struct sp_str mapped_maps_keep(struct sp_mapped *m, struct sp_str s)
{
    return (struct sp_str){sp_arena_dup(&m->arena, s.p, s.n), s.n};
}

static uint64_t mapped_maps_module_hash(struct sp_str path, struct sp_str build_id)
{
    return sp_hash_mix(sp_hash_key(path.p, path.n), sp_hash_key(build_id.p, build_id.n));
}

static bool mapped_maps_same(struct sp_str a, struct sp_str b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static bool mapped_maps_is_build_id(struct sp_str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (!memchr("0123456789abcdef", s.p[i], 16))
            return false;
    return s.n;
}

static bool mapped_maps_is_anonymous(struct sp_str path)
{
    static const char *const names[] = {"//anon",      "/anon_hugepage", "/dev/zero", "/memfd:", "/SYSV",
                                        "anon_inode:", "[heap]",         "[stack",    "[anon:"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (path.n >= strlen(names[i]) && memcmp(path.p, names[i], strlen(names[i])) == 0)
            return true;
    return !path.n;
}

/* SP_NONE: out of memory. */
static uint32_t mapped_maps_intern_module(struct sp_mapped *m, const struct maps_entry *e)
{
    struct sp_str path = mapped_maps_is_anonymous(e->path) ? (struct sp_str){"", 0} : e->path;
    struct sp_str id = mapped_maps_is_build_id(e->build_id) ? e->build_id : (struct sp_str){"", 0};
    uint64_t hash = mapped_maps_module_hash(path, id);
    struct sp_probe at = sp_map_probe(&m->module_map, hash);
    for (uint32_t i; (i = sp_map_next(&m->module_map, &at)) != SP_MAP_NONE;)
        if (m->modules.v[i].deleted == e->deleted && mapped_maps_same(m->modules.v[i].path, path) &&
            mapped_maps_same(m->modules.v[i].build_id, id))
            return i;
    struct sp_mapped_module fresh = {.path = mapped_maps_keep(m, path),
                                     .build_id = mapped_maps_keep(m, id),
                                     .object = SP_NONE,
                                     .file = path.n && path.p[0] != '[',
                                     .deleted = e->deleted};
    if (!fresh.path.p || !fresh.build_id.p || !sp_vec_push(&m->modules, fresh) ||
        !sp_map_add(&m->module_map, hash, (uint32_t)m->modules.n - 1))
        return SP_NONE;
    return (uint32_t)m->modules.n - 1;
}

static spaa_status mapped_maps_take_entry(struct sp_mapped *m, const struct maps_entry *e)
{
    struct sp_mapped_range r = {e->start, e->end, e->offset, mapped_maps_intern_module(m, e)};
    if (r.module == SP_NONE)
        return sp_nomem(m->d);
    if (m->ranges.n) {
        struct sp_mapped_range *last = &m->ranges.v[m->ranges.n - 1];
        bool follows = last->end == r.start && last->module == r.module;
        if (follows && (r.offset == last->offset + (last->end - last->start) || !r.offset)) {
            last->end = r.end;
            return SPAA_OK;
        }
    }
    if (m->ranges.n >= SP_MAPPED_RANGES) {
        if (!m->maps_full)
            sp_emit(m->d, SP_L768, SP_AT_NOTHING, "more than %zu executable maps", SP_MAPPED_RANGES);
        m->maps_full = true;
        return SPAA_OK;
    }
    return sp_vec_push(&m->ranges, r) ? SPAA_OK : sp_nomem(m->d);
}

spaa_status sp_mapped_line(struct sp_mapped *m, const char *p, size_t n, bool *known)
{
    struct sp_str line;
    struct maps_entry e;
    *known = false;
    if (n > LINE_MAX_BYTES)
        return SPAA_OK;
    const char *from = mapped_maps_after_log(p, p + n);
    if (!mapped_maps_expand(m, from, (size_t)(p + n - from), &line))
        return sp_nomem(m->d);
    if (mapped_maps_parse_entry(line.p, line.p + line.n, &e)) {
        *known = true;
        return e.executable ? mapped_maps_take_entry(m, &e) : SPAA_OK;
    }
    const char *eq = line.n ? memchr(line.p, '=', line.n) : NULL;
    if (!eq)
        return SPAA_OK;
    struct sp_mapped_attr a = {sp_mapped_trim(line.p, (size_t)(eq - line.p)),
                               sp_mapped_trim(eq + 1, (size_t)(line.p + line.n - eq - 1))};
    if (!a.name.n || a.value.n > 4096 || m->nattrs >= SP_MAPPED_ATTRS)
        return SPAA_OK;
    a = (struct sp_mapped_attr){mapped_maps_keep(m, a.name), mapped_maps_keep(m, a.value)};
    if (!a.name.p || !a.value.p)
        return sp_nomem(m->d);
    m->attrs[m->nattrs++] = a;
    *known = true;
    return SPAA_OK;
}

bool sp_mapped_sentinel(const char *p, size_t n)
{
    return memmem(p, n, "MAPPED_LIBRARIES:", 17) || memmem(p, n, "--- Memory map: ---", 19);
}

spaa_status sp_mapped_lines(struct sp_mapped *m, const char *p, const char *end, uint64_t offset,
                            uint64_t line)
{
    const char *begin = p;
    spaa_status st = SPAA_OK;
    for (const char *next; !st && p < end; p = next, line += line != 0) {
        size_t n = sp_mapped_eol(p, end, &next);
        const char *first = sp_mapped_blank(p, p + n);
        bool known = first == p + n || *first == '#' || sp_mapped_sentinel(p, n);
        if (!known)
            st = sp_mapped_line(m, p, n, &known);
        if (!known && !st)
            sp_emit(m->d, SP_W769, SP_AT_LINE(line, offset + (uint64_t)(p - begin)), " ");
        else if (n && next == end && end[-1] != '\n') /* where a path is cut, names are another binary's */
            sp_lines_say_cut(m->d, line, offset + (uint64_t)(p - begin));
    }
    return st;
}

/* By start, in the order of the file where that is equal. */
static int mapped_maps_by_start(const void *va, const void *vb)
{
    const struct sp_mapped_range *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    return (a->module > b->module) - (a->module < b->module);
}

/*
 * Code that was moved to large pages is anonymous memory in front of the rest of its file, whose offset tells
 * how much of the file comes before it.
 */
spaa_status sp_mapped_sort(struct sp_mapped *m)
{
    if (m->ranges.n > 1)
        qsort(m->ranges.v, m->ranges.n, sizeof *m->ranges.v, mapped_maps_by_start);
    for (size_t i = m->ranges.n; i-- > 1;) {
        struct sp_mapped_range *before = &m->ranges.v[i - 1];
        const struct sp_mapped_range *r = &m->ranges.v[i];
        uint64_t size = before->end - before->start;
        if (m->modules.v[before->module].path.n || !m->modules.v[r->module].file || before->end != r->start ||
            r->offset < size)
            continue;
        before->module = r->module;
        before->offset = r->offset - size;
    }
    return SPAA_OK;
}

const struct sp_mapped_range *sp_mapped_find(const struct sp_mapped *m, uint64_t addr)
{
    size_t lo = 0, hi = m->ranges.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->ranges.v[mid].end <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == m->ranges.n)
        return NULL;
    const struct sp_mapped_range *r = &m->ranges.v[lo];
    if (r->start <= addr)
        return r;
    /* Some writers leave the first parts of a file's maps out. */
    return m->modules.v[r->module].file && r->offset && r->start - addr <= r->offset ? r : NULL;
}

static void mapped_maps_put_hex(struct sp_buf *b, const char *name, uint64_t v)
{
    char t[16];
    sp_buf_printf(b, "\"%s\":\"0x", name);
    sp_buf_add(b, t, sp_hex_text(v, t));
    sp_buf_puts(b, "\",");
}

void sp_mapped_json(const struct sp_mapped *m, struct sp_buf *b)
{
    for (size_t i = 0; i < m->ranges.n; i++) {
        const struct sp_mapped_range *r = &m->ranges.v[i];
        const struct sp_mapped_module *x = &m->modules.v[r->module];
        sp_buf_puts(b, i ? ",{" : ",\"mappings\":[{");
        mapped_maps_put_hex(b, "start", r->start);
        mapped_maps_put_hex(b, "limit", r->end);
        mapped_maps_put_hex(b, "offset", r->offset);
        sp_buf_puts(b, "\"file\":");
        sp_json_string(b, x->path.p, x->path.n);
        if (x->build_id.n) {
            sp_buf_puts(b, ",\"build_id\":");
            sp_json_string(b, x->build_id.p, x->build_id.n);
        }
        sp_buf_ch(b, '}');
    }
    if (m->ranges.n)
        sp_buf_ch(b, ']');
}
