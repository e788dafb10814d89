/* The top level of the message: where everything is, and what the probe makes of its beginning. */
#include "formats/pprof/pprof.h"

static const char hex[] = "0123456789abcdef";

struct sp_str sp_pp_text(struct sp_pp *pp, uint64_t i)
{
    if (i < pp->strings.n)
        return pp->strings.v[i];
    if (i) {
        pp->dangling++;
        sp_emit(pp->d, SP_L722, SP_AT_NOTHING, "string %llu of %zu", (unsigned long long)i, pp->strings.n);
    }
    return (struct sp_str){"", 0};
}

uint32_t sp_pp_str(struct sp_pp *pp, uint64_t i)
{
    struct sp_str s = sp_pp_text(pp, i);
    if (i >= pp->strings.n)
        return sp_profile_str(pp->p, s.p, s.n);
    if (!pp->numbers[i])
        pp->numbers[i] = sp_profile_str(pp->p, s.p, s.n);
    return pp->numbers[i];
}

static void put_hex(struct sp_buf *b, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    sp_buf_puts(b, "\"hex\":\"");
    for (size_t i = 0; i < n; i++) {
        sp_buf_ch(b, hex[p[i] >> 4]);
        sp_buf_ch(b, hex[p[i] & 15]);
    }
    sp_buf_puts(b, "\"}");
}

void sp_pp_json(struct sp_buf *b, struct sp_str s)
{
    if (sp_utf8_prefix(s.p, s.n) == s.n) {
        sp_json_string(b, s.p, s.n);
    } else {
        sp_buf_ch(b, '{');
        put_hex(b, s.p, s.n);
    }
}

/* {"field":16,"type":2,"hex":"…"}, numbers as 8 or 4 bytes or as they are. */
static void keep_unknown(struct sp_pp *pp, const struct sp_wire_field *f, const unsigned char *at)
{
    struct sp_buf *b = &pp->unknown;
    size_t before = b->len;
    if (b->len > PP_UNKNOWN_MAX || f->n > PP_UNKNOWN_MAX / 2) {
        sp_emit(pp->d, SP_L724, sp_pp_at(pp, at), "field %u", f->number);
        return;
    }
    sp_buf_printf(b, "%s{\"field\":%u,\"type\":%u,", before ? "," : "", f->number, f->type);
    if (f->type == SP_WIRE_BYTES) {
        put_hex(b, f->p, f->n);
    } else {
        sp_buf_printf(b, "\"value\":%llu}", (unsigned long long)f->v);
    }
    sp_emit(pp->d, SP_W725, sp_pp_at(pp, at), "field %u of the profile is not known; it was kept", f->number);
}

static bool add_slice(struct sp_pp_slices *s, const unsigned char *p, uint64_t n)
{
    struct sp_pp_slice x = {p, (size_t)n};
    return s->list.n < SP_NONE - 1 && sp_vec_push(&s->list, x);
}

/* Samples that follow each other are one run. */
static bool add_samples(struct sp_pp *pp, const unsigned char *at, const unsigned char *end, size_t count)
{
    struct sp_pp_slices *r = &pp->runs;
    pp->nsamples += count;
    pp->sample_bytes += (size_t)(end - at);
    if (r->list.n) {
        struct sp_pp_slice *last = &r->list.v[r->list.n - 1];
        if (last->p + last->n == at) {
            last->n = (size_t)(end - last->p);
            return true;
        }
    }
    struct sp_pp_slice x = {at, (size_t)(end - at)};
    return sp_vec_push(&r->list, x);
}

static bool add_string(struct sp_pp *pp, const unsigned char *p, uint64_t n)
{
    struct sp_str s = {(const char *)p, (uint32_t)n};
    return n < UINT32_MAX && pp->strings.n < SP_NONE - 1 && sp_vec_push(&pp->strings, s);
}

static bool add_comments(struct sp_pp *pp, const struct sp_wire_field *f)
{
    struct sp_wire w = sp_wire_numbers_of(f);
    uint64_t v = f->v;
    if (f->type == SP_WIRE_VARINT)
        return sp_vec_push(&pp->comments, v);
    while (sp_wire_number(&w, &v))
        if (!sp_vec_push(&pp->comments, v))
            return false;
    return true;
}

static bool take(struct sp_pp *pp, const struct sp_wire *w, const struct sp_wire_field *f)
{
    bool bytes = f->type == SP_WIRE_BYTES, number = f->type == SP_WIRE_VARINT;
    switch (f->number) {
    case PP_SAMPLE:
        if (bytes)
            return add_samples(pp, w->at, w->p, 1);
        break;
    case PP_STRING:
        if (bytes)
            return add_string(pp, f->p, f->n);
        break;
    case PP_SAMPLE_TYPE:
        if (bytes)
            return add_slice(&pp->types, f->p, f->n);
        break;
    case PP_MAPPING:
        if (bytes)
            return add_slice(&pp->mappings, f->p, f->n);
        break;
    case PP_LOCATION:
        if (bytes)
            return add_slice(&pp->locations, f->p, f->n);
        break;
    case PP_FUNCTION:
        if (bytes)
            return add_slice(&pp->functions, f->p, f->n);
        break;
    case PP_PERIOD_TYPE:
        if (!bytes)
            break;
        pp->period_type = (struct sp_pp_slice){f->p, f->n};
        return true;
    case PP_COMMENT:
        if (bytes || number)
            return add_comments(pp, f);
        break;
    default:
        if (f->number < PP_FIELDS && number) {
            pp->single[f->number] = f->v;
            return true;
        }
    }
    keep_unknown(pp, f, w->at);
    return !pp->unknown.failed;
}

