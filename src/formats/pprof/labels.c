/*
 * Labels as contexts.
 *
 * The pid, the tid and the name of the thread go to the fields of a context. Producers spell them in many
 * ways: the first label of the file that has one of the known keys and a fitting value is the one, and the
 * header notes how it was spelled. Everything else is "x_pprof":{"labels":{KEY:VALUE,…}} of the context, keys
 * sorted, a value being a string, a number, {"num":…,"unit":"…"}, or a list of these where a key stands
 * several times. Equal bytes are looked at once.
 *
 * State, CPU and source are lifted only where the mark of a writer of ours says so: see pprof.h.
 */
#include "base/num.h"
#include "formats/pprof/pprof.h"

struct label {
    struct sp_str key;
    uint64_t key_number, text, unit;
    int64_t num;
    size_t order;
};

static const char *const spellings[PP_KEYS][8] = {
    {"pid", "process_id", "process id", NULL},
    {"tid", "thread_id", "thread id", NULL},
    {"comm", "thread_name", "thread name", "thread_comm", "thread", NULL},
};

static void read_label(struct sp_pp *pp, struct sp_pp_slice s, struct label *out)
{
    struct sp_wire w = sp_wire_of(s.p, s.n);
    for (struct sp_wire_field f; sp_wire_next(&w, &f);) {
        if (f.type != SP_WIRE_VARINT || f.number > 4)
            pp->odd++;
        else if (f.number == 1)
            out->key_number = f.v;
        else if (f.number == 2)
            out->text = f.v;
        else if (f.number == 3)
            out->num = (int64_t)f.v;
        else
            out->unit = f.v;
    }
    if (w.error)
        sp_emit(pp->d, SP_L720, sp_pp_at(pp, w.at), "in a label: %s", w.error);
    out->key = sp_pp_text(pp, out->key_number);
}

/* A pid or tid: digits as a writer prints them. */
static bool id_value(struct sp_pp *pp, const struct label *l, int64_t *out)
{
    if (!l->text) {
        *out = l->num;
        return l->num >= 0;
    }
    struct sp_str s = sp_pp_text(pp, l->text);
    return s.n && (s.p[0] != '0' || s.n == 1) && s.p[0] != '-' && s.p[0] != '+' &&
           sp_parse_i64(s.p, s.p + s.n, out) == s.n;
}

static bool spelled(struct sp_str key, int which)
{
    for (size_t i = 0; spellings[which][i]; i++)
        if (sp_str_is(key, spellings[which][i]))
            return true;
    return false;
}

const char *const sp_pp_marked[PP_MARKED] = {"state", "cpu", "source"};

/* "state=KEY cpu=KEY": keys without blanks. */
static void read_mark(struct sp_pp *pp, const char *p, const char *end)
{
    while (p < end) {
        const char *word = p, *stop = memchr(p, ' ', (size_t)(end - p));
        stop = stop ? stop : end;
        p = stop + 1;
        for (int k = 0; k < PP_MARKED; k++) {
            size_t n = strlen(sp_pp_marked[k]);
            if ((size_t)(stop - word) > n + 1 && memcmp(word, sp_pp_marked[k], n) == 0 && word[n] == '=')
                pp->marked[k] = (struct sp_str){word + n + 1, (uint32_t)(stop - word - (ptrdiff_t)n - 1)};
        }
    }
}

void sp_pp_find_mark(struct sp_pp *pp)
{
    const size_t n = sizeof PP_MARK - 1;
    size_t kept = 0;
    for (size_t i = 0; i < pp->comments.n; i++) {
        uint64_t number = pp->comments.v[i];
        struct sp_str s = number < pp->strings.n ? pp->strings.v[number] : (struct sp_str){"", 0};
        if (s.n > n && memcmp(s.p, PP_MARK, n) == 0)
            read_mark(pp, s.p + n, s.p + s.n);
        else
            pp->comments.v[kept++] = number;
    }
    pp->comments.n = kept;
}

