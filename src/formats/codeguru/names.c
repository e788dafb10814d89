/*
 * Frame names. A key is the function's name as it stands, but for marks:
 *
 *     io_wait_[k]             a kernel function
 *     io_wait_k               the same, by profile-bee
 *     libc.so.6+0x1a2b3c      profile-bee: no symbol, the address in an object
 *     serve (src/net.rs:12)   profile-bee: with its source line
 *
 * A key that is not the function's name is kept beside it (x_codeguru.name), and a node's file and line
 * where `srcline` does not give them back, so that every key comes back as it was.
 */
#include "formats/codeguru/codeguru.h"

#include "base/num.h"

static uint32_t codeguru_dso(struct sp_profile *p, struct sp_span name, bool kernel)
{
    struct sp_dso d = {.name = sp_profile_str(p, name.p, name.n), .is_kernel = kernel};
    return d.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &d);
}

void sp_cg_names_init(struct sp_cg_names *n, struct sp_profile *p, bool places)
{
    *n = (struct sp_cg_names){.p = p, .places = places, .kernel = SP_NONE, .unknown = SP_NONE};
    sp_buf_init(&n->text, 0);
    sp_buf_init(&n->more, 0);
    sp_buf_init(&n->place, 0);
}

void sp_cg_names_free(struct sp_cg_names *n)
{
    sp_buf_free(&n->text);
    sp_buf_free(&n->more);
    sp_buf_free(&n->place);
}

static bool codeguru_ends(struct sp_span s, const char *with)
{
    size_t n = strlen(with);
    return s.n > n && memcmp(s.p + s.n - n, with, n) == 0;
}

/* "name (src/a.rs:12)": cuts the place off; it has no blanks and a slash or a line number. */
static struct sp_span codeguru_cut_source(struct sp_span *name)
{
    struct sp_span none = {NULL, 0};
    if (!codeguru_ends(*name, ")"))
        return none;
    const char *end = name->p + name->n - 1, *p = end;
    bool path = false;
    while (p > name->p && p[-1] != '(' && p[-1] != ' ')
        path = *--p == '/' || *p == ':' || path;
    if (p - name->p < 3 || p[-1] != '(' || p[-2] != ' ' || p == end || !path)
        return none;
    name->n = (size_t)(p - 2 - name->p);
    return (struct sp_span){p, (size_t)(end - p)};
}

/* "object+0xaddress" */
static bool codeguru_is_address(struct sp_span name, struct sp_span *object, uint64_t *ip)
{
    const char *plus = memrchr(name.p, '+', name.n);
    if (!plus || plus == name.p || !sp_parse_0x(plus + 1, (size_t)(name.p + name.n - plus - 1), ip))
        return false;
    *object = (struct sp_span){name.p, (size_t)(plus - name.p)};
    return true;
}

/* A number of at most 9 digits without zeros before it; n 0: there is none. */
static struct sp_span codeguru_digits_at(const char *p, const char *end)
{
    struct sp_span digits = {p, 0};
    while (p + digits.n < end && (unsigned char)(p[digits.n] - '0') < 10)
        digits.n++;
    if (digits.n > 9 || (digits.n > 1 && *p == '0'))
        digits.n = 0;
    return digits;
}

/* "12" of "[12]", "12-20" of "[12,20]", the least and the greatest line seen; else "12" of "[12,…". */
static bool codeguru_lines_text(struct sp_buf *out, struct sp_span raw)
{
    const char *end = raw.p + raw.n;
    uint64_t a = 0, b = 0;
    if (raw.n < 3 || raw.p[0] != '[')
        return true;
    struct sp_span first = codeguru_digits_at(raw.p + 1, end), last = {NULL, 0};
    const char *after = first.p + first.n;
    if (!first.n || (*after != ',' && *after != ']'))
        return true;
    if (*after == ',')
        last = codeguru_digits_at(after + 1, end);
    sp_parse_u64(first.p, first.p + first.n, &a);
    sp_buf_printf(out, ":%llu", (unsigned long long)a);
    if (last.n && last.p[last.n] == ']' && sp_parse_u64(last.p, last.p + last.n, &b) && b > a)
        sp_buf_printf(out, "-%llu", (unsigned long long)b);
    return !out->failed;
}

