/*
 * Distinct texts of frames, where they stand first. A report repeats them: each is parsed once, and made a
 * frame once for each image that it turns out to name (the same text may mean another image in another
 * process).
 */
#include "base/hash.h"
#include "base/num.h"
#include "formats/spindump/spindump.h"

void sp_sd_bodies_free(struct sp_sd_bodies *b)
{
    sp_vec_free(&b->v);
    sp_vec_free(&b->image);
    sp_vec_free(&b->fresh);
    sp_vec_free(&b->making);
    sp_map_free(&b->map);
    sp_buf_free(&b->buf);
}

static bool same(const struct sp_sd_body *x, struct sp_span text, bool kernel)
{
    return x->n == text.n && x->kernel == kernel && memcmp(x->p, text.p, text.n) == 0;
}

static bool unknown(const struct sp_sd_frame *f)
{
    return sp_span_is(f->symbol, "???") && !f->has_off;
}

/* The function's name: where the symbol is unknown, its place in the image, or its address. */
static struct sp_span name_of(const struct sp_sd_frame *f, char hex[static 18])
{
    if (!unknown(f))
        return f->symbol;
    memcpy(hex, "0x", 2);
    return (struct sp_span){hex,
                            2 + sp_hex_text(f->has_image_off ? f->image_off : f->address_value, hex + 2)};
}

static bool by_uuid(struct sp_span image)
{
    return image.n > 2 && *image.p == '<' && image.p[image.n - 1] == '>';
}

/* What most frames say beside their fields. */
static void usual_more(struct sp_sd_fresh *x)
{
    const struct sp_sd_frame *f = &x->f;
    size_t n = sizeof SP_SD_MORE - 1;
    x->more_n = 0;
    if (!f->image.n || by_uuid(f->image) || f->address.n < 2 || f->address.n > 20)
        return;
    memcpy(x->more_text, SP_SD_MORE, n); /* digits and x: nothing to escape */
    memcpy(x->more_text + n, f->address.p, f->address.n);
    memcpy(x->more_text + n + f->address.n, "\"}", 2);
    x->more_n = n + f->address.n + 2;
    x->more = sp_hash64(x->more_text, x->more_n);
}

/* Parses a new body. Its frame is made when the process ends; the places of its strings are fetched till
 * then. */
static bool add_fresh(struct sp_sd_bodies *b, struct sp_span text, uint32_t *number)
{
    char hex[18];
    if (b->fresh.n >= SP_NONE - 1 || !sp_vec_reserve(&b->fresh, b->fresh.n + 1))
        return false;
    struct sp_sd_fresh *x = &b->fresh.v[b->fresh.n];
    sp_sd_parse_frame(text, &x->f);
    struct sp_span name = name_of(&x->f, hex);
    x->name = sp_hash64(name.p, name.n);
    sp_map_expect(&b->p->strs.map, x->name);
    usual_more(x);
    if (x->more_n)
        sp_map_expect(&b->p->strs.map, x->more);
    *number = (uint32_t)b->fresh.n++;
    return true;
}

static uint32_t find_body(struct sp_sd_bodies *b, struct sp_span text, bool kernel)
{
    uint64_t hash = sp_hash64(text.p, text.n) + kernel;
    struct sp_probe at = sp_map_probe(&b->map, hash);
    for (uint32_t i; (i = sp_map_next(&b->map, &at)) != SP_MAP_NONE;)
        if (same(&b->v.v[i], text, kernel))
            return i;
    struct sp_sd_body x = {.p = text.p,
                           .n = (uint32_t)text.n,
                           .next = SP_NONE,
                           .frame = SP_NONE,
                           .image = SP_NONE,
                           .kernel = kernel};
    struct sp_sd_body_image image = {.address = 0};
    if (!add_fresh(b, text, &x.fresh))
        return SP_NONE;
    if (b->v.n >= SP_NONE - 1 || text.n >= SP_NONE || !sp_vec_push(&b->image, image) ||
        !sp_vec_push(&b->v, x) || !sp_map_add_at(&b->map, &at, (uint32_t)b->v.n - 1))
        return SP_NONE;
    return (uint32_t)b->v.n - 1;
}

uint32_t sp_sd_body(struct sp_sd_bodies *b, struct sp_span text, bool kernel)
{
    uint32_t guess = sp_sd_expected_body(b);
    if (guess == SP_NONE || !same(&b->v.v[guess], text, kernel)) {
        guess = find_body(b, text, kernel);
        if (guess != SP_NONE && b->last != SP_NONE)
            b->v.v[b->last].next = guess;
    }
    b->last = guess;
    return guess;
}

/* Whether an address's text is what would be written for its value. */
static bool plain_address(struct sp_span s, uint64_t v)
{
    char t[16];
    size_t n = sp_hex_text(v, t);
    return s.n == n + 2 && memcmp(s.p + 2, t, n) == 0;
}

