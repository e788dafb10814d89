/* The filters of a selection: what they keep, how they are said, and what there is when they keep nothing. */
#include "analysis/select_private.h"

#include "analysis/function_lookup.h"
#include "analysis/label_filters.h"
#include "analysis/match.h"
#include "analysis/state_shares.h"
#include "analysis/tags.h"
#include "analysis/who.h"
#include "base/nearest.h"
#include "base/num.h"
#include "model/labels.h"
#include "model/thread_names.h"

#include <stdlib.h>

static void filters_note(struct sp_selection *s, const char *name, const char *value)
{
    if (value)
        sp_buf_printf(&s->filters, "%s--%s%s%s", s->filters.len ? " " : "", name, *value ? " " : "", value);
}

/* The next of a list with commas, without blanks around it; false: there is none. */
static bool next_in_list(const char **list, struct sp_str *item)
{
    const char *s = *list + strspn(*list, " ,");
    size_t n = strcspn(s, ",");
    *list = s + n;
    while (n && s[n - 1] == ' ')
        n--;
    *item = (struct sp_str){s, (uint32_t)n};
    return n != 0;
}

static bool filters_in_list(const char *list, struct sp_str s)
{
    for (struct sp_str item; next_in_list(&list, &item);)
        if (sp_str_cmp(item, s) == 0)
            return true;
    return false;
}

/* What ran. The service that CodeGuru files are of has a CPU view with threads in it that wait for a lock. */
static bool state_ran(const struct sp_profile *p, uint32_t event, struct sp_str state)
{
    if (sp_str_is(state, "BLOCKED"))
        return event != SP_NONE && sp_str_is(sp_pstr(p, p->events.v[event].name), "codeguru");
    return sp_state_share_of(state) == SP_SHARE_RUNNING;
}

bool sp_state_in_view(const struct sp_profile *p, const char *view, uint32_t event, uint32_t number)
{
    struct sp_str state = sp_pstr(p, number);
    if (strcmp(view, "all") == 0 || number == SP_STR_NONE)
        return true;
    return strcmp(view, "cpu") == 0 ? state_ran(p, event, state) : !sp_str_is(state, "IDLE");
}

static bool state_fits(const struct sp_selection *s, const struct sp_select_opts *o, uint32_t number)
{
    if (o->state)
        return number != SP_STR_NONE && filters_in_list(o->state, sp_pstr(s->profile, number));
    return !s->view || sp_state_in_view(s->profile, s->view, s->event, number);
}

spaa_status sp_who_of(const struct sp_profile *p, const struct sp_select_opts *o, struct sp_diags *d,
                      unsigned char **out)
{
    unsigned char *threads = NULL, *comms = NULL, *labels = NULL;
    spaa_status st = o->thread ? sp_who_threads(p, o->thread, d, &threads) : SPAA_OK;
    if (!st && o->comm)
        st = sp_who_comms(p, o->comm, d, &comms);
    if (!st && o->nlabels)
        st = sp_label_contexts(p, o->labels, o->nlabels, d, &labels);
    unsigned char *all[] = {threads, comms, labels}, *who = NULL;
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; !st && who && all[k] && i < p->contexts.n; i++)
            who[i] = who[i] && all[k][i];
        who = who ? who : st ? NULL : all[k];
    }
    for (size_t k = 0; k < 3; k++)
        if (all[k] != who)
            free(all[k]);
    *out = who;
    return st;
}

bool sp_context_fits(const struct sp_selection *s, const struct sp_select_opts *o, const unsigned char *who,
                     uint32_t context)
{
    return state_fits(s, o, s->profile->contexts.v[context].state) &&
           sp_context_fits_but_state(s, o, who, context);
}

bool sp_context_fits_but_state(const struct sp_selection *s, const struct sp_select_opts *o,
                               const unsigned char *who, uint32_t context)
{
    const struct sp_context *c = &s->profile->contexts.v[context];
    if (c->event != s->event)
        return false;
    if (o->pid && (c->pid == SP_ABSENT || !sp_who_lists(o->pid, c->pid)))
        return false;
    return !who || who[context];
}

