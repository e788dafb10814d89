/*
 * The SPAA decoder against jansson, on records made from a seed: members of the specification and others in
 * any order, values of any type, white space, escapes, keys twice, and the same damaged. Both take the same
 * lines for JSON, and what the structs say is what jansson's objects say.
 */
#include "formats/spaa/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t next(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* ---- records ---- */

struct maker {
    struct sp_buf b;
    uint32_t seed;
    uint32_t odd; /* one value in so many is of any type, one key of any name; 0: none */
};

static bool rarely(struct maker *m)
{
    return m->odd && !next(&m->seed, m->odd);
}

static void put_space(struct maker *m)
{
    static const char *const blanks[] = {" ", "\t", "  ", "\r", "         "};
    if (m->odd && !next(&m->seed, 12))
        sp_buf_puts(&m->b, blanks[next(&m->seed, 5)]);
}

static void put_string(struct maker *m)
{
    static const char *const pieces[] = {"a",
                                         "main",
                                         "0x1f",
                                         "[kernel]",
                                         "\\n",
                                         "\\u00e9",
                                         "\\ud83d\\ude00",
                                         "é",
                                         "\\\\",
                                         "\\\"",
                                         "a long piece without anything in it",
                                         "42",
                                         "}",
                                         "],",
                                         "😀"};
    sp_buf_ch(&m->b, '"');
    for (uint32_t n = next(&m->seed, 4); n; n--)
        sp_buf_puts(&m->b, pieces[next(&m->seed, sizeof pieces / sizeof *pieces)]);
    sp_buf_ch(&m->b, '"');
}

static void put_number(struct maker *m)
{
    static const char *const odd[] = {"0",    "-0",      "-17",        "1.5",      "2e3",
                                      "1E-2", "0.25e+1", "1234567890", "999999999"};
    if (rarely(m))
        sp_buf_puts(&m->b, odd[next(&m->seed, sizeof odd / sizeof *odd)]);
    else
        sp_buf_u64(&m->b, next(&m->seed, 1u << next(&m->seed, 24)));
}

static void put_any(struct maker *m, unsigned depth)
{
    static const char *const words[] = {"true",
                                        "false",
                                        "null",
                                        "{}",
                                        "[]",
                                        "[1,2]",
                                        "{\"a\":1,\"b\":{\"a\":2}}",
                                        "[{\"k\":1},{\"k\":[{}]}]"};
    uint32_t what = next(&m->seed, 6);
    if (what == 0)
        put_string(m);
    else if (what == 1)
        put_number(m);
    else if (what == 2 && depth < 3) {
        sp_buf_puts(&m->b, "{\"a\":");
        put_any(m, depth + 1);
        sp_buf_puts(&m->b, rarely(m) ? ",\"a\":" : ",\"\\u0062\":");
        put_any(m, depth + 1);
        sp_buf_ch(&m->b, '}');
    } else
        sp_buf_puts(&m->b, words[next(&m->seed, 8)]);
}

static void put_object(struct maker *m, enum sp_table table, const char *type);

static void put_value(struct maker *m, const struct sp_field_info *f)
{
    if (rarely(m)) {
        put_any(m, 0);
        return;
    }
    switch (f->type) {
    case SP_IS_NUMBER:
        put_number(m);
        return;
    case SP_IS_BOOL:
        sp_buf_puts(&m->b, next(&m->seed, 2) ? "true" : "false");
        return;
    case SP_IS_ID:
        (next(&m->seed, 2) ? put_string : put_number)(m);
        return;
    case SP_IS_OBJECT:
        put_object(m, f->inner, NULL);
        return;
    case SP_IS_LIST:
    case SP_IS_IDS:
        sp_buf_ch(&m->b, '[');
        put_space(m);
        for (uint32_t n = next(&m->seed, f->type == SP_IS_IDS ? 40 : 4), i = 0; i < n; i++) {
            if (i)
                sp_buf_ch(&m->b, ',');
            put_space(m);
            if (rarely(m))
                put_any(m, 0);
            else if (f->type == SP_IS_LIST)
                put_object(m, f->inner, NULL);
            else
                put_number(m);
            put_space(m);
        }
        sp_buf_ch(&m->b, ']');
        return;
    default:
        put_string(m);
    }
}

