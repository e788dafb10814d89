/*
 * Labels as contexts.
 *
 * The pid, the tid and the name of the thread go to the fields of a context. Producers spell them in many
 * ways: the first label of the file that has one of the known keys and a fitting value is the one, and the
 * header notes how it was spelled. Everything else is a label of the context
 * (model/labels.h). Equal bytes are looked at once.
 *
 * State, CPU and source are lifted only where the mark of a writer of ours says so: see pprof.h.
 */
#include "model/labels.h"
#include "base/num.h"
#include "formats/pprof/pprof.h"

#include <stdio.h>

struct label {
    struct sp_pprof_label_msg m;
    struct sp_str key;
};

static const char *const spellings[PPROF_KEYS][8] = {
    {"pid", "process_id", "process id", NULL},
    {"tid", "thread_id", "thread id", NULL},
    {"comm", "thread_name", "thread name", "thread_comm", "thread", NULL},
};

/* A pid or tid: digits as a writer prints them. */
static bool pprof_id_value(struct sp_pprof *pp, const struct label *l, int64_t *out)
{
    if (!l->m.str) {
        *out = (int64_t)l->m.num;
        return (int64_t)l->m.num >= 0;
    }
    struct sp_str s = sp_pprof_text(pp, l->m.str);
    return s.n && (s.p[0] != '0' || s.n == 1) && s.p[0] != '-' && s.p[0] != '+' &&
           sp_parse_i64(s.p, s.p + s.n, out) == s.n;
}

static bool pprof_is_spelling(struct sp_str key, int which)
{
    for (size_t i = 0; spellings[which][i]; i++)
        if (sp_str_is(key, spellings[which][i]))
            return true;
    return false;
}

const char *const sp_pprof_marked[PPROF_MARKED] = {"state", "cpu", "source"};

/* "state=KEY cpu=KEY": keys without blanks. */
static void pprof_read_mark(struct sp_pprof *pp, const char *p, const char *end)
{
    while (p < end) {
        const char *word = p, *stop = memchr(p, ' ', (size_t)(end - p));
        stop = stop ? stop : end;
        p = stop + 1;
        for (int k = 0; k < PPROF_MARKED; k++) {
            size_t n = strlen(sp_pprof_marked[k]);
            if ((size_t)(stop - word) > n + 1 && memcmp(word, sp_pprof_marked[k], n) == 0 && word[n] == '=')
                pp->marked[k] = (struct sp_str){word + n + 1, (uint32_t)(stop - word - (ptrdiff_t)n - 1)};
        }
    }
}

void sp_pprof_find_mark(struct sp_pprof *pp)
{
    const size_t n = sizeof PPROF_MARK - 1;
    size_t kept = 0;
    for (size_t i = 0; i < pp->file.comments.n; i++) {
        uint64_t number = pp->file.comments.v[i];
        struct sp_str s = number < pp->file.strings.n ? pp->file.strings.v[number] : (struct sp_str){"", 0};
        if (s.n > n && memcmp(s.p, PPROF_MARK, n) == 0)
            pprof_read_mark(pp, s.p + n, s.p + s.n);
        else
            pp->file.comments.v[kept++] = number;
    }
    pp->file.comments.n = kept;
}

/* Is it one that a writer of ours marked? Then the set has it. */
static bool pprof_take_marked(struct sp_pprof *pp, const struct label *l, struct sp_pprof_label_set *s)
{
    int k = 0;
    while (k < PPROF_MARKED && !(pp->marked[k].n && sp_pprof_same(pp->marked[k], l->key)))
        k++;
    if (k == PPROF_MARKED)
        return false;
    uint32_t *text = k == PPROF_STATE ? &s->state : &s->source;
    if (k == PPROF_CPU ? l->m.str || (int64_t)l->m.num < 0 || s->cpu != SP_ABSENT
                       : *text || !l->m.str || !sp_pprof_text(pp, l->m.str).n)
        return false;
    if (k == PPROF_CPU)
        s->cpu = (int64_t)l->m.num;
    else
        *text = sp_pprof_str(pp, l->m.str);
    pp->had_marked[k] = true;
    return true;
}

/* Is it the pid, the tid or the name? Then the set has it. */
static bool pprof_take_thread(struct sp_pprof *pp, const struct label *l, struct sp_pprof_label_set *s,
                              unsigned *had)
{
    for (int k = 0; k < PPROF_KEYS; k++) {
        struct sp_pprof_key *key = &pp->keys[k];
        int64_t v = 0;
        if (*had >> k & 1)
            continue;
        if (key->set ? key->key != l->m.key || key->text != (l->m.str != 0) || key->unit != l->m.unit
                     : !pprof_is_spelling(l->key, k))
            continue;
        if (k == PPROF_COMM ? !l->m.str || !sp_pprof_text(pp, l->m.str).n : !pprof_id_value(pp, l, &v))
            continue;
        *key = (struct sp_pprof_key){true, l->m.str != 0, l->m.key, l->m.unit};
        *had |= 1u << k;
        if (k == PPROF_PID)
            s->pid = v;
        else if (k == PPROF_TID)
            s->tid = v;
        else
            s->comm = sp_pprof_str(pp, l->m.str);
        return true;
    }
    return false;
}