static spaa_status hide_frames(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    if (!o->hide && !o->user_only && !o->kernel_only)
        return SPAA_OK;
    unsigned char *functions = NULL;
    spaa_status st = o->hide ? sp_match_functions(p, o->hide, d, &functions) : SPAA_OK;
    if (st)
        return st;
    s->hidden = calloc(p->frames.n + 1, 1);
    for (size_t i = 0; s->hidden && i < p->frames.n; i++) {
        uint8_t kind = p->frames.v[i].kind;
        s->hidden[i] = (functions && functions[p->frames.v[i].function]) ||
                       (o->user_only && kind == SP_KERNEL) || (o->kernel_only && kind != SP_KERNEL);
    }
    free(functions);
    return s->hidden ? SPAA_OK : sp_nomem(d);
}

static spaa_status find_roots(struct sp_selection *s, const char *name, struct sp_diags *d)
{
    struct sp_function_lookup lookup;
    spaa_status st = sp_lookup_functions(s->profile, name, d, &lookup);
    if (st)
        return st;
    s->roots = lookup.hits;
    s->root = lookup.first;
    return SPAA_OK;
}

spaa_status sp_shape_frames(struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    s->no_inlined = o->merge_inlined;
    spaa_status st = hide_frames(s, o, d);
    if (!st && o->root_at)
        st = find_roots(s, o->root_at, d);
    return st;
}

void sp_frame_filters_free(struct sp_frame_filters *f)
{
    free(f->dso);
    free(f->focus);
    free(f->ignore);
}

spaa_status sp_frame_filters_of(const struct sp_profile *p, const struct sp_select_opts *o,
                                struct sp_diags *d, struct sp_frame_filters *f)
{
    f->user = o->user_only;
    f->kernel = o->kernel_only;
    f->any = o->dso || o->focus || o->ignore || o->user_only || o->kernel_only;
    spaa_status st = o->dso ? sp_match_dsos(p, o->dso, d, &f->dso) : SPAA_OK;
    if (!st && o->focus)
        st = sp_match_functions(p, o->focus, d, &f->focus);
    if (!st && o->ignore)
        st = sp_match_functions(p, o->ignore, d, &f->ignore);
    return st;
}

spaa_status sp_filters_of(const struct sp_profile *p, const struct sp_select_opts *opts, struct sp_diags *d,
                          struct sp_filters **out)
{
    struct sp_filters *f = calloc(1, sizeof *f);
    if (!f)
        return sp_nomem(d);
    f->of = *opts;
    spaa_status st = sp_frame_filters_of(p, opts, d, &f->frames);
    if (!st)
        st = sp_who_of(p, opts, d, &f->who);
    if (st)
        sp_filters_free(f);
    else
        *out = f;
    return st;
}

void sp_filters_free(struct sp_filters *f)
{
    if (!f)
        return;
    sp_frame_filters_free(&f->frames);
    free(f->who);
    free(f);
}

bool sp_filters_frames_are(const struct sp_filters *f, const struct sp_select_opts *o)
{
    return f->of.dso == o->dso && f->of.focus == o->focus && f->of.ignore == o->ignore &&
           f->of.user_only == o->user_only && f->of.kernel_only == o->kernel_only;
}

static bool filters_has_kind(const struct sp_profile *p, uint32_t stack, bool kernel)
{
    const uint32_t *frames = stack == SP_NONE ? NULL : sp_stack_frames(p, stack);
    for (uint32_t i = 0; frames && i < p->stacks.v[stack].n; i++)
        if ((p->frames.v[frames[i]].kind == SP_KERNEL) == kernel)
            return true;
    return false;
}

bool sp_side_fits(const struct sp_profile *p, const struct sp_frame_filters *f, const struct sp_selected *row)
{
    if (f->kernel && f->user)
        return false; /* no frame is both */
    return (!f->kernel || filters_has_kind(p, row->stack, true) || filters_has_kind(p, row->kernel, true)) &&
           (!f->user || filters_has_kind(p, row->stack, false) || filters_has_kind(p, row->kernel, false));
}

