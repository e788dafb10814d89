/* What memleak prints. */
#include "formats/bcc/bcc.h"
#include "json/json.h"

spaa_status bcc_heap_print(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_line *l)
{
    h->before = h->list.n;
    h->prints++;
    h->at_most = l->number;
    h->last = sp_profile_text(s->p, l->comm.p, l->comm.n);
    return h->last == SP_STR_FAIL ? sp_nomem(s->d) : SPAA_OK;
}

spaa_status bcc_heap_blocks(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_line *l)
{
    if (h->before || !h->list.n) { /* of a new print: those before are not outstanding on top of it */
        h->list.n = h->before = s->names.n = 0;
        h->printed = h->last;
    }
    struct bcc_blocks b = {s->names.n, 0, l->number, l->count};
    return sp_vec_push(&h->list, b) ? SPAA_OK : sp_nomem(s->d);
}

spaa_status bcc_heap_end(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_title *t, int64_t pid)
{
    struct bcc_who who = {SP_STR_NONE, pid};
    const struct bcc_event *e = NULL;
    spaa_status st = h->list.n ? bcc_event_of(s, t, &e) : SPAA_OK;
    for (size_t i = 0; !st && i < h->list.n; i++) {
        const struct bcc_blocks *b = &h->list.v[i];
        struct bcc_slice slice = {b->first, b->n, false, t->sides};
        st = bcc_add_blocks(s, e, &slice, &who, b->bytes, b->count);
    }
    return st;
}

spaa_status bcc_heap_say(struct bcc_heap *h, struct bcc_stacks *s)
{
    struct sp_str when = sp_pstr(s->p, h->printed);
    struct sp_buf b;
    if (!h->list.n)
        return SPAA_OK;
    if (h->before)
        sp_emit(s->d, SP_W311, SP_AT_NOTHING,
                "the last print lists nothing, or was cut off: what is said is of the one at %.16s", when.p);
    else if (h->prints > 1)
        sp_emit_hint(s->d, SP_I321, SP_AT_NOTHING, "cut the text before one of them to see what was then",
                     "%llu prints before the last one, which lists all that is outstanding",
                     (unsigned long long)h->prints - 1);
    if (h->at_most > 0 && (uint64_t)h->at_most <= h->list.n)
        sp_emit_hint(s->d, SP_I322, SP_AT_NOTHING, "memleak -T 1000 prints more",
                     "it prints the largest %lld stacks only: there may be more", (long long)h->at_most);
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "\"x_bcc\":{\"prints\":%llu,\"printed\":", (unsigned long long)h->prints);
    sp_json_string(&b, when.p, when.n);
    sp_buf_ch(&b, '}');
    s->p->header.extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(s->p, b.data, b.len);
    sp_buf_free(&b);
    return s->p->header.extra_json == SP_STR_FAIL ? sp_nomem(s->d) : SPAA_OK;
}
