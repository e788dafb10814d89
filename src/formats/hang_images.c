/*
 * `Binary Images:` of hang reports:
 *
 *        0x19df71000 -        0x19e010fff  dyld (1335)  <0975AFBA-C46B-364C-BD84-A75DAA9E455A>  /usr/lib/dyld
 *   *0xfffffe0008860000 - 0xfffffe00091cffff  kernel.release.t6041 (12377)  <…>__TEXT_EXEC  /System/…
 *
 * A report repeats most lines in every process, so distinct lines are parsed once. Frames name an image by
 * the base name of its file, by the name that stands here, or by <UUID>. The end and the name may be `???`;
 * version, UUID and path may be missing; sample(1) puts a `+` before names of the application's own.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/hang.h"
#include "formats/hang_digits.h"
#include "model/identity.h"

#include <stdlib.h>
#include <string.h>

bool sp_hang_images_expect(struct sp_hang_images *m, size_t n)
{
    return sp_vec_reserve(&m->v, n) && sp_vec_reserve(&m->lines_seen, n) && sp_vec_reserve(&m->names, n) &&
           sp_map_grow(&m->lines, n) && sp_map_grow(&m->keys, n);
}

void sp_hang_images_free(struct sp_hang_images *m)
{
    sp_vec_free(&m->v);
    sp_vec_free(&m->lines_seen);
    sp_map_free(&m->lines);
    sp_map_free(&m->keys);
    sp_vec_free(&m->names);
    sp_vec_free(&m->many);
    sp_vec_free(&m->sorted);
}

/* "0x1f" at the beginning of s; its length, or 0. */
static size_t hex_text(struct sp_span s, uint64_t *v)
{
    size_t n = sp_hang_starts(s, "0x") ? sp_parse_hex(s.p + 2, s.p + s.n, v) : 0;
    return n && n <= 16 ? n + 2 : 0;
}

/* "name 1.0 (1)", "name (1)", "name 1.0", "name": the version is what follows the name. */
static void split_version(struct sp_hang_image *x, struct sp_span s)
{
    struct sp_span rest = s;
    const char *group = sp_hang_group(s);
    if (group && group > s.p && sp_hang_blank(group[-1]))
        rest = sp_hang_trim((struct sp_span){s.p, (size_t)(group - s.p)});
    size_t i = rest.n;
    while (i && !sp_hang_blank(rest.p[i - 1]))
        i--;
    if (i && (sp_hang_digit(rest.p[i]) || (rest.p[i] == '?' && rest.n - i == 3)))
        rest = sp_hang_trim((struct sp_span){rest.p, i});
    x->name = rest;
    if (rest.n < s.n)
        x->version = sp_hang_trim(sp_hang_after(s, rest.n));
}

/* The digits of "0975AFBA-C46B-364C-BD84-A75DAA9E455A", as most UUIDs are written; false: it is another. */
static bool usual_uuid(struct sp_span s, char t[static 32])
{
    uint64_t odd = 0;
    if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
        return false;
    memcpy(t, s.p, 8);
    memcpy(t + 8, s.p + 9, 4);
    memcpy(t + 12, s.p + 14, 4);
    memcpy(t + 16, s.p + 19, 4);
    memcpy(t + 20, s.p + 24, 12);
    for (int i = 0; i < 32; i += 8)
        odd |= sp_hang_no_hex(sp_load_le64(t + i));
    return !odd;
}

