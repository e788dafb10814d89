/*
 * What a record says that has no place in the profile, and what is wrong with its form.
 *
 * Of members whose key stands twice in an object the first is kept. Members of the specification that have
 * another type than fields.def says are renamed to `x_odd_NAME`, so that what they said is kept and nothing
 * contradicts them. Items of another type are left out of lists of objects. All of it is reported, and what
 * else there is without a field is kept as it stands: the text of such members belongs to their object, those
 * with x_ last.
 */
#include "formats/spaa/read.h"

#include <stdlib.h>

/* A key for a report, shortened. */
struct shown {
    char name[64];
};

static bool extra_shown(struct reader *r, const struct sp_token *key, struct shown *out)
{
    struct sp_span s = sp_token_text(key, &r->text);
    size_t n = s.n < sizeof out->name ? s.n : sizeof out->name - 1;
    if (!s.p)
        return sp_no_memory(r);
    memcpy(out->name, s.p, n);
    out->name[n] = '\0';
    return true;
}

static const struct sp_token *extra_value_of(const struct sp_rec *rec, enum sp_table table, unsigned position)
{
    const struct sp_field_info *f = &sp_field_infos[sp_first_field[table] + position];
    return (const struct sp_token *)(const void *)((const char *)rec + f->offset);
}

/*
 * A member whose key stands behind one that counts, and so does not count itself: the names of values of a
 * wrong type are free for those of the right one.
 */
static bool extra_repeats(const struct sp_odd *o)
{
    return o->what & SP_ODD_AGAIN && !(o->what & SP_ODD_TAKEN) && !(o->what & SP_ODD_AFTER_WRONG);
}

static void extra_report_twice(void *arg)
{
    struct reader *r = arg;
    struct shown s;
    size_t n = r->unique.key.len < sizeof s.name ? r->unique.key.len : sizeof s.name - 1;
    memcpy(s.name, r->unique.key.data ? r->unique.key.data : "", n);
    s.name[n] = '\0';
    sp_emit(r->d, SP_E124, sp_here(r, s.name), "the first of them is kept");
}

/* The text of a value, each object in it without keys that stand twice, behind what is in `out`. */
static bool extra_add_unique(struct reader *r, struct sp_buf *out, const struct sp_token *value, bool report)
{
    struct sp_span raw = sp_token_raw(value);
    struct sp_unique *u = &r->unique;
    u->twice = report ? extra_report_twice : NULL;
    u->arg = r;
    u->out = out;
    sp_unique_reset(u, raw);
    return (sp_unique_walk_any(u) && !out->failed) || sp_no_memory(r);
}

static bool extra_report(struct reader *r, const struct sp_odd *o)
{
    struct shown s;
    if (!o->key.p) /* in a list of ids: who takes it leaves it out */
        return true;
    if (!extra_shown(r, &o->key, &s))
        return false;
    if (extra_repeats(o)) {
        sp_emit(r->d, SP_E124, sp_here(r, s.name), "the first of them is kept");
        return true;
    }
    if (o->what & SP_ODD_ITEM) {
        sp_emit(r->d, SP_E110, sp_here(r, s.name), "an item that is no object is left out");
        return true;
    }
    if (o->what & SP_ODD_WRONG)
        sp_emit(r->d, SP_E110, sp_here(r, s.name), "it is kept as `x_odd_…`");
    if (!(o->what & SP_ODD_INSIDE) || (o->what & SP_ODD_WRONG && o->what & SP_ODD_AGAIN)) /* left out */
        return true;
    sp_buf_clear(&r->clean);
    return extra_add_unique(r, &r->clean, &o->value, true);
}

bool sp_report_odd(struct reader *r)
{
    for (uint32_t i = r->l->odd_first; i < r->l->odd_end; i++)
        if (r->dec->odd.v[i].what != SP_ODD_UNKNOWN && !extra_report(r, &r->dec->odd.v[i]))
            return false;
    return true;
}

/* ---- keeping ---- */

static bool extra_push(struct reader *r, struct kept k)
{
    k.at = k.value.p;
    return sp_vec_push(&r->kept, k) || sp_no_memory(r);
}

bool sp_keep(struct reader *r, const char *name, const struct sp_token *value)
{
    return extra_push(r, (struct kept){.name = name, .value = *value});
}

bool sp_keep_odd(struct reader *r, const char *name, const struct sp_token *value, const char *want)
{
    sp_emit(r->d, SP_W203, sp_here(r, name), "expected %s; it is kept as `x_odd_%s`", want, name);
    return extra_push(r, (struct kept){.name = name, .odd = true, .value = *value});
}

