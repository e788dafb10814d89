/* What `--lossless` keeps of an SPT file, and giving it back. See spt_reader.h for the records. */
#include "formats/spt/spt_reader.h"

#include "base/hash.h"
#include "base/num.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_MAX = 4096,
    TEXT_MAX_BYTES = 1 << 20, /* after which a record of rows is closed */
    ZEROS_MIN = 16,           /* bytes of 0 that part two parts of the header */
};

struct sp_spt_keeper {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_buf text;
    unsigned rows;
};

static void hex_bytes(struct sp_buf *b, const unsigned char *p, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    if (!sp_buf_reserve(b, 2 * n))
        return;
    for (size_t i = 0; i < n; i++) {
        b->data[b->len++] = digits[p[i] >> 4];
        b->data[b->len++] = digits[p[i] & 15];
    }
}

static spaa_status add_record(struct sp_spt_keeper *k)
{
    uint32_t json = k->text.failed ? SP_STR_FAIL : sp_profile_str(k->p, k->text.data, k->text.len);
    if (json == SP_STR_FAIL || !sp_vec_push(&k->p->extensions, ((struct sp_extension){json})))
        return sp_nomem(k->d);
    sp_buf_clear(&k->text);
    return SPAA_OK;
}

/* The first of ZEROS_MIN zeros from p on, or the end. */
static const unsigned char *part_end(const unsigned char *p, const unsigned char *end)
{
    unsigned zeros = 0;
    for (; p < end; p++) {
        zeros = *p ? 0 : zeros + 1;
        if (zeros == ZEROS_MIN)
            return p + 1 - ZEROS_MIN;
    }
    return end - zeros;
}

static spaa_status keep_header(struct sp_spt_keeper *k, const struct sp_spt *f)
{
    const unsigned char *p = f->head, *end = p + f->head_n;
    const char *comma = "";
    sp_buf_printf(&k->text, "{\"type\":\"x_spt_header\",\"size\":%zu,\"parts\":[", f->head_n);
    while (p < end) {
        if (!*p) {
            p++;
            continue;
        }
        const unsigned char *stop = part_end(p, end);
        sp_buf_printf(&k->text, "%s[%zu,\"", comma, (size_t)(p - f->head));
        hex_bytes(&k->text, p, (size_t)(stop - p));
        sp_buf_puts(&k->text, "\"]");
        comma = ",";
        p = stop;
    }
    sp_buf_puts(&k->text, "]}");
    return add_record(k);
}

spaa_status sp_spt_keeper_new(struct sp_profile *p, const struct sp_spt *file, struct sp_diags *d,
                              struct sp_spt_keeper **out)
{
    struct sp_spt_keeper *k = calloc(1, sizeof *k);
    if (!k)
        return sp_nomem(d);
    k->p = p;
    k->d = d;
    sp_buf_init(&k->text, 0);
    spaa_status st = keep_header(k, file);
    if (st)
        sp_spt_keeper_free(k);
    else
        *out = k;
    return st;
}

void sp_spt_keeper_free(struct sp_spt_keeper *k)
{
    if (k)
        sp_buf_free(&k->text);
    free(k);
}

static void open_rows(struct sp_spt_keeper *k)
{
    if (!k->text.len)
        sp_buf_puts(&k->text, "{\"type\":\"x_spt_records\",\"rows\":[");
}

static void number(struct sp_buf *b, uint64_t v)
{
    sp_buf_ch(b, ',');
    sp_buf_u64(b, v);
}

spaa_status sp_spt_keep(struct sp_spt_keeper *k, const struct sp_spt_record *r)
{
    struct sp_buf *b = &k->text;
    open_rows(k);
    if (k->rows++)
        sp_buf_ch(b, ',');
    if (r->what == SP_SPT_BYTES) {
        sp_buf_ch(b, '"');
        hex_bytes(b, r->entries, r->size);
        sp_buf_ch(b, '"');
    } else {
        sp_buf_printf(b, "[%u,%u", r->op, r->second);
        if (r->what == SP_SPT_SEGMENT) {
            number(b, r->program);
            number(b, r->length);
        } else if (r->what == SP_SPT_REPEATED) {
            number(b, r->count);
        } else {
            unsigned n = r->kind == SP_SPT_KIND_LBR ? 2 * r->n : r->n;
            for (unsigned i = 0; i < n; i++)
                number(b, sp_spt_u32(r->entries + (size_t)4 * i));
        }
        sp_buf_ch(b, ']');
    }
    if (k->rows < ROWS_MAX && b->len < TEXT_MAX_BYTES)
        return b->failed ? sp_nomem(k->d) : SPAA_OK;
    sp_buf_puts(b, "]}");
    k->rows = 0;
    return add_record(k);
}