/* 16 to 64 digits, and dashes anywhere. */
static bool any_uuid(struct sp_span s)
{
    enum { DASH = 1 << 16 };
    static const uint32_t weights[256] = {
        ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1,   ['7'] = 1,
        ['8'] = 1, ['9'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1,   ['f'] = 1,
        ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['-'] = DASH};
    uint32_t sum = 0, digits = 0;
    if (s.n >= DASH)
        return false;
    for (size_t i = 0; i < s.n; i++)
        sum += weights[(unsigned char)s.p[i]];
    digits = sum % DASH;
    return digits + sum / DASH == s.n && digits >= 16 && digits <= 64;
}

static bool uuid_like(struct sp_span s)
{
    char digits[32];
    return usual_uuid(s, digits) || any_uuid(s);
}

/* "<UUID>SUFFIX  path" from where the UUID is; NULL: there is none. */
static const char *find_uuid(struct sp_span s)
{
    for (const char *p = s.p; (p = memchr(p, '<', (size_t)(s.p + s.n - p))); p++) {
        const char *close = memchr(p, '>', (size_t)(s.p + s.n - p));
        if (close && uuid_like((struct sp_span){p + 1, (size_t)(close - p - 1)}))
            return p;
    }
    return NULL;
}

static void parse_rest(struct sp_hang_image *x, struct sp_span s)
{
    const char *uuid = find_uuid(s);
    if (uuid) {
        const char *close = memchr(uuid, '>', (size_t)(s.p + s.n - uuid));
        x->uuid = (struct sp_span){uuid + 1, (size_t)(close - uuid - 1)};
        struct sp_span rest = sp_hang_after(s, (size_t)(close + 1 - s.p));
        size_t n = 0;
        while (n < rest.n && !sp_hang_blank(rest.p[n]))
            n++;
        x->suffix = (struct sp_span){rest.p, n};
        x->path = sp_hang_trim(sp_hang_after(rest, n));
        s.n = (size_t)(uuid - s.p);
    } else {
        const char *path = memmem(s.p, s.n, " /", 2);
        if (path) {
            x->path = sp_hang_after(s, (size_t)(path + 1 - s.p));
            s.n = (size_t)(path - s.p);
        }
    }
    s = sp_hang_trim(s);
    if (s.n && *s.p == '+') {
        x->plus = true;
        s = sp_hang_after(s, 1);
    }
    split_version(x, s);
}

static bool parse(struct sp_span s, struct sp_hang_image *x)
{
    *x = (struct sp_hang_image){.dso = SP_NONE, .next = {SP_NONE, SP_NONE, SP_NONE}};
    if (s.n && *s.p == '*') {
        x->kernel = true;
        s = sp_hang_trim(sp_hang_after(s, 1));
    }
    size_t n = hex_text(s, &x->start);
    if (!n)
        return false;
    x->start_text = (struct sp_span){s.p, n};
    s = sp_hang_trim(sp_hang_after(s, n));
    if (!s.n || *s.p != '-')
        return false;
    s = sp_hang_trim(sp_hang_after(s, 1));
    n = sp_hang_starts(s, "???") ? 3 : hex_text(s, &x->end);
    if (!n)
        return false;
    x->end_text = (struct sp_span){s.p, n};
    parse_rest(x, sp_hang_trim(sp_hang_after(s, n)));
    return true;
}

static struct sp_hang_key *key_at(const struct sp_hang_images *m, struct sp_span text, uint64_t hash)
{
    struct sp_probe at = sp_map_probe(&m->keys, hash);
    for (uint32_t i; (i = sp_map_next(&m->keys, &at)) != SP_MAP_NONE;)
        if (m->names.v[i].text.n == text.n && memcmp(m->names.v[i].text.p, text.p, text.n) == 0)
            return &m->names.v[i];
    return NULL;
}

/* The key with this text, a new one where there is none; NULL: no memory. */
static struct sp_hang_key *key_for(struct sp_hang_images *m, struct sp_span text)
{
    uint64_t hash = sp_hash64(text.p, text.n);
    struct sp_hang_key *k = key_at(m, text, hash);
    struct sp_hang_key fresh = {.text = text, .first = {SP_NONE, SP_NONE, SP_NONE}};
    if (k)
        return k;
    if (m->names.n >= SP_NONE - 1 || !sp_vec_reserve(&m->names, m->names.n + 1) ||
        !sp_map_add(&m->keys, hash, (uint32_t)m->names.n))
        return NULL;
    m->names.v[m->names.n++] = fresh;
    return &m->names.v[m->names.n - 1];
}

static void put_under(struct sp_hang_images *m, struct sp_hang_key *k, uint32_t image, int kind)
{
    m->v.v[image].next[kind] = k->first[kind];
    k->first[kind] = image;
    k->n[kind]++;
}

static bool add_names(struct sp_hang_images *m, uint32_t image)
{
    struct sp_span name = m->v.v[image].name, file = m->v.v[image].file;
    struct sp_hang_key *k = name.n ? key_for(m, name) : NULL;
    if (k)
        put_under(m, k, image, SP_HANG_BY_NAME);
    else if (name.n)
        return false;
    if (!(k && file.n == name.n && memcmp(file.p, name.p, name.n) == 0))
        k = file.n ? key_for(m, file) : NULL;
    if (k)
        put_under(m, k, image, SP_HANG_BY_FILE);
    return k || !file.n;
}

/* What is new goes under its UUIDs. */
static bool add_uuids(struct sp_hang_images *m)
{
    for (; m->by_uuid < m->v.n; m->by_uuid++) {
        struct sp_span uuid = m->v.v[m->by_uuid].uuid;
        struct sp_hang_key *k = uuid.n ? key_for(m, uuid) : NULL;
        if (uuid.n && !k)
            return false;
        if (k)
            put_under(m, k, (uint32_t)m->by_uuid, SP_HANG_BY_UUID);
    }
    return true;
}

struct sp_span sp_hang_image_file(const struct sp_hang_image *i)
{
    if (!i->kernel && i->path.n && i->path.n < UINT32_MAX) {
        struct sp_str s = sp_base_name((struct sp_str){i->path.p, (uint32_t)i->path.n});
        return (struct sp_span){s.p, s.n};
    }
    return i->name;
}

static bool same(const struct sp_hang_seen *x, struct sp_span line)
{
    return x->n == line.n && memcmp(x->p, line.p, line.n) == 0;
}

/* A line seen first, and its number as an item of lists. */
static struct sp_hang_seen seen_first(struct sp_span line, uint32_t number)
{
    struct sp_hang_seen x = {.p = line.p, .n = (uint32_t)line.n, .next = SP_NONE};
    char text[1 + 20] = ",";
    size_t n = 1 + sp_u64_text(number, text + 1);
    if (n <= sizeof x.item) {
        memcpy(x.item, text, sizeof x.item);
        x.item_n = (uint8_t)n;
    }
    return x;
}

bool sp_hang_image_list(struct sp_buf *b, const struct sp_hang_images *m, const uint32_t *images, size_t n)
{
    enum { LONGEST = sizeof ",4294967295" };
    if (!sp_buf_reserve(b, LONGEST * n + 2))
        return false;
    char *start = b->data + b->len, *to = start;
    for (size_t i = 0; i < n; i++) {
        const struct sp_hang_seen *x = &m->lines_seen.v[images[i]];
        memcpy(to, x->item, sizeof x->item); /* as many bytes as there are, some of them for nothing */
        to += x->item_n;
        if (!x->item_n) {
            *to++ = ',';
            to += sp_u64_text(images[i], to);
        }
    }
    to += to == start;
    *start = '[';
    *to++ = ']';
    b->len += (size_t)(to - start);
    return true;
}

static uint32_t find_line(struct sp_hang_images *m, struct sp_span line, bool *ok)
{
    uint64_t hash = sp_hash64(line.p, line.n);
    struct sp_probe at = sp_map_probe(&m->lines, hash);
    for (uint32_t i; (i = sp_map_next(&m->lines, &at)) != SP_MAP_NONE;)
        if (same(&m->lines_seen.v[i], line))
            return i;
    struct sp_hang_image x;
    if (line.n >= UINT32_MAX || !parse(line, &x))
        return SP_NONE;
    x.file = sp_hang_image_file(&x);
    uint32_t n = (uint32_t)m->v.n;
    struct sp_hang_seen seen = seen_first(line, n);
    *ok = m->v.n < SP_NONE - 1 && sp_vec_push(&m->lines_seen, seen) && sp_vec_push(&m->v, x) &&
          sp_map_add(&m->lines, hash, n) && add_names(m, n);
    return *ok ? n : SP_NONE;
}

uint32_t sp_hang_image(struct sp_hang_images *m, struct sp_span line, uint32_t stamp, bool *ok)
{
    uint32_t guess = sp_hang_expected_image(m);
    *ok = true;
    if (guess == SP_NONE || !same(&m->lines_seen.v[guess], line)) {
        size_t known = m->v.n;
        uint32_t image = find_line(m, line, ok);
        if (image == SP_NONE)
            return image;
        if (image >= known && guess != SP_NONE) /* in the place of another: the same may follow */
            m->lines_seen.v[image].next = m->lines_seen.v[guess].next;
        if (m->last)
            m->lines_seen.v[m->last - 1].next = image;
        guess = image;
    }
    sp_hang_take_image(m, guess, stamp);
    return guess;
}

static bool holds(const struct sp_hang_image *i, uint64_t address)
{
    return address >= i->start && address <= i->end;
}

enum { MANY = 16, OVERLAPS = 64 };

static int by_start(const void *va, const void *vb)
{
    const struct sp_hang_range *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->image > b->image) - (a->image < b->image);
}