bool sp_frames_fit(const struct sp_profile *p, const struct sp_frame_filters *f, const uint32_t *frames,
                   size_t n)
{
    bool dso = !f->dso, focus = !f->focus;
    if (dso && focus && !f->ignore)
        return true;
    for (size_t i = 0; i < n; i++) {
        uint32_t function = p->frames.v[frames[i]].function;
        if (f->ignore && f->ignore[function])
            return false;
        dso = dso || f->dso[p->functions.v[function].dso];
        focus = focus || f->focus[function];
    }
    return dso && focus;
}

/* The name behind a handle is echoed. */
static void note_root(struct sp_selection *s, const char *asked)
{
    filters_note(s, "root-at", asked);
    struct sp_str name = {"", 0};
    if (asked)
        name = sp_pstr(s->profile, s->profile->functions.v[s->root].name);
    if (asked && !sp_str_is(name, asked))
        sp_buf_printf(&s->filters, " (%.*s)", (int)name.n, name.p);
}

void sp_note_filters(struct sp_selection *s, const struct sp_select_opts *o)
{
    filters_note(s, "time", o->time);
    filters_note(s, "thread", o->thread);
    filters_note(s, "pid", o->pid);
    filters_note(s, "comm", o->comm);
    for (size_t i = 0; i < o->nlabels; i++)
        filters_note(s, "label", o->labels[i]);
    filters_note(s, "state", o->state);
    filters_note(s, "view", o->state ? NULL : o->view);
    filters_note(s, "dso", o->dso);
    filters_note(s, "focus", o->focus);
    filters_note(s, "ignore", o->ignore);
    filters_note(s, "hide", o->hide);
    note_root(s, o->root_at);
    filters_note(s, "user", o->user_only ? "" : NULL);
    filters_note(s, "kernel", o->kernel_only ? "" : NULL);
    filters_note(s, "merge-inlined", o->merge_inlined ? "" : NULL);
}

bool sp_narrows(const struct sp_select_opts *o)
{
    return o->thread || o->pid || o->comm || o->state || o->nlabels || o->dso || o->focus || o->ignore ||
           o->hide || o->root_at || o->user_only || o->kernel_only || o->time;
}

/* ---- nothing left ---- */

struct names {
    SP_VEC(struct sp_str) list;
    const struct sp_profile *threads; /* whose threads to list; NULL: none */
    struct sp_diags *d;
};

static void list_threads(struct sp_buf *hint, const struct sp_profile *p)
{
    size_t shown = 0;
    sp_buf_puts(hint, hint->len ? "; the threads are" : "the threads are");
    for (size_t i = 0; i < p->threads.n && shown < 8; i++, shown++) {
        const struct sp_thread *t = &p->threads.v[i];
        struct sp_str comm = sp_pstr(p, t->comm);
        sp_buf_printf(hint, "%s%.*s%s(", shown ? ", " : " ", (int)comm.n, comm.p, comm.n ? " " : "");
        if (t->pid != SP_ABSENT)
            sp_buf_printf(hint, "pid %lld, ", (long long)t->pid);
        sp_buf_printf(hint, "tid %lld)", (long long)t->tid);
    }
    if (p->threads.n > shown)
        sp_buf_printf(hint, " and %zu more", p->threads.n - shown);
}

/* Pools are named too, as they are shown. */
static bool filters_add_pools(struct names *x, const struct sp_pools *pools)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pools->pools.n; i++)
        ok = sp_vec_push(&x->list, sp_str_at(&pools->names, pools->pools.v[i].name));
    for (size_t i = 0; ok && i < pools->comms.n; i++)
        if (pools->comms.v[i].varies && pools->comms.v[i].pid == SP_ABSENT)
            ok = sp_vec_push(&x->list, sp_str_at(&pools->names, pools->comms.v[i].name));
    return ok;
}

static bool add_name(struct names *x, struct sp_str s)
{
    for (size_t i = 0; i < x->list.n && i < 4096; i++)
        if (sp_str_cmp(x->list.v[i], s) == 0)
            return true;
    return !s.n || sp_vec_push(&x->list, s);
}

