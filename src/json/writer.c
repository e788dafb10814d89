/* Writing JSON: strings, minified copies, and the nesting writer of json.h. */
#include "json/json.h"

#include "base/num.h"

bool sp_json_minify(struct sp_buf *out, struct sp_span raw)
{
    const char *p = raw.p, *end = raw.p + raw.n;
    while (p < end) {
        const char *from = p;
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++)
                if (*p == '\\')
                    p++;
            p = p < end ? p + 1 : end;
        } else {
            while (p < end && *p != '"' && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r')
                p++;
        }
        sp_buf_add(out, from, (size_t)(p - from));
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
            p++;
    }
    return !out->failed;
}

static void escaped(struct sp_buf *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char t[6] = {'\\', 0, '0', '0', hex[c >> 4], hex[c & 15]};
    switch (c) {
    case '"':
    case '\\':
        t[1] = (char)c;
        break;
    case '\b':
        t[1] = 'b';
        break;
    case '\f':
        t[1] = 'f';
        break;
    case '\n':
        t[1] = 'n';
        break;
    case '\r':
        t[1] = 'r';
        break;
    case '\t':
        t[1] = 't';
        break;
    default:
        t[1] = 'u';
        sp_buf_add(out, t, 6);
        return;
    }
    sp_buf_add(out, t, 2);
}

typedef unsigned char sixteen __attribute__((vector_size(16)));
typedef uint64_t two_words __attribute__((vector_size(16)));

/* All bits of each of 16 bytes that is no printable ASCII which a JSON string may hold as it is. */
static inline sixteen odd_bytes(const char *p)
{
    sixteen x;
    memcpy(&x, p, sizeof x);
    return (sixteen)((x - 0x20 >= 0x5F) | (x == '"') | (x == '\\'));
}

bool sp_json_plain(const char *p, size_t n)
{
    const char *end = p + n;
    char few[] = "               "; /* with its NUL as many as are looked at, which is made a blank as well */
    sixteen odd;
    if (n >= sizeof(sixteen)) {
        odd = odd_bytes(end - sizeof(sixteen));
        for (; end - p > (ptrdiff_t)sizeof(sixteen); p += sizeof(sixteen))
            odd |= odd_bytes(p);
    } else {
        few[15] = ' ';
        if (n)
            memcpy(few, p, n);
        odd = odd_bytes(few);
    }
    two_words any = (two_words)odd;
    return !(any[0] | any[1]);
}

/* A string that is written as it is. */
static bool plain_string(struct sp_buf *out, const char *p, size_t n)
{
    if (!sp_json_plain(p, n) || !sp_buf_reserve(out, n + 2))
        return false;
    char *to = out->data + out->len;
    *to++ = '"';
    if (n)
        memcpy(to, p, n);
    to[n] = '"';
    out->len += n + 2;
    return true;
}

bool sp_json_string_to(struct sp_buf *out, const char *p, size_t n, bool *damaged)
{
    const char *end = p + n, *run = p;
    if (damaged)
        *damaged = false;
    if (plain_string(out, p, n))
        return true;
    sp_buf_ch(out, '"');
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            p++;
            continue;
        }
        size_t used = c >= 0x80 ? sp_utf8_at(p, end) : 0;
        if (used) {
            p += used;
            continue;
        }
        sp_buf_add(out, run, (size_t)(p - run));
        if (c >= 0x80) {
            sp_buf_add(out, "\xEF\xBF\xBD", 3);
            if (damaged)
                *damaged = true;
        } else {
            escaped(out, c);
        }
        run = ++p;
    }
    sp_buf_add(out, run, (size_t)(p - run));
    return sp_buf_ch(out, '"');
}

