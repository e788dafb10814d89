/* Facts out of the members of JSON objects, and rows of the tables they go to. */
#include "formats/spaa/facts.h"

#include "json/find.h"

bool sp_facts_str(struct reader *r, const struct sp_buf *b, uint32_t *out)
{
    if (b->failed)
        return sp_no_memory(r);
    *out = b->len ? sp_profile_str(r->p, b->data, b->len) : SP_STR_NONE;
    return *out != SP_STR_FAIL || sp_no_memory(r);
}

/* Whether the value is one of the field, which has it then; *ok false: no memory. */
static bool facts_set(struct reader *r, const struct sp_fact *f, void *row, struct sp_span raw, bool *ok)
{
    void *to = sp_fact_place(f, row);
    struct sp_buf b;
    if (f->type == SP_FACT_NUMBER)
        return sp_fact_number_of(raw, to);
    if (f->type == SP_FACT_FLAG) {
        if (!sp_span_is(raw, "true"))
            return false;
        *(uint32_t *)to |= f->flag;
        return true;
    }
    if (!raw.n || *raw.p != '"')
        return false;
    sp_buf_init(&b, 0);
    bool nomem = false, set = sp_fact_decode(&b, raw, &nomem);
    *ok = !nomem;
    if (set && f->type == SP_FACT_ADDRESS) {
        set = sp_fact_address_of((struct sp_span){sp_buf_text(&b), b.len}, to);
    } else if (set) {
        uint32_t s = sp_profile_str(r->p, sp_buf_text(&b), b.len);
        *ok = s != SP_STR_FAIL;
        *(uint32_t *)to = *ok ? s : SP_STR_NONE;
    }
    sp_buf_free(&b);
    return set;
}

static bool facts_is_one_of(struct sp_span key, const char *const *names)
{
    for (; names && *names; names++)
        if (sp_span_is(key, *names))
            return true;
    return false;
}

bool sp_facts_take(struct reader *r, struct sp_span text, const struct sp_fact *facts, void *row,
                   const char *const *leave, bool ours, struct sp_buf *rest)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool ok = true;
    sp_facts_begin(&j, text);
    while (ok && sp_json_key(&j, &key)) {
        const struct sp_fact *f = sp_fact_of_key(facts, key);
        bool drop = facts_is_one_of(key, leave);
        size_t before = rest->len;
        if (before)
            sp_buf_ch(rest, ',');
        ok = sp_json_string(rest, key.p, key.n) && sp_buf_ch(rest, ':') && sp_json_skip(&j, &raw);
        if (!ok)
            break;
        bool set = f && facts_set(r, f, row, raw, &ok);
        if (set || drop)
            rest->len = before;
        else
            sp_buf_add(rest, raw.p, raw.n);
        const char *wanted = f && !set && ok && ours ? sp_fact_wanted(f, raw) : NULL;
        if (wanted)
            sp_emit(r->d, SP_W203, sp_here(r, f->key), "expected %s; it is kept as it is", wanted);
    }
    ok = ok && !sp_facts_nomem(&j);
    sp_json_free(&j);
    return (ok && !rest->failed) || sp_no_memory(r);
}

bool sp_facts_split(struct reader *r, struct sp_span text, const char *name, struct sp_span *object,
                    struct sp_buf *others)
{
    static const struct sp_fact none[] = {{0}};
    const char *const names[] = {name, NULL};
    struct sp_span raw;
    bool nomem = false;
    *object = (struct sp_span){NULL, 0};
    if (!sp_fact_find(text, name, &raw, &nomem) || !raw.n || *raw.p != '{')
        return !nomem || sp_no_memory(r);
    *object = raw;
    return sp_facts_take(r, text, none, NULL, names, false, others);
}

bool sp_facts_add_process(struct reader *r, const struct sp_process_fact *x, struct sp_span images,
                          enum sp_image_numbers numbers)
{
    struct sp_profile *p = r->p;
    size_t first = p->process_images.n;
    bool nomem = false;
    for (struct sp_span item; sp_fact_next(&images, &item, &nomem);) { /* texts, until all images are there */
        uint32_t s = sp_profile_str(p, item.p, item.n);
        if (s == SP_STR_FAIL || !sp_vec_push(&p->process_images, s))
            return sp_no_memory(r);
    }
    struct sp_process_fact row = *x;
    if (nomem || p->process_images.n >= SP_NONE - 1 || p->processes.n >= SP_NONE - 1)
        return sp_no_memory(r);
    row.first = (uint32_t)first;
    row.images = (uint32_t)(p->process_images.n - first);
    return (sp_vec_push(&r->image_numbers, (unsigned char)numbers) && sp_vec_push(&p->processes, row)) ||
           sp_no_memory(r);
}

bool sp_facts_add_image(struct reader *r, const struct sp_image *x, struct sp_span id,
                        enum sp_image_numbers numbers)
{
    bool twice = false;
    if (!sp_image_add(r->p, x) ||
        (id.n && !sp_idmap_add(r, &r->images[numbers], id, (uint32_t)r->p->images.n - 1, &twice)))
        return sp_no_memory(r);
    if (twice)
        sp_emit(r->d, SP_W311, sp_here(r, "id"), "a second image with the id %.*s; the first is used",
                (int)(id.n < 80 ? id.n : 80), id.p);
    return true;
}