/* The filter `name` alone fits nothing: says so, with what is nearest. */
static void filters_say(struct names *x, enum sp_code code, const char *filter, const char *asked)
{
    struct sp_buf what;
    sp_buf_init(&what, 64 << 10);
    sp_nearest_words(&what, asked, x->list.v, x->list.n);
    if (x->threads && x->threads->threads.n)
        list_threads(&what, x->threads);
    sp_emit_hint(x->d, code, SP_AT_NOTHING, what.len ? sp_buf_cstr(&what) : NULL, "--%s %s", filter, asked);
    sp_buf_free(&what);
    sp_vec_free(&x->list);
}

static bool any(const unsigned char *hits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hits[i])
            return true;
    return false;
}

/* A regular expression that matches no name at all. */
static bool filters_no_match(const struct sp_profile *p, const char *filter, enum sp_code code,
                             const char *pattern, bool dsos, struct sp_diags *d)
{
    unsigned char *hits = NULL;
    struct names names = {.d = d};
    size_t n = dsos ? p->dsos.n : p->functions.n;
    if (!pattern || (dsos ? sp_match_dsos : sp_match_functions)(p, pattern, d, &hits))
        return false;
    bool none = !any(hits, n);
    free(hits);
    for (size_t i = 0; none && i < n; i++)
        if (!sp_vec_push(&names.list, sp_pstr(p, dsos ? p->dsos.v[i].name : p->functions.v[i].name)))
            break;
    if (none)
        filters_say(&names, code, filter, pattern);
    return none;
}

enum key { KEY_PID, KEY_THREAD, KEY_COMM, KEY_STATE };

/* A value that no context of the event has. */
static bool no_context(const struct sp_selection *s, enum key key, const char *filter, const char *asked,
                       struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct sp_select_opts one = {.pid = key == KEY_PID ? asked : NULL,
                                 .thread = key == KEY_THREAD ? asked : NULL,
                                 .comm = key == KEY_COMM ? asked : NULL,
                                 .state = key == KEY_STATE ? asked : NULL,
                                 .view = "all"};
    struct sp_selection all = {.profile = p, .event = s->event};
    unsigned char *who;
    struct names names = {.threads = key == KEY_PID || key == KEY_THREAD ? p : NULL, .d = d};
    struct sp_pools pools = {0};
    struct sp_strtab texts;
    char t[64];
    if (!asked || sp_who_of(p, &one, d, &who))
        return false;
    bool found = false, ok = sp_strtab_init(&texts);
    if (ok && (key == KEY_THREAD || key == KEY_COMM))
        ok = !sp_pools_of(p, NULL, d, &pools) && filters_add_pools(&names, &pools);
    for (uint32_t i = 0; ok && i < p->contexts.n && !found; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        if (c->event != s->event)
            continue;
        found = sp_context_fits(&all, &one, who, i);
        struct sp_str name = sp_pstr(p, key == KEY_STATE ? c->state
                                        : key == KEY_PID ? SP_STR_NONE
                                                         : sp_context_name(p, c));
        int64_t number = key == KEY_PID ? c->pid : key == KEY_THREAD ? c->tid : SP_ABSENT;
        if (!add_name(&names, name))
            break;
        uint32_t text =
            number == SP_ABSENT ? SP_STR_NONE : sp_intern(&texts, t, sp_scaled_text(number, 0, t));
        if (text == SP_STR_FAIL || !add_name(&names, sp_str_at(&texts, text)))
            break;
    }
    if (ok && !found)
        filters_say(&names, SP_E032, filter, asked);
    sp_pools_free(&pools);
    free(who);
    sp_vec_free(&names.list);
    sp_strtab_free(&texts);
    return ok && !found;
}

