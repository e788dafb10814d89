/* spaa info on a hang report: the fields of its header, and the application in front. */
#include "info.h"

#include "analysis/thread_info.h"
#include "render/text.h"
#include "json/find.h"

/* The fields that tell what a report is of; all of them are in the JSON answer. */
static const char *const shown[] = {"Reason",          "Data Source",     "Hardware model",
                                    "Memory size",     "Memory pressure", "Available memory",
                                    "Advisory levels", "Total CPU Time",  "Lost Perf",
                                    "Steps",           "Free disk space", "Time Since Boot"};

static bool fields_of(const struct sp_profile *p, struct sp_span *out)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    return sp_json_find2((struct sp_span){more.p, more.n}, "x_spindump", "fields", out);
}

static bool info_report_pair_of(struct sp_span pair, struct sp_buf *key, struct sp_buf *value)
{
    struct sp_span item;
    sp_buf_clear(key);
    sp_buf_clear(value);
    return sp_json_next(&pair, &item) && sp_json_text_to(key, item) && sp_json_next(&pair, &item) &&
           sp_json_text_to(value, item);
}

static void put_shown(struct cli *c, struct sp_span fields, struct sp_buf *key, struct sp_buf *value)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct sp_span rest = fields, pair;
        while (sp_json_next(&rest, &pair)) {
            if (!info_report_pair_of(pair, key, value) || strcmp(sp_buf_cstr(key), shown[i]) != 0)
                continue;
            struct sp_buf safe;
            sp_buf_init(&safe, 0);
            sp_text_safe(&safe, value->len ? value->data : "", value->len);
            sp_printf(c->out, "%-16s %s\n", shown[i], sp_buf_cstr(&safe));
            sp_buf_free(&safe);
            break;
        }
    }
}

static const struct sp_reported_process *info_report_frontmost(const struct sp_thread_info *f)
{
    for (size_t i = 0; i < f->processes.n; i++)
        if (f->processes.v[i].frontmost)
            return &f->processes.v[i];
    return NULL;
}

void info_report_text(struct cli *c)
{
    struct sp_span fields;
    struct sp_buf key, value;
    struct sp_thread_info info;
    if (!fields_of(c->profile, &fields))
        return;
    sp_buf_init(&key, 0);
    sp_buf_init(&value, 0);
    sp_puts(c->out, "\n");
    put_shown(c, fields, &key, &value);
    if (sp_thread_info_of(c->profile, &c->diags, &info) == SPAA_OK) {
        const struct sp_reported_process *front = info_report_frontmost(&info);
        if (front) {
            struct sp_str name = sp_pstr(c->profile, front->name);
            sp_buf_clear(&key);
            sp_text_safe(&key, name.p, name.n);
            sp_printf(c->out, "%-16s %s [%lld]; `spaa waits` begins with its main thread\n", "Frontmost",
                      sp_buf_cstr(&key), (long long)front->pid);
        }
        sp_thread_info_free(&info);
    }
    sp_buf_free(&key);
    sp_buf_free(&value);
}

void info_report_json(struct cli *c, struct sp_jw *w)
{
    struct sp_span fields;
    struct sp_thread_info info;
    if (!fields_of(c->profile, &fields))
        return;
    sp_jw_open(w, "report", '{');
    sp_jw_raw(w, "fields", fields.p, fields.n);
    if (sp_thread_info_of(c->profile, &c->diags, &info) == SPAA_OK) {
        const struct sp_reported_process *front = info_report_frontmost(&info);
        if (front) {
            struct sp_str name = sp_pstr(c->profile, front->name);
            sp_jw_open(w, "frontmost", '{');
            sp_jw_str(w, "name", name.p, name.n);
            sp_jw_i64(w, "pid", front->pid);
            if (front->main == SP_ABSENT)
                sp_jw_null(w, "main_tid");
            else
                sp_jw_i64(w, "main_tid", front->main);
            sp_jw_close(w, '}');
        } else {
            sp_jw_null(w, "frontmost");
        }
        sp_thread_info_free(&info);
    }
    sp_jw_close(w, '}');
}