/* A label that is no other fact. */
static bool pprof_push_label(struct sp_pprof *pp, const struct label *l, struct sp_label_list *out)
{
    char t[24];
    struct sp_str text = sp_pprof_text(pp, l->m.str), unit = sp_pprof_text(pp, l->m.unit);
    const struct sp_label_keys *keep = pp->opts->labels;
    if (keep && !sp_label_keys_have(keep, l->key))
        return true;
    struct sp_label x = {.key = sp_profile_text(pp->p, l->key.p, l->key.n)};
    pp->damaged_text |= x.key != SP_STR_FAIL && sp_str_cmp(sp_pstr(pp->p, x.key), l->key) != 0;
    if (l->m.str) {
        x.value = sp_profile_str(pp->p, text.p, text.n);
    } else {
        x.flags = SP_LABEL_NUMBER;
        x.value = sp_profile_str(pp->p, t, (size_t)snprintf(t, sizeof t, "%lld", (long long)l->m.num));
        x.unit = unit.n ? sp_profile_str(pp->p, unit.p, unit.n) : SP_STR_NONE;
    }
    return x.key != SP_STR_FAIL && x.value != SP_STR_FAIL && x.unit != SP_STR_FAIL &&
           sp_vec_push(&out->list, x);
}

static bool pprof_read_set(struct sp_pprof *pp, const struct sp_pprof_list *labels,
                           struct sp_pprof_label_set *s)
{
    struct sp_label_list more = {0};
    unsigned had = 0;
    s->pid = s->tid = s->cpu = SP_ABSENT;
    s->comm = s->state = s->source = SP_STR_NONE;
    bool ok = true;
    for (size_t i = 0; i < labels->n && ok; i++) {
        struct label x = {0};
        ok = sp_pprof_read(pp, &sp_pprof_label_fields, labels->v[i], &x.m);
        x.key = sp_pprof_text(pp, x.m.key);
        if (ok && !pprof_take_thread(pp, &x, s, &had) && !pprof_take_marked(pp, &x, s))
            ok = pprof_push_label(pp, &x, &more);
    }
    s->labels = ok ? sp_labels_intern(pp->p, more.list.v, more.list.n) : SP_NONE;
    sp_vec_free(&more.list);
    if (!ok)
        return false;
    unsigned by = pp->opts->group_by;
    if (!(by & SP_BY_PID))
        s->pid = SP_ABSENT;
    if (!(by & SP_BY_TID))
        s->tid = SP_ABSENT;
    if (!(by & SP_BY_STATE) && s->state != SP_STR_FAIL)
        s->state = SP_STR_NONE;
    if (s->comm == SP_STR_FAIL || s->state == SP_STR_FAIL || s->source == SP_STR_FAIL || s->labels == SP_NONE)
        return false;
    if (s->pid != SP_ABSENT && s->tid != SP_ABSENT &&
        sp_thread_intern(pp->p, s->pid, s->tid, s->comm) == SP_NONE)
        return false;
    if (!(by & SP_BY_COMM))
        s->comm = SP_STR_NONE;
    return true;
}

static uint32_t pprof_find_set(const struct sp_pprof *pp, const void *p, size_t n, struct sp_probe *at)
{
    for (uint32_t i; (i = sp_map_next(&pp->set_map, at)) != SP_MAP_NONE;) {
        const struct sp_pprof_label_set *s = &pp->sets.v[i];
        if (s->n == n && (!n || memcmp(pp->label_text.data + s->at, p, n) == 0))
            return i;
    }
    return SP_NONE;
}

uint32_t sp_pprof_label_set(struct sp_pprof *pp, const struct sp_pprof_list *labels)
{
    struct sp_buf *t = &pp->label_text;
    if (!labels->n && pp->sets.n)
        return 0;
    size_t at = t->len;
    for (size_t i = 0; i < labels->n; i++)
        sp_wire_put_bytes(t, 3, labels->v[i].p, labels->v[i].n);
    if (t->failed)
        return SP_NONE;
    size_t n = t->len - at;
    const char *text = n ? t->data + at : "";
    struct sp_probe probe = sp_map_probe(&pp->set_map, sp_hash_key(text, n));
    uint32_t known = pprof_find_set(pp, text, n, &probe);
    if (known != SP_NONE) {
        t->len = at;
        return known;
    }
    struct sp_pprof_label_set s = {.at = at, .n = n};
    if (!pprof_read_set(pp, labels, &s) || pp->sets.n >= SP_NONE - 1 || !sp_vec_push(&pp->sets, s) ||
        !sp_vec_reserve(&pp->contexts, pp->contexts.n + pp->nevents) ||
        !sp_map_add_at(&pp->set_map, &probe, (uint32_t)pp->sets.n - 1))
        return SP_NONE;
    for (uint32_t e = 0; e < pp->nevents; e++)
        pp->contexts.v[pp->contexts.n++] = SP_NONE;
    return (uint32_t)pp->sets.n - 1;
}

uint32_t sp_pprof_context(struct sp_pprof *pp, uint32_t set, uint32_t event)
{
    const struct sp_pprof_label_set *s = &pp->sets.v[set];
    uint32_t *context = &pp->contexts.v[(size_t)set * pp->nevents + event];
    if (*context == SP_NONE) {
        struct sp_context c = {.pid = s->pid, .tid = s->tid, .cpu = s->cpu};
        c.event = pp->event[event].number;
        c.comm = s->comm;
        c.state = s->state;
        c.source = s->source;
        c.labels = s->labels;
        *context = sp_context_intern(pp->p, &c);
    }
    return *context;
}