bool sp_keep_fields(struct reader *r, const struct sp_rec *rec, enum sp_table table, unsigned first,
                    unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        const struct sp_field_info *f = &sp_field_infos[sp_first_field[table] + i];
        if (!(rec->present >> i & 1))
            continue;
        struct kept k = {.value = *extra_value_of(rec, table, i), .table = f->inner};
        k.key = (struct sp_token){f->quoted + 1, f->length, SP_JSON_STRING, false};
        if (f->type == SP_IS_OBJECT && f->inner != SP_T_ANYTHING)
            k.rec =
                sp_rec_any(r->dec, f->inner,
                           ((const struct sp_nested *)(const void *)extra_value_of(rec, table, i))->first);
        if (!extra_push(r, k))
            return false;
    }
    return true;
}

/* The members without a field that are kept, and those of a wrong type. */
static bool extra_gather(struct reader *r, const struct sp_rec *rec)
{
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = r->dec->odd.v[i].next) {
        const struct sp_odd *o = &r->dec->odd.v[i];
        bool wrong = o->what & SP_ODD_WRONG;
        if (extra_repeats(o) || o->what & (SP_ODD_ITEM | SP_ODD_USED) ||
            (!wrong && !(o->what & SP_ODD_UNKNOWN)))
            continue;
        if (!extra_push(r, (struct kept){.key = o->key, .odd = wrong, .value = o->value}))
            return false;
    }
    return true;
}

static int extra_by_place(const void *x, const void *y)
{
    const struct kept *a = x, *b = y;
    return (a->at > b->at) - (a->at < b->at);
}

/* Which of the names that x_odd_ goes before it is: a bit, 0 for any other. */
static uint32_t extra_odd_bit(enum sp_table table, struct sp_span name)
{
    static const char *const own[] = {"type",     "x_inferred", "x_raw_hex", "x_state",
                                      "x_source", "x_spaa",     "x_labels"};
    for (unsigned i = sp_first_field[table]; i < sp_first_field[table + 1]; i++)
        if (sp_field_infos[i].length == name.n && memcmp(sp_field_infos[i].quoted + 1, name.p, name.n) == 0)
            return 1u << sp_field_infos[i].position;
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        if (sp_span_is(name, own[i]))
            return 1u << (16 + i);
    return 0;
}

static bool extra_add_object(struct reader *r, struct sp_buf *out, const struct sp_rec *rec,
                             enum sp_table table);

static bool extra_add_value(struct reader *r, struct sp_buf *out, const struct kept *k)
{
    if (r->l->plain || k->value.kind < SP_JSON_OBJECT || k->value.kind > SP_JSON_ARRAY)
        return sp_json_minify(out, sp_token_raw(&k->value)) || sp_no_memory(r);
    if (k->rec)
        return extra_add_object(r, out, k->rec, k->table);
    sp_buf_clear(&r->clean);
    return extra_add_unique(r, &r->clean, &k->value, false) &&
           (sp_json_minify(out, (struct sp_span){r->clean.data, r->clean.len}) || sp_no_memory(r));
}

/* A member behind a comma; *taken: the names behind x_odd_ there are, of which the first is kept. */
static bool extra_add_member(struct reader *r, struct sp_buf *plain, struct sp_buf *x, const struct kept *k,
                             enum sp_table table, uint32_t *taken)
{
    static const char odd[] = "x_odd_";
    const size_t nodd = sizeof odd - 1;
    struct sp_span key =
        k->key.p ? sp_token_text(&k->key, &r->text) : (struct sp_span){k->name, strlen(k->name)};
    if (!key.p)
        return sp_no_memory(r);
    struct sp_span behind = k->odd ? key
                            : key.n > nodd && memcmp(key.p, odd, nodd) == 0
                                ? (struct sp_span){key.p + nodd, key.n - nodd}
                                : (struct sp_span){NULL, 0};
    uint32_t bit = behind.p ? extra_odd_bit(table, behind) : 0;
    if (*taken & bit)
        return true;
    *taken |= bit;
    struct sp_buf *out = k->odd || (key.n > 1 && memcmp(key.p, "x_", 2) == 0) ? x : plain, name;
    sp_buf_init(&name, 0);
    if (k->odd) {
        sp_buf_puts(&name, odd);
        sp_buf_add(&name, key.p, key.n);
        key = (struct sp_span){name.data, name.len};
    }
    bool ok = !name.failed && sp_buf_ch(out, ',') && sp_json_string(out, key.p, key.n) && sp_buf_ch(out, ':');
    sp_buf_free(&name);
    return ok ? extra_add_value(r, out, k) : sp_no_memory(r);
}

