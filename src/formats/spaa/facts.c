#include "formats/spaa/facts.h"

static struct sp_span facts_span(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

/* ---- threads and contexts ---- */

/* What x_spaa has beside the facts stays there. */
static bool facts_thread(struct reader *r, struct sp_thread *t, struct sp_buf *others, struct sp_buf *rest)
{
    struct sp_span object;
    if (!sp_facts_split(r, facts_span(sp_pstr(r->p, t->extra_json)), "x_spaa", &object, others))
        return false;
    if (!object.n)
        return sp_old_thread(r, t);
    if (!sp_facts_take(r, object, sp_thread_facts, t, NULL, true, rest))
        return false;
    if (rest->len) {
        sp_buf_puts(others, others->len ? ",\"x_spaa\":{" : "\"x_spaa\":{");
        sp_buf_add(others, rest->data, rest->len);
        sp_buf_ch(others, '}');
    }
    return sp_facts_str(r, others, &t->extra_json);
}

bool sp_facts_of_thread(struct reader *r, struct sp_thread *t)
{
    struct sp_buf others, rest;
    if (!t->extra_json)
        return true;
    sp_buf_init(&others, 0);
    sp_buf_init(&rest, 0);
    bool ok = facts_thread(r, t, &others, &rest);
    sp_buf_free(&others);
    sp_buf_free(&rest);
    return ok;
}

static bool facts_context(struct reader *r, struct sp_context *c, struct sp_buf *others, struct sp_buf *rest)
{
    struct sp_wait_fact x = {0};
    struct sp_span object;
    if (!sp_facts_split(r, facts_span(sp_pstr(r->p, c->extra_json)), "x_wait", &object, others))
        return false;
    if (!object.n)
        return sp_old_context(r, c);
    sp_facts_clear(sp_wait_facts, &x);
    if (!sp_facts_take(r, object, sp_wait_facts, &x, NULL, true, rest) ||
        !sp_facts_str(r, rest, &x.extra_json) || !sp_facts_str(r, others, &c->extra_json))
        return false;
    c->wait = sp_wait_intern(r->p, &x);
    return c->wait != SP_NONE || sp_no_memory(r);
}

bool sp_facts_of_context(struct reader *r, struct sp_context *c)
{
    struct sp_buf others, rest;
    if (!c->extra_json)
        return true;
    sp_buf_init(&others, 0);
    sp_buf_init(&rest, 0);
    bool ok = facts_context(r, c, &others, &rest);
    sp_buf_free(&others);
    sp_buf_free(&rest);
    return ok;
}

/* ---- processes and images ---- */

static bool facts_process(struct reader *r, struct sp_span json, struct sp_buf *rest)
{
    static const char *const leave[] = {"type", "images", NULL};
    struct sp_process_fact x = {0};
    struct sp_span images = {NULL, 0};
    sp_facts_clear(sp_process_facts, &x);
    bool nomem = false;
    sp_fact_find(json, "images", &images, &nomem);
    return (!nomem || sp_no_memory(r)) && sp_facts_take(r, json, sp_process_facts, &x, leave, true, rest) &&
           sp_facts_str(r, rest, &x.extra_json) && sp_facts_add_process(r, &x, images, SP_IMAGES_OURS);
}

static bool facts_image(struct reader *r, struct sp_span json, struct sp_buf *rest)
{
    static const char *const leave[] = {"type", "id", NULL};
    struct sp_image x = {0};
    struct sp_span id = {NULL, 0};
    sp_facts_clear(sp_image_facts, &x);
    bool nomem = false;
    sp_fact_find(json, "id", &id, &nomem);
    return (!nomem || sp_no_memory(r)) && sp_facts_take(r, json, sp_image_facts, &x, leave, true, rest) &&
           sp_facts_str(r, rest, &x.extra_json) && sp_facts_add_image(r, &x, id, SP_IMAGES_OURS);
}

bool sp_take_fact(struct reader *r, enum sp_fact_record kind, struct sp_span json)
{
    struct sp_buf rest;
    sp_buf_init(&rest, 0);
    bool ok = kind == SP_PROCESS_FACT ? facts_process(r, json, &rest)
              : kind == SP_IMAGE_FACT ? facts_image(r, json, &rest)
                                      : sp_old_fact(r, kind, json);
    sp_buf_free(&rest);
    return ok;
}

spaa_status sp_settle_images(struct reader *r)
{
    struct sp_profile *p = r->p;
    size_t kept = 0;
    uint64_t missing = 0;
    for (size_t i = 0; i < p->processes.n; i++) {
        struct sp_process_fact *x = &p->processes.v[i];
        uint32_t first = x->first, n = x->images;
        x->first = (uint32_t)kept;
        for (uint32_t k = 0; k < n; k++) {
            struct sp_str id = sp_pstr(p, p->process_images.v[first + k]);
            uint32_t image = sp_idmap_find(r, &r->images[r->image_numbers.v[i]], facts_span(id));
            missing += image == SP_NONE;
            if (image != SP_NONE)
                p->process_images.v[kept++] = image;
        }
        x->images = (uint32_t)kept - x->first;
    }
    p->process_images.n = kept;
    if (missing)
        sp_emit(r->d, SP_W203, SP_AT_NOTHING,
                "%llu images that processes name are not in the file; they are left out",
                (unsigned long long)missing);
    return SPAA_OK;
}

/* ---- writing ---- */

static void facts_write(struct writer *w, const struct sp_fact *facts, const void *row, const char *comma)
{
    struct sp_buf *b = &w->b;
    for (const struct sp_fact *f = facts; f->key; f++) {
        size_t before = b->len;
        sp_buf_printf(b, "%s\"%s\":", comma, f->key);
        if (f->type == SP_FACT_NUMBER && sp_fact_get_number(f, row) != SP_ABSENT) {
            sp_buf_i64(b, sp_fact_get_number(f, row));
        } else if (f->type == SP_FACT_TEXT && sp_fact_get_text(f, row)) {
            struct sp_str s = sp_pstr(w->p, sp_fact_get_text(f, row));
            if (facts == sp_source_facts) /* the reader takes their bytes back from x_raw_hex */
                sp_write_str(w, "", f->key, sp_fact_get_text(f, row));
            else
                sp_json_string(b, s.p, s.n);
        } else if (f->type == SP_FACT_ADDRESS && sp_fact_get_address(f, row) != SP_NO_ADDRESS) {
            sp_buf_printf(b, "\"0x%llx\"", (unsigned long long)sp_fact_get_address(f, row));
        } else if (f->type == SP_FACT_FLAG && sp_fact_get_flag(f, row)) {
            sp_buf_puts(b, "true");
        } else {
            b->len = b->failed ? b->len : before;
            continue;
        }
        comma = ",";
    }
}

/* The members of an object, without its braces. */
static void facts_write_inside(struct writer *w, struct sp_span object)
{
    if (object.n > 2) {
        sp_buf_ch(&w->b, ',');
        sp_buf_add(&w->b, object.p + 1, object.n - 2);
    }
}

static void facts_write_others(struct writer *w, struct sp_span members, const char *without)
{
    struct sp_json j;
    struct sp_span key, raw;
    sp_facts_begin(&j, members);
    while (sp_json_key(&j, &key)) {
        size_t before = w->b.len;
        bool drop = sp_span_is(key, without);
        sp_buf_ch(&w->b, ',');
        sp_json_string(&w->b, key.p, key.n);
        sp_buf_ch(&w->b, ':');
        if (!sp_json_skip(&j, &raw))
            break;
        sp_buf_add(&w->b, raw.p, raw.n);
        if (drop && !w->b.failed)
            w->b.len = before;
    }
    w->b.failed |= sp_facts_nomem(&j);
    sp_json_free(&j);
}

void sp_write_thread_facts(struct writer *w, const struct sp_thread *t)
{
    struct sp_span more = facts_span(sp_pstr(w->p, t->extra_json)), object = {NULL, 0};
    if (!sp_facts_any(sp_thread_facts, t)) {
        sp_write_raw(w, ",", t->extra_json);
        return;
    }
    bool nomem = false;
    if (!sp_fact_find(more, "x_spaa", &object, &nomem) || *object.p != '{')
        object.n = 0;
    w->b.failed |= nomem;
    sp_buf_puts(&w->b, ",\"x_spaa\":{");
    facts_write(w, sp_thread_facts, t, "");
    facts_write_inside(w, object);
    sp_buf_ch(&w->b, '}');
    if (object.n)
        facts_write_others(w, more, "x_spaa");
    else
        sp_write_raw(w, ",", t->extra_json);
}

void sp_write_wait(struct writer *w, const struct sp_wait_fact *x)
{
    sp_buf_puts(&w->b, ",\"x_wait\":{");
    facts_write(w, sp_wait_facts, x, "");
    if (x->extra_json)
        sp_write_raw(w, sp_facts_any(sp_wait_facts, x) ? "," : "", x->extra_json);
    sp_buf_ch(&w->b, '}');
}

void sp_write_source(struct writer *w, const struct sp_source_piece *x)
{
    sp_buf_puts(&w->b, "{\"type\":\"x_spaa_source\"");
    facts_write(w, sp_source_facts, x, ",");
    sp_write_raw(w, ",", x->extra_json);
}

void sp_write_image(struct writer *w, uint32_t number)
{
    const struct sp_image *x = &w->p->images.v[number];
    sp_buf_printf(&w->b, "{\"type\":\"x_spaa_image\",\"id\":%llu", (unsigned long long)number + 1);
    facts_write(w, sp_image_facts, x, ",");
    sp_write_raw(w, ",", x->extra_json);
}

void sp_write_process(struct writer *w, const struct sp_process_fact *x)
{
    sp_buf_puts(&w->b, "{\"type\":\"x_spaa_process\"");
    facts_write(w, sp_process_facts, x, ",");
    if (x->images)
        sp_buf_puts(&w->b, ",\"images\":[");
    for (uint32_t i = 0; i < x->images; i++)
        sp_buf_printf(&w->b, "%s%llu", i ? "," : "",
                      (unsigned long long)w->p->process_images.v[x->first + i] + 1);
    if (x->images)
        sp_buf_ch(&w->b, ']');
    sp_write_raw(w, ",", x->extra_json);
}
