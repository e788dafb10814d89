/*
 * The data stream: segments one behind the other, up to the end of the file.
 *
 * A segment ends where its length says. REPEAT applies to the whole next record; several add up; one that
 * nothing follows in its segment is dropped.
 *
 * Damage: what is no opcode, or does not fit the segment, has no length, so the rest of the segment is
 * skipped. A BINARY_ID inside a segment begins the next one: no other record begins with its byte, so the
 * length of the outer one must be wrong. Where a segment should begin and none does, the next BINARY_ID is
 * looked for that looks genuine: its ID is in the table, its length is possible, and what follows are
 * records. Bytes skipped are handed out as well, in pieces, so that nothing that a file holds is lost to
 * those who keep it all.
 *
 * The view of the input is held short, so that consumed pages of a mapped file go back.
 */
#include "formats/common/spt/spt.h"

#include <string.h>

enum {
    BINARY_ID_BYTES = 8,
    REPEAT_BYTES = 10,
    LOOK_RECORDS = 3, /* that must follow a BINARY_ID found by searching */
    LOOK_BYTES = BINARY_ID_BYTES + LOOK_RECORDS * SP_SPT_RECORD_BYTES,
};
#define VIEW_BYTES ((size_t)1 << 20)

void sp_spt_begin(struct sp_spt_stream *s, struct sp_input *in, const struct sp_spt *file, struct sp_diags *d)
{
    *s = (struct sp_spt_stream){.file = file, .in = in, .d = d, .at = file->data_at, .done = !file->streams};
}

/* Makes the view at least `want` bytes, or all that is left; a new view makes old pointers stale. */
static spaa_status spt_ensure_slow(struct sp_spt_stream *s, size_t want)
{
    size_t n;
    if (s->p != s->base)
        sp_input_consume(s->in, (size_t)(s->p - s->base));
    s->base = s->p = s->end = NULL;
    spaa_status st = sp_input_peek(s->in, want > VIEW_BYTES ? want : VIEW_BYTES, &s->base, &n);
    if (st)
        return st;
    size_t most = want > VIEW_BYTES ? want : VIEW_BYTES;
    s->last = n < most;
    s->p = s->base;
    s->end = s->base + (n < most ? n : most);
    return SPAA_OK;
}

static inline spaa_status spt_ensure(struct sp_spt_stream *s, size_t want)
{
    return (size_t)(s->end - s->p) >= want || s->last ? SPAA_OK : spt_ensure_slow(s, want);
}

static inline size_t spt_have(const struct sp_spt_stream *s)
{
    return (size_t)(s->end - s->p);
}

static inline void spt_advance(struct sp_spt_stream *s, struct sp_spt_record *r, size_t n)
{
    r->offset = s->at;
    r->size = n;
    r->segment = s->segment;
    r->program = s->program;
    s->p += n;
    s->at += n;
}

static void spt_drop_repeat(struct sp_spt_stream *s)
{
    if (s->repeating)
        sp_emit(s->d, SP_W437, SP_AT(s->repeat_at), " ");
    s->repeating = s->too_many = false;
    s->repeat = 0;
}

/* Length of the record at p by its first two bytes; 0: no opcode that stands inside a segment. */
static size_t spt_record_bytes(unsigned char op, unsigned n)
{
    int kind = sp_spt_kind_of(op);
    return kind == SP_SPT_KIND_LBR ? 2 + (size_t)8 * n
           : kind >= 0             ? 2 + (size_t)4 * n
           : op == SP_SPT_REPEAT   ? (size_t)REPEAT_BYTES
                                   : 0;
}

/* Whether a BINARY_ID at p, with n bytes of the file, all there are or LOOK_BYTES, is one. */
static bool spt_genuine(const struct sp_spt_stream *s, const unsigned char *p, size_t n)
{
    if (n < BINARY_ID_BYTES || p[0] != SP_SPT_BINARY_ID || sp_spt_u16(p + 2) >= s->file->nprograms)
        return false;
    uint32_t length = sp_spt_u32(p + 4);
    if (length < 4)
        return false;
    size_t at = BINARY_ID_BYTES;
    uint64_t stop = (uint64_t)4 + length;
    for (unsigned i = 0; i < LOOK_RECORDS && at < n; i++) {
        if (at == stop) /* a length that fits records exactly says as much as more records */
            return i || p[at] == SP_SPT_BINARY_ID;
        size_t bytes = spt_record_bytes(p[at], at + 1 < n ? p[at + 1] : 0);
        if (!bytes || bytes > stop - at)
            return false;
        at += bytes;
    }
    return true;
}

static void spt_lose(struct sp_spt_stream *s, enum sp_spt_mode mode)
{
    spt_drop_repeat(s);
    s->mode = mode;
    s->lost_at = s->at;
    s->lost = 0;
    s->lost_zero = true;
}

