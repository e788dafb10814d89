/*
 * Reads the call graph: nodes {"counts":{…},"file":…,"line":[…],"children":{"name":{…}}} nested as deep as
 * the calls were, in one pass and without recursion.
 *
 * Every counter of a node becomes a stack: the path of frames, leaf first, lies ready in an array that grows
 * towards its beginning, so that a stack is one copy. A node's frame is made when the first stack needs it:
 * its file and line may stand behind its counts, or even behind its children, whose stacks are put right
 * then.
 *
 * Equal stacks come only from children that stand twice in one node, which is looked for (names in ascending
 * order, as most files have them, need one comparison); such stacks are added up in the end.
 *
 * What stacks and frames do not hold goes to records
 *
 *     {"type":"x_codeguru_node","shared":2,"path":["c"],"node":{"foo":1,"counts":{"IDLE":0}}}
 *
 * `path` from the root, of which the first `shared` levels are those of the record before; `node` has the
 * members to add: unknown keys, counts of zero, empty objects, what has an unexpected type, and file and line
 * of nodes without any count below them.
 */
#include "formats/codeguru/graph.h"

#include "base/num.h"
#include "json/unique.h"

#define LEVELS_MAX  ((size_t)1 << 22)
#define FRAMES_FREE ((size_t)64 << 20) /* stack frames of any file; beyond, one per byte of input */
#define NOTE_EVERY  ((size_t)1 << 20)
#define EXPECT_MIN  ((size_t)1 << 20) /* bytes of text from which on it pays to reserve */

static spaa_status nomem(struct graph *x)
{
    return sp_nomem(x->d);
}

/* ---- members of a node ---- */

static void kept(struct graph *x, struct sp_span key, struct sp_span raw, bool odd)
{
    if (x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    sp_json_minify(&x->extra, raw);
    if (odd)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "`%.*s`",
                (int)(key.n < 40 ? key.n : 40), key.p);
}

/* Any value, kept as it stands. */
static bool keep_member(struct graph *x, struct sp_span key, bool odd)
{
    struct sp_span raw;
    if (!lasting(x, key)) { /* the value may have escapes, too */
        uint32_t k = sp_cg_name(x, key);
        if (k == SP_NONE)
            return sp_json_fail(x->j, "out of memory");
        key.p = name_text(x, x->names[k].number - 1).p;
    }
    if (!sp_json_skip(x->j, &raw))
        return false;
    kept(x, key, raw, odd);
    return true;
}

/* Zeros are no observations, and what is no number cannot be counted: they are kept beside. */
static void keep_count(struct graph *x, struct sp_span key, struct sp_span raw, bool *open)
{
    if (!*open && x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_buf_puts(&x->extra, *open ? "," : "\"counts\":{");
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    sp_json_minify(&x->extra, raw);
    *open = true;
}

static bool is_zero(struct sp_span s)
{
    for (size_t i = 0; i < s.n && (s.p[i] | 32) != 'e'; i++)
        if (s.p[i] >= '1' && s.p[i] <= '9')
            return false;
    return true;
}

/* The number at the cursor where it is a plain one of at most 18 digits. */
static inline bool plain_number(struct sp_json *j, struct sp_span *s, int64_t *v)
{
    const char *p = j->p, *end = j->end - p > 19 ? p + 19 : j->end;
    int64_t sum = 0;
    while (p < end && (unsigned char)(*p - '0') < 10)
        sum = sum * 10 + (*p++ - '0');
    size_t n = (size_t)(p - j->p);
    if (p == end || !n || n > 18 || (*p != ',' && *p != '}') || (*j->p == '0' && n > 1))
        return false;
    *s = (struct sp_span){j->p, n};
    *v = sum;
    j->p = p;
    return true;
}

static bool read_count(struct graph *x, struct sp_span key, bool *open)
{
    struct sp_json *j = x->j;
    struct cell c = {.v = SP_DECIMAL};
    struct sp_span raw;
    uint32_t k = SP_NONE;
    if (!lasting(x, key)) { /* the value may have escapes, too */
        if ((k = sp_cg_counter(x, key)) == SP_NONE)
            return sp_json_fail(j, "out of memory");
        key.p = x->counters.v[k].p;
    }
    bool plain = plain_number(j, &c.number, &c.v), number = plain || sp_json_type(j) == SP_JSON_NUMBER;
    if (!plain && number) {
        if (!sp_json_number(j, &c.number))
            return false;
        if (sp_parse_i64(c.number.p, c.number.p + c.number.n, &c.v) != c.number.n || c.v <= SP_DECIMAL ||
            (c.v == 0 && c.number.n > 1))
            c.v = SP_DECIMAL;
    }
    if (!number) {
        if (!sp_json_skip(j, &raw))
            return false;
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - j->start)), "a count that is no number");
        keep_count(x, key, raw, open);
        return true;
    }
    if (c.v == 0 || (c.v == SP_DECIMAL && is_zero(c.number))) {
        keep_count(x, key, c.number, open);
        return true;
    }
    if (k == SP_NONE && (k = sp_cg_counter(x, key)) == SP_NONE)
        return sp_json_fail(j, "out of memory");
    c.context = x->counters.v[k].context;
    if (c.v > 0 && __builtin_add_overflow(x->g->counted, (uint64_t)c.v, &x->g->counted))
        x->g->counted = UINT64_MAX;
    if (c.v < 0)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(c.number.p - j->start)), "a count of %.*s",
                (int)(c.number.n < 40 ? c.number.n : 40), c.number.p);
    return sp_vec_push(&x->cells, c) || sp_json_fail(j, "out of memory");
}