/* Is it one that a writer of ours marked? Then the set has it. */
static bool marked(struct sp_pp *pp, const struct label *l, struct sp_pp_label_set *s)
{
    int k = 0;
    while (k < PP_MARKED && !(pp->marked[k].n && sp_pp_same(pp->marked[k], l->key)))
        k++;
    if (k == PP_MARKED)
        return false;
    uint32_t *text = k == PP_STATE ? &s->state : &s->source;
    if (k == PP_CPU ? l->text || l->num < 0 || s->cpu != SP_ABSENT
                    : *text || !l->text || !sp_pp_text(pp, l->text).n)
        return false;
    if (k == PP_CPU)
        s->cpu = l->num;
    else
        *text = sp_pp_str(pp, l->text);
    pp->had_marked[k] = true;
    return true;
}

/* Is it the pid, the tid or the name? Then the set has it. */
static bool lifted(struct sp_pp *pp, const struct label *l, struct sp_pp_label_set *s, unsigned *had)
{
    for (int k = 0; k < PP_KEYS; k++) {
        struct sp_pp_key *key = &pp->keys[k];
        int64_t v = 0;
        if (*had >> k & 1)
            continue;
        if (key->set ? key->key != l->key_number || key->text != (l->text != 0) || key->unit != l->unit
                     : !spelled(l->key, k))
            continue;
        if (k == PP_COMM ? !l->text || !sp_pp_text(pp, l->text).n : !id_value(pp, l, &v))
            continue;
        *key = (struct sp_pp_key){true, l->text != 0, l->key_number, l->unit};
        *had |= 1u << k;
        if (k == PP_PID)
            s->pid = v;
        else if (k == PP_TID)
            s->tid = v;
        else
            s->comm = sp_pp_str(pp, l->text);
        return true;
    }
    return false;
}

static int by_key(const void *va, const void *vb)
{
    const struct label *a = va, *b = vb;
    int c = sp_str_cmp(a->key, b->key);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static void value(struct sp_pp *pp, struct sp_buf *b, const struct label *l)
{
    if (l->text) {
        sp_pp_json(b, sp_pp_text(pp, l->text));
    } else if (l->unit) {
        sp_buf_printf(b, "{\"num\":%lld,\"unit\":", (long long)l->num);
        sp_pp_json(b, sp_pp_text(pp, l->unit));
        sp_buf_ch(b, '}');
    } else {
        sp_buf_i64(b, l->num);
    }
}

/* Members of JSON objects have no other way. */
static void label_key(struct sp_pp *pp, struct sp_buf *b, struct sp_str key)
{
    bool damaged = false;
    sp_json_string_to(b, key.p, key.n, &damaged);
    pp->damaged_text |= damaged;
}

static uint32_t labels_json(struct sp_pp *pp, struct label *l, size_t n)
{
    struct sp_buf *b = &pp->text;
    if (!n)
        return SP_STR_NONE;
    qsort(l, n, sizeof *l, by_key);
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_pprof\":{\"labels\":{");
    for (size_t i = 0; i < n;) {
        size_t same = i + 1;
        while (same < n && sp_pp_same(l[same].key, l[i].key))
            same++;
        if (i)
            sp_buf_ch(b, ',');
        label_key(pp, b, l[i].key);
        sp_buf_puts(b, same > i + 1 ? ":[" : ":");
        for (size_t k = i; k < same; k++) {
            if (k > i)
                sp_buf_ch(b, ',');
            value(pp, b, &l[k]);
        }
        if (same > i + 1)
            sp_buf_ch(b, ']');
        i = same;
    }
    sp_buf_puts(b, "}}");
    return b->failed ? SP_STR_FAIL : sp_profile_str(pp->p, b->data, b->len);
}