/* By frame: what it is whatever its name, which a map may have given. */
static uint64_t *frame_hashes(const struct sp_profile *p)
{
    uint64_t *h = malloc((p->frames.n + 1) * sizeof *h);
    for (size_t i = 0; h && i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        const struct sp_function *fn = &p->functions.v[f->function];
        struct sp_str name = sp_pstr(p, p->dsos.v[fn->dso].name),
                      id = sp_pstr(p, p->dsos.v[fn->dso].build_id), func = sp_pstr(p, fn->name);
        h[i] = sp_hash64_seed(name.p, name.n, sp_hash64(id.p, id.n));
        h[i] = f->flags & SP_FRAME_IP ? sp_hash64_seed(&f->ip, sizeof f->ip, h[i])
                                      : sp_hash64_seed(func.p, func.n, ~h[i]);
    }
    return h;
}

static uint64_t weight_hash(const struct sp_profile *p, uint32_t stack, uint64_t seed)
{
    for (uint32_t m = 0; m < p->metrics.n; m++) {
        int64_t v = sp_weight(p, stack, m);
        struct sp_str metric = sp_pstr(p, p->metrics.v[m].name);
        if (v == SP_ABSENT)
            continue;
        seed += sp_hash64_seed(&v, sizeof v, sp_hash64(metric.p, metric.n));
        if (v == SP_DECIMAL) {
            struct sp_str t = sp_weight_text(p, stack, m);
            seed += sp_hash64(t.p, t.n);
        }
    }
    return seed;
}

/* False: out of memory. */
static bool digest(const struct sp_profile *p, uint64_t *out)
{
    uint64_t *frames = frame_hashes(p), sum = p->stacks.n;
    for (uint32_t s = 0; frames && s < p->stacks.n; s++) {
        const struct sp_stack *x = &p->stacks.v[s];
        const struct sp_context *c = &p->contexts.v[x->context];
        const uint32_t *f = sp_stack_frames(p, s);
        struct sp_str event = c->event == SP_NONE ? (struct sp_str){"", 0}
                                                  : sp_pstr(p, p->events.v[c->event].name),
                      more = sp_pstr(p, c->more);
        uint64_t h = sp_hash64_seed(event.p, event.n, sp_hash64(more.p, more.n));
        for (uint32_t i = 0; i < x->n; i++)
            h = sp_hash_mix(h + i, frames[f[i]]);
        h = weight_hash(p, s, h);
        sum += sp_hash64(&h, sizeof h);
    }
    free(frames);
    *out = sum;
    return frames != NULL;
}

spaa_status sp_spt_keeper_finish(struct sp_spt_keeper *k)
{
    uint64_t d;
    if (!digest(k->p, &d))
        return sp_nomem(k->d);
    open_rows(k);
    sp_buf_printf(&k->text, "],\"digest\":\"0x%016llx\"}", (unsigned long long)d);
    return add_record(k);
}

/* Giving it back. With out NULL only what is kept is checked. */
struct replay {
    struct sp_json j;
    struct sp_output *out;
    bool header, digested;
    uint64_t digest;
    struct sp_buf bytes;
};