static struct sp_hang_here *here_of(struct sp_hang_images *m, struct sp_hang_key *k, int kind)
{
    struct sp_hang_here none = {0};
    if (!k->here[kind]) {
        if (m->many.n >= SP_NONE - 1 || !sp_vec_push(&m->many, none))
            return NULL;
        k->here[kind] = (uint32_t)m->many.n;
    }
    return &m->many.v[k->here[kind] - 1];
}

/* The images of the process under a key that has many, in order of addresses. False: no memory. */
static bool sort_images(struct sp_hang_images *m, struct sp_hang_key *k, int kind, uint32_t stamp)
{
    if (m->sorted_stamp != stamp)
        m->sorted.n = 0;
    m->sorted_stamp = stamp;
    struct sp_hang_here *here = here_of(m, k, kind);
    if (!here || here->stamp == stamp)
        return here;
    size_t from = m->sorted.n;
    uint64_t reach = 0;
    here->oldest = SP_NONE;
    for (uint32_t i = k->first[kind]; i != SP_NONE; i = m->v.v[i].next[kind]) {
        struct sp_hang_range range = {m->v.v[i].start, 0, i};
        if (m->lines_seen.v[i].stamp != stamp)
            continue;
        if (!sp_vec_push(&m->sorted, range))
            return false;
        here->oldest = i; /* the chains are newest first */
    }
    size_t n = m->sorted.n - from;
    struct sp_hang_range *v = m->sorted.v + from;
    if (n)
        qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = m->v.v[v[i].image].end;
        v[i].reach = reach = end > reach ? end : reach;
    }
    here->stamp = stamp;
    here->from = from;
    here->n = (uint32_t)n;
    return true;
}

