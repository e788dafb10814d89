/* What the service has: {"profileTimes":[{"start":…},…],"nextToken":…}. */
#include "upload.h"

void upload_listed_free(struct listed *l)
{
    for (size_t i = 0; i < l->starts.n; i++)
        sp_buf_free(&l->starts.v[i]);
    sp_vec_free(&l->starts);
    sp_buf_free(&l->next);
}

/* {"start":"2026-01-01T00:00:00Z"}, or a number */
static bool read_start(struct sp_json *j, struct listed *l)
{
    struct sp_span key, v = {NULL, 0};
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        bool start = sp_span_is(key, "start");
        struct sp_buf b;
        if (!(sp_json_type(j) == SP_JSON_STRING ? sp_json_string_value(j, &v) : sp_json_skip(j, &v)))
            return false;
        if (!start)
            continue;
        sp_buf_init(&b, 4096);
        if (!sp_buf_add(&b, v.p, v.n) || !sp_vec_push(&l->starts, b)) {
            sp_buf_free(&b);
            return sp_json_fail(j, "out of memory");
        }
    }
    return !j->error;
}

bool upload_listed_read(const struct sp_buf *page, struct listed *l)
{
    struct sp_json j;
    struct sp_span key, v;
    bool found = false;
    sp_buf_clear(&l->next);
    sp_json_init(&j, page->len ? page->data : "", page->len);
    if (sp_json_object(&j)) {
        while (sp_json_key(&j, &key)) {
            if (sp_span_is(key, "profileTimes") && sp_json_array(&j)) {
                found = true;
                while (sp_json_item(&j) && read_start(&j, l))
                    ;
            } else if (sp_span_is(key, "nextToken") && sp_json_type(&j) == SP_JSON_STRING) {
                if (sp_json_string_value(&j, &v))
                    sp_buf_add(&l->next, v.p, v.n);
            } else if (!sp_json_skip(&j, &v)) {
                break;
            }
        }
    }
    bool ok = found && sp_json_end(&j) && !l->next.failed;
    sp_json_free(&j);
    return ok;
}