/* The name of a member, sometimes spelt with an escape. */
static void put_key(struct maker *m, const char *name, size_t n, bool *any)
{
    if (*any)
        sp_buf_ch(&m->b, ',');
    *any = true;
    put_space(m);
    sp_buf_ch(&m->b, '"');
    if (rarely(m))
        sp_buf_printf(&m->b, "\\u%04x%.*s", (unsigned char)*name, (int)n - 1, name + 1);
    else
        sp_buf_add(&m->b, name, n);
    sp_buf_ch(&m->b, '"');
    put_space(m);
    sp_buf_ch(&m->b, ':');
    put_space(m);
}

static void put_object(struct maker *m, enum sp_table table, const char *type)
{
    unsigned first = sp_first_field[table], n = sp_first_field[table + 1] - first;
    bool any = false, late = m->odd && next(&m->seed, 3) == 0;
    sp_buf_ch(&m->b, '{');
    if (type && !late) {
        put_key(m, "type", 4, &any);
        sp_buf_printf(&m->b, "\"%s\"", type);
    }
    unsigned from = m->odd && next(&m->seed, 2) && n ? next(&m->seed, n) : 0;
    for (unsigned i = 0; i < n; i++) {
        const struct sp_field_info *f = &sp_field_infos[first + (i + from) % n];
        if (next(&m->seed, 4) == 0)
            continue;
        put_key(m, f->quoted + 1, f->length, &any);
        put_value(m, f);
        if (rarely(m)) {
            static const char *const names[] = {"x_a", "x_b", "more", "pid", "type", "x_odd_pid"};
            const char *name = names[next(&m->seed, 6)];
            put_key(m, name, strlen(name), &any);
            put_any(m, 0);
        }
    }
    if (m->odd && next(&m->seed, 500) == 0) /* more members than are compared one by one */
        for (unsigned i = 0; i < 80; i++) {
            char name[16];
            int k = snprintf(name, sizeof name, "x_%u", next(&m->seed, 2000));
            put_key(m, name, (size_t)k, &any);
            put_any(m, 2);
        }
    if (type && late) {
        put_key(m, "type", 4, &any);
        sp_buf_printf(&m->b, "\"%s\"", type);
    }
    put_space(m);
    sp_buf_ch(&m->b, '}');
}

static void put_record(struct maker *m)
{
    static const struct {
        const char *name;
        enum sp_table table;
    } types[] = {{"header", SP_T_HEADER}, {"dso", SP_T_DSO},          {"frame", SP_T_FRAME},
                 {"thread", SP_T_THREAD}, {"stack", SP_T_STACK},      {"sample", SP_T_SAMPLE},
                 {"window", SP_T_WINDOW}, {"x_other", SP_T_ANYTHING}, {"stack", SP_T_SAMPLE}};
    uint32_t t = next(&m->seed, sizeof types / sizeof *types);
    sp_buf_clear(&m->b);
    put_space(m);
    put_object(m, types[t].table, m->odd && !next(&m->seed, 50) ? NULL : types[t].name);
    put_space(m);
}

#if __has_include(<jansson.h>)
#include <jansson.h>

/* ---- jansson's objects against the structs ---- */

static bool fits(const struct sp_field_info *f, const json_t *v)
{
    switch (f->type) {
    case SP_IS_NUMBER:
        return json_is_number(v);
    case SP_IS_BOOL:
        return json_is_boolean(v);
    case SP_IS_ID:
        return json_is_number(v) || json_is_string(v);
    case SP_IS_OBJECT:
        return json_is_object(v);
    case SP_IS_LIST:
    case SP_IS_IDS:
        return json_is_array(v);
    default:
        return json_is_string(v);
    }
}

static void same_scalar(const struct sp_token *v, const json_t *j)
{
    struct sp_buf text;
    sp_buf_init(&text, 0);
    struct sp_span s = sp_token_text(v, &text);
    if (json_is_string(j)) {
        assert_int_equal(v->kind, SP_JSON_STRING);
        assert_int_equal(s.n, json_string_length(j));
        assert_memory_equal(s.p, json_string_value(j), s.n);
    } else if (json_is_number(j)) {
        char copy[64];
        assert_int_equal(v->kind, SP_JSON_NUMBER);
        assert_true(s.n < sizeof copy);
        memcpy(copy, s.p, s.n);
        copy[s.n] = '\0';
        assert_true(strtod(copy, NULL) == json_number_value(j));
    } else {
        assert_int_equal(v->kind, json_is_true(j)    ? SP_JSON_TRUE
                                  : json_is_false(j) ? SP_JSON_FALSE
                                                     : v->kind);
    }
    sp_buf_free(&text);
}

