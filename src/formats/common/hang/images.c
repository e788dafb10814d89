/*
 * `Binary Images:` of hang reports. A report repeats most lines in every process, so distinct lines are
 * parsed once. Frames name an image by the base name of its file, by the name that stands here, or by <UUID>.
 */
#include "formats/common/hang/images.h"

#include "base/hash.h"
#include "base/num.h"
#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

void sp_hang_images_free(struct sp_hang_images *m)
{
    sp_vec_free(&m->v);
    sp_map_free(&m->lines);
    sp_map_free(&m->key_map);
    sp_vec_free(&m->keys);
    sp_vec_free(&m->ranges);
}

/* The key with this text; SP_NONE. */
static uint32_t hang_key_at(const struct sp_hang_images *m, struct sp_span text, uint64_t hash)
{
    struct sp_probe at = sp_map_probe(&m->key_map, hash);
    for (uint32_t i; (i = sp_map_next(&m->key_map, &at)) != SP_MAP_NONE;)
        if (m->keys.v[i].text.n == text.n && memcmp(m->keys.v[i].text.p, text.p, text.n) == 0)
            return i;
    return SP_NONE;
}

/* Puts an image under a text, if there is one. False: no memory. */
static bool hang_put_under(struct sp_hang_images *m, uint32_t image, enum sp_hang_named_by by,
                           struct sp_span text)
{
    uint64_t hash = text.n ? sp_hash_key(text.p, text.n) : 0;
    uint32_t k = text.n ? hang_key_at(m, text, hash) : SP_NONE;
    struct sp_hang_key fresh = {.text = text, .newest = {SP_NONE, SP_NONE, SP_NONE}};
    if (!text.n)
        return true;
    if (k == SP_NONE) {
        k = (uint32_t)m->keys.n;
        if (m->keys.n >= SP_NONE - 1 || !sp_vec_push(&m->keys, fresh) || !sp_map_add(&m->key_map, hash, k))
            return false;
    }
    m->v.v[image].next[by] = m->keys.v[k].newest[by];
    m->keys.v[k].newest[by] = image;
    return true;
}

/* What frames call an image: its file's name; in the kernel, and where there is no path, its own. */
static struct sp_span hang_image_file(const struct sp_hang_image *i)
{
    if (!i->kernel && i->path.n && i->path.n < UINT32_MAX) {
        struct sp_str s = sp_base_name((struct sp_str){i->path.p, (uint32_t)i->path.n});
        return (struct sp_span){s.p, s.n};
    }
    return i->name;
}

/* A line that is new. */
static uint32_t hang_add_image(struct sp_hang_images *m, struct sp_span line, uint64_t hash, bool *ok)
{
    struct sp_hang_image x;
    uint32_t n = (uint32_t)m->v.n;
    if (!sp_hang_parse_image(line, &x))
        return SP_NONE;
    x.file = hang_image_file(&x);
    *ok = m->v.n < SP_NONE - 1 && sp_vec_push(&m->v, x) && sp_map_add(&m->lines, hash, n) &&
          hang_put_under(m, n, SP_HANG_BY_FILE, x.file) && hang_put_under(m, n, SP_HANG_BY_NAME, x.name) &&
          hang_put_under(m, n, SP_HANG_BY_UUID, x.uuid);
    return *ok ? n : SP_NONE;
}

uint32_t sp_hang_image(struct sp_hang_images *m, struct sp_span line, uint32_t stamp, bool *ok)
{
    uint64_t hash = sp_hash_key(line.p, line.n);
    struct sp_probe at = sp_map_probe(&m->lines, hash);
    uint32_t image;
    *ok = true;
    while ((image = sp_map_next(&m->lines, &at)) != SP_MAP_NONE)
        if (m->v.v[image].line.n == line.n && memcmp(m->v.v[image].line.p, line.p, line.n) == 0)
            break;
    if (image == SP_MAP_NONE)
        image = hang_add_image(m, line, hash, ok);
    if (image != SP_NONE)
        m->v.v[image].stamp = stamp;
    return image;
}

static bool hang_holds(const struct sp_hang_image *i, uint64_t address)
{
    return address >= i->start && address <= i->end;
}

static int hang_by_start(const void *va, const void *vb)
{
    const struct sp_hang_range *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->image > b->image) - (a->image < b->image);
}