/* What the frame has no field for; SP_STR_NONE: nothing. */
static uint32_t more_of(struct sp_sd_bodies *b, const struct sp_sd_fresh *x, struct sp_span dso)
{
    const struct sp_sd_frame *f = &x->f;
    if (x->more_n)
        return sp_intern_hashed(&b->p->strs, x->more_text, x->more_n, x->more);
    bool renamed = f->image.n && !(dso.n == f->image.n && memcmp(dso.p, f->image.p, dso.n) == 0);
    bool address = f->address.n > 1 && (f->image.n || !plain_address(f->address, f->address_value) ||
                                        !sp_span_is(f->symbol, "???"));
    if (!address && !renamed)
        return SP_STR_NONE;
    sp_buf_clear(&b->buf);
    sp_buf_puts(&b->buf, "\"x_spindump\":{");
    if (address)
        sp_hang_member(&b->buf, "address", f->address);
    if (renamed)
        sp_hang_member(&b->buf, "image", f->image);
    sp_buf_ch(&b->buf, '}');
    return b->buf.failed ? SP_STR_FAIL : sp_profile_str(b->p, b->buf.data, b->buf.len);
}

/* Where there is an image, ip is the offset in it; else the address, and func too where the symbol is
 * unknown. */
static bool place_frame(struct sp_sd_bodies *b, const struct sp_sd_fresh *x, struct sp_frame *out,
                        uint32_t *name)
{
    const struct sp_sd_frame *f = &x->f;
    char hex[18];
    if (f->has_image_off || (!f->image.n && unknown(f) && f->address.n > 1)) {
        out->flags |= SP_FRAME_IP;
        out->ip = f->has_image_off ? f->image_off : f->address_value;
    }
    if (f->has_off) {
        out->flags |= SP_FRAME_SYMOFF;
        out->symoff = f->off;
    }
    if (unknown(f))
        out->flags |= SP_FRAME_UNRESOLVED;
    struct sp_span text = name_of(f, hex);
    *name = sp_intern_hashed(&b->p->strs, text.p, text.n, x->name);
    if (f->srcline.n && b->frames <= SP_FRAMES_LINE)
        out->srcline = sp_hang_str(b->p, f->srcline);
    return *name != SP_STR_FAIL && out->srcline != SP_STR_FAIL;
}

/* The DSO of an image that frames call by its name, asked for once. */
static uint32_t image_dso(struct sp_sd_bodies *b, struct sp_span name, struct sp_hang_image *i, bool kernel)
{
    bool usual =
        kernel == i->kernel && name.n == i->file.n && memcmp(name.p, i->file.p, name.n) == 0 && i->uuid.n;
    if (usual && i->dso != SP_NONE)
        return i->dso;
    uint32_t d = sp_hang_dso(b->p, name, i->uuid, kernel);
    if (usual)
        i->dso = d;
    return d;
}

/* Begins a body's frame with that image: its strings and its DSO. */
static bool begin_frame(struct sp_sd_bodies *b, uint32_t body, const struct sp_sd_fresh *fresh,
                        uint32_t image)
{
    const struct sp_sd_body *x = &b->v.v[body];
    const struct sp_sd_frame *f = &fresh->f;
    struct sp_sd_making m = {.body = body, .frame = {.kind = x->kernel ? SP_KERNEL : SP_USER}};
    struct sp_span dso = {"[unknown]", 9}, uuid = {NULL, 0};
    struct sp_hang_image *of = image == SP_NONE ? NULL : &b->images->v.v[image];
    if (f->image.n) {
        dso = f->image;
        if (by_uuid(dso))
            uuid = (struct sp_span){dso.p + 1, dso.n - 2};
        if (of) {
            b->images->lines_seen.v[image].named = true;
            if (uuid.n && of->file.n)
                dso = of->file;
        }
    } else if (x->kernel) {
        dso = (struct sp_span){"[kernel]", 8};
    }
    if (!place_frame(b, fresh, &m.frame, &m.name))
        return false;
    if (b->frames <= SP_FRAMES_ADDRESS) {
        m.frame.more = more_of(b, fresh, dso);
    } else {
        m.frame.flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
        m.frame.ip = m.frame.symoff = 0;
    }
    m.dso = of && of->uuid.n ? image_dso(b, dso, of, x->kernel) : sp_hang_dso(b->p, dso, uuid, x->kernel);
    if (m.dso == SP_NONE || m.frame.more == SP_STR_FAIL)
        return false;
    sp_function_expect(b->p, m.name, m.dso);
    return sp_vec_push(&b->making, m);
}

/*
 * The frames that were begun. Each step is taken for all of them, so that the places in a table are fetched
 * for many at a time.
 */
