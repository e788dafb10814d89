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
    sp_map_free(&b->map);
    sp_buf_free(&b->buf);
}

static bool same(const struct sp_sd_body *x, struct sp_span text, bool kernel)
{
    return x->n == text.n && x->kernel == kernel && memcmp(x->p, text.p, text.n) == 0;
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
    if (b->v.n >= SP_NONE - 1 || text.n >= SP_NONE || !sp_vec_push(&b->image, image) ||
        !sp_vec_push(&b->v, x) || !sp_map_add(&b->map, hash, (uint32_t)b->v.n - 1))
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
static uint32_t more_of(struct sp_sd_bodies *b, const struct sp_sd_frame *f, struct sp_span dso)
{
    bool renamed = f->image.n && !(dso.n == f->image.n && memcmp(dso.p, f->image.p, dso.n) == 0);
    bool address = f->address.n > 1 && (f->image.n || !plain_address(f->address, f->address_value) ||
                                        !sp_span_is(f->symbol, "???"));
    static const char start[] = "\"x_spindump\":{\"address\":\"";
    char usual[sizeof start + 24];
    if (!address && !renamed)
        return SP_STR_NONE;
    if (!renamed && f->address.n <= 20) { /* digits and x: nothing to escape */
        size_t n = sizeof start - 1;
        memcpy(usual, start, n);
        memcpy(usual + n, f->address.p, f->address.n);
        n += f->address.n;
        memcpy(usual + n, "\"}", 2);
        return sp_profile_str(b->p, usual, n + 2);
    }
    sp_buf_clear(&b->buf);
    sp_buf_puts(&b->buf, "\"x_spindump\":{");
    if (address) {
        sp_buf_add(&b->buf, "\"address\":\"", 11);
        sp_buf_add(&b->buf, f->address.p, f->address.n);
        sp_buf_ch(&b->buf, '"');
    }
    if (renamed)
        sp_hang_member(&b->buf, "image", f->image);
    sp_buf_ch(&b->buf, '}');
    return b->buf.failed ? SP_STR_FAIL : sp_profile_str(b->p, b->buf.data, b->buf.len);
}

/* Where there is an image, ip is the offset in it; else the address, and func too where the symbol is
 * unknown. */
static bool place_frame(struct sp_sd_bodies *b, const struct sp_sd_frame *f, struct sp_frame *out,
                        uint32_t *name)
{
    bool unknown = sp_span_is(f->symbol, "???") && !f->has_off;
    uint64_t address = unknown && !f->has_image_off ? f->address_value : 0;
    if (f->has_image_off || (!f->image.n && unknown && f->address.n > 1)) {
        out->flags |= SP_FRAME_IP;
        out->ip = f->has_image_off ? f->image_off : address;
    }
    if (f->has_off) {
        out->flags |= SP_FRAME_SYMOFF;
        out->symoff = f->off;
    }
    if (unknown)
        out->flags |= SP_FRAME_UNRESOLVED;
    *name = unknown ? sp_hang_hex_str(b->p, out->flags & SP_FRAME_IP ? out->ip : address)
                    : sp_hang_str(b->p, f->symbol);
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

static uint32_t make_frame(struct sp_sd_bodies *b, const struct sp_sd_body *x,
                           const struct sp_sd_frame *parsed, uint32_t image)
{
    struct sp_sd_frame f = *parsed;
    struct sp_frame out = {.kind = x->kernel ? SP_KERNEL : SP_USER};
    struct sp_span dso = {"[unknown]", 9}, uuid = {NULL, 0};
    struct sp_hang_image *of = image == SP_NONE ? NULL : &b->images->v.v[image];
    uint32_t name;
    if (f.image.n) {
        dso = f.image;
        bool by_uuid = dso.n > 2 && *dso.p == '<' && dso.p[dso.n - 1] == '>';
        if (by_uuid)
            uuid = (struct sp_span){dso.p + 1, dso.n - 2};
        if (of) {
            b->images->lines_seen.v[image].named = true;
            if (by_uuid && of->file.n)
                dso = of->file;
        }
    } else if (x->kernel) {
        dso = (struct sp_span){"[kernel]", 8};
    }
    if (!place_frame(b, &f, &out, &name))
        return SP_NONE;
    if (b->frames <= SP_FRAMES_ADDRESS)
        out.more = more_of(b, &f, dso);
    else
        out.flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
    if (b->frames > SP_FRAMES_ADDRESS)
        out.ip = out.symoff = 0;
    uint32_t d =
        of && of->uuid.n ? image_dso(b, dso, of, x->kernel) : sp_hang_dso(b->p, dso, uuid, x->kernel);
    if (d == SP_NONE || out.more == SP_STR_FAIL)
        return SP_NONE;
    out.function = sp_function_intern(b->p, name, d);
    return out.function == SP_NONE ? SP_NONE : sp_frame_intern(b->p, &out);
}

/* The text's parts that decide which frame it is; parsed when it is first needed, and again for another
 * image. */
static bool parse_body(struct sp_sd_bodies *b, struct sp_sd_body *x, struct sp_sd_body_image *image,
                       struct sp_sd_frame *f)
{
    sp_sd_parse_frame((struct sp_span){x->p, x->n}, f);
    x->unbound = !f->image.n;
    image->name = f->image;
    image->address = f->address_value;
    x->truncated = sp_sd_truncated(f->symbol);
    if (f->state.p)
        x->state = sp_hang_str(b->p, f->state);
    return x->state != SP_STR_FAIL;
}

uint32_t sp_sd_bind_slowly(struct sp_sd_bodies *b, uint32_t body, uint32_t stamp)
{
    struct sp_sd_body *x = &b->v.v[body];
    struct sp_sd_body_image *m = &b->image.v[body];
    struct sp_sd_frame f;
    bool fresh = x->frame == SP_NONE;
    if (fresh && !parse_body(b, x, m, &f))
        return SP_NONE;
    uint32_t image = SP_NONE;
    bool ok = true;
    if (!x->unbound)
        image = sp_hang_find_image(b->images, m->name, m->address, stamp, &ok);
    if (!ok)
        return SP_NONE;
    if (fresh || image != x->image) {
        if (!fresh)
            sp_sd_parse_frame((struct sp_span){x->p, x->n}, &f);
        x->frame = make_frame(b, x, &f, image);
        x->image = image;
        x->held = image != SP_NONE && m->address >= b->images->v.v[image].start &&
                  m->address <= b->images->v.v[image].end;
    }
    x->stamp = stamp;
    return x->frame;
}
