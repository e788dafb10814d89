/* The usual frame record: as the writer puts it, resolved, in a DSO that is defined, with nothing to say of
 * it. */
#include "formats/spaa/validate/fast.h"

struct frame {
    struct sp_span id, dso, ip, symoff, other;
    uint64_t depth;
    bool inlined, has_depth;
    int kind;
};

static bool take_whole_number(struct sp_line *l, struct sp_span *out, uint64_t *v)
{
    const char *from = l->p;
    if (!sp_plain_number(&l->p, l->limit, v))
        return false;
    *out = (struct sp_span){from, (size_t)(l->p - from)};
    return true;
}

/* As hex digits behind 0x. */
static bool take_hex(struct sp_line *l, struct sp_span *out)
{
    if (!sp_take_text(l, out) || out->n < 3 || out->p[0] != '0' || out->p[1] != 'x')
        return false;
    unsigned other = 0;
    for (size_t i = 2; i < out->n; i++) {
        unsigned c = (unsigned char)out->p[i];
        other |= (c - '0' > 9) & ((c | 32) - 'a' > 5);
    }
    return !other;
}

static bool take_members(struct sp_line *l, struct frame *f)
{
    uint64_t v;
    struct sp_span kind;
    if (!TAKE(l, "{\"type\":\"frame\",\"id\":") || !take_whole_number(l, &f->id, &v) ||
        !TAKE(l, ",\"func\":\"") || !sp_take_text(l, &f->other) || !TAKE(l, ",\"dso\":") ||
        !take_whole_number(l, &f->dso, &v) || (TAKE(l, ",\"ip\":\"") && !take_hex(l, &f->ip)) ||
        (TAKE(l, ",\"symoff\":\"") && !take_hex(l, &f->symoff)) ||
        (TAKE(l, ",\"srcline\":\"") && !sp_take_text(l, &f->other)))
        return false;
    TAKE(l, ",\"srcline_resolved\":false");
    f->inlined = TAKE(l, ",\"inlined\":true");
    f->has_depth = TAKE(l, ",\"inline_depth\":");
    if (f->has_depth && (!take_whole_number(l, &f->other, &f->depth) || f->depth >= SP_EXTRA_MAX))
        return false;
    if ((f->has_depth && f->inlined != (f->depth > 0)) || !TAKE(l, ",\"kind\":\"") || !sp_take_text(l, &kind))
        return false;
    f->kind = sp_name_index(sp_frame_kind_names, kind.p, kind.n);
    return f->kind >= 0 && sp_take_end(l);
}

/* The entry of a DSO: mostly the one of the frame before. */
static uint32_t dso_of(struct sp_validator *v, struct sp_span id)
{
    struct sp_fast *f = v->fast;
    if (f->dso_length == id.n && memcmp(f->dso_text, id.p, id.n) == 0)
        return f->dso_entry;
    uint32_t entry = sp_ids_find(&v->dsos, sp_fingerprint(id.p, id.n));
    if (entry != SP_ID_NONE && id.n <= sizeof f->dso_text) {
        f->dso_length = id.n;
        f->dso_entry = entry;
        memcpy(f->dso_text, id.p, id.n);
    }
    return entry;
}

/* The frame's kind goes with its DSO. */
static bool fits(int kind, const struct sp_id *dso)
{
    bool kernel = dso->bits & SP_ID_KERNEL;
    return dso->bits & SP_ID_DEFINED &&
           (kind == SP_USER ? !kernel : kind != SP_KERNEL || kernel || dso->bits & SP_ID_NAMELESS);
}

const char *sp_fast_frame_record(struct sp_validator *v, const char *p, const char *limit)
{
    struct sp_line l = {.p = p, .limit = limit};
    struct frame f = {0};
    if (!take_members(&l, &f))
        return NULL;
    uint32_t small = sp_small_id(f.id.p, f.id.n), dso = dso_of(v, f.dso);
    if (small == SP_ID_NONE || dso == SP_ID_NONE || !fits(f.kind, &v->dsos.v[dso]))
        return NULL;
    struct sp_fp where[3] = {v->dsos.v[dso].fp, {0, 0}, {0, 0}};
    bool added;
    uint32_t n = sp_ids_get_fp(&v->frames, sp_fingerprint(f.id.p, f.id.n), &added);
    if (n == SP_ID_NONE || !added)
        return NULL;
    if (f.ip.p)
        where[1] = sp_fingerprint(f.ip.p, f.ip.n);
    if (f.symoff.p)
        where[2] = sp_fingerprint(f.symoff.p, f.symoff.n);
    struct sp_id *e = &v->frames.v[n];
    unsigned kind = f.kind == SP_USER ? SP_ID_USER : f.kind == SP_KERNEL ? SP_ID_KERNEL : 0;
    e->line = v->line & (((uint64_t)1 << 40) - 1);
    e->bits = (uint64_t)(SP_ID_DEFINED | (f.inlined ? SP_ID_INLINED : 0) | kind) & 0xFF;
    e->extra = (f.has_depth ? f.depth : f.inlined ? SP_EXTRA_MAX : 0) & 0xFFF;
    e->place = f.ip.p ? sp_fingerprint(where, sizeof where).a | 1 : 0;
    sp_ids_note_small(&v->frames, small, n);
    return l.p;
}