/* Cuts a number and the `before` in front of it off the end of s; false: there is none. */
static bool codeguru_cut_number(struct sp_str *s, char before, uint64_t *v)
{
    uint32_t n = s->n;
    while (n && (unsigned char)(s->p[n - 1] - '0') < 10)
        n--;
    struct sp_span digits = codeguru_digits_at(s->p + n, s->p + s->n);
    if (n < 2 || !digits.n || s->p[n - 1] != before)
        return false;
    s->n = n - 1;
    return sp_parse_u64(digits.p, digits.p + digits.n, v) != 0;
}

bool sp_cg_split_srcline(struct sp_str s, struct sp_str *file, uint64_t *first, uint64_t *last)
{
    *file = s;
    if (codeguru_cut_number(file, '-', last) && codeguru_cut_number(file, ':', first) && *first < *last)
        return true;
    *file = s;
    bool numbered = codeguru_cut_number(file, ':', first);
    *last = *first;
    return numbered;
}

bool sp_cg_place_of_srcline(struct sp_buf *out, struct sp_str s)
{
    struct sp_str file;
    uint64_t first = 0, last = 0;
    if (!s.n)
        return true;
    bool numbered = sp_cg_split_srcline(s, &file, &first, &last);
    sp_buf_puts(out, "\"file\":");
    sp_json_string(out, file.p, file.n);
    if (numbered)
        sp_cg_lines(out, first, last);
    return !out->failed;
}

void sp_cg_lines(struct sp_buf *out, uint64_t first, uint64_t last)
{
    sp_buf_printf(out, ",\"line\":[%llu", (unsigned long long)first);
    if (last != first)
        sp_buf_printf(out, ",%llu", (unsigned long long)last);
    sp_buf_ch(out, ']');
}

/* Whether srcline alone gives the place back. */
static bool codeguru_says_place(struct sp_cg_names *n, struct sp_str srcline, const struct sp_cg_place *place)
{
    struct sp_buf want;
    sp_buf_init(&want, 0);
    sp_buf_clear(&n->text);
    sp_cg_place_of_srcline(&n->text, srcline);
    if (place->file.n) {
        sp_buf_puts(&want, "\"file\":");
        sp_buf_add(&want, place->file.p, place->file.n);
    }
    if (place->line.n) {
        sp_buf_puts(&want, want.len ? ",\"line\":" : "\"line\":");
        sp_buf_add(&want, place->line.p, place->line.n);
    }
    bool same = want.len == n->text.len && (!want.len || !memcmp(want.data, n->text.data, want.len));
    if (want.failed)
        n->text.failed = true;
    sp_buf_free(&want);
    return same;
}

static void codeguru_add_more(struct sp_buf *more, const char *key, struct sp_span raw)
{
    if (!raw.n)
        return;
    sp_buf_puts(more, more->len ? "," : "\"" SP_CG_KEY "\":{");
    sp_buf_puts(more, key);
    sp_buf_add(more, raw.p, raw.n);
}

/* srcline of a place, and what it does not say into `extra_json`. */
static bool codeguru_set_place(struct sp_cg_names *n, const struct sp_cg_place *place, struct sp_frame *f)
{
    if (!n->places || (!place->file.n && !place->line.n))
        return true;
    sp_buf_clear(&n->text);
    if (place->file.n && place->file.p[0] == '"') {
        if (!sp_json_text_to(&n->text, place->file)) /* it is valid: memory is out */
            return false;
        if (n->text.len && codeguru_lines_text(&n->text, place->line))
            f->srcline = sp_profile_str(n->p, n->text.data, n->text.len);
        if (n->text.failed || f->srcline == SP_STR_FAIL)
            return false;
    }
    if (!codeguru_says_place(n, sp_pstr(n->p, f->srcline), place)) {
        codeguru_add_more(&n->more, "\"file\":", place->file);
        codeguru_add_more(&n->more, "\"line\":", place->line);
    }
    return !n->text.failed;
}

