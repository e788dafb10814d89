/* The validator's walk through the call graph, without recursion. */
#include "formats/codeguru/validate.h"

#include "base/num.h"

#include <stdio.h>

#define LEVELS_MAX ((size_t)1 << 22) /* as the reader's */
#define NOTE_EVERY ((size_t)1 << 20)
#define SHOWN      3 /* levels of a path, at either end */

enum member { COUNTS, CHILDREN, PLACE_FILE, PLACE_LINE, MEMBERS };
static const char *const member_names[MEMBERS] = {"counts", "children", "file", "line"};

struct level {
    uint32_t name; /* SP_NONE: the root */
    bool in_children;
    unsigned members; /* bits of those that were there: enum member */
    size_t children;  /* where its children's names begin */
};

struct child {
    size_t at;
    uint32_t name;
};

struct walk {
    struct sp_cg_check *c;
    struct sp_input *in;
    size_t noted; /* up to where it was said how far the walk is */
    SP_VEC(struct level) levels;
    SP_VEC(struct child) children;
    bool counted;     /* some count is not zero */
    const char *last; /* the member of the node that it is in, and the key there: path_of */
    uint32_t key;
};

/* ---- findings ---- */

static void path_key(const struct walk *w, uint32_t number, struct sp_buf *out)
{
    struct sp_str name = sp_str_at(&w->c->names, number);
    sp_buf_ch(out, '[');
    sp_json_string(out, name.p, name.n < 60 ? name.n : 60);
    sp_buf_puts(out, name.n < 60 ? "]" : "…]");
}

/* callgraph.children["main"].children["f"].counts["RUNNABLE"]; deep ones are shortened. key SP_NONE: none. */
static const char *path_of(const struct walk *w, const char *last, uint32_t key, struct sp_buf *out)
{
    sp_buf_clear(out);
    sp_buf_puts(out, "callgraph");
    for (size_t i = 1; i < w->levels.n; i++) {
        if (i > SHOWN && w->levels.n > 2 * SHOWN + 2 && i < w->levels.n - SHOWN) {
            sp_buf_printf(out, "…(%zu levels)", w->levels.n - 2 * SHOWN - 1);
            i = w->levels.n - SHOWN;
        }
        sp_buf_puts(out, ".children");
        path_key(w, w->levels.v[i].name, out);
    }
    sp_buf_printf(out, "%s%s", *last ? "." : "", last);
    if (key != SP_NONE)
        path_key(w, key, out);
    return sp_buf_cstr(out);
}

static void find_at_key(struct walk *w, enum sp_code code, const char *at, const char *last, uint32_t key,
                        const char *hint, const char *text)
{
    struct sp_buf path;
    sp_buf_init(&path, 1 << 16);
    sp_cg_find(w->c, code, at, sp_cg_wanted(w->c, code) ? path_of(w, last, key, &path) : NULL, hint, "%s",
               text);
    sp_buf_free(&path);
}

static void find_in_node(struct walk *w, enum sp_code code, const char *at, const char *last,
                         const char *hint, const char *text)
{
    find_at_key(w, code, at, last, SP_NONE, hint, text);
}

/* ---- nodes ---- */

static const char whole[] = "counts are samples: whole, not negative, and less than 2^63";

#define TOO_MUCH ((__int128)SP_CG_ONE << 63)

static __int128 scaled_units(int64_t v, unsigned scale)
{
    __int128 units = (__int128)v * SP_CG_ONE;
    for (; scale; scale--)
        units /= 10;
    return units;
}

/*
 * In units of 10^-18; further digits are cut off. What has more digits than 64 bits hold and an exponent is
 * taken to 8 digits, by its double. False: far beyond 2^63.
 */
static bool units_of(struct sp_span number, __int128 *units)
{
    const char *end = number.p + number.n;
    int64_t v;
    unsigned scale;
    bool exact = true;
    if (sp_parse_scaled(number.p, number.n, &v, &scale)) {
        *units = scaled_units(v, scale);
        return true;
    }
    size_t whole_n = sp_parse_i64(number.p, end, &v), n = number.n - whole_n;
    n = n < 1 + SP_CG_DIGITS ? n : 1 + SP_CG_DIGITS;
    if (whole_n && n && !memchr(number.p, 'e', number.n) && !memchr(number.p, 'E', number.n)) {
        int64_t part = 0; /* of its sign, the whole part tells */
        sp_parse_scaled(number.p + whole_n, n, &part, &scale);
        *units = (__int128)v * SP_CG_ONE + scaled_units(part, scale);
        return true;
    }
    if (!sp_parse_fixed(number.p, number.n, 8, units, &exact))
        return false;
    *units *= SP_CG_ONE / 100000000;
    return true;
}

