/* What is collected while a file is read: addresses, each once, rows of them, and the names that the file
 * gives. */
#include "base/hash.h"
#include "formats/common/mapped/mapped.h"

void sp_mapped_init(struct sp_mapped *m, struct sp_profile *p, const struct sp_read_opts *opts,
                    struct sp_diags *d, size_t bytes)
{
    m->p = p;
    m->d = d;
    m->opts = opts;
    m->bytes = bytes;
    m->open_label = SP_NONE;
    sp_arena_init(&m->arena, 0);
    sp_buf_init(&m->text, 0);
}

void sp_mapped_free(struct sp_mapped *m)
{
    sp_binder_free(m->binder);
    sp_vec_free(&m->places);
    sp_map_free(&m->place_map);
    sp_vec_free(&m->chain);
    sp_vec_free(&m->rows);
    sp_vec_free(&m->values);
    sp_vec_free(&m->ranges);
    sp_vec_free(&m->modules);
    sp_map_free(&m->module_map);
    sp_vec_free(&m->labels);
    sp_map_free(&m->label_map);
    sp_vec_free(&m->numbers);
    sp_arena_free(&m->arena);
    sp_buf_free(&m->text);
}

spaa_status sp_mapped_metrics(struct sp_mapped *m, const struct sp_mapped_metric *metrics, uint32_t n)
{
    struct sp_weight_field fields[SP_MAPPED_METRICS];
    uint32_t nfields = 0;
    m->nmetrics = n < SP_MAPPED_METRICS ? n : SP_MAPPED_METRICS;
    for (uint32_t i = 0; i < m->nmetrics; i++) {
        m->metrics[i] = SP_NONE;
        if (!metrics[i].name)
            continue;
        m->metrics[i] = sp_metric_intern(m->p, metrics[i].name, strlen(metrics[i].name));
        struct sp_weight_field *f = &fields[nfields++];
        *f = (struct sp_weight_field){.metric = m->metrics[i]};
        if (metrics[i].unit)
            f->unit = sp_profile_cstr(m->p, metrics[i].unit);
        if (f->metric == SP_NONE || f->unit == SP_STR_FAIL)
            return sp_nomem(m->d);
    }
    m->layout = sp_layout_intern(m->p, fields, nfields);
    return m->layout == SP_NONE ? sp_nomem(m->d) : SPAA_OK;
}

static bool mapped_add(struct sp_mapped *m, uint64_t addr, uint32_t how)
{
    uint64_t hash = sp_hash_mix(addr, how);
    struct sp_probe at = sp_map_probe(&m->place_map, hash);
    uint32_t i;
    while ((i = sp_map_next(&m->place_map, &at)) != SP_MAP_NONE)
        if (m->places.v[i].addr == addr && m->places.v[i].how == how)
            break;
    if (i == SP_MAP_NONE) {
        struct sp_mapped_place fresh = {.addr = addr, .how = how};
        i = (uint32_t)m->places.n;
        if (m->places.n >= SP_NONE - 2 || !sp_vec_push(&m->places, fresh) ||
            !sp_map_add_at(&m->place_map, &at, i))
            return false;
    }
    return sp_vec_push(&m->chain, i);
}

bool sp_mapped_add(struct sp_mapped *m, uint64_t addr, bool caller)
{
    return mapped_add(m, addr, caller);
}

bool sp_mapped_add_named(struct sp_mapped *m, uint64_t addr, bool caller, struct sp_str name)
{
    uint32_t func = sp_profile_str(m->p, name.p, name.n);
    return func != SP_STR_FAIL && func <= UINT32_MAX >> 1 && mapped_add(m, addr, func << 1 | caller);
}

static bool mapped_push_row(struct sp_mapped *m, const struct sp_mapped_row *row, const int64_t *values)
{
    if (m->rows.n >= SP_NONE - 1 || !sp_vec_reserve(&m->values, m->values.n + m->nmetrics) ||
        !sp_vec_push(&m->rows, *row))
        return false;
    memcpy(m->values.v + m->values.n, values, m->nmetrics * sizeof *values);
    m->values.n += m->nmetrics;
    return true;
}

bool sp_mapped_row(struct sp_mapped *m, uint32_t context, const int64_t *values)
{
    size_t n = m->chain.n - m->begin;
    struct sp_mapped_row row = {m->begin, (uint32_t)n, context};
    m->begin = m->chain.n;
    return n < SP_NONE && mapped_push_row(m, &row, values);
}

bool sp_mapped_again(struct sp_mapped *m, uint32_t context, const int64_t *values)
{
    struct sp_mapped_row row = m->rows.v[m->rows.n - 1];
    row.context = context;
    return mapped_push_row(m, &row, values);
}

const struct sp_mapped_label *sp_mapped_labels(const struct sp_mapped *m, uint64_t addr)
{
    struct sp_probe at = sp_map_probe(&m->label_map, sp_hash_mix(addr, 3));
    for (uint32_t i; (i = sp_map_next(&m->label_map, &at)) != SP_MAP_NONE;)
        if (m->labels.v[i].addr == addr)
            return &m->labels.v[i];
    return NULL;
}

void sp_mapped_close_name(struct sp_mapped *m)
{
    m->open_label = SP_NONE;
}

spaa_status sp_mapped_name(struct sp_mapped *m, uint64_t addr, struct sp_str func, struct sp_str srcline,
                           struct sp_str dso)
{
    struct sp_mapped_label l = {.addr = addr, .next = SP_NONE};
    bool goes_on = m->open_label != SP_NONE && m->labels.v[m->open_label].addr == addr;
    if (!goes_on && sp_mapped_labels(m, addr))
        return SPAA_OK;
    if (goes_on && m->open_count >= SP_MAPPED_INLINED) {
        if (m->open_count++ == SP_MAPPED_INLINED)
            sp_emit(m->d, SP_L768, SP_AT_NOTHING, "an address with more than %u names", SP_MAPPED_INLINED);
        return SPAA_OK;
    }
    l.func = sp_profile_str(m->p, func.p, func.n);
    if (srcline.n)
        l.srcline = sp_profile_str(m->p, srcline.p, srcline.n);
    if (dso.n)
        l.dso = sp_profile_str(m->p, dso.p, dso.n);
    if (l.func == SP_STR_FAIL || l.srcline == SP_STR_FAIL || l.dso == SP_STR_FAIL ||
        m->labels.n >= SP_NONE - 1 || !sp_vec_push(&m->labels, l))
        return sp_nomem(m->d);
    uint32_t number = (uint32_t)m->labels.n - 1;
    if (goes_on)
        m->labels.v[m->open_label].next = number;
    else if (!sp_map_add(&m->label_map, sp_hash_mix(addr, 3), number))
        return sp_nomem(m->d);
    m->open_count = goes_on ? m->open_count + 1 : 1;
    m->open_label = number;
    return SPAA_OK;
}
