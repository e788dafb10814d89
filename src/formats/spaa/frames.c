/*
 * The usual frame records, read without looking at their keys one by one, as fast.c reads stacks.
 *
 * Taking a line apart looks at nothing but the DSOs, entering what it says is the rest. Several threads take
 * chunks of lines apart; they are entered in the order of the text, up to the first line of another kind: the
 * profile is the one that a single thread makes.
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/spaa/read.h"
#include "formats/spaa/usual.h"

struct frame_text {
    struct sp_frame f; /* without what is in the texts */
    struct sp_span id, func, srcline;
    uint64_t number; /* the id */
    uint64_t func_hash, srcline_hash, hash;
    const char *next; /* line */
    uint32_t dso;
    bool same_function; /* as the record before */
};

/* A string in plain ASCII, its opening quote taken. */
static inline bool fast_text(const char **p, const char *end, struct sp_span *out)
{
    const char *quote = sp_plain_text(*p, end);
    if (!quote)
        return false;
    *out = (struct sp_span){*p, (size_t)(quote - *p)};
    *p = quote + 1;
    return true;
}

static bool fast_hex(const char **p, const char *end, uint64_t *out, uint8_t *flags, uint8_t flag)
{
    struct sp_span s;
    if (!fast_text(p, end, &s) || !sp_parse_0x(s.p, s.n, out))
        return false;
    *flags |= flag;
    return true;
}

static bool fast_kind(const char **p, const char *end, uint8_t *kind)
{
    struct sp_span s;
    int k = fast_text(p, end, &s) ? sp_name_index(sp_frame_kind_names, s.p, s.n) : -1;
    *kind = (uint8_t)k;
    return k >= 0;
}

/* A record with its members in the order of canonical files. */
static bool take_apart(const struct idmap *dsos, const char *line, const char *end, struct frame_text *x)
{
    const char *s = line;
    uint64_t v;
    *x = (struct frame_text){0};
    if (!SP_EXPECT(&s, end, "{\"type\":\"frame\",\"id\":"))
        return false;
    x->id.p = s;
    if (!sp_plain_number(&s, end, &x->number))
        return false;
    x->id.n = (size_t)(s - x->id.p);
    if (!SP_EXPECT(&s, end, ",\"func\":\"") || !fast_text(&s, end, &x->func))
        return false;
    if (SP_EXPECT(&s, end, ",\"func_resolved\":false"))
        x->f.flags |= SP_FRAME_UNRESOLVED;
    if (!SP_EXPECT(&s, end, ",\"dso\":") || !sp_plain_number(&s, end, &v))
        return false;
    x->dso = sp_idmap_small(dsos, v);
    if (x->dso == SP_NONE ||
        (SP_EXPECT(&s, end, ",\"ip\":\"") && !fast_hex(&s, end, &x->f.ip, &x->f.flags, SP_FRAME_IP)) ||
        (SP_EXPECT(&s, end, ",\"symoff\":\"") &&
         !fast_hex(&s, end, &x->f.symoff, &x->f.flags, SP_FRAME_SYMOFF)) ||
        (SP_EXPECT(&s, end, ",\"srcline\":\"") && !fast_text(&s, end, &x->srcline)))
        return false;
    if (SP_EXPECT(&s, end, ",\"inlined\":true"))
        x->f.flags |= SP_FRAME_INLINED;
    if (SP_EXPECT(&s, end, ",\"inline_depth\":")) {
        if (!sp_plain_number(&s, end, &v) || v > UINT32_MAX)
            return false;
        x->f.inline_depth = (uint32_t)v;
    }
    if (!SP_EXPECT(&s, end, ",\"kind\":\"") || !fast_kind(&s, end, &x->f.kind) || !SP_EXPECT(&s, end, "}\n"))
        return false;
    x->next = s;
    return true;
}

/* Frames of one function mostly come together. */
static void hash_texts(struct frame_text *x, uint32_t dso_before, struct sp_span func_before)
{
    x->same_function = func_before.p && dso_before == x->dso && func_before.n == x->func.n &&
                       sp_same_text(func_before.p, x->func.p, x->func.n);
    if (!x->same_function)
        x->func_hash = sp_hash64(x->func.p, x->func.n);
    if (x->srcline.p)
        x->srcline_hash = sp_hash64(x->srcline.p, x->srcline.n);
}

