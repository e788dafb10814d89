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

/* The keys at the top of the object, as far as the prefix shows them. */
int sp_cg_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool graph = false, node = false, agent = false, start = false, end = false;
    (void)whole;
    sp_json_init(&j, (const char *)p, n);
    if (sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            bool object = sp_json_type(&j) == SP_JSON_OBJECT;
            if (sp_span_is(key, "callgraph") && object) {
                graph = true;
                node = node || is_node(j.p, j.end);
            }
            agent = agent || (sp_span_is(key, "agentMetadata") && object);
            start = start || sp_span_is(key, "start");
            end = end || sp_span_is(key, "end");
            if (!sp_json_skip(&j, &raw))
                break;
        }
    }
    sp_json_free(&j);
    if (graph && (agent || (start && end))) {
        *reason = "a JSON object with `callgraph` and `agentMetadata`";
        return 95;
    }
    if (node || (agent && start && end)) {
        *reason = "a JSON object with the keys of a CodeGuru profile";
        return 80;
    }
    *reason = "a JSON object with the key `callgraph`";
    return graph ? 20 : 0;
}

const struct spaa_format spaa_format_codeguru = {
    .name = "codeguru",
    .title = "Amazon CodeGuru Profiler",
    .extensions = "codeguru.json codeguru",
    .media_type = "application/json",
    .comes_back = "equal JSON: every key and number; the same bytes where they were in canonical form",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_CAN_VALIDATE,
    .options = options,
    .probe = sp_cg_probe,
    .read = sp_cg_read,
    .write = sp_cg_write,
    .validate = sp_cg_validate,
};
