/*
 * Checks a CodeGuru profile: what the service would refuse, or worse take and show nowhere, is an error; what
 * readers make less of than there is, a warning. One pass, which makes no profile.
 */
#include "formats/codeguru/validate.h"

struct top {
    struct sp_cg_check *c;
    struct sp_input *in;
    struct sp_cg_time start, end;
    struct sp_span agent;
    const char *graph;   /* NULL: there is none */
    bool counted;        /* some count is not zero, or it is no object that has any */
    unsigned members;    /* bits of those that were there */
    const char *member;  /* the one that it is at; NULL: none that is known */
    struct sp_buf where; /* in the call graph, where that is no JSON from somewhere on */
};

enum { START, END, CALLGRAPH, AGENT, TOP };
static const char *const top_names[TOP] = {"start", "end", "callgraph", "agentMetadata"};

static spaa_status check_top_member(struct top *t, struct sp_span key)
{
    struct sp_cg_check *c = t->c;
    struct sp_json *j = &c->j;
    struct sp_span raw;
    unsigned m = 0;
    while (m < TOP && !sp_span_is(key, top_names[m]))
        m++;
    if (m < TOP && t->members & 1u << m)
        sp_cg_find(c, SP_E491, j->p, top_names[m], NULL, "%s", top_names[m]);
    t->members |= m < TOP ? 1u << m : 0;
    t->member = m < TOP ? top_names[m] : NULL;
    sp_buf_clear(&t->where);
    if (m == TOP) /* of any length: it is only said where the text ends */
        sp_buf_add(&t->where, key.p, key.n < 60 ? key.n : 60);
    if (m == START || m == END) {
        sp_cg_check_time(c, top_names[m], m == START ? &t->start : &t->end);
    } else if (m == CALLGRAPH && !t->graph) {
        t->graph = j->p;
        if (sp_json_type(j) == SP_JSON_OBJECT)
            return sp_cg_check_graph(c, t->in, &t->counted, &t->where);
        t->counted = true;
        if (sp_json_skip(j, &raw))
            sp_cg_find(c, SP_E467, raw.p, "callgraph", NULL, "`callgraph` is no object");
    } else if (sp_json_skip(j, &raw) && m == AGENT) {
        t->agent = raw;
    }
    return SPAA_OK;
}

static void check_rest(const struct top *t)
{
    struct sp_cg_check *c = t->c;
    if (!t->graph)
        sp_cg_find(c, SP_E460, c->j.start, "callgraph", NULL, " ");
    else if (!t->counted)
        sp_cg_find(c, SP_E466, t->graph, "callgraph", "`spaa info FILE` shows what is in it",
                   "its call graph is empty");
    sp_cg_check_times(c, &t->start, &t->end);
    sp_cg_check_agent(c, t->agent, t->start.at && t->end.at ? t->end.ms - t->start.ms : 0);
}

/* Where the JSON ends, and in which member or node that is. */
static void damaged(struct top *t)
{
    struct sp_cg_check *c = t->c;
    const char *at = c->j.start + c->j.error_at, *end = c->j.end, *word = at + (at < end && *at == '-');
    bool python = (end - word >= 3 && memcmp(word, "NaN", 3) == 0) ||
                  (end - word >= 8 && memcmp(word, "Infinity", 8) == 0);
    sp_cg_find(c, sp_json_at_limit(&c->j) ? SP_E007 : SP_E468, at,
               t->where.len ? sp_buf_cstr(&t->where) : t->member,
               python ? "NaN and Infinity are Python's, and no numbers of JSON" : NULL, "%s", c->j.error);
}

/* Text that begins no object: another value, or no JSON at all. */
static spaa_status check_no_object(struct top *t, enum sp_json_type type)
{
    struct sp_cg_check *c = t->c;
    struct sp_span raw;
    const char *at = c->j.p;
    bool blank = at == c->j.end, value = sp_json_skip(&c->j, &raw);
    if (c->j.scratch.failed)
        return sp_nomem(c->d);
    if (!value && !blank && type != SP_JSON_ARRAY)
        damaged(t);
    else
        sp_cg_find(c, SP_E460, at, NULL, NULL, "%s",
                   type == SP_JSON_ARRAY    ? "the text is an array, not an object"
                   : type == SP_JSON_STRING ? "the text is a string, not an object"
                   : type == SP_JSON_NUMBER ? "the text is a number, not an object"
                   : type == SP_JSON_NULL   ? "the text is null, not an object"
                   : blank                  ? "the text is empty"
                                            : "the text is true or false, not an object");
    return SPAA_OK;
}

/* Checks the text up to where it is no JSON, which is an error as well. */
static spaa_status check_text(struct top *t)
{
    struct sp_cg_check *c = t->c;
    spaa_status st = SPAA_OK;
    enum sp_json_type type = sp_json_type(&c->j);
    if (type != SP_JSON_OBJECT)
        return check_no_object(t, type);
    sp_json_object(&c->j);
    for (struct sp_span key; !st && sp_json_key(&c->j, &key);) {
        st = check_top_member(t, key);
        if (!st && !c->j.error && c->j.p < c->j.end && *c->j.p == ',') { /* what follows is not in it */
            t->member = NULL;
            sp_buf_clear(&t->where);
        }
    }
    if (c->j.scratch.failed || (c->j.error && strcmp(c->j.error, "out of memory") == 0))
        return sp_nomem(c->d);
    if (st)
        return st;
    if (!c->j.error) {
        t->member = NULL;
        sp_buf_clear(&t->where);
    }
    if (!sp_json_end(&c->j))
        damaged(t);
    else
        check_rest(t);
    return c->nomem ? sp_nomem(c->d) : SPAA_OK;
}

/* Readers take off what stands around the text; a service is sent JSON, which has nothing of it. */
static void check_wrapping(struct sp_cg_check *c, unsigned wrapping)
{
    if (wrapping)
        sp_cg_find(c, SP_E466, c->j.start, NULL, "`spaa convert FILE -o NEW` writes it without",
                   wrapping & SP_WRAP_UTF32   ? "the text is UTF-32: JSON is UTF-8"
                   : wrapping & SP_WRAP_UTF16 ? "the text is UTF-16: JSON is UTF-8"
                   : wrapping & SP_WRAP_MARK
                       ? "the text begins with a byte order mark, which JSON does not have"
                       : "the text is quoted: its lines begin with `>`");
}

spaa_status sp_cg_validate(struct sp_input *in, struct sp_diags *d)
{
    const unsigned char *p;
    size_t n;
    unsigned wrapping = 0;
    spaa_status st = sp_input_wrapping(in, &wrapping);
    if (!st)
        st = sp_input_whole(in, &p, &n);
    if (st)
        return st;
    struct sp_cg_check c = {.d = d, .line_at = (const char *)p};
    struct top t = {.c = &c, .in = in};
    sp_json_init(&c.j, (const char *)p, n);
    sp_buf_init(&t.where, 1 << 16);
    check_wrapping(&c, wrapping);
    st = sp_strtab_init(&c.names) ? check_text(&t) : sp_nomem(d);
    sp_json_free(&c.j);
    sp_strtab_free(&c.names);
    sp_vec_free(&c.counters);
    sp_buf_free(&t.where);
    sp_vec_free(&c.seen);
    return st;
}