/* The bytes of the field at p, if it has this number; NULL: it has not, or is read in the usual way. */
static inline const unsigned char *bytes_of(const struct sp_wire *w, const unsigned char *p, unsigned field,
                                            uint64_t *n)
{
    if (w->end - p < 2 || *p != (field << 3 | SP_WIRE_BYTES))
        return NULL;
    p = sp_wire_varint(p + 1, w->end, n);
    return p && *n <= (uint64_t)(w->end - p) ? p : NULL; /* else reported there */
}

/* Most of a file is fields of one kind that follow each other; they are taken without a call for each. */
static bool skip_samples(struct sp_pp *pp, struct sp_wire *w)
{
    const unsigned char *from = w->p, *p;
    uint64_t n;
    size_t samples = 0;
    for (; (p = bytes_of(w, w->p, PP_SAMPLE, &n)); w->p = p + n) {
        __builtin_prefetch(p + 1024); /* no loop over bytes that the processor could foresee */
        samples++;
    }
    return !samples || add_samples(pp, from, w->p, samples);
}

static bool skip_slices(struct sp_wire *w, unsigned field, struct sp_pp_slices *to)
{
    const unsigned char *p;
    uint64_t n;
    for (; (p = bytes_of(w, w->p, field, &n)); w->p = p + n)
        if (!add_slice(to, p, n))
            return false;
    return true;
}

static bool skip_strings(struct sp_pp *pp, struct sp_wire *w)
{
    const unsigned char *p;
    uint64_t n;
    for (; (p = bytes_of(w, w->p, PP_STRING, &n)); w->p = p + n)
        if (!add_string(pp, p, n))
            return false;
    return true;
}

spaa_status sp_pp_scan(struct sp_pp *pp)
{
    struct sp_wire w = sp_wire_of(pp->in, pp->n);
    for (struct sp_wire_field f;;) {
        if (!skip_samples(pp, &w) || !skip_slices(&w, PP_LOCATION, &pp->locations) ||
            !skip_slices(&w, PP_FUNCTION, &pp->functions) || !skip_strings(pp, &w))
            return sp_nomem(pp->d);
        if (!sp_wire_next(&w, &f))
            break;
        if (!take(pp, &w, &f))
            return sp_nomem(pp->d);
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "%s; %llu bytes were not read", w.error,
                (unsigned long long)(w.end - w.at));
    if (pp->strings.n && pp->strings.v[0].n)
        sp_emit(pp->d, SP_W725, SP_AT_NOTHING, "the first string is \"%.*s\", and should be empty",
                pp->strings.v[0].n > 40 ? 40 : (int)pp->strings.v[0].n, pp->strings.v[0].p);
    pp->numbers = calloc(pp->strings.n + 1, sizeof *pp->numbers);
    return pp->numbers ? SPAA_OK : sp_nomem(pp->d);
}

/* Which wire types a message's fields may have: bits of 1 << type, by field; 0: not a field of it. */
#define NUMBER 1u
#define BYTES  4u
static const unsigned char shapes[][16] = {
    [0] = {0, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, NUMBER, NUMBER, NUMBER, NUMBER, BYTES, NUMBER,
           NUMBER | BYTES, NUMBER, NUMBER},
    [PP_SAMPLE_TYPE] = {0, NUMBER, NUMBER},
    [PP_SAMPLE] = {0, NUMBER | BYTES, NUMBER | BYTES, BYTES},
    [PP_MAPPING] = {0, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER},
    [PP_LOCATION] = {0, NUMBER, NUMBER, NUMBER, BYTES, NUMBER},
    [PP_FUNCTION] = {0, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER},
};

/* Does every field have a shape that this message knows? */
static bool fits(const unsigned char *p, size_t n, unsigned message)
{
    struct sp_wire w = sp_wire_of(p, n);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number > 15 || !(shapes[message][f.number] >> f.type & 1))
            return false;
        if (f.type == SP_WIRE_BYTES && message == PP_SAMPLE && f.number < 3) {
            struct sp_wire numbers = sp_wire_numbers_of(&f);
            for (uint64_t v; sp_wire_number(&numbers, &v);)
                ;
            if (numbers.error)
                return false;
        }
    }
    return !w.error;
}

/*
 * Every field in sight must be one of a profile and look like it; nothing short of a sample type, or of
 * the string table with its empty first string, beside something else is taken as evidence.
 */
int sp_pp_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    struct sp_wire w = sp_wire_of(p, n);
    bool type = false, string = false;
    unsigned others = 0;
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.number > 15) {
            if (!type && !others)
                return 0;
            continue; /* a field of a later day */
        }
        if (!(shapes[0][f.number] >> f.type & 1))
            return 0;
        if (f.number == PP_STRING) {
            if (!string && f.n)
                return 0;
            string = true;
        } else if (f.number <= PP_FUNCTION || f.number == PP_PERIOD_TYPE) {
            bool good = fits(f.p, f.n, f.number == PP_PERIOD_TYPE ? PP_SAMPLE_TYPE : f.number);
            if ((!good && !(type && others > 1)) || (f.number == PP_SAMPLE_TYPE && !f.n && !type))
                return 0;
            type |= f.number == PP_SAMPLE_TYPE;
            others += f.number != PP_SAMPLE_TYPE;
        }
    }
    if (whole && w.error && w.end - w.at < 2)
        w.error = NULL; /* cut in a tag */
    if (whole && !w.error && !type)
        return 0;
    if (!(type && (others || string)) && !(string && others > 2))
        return 0;
    *reason = "fields of a profile in protobuf";
    return 95;
}