static bool finish_frames(struct sp_sd_bodies *b)
{
    for (size_t i = 0; i < b->making.n; i++) {
        struct sp_sd_making *m = &b->making.v[i];
        m->frame.function = sp_function_intern(b->p, m->name, m->dso);
        if (m->frame.function == SP_NONE)
            return false;
        m->hash = sp_frame_hash(&m->frame);
        sp_map_expect(&b->p->frame_map, m->hash);
    }
    for (size_t i = 0; i < b->making.n; i++) {
        const struct sp_sd_making *m = &b->making.v[i];
        b->v.v[m->body].frame = sp_frame_intern_hashed(b->p, &m->frame, m->hash);
        if (b->v.v[m->body].frame == SP_NONE)
            return false;
    }
    b->making.n = 0;
    return true;
}

/* What a body that comes first says of its frame, whatever the image. */
static bool settle(struct sp_sd_bodies *b, struct sp_sd_body *x, struct sp_sd_body_image *image,
                   const struct sp_sd_frame *f)
{
    x->unbound = !f->image.n;
    image->name = f->image;
    image->address = f->address_value;
    x->truncated = sp_sd_truncated(f->symbol);
    if (f->state.p)
        x->state = sp_hang_str(b->p, f->state);
    return x->state != SP_STR_FAIL;
}

/* Begins the frame of a body in the process with this stamp, if it is another than before. */
static bool bind(struct sp_sd_bodies *b, uint32_t body, uint32_t stamp)
{
    struct sp_sd_body *x = &b->v.v[body];
    struct sp_sd_body_image *m = &b->image.v[body];
    struct sp_span text = {x->p, x->n};
    uint32_t image = SP_NONE, again = x->fresh;
    bool first = x->frame == SP_NONE, ok = true;
    if (first && !settle(b, x, m, &b->fresh.v[x->fresh].f))
        return false;
    if (!x->unbound)
        image = sp_hang_find_image(b->images, m->name, m->address, stamp, &ok);
    if (first || image != x->image)
        ok = ok && (first || add_fresh(b, text, &again)) && begin_frame(b, body, &b->fresh.v[again], image);
    if (!ok)
        return false;
    x->image = image;
    x->held = image != SP_NONE && m->address >= b->images->v.v[image].start &&
              m->address <= b->images->v.v[image].end;
    x->stamp = stamp;
    return true;
}

/* Whether a body's frame is that of the process with this stamp. */
static inline bool bound(const struct sp_sd_bodies *b, const struct sp_sd_body *x, uint32_t stamp)
{
    return x->stamp == stamp || (x->held && b->images->lines_seen.v[x->image].stamp == stamp) || x->unbound;
}

static bool make_frames(struct sp_sd_bodies *b, const struct sp_hang_row *rows, size_t n, uint32_t stamp)
{
    for (size_t i = 0; i < n; i++)
        if (!bound(b, &b->v.v[rows[i].frame], stamp) && !bind(b, rows[i].frame, stamp))
            return false;
    return finish_frames(b);
}

/*
 * The body of row i, with the frame of this process. The first that lacks it gets it with all behind (*made).
 * NULL: no memory.
 */
static inline const struct sp_sd_body *body_of(struct sp_sd_bodies *b, const struct sp_hang_row *rows,
                                               size_t n, size_t i, uint32_t stamp, bool *made)
{
    const struct sp_sd_body *x = &b->v.v[rows[i].frame];
    if (*made || bound(b, x, stamp))
        return x;
    *made = true;
    return make_frames(b, rows + i, n - i, stamp) ? x : NULL;
}

bool sp_sd_bind_stack(struct sp_sd_bodies *b, const struct sp_hang_row *rows, size_t n, uint32_t stamp,
                      uint32_t *end, uint32_t *state, uint64_t *truncated)
{
    bool made = false;
    for (size_t i = 0; i < n; i++) {
        const struct sp_sd_body *x = body_of(b, rows, n, i, stamp, &made);
        if (!x)
            return false;
        end[-1 - (ptrdiff_t)i] = x->frame;
        if (x->truncated)
            *truncated += (uint64_t)rows[i].count;
    }
    *state = b->v.v[rows[n - 1].frame].state;
    return true;
}

bool sp_sd_bind_rows(struct sp_sd_bodies *b, struct sp_hang_row *rows, size_t n, uint32_t stamp,
                     uint64_t *truncated)
{
    bool made = false;
    for (size_t i = 0; i < n; i++) {
        const struct sp_sd_body *x = body_of(b, rows, n, i, stamp, &made);
        if (!x)
            return false;
        rows[i].frame = x->frame;
        rows[i].tag = x->state;
        if (x->truncated && rows[i].count > 0)
            *truncated += (uint64_t)rows[i].count;
    }
    return true;
}