static bool count_of(struct walk *w, const char *at, uint32_t name, __int128 units)
{
    struct sp_cg_check *c = w->c;
    struct sp_cg_counter *counter;
    size_t i = 0;
    while (i < c->counters.n && c->counters.v[i].name != name)
        i++;
    if (i == c->counters.n && !sp_vec_push(&c->counters, ((struct sp_cg_counter){.name = name})))
        return false;
    counter = &c->counters.v[i];
    if (!counter->too_much && (counter->sum += units) >= TOO_MUCH) {
        counter->sum = TOO_MUCH;
        counter->too_much = true;
        find_at_key(w, SP_E466, at, "counts", name, whole, "the counts up to here add up to 2^63 or more");
    }
    return true;
}

/* The leaf's name, for words. */
static struct sp_str here(const struct walk *w)
{
    uint32_t name = w->levels.v[w->levels.n - 1].name;
    struct sp_str s = name == SP_NONE ? (struct sp_str){"the root", 8} : sp_str_at(&w->c->names, name);
    s.n = s.n < 100 ? s.n : 100;
    return s;
}

/* *units: what it adds to its counter; 0 of what counts nowhere. */
static void judge_count(struct walk *w, uint32_t name, struct sp_span raw, bool number, __int128 *units)
{
    char text[300];
    struct sp_str counter = sp_str_at(&w->c->names, name), leaf = here(w);
    bool fits = number && units_of(raw, units),
         large = number && *raw.p != '-' && (!fits || *units >= TOO_MUCH);
    if (!fits || large || *raw.p == '-')
        *units = 0;
    snprintf(text, sizeof text, "a count of %.*s (%.*s of `%.*s`)", (int)(raw.n < 40 ? raw.n : 40), raw.p,
             (int)(counter.n < 60 ? counter.n : 60), counter.p, (int)leaf.n, leaf.p);
    if (!number)
        find_at_key(w, SP_E467, raw.p, "counts", name, NULL, text);
    else if (large || (*raw.p == '-' && !sp_cg_is_zero(raw)))
        find_at_key(w, SP_E466, raw.p, "counts", name, whole, text);
    else if (*units % SP_CG_ONE || (!*units && !sp_cg_is_zero(raw)))
        find_at_key(w, SP_W483, raw.p, "counts", name, NULL, text);
}

static bool check_count(struct walk *w, uint32_t search, struct sp_span key)
{
    struct sp_cg_check *c = w->c;
    struct sp_span raw;
    bool number = sp_json_type(&c->j) == SP_JSON_NUMBER;
    __int128 units = 0;
    const char *at = c->j.p;
    uint32_t name = sp_intern(&c->names, key.p, key.n);
    if (name == SP_STR_FAIL)
        return sp_json_fail(&c->j, "out of memory");
    w->key = name;
    if (!sp_json_skip(&c->j, &raw))
        return false;
    w->key = SP_NONE;
    if (sp_cg_again(c, search, name))
        find_at_key(w, SP_E491, at, "counts", name, NULL, "a counter");
    judge_count(w, name, raw, number, &units);
    bool counted = number && !sp_cg_is_zero(raw);
    w->counted = w->counted || counted;
    return !counted || count_of(w, raw.p, name, units) || sp_json_fail(&c->j, "out of memory");
}

static bool check_counts(struct walk *w)
{
    struct sp_json *j = &w->c->j;
    uint32_t search = ++w->c->searches;
    if (!sp_json_object(j))
        return false;
    for (struct sp_span key; sp_json_key(j, &key);)
        if (!check_count(w, search, key))
            return false;
    return !j->error;
}

/* [12] or [12,20], whole and not negative. */
static bool check_lines(struct walk *w)
{
    struct sp_json *j = &w->c->j;
    struct sp_span raw, item;
    bool array = sp_json_type(j) == SP_JSON_ARRAY, fine = array;
    uint64_t v[2] = {0, 0};
    size_t n = 0;
    if (!sp_json_skip(j, &raw))
        return false;
    for (struct sp_span rest = raw; array && sp_json_next(&rest, &item); n++)
        fine = fine && n < 2 && sp_parse_u64(item.p, item.p + item.n, &v[n]) == item.n;
    if (!fine || !n)
        find_in_node(w, SP_E467, raw.p, "line", NULL, "`line` is neither [LINE] nor [FIRST, LAST]");
    else if (n == 2 && v[1] < v[0])
        find_in_node(w, SP_W484, raw.p, "line", NULL, "the last line stands before the first");
    return true;
}

/* Which one it is, or MEMBERS: any other. One that was there already is found. */
static enum member member_of(struct walk *w, struct sp_span key)
{
    struct level *l = &w->levels.v[w->levels.n - 1];
    unsigned m = 0;
    while (m < MEMBERS && !sp_span_is(key, member_names[m]))
        m++;
    if (m < MEMBERS && l->members & 1u << m)
        find_in_node(w, SP_E491, w->c->j.p, member_names[m], NULL, member_names[m]);
    l->members |= m < MEMBERS ? 1u << m : 0;
    return m;
}