/* What was skipped to find the next segment, once it is known how much. */
static void spt_say_lost(struct sp_spt_stream *s, bool found)
{
    unsigned long long n = s->lost;
    const char *all = s->lost_zero ? ", all of them 0" : "";
    if (!n)
        return;
    if (found || (!s->any && !s->lost_zero))
        sp_emit(s->d, SP_E409, SP_AT(s->lost_at), "%llu byte%s%s", n, n == 1 ? "" : "s", all);
    else
        sp_emit(s->d, SP_W442, SP_AT(s->lost_at), "%llu byte%s%s", n, n == 1 ? "" : "s", all);
    if (s->lost_zero)
        s->skipped -= s->lost;
}

/* Hands out n (> 0) bytes that were not understood. */
static void spt_give_bytes(struct sp_spt_stream *s, struct sp_spt_record *r, size_t n)
{
    *r = (struct sp_spt_record){.what = SP_SPT_BYTES, .entries = s->p, .kind = -1};
    for (size_t i = 0; s->lost_zero && i < n; i++)
        s->lost_zero = !s->p[i];
    s->lost += n;
    s->skipped += n;
    spt_advance(s, r, n);
}

/* Skips to the segment's end. *given: r is filled. */
static spaa_status spt_skip_to_stop(struct sp_spt_stream *s, struct sp_spt_record *r, bool *given)
{
    uint64_t left = s->stop - s->at;
    size_t want = left < SP_SPT_PIECE ? (size_t)left : SP_SPT_PIECE;
    spaa_status st = spt_ensure(s, want);
    if (st)
        return st;
    size_t n = spt_have(s) < want ? spt_have(s) : want;
    *given = n > 0;
    if (n)
        spt_give_bytes(s, r, n);
    if (!n || s->at == s->stop)
        s->mode = SP_SPT_READING;
    return SPAA_OK;
}

/* Skips to the next BINARY_ID that looks genuine. */
static spaa_status stream_spt_search(struct sp_spt_stream *s, struct sp_spt_record *r, bool *given)
{
    spaa_status st = spt_ensure(s, SP_SPT_PIECE + LOOK_BYTES);
    if (st)
        return st;
    size_t n = spt_have(s) < SP_SPT_PIECE ? spt_have(s) : SP_SPT_PIECE;
    const unsigned char *q = s->p;
    while ((q = memchr(q, SP_SPT_BINARY_ID, n - (size_t)(q - s->p)))) {
        size_t ahead = (size_t)(s->end - q);
        if (spt_genuine(s, q, ahead < LOOK_BYTES ? ahead : LOOK_BYTES))
            break;
        q++;
    }
    bool found = q != NULL;
    if (found)
        n = (size_t)(q - s->p);
    *given = n > 0;
    if (n)
        spt_give_bytes(s, r, n);
    if (found || !spt_have(s)) {
        s->mode = SP_SPT_READING;
        spt_say_lost(s, found);
    }
    return SPAA_OK;
}

static void spt_begin_segment(struct sp_spt_stream *s, struct sp_spt_record *r)
{
    uint32_t length = sp_spt_u32(s->p + 4);
    unsigned char padding = s->p[1];
    spt_drop_repeat(s);
    s->segment += s->any;
    s->program = sp_spt_u16(s->p + 2);
    *r = (struct sp_spt_record){
        .what = SP_SPT_SEGMENT, .op = SP_SPT_BINARY_ID, .second = padding, .kind = -1, .length = length};
    s->begin = s->at;
    s->inside = s->any = true;
    s->stop = s->at + 4 + length;
    spt_advance(s, r, BINARY_ID_BYTES);
    if (s->program >= s->file->nprograms)
        sp_emit(s->d, SP_E407, SP_AT(r->offset + 2), "SPT_OP_BINARY_ID of program %u, the table has %u",
                s->program, s->file->nprograms);
    if (padding)
        sp_emit(s->d, SP_W443, SP_AT(r->offset + 1), "SPT_OP_BINARY_ID's padding is 0x%02x", padding);
    if (length < 4) {
        sp_emit(s->d, SP_E408, SP_AT(r->offset + 4), "%u", length);
        s->stop = UINT64_MAX;
    }
}

static void spt_repeat(struct sp_spt_stream *s, struct sp_spt_record *r)
{
    uint64_t count = sp_spt_u64(s->p + 2);
    *r = (struct sp_spt_record){
        .what = SP_SPT_REPEATED, .op = SP_SPT_REPEAT, .second = s->p[1], .kind = -1, .count = count};
    spt_advance(s, r, REPEAT_BYTES);
    if (r->second)
        sp_emit(s->d, SP_W443, SP_AT(r->offset + 1), "SPT_OP_REPEAT's padding is 0x%02x", r->second);
    if (s->repeating)
        sp_emit(s->d, SP_W436, SP_AT(r->offset), " ");
    else
        s->repeat_at = r->offset;
    s->too_many |= __builtin_add_overflow(s->repeat, count, &s->repeat);
    s->repeating = true;
}

static void spt_odd_event(struct sp_spt_stream *s, const struct sp_spt_record *r)
{
    const char *name = sp_spt_kinds[r->kind].name;
    if (!r->hits)
        sp_emit(s->d, SP_E412, SP_AT(r->offset), "%s", name);
    if (r->kind == SP_SPT_KIND_CALLSTACK && r->n < 2)
        sp_emit(s->d, SP_W438, SP_AT(r->offset), "%s with N = %u", name, r->n);
    else if (!r->n)
        sp_emit(s->d, SP_W439, SP_AT(r->offset), "%s with N = 0", name);
}