/* The newest of those that hold the address, of the nearest where ever so many overlap; *first is the oldest.
 */
static uint32_t among_many(const struct sp_hang_images *m, const struct sp_hang_key *k, int kind,
                           uint64_t address, uint32_t *first)
{
    const struct sp_hang_here *here = &m->many.v[k->here[kind] - 1];
    const struct sp_hang_range *v = m->sorted.v + here->from;
    size_t n = here->n, lo = 0, hi = n;
    uint32_t best = SP_NONE;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].start <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t i = lo; i > 0 && lo - i < OVERLAPS && v[i - 1].reach >= address; i--)
        if (holds(&m->v.v[v[i - 1].image], address) && (best == SP_NONE || v[i - 1].image > best))
            best = v[i - 1].image;
    if (n && best == SP_NONE)
        *first = here->oldest;
    return best;
}

/* The key with this text, which often is the one before. */
static struct sp_hang_key *key_again(struct sp_hang_images *m, struct sp_span text)
{
    struct sp_hang_key *k = m->last_key ? &m->names.v[m->last_key - 1] : NULL;
    if (k && k->text.n == text.n && memcmp(k->text.p, text.p, text.n) == 0)
        return k;
    k = key_at(m, text, sp_hash64(text.p, text.n));
    m->last_key = k ? (uint32_t)(k - m->names.v) + 1 : 0;
    return k;
}

