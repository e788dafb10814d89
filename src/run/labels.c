/* Labels that the options ask for: their keys, stacks told apart by them, and stacks that show them. */
#include "run/run.h"

#include "analysis/event_fields.h"
#include "analysis/label_filters.h"
#include "analysis/regroup.h"
#include "analysis/tags.h"

#include <stdlib.h>

void sp_run_label_keys_free(struct sp_run_keys *k)
{
    for (size_t i = 0; i < k->list.n; i++)
        free((char *)k->list.v[i]);
    sp_vec_free(&k->list);
}

static bool labels_add(struct sp_run_keys *k, const char *p, size_t n)
{
    char *key = n ? malloc(n + 1) : NULL;
    if (!n)
        return true;
    if (key) {
        memcpy(key, p, n);
        key[n] = '\0';
    }
    if (key && sp_vec_push(&k->list, key))
        return true;
    free(key);
    return false;
}

/* The keys of a list: of its words label:KEY, and `queue`, which is one of these; or, with all, its words. */
static bool labels_add_list(struct sp_run_keys *k, const char *list, bool all)
{
    const size_t lead = all ? 0 : 6;
    bool ok = true;
    while (ok && list && *list) {
        size_t n = strcspn(list, ",");
        if (all || (n > lead && memcmp(list, "label:", lead) == 0))
            ok = labels_add(k, list + lead, n - lead);
        else if (n == 5 && memcmp(list, "queue", n) == 0)
            ok = labels_add(k, list, n);
        list += n;
        list += *list == ',';
    }
    return ok;
}

bool sp_run_label_keys(struct sp_run *run)
{
    const char *const *filters;
    struct sp_run_keys *k = &run->needed;
    size_t n = sp_option_labels(&run->v, &filters);
    sp_run_label_keys_free(&run->grouping);
    sp_run_label_keys_free(k);
    bool ok = labels_add_list(&run->grouping, run->v.group_by, false) &&
              labels_add_list(k, run->v.group_by, false) && labels_add_list(k, run->v.tagroot, true) &&
              labels_add_list(k, run->v.tagleaf, true) && labels_add_list(k, run->v.by, false);
    for (size_t i = 0; ok && i < n; i++) {
        struct sp_str key = sp_label_filter_key(filters[i]);
        ok = labels_add(k, key.p, key.n);
    }
    run->kept = (struct sp_label_keys){k->list.v, k->list.n};
    return ok || sp_nomem(run->diags) == SPAA_OK;
}

bool sp_run_needs_labels(const struct sp_run *run)
{
    return run->v.label || run->v.tagroot || run->v.tagleaf ||
           (run->v.group_by && strstr(run->v.group_by, "label:")) ||
           (run->v.by && (strstr(run->v.by, "label:") || strstr(run->v.by, "queue")));
}

static bool labels_there(const struct sp_run *run, const char *key)
{
    return sp_labels_have(run->profile, (struct sp_str){key, (uint32_t)strlen(key)});
}

/* Queues are facts of threads, beside which contexts have labels where a thread served several: of the others
 * they are to be made yet. */
static bool labels_made(const struct sp_run *run, const char *key)
{
    for (size_t i = 0; strcmp(key, "queue") == 0 && i < run->profile->threads.n; i++)
        if (run->profile->threads.v[i].queue)
            return false;
    return labels_there(run, key);
}

/* Fields that rows are of by default: those of the event asked about. */
static bool labels_of_event(struct sp_run *run)
{
    const struct sp_profile *p = run->profile;
    struct sp_by_list by;
    const char *what;
    uint32_t event = sp_event_of_fields(p, run->v.event, run->v.metric);
    bool ok = true;
    if (event == SP_NONE || !p->samples || !sp_event_fields(sp_pstr(p, p->events.v[event].name), &by, &what))
        return true;
    for (size_t k = 0; ok && k < by.n; k++)
        if (by.v[k].kind == SP_TOP_LABEL)
            ok = labels_add(&run->needed, by.v[k].label.p, by.v[k].label.n);
    run->kept = (struct sp_label_keys){run->needed.list.v, run->needed.list.n};
    return ok;
}

spaa_status sp_run_regroup_labels(struct sp_run *run)
{
    SP_VEC(const char *) missing = {0};
    if (!sp_run_needs_labels(run) && !run->needs.fields)
        return SPAA_OK;
    bool ok = sp_run_label_keys(run) && (!run->needs.fields || labels_of_event(run));
    for (size_t i = 0; ok && i < run->needed.list.n; i++)
        if (!labels_made(run, run->needed.list.v[i]))
            ok = sp_vec_push(&missing, run->needed.list.v[i]);
    struct sp_label_keys keys = {missing.v, missing.n};
    spaa_status st = !ok      ? sp_nomem(run->diags)
                     : keys.n ? sp_regroup_labels(run->profile, &keys, run->diags)
                              : SPAA_OK;
    run->regrouped = run->regrouped || keys.n;
    sp_vec_free(&missing);
    for (size_t i = 0; !st && i < run->grouping.list.n; i++)
        if (!labels_there(run, run->grouping.list.v[i]))
            st = sp_no_label(run->profile, "group-by label:", run->grouping.list.v[i], run->diags);
    return st;
}

spaa_status sp_run_tag_stacks(struct sp_run *run)
{
    if (!run->v.tagroot && !run->v.tagleaf)
        return SPAA_OK;
    return sp_tag_stacks(run->profile, run->v.tagroot, run->v.tagleaf, run->diags);
}