static uint32_t codeguru_unknown_dso(struct sp_cg_names *n)
{
    if (n->unknown == SP_NONE)
        n->unknown = codeguru_dso(n->p, (struct sp_span){"[unknown]", 9}, false);
    return n->unknown;
}

/* What the key's marks say; the function's name is returned. */
static struct sp_span codeguru_read_marks(struct sp_cg_names *n, struct sp_span key, struct sp_frame *f,
                                          uint32_t *in)
{
    struct sp_span name = key, object, source = {NULL, 0};
    if (n->bee)
        source = codeguru_cut_source(&name);
    if (source.n && n->places)
        f->srcline = sp_profile_str(n->p, source.p, source.n);
    if (codeguru_ends(name, "_[k]") || (n->bee && codeguru_ends(name, "_k"))) {
        if (n->kernel == SP_NONE)
            n->kernel = codeguru_dso(n->p, (struct sp_span){"[kernel]", 8}, true);
        *in = n->kernel;
        f->kind = SP_KERNEL;
        name.n -= name.p[name.n - 1] == ']' ? 4 : 2;
    } else if (n->bee && codeguru_is_address(name, &object, &f->ip)) {
        *in = codeguru_dso(n->p, object, false);
        f->flags |= SP_FRAME_IP | SP_FRAME_UNRESOLVED;
        name = (struct sp_span){object.p + object.n + 1, name.n - object.n - 1};
    } else {
        *in = codeguru_unknown_dso(n);
    }
    if (sp_is_no_name((struct sp_str){name.p, (uint32_t)name.n}))
        f->flags |= SP_FRAME_UNRESOLVED;
    return name;
}

/* Without blanks, in n->place. */
static bool codeguru_minify_place(struct sp_cg_names *n, struct sp_cg_place *place)
{
    size_t file = 0;
    sp_buf_clear(&n->place);
    if (place->file.n)
        sp_json_minify(&n->place, place->file);
    file = n->place.len;
    if (place->line.n)
        sp_json_minify(&n->place, place->line);
    place->file = (struct sp_span){n->place.data, file};
    place->line = (struct sp_span){n->place.data + file, n->place.len - file};
    return !n->place.failed;
}

uint32_t sp_cg_frame(struct sp_cg_names *n, struct sp_span key, struct sp_cg_place place)
{
    struct sp_frame f = {.kind = SP_UNKNOWN};
    uint32_t in;
    if (!codeguru_minify_place(n, &place))
        return SP_NONE;
    sp_buf_clear(&n->more);
    struct sp_span name = codeguru_read_marks(n, key, &f, &in);
    uint32_t func = sp_profile_str(n->p, name.p, name.n);
    if (in == SP_NONE || func == SP_STR_FAIL || f.srcline == SP_STR_FAIL)
        return SP_NONE;
    if (name.n != key.n) {
        sp_buf_clear(&n->text);
        sp_json_string(&n->text, key.p, key.n);
        if (n->text.failed)
            return SP_NONE;
        codeguru_add_more(&n->more, "\"name\":", (struct sp_span){n->text.data, n->text.len});
    }
    if (f.srcline) { /* the place stands in the key */
        codeguru_add_more(&n->more, "\"in_name\":", (struct sp_span){"true", 4});
        codeguru_add_more(&n->more, "\"file\":", place.file);
        codeguru_add_more(&n->more, "\"line\":", place.line);
    } else if (!codeguru_set_place(n, &place, &f)) {
        return SP_NONE;
    }
    if (n->more.len) {
        sp_buf_ch(&n->more, '}');
        f.extra_json = n->more.failed ? SP_STR_FAIL : sp_profile_str(n->p, n->more.data, n->more.len);
    }
    f.function = sp_function_intern(n->p, func, in);
    return n->more.failed || f.extra_json == SP_STR_FAIL || f.function == SP_NONE ? SP_NONE
                                                                                  : sp_frame_intern(n->p, &f);
}
