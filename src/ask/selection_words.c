/* A selection in words, as the answers of questions and the other commands that have one say it. */
#include "ask/selection_words.h"

#include "analysis/chains.h"
#include "answer/words.h"
#include "model/off_cpu.h"

#include <string.h>

/* What waits counts as idle: waits for work, and threads of the kernel in the state for that, which no view
 * has. */
static void kept_idle(struct sp_buf *b, const struct sp_selection *s, int64_t by_state)
{
    sp_buf_puts(b, "; idle ");
    sp_text_weight(b, s->unit, s->scale, s->left_out + by_state);
    if (!by_state) {
        sp_buf_puts(b, " is out (--idle)");
        return;
    }
    sp_buf_puts(b, " is out: ");
    sp_text_weight(b, s->unit, s->scale, s->left_out);
    sp_buf_puts(b, " (--idle), ");
    sp_text_weight(b, s->unit, s->scale, by_state);
    sp_buf_puts(b, " of threads of the kernel in state IDLE (--view all)");
}

void sp_kept_text(struct sp_buf *b, const struct sp_selection *s, const char *before)
{
    if (!s->view && !s->filters.len)
        return;
    if (!s->filters.len && strcmp(s->view, "all") == 0 && (s->cannot_add || s->kept == s->event_whole))
        return;
    sp_buf_puts(b, before);
    bool said = s->filters.len && memmem(s->filters.data, s->filters.len, "--view ", 7);
    bool view = s->view && !said && strcmp(s->view, "custom") != 0; /* else it is among the filters */
    bool part = s->cannot_add || s->kept != s->event_whole, more = view && strcmp(s->view, "all") != 0;
    if (view)
        sp_buf_printf(b, "view %s", s->view);
    if (s->filters.len) {
        sp_buf_puts(b, view ? ", " : "");
        sp_buf_add(b, s->filters.data, s->filters.len);
    }
    if (!s->cannot_add && !part) {
        sp_buf_puts(b, " keeps all");
    } else if (!s->cannot_add) {
        sp_buf_puts(b, " keeps ");
        sp_text_weight(b, s->unit, s->scale, s->kept);
        sp_buf_puts(b, ", ");
        sp_text_percent(b, s->kept, s->event_whole);
        sp_buf_puts(b, "% of the event's ");
        sp_text_weight(b, s->unit, s->scale, s->event_whole);
    }
    sp_buf_puts(b, part && more && !s->left_out ? " (--view all)" : "");
    if (s->left_out)
        kept_idle(b, s, more && !s->filters.len ? s->event_whole - s->kept - s->left_out : 0);
}

void sp_states_text(struct sp_buf *b, const struct sp_selection *s)
{
    const struct sp_state_shares *x = &s->states;
    const char *between = "; ";
    int most = SP_SHARE_UNSTATED;
    if (!x->known || x->of[SP_SHARE_RUNNING] == x->whole)
        return;
    bool by_leaf = sp_str_is(sp_pstr(s->profile, s->profile->events.v[s->event].name), "sample");
    bool perhaps = by_leaf || x->of[SP_SHARE_UNSTATED];
    int64_t runs = x->of[SP_SHARE_RUNNING] + x->of[SP_SHARE_UNSTATED];
    sp_buf_puts(b, perhaps ? "perhaps running " : "running ");
    sp_text_weight(b, s->unit, s->scale, runs);
    sp_buf_puts(b, " of ");
    sp_text_count(b, (uint64_t)x->whole, "sample");
    for (int k = SP_SHARE_RUNNING + 1; k < SP_SHARES; k++) {
        if (!x->of[k] || k == SP_SHARE_UNSTATED)
            continue;
        sp_buf_printf(b, "%s%s ", between, sp_share_names[k]);
        sp_text_weight(b, s->unit, s->scale, x->of[k]);
        sp_buf_puts(b, " (");
        sp_text_percent(b, x->of[k], x->whole);
        sp_buf_puts(b, "%)");
        between = ", ";
        /* An example: waits, where there are some, else what there is most of. */
        bool more = most == SP_SHARE_UNSTATED || (most != SP_SHARE_WAITING && x->of[k] > x->of[most]);
        if (*sp_share_states[k] && (k == SP_SHARE_WAITING || more))
            most = k;
    }
    sp_buf_puts(b, ": --by state");
    if (most != SP_SHARE_UNSTATED)
        sp_buf_printf(b, ", --state %.*s", (int)strcspn(sp_share_states[most], ","), sp_share_states[most]);
    if (by_leaf)
        sp_buf_puts(b, "; known by the innermost function, sample(1) states none");
}

