/*
 * Facts as files had them before there was one form for all formats: the readers of hang reports kept them as
 * `x_spindump` or `x_sample` of thread records and contexts, and as records of their own. What is no fact
 * stays where the writers of these reports look for it.
 */
#include "base/num.h"
#include "formats/common/hang/images.h"
#include "formats/common/hang/wait.h"
#include "formats/spaa/facts.h"

static struct sp_span old_span(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

static bool old_thread_object(struct reader *r, struct sp_thread *t, const char *key, struct sp_buf *others,
                              struct sp_buf *rest)
{
    struct sp_span object;
    if (!sp_facts_split(r, old_span(sp_pstr(r->p, t->extra_json)), key, &object, others) || !object.n)
        return !r->st;
    if (others->len)
        sp_buf_ch(others, ',');
    if (!sp_facts_take(r, object, sp_thread_facts, t, NULL, false, rest))
        return false;
    sp_buf_printf(others, "\"%s\":{", key);
    sp_buf_add(others, rest->data, rest->len);
    sp_buf_ch(others, '}');
    return sp_facts_str(r, others, &t->extra_json);
}

bool sp_old_thread(struct reader *r, struct sp_thread *t)
{
    static const char *const keys[] = {"x_spindump", "x_sample"};
    struct sp_buf others, rest;
    bool ok = true;
    sp_buf_init(&others, 0);
    sp_buf_init(&rest, 0);
    for (size_t i = 0; ok && i < 2; i++) {
        sp_buf_clear(&others);
        sp_buf_clear(&rest);
        ok = sp_facts_any(sp_thread_facts, t) || old_thread_object(r, t, keys[i], &others, &rest);
    }
    sp_buf_free(&others);
    sp_buf_free(&rest);
    return ok;
}

/* "x_spindump":{"state":TEXT} */
bool sp_old_context(struct reader *r, struct sp_context *c)
{
    static const char *const state[] = {"state", NULL};
    static const struct sp_fact none[] = {{0}};
    struct sp_span object, raw;
    struct sp_buf text, others, rest;
    bool ok, nomem = false;
    if (!sp_fact_find(old_span(sp_pstr(r->p, c->extra_json)), "x_spindump", &object, &nomem) ||
        *object.p != '{' || !sp_fact_find(object, "state", &raw, &nomem))
        return !nomem || sp_no_memory(r);
    sp_buf_init(&text, 0);
    sp_buf_init(&others, 0);
    sp_buf_init(&rest, 0);
    if (sp_fact_decode(&text, raw, &nomem))
        c->wait = sp_hang_wait(r->p, sp_pstr(r->p, c->state), (struct sp_span){sp_buf_text(&text), text.len});
    ok = !nomem && c->wait != SP_NONE;
    if (ok && c->wait) {
        ok = sp_facts_split(r, old_span(sp_pstr(r->p, c->extra_json)), "x_spindump", &object, &others) &&
             sp_facts_take(r, object, none, NULL, state, false, &rest);
        if (rest.len) {
            sp_buf_puts(&others, others.len ? ",\"x_spindump\":{" : "\"x_spindump\":{");
            sp_buf_add(&others, rest.data, rest.len);
            sp_buf_ch(&others, '}');
        }
        ok = ok && sp_facts_str(r, &others, &c->extra_json);
    }
    sp_buf_free(&text);
    sp_buf_free(&others);
    sp_buf_free(&rest);
    return ok || sp_no_memory(r);
}

/* ["Path","/usr/bin/x"] among the fields of a process; *path as it was where there is none. */
static bool old_path(struct reader *r, struct sp_span json, uint32_t *path)
{
    struct sp_span fields, pair, key, value;
    struct sp_buf b;
    bool found = false, nomem = false;
    if (!sp_fact_find(json, "fields", &fields, &nomem))
        return !nomem || sp_no_memory(r);
    sp_buf_init(&b, 0);
    while (!found && sp_fact_next(&fields, &pair, &nomem)) {
        sp_buf_clear(&b);
        found = sp_fact_next(&pair, &key, &nomem) && sp_span_is(key, "\"Path\"") &&
                sp_fact_next(&pair, &value, &nomem) && sp_fact_decode(&b, value, &nomem) && b.len;
    }
    bool ok = !nomem && (!found || sp_facts_str(r, &b, path));
    sp_buf_free(&b);
    return ok || sp_no_memory(r);
}

static bool old_process(struct reader *r, struct sp_span json, const char *key, enum sp_image_numbers numbers)
{
    static const char *const leave[] = {"type", "images", NULL};
    struct sp_process_fact x = {0};
    struct sp_span images = {NULL, 0};
    struct sp_buf rest, extra;
    sp_buf_init(&rest, 0);
    sp_buf_init(&extra, 0);
    sp_facts_clear(sp_process_facts, &x);
    bool nomem = false;
    sp_fact_find(json, "images", &images, &nomem);
    bool ok = (!nomem || sp_no_memory(r)) &&
              sp_facts_take(r, json, sp_process_facts, &x, leave, false, &rest) && old_path(r, json, &x.path);
    sp_buf_printf(&extra, "\"%s\":{", key);
    sp_buf_add(&extra, rest.data, rest.len);
    sp_buf_ch(&extra, '}');
    ok = ok && sp_facts_str(r, &extra, &x.extra_json) && sp_facts_add_process(r, &x, images, numbers);
    sp_buf_free(&rest);
    sp_buf_free(&extra);
    return ok;
}

/* Images were named by their place among the records of their kind, from 0. */
static bool old_image(struct reader *r, struct sp_span json, const char *key, enum sp_image_numbers numbers)
{
    static const char *const keys[] = {"start", "end", "name", "version", "uuid", "suffix", "path"};
    struct sp_hang_image i = {0};
    struct sp_span *to[] = {&i.start_text, &i.end_text, &i.name, &i.version, &i.uuid, &i.suffix, &i.path},
                   raw;
    struct sp_image x;
    struct sp_buf b;
    size_t at[8];
    char place[20];
    bool nomem = false;
    i.kernel = sp_fact_find(json, "kernel", &raw, &nomem) && sp_span_is(raw, "true");
    i.plus = sp_fact_find(json, "plus", &raw, &nomem) && sp_span_is(raw, "true");
    sp_buf_init(&b, 0);
    for (size_t k = 0; k < 7; k++) {
        at[k] = b.len;
        if (sp_fact_find(json, keys[k], &raw, &nomem))
            sp_fact_decode(&b, raw, &nomem);
    }
    at[7] = b.len;
    for (size_t k = 0; k < 7; k++)
        *to[k] = (struct sp_span){sp_buf_text(&b) + at[k], at[k + 1] - at[k]};
    bool ok = !nomem && sp_hang_image_fact(r->p, &i, key, &x);
    size_t n = sp_u64_text(r->images[numbers].count, place);
    ok = (ok || sp_no_memory(r)) && sp_facts_add_image(r, &x, (struct sp_span){place, n}, numbers);
    sp_buf_free(&b);
    return ok;
}

bool sp_old_fact(struct reader *r, enum sp_fact_record kind, struct sp_span json)
{
    switch (kind) {
    case SP_OLD_SPINDUMP_PROCESS:
        return old_process(r, json, "x_spindump", SP_IMAGES_SPINDUMP);
    case SP_OLD_SPINDUMP_IMAGE:
        return old_image(r, json, "x_spindump", SP_IMAGES_SPINDUMP);
    case SP_OLD_SAMPLE_PROCESS:
        return old_process(r, json, "x_sample", SP_IMAGES_SAMPLE);
    case SP_OLD_SAMPLE_IMAGE:
        return old_image(r, json, "x_sample", SP_IMAGES_SAMPLE);
    default:
        return true;
    }
}