/* Behind the opening brace of `counts`. */
static bool count_members(struct graph *x)
{
    struct sp_json *j = x->j;
    struct sp_span key;
    bool open = false, any = false;
    while (next_key(j, &key)) {
        any = true;
        if (!read_count(x, key, &open))
            return false;
    }
    if (j->error)
        return false;
    if (open)
        sp_buf_ch(&x->extra, '}');
    if (!any)
        kept(x, (struct sp_span){"counts", 6}, (struct sp_span){"{}", 2}, false);
    return true;
}

static bool read_place(struct graph *x, struct sp_span *into)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    struct sp_json *j = x->j;
    const char *from = j->p, *behind;
    /* "file" as a plain string, the usual case */
    if (from < j->end && *from == '"' && (behind = plain_string(from + 1, j->end))) {
        *into = (struct sp_span){from, (size_t)(behind - from)};
        j->p = behind;
    } else if (!sp_json_skip(j, into)) {
        return false;
    }
    l->late = l->late || x->resolved >= x->levels.n - 1;
    return true;
}

static bool read_member(struct graph *x, struct sp_span key, spaa_status *st)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    if (sp_span_is(key, "counts") && sp_json_type(x->j) == SP_JSON_OBJECT)
        return sp_json_object(x->j) && count_members(x);
    if (sp_span_is(key, "children") && sp_json_type(x->j) == SP_JSON_OBJECT) {
        if (x->cells.n)
            *st = sp_cg_flush(x);
        l->in_children = true;
        return !*st && sp_json_object(x->j);
    }
    if (l->name != SP_NONE && sp_span_is(key, "file"))
        return read_place(x, &l->place.file);
    if (l->name != SP_NONE && sp_span_is(key, "line"))
        return read_place(x, &l->place.line);
    bool known = sp_span_is(key, "counts") || sp_span_is(key, "children");
    return keep_member(x, key, known);
}

/* ---- nodes ---- */

static spaa_status record(struct graph *x, const struct level *l)
{
    struct sp_buf *b = &x->text;
    sp_buf_clear(b);
    sp_buf_printf(b, "{\"type\":\"" SP_CG_NODE "\",\"shared\":%zu,\"path\":[", x->shared);
    for (size_t i = x->shared + 1; i < x->levels.n; i++) {
        struct sp_span n = name_text(x, x->levels.v[i].name);
        if (i > x->shared + 1)
            sp_buf_ch(b, ',');
        sp_json_string(b, n.p, n.n);
    }
    sp_buf_puts(b, "],\"node\":{");
    if (x->extra.len > l->extra)
        sp_buf_add(b, x->extra.data + l->extra, x->extra.len - l->extra);
    sp_buf_puts(b, "}}");
    struct sp_extension e = {SP_STR_FAIL};
    if (!b->failed && !x->extra.failed)
        e.json = sp_unique_text(&x->p->strs, (struct sp_span){b->data, b->len}, x->d);
    if (e.json == SP_STR_FAIL || !sp_vec_push(&x->p->extensions, e))
        return nomem(x);
    x->shared = x->levels.n - 1;
    return SPAA_OK;
}