bool sp_selection_at_least(const struct sp_selection *s)
{
    bool at_least = false;
    for (size_t i = 0; !at_least && sp_measures_off_cpu(s->profile, s->event) && i < s->rows.n; i++)
        at_least = sp_off_cpu_at_least(s->profile, s->rows.v[i].stack);
    return at_least;
}

bool sp_selection_none_certain(const struct sp_selection *s)
{
    return !s->cannot_add && s->whole == 0 && sp_selection_at_least(s);
}

/* ", whole 2.62 s, 1,308 samples"; where weights are samples only once. */
static void heading_whole(struct sp_buf *b, const struct sp_selection *s, struct sp_str metric)
{
    bool samples = s->whole_samples != SP_ABSENT;
    bool once = samples && !s->cannot_add && !s->unit.n && !s->scale && s->whole == s->whole_samples &&
                sp_str_is(metric, "samples");
    if (s->cannot_add) {
        sp_buf_puts(b, "; values of this metric must not be added: shares are left out");
    } else {
        sp_buf_puts(b, sp_selection_at_least(s) ? ", whole ≥ " : ", whole ");
        if (!once)
            sp_text_weight(b, s->unit, s->scale, s->whole);
        if (sp_selection_none_certain(s))
            sp_buf_puts(b, ": none of it is certain, spaa waits says what it may be");
    }
    if (samples) {
        sp_buf_puts(b, once ? "" : ", ");
        sp_text_count(b, (uint64_t)s->whole_samples, "sample");
    }
}

void sp_owner_text(struct sp_buf *b, const struct sp_selection *s, const char *before)
{
    if (s->owners && s->allocators)
        sp_buf_printf(b, "%sby owner, --allocators %s", before, s->allocators);
    else if (s->owners)
        sp_buf_printf(b, "%sby owner (--keep-allocators: by what handed it out)", before);
}

void sp_heading_text(struct sp_buf *b, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name),
                  metric = sp_pstr(p, p->metrics.v[s->metric].name);
    sp_buf_puts(b, "event ");
    sp_buf_add(b, event.p, event.n);
    sp_buf_puts(b, ", metric ");
    sp_buf_add(b, metric.p, metric.n);
    if (s->unit.n)
        sp_buf_printf(b, " (%.*s)", (int)s->unit.n, s->unit.p);
    if (s->at)
        sp_buf_printf(b, s->at[strspn(s->at, "0123456789.")] ? " at the %s" : " at %s s", s->at);
    heading_whole(b, s, metric);
    sp_owner_text(b, s, "; ");
    sp_kept_text(b, s, "; ");
    if (p->events.n > 1) {
        sp_buf_puts(b, "; ");
        sp_text_count(b, p->events.n - 1, "other event");
        sp_buf_puts(b, " (--event)");
    }
}

void sp_bounds_text(struct sp_buf *b, const struct sp_selection *s)
{
    if (!sp_chains_tell(s))
        return;
    sp_chains_words(s, b);
    sp_buf_puts(b, "; ");
    sp_chains_hint(s, b);
}

void sp_bounds_brief(struct sp_buf *b, const struct sp_selection *s)
{
    const struct sp_chains *c = s->chains;
    if (!sp_chains_tell(s))
        return;
    sp_buf_puts(b, "callers are missing in ");
    sp_text_percent(b, c->broken, c->of);
    sp_buf_printf(b, "%% of the weight: %s (-v says why)",
                  c->filtered ? "filters of frames miss stacks whose frames are missing"
                              : "totals are at least what they say, self is exact");
}

void sp_bounds_report(const struct sp_selection *s, struct sp_diags *d)
{
    struct sp_buf words, hint;
    if (!sp_chains_tell(s))
        return;
    sp_buf_init(&words, 0);
    sp_buf_init(&hint, 0);
    sp_chains_words(s, &words);
    sp_chains_hint(s, &hint);
    if (words.failed || hint.failed)
        d->lost++;
    else
        sp_emit_hint(d, SP_W612, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", sp_buf_cstr(&words));
    sp_buf_free(&words);
    sp_buf_free(&hint);
}