/* A label that no context of the event has: another key, or other values of it. */
static bool no_such_label(const struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    for (size_t k = 0; k < o->nlabels; k++) {
        struct names names = {.d = d};
        unsigned char *fits = NULL;
        bool found = false;
        struct sp_str key = sp_label_filter_key(o->labels[k]);
        if (!sp_labels_have(p, key))
            return sp_no_label(p, "label", o->labels[k], d) != SPAA_OK;
        if (sp_label_contexts(p, &o->labels[k], 1, d, &fits))
            return false;
        for (size_t i = 0; i < p->contexts.n; i++) {
            const struct sp_label *l = sp_labels_find(p, p->contexts.v[i].labels, key);
            bool of = p->contexts.v[i].event == s->event;
            found = found || (of && fits[i]);
            if (of && l && !add_name(&names, sp_pstr(p, l->value)))
                break;
        }
        free(fits);
        if (!found) {
            filters_say(&names, SP_E032, "label", o->labels[k]);
            return true;
        }
        sp_vec_free(&names.list);
    }
    return false;
}

static bool has_state(const struct sp_profile *p, struct sp_str state)
{
    for (size_t i = 0; i < p->contexts.n; i++)
        if (sp_str_cmp(sp_pstr(p, p->contexts.v[i].state), state) == 0)
            return true;
    return false;
}

/* Of several states those that are nowhere; where none of them is, nothing is left, which is said then. */
static void warn_of_states(const struct sp_profile *p, const char *states, struct sp_diags *d)
{
    struct sp_str item;
    bool any = false;
    for (const char *list = states; list && next_in_list(&list, &item);)
        any |= has_state(p, item);
    for (const char *list = states; any && next_in_list(&list, &item);)
        if (!has_state(p, item))
            sp_emit(d, SP_W611, SP_AT_NOTHING, "--state %.*s", (int)(item.n < 100 ? item.n : 100), item.p);
}

void sp_warn_idle_filters(const struct sp_profile *p, const struct sp_select_opts *o, struct sp_diags *d)
{
    filters_no_match(p, "ignore", SP_W611, o->ignore, false, d);
    filters_no_match(p, "hide", SP_W611, o->hide, false, d);
    warn_of_states(p, o->state, d);
}

spaa_status sp_select_no_allocators(const struct sp_profile *p, const char *allocators, struct sp_diags *d)
{
    filters_no_match(p, "allocators", SP_E032, allocators, false, d);
    return SPAA_ERR_NOT_FOUND;
}

static bool any_kind(const struct sp_profile *p, bool kernel)
{
    for (size_t i = 0; i < p->frames.n; i++)
        if ((p->frames.v[i].kind == SP_KERNEL) == kernel)
            return true;
    return false;
}

spaa_status sp_nothing_left(const struct sp_selection *s, const struct sp_select_opts *o, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    if (no_such_label(s, o, d) || no_context(s, KEY_PID, "pid", o->pid, d) ||
        no_context(s, KEY_THREAD, "thread", o->thread, d) || no_context(s, KEY_COMM, "comm", o->comm, d) ||
        no_context(s, KEY_STATE, "state", o->state, d) ||
        filters_no_match(p, "dso", SP_E032, o->dso, true, d) ||
        filters_no_match(p, "focus", SP_E032, o->focus, false, d))
        return SPAA_ERR_NOT_FOUND;
    struct sp_buf hint;
    sp_buf_init(&hint, 4096);
    if ((o->kernel_only && !any_kind(p, true)) || (o->user_only && !any_kind(p, false)))
        sp_buf_printf(&hint, "no frame is known to be of %s code", o->kernel_only ? "kernel" : "user");
    else if (s->whole || !o->time)
        sp_buf_puts(&hint, "each filter fits something, but no stack fits all of them: drop one");
    else
        sp_buf_puts(&hint, "nothing was observed then: `spaa timeline` shows when there was");
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name);
    sp_emit_hint(d, SP_E032, SP_AT_NOTHING, sp_buf_cstr(&hint), "%.*s of event %.*s", (int)s->filters.len,
                 s->filters.data ? s->filters.data : "", (int)event.n, event.p);
    sp_buf_free(&hint);
    return SPAA_ERR_NOT_FOUND;
}
