/* SPAA 1.0 in the table of formats. */
#include "formats/spaa/spaa.h"
#include "formats/spaa/validate/validate.h"
#include "json/find.h"

/* A record, by its type and a member that records of that type have: other streams of JSON have types too. */
static bool is_record(struct sp_span line)
{
    static const char *const types[][2] = {{"\"header\"", "version"}, {"\"dso\"", "name"},
                                           {"\"frame\"", "func"},     {"\"thread\"", "tid"},
                                           {"\"stack\"", "frames"},   {"\"sample\"", "stack_id"},
                                           {"\"window\"", "by_stack"}};
    struct sp_span type, member;
    if (!sp_json_find(line, "type", &type))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sp_span_is(type, types[i][0]))
            return sp_json_find(line, types[i][1], &member);
    return type.n > 3 && memcmp(type.p, "\"x_", 3) == 0;
}

/* A header that names the format, in any order; or, where the header is not the first line, records only. */
static int probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    const char *at = (const char *)p, *end = at + n;
    size_t good = 0, all = 0;
    for (const char *nl; at < end; at = nl ? nl + 1 : end) {
        nl = memchr(at, '\n', (size_t)(end - at));
        struct sp_span line = {at, (size_t)((nl ? nl : end) - at)}, format;
        while (line.n && (*line.p == ' ' || *line.p == '\t' || *line.p == '\r'))
            line = (struct sp_span){line.p + 1, line.n - 1};
        if (!line.n)
            continue;
        if (!all && *line.p != '{')
            return 0;
        if (!all && sp_json_find(line, "format", &format) && sp_span_is(format, "\"spaa\"")) {
            *reason = "a header of SPAA";
            return 90;
        }
        if (!nl && !whole && all)
            break;
        good += is_record(line);
        all++;
    }
    if (!good)
        return 0;
    *reason = "lines that are records of SPAA, but no header and fewer than 95 %";
    return good * 20 >= all * 19 ? 60 : 20;
}

static const struct sp_format_option options[] = {
    {"stack-ids", "content|local", "ids by content, which other runs share, or plain numbers of this file",
     SP_CAN_WRITE},
    {"plain", NULL, "the specification's own fields and records only, for readers that refuse others",
     SP_CAN_WRITE},
    {0},
};

const struct spaa_format spaa_format_spaa = {
    .name = "spaa",
    .title = "SPAA 1.0 (NDJSON of aggregated stacks)",
    .extensions = "spaa spaa.ndjson",
    .media_type = "application/x-ndjson",
    .comes_back = "every record; the same bytes for canonical input",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_CAN_VALIDATE | SP_CAN_STATE_OWN,
    .options = options,
    .probe = probe,
    .read = sp_spaa_read,
    .write = sp_spaa_write,
    .validate = sp_spaa_validate,
};