/* Behind its children a node may still say where it is: their stacks have another frame then. */
static bool late_place(struct graph *x, const struct level *l)
{
    struct sp_profile *p = x->p;
    size_t depth = x->levels.n - 1;
    uint32_t f = sp_cg_frame_of(x, l);
    if (f == SP_NONE)
        return false;
    for (size_t s = l->first_stack; s < p->stacks.n; s++)
        p->stack_frames.v[p->stacks.v[s].first + p->stacks.v[s].n - depth] = f;
    return true;
}

/* Children that stand twice, where their names do not ascend. */
static void find_duplicates(struct graph *x, const struct level *l)
{
    uint32_t serial = ++x->serial;
    for (size_t i = l->children; i < x->children.n; i++) {
        const struct child *c = &x->children.v[i];
        struct name_text *t = &x->name_texts.v[c->name];
        if (t->stamp == serial) {
            x->duplicates++;
            sp_emit(x->d, SP_W475, SP_AT(c->at), "`%.*s`", (int)(t->n < 100 ? t->n : 100), t->p);
        }
        t->stamp = serial;
    }
}

/* Back to so many levels. */
static inline void leave(struct graph *x, size_t levels)
{
    size_t depth = levels ? levels - 1 : 0;
    x->levels.n = levels;
    if (x->resolved > depth)
        x->resolved = depth;
    if (x->shared > depth)
        x->shared = depth;
}

static spaa_status close_node(struct graph *x)
{
    struct level *l = &x->levels.v[x->levels.n - 1];
    spaa_status st = x->cells.n ? sp_cg_flush(x) : SPAA_OK;
    if (st)
        return st;
    bool live = x->p->stacks.n > l->first_stack, root = l->name == SP_NONE;
    if (l->late && live && !late_place(x, l))
        return nomem(x);
    if (l->unsorted)
        find_duplicates(x, l);
    if (!live && l->place.file.n)
        kept(x, (struct sp_span){"file", 4}, l->place.file, false);
    if (!live && l->place.line.n)
        kept(x, (struct sp_span){"line", 4}, l->place.line, false);
    bool recorded = l->recorded;
    if (x->extra.len > l->extra || (!live && !recorded && !root)) {
        if ((st = record(x, l)))
            return st;
        recorded = true;
    }
    x->extra.len = l->extra;
    x->children.n = l->children;
    if (!root)
        l[-1].recorded |= recorded;
    leave(x, x->levels.n - 1);
    return SPAA_OK;
}