/* The bytes of the control at p, which *c becomes; 0: it is none. */
static size_t writer_control(const unsigned char *p, size_t n, unsigned *c)
{
    *c = *p;
    if (*p == 0x7F)
        return 1;
    *c = n > 1 ? (*p & 0x1Fu) << 6 | (p[1] & 0x3Fu) : 0;
    if ((*p == 0xC2 && *c < 0xA0) || (*p == 0xD8 && *c == 0x61C))
        return 2;
    *c = n > 2 ? (*p & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu) : 0;
    bool bidi =
        *c == 0x200E || *c == 0x200F || (*c >= 0x2028 && *c <= 0x202E) || (*c >= 0x2066 && *c <= 0x2069);
    return *p == 0xE2 && bidi ? 3 : 0;
}

void sp_json_write(struct sp_output *out, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + n, *run = p;
    while (p < end) {
        unsigned c;
        size_t used = *p < 0x7F ? 0 : writer_control(p, (size_t)(end - p), &c);
        if (!used) {
            p++;
            continue;
        }
        sp_write(out, run, (size_t)(p - run));
        sp_printf(out, "\\u%04x", c);
        run = p += used;
    }
    sp_write(out, run, (size_t)(end - run));
}

void sp_jw_init(struct sp_jw *w, struct sp_output *out)
{
    *w = (struct sp_jw){.out = out};
    sp_buf_init(&w->text, 0);
}

void sp_jw_free(struct sp_jw *w)
{
    sp_buf_free(&w->text);
}

static void writer_flush(struct sp_jw *w)
{
    if (w->text.failed && w->out->status == SPAA_OK)
        w->out->status = SPAA_ERR_NOMEM;
    sp_json_write(w->out, w->text.data, w->text.len);
    sp_buf_clear(&w->text);
}

static void lead(struct sp_jw *w, const char *key)
{
    uint64_t bit = (uint64_t)1 << w->depth;
    if (w->used & bit)
        sp_write(w->out, ",", 1);
    w->used |= bit;
    if (key) {
        sp_write(w->out, "\"", 1);
        sp_puts(w->out, key);
        sp_write(w->out, "\":", 2);
    }
}

void sp_jw_open(struct sp_jw *w, const char *key, char bracket)
{
    lead(w, key);
    sp_write(w->out, &bracket, 1);
    w->depth++;
    w->used &= ~((uint64_t)1 << w->depth);
}

void sp_jw_close(struct sp_jw *w, char bracket)
{
    w->depth--;
    sp_write(w->out, &bracket, 1);
}

void sp_jw_str(struct sp_jw *w, const char *key, const char *p, size_t n)
{
    lead(w, key);
    sp_json_string(&w->text, p, n);
    writer_flush(w);
}

void sp_jw_cstr(struct sp_jw *w, const char *key, const char *s)
{
    if (s)
        sp_jw_str(w, key, s, strlen(s));
    else
        sp_jw_null(w, key);
}

void sp_jw_raw(struct sp_jw *w, const char *key, const char *p, size_t n)
{
    lead(w, key);
    sp_json_write(w->out, p, n);
}

void sp_jw_u64(struct sp_jw *w, const char *key, uint64_t v)
{
    char t[20];
    sp_jw_raw(w, key, t, sp_u64_text(v, t));
}

void sp_jw_i64(struct sp_jw *w, const char *key, int64_t v)
{
    char t[64];
    sp_jw_raw(w, key, t, sp_scaled_text(v, 0, t));
}

void sp_jw_bool(struct sp_jw *w, const char *key, bool v)
{
    sp_jw_raw(w, key, v ? "true" : "false", v ? 4 : 5);
}

void sp_jw_null(struct sp_jw *w, const char *key)
{
    sp_jw_raw(w, key, "null", 4);
}

void sp_jw_scaled(struct sp_jw *w, const char *key, __int128 v, unsigned scale)
{
    char t[64];
    sp_jw_raw(w, key, t, sp_scaled_text(v, scale, t));
}

void sp_jw_percent(struct sp_jw *w, const char *key, __int128 part, __int128 whole)
{
    if (whole == 0)
        sp_jw_null(w, key);
    else
        sp_jw_scaled(w, key, sp_ratio(part, whole, 10000), 2);
}
