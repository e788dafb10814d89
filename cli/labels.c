/* Labels that the options ask for: their keys, stacks told apart by them, and stacks that show them. */
#include "cli.h"

#include "analysis/label_filters.h"
#include "analysis/regroup.h"
#include "analysis/tags.h"

#include <stdlib.h>

void cli_label_keys_free(struct cli_label_keys *k)
{
    for (size_t i = 0; i < k->list.n; i++)
        free((char *)k->list.v[i]);
    sp_vec_free(&k->list);
}

static bool labels_add(struct cli_label_keys *k, const char *p, size_t n)
{
    char *key = n ? strndup(p, n) : NULL;
    if (!n || (key && sp_vec_push(&k->list, key)))
        return true;
    free(key);
    return false;
}

/* The keys of a list: of its words label:KEY, or, with all, its words. */
static bool labels_add_list(struct cli_label_keys *k, const char *list, bool all)
{
    const size_t lead = all ? 0 : 6;
    bool ok = true;
    while (ok && list && *list) {
        size_t n = strcspn(list, ",");
        if (all || (n > lead && memcmp(list, "label:", lead) == 0))
            ok = labels_add(k, list + lead, n - lead);
        list += n;
        list += *list == ',';
    }
    return ok;
}

bool cli_label_keys(struct cli *c)
{
    const char *const *filters;
    struct cli_label_keys *k = &c->needed;
    size_t n = sp_option_labels(&c->v, &filters);
    cli_label_keys_free(&c->grouping);
    cli_label_keys_free(k);
    bool ok = labels_add_list(&c->grouping, c->v.group_by, false) &&
              labels_add_list(k, c->v.group_by, false) && labels_add_list(k, c->v.tagroot, true) &&
              labels_add_list(k, c->v.tagleaf, true) && labels_add_list(k, c->v.by, false);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_str key = sp_label_filter_key(filters[i]);
        ok = labels_add(k, key.p, key.n);
    }
    c->kept = (struct sp_label_keys){k->list.v, k->list.n};
    return ok || sp_nomem(&c->diags) == SPAA_OK;
}

bool cli_needs_labels(const struct cli *c)
{
    return c->v.label || c->v.tagroot || c->v.tagleaf || (c->v.group_by && strstr(c->v.group_by, "label:")) ||
           (c->v.by && strstr(c->v.by, "label:"));
}

static bool labels_there(const struct cli *c, const char *key)
{
    return sp_labels_have(c->profile, (struct sp_str){key, (uint32_t)strlen(key)});
}

spaa_status cli_regroup_labels(struct cli *c)
{
    SP_VEC(const char *) missing = {0};
    if (!cli_needs_labels(c))
        return SPAA_OK;
    bool ok = cli_label_keys(c);
    for (size_t i = 0; ok && i < c->needed.list.n; i++)
        if (!labels_there(c, c->needed.list.v[i]))
            ok = sp_vec_push(&missing, c->needed.list.v[i]);
    struct sp_label_keys keys = {missing.v, missing.n};
    spaa_status st = !ok      ? sp_nomem(&c->diags)
                     : keys.n ? sp_regroup_labels(c->profile, &keys, &c->diags)
                              : SPAA_OK;
    c->regrouped = c->regrouped || keys.n;
    sp_vec_free(&missing);
    for (size_t i = 0; !st && i < c->grouping.list.n; i++)
        if (!labels_there(c, c->grouping.list.v[i]))
            st = sp_no_label(c->profile, "group-by label", c->grouping.list.v[i], &c->diags);
    return st;
}

spaa_status cli_tag_stacks(struct cli *c)
{
    if (!c->v.tagroot && !c->v.tagleaf)
        return SPAA_OK;
    return sp_tag_stacks(c->profile, c->v.tagroot, c->v.tagleaf, &c->diags);
}