static spaa_status more_levels(struct graph *x)
{
    if (x->levels.n >= LEVELS_MAX) {
        sp_emit(x->d, SP_E007, SP_AT((uint64_t)(x->j->p - x->j->start)), "more than %zu levels", LEVELS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (!sp_vec_reserve(&x->levels, x->levels.n + 1))
        return nomem(x);
    x->level_room = x->levels.cap < LEVELS_MAX ? x->levels.cap : LEVELS_MAX;
    return SPAA_OK;
}

/* name NULL: the root's. */
static inline spaa_status push_level(struct graph *x, const struct name *name)
{
    spaa_status st;
    if (x->levels.n >= x->level_room && (st = more_levels(x)))
        return st;
    /* Member by member: a structure of this size would be cleared in a slow way first. */
    struct level *l = &x->levels.v[x->levels.n++];
    l->name = name ? name->number - 1 : SP_NONE;
    l->plain = name ? name->plain : SP_NONE;
    l->last = SP_NONE;
    l->last_head = 0;
    l->first_stack = (uint32_t)x->p->stacks.n;
    l->in_children = l->unsorted = l->late = l->recorded = l->flushed = false;
    l->children = x->children.n;
    l->extra = x->extra.len;
    l->place.file = l->place.line = (struct sp_span){NULL, 0};
    return SPAA_OK;
}

/* Whether the child comes behind the one before, by the bytes of their names. */
static inline bool ascends(const struct graph *x, const struct level *l, const struct name *name,
                           uint64_t head)
{
    if (head != l->last_head)
        return head > l->last_head; /* zeros behind a shorter one: what is equal so far goes on below */
    const struct name_text *a = &x->name_texts.v[l->last], *b = &x->name_texts.v[name->number - 1];
    int c = memcmp(x->names[a->at].head, name->head, HEAD);
    if (!c)
        c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
    return c ? c < 0 : a->n < b->n;
}

/* The cursor stands at the brace of a child. */
static inline __attribute__((always_inline)) spaa_status enter(struct graph *x, const struct name *name)
{
    struct sp_json *j = x->j;
    struct level *l = &x->levels.v[x->levels.n - 1];
    struct child c = {(uint64_t)(j->p - j->start), name->number - 1};
    uint64_t head = __builtin_bswap64(load(name->head));
    if (l->last != SP_NONE && !ascends(x, l, name, head))
        l->unsorted = true;
    l->last = c.name;
    l->last_head = head;
    if (!sp_vec_push(&x->children, c))
        return nomem(x);
    j->p++;
    j->first = true;
    return push_level(x, name);
}

static spaa_status open_child(struct graph *x, struct sp_span key)
{
    struct sp_json *j = x->j;
    uint32_t name = sp_cg_name(x, key);
    if (name == SP_NONE)
        return nomem(x);
    if (j->p >= j->end || *j->p != '{') {
        uint64_t at = (uint64_t)(j->p - j->start);
        if (sp_json_type(j) != SP_JSON_OBJECT) {
            struct sp_span raw;
            if (sp_json_skip(j, &raw))
                sp_emit(x->d, SP_L300, SP_AT(at), "the child `%.*s` is no object",
                        (int)(key.n < 100 ? key.n : 100), name_text(x, x->names[name].number - 1).p);
            return SPAA_OK;
        }
        j->p = blanks(j->p, j->end);
    }
    return enter(x, &x->names[name]);
}

#define USUAL 128 /* bytes of text in which what is usual can be looked for without asking for the end */

/* Behind `"key":`, and a blank as Python writes one; NULL: another key. */
static inline const char *value_of(const char *p, const char *quoted, size_t n)
{
    return memcmp(p, quoted, n) == 0 ? p + n + (p[n] == ' ') : NULL;
}
#define VALUE_OF(p, key) value_of(p, "\"" key "\":", sizeof key + 2)

/* Where the next member begins, where that can be told at a glance; NULL: it cannot. */
static inline const char *next_member(const struct sp_json *j)
{
    const char *p = j->p;
    if (j->end - p < USUAL || (!j->first && *p++ != ','))
        return NULL;
    p += *p == ' ';
    return *p == '"' ? p : NULL;
}

/*
 * Children as most files have them: a short name, its node, and the first child of that. False: it is not of
 * this kind, or is none.
 */
static inline bool quick_children(struct graph *x, spaa_status *st)
{
    struct sp_json *j = x->j;
    const char *p = next_member(j), *v;
    struct key k;
    for (bool any = false; p; any = true) {
        if (j->end - p < USUAL || *p != '"' || !short_key(++p, &k) || p[k.n + 1] != ':')
            return any;
        const char *brace = p + k.n + 2 + (p[k.n + 2] == ' ');
        if (*brace != '{')
            return any;
        uint32_t name = short_name(x, &k, p);
        j->p = brace;
        if ((*st = name == SP_NONE ? nomem(x) : enter(x, &x->names[name])))
            return true;
        if (!(v = VALUE_OF(brace + 1, "children")) || *v != '{')
            return true;
        p = j->p = v + 1;
        x->levels.v[x->levels.n - 1].in_children = true;
    }
    return false;
}

/* Closes nodes that have nothing to say behind their children, of which some had counts. */
static inline bool quick_close(struct graph *x)
{
    struct sp_json *j = x->j;
    struct level *l = &x->levels.v[x->levels.n - 1];
    const char *p = j->p;
    size_t stacks = x->p->stacks.n;
    while (j->end - p >= 2 && p[0] == '}' && p[1] == '}' && l->in_children && l->last != SP_NONE &&
           !l->late && !l->unsorted && l->extra == x->extra.len && l->first_stack < stacks &&
           l > x->levels.v) {
        l[-1].recorded |= l->recorded;
        x->children.n = l->children;
        l--;
        p += 2;
    }
    if (p == j->p)
        return false;
    j->p = p;
    j->first = false;
    leave(x, (size_t)(l - x->levels.v) + 1);
    return true;
}

/* "[12]"; NULL: something else. */
static inline const char *behind_line(const char *p)
{
    const char *digits = p + 1;
    if (*p != '[' || *digits == '0')
        return NULL;
    for (p = digits; (unsigned char)(*p - '0') < 10 && p - digits < 10;)
        p++;
    return p > digits && *p == ']' ? p + 1 : NULL;
}

/* A node's place as it usually is; `behind` its value, or NULL. */
static inline bool take_place(struct graph *x, struct level *l, struct sp_span *into, const char *v,
                              const char *behind)
{
    if (!behind || l->name == SP_NONE)
        return false;
    *into = (struct sp_span){v, (size_t)(behind - v)};
    l->late = l->late || x->resolved >= x->levels.n - 1;
    x->j->p = behind;
    x->j->first = false;
    return true;
}

static inline void open_member(struct sp_json *j, const char *brace)
{
    j->p = brace + 1;
    j->first = true;
}

static spaa_status usual_counts(struct graph *x)
{
    struct sp_json *j = x->j;
    if (!count_members(x))
        return SPAA_ERR_INPUT;
    if (j->p >= j->end || *j->p != '}')
        return SPAA_OK;
    j->p++;
    return close_node(x);
}

/* The members that most nodes have, as most files write them: no need to look at them byte by byte. */
static inline bool usual_member(struct graph *x, struct level *l, spaa_status *st)
{
    struct sp_json *j = x->j;
    const char *p = next_member(j), *v;
    if (!p)
        return false;
    if ((v = VALUE_OF(p, "children")) && *v == '{') {
        if (x->cells.n)
            *st = sp_cg_flush(x);
        l->in_children = true;
        open_member(j, v);
        return true;
    }
    if ((v = VALUE_OF(p, "counts")) && *v == '{') {
        open_member(j, v);
        *st = usual_counts(x);
        return true;
    }
    if ((v = VALUE_OF(p, "file")))
        return take_place(x, l, &l->place.file, v, *v == '"' ? plain_string(v + 1, j->end) : NULL);
    return (v = VALUE_OF(p, "line")) && take_place(x, l, &l->place.line, v, behind_line(v));
}

static spaa_status walk(struct graph *x)
{
    struct sp_json *j = x->j;
    spaa_status st = push_level(x, NULL);
    if (!st && !sp_json_object(j))
        return SPAA_ERR_INPUT;
    while (!st && x->levels.n) {
        struct level *l = &x->levels.v[x->levels.n - 1];
        struct sp_span key;
        if ((size_t)(j->p - j->start) - x->noted > NOTE_EVERY) {
            x->noted = (size_t)(j->p - j->start);
            sp_input_note(x->g->in, x->noted);
        }
        if (l->in_children ? quick_close(x) || quick_children(x, &st) : usual_member(x, l, &st)) {
            ;
        } else if (next_key(j, &key)) {
            if (l->in_children)
                st = open_child(x, key);
            else if (!read_member(x, key, &st) && !st)
                st = j->error ? SPAA_ERR_INPUT : st;
        } else if (j->error) {
            st = SPAA_ERR_INPUT;
        } else if (l->in_children) {
            l->in_children = false;
            if (l->last == SP_NONE)
                kept(x, (struct sp_span){"children", 8}, (struct sp_span){"{}", 2}, false);
            if (j->p < j->end && *j->p == '}') { /* mostly they are a node's last member */
                j->p++;
                st = close_node(x);
            }
        } else {
            st = close_node(x);
        }
        if (!st && (x->extra.failed || x->text.failed))
            st = nomem(x);
        if (!st && j->error)
            st = SPAA_ERR_INPUT;
    }
    return st;
}

/* Room ahead of time, as far as it is to be had: tables that stay in place keep their large pages. */
static void expect(struct graph *x, size_t bytes)
{
    if (bytes < EXPECT_MIN)
        return;
    (void)!sp_vec_reserve(&x->p->stack_frames, bytes / 4);
    (void)!sp_vec_reserve(&x->p->stacks, bytes / 96);
}

spaa_status sp_cg_read_graph(struct sp_cg_graph *g, struct sp_json *j)
{
    struct graph x = {.g = g, .j = j, .p = g->p, .d = g->d, .noted = (size_t)(j->p - j->start)};
    x.frames_max = FRAMES_FREE + (size_t)(j->end - j->start);
    sp_buf_init(&x.extra, 0);
    sp_buf_init(&x.text, 0);
    sp_arena_init(&x.texts, 0);
    expect(&x, (size_t)(j->end - j->p));
    spaa_status st = walk(&x);
    if (st == SPAA_ERR_INPUT && j->scratch.failed) {
        st = nomem(&x);
    }
    if ((!st || st == SPAA_ERR_INPUT) && x.duplicates) {
        spaa_status merged = sp_cg_merge_equal(&x);
        st = merged ? merged : st;
    }
    sp_cg_graph_free(&x);
    return st;
}