static int nibble(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool from_hex(struct sp_buf *b, struct sp_span s)
{
    for (size_t i = 0; i + 1 < s.n; i += 2) {
        int high = nibble(s.p[i]), low = nibble(s.p[i + 1]);
        if (high < 0 || low < 0)
            return false;
        sp_buf_ch(b, (char)(high << 4 | low));
    }
    return s.n % 2 == 0;
}

static bool header_part(struct replay *r, uint64_t size)
{
    struct sp_span hex;
    uint64_t at;
    if (!sp_json_array(&r->j) || !sp_json_item(&r->j) || !sp_json_u64(&r->j, &at) || !sp_json_item(&r->j) ||
        !sp_json_string_value(&r->j, &hex) || sp_json_item(&r->j) || r->j.error || at < r->bytes.len ||
        at > size || hex.n / 2 > size - at)
        return false;
    size_t zeros = (size_t)at - r->bytes.len;
    if (!sp_buf_reserve(&r->bytes, zeros + hex.n / 2 + 1))
        return false;
    memset(r->bytes.data + r->bytes.len, 0, zeros);
    r->bytes.len += zeros;
    return from_hex(&r->bytes, hex);
}

static bool header_record(struct replay *r)
{
    struct sp_span key, raw;
    uint64_t size = 0;
    sp_buf_clear(&r->bytes);
    while (sp_json_key(&r->j, &key)) {
        if (sp_span_is(key, "size")) {
            if (!sp_json_u64(&r->j, &size) || size > (uint64_t)64 << 20)
                return false;
        } else if (sp_span_is(key, "parts") && sp_json_array(&r->j)) {
            while (sp_json_item(&r->j))
                if (!header_part(r, size))
                    return false;
        } else {
            sp_json_skip(&r->j, &raw);
        }
    }
    size_t zeros = (size_t)size - r->bytes.len;
    if (r->header || size < SP_SPT_HEADER_BYTES || r->j.error || !sp_buf_reserve(&r->bytes, zeros))
        return false;
    memset(r->bytes.data + r->bytes.len, 0, zeros);
    if (r->out)
        sp_write(r->out, r->bytes.data, (size_t)size);
    return r->header = true;
}

static void put(unsigned char **p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *(*p)++ = (unsigned char)(v >> (8 * i));
}

/* Numbers of a row behind the first two, and how wide the kth is. */
static unsigned row_numbers(uint64_t op, uint64_t second)
{
    int kind = sp_spt_kind_of((unsigned char)op);
    return kind == SP_SPT_KIND_LBR ? 2 * (unsigned)second
           : kind >= 0             ? (unsigned)second
           : op == SP_SPT_REPEAT   ? 1
                                   : 2;
}

static unsigned row_width(uint64_t op, unsigned k)
{
    return op == SP_SPT_REPEAT ? 8 : op == SP_SPT_BINARY_ID && !k ? 2 : 4;
}

static bool row(struct replay *r)
{
    unsigned char bytes[SP_SPT_RECORD_BYTES], *p = bytes;
    uint64_t v[2], x;
    unsigned k = 0;
    if (sp_json_type(&r->j) == SP_JSON_STRING) {
        struct sp_span hex;
        sp_buf_clear(&r->bytes);
        if (!sp_json_string_value(&r->j, &hex) || !from_hex(&r->bytes, hex) || r->bytes.failed)
            return false;
        if (r->out)
            sp_write(r->out, r->bytes.data, r->bytes.len);
        return true;
    }
    if (!sp_json_array(&r->j))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!sp_json_item(&r->j) || !sp_json_u64(&r->j, &v[i]) || v[i] > 255)
            return false;
    if (!sp_spt_op_name((unsigned char)v[0]))
        return false;
    put(&p, v[0], 1);
    put(&p, v[1], 1);
    unsigned n = row_numbers(v[0], v[1]);
    while (sp_json_item(&r->j)) {
        unsigned width = row_width(v[0], k);
        if (k++ == n || !sp_json_u64(&r->j, &x) || (width < 8 && x >> (8 * width)))
            return false;
        put(&p, x, width);
    }
    if (r->j.error || k != n)
        return false;
    if (r->out)
        sp_write(r->out, bytes, (size_t)(p - bytes));
    return true;
}

static bool rows_record(struct replay *r)
{
    struct sp_span key, s;
    if (!r->header || r->digested)
        return false;
    while (sp_json_key(&r->j, &key)) {
        if (sp_span_is(key, "rows") && sp_json_array(&r->j)) {
            while (sp_json_item(&r->j))
                if (!row(r))
                    return false;
        } else if (sp_span_is(key, "digest") && sp_json_string_value(&r->j, &s)) {
            r->digested = sp_parse_0x(s.p, s.n, &r->digest);
        } else {
            sp_json_skip(&r->j, &s);
        }
    }
    return !r->j.error;
}

/* All records of ours; *any tells whether there was one. False: they are damaged. */
static bool walk(struct replay *r, const struct sp_profile *p, bool *any)
{
    bool ok = true;
    *any = false;
    r->header = r->digested = false;
    for (size_t i = 0; ok && i < p->extensions.n; i++) {
        struct sp_str text = sp_pstr(p, p->extensions.v[i].json);
        struct sp_span key, type;
        sp_json_reset(&r->j, text.p, text.n);
        if (!sp_json_object(&r->j) || !sp_json_key(&r->j, &key) || !sp_span_is(key, "type") ||
            !sp_json_string_value(&r->j, &type))
            continue;
        bool header = sp_span_is(type, "x_spt_header");
        if (!header && !sp_span_is(type, "x_spt_records"))
            continue;
        *any = true;
        ok = header ? header_record(r) : rows_record(r);
    }
    return ok && (!*any || (r->header && r->digested));
}

spaa_status sp_spt_replay(struct sp_profile *p, struct sp_diags *d, struct sp_output *out, bool *done)
{
    struct replay r = {0};
    uint64_t now;
    bool any;
    spaa_status st = SPAA_OK;
    *done = false;
    sp_json_init(&r.j, "", 0);
    sp_buf_init(&r.bytes, 0);
    bool whole = walk(&r, p, &any);
    if (r.bytes.failed || (any && whole && !digest(p, &now)))
        st = sp_nomem(d);
    else if (any && !whole)
        sp_emit(d, SP_I452, SP_AT_NOTHING, "they are damaged; the file was rendered from the stacks");
    else if (any && now != r.digest)
        sp_emit(d, SP_I452, SP_AT_NOTHING, "the stacks were changed since; the file was rendered from them");
    else if (any) {
        r.out = out;
        *done = walk(&r, p, &any);
        st = out->status;
    }
    sp_json_free(&r.j);
    sp_buf_free(&r.bytes);
    return st;
}