static bool read_set(struct sp_pp *pp, struct sp_pp_label_set *s)
{
    size_t n = pp->labels.list.n, left = 0;
    unsigned had = 0;
    s->pid = s->tid = s->cpu = SP_ABSENT;
    s->comm = s->state = s->source = s->more = SP_STR_NONE;
    struct label *l = calloc(n + 1, sizeof *l);
    if (!l)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct label x = {.order = i};
        read_label(pp, pp->labels.list.v[i], &x);
        if (!lifted(pp, &x, s, &had) && !marked(pp, &x, s))
            l[left++] = x;
    }
    s->more = labels_json(pp, l, left);
    free(l);
    unsigned by = pp->opts->group_by;
    if (!(by & SP_BY_PID))
        s->pid = SP_ABSENT;
    if (!(by & SP_BY_TID))
        s->tid = SP_ABSENT;
    if (!(by & SP_BY_STATE) && s->state != SP_STR_FAIL)
        s->state = SP_STR_NONE;
    if (s->comm == SP_STR_FAIL || s->state == SP_STR_FAIL || s->source == SP_STR_FAIL ||
        s->more == SP_STR_FAIL)
        return false;
    if (s->pid != SP_ABSENT && s->tid != SP_ABSENT &&
        sp_thread_intern(pp->p, s->pid, s->tid, s->comm) == SP_NONE)
        return false;
    if (!(by & SP_BY_COMM))
        s->comm = SP_STR_NONE;
    return true;
}

static uint32_t find_set(const struct sp_pp *pp, const void *p, size_t n, struct sp_probe *at)
{
    for (uint32_t i; (i = sp_map_next(&pp->set_map, at)) != SP_MAP_NONE;) {
        const struct sp_pp_label_set *s = &pp->sets.v[i];
        if (s->n == n && (!n || memcmp(pp->label_text.data + s->at, p, n) == 0))
            return i;
    }
    return SP_NONE;
}

uint32_t sp_pp_label_find(struct sp_pp *pp, const unsigned char *p, size_t n)
{
    if (!n)
        return 0;
    struct sp_probe at = sp_map_probe(&pp->set_map, sp_hash64(p, n));
    uint32_t set = find_set(pp, p, n, &at);
    if (set != SP_NONE)
        pp->recent[sp_pp_ends(p, n).place] = set;
    return set;
}

uint32_t sp_pp_label_set(struct sp_pp *pp)
{
    struct sp_buf *t = &pp->label_text;
    size_t at = t->len;
    for (size_t i = 0; i < pp->labels.list.n; i++)
        sp_wire_put_bytes(t, 3, pp->labels.list.v[i].p, pp->labels.list.v[i].n);
    if (t->failed)
        return SP_NONE;
    size_t n = t->len - at;
    const char *text = n ? t->data + at : "";
    struct sp_probe probe = sp_map_probe(&pp->set_map, sp_hash64(text, n));
    uint32_t known = find_set(pp, text, n, &probe);
    if (known != SP_NONE) {
        t->len = at;
        return known;
    }
    /* Eight bytes behind the text can be loaded. */
    if (!sp_buf_reserve(t, 8))
        return SP_NONE;
    struct sp_pp_ends ends = sp_pp_ends((const unsigned char *)t->data + at, n);
    struct sp_pp_label_set s = {.at = at, .n = n, .first = ends.first, .last = ends.last};
    if (!read_set(pp, &s) || pp->sets.n >= SP_NONE - 1 || !sp_vec_push(&pp->sets, s) ||
        !sp_vec_reserve(&pp->contexts, pp->contexts.n + pp->nevents) ||
        !sp_map_add_at(&pp->set_map, &probe, (uint32_t)pp->sets.n - 1))
        return SP_NONE;
    for (uint32_t e = 0; e < pp->nevents; e++)
        pp->contexts.v[pp->contexts.n++] = SP_NONE;
    return (uint32_t)pp->sets.n - 1;
}

uint32_t sp_pp_context_new(struct sp_pp *pp, uint32_t set, uint32_t event)
{
    const struct sp_pp_label_set *s = &pp->sets.v[set];
    struct sp_context c = {.pid = s->pid, .tid = s->tid, .cpu = s->cpu};
    c.event = pp->event[event].number;
    c.comm = s->comm;
    c.state = s->state;
    c.source = s->source;
    c.more = s->more;
    return pp->contexts.v[(size_t)set * pp->nevents + event] = sp_context_intern(pp->p, &c);
}
