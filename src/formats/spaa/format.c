/* SPAA 1.0 in the table of formats. */
#include "formats/spaa/spaa.h"
#include "formats/spaa/validate/validate.h"
#include "json/json.h"

/* The first line is a JSON object with "type":"header" or "format":"spaa" in it, in any order. */
static int probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    const char *s = (const char *)p;
    (void)whole;
    const char *nl = memchr(s, '\n', n);
    size_t line = nl ? (size_t)(nl - s) : n;
    struct sp_json j;
    struct sp_span key, v;
    int score = 0;
    sp_json_init(&j, s, line);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            bool type = sp_span_is(key, "type"), format = sp_span_is(key, "format");
            if ((!type && !format) || sp_json_type(&j) != SP_JSON_STRING) {
                if (!sp_json_skip(&j, &v))
                    break;
                continue;
            }
            if (!sp_json_string_value(&j, &v))
                break;
            if (format && sp_span_is(v, "spaa"))
                score += 60;
            static const char *const types[] = {"header", "dso",    "frame",  "thread",
                                                "stack",  "sample", "window", NULL};
            if (type && sp_name_index(types, v.p, v.n) >= 0)
                score += 30;
        }
    }
    sp_json_free(&j);
    if (score)
        *reason = "NDJSON whose first line is a SPAA record";
    return score;
}

static const struct sp_format_option options[] = {
    {"stack-ids", "content|local", "ids by content, which other runs share, or plain numbers of this file",
     SP_CAN_WRITE},
    {0},
};

const struct spaa_format spaa_format_spaa = {
    .name = "spaa",
    .title = "SPAA 1.0 (NDJSON of aggregated stacks)",
    .extensions = "spaa spaa.ndjson",
    .media_type = "application/x-ndjson",
    .comes_back = "every record; the same bytes for canonical input",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_CAN_VALIDATE,
    .options = options,
    .probe = probe,
    .read = sp_spaa_read,
    .write = sp_spaa_write,
    .validate = sp_spaa_validate,
};
