#include "formats/common/aggregation/keys.h"

#include "base/hash.h"
#include "base/num.h"
#include "json/json.h"

#include <string.h>

static bool aggregation_key_is(struct sp_str t, const char *literal)
{
    return sp_str_is(t, literal);
}

static spaa_status aggregation_parse_names(struct sp_agg_keys *k, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        struct sp_str t = {list, (uint32_t)n};
        if (k->nnames == SP_AGG_KEYS_MAX + SP_AGG_STACKS_MAX || !n) {
            sp_emit_hint(k->d, SP_E037, SP_AT_NOTHING, "for example --keys execname,pid,ustack",
                         "%s in --keys", n ? "too many names" : "an empty name");
            return SPAA_ERR_USAGE;
        }
        bool kernel = aggregation_key_is(t, "stack") || aggregation_key_is(t, "kstack"),
             user = aggregation_key_is(t, "ustack") || aggregation_key_is(t, "jstack");
        k->name_side[k->nnames] = (uint8_t)(kernel ? SP_AGG_KERNEL + 1 : user ? SP_AGG_USER + 1 : 0);
        k->names[k->nnames++] = t;
        list += n;
        list += *list == ',';
    }
    return SPAA_OK;
}

spaa_status sp_agg_keys_init(struct sp_agg_keys *k, struct sp_profile *p, const struct sp_read_opts *opts,
                             const char *namespace, struct sp_diags *d)
{
    const char *keys = sp_own_opt(opts->own, opts->nown, "keys");
    const char *type = sp_own_opt(opts->own, opts->nown, "stack-type");
    *k = (struct sp_agg_keys){.p = p, .d = d, .opts = opts, .namespace = namespace};
    if (type && strcmp(type, "user") != 0 && strcmp(type, "kernel") != 0) {
        sp_emit_hint(d, SP_E037, SP_AT_NOTHING, "user or kernel", "--stack-type has no value \"%.60s\"",
                     type);
        return SPAA_ERR_USAGE;
    }
    k->stack_type = !type ? SP_AGG_ANY : *type == 'u' ? SP_AGG_USER : SP_AGG_KERNEL;
    return keys ? aggregation_parse_names(k, keys) : SPAA_OK;
}

bool sp_agg_key_add(struct sp_agg_keys *k, const char *p, size_t n)
{
    int64_t v;
    if (k->n == SP_AGG_KEYS_MAX) {
        sp_emit(k->d, SP_E007, SP_AT_NOTHING, "a record with more than %d keys; the others were left out",
                SP_AGG_KEYS_MAX);
        return true;
    }
    /* Leading zeros, also of negative numbers, are no JSON: such a key is text. */
    const char *digits = n && *p == '-' ? p + 1 : p;
    bool number = n && n <= 20 && sp_parse_i64(p, p + n, &v) == n && (n == 1 || *digits != '0');
    struct sp_agg_key key = {sp_profile_str(k->p, p, n), k->stacks, number};
    k->list[k->n++] = key;
    return key.text != SP_STR_FAIL;
}

enum sp_agg_side sp_agg_keys_side(const struct sp_agg_keys *k, uint32_t place)
{
    for (size_t i = 0; i < k->nnames; i++)
        if (k->name_side[i] && place-- == 0)
            return (enum sp_agg_side)(k->name_side[i] - 1);
    return (enum sp_agg_side)k->stack_type;
}

uint32_t sp_agg_keys_stacks(const struct sp_agg_keys *k)
{
    uint32_t n = 0;
    for (size_t i = 0; i < k->nnames; i++)
        n += k->name_side[i] != 0;
    return n;
}

/* The name of a scalar key; n 0: it has none. */
static struct sp_str aggregation_name_at(const struct sp_agg_keys *k, uint32_t scalar)
{
    for (size_t i = 0; i < k->nnames; i++)
        if (!k->name_side[i] && scalar-- == 0)
            return k->names[i];
    return (struct sp_str){"", 0};
}

static uint32_t aggregation_scalars_named(const struct sp_agg_keys *k)
{
    uint32_t n = 0;
    for (size_t i = 0; i < k->nnames; i++)
        n += !k->name_side[i];
    return n;
}

static void aggregation_put_value(struct sp_agg_keys *k, struct sp_buf *b, const struct sp_agg_key *key)
{
    struct sp_str s = sp_pstr(k->p, key->text);
    if (key->is_number)
        sp_buf_add(b, s.p, s.n);
    else
        sp_json_string(b, s.p, s.n);
}