/* The images of the process under a key, in order of addresses, collected when they are asked for first. */
static const struct sp_hang_here *hang_images_here(struct sp_hang_images *m, struct sp_hang_key *k,
                                                   enum sp_hang_named_by by, uint32_t stamp)
{
    struct sp_hang_here *here = &k->here[by];
    uint64_t reach = 0;
    if (here->stamp == stamp)
        return here;
    if (m->ranges_stamp != stamp)
        m->ranges.n = 0;
    m->ranges_stamp = stamp;
    size_t from = m->ranges.n;
    for (uint32_t i = k->newest[by]; i != SP_NONE; i = m->v.v[i].next[by]) {
        struct sp_hang_range range = {m->v.v[i].start, 0, i};
        if (m->v.v[i].stamp != stamp)
            continue;
        if (!sp_vec_push(&m->ranges, range))
            return NULL;
        here->oldest = i;
    }
    size_t n = m->ranges.n - from;
    struct sp_hang_range *v = n ? m->ranges.v + from : NULL;
    if (n > 1)
        qsort(v, n, sizeof *v, hang_by_start);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = m->v.v[v[i].image].end;
        v[i].reach = reach = end > reach ? end : reach;
    }
    here->stamp = stamp;
    here->from = from;
    here->n = n;
    return here;
}

/* The newest of those that hold the address, of the nearest where ever so many overlap; SP_NONE. */
static uint32_t hang_holder(const struct sp_hang_images *m, const struct sp_hang_here *here, uint64_t address)
{
    enum { OVERLAPS = 64 };
    const struct sp_hang_range *v = m->ranges.v + here->from;
    size_t lo = 0, hi = here->n;
    uint32_t best = SP_NONE;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].start <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t i = lo; i > 0 && lo - i < OVERLAPS && v[i - 1].reach >= address; i--)
        if (hang_holds(&m->v.v[v[i - 1].image], address) && (best == SP_NONE || v[i - 1].image > best))
            best = v[i - 1].image;
    return best;
}

uint32_t sp_hang_find_image(struct sp_hang_images *m, struct sp_span name, uint64_t address, uint32_t stamp,
                            bool *ok)
{
    bool uuid = name.n > 2 && *name.p == '<' && name.p[name.n - 1] == '>';
    struct sp_span text = uuid ? (struct sp_span){name.p + 1, name.n - 2} : name;
    uint32_t k = hang_key_at(m, text, sp_hash_key(text.p, text.n)), oldest = SP_NONE;
    *ok = true;
    for (int by = uuid ? SP_HANG_BY_UUID : SP_HANG_BY_FILE; k != SP_NONE; by++) {
        const struct sp_hang_here *here =
            hang_images_here(m, &m->keys.v[k], (enum sp_hang_named_by)by, stamp);
        *ok = here;
        if (!here)
            return SP_NONE;
        uint32_t i = here->n ? hang_holder(m, here, address) : SP_NONE;
        if (i != SP_NONE)
            return i;
        if (here->n)
            oldest = here->oldest; /* what order in the text would give */
        if (by != SP_HANG_BY_FILE)
            break;
    }
    return oldest;
}

/* A UUID as build id: lower case, without dashes; SP_STR_NONE where it is none. */
static uint32_t hang_build_id(struct sp_profile *p, struct sp_span uuid)
{
    char t[64]; /* its digits are that many at most */
    size_t n = 0;
    if (!uuid.n || sp_hang_uuid_length(uuid) != uuid.n)
        return SP_STR_NONE;
    for (size_t i = 0; i < uuid.n; i++)
        if (uuid.p[i] != '-')
            t[n++] = (char)(uuid.p[i] | 0x20); /* lower case; digits stay what they are */
    return sp_profile_str(p, t, n);
}

uint32_t sp_hang_dso(struct sp_profile *p, struct sp_span name, struct sp_span uuid, bool kernel)
{
    struct sp_dso d = {.name = sp_hang_str(p, name), .build_id = hang_build_id(p, uuid), .is_kernel = kernel};
    return d.name == SP_STR_FAIL || d.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &d);
}

void sp_hang_uuid_text(struct sp_str id, struct sp_buf *b)
{
    for (uint32_t i = 0; i < id.n; i++) {
        if (id.n == 32 && (i == 8 || i == 12 || i == 16 || i == 20))
            sp_buf_ch(b, '-');
        sp_buf_ch(b, (char)(id.p[i] >= 'a' && id.p[i] <= 'f' ? id.p[i] - ('a' - 'A') : id.p[i]));
    }
}

