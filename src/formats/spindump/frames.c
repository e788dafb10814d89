/*
 * Which frames the texts of rows are. The same text may mean another image in another process: a frame is
 * made again for each image that a text turns out to name.
 */
#include "formats/spindump/frames.h"
#include "base/num.h"
#include "formats/common/hang/wait.h"
#include "formats/spindump/spindump.h"
#include "model/leaf_state.h"

void sp_spindump_frames_free(struct sp_spindump_frames *m)
{
    sp_hang_texts_free(&m->texts);
    sp_vec_free(&m->meanings);
    sp_buf_free(&m->buf);
}

static bool spindump_is_unknown(const struct sp_spindump_frame *f)
{
    return sp_span_is(f->symbol, "???") && !f->has_off;
}

/* The function's name: where the symbol is unknown, its place in the image, or its address. */
static uint32_t spindump_function_name(struct sp_spindump_frames *m, const struct sp_spindump_frame *f)
{
    return spindump_is_unknown(f) ? sp_hang_hex_str(m->p, f->has_image_off ? f->image_off : f->address_value)
                                  : sp_hang_str(m->p, f->symbol);
}

static bool spindump_names_uuid(struct sp_span image)
{
    return image.n > 2 && *image.p == '<' && image.p[image.n - 1] == '>';
}

/* Whether an address's text is what would be written for its value. */
static bool spindump_is_plain_address(struct sp_span s, uint64_t v)
{
    char t[16];
    size_t n = sp_hex_text(v, t);
    return s.n == n + 2 && memcmp(s.p + 2, t, n) == 0;
}

/* What the frame has no field for; SP_STR_NONE: nothing. */
static uint32_t spindump_frame_extra(struct sp_spindump_frames *m, const struct sp_spindump_frame *f,
                                     struct sp_span dso)
{
    bool renamed = f->image.n && !(dso.n == f->image.n && memcmp(dso.p, f->image.p, dso.n) == 0);
    bool address =
        f->address.n > 1 && (f->image.n || !spindump_is_plain_address(f->address, f->address_value) ||
                             !sp_span_is(f->symbol, "???"));
    if (!address && !renamed)
        return SP_STR_NONE;
    sp_buf_clear(&m->buf);
    sp_buf_puts(&m->buf, "\"x_spindump\":{");
    if (address)
        sp_hang_member(&m->buf, "address", f->address);
    if (renamed)
        sp_hang_member(&m->buf, "image", f->image);
    sp_buf_ch(&m->buf, '}');
    return m->buf.failed ? SP_STR_FAIL : sp_profile_str(m->p, m->buf.data, m->buf.len);
}

/* Where there is an image, ip is the offset in it; else the address, where the symbol is unknown. */
static void spindump_place(const struct sp_spindump_frame *f, struct sp_frame *out)
{
    if (f->has_image_off || (!f->image.n && spindump_is_unknown(f) && f->address.n > 1)) {
        out->flags |= SP_FRAME_IP;
        out->ip = f->has_image_off ? f->image_off : f->address_value;
    }
    if (f->has_off) {
        out->flags |= SP_FRAME_SYMOFF;
        out->symoff = f->off;
    }
}

/* The frame with that image; SP_NONE: no memory. */
static uint32_t spindump_make_frame(struct sp_spindump_frames *m, const struct sp_spindump_frame *f,
                                    bool kernel, uint32_t image)
{
    struct sp_frame out = {.kind = kernel ? SP_KERNEL : SP_USER};
    struct sp_span dso = {"[unknown]", 9}, uuid = {NULL, 0};
    if (f->image.n) {
        dso = f->image;
        if (spindump_names_uuid(dso))
            uuid = (struct sp_span){dso.p + 1, dso.n - 2};
    } else if (kernel) {
        dso = (struct sp_span){"[kernel]", 8};
    }
    if (image != SP_NONE) {
        struct sp_hang_image *i = &m->images->v.v[image];
        i->named = true;
        if (uuid.n && i->file.n)
            dso = i->file;
        if (i->uuid.n)
            uuid = i->uuid;
    }
    if (spindump_is_unknown(f))
        out.flags |= SP_FRAME_UNRESOLVED;
    if (f->srcline.n && m->frames <= SP_FRAMES_LINE)
        out.srcline = sp_hang_str(m->p, f->srcline);
    if (m->frames <= SP_FRAMES_ADDRESS) {
        spindump_place(f, &out);
        out.extra_json = spindump_frame_extra(m, f, dso);
    }
    uint32_t name = spindump_function_name(m, f), d = sp_hang_dso(m->p, dso, uuid, kernel);
    if (name == SP_STR_FAIL || out.srcline == SP_STR_FAIL || out.extra_json == SP_STR_FAIL || d == SP_NONE)
        return SP_NONE;
    out.function = sp_function_intern(m->p, name, d);
    return out.function == SP_NONE ? SP_NONE : sp_frame_intern(m->p, &out);
}

