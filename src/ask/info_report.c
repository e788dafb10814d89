/* `spaa info` on a hang report: the fields of its header, and the application in front. */
#include "ask/info.h"

#include "analysis/thread_info.h"
#include "json/find.h"

/* The fields that tell people what a report is of; all of them are facts. */
static const char *const shown[] = {"Reason",          "Data Source",     "Hardware model",
                                    "Memory size",     "Memory pressure", "Available memory",
                                    "Advisory levels", "Total CPU Time",  "Lost Perf",
                                    "Steps",           "Free disk space", "Time Since Boot"};

static bool report_pair(struct sp_span pair, struct sp_buf *key, struct sp_buf *value)
{
    struct sp_span item;
    sp_buf_clear(key);
    sp_buf_clear(value);
    return sp_json_next(&pair, &item) && sp_json_text_to(key, item) && sp_json_next(&pair, &item) &&
           sp_json_text_to(value, item);
}

static void report_words(struct sp_info *x, struct sp_span fields, struct sp_buf *key)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct sp_span rest = fields, pair;
        bool found = false;
        while (!found && sp_json_next(&rest, &pair))
            found = report_pair(pair, key, &x->b) && strcmp(sp_buf_cstr(key), shown[i]) == 0;
        if (found)
            sp_answer_line(x->out, "%-16s %s", shown[i], sp_buf_cstr(&x->b));
    }
    sp_buf_clear(&x->b);
}

static void report_facts(struct sp_info *x, struct sp_span fields, struct sp_buf *key)
{
    struct sp_span rest = fields, pair;
    sp_answer_open(x->out, "fields", '[');
    while (sp_json_next(&rest, &pair)) {
        if (!report_pair(pair, key, &x->b))
            continue;
        sp_answer_open(x->out, "", '[');
        sp_fact_text(x->out, "name", sp_buf_text(key), key->len);
        sp_fact_text(x->out, "value", sp_buf_text(&x->b), x->b.len);
        sp_answer_close(x->out);
    }
    sp_answer_close(x->out);
    sp_buf_clear(&x->b);
}

static void report_front(struct sp_info *x, const struct sp_reported_process *front)
{
    struct sp_answer *a = x->out;
    if (!front) {
        sp_fact_null(a, "frontmost");
        return;
    }
    struct sp_str name = sp_pstr(x->profile, front->name);
    if (x->q->brief)
        sp_answer_line(a, "%-16s %.*s [%lld]; `spaa waits` begins with its main thread", "Frontmost",
                       (int)name.n, name.p, (long long)front->pid);
    sp_answer_open(a, "frontmost", '{');
    sp_fact_text(a, "name", name.p, name.n);
    sp_fact_count(a, "pid", front->pid);
    sp_fact_count(a, "main_tid", front->main);
    sp_answer_close(a);
}

spaa_status sp_info_report(struct sp_info *x)
{
    struct sp_str more = sp_pstr(x->profile, x->profile->header.extra_json);
    const struct sp_reported_process *front = NULL;
    struct sp_thread_info info;
    struct sp_span fields;
    struct sp_buf key;
    if (!sp_json_find2((struct sp_span){more.p, more.n}, "x_spindump", "fields", &fields))
        return SPAA_OK;
    spaa_status st = sp_thread_info_of(x->profile, x->q->diags, &info);
    if (st)
        return st;
    for (size_t i = 0; !front && i < info.processes.n; i++)
        front = info.processes.v[i].frontmost ? &info.processes.v[i] : NULL;
    sp_buf_init(&key, 0);
    if (x->q->brief) {
        sp_answer_line(x->out, "%s", "");
        report_words(x, fields, &key);
    }
    sp_answer_open(x->out, "report", '{');
    if (!x->q->brief)
        report_facts(x, fields, &key);
    report_front(x, front);
    sp_answer_close(x->out);
    x->out->failed |= key.failed || x->b.failed;
    sp_buf_free(&key);
    sp_thread_info_free(&info);
    return SPAA_OK;
}