/* The text is what is printed for the address. */
static bool hang_is_plain_address(struct sp_span s, uint64_t v)
{
    char t[16];
    size_t n = sp_hex_text(v, t);
    return s.n == n + 2 && memcmp(s.p, "0x", 2) == 0 && memcmp(s.p + 2, t, n) == 0;
}

static void hang_take_address(struct sp_buf *b, const char *key, struct sp_span text, uint64_t *out)
{
    uint64_t v = 0;
    *out = SP_NO_ADDRESS;
    if (sp_span_is(text, "???"))
        return;
    if (sp_hang_address_length(text, &v) == text.n && v != SP_NO_ADDRESS && hang_is_plain_address(text, v))
        *out = v;
    else
        sp_hang_member(b, key, text);
}

static bool hang_take_uuid(struct sp_profile *p, struct sp_buf *b, struct sp_span uuid, uint32_t *out)
{
    struct sp_buf back;
    sp_buf_init(&back, 0);
    *out = hang_build_id(p, uuid);
    if (*out != SP_STR_FAIL && *out)
        sp_hang_uuid_text(sp_pstr(p, *out), &back);
    if (uuid.n && !(back.len == uuid.n && memcmp(back.data, uuid.p, uuid.n) == 0))
        sp_hang_member(b, "uuid", uuid);
    bool ok = !back.failed && *out != SP_STR_FAIL;
    sp_buf_free(&back);
    return ok;
}

static uint32_t hang_image_text(struct sp_profile *p, struct sp_span s)
{
    return s.n ? sp_profile_text(p, s.p, s.n) : SP_STR_NONE;
}

bool sp_hang_image_fact(struct sp_profile *p, const struct sp_hang_image *i, const char *x_key,
                        struct sp_image *out)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"%s\":{", x_key);
    *out = (struct sp_image){.flags = i->kernel ? SP_FACT_KERNEL : 0};
    hang_take_address(&b, "start", i->start_text, &out->start);
    hang_take_address(&b, "end", i->end_text, &out->end);
    bool ok = hang_take_uuid(p, &b, i->uuid, &out->build_id);
    out->name = hang_image_text(p, i->name);
    out->path = hang_image_text(p, i->path);
    if (i->version.n)
        sp_hang_member(&b, "version", i->version);
    if (i->suffix.n)
        sp_hang_member(&b, "suffix", i->suffix);
    if (i->plus) {
        sp_hang_comma(&b);
        sp_buf_puts(&b, "\"plus\":true");
    }
    bool any = b.len && b.data[b.len - 1] != '{';
    sp_buf_ch(&b, '}');
    out->extra_json = b.failed ? SP_STR_FAIL : any ? sp_profile_str(p, b.data, b.len) : SP_STR_NONE;
    sp_buf_free(&b);
    return ok && out->name != SP_STR_FAIL && out->path != SP_STR_FAIL && out->extra_json != SP_STR_FAIL;
}

bool sp_hang_image_facts(struct sp_profile *p, const struct sp_hang_images *m, const char *x_key)
{
    struct sp_image x;
    for (size_t k = 0; k < m->v.n; k++)
        if (!sp_hang_image_fact(p, &m->v.v[k], x_key, &x) || !sp_image_add(p, &x))
            return false;
    return true;
}

static void hang_put_padded(struct sp_output *out, struct sp_span s, size_t width)
{
    for (size_t i = s.n; i < width; i++)
        sp_write(out, " ", 1);
    sp_write(out, s.p, s.n);
}

void sp_hang_image_line(struct sp_output *out, const struct sp_hang_image *i)
{
    sp_puts(out, i->kernel ? "  *" : "   ");
    hang_put_padded(out, i->start_text, i->kernel ? 0 : 18);
    sp_puts(out, " - ");
    hang_put_padded(out, i->end_text, 18);
    sp_puts(out, i->plus ? "  +" : "  ");
    sp_write(out, i->name.p, i->name.n);
    if (i->version.n) {
        sp_puts(out, " ");
        sp_write(out, i->version.p, i->version.n);
    }
    if (i->uuid.n) {
        sp_puts(out, "  <");
        sp_write(out, i->uuid.p, i->uuid.n);
        sp_puts(out, ">");
        sp_write(out, i->suffix.p, i->suffix.n);
    }
    if (i->path.n) {
        sp_puts(out, "  ");
        sp_write(out, i->path.p, i->path.n);
    }
    sp_puts(out, "\n");
}
