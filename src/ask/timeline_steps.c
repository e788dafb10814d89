/* The steps of a timeline report in timeline. */
#include "ask/timeline_steps.h"

#include "analysis/sample_times.h"
#include "base/num.h"
#include "json/find.h"

void sp_timeline_steps_facts(struct sp_asked *x, const struct sp_step_ranges *r, const struct sp_timeline *t)
{
    sp_fact_count(x->out, "steps.last", r->last);
    sp_fact_count(x->out, "steps.interval_ns", r->interval_ns);
    sp_fact_count(x->out, "steps.not_told_apart", x->s.kept - t->covered);
}

void sp_timeline_steps_say(struct sp_asked *x, const struct sp_step_ranges *r, const struct sp_timeline *t)
{
    struct sp_buf *b = &x->b;
    int64_t rest = x->s.kept - t->covered;
    char interval[64];
    sp_buf_clear(b);
    sp_scaled_text(r->interval_ns, 6, interval);
    sp_buf_printf(b, "by the steps of the report: %lld, %s ms each", (long long)r->last, interval);
    if (rest > 0) {
        sp_buf_puts(b, "; weights are at least what they say: of ");
        sp_text_count(b, (uint64_t)rest, "sample");
        sp_buf_puts(b, " it is not said in which steps they were");
    }
    sp_answer_line_buf(x->out, b);
}

/* How many steps the report has, "100 (10ms sampling interval)", which its threads need not have been there
 * for. 0: it does not say. */
static int64_t steps_stated(const struct sp_profile *p)
{
    struct sp_str extra = sp_pstr(p, p->header.extra_json);
    struct sp_span fields, pair, key, value;
    int64_t steps = 0;
    if (!extra.n || !sp_json_find2((struct sp_span){extra.p, extra.n}, "x_spindump", "fields", &fields))
        return 0;
    while (sp_json_next(&fields, &pair))
        if (sp_json_next(&pair, &key) && sp_span_is(key, "\"Steps\"") && sp_json_next(&pair, &value) &&
            value.n > 1 && sp_parse_i64(value.p + 1, value.p + value.n, &steps))
            return steps;
    return 0;
}

spaa_status sp_timeline_steps_find(struct sp_ask *q, struct sp_step_ranges *r, bool *steps)
{
    const struct sp_profile *p = q->profiles[0];
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    *steps = false;
    if (p->samples || p->windows.n || !(sp_str_is(tool, "spindump") || sp_str_is(tool, "sample")))
        return SPAA_OK;
    if (sp_say_no_steps(p, q->diags))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_step_ranges_of(p, q->diags, r);
    if (!st && (r->interval_ns == SP_ABSENT || !r->last))
        st = sp_usage(q->diags, "the line `Steps:` of its header says it",
                      "the report does not say how long a step is");
    if (!st && steps_stated(p) > r->last)
        r->last = steps_stated(p);
    *steps = !st;
    return st;
}