/* Function and texts of a record under a new id. False: it is known, or the general road is for it. */
static bool name(struct reader *r, struct frame_text *x)
{
    struct sp_profile *p = r->p;
    if (sp_idmap_find_number(r, &r->frames, x->number, x->id) != SP_NONE ||
        !sp_kind_fits(p, x->dso, x->f.kind))
        return false;
    if (!x->same_function) {
        uint32_t func = sp_intern_hashed(&p->strs, x->func.p, x->func.n, x->func_hash);
        r->last_function = func == SP_STR_FAIL ? SP_NONE : sp_function_intern(p, func, x->dso);
    }
    x->f.function = r->last_function;
    if (x->srcline.p)
        x->f.srcline = sp_intern_hashed(&p->strs, x->srcline.p, x->srcline.n, x->srcline_hash);
    x->hash = sp_frame_hash(&x->f);
    return x->f.function != SP_NONE && x->f.srcline != SP_STR_FAIL;
}

static bool enter(struct reader *r, const struct frame_text *x)
{
    uint32_t n = sp_frame_intern_hashed(r->p, &x->f, x->hash);
    return n != SP_NONE && sp_idmap_add_number(r, &r->frames, x->number, x->id, n);
}

const char *sp_fast_frame(struct reader *r, const char *line, const char *limit)
{
    const struct sp_profile *p = r->p;
    struct frame_text x;
    struct sp_span func = {0};
    uint32_t dso = SP_NONE;
    if (!take_apart(&r->dsos, line, limit, &x))
        return NULL;
    if (r->last_function != SP_NONE) {
        struct sp_str s = sp_pstr(p, p->functions.v[r->last_function].name);
        func = (struct sp_span){s.p, s.n};
        dso = p->functions.v[r->last_function].dso;
    }
    hash_texts(&x, dso, func);
    /* Without memory the general path says so, or finds some. */
    return name(r, &x) && enter(r, &x) ? x.next : NULL;
}

/* ---- by several threads ---- */

/* The lines of a chunk, taken apart up to the first of another kind. */
struct part {
    SP_VEC(struct frame_text) frames;
    bool nomem;
};

struct work {
    struct reader *r;
    struct idmap dsos; /* the reader's: apart from what changes while it is looked at */
    const char *at;    /* entered so far */
    const char *text;
    uint64_t offset; /* of text in the input */
    spaa_status st;
};

static void read_part(void *arg, struct sp_chunk *c)
{
    const struct work *w = arg;
    struct part *x = c->result;
    struct sp_span func = {0};
    uint32_t dso = SP_NONE;
    x->frames.n = 0;
    for (const char *at = c->text; at < c->end;) {
        x->nomem = !sp_vec_reserve(&x->frames, x->frames.n + 1);
        if (x->nomem)
            return;
        struct frame_text *f = &x->frames.v[x->frames.n];
        if (!take_apart(&w->dsos, at, c->end, f))
            return;
        hash_texts(f, dso, func);
        dso = f->dso;
        func = f->func;
        x->frames.n++;
        at = f->next;
    }
}

/*
 * Enters up to n records: a few at a time, so that what they meet in the map of frames is in the caches when
 * it is looked at. Returns how many there was nothing against; the next one is for the general path.
 */
static size_t enter_several(struct reader *r, struct frame_text *x, size_t n)
{
    enum { FEW = 8 };
    size_t done = 0;
    for (bool ok = true; ok && done < n;) {
        size_t to = done;
        do {
            ok = name(r, &x[to]);
            sp_map_expect(&r->p->frame_map, x[to].hash);
            to += ok;
            /* An id that may be one of those that wait is looked up when they are entered. */
        } while (ok && to < n && to - done < FEW && x[to].number > x[to - 1].number);
        for (; done < to; done++)
            if (!enter(r, &x[done]))
                return done;
    }
    return done;
}

static enum sp_settled settle(void *arg, struct sp_chunk *c, bool alone)
{
    struct work *w = arg;
    struct part *x = c->result;
    (void)alone; /* taking apart does not look at what is entered */
    size_t n = enter_several(w->r, x->frames.v, x->frames.n);
    if (x->nomem)
        w->st = sp_nomem(w->r->d);
    if (n)
        w->at = x->frames.v[n - 1].next;
    w->r->line += n;
    sp_input_note(w->r->in, (size_t)(w->offset + (uint64_t)(w->at - w->text) - sp_input_offset(w->r->in)));
    return w->at == c->end && !w->st ? SP_SETTLED : SP_STOP;
}

static void part_drop(void *result)
{
    struct part *x = result;
    sp_vec_free(&x->frames);
}

spaa_status sp_read_frames(struct reader *r, const struct sp_chunking *how, const char **text,
                           const char *end, uint64_t offset)
{
    struct work w = {.r = r, .dsos = r->dsos, .at = *text, .text = *text, .offset = offset};
    const struct sp_chunk_work work = {&w, sizeof(struct part), read_part, settle, part_drop};
    struct sp_chunking smaller = *how;
    smaller.chunk = how->chunk / 4 + 1; /* what is known of a line takes as much as its text */
    bool ok = sp_chunks_run(&work, &smaller, *text, end);
    *text = w.at;
    return ok ? w.st : sp_nomem(r->d);
}