static bool check_member(struct walk *w, struct sp_span key)
{
    struct sp_json *j = &w->c->j;
    struct sp_span raw;
    enum sp_json_type type = sp_json_type(j);
    enum member m = member_of(w, key);
    w->last = m < MEMBERS ? member_names[m] : "";
    w->key = m < MEMBERS ? SP_NONE : sp_intern(&w->c->names, key.p, key.n);
    if (m == MEMBERS && w->key == SP_STR_FAIL)
        return sp_json_fail(j, "out of memory");
    if (m == COUNTS && type == SP_JSON_OBJECT)
        return check_counts(w);
    if (m == CHILDREN && type == SP_JSON_OBJECT) {
        w->levels.v[w->levels.n - 1].in_children = true;
        return sp_json_object(j);
    }
    if (m == PLACE_LINE)
        return check_lines(w);
    if (!sp_json_skip(j, &raw))
        return false;
    if (m == CHILDREN && type == SP_JSON_ARRAY)
        find_in_node(w, SP_E467, raw.p, "children", "{\"NAME\":{…}}: children have their names as keys",
                     "`children` is an array, not an object");
    else if (m == COUNTS || m == CHILDREN)
        find_in_node(w, SP_E467, raw.p, member_names[m], NULL,
                     m == COUNTS ? "`counts` is no object" : "`children` is no object");
    else if (m == PLACE_FILE && type != SP_JSON_STRING)
        find_in_node(w, SP_E467, raw.p, "file", NULL, "`file` is no string");
    return true;
}

static spaa_status open_level(struct walk *w, uint32_t name)
{
    struct level l = {.name = name, .children = w->children.n};
    if (w->levels.n >= LEVELS_MAX) {
        sp_emit(w->c->d, SP_E007, SP_AT((uint64_t)(w->c->j.p - w->c->j.start)), "more than %zu levels",
                LEVELS_MAX);
        return SPAA_ERR_LIMIT;
    }
    return sp_vec_push(&w->levels, l) ? SPAA_OK : sp_nomem(w->c->d);
}

static spaa_status open_child(struct walk *w, struct sp_span key)
{
    struct sp_json *j = &w->c->j;
    struct sp_span raw;
    struct child child = {(size_t)(j->p - j->start), sp_intern(&w->c->names, key.p, key.n)};
    if (child.name == SP_STR_FAIL)
        return sp_nomem(w->c->d);
    if (!sp_vec_push(&w->children, child))
        return sp_nomem(w->c->d);
    bool object = sp_json_type(j) == SP_JSON_OBJECT;
    spaa_status st = open_level(w, child.name);
    if (st || object)
        return st ? st : sp_json_object(j) ? SPAA_OK : SPAA_ERR_INPUT;
    if (!sp_json_skip(j, &raw))
        return SPAA_OK;
    find_in_node(w, SP_E467, raw.p, "", NULL, "the child is no object");
    w->levels.n--;
    return SPAA_OK;
}

static void close_level(struct walk *w)
{
    struct level *l = &w->levels.v[w->levels.n - 1];
    uint32_t search = ++w->c->searches;
    for (size_t i = l->children; i < w->children.n; i++) {
        struct child *child = &w->children.v[i];
        char text[200];
        struct sp_str t = sp_str_at(&w->c->names, child->name);
        snprintf(text, sizeof text, "`%.*s`", (int)(t.n < 100 ? t.n : 100), t.p);
        if (sp_cg_again(w->c, search, child->name))
            find_at_key(w, SP_W475, w->c->j.start + child->at, "children", child->name, NULL, text);
    }
    w->children.n = l->children;
    w->levels.n--;
}

static spaa_status check_nodes(struct walk *w)
{
    struct sp_json *j = &w->c->j;
    struct sp_span key;
    spaa_status st = open_level(w, SP_NONE);
    sp_json_object(j);
    while (!st && !j->error && w->levels.n) {
        struct level *l = &w->levels.v[w->levels.n - 1];
        w->last = l->in_children ? member_names[CHILDREN] : "";
        w->key = SP_NONE;
        if (sp_json_key(j, &key)) {
            w->last = "";
            if (l->in_children)
                st = open_child(w, key);
            else
                check_member(w, key);
        } else if (!j->error && l->in_children) {
            l->in_children = false;
        } else if (!j->error) {
            close_level(w);
        }
        size_t at = (size_t)(j->p - j->start);
        if (!st && at - w->noted > NOTE_EVERY) {
            w->noted = at;
            st = sp_input_note(w->in, at);
        }
    }
    return st;
}

spaa_status sp_cg_check_graph(struct sp_cg_check *c, struct sp_input *in, bool *counted, struct sp_buf *where)
{
    struct walk w = {.c = c, .in = in, .last = "", .key = SP_NONE, .noted = (size_t)(c->j.p - c->j.start)};
    spaa_status st = check_nodes(&w);
    if (c->j.error)
        path_of(&w, w.last, w.key, where);
    *counted = w.counted;
    sp_vec_free(&w.levels);
    sp_vec_free(&w.children);
    return st;
}