uint32_t sp_hang_find_image(struct sp_hang_images *m, struct sp_span name, uint64_t address, uint32_t stamp,
                            bool *ok)
{
    static const int kinds[] = {SP_HANG_BY_FILE, SP_HANG_BY_NAME, SP_HANG_BY_UUID};
    bool uuid = name.n > 2 && *name.p == '<' && name.p[name.n - 1] == '>';
    struct sp_span text = uuid ? (struct sp_span){name.p + 1, name.n - 2} : name;
    uint32_t first = SP_NONE;
    *ok = !uuid || add_uuids(m);
    struct sp_hang_key *k = *ok ? key_again(m, text) : NULL;
    for (int at = uuid ? 2 : 0; k && at < (uuid ? 3 : 2); at++) {
        int kind = kinds[at];
        if (k->n[kind] > MANY && sort_images(m, k, kind, stamp)) {
            uint32_t i = among_many(m, k, kind, address, &first);
            if (i != SP_NONE)
                return i;
            continue;
        }
        for (uint32_t i = k->first[kind]; i != SP_NONE; i = m->v.v[i].next[kind]) {
            if (m->lines_seen.v[i].stamp != stamp)
                continue;
            if (holds(&m->v.v[i], address))
                return i;
            first = i; /* in the end the oldest: what order in the text would give */
        }
    }
    return first;
}

uint32_t sp_hang_image_at(const struct sp_hang_images *m, const uint32_t *list, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (holds(&m->v.v[list[i]], address))
            return list[i];
    return SP_NONE;
}

uint32_t sp_hang_build_id(struct sp_profile *p, struct sp_span uuid)
{
    char t[65]; /* its digits are 64 at most */
    size_t n = 32;
    if (!usual_uuid(uuid, t)) {
        if (!any_uuid(uuid))
            return SP_STR_NONE;
        n = 0;
        for (size_t i = 0; i < uuid.n; i++) {
            t[n] = uuid.p[i];
            n += uuid.p[i] != '-';
        }
    }
    for (size_t i = 0; i < n; i++)
        t[i] |= 0x20; /* lower case; digits stay what they are */
    return sp_profile_str(p, t, n);
}

uint32_t sp_hang_dso(struct sp_profile *p, struct sp_span name, struct sp_span uuid, bool kernel)
{
    struct sp_dso d = {
        .name = sp_hang_str(p, name), .build_id = sp_hang_build_id(p, uuid), .is_kernel = kernel};
    return d.name == SP_STR_FAIL || d.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &d);
}

static void put_members(struct sp_buf *b, const struct sp_hang_image *i)
{
    sp_hang_member(b, "start", i->start_text);
    sp_hang_member(b, "end", i->end_text);
    sp_hang_member(b, "name", i->name);
    if (i->version.n)
        sp_hang_member(b, "version", i->version);
    if (i->uuid.n)
        sp_hang_member(b, "uuid", i->uuid);
    if (i->suffix.n)
        sp_hang_member(b, "suffix", i->suffix);
    if (i->path.n)
        sp_hang_member(b, "path", i->path);
}

bool sp_hang_image_records(struct sp_profile *p, const struct sp_hang_images *m, const char *type)
{
    struct sp_buf b;
    bool ok = true;
    sp_buf_init(&b, 0);
    for (size_t k = 0; k < m->v.n && ok; k++) {
        const struct sp_hang_image *i = &m->v.v[k];
        sp_buf_puts(&b, "{\"type\":\"");
        sp_buf_puts(&b, type);
        sp_buf_ch(&b, '"');
        put_members(&b, i);
        if (i->kernel)
            sp_buf_puts(&b, ",\"kernel\":true");
        if (i->plus)
            sp_buf_puts(&b, ",\"plus\":true");
        ok = sp_hang_extension(p, &b);
    }
    sp_buf_free(&b);
    return ok;
}

static void padded(struct sp_output *out, struct sp_span s, size_t width)
{
    for (size_t i = s.n; i < width; i++)
        sp_write(out, " ", 1);
    sp_write(out, s.p, s.n);
}

void sp_hang_image_line(struct sp_output *out, const struct sp_hang_image *i)
{
    sp_puts(out, i->kernel ? "  *" : "   ");
    padded(out, i->start_text, i->kernel ? 0 : 18);
    sp_puts(out, " - ");
    padded(out, i->end_text, 18);
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