static inline void spt_event(struct sp_spt_stream *s, struct sp_spt_record *r, int kind, size_t bytes)
{
    uint64_t hits = s->repeat + 1;
    r->what = SP_SPT_EVENT;
    r->op = s->p[0];
    r->n = r->second = s->p[1];
    r->kind = kind;
    r->entries = s->p + 2;
    r->hits = s->too_many ? 0 : hits;
    r->count = 0;
    r->length = 0;
    spt_advance(s, r, bytes);
    s->repeat = 0;
    s->repeating = s->too_many = false;
    if (!r->hits || r->n < 2)
        spt_odd_event(s, r);
}

/* The file ends inside the segment; what is left of it has no whole record. */
static void spt_cut_off(struct sp_spt_stream *s)
{
    if (s->stop != UINT64_MAX)
        sp_emit(s->d, SP_E413, SP_AT(s->at + spt_have(s)), "segment %u at 0x%llx has %llu more bytes",
                s->segment, (unsigned long long)s->begin,
                (unsigned long long)(s->stop - s->at - spt_have(s)));
    s->inside = false;
}

static void spt_damaged(struct sp_spt_stream *s, enum sp_code code, size_t bytes)
{
    unsigned char op = s->p[0];
    unsigned long long left = s->stop - s->at;
    if (s->stop == UINT64_MAX) /* of a segment without a length */
        s->inside = false;
    if (code == SP_E410 && s->inside)
        sp_emit(s->d, code, SP_AT(s->at), "0x%02x, in segment %u; %llu bytes", op, s->segment, left);
    else if (code == SP_E410)
        sp_emit(s->d, code, SP_AT(s->at), "0x%02x, in segment %u", op, s->segment);
    else
        sp_emit(s->d, code, SP_AT(s->at), "%s of %zu bytes, the segment has %llu", sp_spt_op_name(op), bytes,
                left);
    spt_lose(s, s->inside ? SP_SPT_TO_STOP : SP_SPT_SEARCHING);
}

/* In a segment, with at least a byte. *given as above. */
static spaa_status spt_inside(struct sp_spt_stream *s, struct sp_spt_record *r, bool *given)
{
    unsigned char op = s->p[0];
    size_t n = spt_have(s), bytes = spt_record_bytes(op, n > 1 ? s->p[1] : 0);
    uint64_t left = s->stop - s->at;
    *given = true;
    if (op == SP_SPT_BINARY_ID && spt_genuine(s, s->p, n < LOOK_BYTES ? n : LOOK_BYTES)) {
        if (s->stop != UINT64_MAX)
            sp_emit(s->d, SP_E414, SP_AT(s->at), "segment %u should reach to 0x%llx", s->segment,
                    (unsigned long long)s->stop);
        spt_begin_segment(s, r);
        return SPAA_OK;
    }
    if (!bytes) {
        spt_damaged(s, SP_E410, 0);
    } else if (bytes > left) {
        spt_damaged(s, SP_E411, bytes);
    } else if (bytes > n) { /* the file ends first */
        spt_cut_off(s);
        spt_lose(s, SP_SPT_TO_STOP);
    } else if (op == SP_SPT_REPEAT) {
        spt_repeat(s, r);
        return SPAA_OK;
    } else {
        spt_event(s, r, sp_spt_kind_of(op), bytes);
        return SPAA_OK;
    }
    *given = false;
    return SPAA_OK;
}

static void spt_finish(struct sp_spt_stream *s)
{
    spt_drop_repeat(s);
    if (s->inside && s->at < s->stop)
        spt_cut_off(s);
    if (s->skipped)
        sp_emit(s->d, SP_L430, SP_AT_NOTHING, "%llu bytes were skipped", (unsigned long long)s->skipped);
    s->done = true;
}

spaa_status sp_spt_next(struct sp_spt_stream *s, struct sp_spt_record *r)
{
    while (!s->done) {
        bool given = false;
        spaa_status st = spt_ensure(s, LOOK_BYTES);
        if (st)
            return st;
        if (!spt_have(s)) {
            spt_finish(s);
            break;
        }
        if (s->inside && s->at >= s->stop) {
            spt_drop_repeat(s);
            s->inside = false;
        }
        if (s->mode == SP_SPT_TO_STOP)
            st = spt_skip_to_stop(s, r, &given);
        else if (s->mode == SP_SPT_SEARCHING)
            st = stream_spt_search(s, r, &given);
        else if (s->inside)
            st = spt_inside(s, r, &given);
        else if (s->p[0] == SP_SPT_BINARY_ID && spt_have(s) >= BINARY_ID_BYTES) {
            spt_begin_segment(s, r);
            given = true;
        } else {
            spt_lose(s, SP_SPT_SEARCHING);
        }
        if (st || given)
            return st;
    }
    *r = (struct sp_spt_record){.what = SP_SPT_END, .offset = s->at, .segment = s->segment, .kind = -1};
    return SPAA_OK;
}