/* The state of samples that end here, as a context has it: its word, and its text where that says more. */
static bool spindump_learn_state(struct sp_spindump_frames *m, struct sp_span state,
                                 struct sp_spindump_meaning *x)
{
    const char *word = sp_spindump_state(state);
    if (!word)
        return true;
    const char *plain = sp_spindump_state_text((struct sp_str){word, (uint32_t)strlen(word)});
    x->state = sp_profile_cstr(m->p, word);
    if (state.p && x->state != SP_STR_FAIL && !(plain && sp_span_is(state, plain))) {
        if (strcmp(word, "UNKNOWN") == 0 && sp_spindump_state_is_damaged(state))
            sp_emit(m->d, SP_W515, SP_AT_NOTHING, "what samples did is not known: \"%.*s\"",
                    (int)(state.n > 80 ? 80 : state.n), state.p);
        x->wait = sp_hang_wait(m->p, sp_pstr(m->p, x->state), state);
        if (x->wait)
            return x->wait != SP_NONE;
        sp_buf_clear(&m->buf);
        sp_buf_puts(&m->buf, "\"x_spindump\":{");
        sp_hang_member(&m->buf, "state", state);
        sp_buf_ch(&m->buf, '}');
        x->state_extra = m->buf.failed ? SP_STR_FAIL : sp_profile_str(m->p, m->buf.data, m->buf.len);
    }
    return x->state != SP_STR_FAIL && x->state_extra != SP_STR_FAIL;
}

/* A row that ends in a state which is not read as one: what stands before it, or around it, is damaged. */
static void spindump_say_stateless(const struct sp_spindump_frames *m, struct sp_span text,
                                   const struct sp_spindump_frame *f)
{
    static const char *const ends[] = {"running)", "runnable)", "-core)", "suspended)"};
    for (size_t i = 0; !f->state.p && i < sizeof ends / sizeof *ends; i++)
        if (sp_hang_ends(text, ends[i]))
            sp_emit(m->d, SP_W515, SP_AT_NOTHING,
                    "the state of a row is taken for a part of its name: \"%.*s\"",
                    (int)(text.n > 80 ? 80 : text.n), text.p);
}

/* What a text says wherever it stands. False: no memory. */
static bool spindump_learn(struct sp_spindump_frames *m, uint32_t number, const struct sp_spindump_frame *f,
                           bool kernel)
{
    struct sp_str symbol = {f->symbol.p, (uint32_t)f->symbol.n},
                  image = {f->image.n ? f->image.p : "", (uint32_t)f->image.n};
    const char *leaf = sp_leaf_state(symbol, image, kernel);
    struct sp_spindump_meaning none = {.image = SP_NONE};
    while (m->meanings.n <= number)
        if (!sp_vec_push(&m->meanings, none))
            return false;
    struct sp_spindump_meaning *x = &m->meanings.v[number];
    x->image_name = f->image;
    x->address = f->address_value;
    x->truncated = sp_spindump_truncated(f->symbol);
    x->torn = f->torn;
    x->rangeless = !f->address.n && !f->state.p;
    x->bare = !f->address.n && !x->truncated && !(spindump_is_unknown(f) && !f->image.n);
    x->said = f->state;
    x->idle = sp_spindump_cut_idle(&x->said) || (kernel && leaf && strcmp(leaf, "IDLE") == 0);
    return spindump_learn_state(m, x->said, x);
}

bool sp_spindump_bind(struct sp_spindump_frames *m, uint32_t number, uint32_t stamp)
{
    struct sp_hang_text *text = &m->texts.v.v[number];
    bool known = text->frame != SP_NONE, ok = true;
    struct sp_spindump_frame f;
    if (text->stamp == stamp)
        return true;
    if (!known) {
        sp_spindump_parse_row(text->text, &f);
        spindump_say_stateless(m, text->text, &f);
        if (!spindump_learn(m, number, &f, text->kernel))
            return false;
    }
    struct sp_spindump_meaning *x = &m->meanings.v[number];
    uint32_t image =
        x->image_name.n ? sp_hang_find_image(m->images, x->image_name, x->address, stamp, &ok) : SP_NONE;
    if (!ok)
        return false;
    if (!known || image != x->image) {
        if (known)
            sp_spindump_parse_row(text->text, &f);
        text->frame = spindump_make_frame(m, &f, text->kernel, image);
        x->image = image;
    }
    text->stamp = stamp;
    return text->frame != SP_NONE;
}
