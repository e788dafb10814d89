/* CodeGuru: what the format can do, its own options, and how its files look. */
#include "formats/codeguru/codeguru.h"

static const struct sp_format_option options[] = {
    {"fleet-instance-id", "ID", "the host the profile was taken on (default: its name)", SP_CAN_WRITE},
    {"host-type", "TYPE", "its kind, like c5.xlarge (default: unknown)", SP_CAN_WRITE},
    {"agent-type", "NAME", "who took the profile (default: spaa)", SP_CAN_WRITE},
    {"counter", "NAME", "count stacks without a thread state as this (default: by the event)", SP_CAN_WRITE},
    {"codeguru-names", "plain|module", "frames as `function` or `object:function` (default plain)",
     SP_CAN_WRITE},
    {"start", "TIME",
     "when the profile starts: milliseconds since 1970 or 2026-01-31T12:00:00Z; now: it ended just now",
     SP_CAN_WRITE},
    {0},
};

/* Whether the object at p, which may be cut, is a node of a call graph. */
static bool is_node(const char *p, const char *stop)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool found = false;
    sp_json_init(&j, p, (size_t)(stop - p));
    if (sp_json_object(&j))
        while (!found && sp_json_key(&j, &key)) {
            found = (sp_span_is(key, "children") || sp_span_is(key, "counts")) &&
                    sp_json_type(&j) == SP_JSON_OBJECT;
            if (!found && !sp_json_skip(&j, &raw))
                break;
        }
    sp_json_free(&j);
    return found;
}

struct seen {
    bool graph, node, agent, start, end; /* `callgraph` and `agentMetadata` are objects */
    unsigned keys, others;               /* of these names and agents' `debugInfo`; of any other */
};

/* The keys of the object at the cursor, as far as the text goes. */
static void look_at_keys(struct sp_json *j, struct seen *s)
{
    struct sp_span key, raw;
    if (!sp_json_object(j))
        return;
    while (sp_json_key(j, &key)) {
        bool object = sp_json_type(j) == SP_JSON_OBJECT, graph = sp_span_is(key, "callgraph"),
             agent = sp_span_is(key, "agentMetadata"), start = sp_span_is(key, "start"),
             end = sp_span_is(key, "end");
        s->node = s->node || (graph && object && is_node(j->p, j->end));
        s->graph = s->graph || (graph && object);
        s->agent = s->agent || (agent && object);
        s->start = s->start || start;
        s->end = s->end || end;
        if (graph || agent || start || end || sp_span_is(key, "debugInfo"))
            s->keys++;
        else
            s->others++;
        if (!sp_json_skip(j, &raw))
            return;
    }
}

/* A call graph somewhere in the text: "callgraph":{, and in that what a node has, or another key is there. */
static bool has_graph(const char *p, const char *stop, bool key)
{
    static const char quoted[] = "\"callgraph\"", agent[] = "\"agentMetadata\"";
    size_t n = sizeof quoted - 1;
    key = key || memmem(p, (size_t)(stop - p), agent, sizeof agent - 1);
    while ((p = memmem(p, (size_t)(stop - p), quoted, n))) {
        struct sp_json j;
        p += n;
        sp_json_init(&j, p, (size_t)(stop - p));
        sp_json_type(&j); /* goes to what follows the blanks */
        if (j.p < stop && *j.p++ == ':' && sp_json_type(&j) == SP_JSON_OBJECT && (key || is_node(j.p, stop)))
            return true;
    }
    return false;
}

/* The keys at the top of the object, as far as the prefix shows them; behind damage, what looks like them. */
int sp_cg_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    struct sp_json j;
    struct seen s = {0};
    const char *text = (const char *)p;
    (void)whole;
    sp_json_init(&j, text, n);
    bool array = sp_json_type(&j) == SP_JSON_ARRAY && sp_json_array(&j) && sp_json_item(&j);
    bool begun = sp_json_type(&j) == SP_JSON_OBJECT;
    look_at_keys(&j, &s);
    bool damaged = j.error != NULL;
    bool behind = damaged && begun && has_graph(text + j.error_at, text + n, s.keys);
    sp_json_free(&j);
    if ((s.graph && (s.agent || (s.start && s.end))) || behind) {
        *reason = array    ? "an array of JSON objects with `callgraph` and `agentMetadata`"
                  : behind ? "damaged JSON with a `callgraph`"
                           : "a JSON object with `callgraph` and `agentMetadata`";
        return array || behind ? 70 : 95;
    }
    if (!array && (s.node || (s.agent && s.start && s.end))) {
        *reason = "a JSON object with the keys of a CodeGuru profile";
        return 80;
    }
    *reason = s.graph ? "a JSON object with the key `callgraph`"
                      : "a JSON object with few keys but those of a CodeGuru profile";
    return s.graph ? 20 : s.keys > s.others * (damaged ? 1 : s.keys) ? 15 : 0;
}

const struct spaa_format spaa_format_codeguru = {
    .name = "codeguru",
    .title = "Amazon CodeGuru Profiler",
    .extensions = "codeguru.json codeguru",
    .media_type = "application/json",
    .comes_back = "equal JSON: every key and number; the same bytes where they were in canonical form",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS | SP_CAN_VALIDATE,
    .options = options,
    .probe = sp_cg_probe,
    .read = sp_cg_read,
    .write = sp_cg_write,
    .validate = sp_cg_validate,
};
