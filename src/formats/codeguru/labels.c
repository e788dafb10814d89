/*
 * Who recorded, and where it ran, as labels of all stacks, where they are asked for by name: profiles of many
 * hosts become one, whose header cannot say it any more.
 */
#include "formats/codeguru/codeguru.h"

/* The text of the first of these members that is one; in `b`, n 0: there is none. */
static struct sp_str codeguru_label_text(struct sp_span object, const char *const *keys, struct sp_buf *b)
{
    struct sp_span raw;
    for (; object.n && *keys; keys++) {
        sp_buf_clear(b);
        if (sp_json_find(object, *keys, &raw) && sp_json_text_to(b, raw) && b->len)
            return (struct sp_str){b->data, (uint32_t)b->len};
    }
    return (struct sp_str){"", 0};
}

/* "arn:aws:lambda:eu-west-1:…": its fourth part. */
static struct sp_str codeguru_region_of(struct sp_str arn)
{
    const char *p = arn.p, *end = p + arn.n, *colon = NULL;
    if (arn.n < 4 || memcmp(p, "arn:", 4) != 0)
        return arn;
    for (int i = 0; i < 3; i++) {
        colon = memchr(p, ':', (size_t)(end - p));
        if (!colon)
            return (struct sp_str){"", 0};
        p = colon + 1;
    }
    colon = memchr(p, ':', (size_t)(end - p));
    return (struct sp_str){p, (uint32_t)((colon ? colon : end) - p)};
}

bool sp_cg_labels(struct sp_profile *p, struct sp_span agent_metadata, const struct sp_label_keys *asked,
                  uint32_t *out)
{
    static const struct {
        const char *label, *object, *keys[4];
    } table[] = {
        {"agent", "agentInfo", {"type"}},
        {"fleet_instance", "fleetInfo", {"fleetInstanceId", "hostName", "id"}},
        {"host_type", "fleetInfo", {"hostType"}},
        {"compute_type", "fleetInfo", {"computeType", "type"}},
        {"container", "fleetInfo", {"taskArn"}},
        {"function_arn", "fleetInfo", {"functionArn"}},
        {"region", "fleetInfo", {"region", "taskArn", "functionArn"}},
    };
    struct sp_label_list list = {0};
    struct sp_buf b;
    bool ok = true;
    *out = 0;
    if (!asked || !asked->n || !agent_metadata.n)
        return true;
    sp_buf_init(&b, 0);
    for (size_t i = 0; ok && i < sizeof table / sizeof *table; i++) {
        struct sp_span object = sp_cg_member(agent_metadata, table[i].object);
        struct sp_str text = codeguru_label_text(object, table[i].keys, &b);
        if (strcmp(table[i].label, "region") == 0)
            text = codeguru_region_of(text);
        ok = !b.failed && sp_labels_ask(p, asked, table[i].label, text, &list);
    }
    *out = ok ? sp_labels_intern(p, list.list.v, list.list.n) : SP_NONE;
    sp_buf_free(&b);
    sp_vec_free(&list.list);
    return *out != SP_NONE;
}