static void extra_sort(struct reader *r, size_t from)
{
    if (r->kept.n > from + 1)
        qsort(r->kept.v + from, r->kept.n - from, sizeof *r->kept.v, extra_by_place);
}

bool sp_extra(struct reader *r, const struct sp_rec *rec, enum sp_table table, size_t from, uint32_t *out)
{
    uint32_t taken = 0;
    *out = SP_STR_NONE;
    if (r->kept.n == from && rec->odd == SP_ODD_END)
        return true;
    bool ok = extra_gather(r, rec);
    extra_sort(r, from);
    sp_buf_clear(&r->more);
    sp_buf_clear(&r->more_x);
    for (size_t i = from, n = r->kept.n; ok && i < n; i++) {
        struct kept k = r->kept.v[i];
        ok = extra_add_member(r, &r->more, &r->more_x, &k, table, &taken);
    }
    r->kept.n = from;
    ok = ok && ((!r->more.failed && sp_buf_add(&r->more, r->more_x.data, r->more_x.len)) || sp_no_memory(r));
    if (ok && r->more.len)
        *out = sp_profile_str(r->p, r->more.data + 1, r->more.len - 1);
    return ok && (*out != SP_STR_FAIL || sp_no_memory(r));
}

/* Objects nest in the specification as deep as fields.def does. */
static bool extra_add_object(struct reader *r, struct sp_buf *out, const struct sp_rec *rec,
                             enum sp_table table)
{
    size_t from = r->kept.n, at = out->len;
    uint32_t taken = 0;
    unsigned fields = sp_first_field[table + 1] - sp_first_field[table];
    bool record = rec == sp_rec_any(r->dec, r->l->table, r->l->rec);
    bool ok = (!record || sp_keep(r, "type", &r->l->type)) &&
              (!fields || sp_keep_fields(r, rec, table, 0, fields - 1)) && extra_gather(r, rec);
    extra_sort(r, from);
    for (size_t i = from, n = r->kept.n; ok && i < n; i++) {
        struct kept k = r->kept.v[i];
        ok = extra_add_member(r, out, out, &k, table, &taken);
    }
    r->kept.n = from;
    if (ok && out->len == at)
        ok = sp_buf_ch(out, '{') || sp_no_memory(r);
    else if (ok)
        out->data[at] = '{'; /* in the place of the first comma */
    return ok && (sp_buf_ch(out, '}') || sp_no_memory(r));
}

struct sp_span sp_object_text(struct reader *r, const struct sp_rec *rec, enum sp_table table,
                              const struct sp_token *value)
{
    struct kept k = {.value = *value, .rec = rec, .table = table};
    sp_buf_clear(&r->more);
    if (!extra_add_value(r, &r->more, &k))
        return (struct sp_span){NULL, 0};
    if (r->more.failed)
        sp_no_memory(r);
    return (struct sp_span){r->more.failed ? NULL : r->more.data, r->more.len};
}

bool sp_raw_object(struct reader *r, const struct sp_rec *rec, enum sp_table table,
                   const struct sp_token *value, uint32_t *out)
{
    struct sp_span text = sp_object_text(r, rec, table, value);
    *out = text.p ? sp_profile_str(r->p, text.p, text.n) : SP_STR_FAIL;
    return *out != SP_STR_FAIL || sp_no_memory(r);
}

struct sp_odd *sp_own(struct reader *r, const struct sp_rec *rec, const char *name)
{
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = r->dec->odd.v[i].next) {
        struct sp_odd *o = &r->dec->odd.v[i];
        if (!(o->what & SP_ODD_UNKNOWN) || extra_repeats(o))
            continue;
        struct sp_span key = sp_token_text(&o->key, &r->text);
        if (key.p && sp_span_is(key, name))
            return o;
    }
    return NULL;
}

struct sp_span sp_clean_text(struct reader *r, const struct sp_token *value)
{
    if (r->l->plain)
        return sp_token_raw(value);
    sp_buf_clear(&r->clean);
    if (!extra_add_unique(r, &r->clean, value, false))
        return (struct sp_span){NULL, 0};
    return (struct sp_span){r->clean.data, r->clean.len};
}