static void aggregation_put_member(struct sp_agg_keys *k, struct sp_buf *b, struct sp_str name,
                                   const struct sp_agg_key *key)
{
    if (b->len)
        sp_buf_ch(b, ',');
    sp_json_string(b, name.p, name.n);
    sp_buf_ch(b, ':');
    aggregation_put_value(k, b, key);
}

static unsigned aggregation_group_of(struct sp_str name)
{
    return aggregation_key_is(name, "pid")                                            ? SP_BY_PID
           : aggregation_key_is(name, "tid")                                          ? SP_BY_TID
           : aggregation_key_is(name, "cpu")                                          ? SP_BY_CPU
           : aggregation_key_is(name, "execname") || aggregation_key_is(name, "comm") ? SP_BY_COMM
                                                                                      : 0;
}

unsigned sp_agg_keys_groups(const struct sp_agg_keys *k)
{
    unsigned groups = 0;
    for (size_t i = 0; i < k->nnames; i++)
        groups |= k->opts->group_by & aggregation_group_of(k->names[i]);
    return groups;
}

/* Goes to a field of the context? Numbers where a name is due and names where a number is do not. */
static bool aggregation_key_field(struct sp_agg_keys *k, struct sp_str name, const struct sp_agg_key *key,
                                  struct sp_context *c)
{
    struct sp_str s = sp_pstr(k->p, key->text);
    int64_t v = 0;
    unsigned group = aggregation_group_of(name);
    bool kept = k->opts->group_by & group;
    if (group == SP_BY_COMM) {
        c->comm = kept ? key->text : SP_STR_NONE;
        return true;
    }
    int64_t *to = group == SP_BY_PID   ? &c->pid
                  : group == SP_BY_TID ? &c->tid
                  : group == SP_BY_CPU ? &c->cpu
                                       : NULL;
    if (!to || !key->is_number || sp_parse_i64(s.p, s.p + s.n, &v) != s.n)
        return false;
    *to = kept ? v : SP_ABSENT;
    return true;
}

/* "probe":{…} of an event named provider:module:function:name. */
static void aggregation_put_probe(struct sp_buf *b, struct sp_str event)
{
    static const char *const parts[] = {"provider", "module", "function", "name"};
    const char *p = event.p, *end = event.p + event.n;
    unsigned colons = 0;
    for (const char *q = p; q < end; q++)
        colons += *q == ':';
    if (colons != 3)
        return;
    sp_buf_puts(b, "\"probe\":{");
    for (int i = 0; i < 4; i++) {
        const char *stop = memchr(p, ':', (size_t)(end - p));
        stop = stop ? stop : end;
        sp_buf_printf(b, "%s\"%s\":", i ? "," : "", parts[i]);
        sp_json_string(b, p, (size_t)(stop - p));
        p = stop < end ? stop + 1 : end;
    }
    sp_buf_ch(b, '}');
}

/* "string,stack,number": how the keys of the longest record lie, for those who want to name them. */
static bool aggregation_note_shape(struct sp_agg_keys *k)
{
    struct sp_buf b;
    if (k->n + k->stacks <= k->shape_size)
        return true;
    k->shape_size = k->n + k->stacks;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0, s = 0; i < k->n || s < k->stacks;) {
        bool key = i < k->n && (k->list[i].stacks <= s || s == k->stacks);
        sp_buf_printf(&b, "%s%s", b.len ? "," : "",
                      !key                   ? "stack"
                      : k->list[i].is_number ? "number"
                                             : "string");
        i += key;
        s += !key;
    }
    k->shape = b.failed ? SP_STR_FAIL : sp_profile_str(k->p, b.data, b.len);
    sp_buf_free(&b);
    return k->shape != SP_STR_FAIL;
}