static void same_ids(const struct sp_decoder *d, const struct sp_nested *list, const json_t *j)
{
    const char *at = NULL;
    uint32_t item = 0;
    assert_int_equal(list->count, json_array_size(j));
    for (uint32_t i = 0; i < list->count; i++) {
        const json_t *v = json_array_get(j, i);
        uint32_t id = d->ids.v[list->first + i];
        const char *here = sp_id_item(list, &at, &item, i);
        if (id & SP_ID_OTHER) {
            const struct sp_token *other = &d->other_ids.v[id & ~SP_ID_OTHER];
            assert_ptr_equal(here, sp_token_raw(other).p);
            if (!json_is_object(v) && !json_is_array(v))
                same_scalar(other, v);
        } else {
            assert_true(json_is_integer(v) && json_integer_value(v) == id);
            assert_int_equal(strtoul(here, NULL, 10), id);
        }
    }
}

static void same_object(const struct sp_decoder *d, enum sp_table table, const struct sp_rec *rec,
                        const json_t *j, bool record);

static void same_list(const struct sp_decoder *d, enum sp_table inner, const struct sp_nested *list,
                      const json_t *j)
{
    assert_int_equal(list->count, json_array_size(j));
    for (uint32_t i = 0; i < list->count; i++) {
        const struct sp_rec *item = sp_rec_any(d, inner, list->first + i);
        const json_t *v = json_array_get(j, i);
        assert_int_equal(item->kind == SP_JSON_OBJECT, json_is_object(v));
        if (json_is_object(v))
            same_object(d, inner, item, v, false);
    }
}

/* An object without a key that stands twice. */
static void same_object(const struct sp_decoder *d, enum sp_table table, const struct sp_rec *rec,
                        const json_t *j, bool record)
{
    size_t members = json_object_size(j) - (record && json_is_string(json_object_get(j, "type")));
    assert_int_equal(rec->duplicate, 0);
    for (unsigned i = sp_first_field[table]; i < sp_first_field[table + 1]; i++) {
        const struct sp_field_info *f = &sp_field_infos[i];
        char name[32] = "";
        memcpy(name, f->quoted + 1, f->length);
        const json_t *v = json_object_get(j, name);
        const struct sp_token *have = (const struct sp_token *)(const void *)((const char *)rec + f->offset);
        const struct sp_nested *nested = (const struct sp_nested *)(const void *)have;
        assert_int_equal(rec->present >> f->position & 1, v && fits(f, v));
        assert_int_equal(rec->wrong >> f->position & 1, v && !fits(f, v));
        if (!v || !fits(f, v))
            continue;
        members--;
        if (f->type < SP_IS_OBJECT)
            same_scalar(have, v);
        else if (f->type == SP_IS_IDS)
            same_ids(d, nested, v);
        else if (f->type == SP_IS_LIST)
            same_list(d, f->inner, nested, v);
        else if (f->inner != SP_T_ANYTHING)
            same_object(d, f->inner, sp_rec_any(d, f->inner, nested->first), v, false);
    }
    for (uint32_t i = rec->odd; i != SP_ODD_END; i = d->odd.v[i].next) {
        const struct sp_odd *o = &d->odd.v[i];
        if (o->what & (SP_ODD_ITEM | SP_ODD_TAKEN) || !o->key.p)
            continue;
        struct sp_buf key;
        sp_buf_init(&key, 0);
        struct sp_span s = sp_token_text(&o->key, &key);
        const json_t *v = json_object_getn(j, s.p, s.n);
        assert_non_null(v);
        if (!json_is_object(v) && !json_is_array(v))
            same_scalar(&o->value, v);
        members--;
        sp_buf_free(&key);
    }
    assert_int_equal(members, 0);
}