static void aggregation_put_keys(struct sp_agg_keys *k, struct sp_buf *b, struct sp_context *c, uint64_t line)
{
    struct sp_buf own; /* what goes under the namespace */
    bool named = k->nnames && aggregation_scalars_named(k) == k->n;
    sp_buf_init(&own, 0);
    if (k->nnames && !named && !k->misfit_said) {
        k->misfit_said = true;
        sp_emit_hint(k->d, SP_W311, SP_AT_LINE(line, SP_NOWHERE),
                     "records that do not fit keep their keys unnamed",
                     "--keys names %u keys besides stacks, and this record has %u",
                     aggregation_scalars_named(k), k->n);
    }
    for (uint32_t i = 0; i < k->n; i++) {
        const struct sp_agg_key *key = &k->list[i];
        struct sp_str name = aggregation_name_at(k, i);
        if (!named) {
            sp_buf_puts(&own, own.len ? "," : "\"keys\":[");
            aggregation_put_value(k, &own, key);
        } else if (aggregation_key_is(name, "uid") || aggregation_key_is(name, "zonename")) {
            aggregation_put_member(k, b, name, key);
        } else if (!aggregation_key_field(k, name, key, c)) {
            aggregation_put_member(k, &own, name, key);
        }
    }
    if (own.len) {
        sp_buf_printf(b, "%s\"%s\":{", b->len ? "," : "", k->namespace);
        sp_buf_add(b, own.data, own.len);
        sp_buf_puts(b, named ? "}" : "]}");
    }
    b->failed = b->failed || own.failed;
    sp_buf_free(&own);
}

static uint32_t aggregation_make_context(struct sp_agg_keys *k, uint32_t event, uint64_t line)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = event};
    struct sp_buf b;
    sp_buf_init(&b, 0);
    aggregation_put_probe(&b, sp_pstr(k->p, k->p->events.v[event].name));
    aggregation_put_keys(k, &b, &c, line);
    if (b.len)
        c.extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(k->p, b.data, b.len);
    bool ok = !b.failed && c.extra_json != SP_STR_FAIL && aggregation_note_shape(k);
    sp_buf_free(&b);
    if (ok && c.tid != SP_ABSENT)
        ok = sp_thread_intern(k->p, c.pid, c.tid, c.comm) != SP_NONE;
    return ok ? sp_context_intern(k->p, &c) : SP_NONE;
}

uint32_t sp_agg_keys_context(struct sp_agg_keys *k, uint32_t event, uint64_t line)
{
    struct sp_agg_keys_known x = {.event = event, .n = k->n, .stacks = k->stacks};
    uint64_t hash = sp_hash_mix(event, (uint64_t)k->n << 32 | k->stacks);
    if (k->n > SP_AGG_KEYS_FEW)
        return aggregation_make_context(k, event, line);
    for (uint32_t i = 0; i < k->n; i++) {
        x.list[i].text = k->list[i].text;
        x.list[i].stacks = k->list[i].stacks;
        hash = sp_hash_mix(hash + x.list[i].text, x.list[i].stacks);
    }
    struct sp_agg_keys_known *known = &k->known[hash % (sizeof k->known / sizeof *k->known) & ~(uint64_t)1];
    for (int i = 0; i < 2; i++) {
        x.context = known[i].context;
        if (x.context && memcmp(&known[i], &x, sizeof x) == 0)
            return x.context - 1;
    }
    uint32_t context = aggregation_make_context(k, event, line);
    x.context = context + 1; /* SP_NONE + 1 is 0 */
    known[1] = known[0];
    known[0] = x;
    return context;
}

void sp_agg_keys_header(const struct sp_agg_keys *k, struct sp_buf *out)
{
    struct sp_str shape = sp_pstr(k->p, k->shape);
    sp_buf_puts(out, "\"keys\":[");
    for (size_t i = 0; i < k->nnames; i++) {
        sp_buf_puts(out, i ? "," : "");
        sp_json_string(out, k->names[i].p, k->names[i].n);
    }
    for (size_t i = 0; !k->nnames && shape.n && i <= shape.n;) {
        const char *comma = memchr(shape.p + i, ',', shape.n - i);
        size_t n = comma ? (size_t)(comma - shape.p) - i : shape.n - i;
        sp_buf_puts(out, i ? "," : "");
        sp_json_string(out, shape.p + i, n);
        i += n + 1;
    }
    sp_buf_ch(out, ']');
}

void sp_agg_keys_say(const struct sp_agg_keys *k, const char *example)
{
    struct sp_str shape = sp_pstr(k->p, k->shape);
    if (!k->nnames && (memmem(shape.p, shape.n, "string", 6) || memmem(shape.p, shape.n, "number", 6)))
        sp_emit_hint(k->d, SP_I322, SP_AT_NOTHING, example, "the keys of its records look like %s", shape.p);
}