static void same_line(struct sp_decoder *d, const char *p, size_t n)
{
    struct sp_line l;
    char *exact = malloc(n + 1); /* so that reading too far is seen */
    memcpy(exact, p, n);
    exact[n] = '\0';
    sp_decoder_clear(d);
    assert_true(sp_decode_lines(d, exact, exact + n) || n == 0);
    l = d->lines.n ? d->lines.v[0] : (struct sp_line){.status = SP_BLANK};
    json_error_t error;
    json_t *j = json_loadb(exact, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    json_error_t twice;
    json_t *unique = json_loadb(exact, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &twice);
    bool good = l.status == SP_DECODED || l.status == SP_UNTYPED || l.status == SP_NO_OBJECT;
    bool too_large = !j && strstr(error.text, "overflow"); /* a limit of jansson, not of JSON */
    if (good != (j != NULL) && !too_large)
        fail_msg("%d, jansson: %s: %.*s", (int)l.status, error.text, (int)n, p);
    if (good && j) {
        assert_int_equal(l.status == SP_NO_OBJECT, !json_is_object(j));
        if (unique && json_is_object(j)) {
            assert_int_equal(l.status == SP_DECODED, json_is_string(json_object_get(j, "type")));
            same_object(d, l.table, sp_rec_any(d, l.table, l.rec), j, true);
        }
        if (!unique)
            assert_false(l.plain && l.status != SP_NO_OBJECT);
    }
    json_decref(j);
    json_decref(unique);
    free(exact);
}

static void test_records_are_what_jansson_reads(void **state)
{
    (void)state;
    struct sp_decoder d;
    sp_decoder_init(&d);
    for (uint32_t odd = 0; odd < 40; odd += 13) {
        struct maker m = {.seed = odd + 1, .odd = odd};
        sp_buf_init(&m.b, 0);
        for (int i = 0; i < 6000; i++) {
            put_record(&m);
            same_line(&d, m.b.data, m.b.len);
        }
        sp_buf_free(&m.b);
    }
    sp_decoder_free(&d);
}

static void test_damaged_records_are_refused_as_jansson_refuses_them(void **state)
{
    (void)state;
    static const char bytes[] = "{}[]\",:\\ 0129.-+eEtfnu\tax\x01\x80\xC3";
    struct sp_decoder d;
    struct maker m = {.seed = 77, .odd = 30};
    sp_decoder_init(&d);
    sp_buf_init(&m.b, 0);
    for (int i = 0; i < 40000; i++) {
        put_record(&m);
        size_t n = m.b.len;
        for (uint32_t k = 1 + next(&m.seed, 3); k; k--) {
            size_t at = next(&m.seed, (uint32_t)n);
            uint32_t how = next(&m.seed, 3);
            if (how == 0)
                n = at + 1;
            else if (how == 1)
                m.b.data[at] = bytes[next(&m.seed, sizeof bytes - 1)];
            else if (n > 1)
                memmove(m.b.data + at, m.b.data + at + 1, --n - at);
        }
        same_line(&d, m.b.data, n);
    }
    sp_buf_free(&m.b);
    sp_decoder_free(&d);
}

#define JANSSON_TESTS                                                                                        \
    cmocka_unit_test(test_records_are_what_jansson_reads),                                                   \
        cmocka_unit_test(test_damaged_records_are_refused_as_jansson_refuses_them),
#else
#define JANSSON_TESTS
#endif

/* ---- what jansson does not say ---- */

static struct sp_line decode(struct sp_decoder *d, const char *text)
{
    struct sp_line l;
    sp_decoder_clear(d);
    assert_true(sp_decode_line(d, text, strlen(text), &l));
    return l;
}

static void assert_text(const struct sp_token *v, const char *text)
{
    assert_int_equal(v->n, strlen(text));
    assert_memory_equal(v->p, text, v->n);
}

static void test_of_a_key_that_stands_twice_the_first_value_counts(void **state)
{
    (void)state;
    struct sp_decoder d;
    sp_decoder_init(&d);
    struct sp_line l =
        decode(&d, "{\"type\":\"thread\",\"pid\":1,\"pid\":2,\"x_a\":0,\"\\u0070id\":\"s\",\"x_a\":3}");
    const struct sp_rec_THREAD *t = sp_rec_THREAD(&d, l.rec);
    static const unsigned what[] = {SP_ODD_AGAIN, SP_ODD_UNKNOWN, SP_ODD_AGAIN | SP_ODD_WRONG,
                                    SP_ODD_UNKNOWN | SP_ODD_AGAIN};
    assert_int_equal(l.status, SP_DECODED);
    assert_false(l.plain);
    assert_text(&t->pid, "1");
    assert_int_equal(t->h.duplicate, SP_BIT(THREAD, pid));
    assert_int_equal(t->h.wrong, SP_BIT(THREAD, pid));
    uint32_t n = 0;
    for (uint32_t i = t->h.odd; i != SP_ODD_END; i = d.odd.v[i].next)
        assert_int_equal(d.odd.v[i].what, what[n++]);
    assert_int_equal(n, 4);
    sp_decoder_free(&d);
}

static void test_a_value_of_the_right_type_counts_after_wrong_ones(void **state)
{
    (void)state;
    struct sp_decoder d;
    sp_decoder_init(&d);
    struct sp_line l = decode(&d, "{\"type\":\"stack\",\"frames\":3,\"frames\":[7],\"frames\":[8]}");
    const struct sp_rec_STACK *s = sp_rec_STACK(&d, l.rec);
    assert_int_equal(s->h.present, SP_BIT(STACK, frames));
    assert_int_equal(s->h.wrong, SP_BIT(STACK, frames));
    assert_int_equal(s->frames.count, 1);
    assert_int_equal(d.ids.v[s->frames.first], 7);
    assert_int_equal(d.odd.v[s->h.odd].what, SP_ODD_WRONG);
    assert_int_equal(d.odd.v[s->h.odd + 1].what, SP_ODD_AGAIN | SP_ODD_AFTER_WRONG | SP_ODD_TAKEN);
    assert_text(&d.odd.v[s->h.odd + 1].value, "[7]");
    assert_int_equal(d.odd.v[s->h.odd + 2].what, SP_ODD_AGAIN);
    sp_decoder_free(&d);
}

static void test_the_type_may_come_last_or_be_missing(void **state)
{
    (void)state;
    struct sp_decoder d;
    sp_decoder_init(&d);
    struct sp_line l = decode(&d, "{\"tid\":5,\"type\":1,\"pid\":4,\"type\":\"thread\",\"type\":\"dso\"}");
    assert_int_equal(l.status, SP_DECODED);
    assert_int_equal(l.table, SP_T_THREAD);
    assert_text(&sp_rec_THREAD(&d, l.rec)->tid, "5");
    assert_int_equal(d.odd.n, 3);
    assert_int_equal(d.odd.v[0].what, SP_ODD_WRONG);
    assert_int_equal(d.odd.v[1].what, SP_ODD_AGAIN | SP_ODD_AFTER_WRONG | SP_ODD_TAKEN);
    assert_int_equal(d.odd.v[2].what, SP_ODD_AGAIN);
    l = decode(&d, "{\"tid\":5,\"pid\":4}");
    assert_int_equal(l.status, SP_UNTYPED);
    assert_int_equal(l.table, SP_T_ANYTHING);
    assert_int_equal(decode(&d, "{\"type\":\"x_mine\",\"a\":1}").table, SP_T_ANYTHING);
    assert_int_equal(decode(&d, "[1]").status, SP_NO_OBJECT);
    assert_int_equal(decode(&d, " \r").status, SP_BLANK);
    sp_decoder_free(&d);
}

static void test_what_stands_before_damage_is_decoded(void **state)
{
    (void)state;
    struct sp_decoder d;
    sp_decoder_init(&d);
    struct sp_line l = decode(&d, "{\"type\":\"thread\",\"pid\":4,\"tid\":1x");
    const struct sp_rec_THREAD *t = sp_rec_THREAD(&d, l.rec);
    assert_int_equal(l.status, SP_BROKEN);
    assert_int_equal(l.table, SP_T_THREAD);
    assert_text(&t->pid, "4");
    l = decode(&d, "{\"pid\":4,\"tid\"");
    assert_int_equal(l.status, SP_BROKEN);
    assert_int_equal(l.table, SP_TABLES);
    sp_decoder_free(&d);
}

static void test_lines_that_are_not_utf8_are_told_apart(void **state)
{
    (void)state;
    static const char text[] =
        "{\"type\":\"thread\",\"comm\":\"\xFF\"}\n\n{\"type\":\"thread\",\"comm\":\"é\"}\n{}";
    struct sp_decoder d;
    sp_decoder_init(&d);
    assert_true(sp_decode_lines(&d, text, text + sizeof text - 1));
    assert_int_equal(d.lines.n, 4);
    assert_int_equal(d.lines.v[0].status, SP_NOT_UTF8);
    assert_int_equal(d.lines.v[1].status, SP_BLANK);
    assert_int_equal(d.lines.v[2].status, SP_DECODED);
    assert_int_equal(d.lines.v[3].status, SP_UNTYPED);
    sp_decoder_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JANSSON_TESTS cmocka_unit_test(test_of_a_key_that_stands_twice_the_first_value_counts),
        cmocka_unit_test(test_a_value_of_the_right_type_counts_after_wrong_ones),
        cmocka_unit_test(test_the_type_may_come_last_or_be_missing),
        cmocka_unit_test(test_what_stands_before_damage_is_decoded),
        cmocka_unit_test(test_lines_that_are_not_utf8_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
