#include "formats/common/text/left_out.h"

#include <stdlib.h>

#define NAMED 8 /* at most, of a list */

static uint32_t event_of(const struct sp_profile *p, uint32_t stack)
{
    return p->contexts.v[p->stacks.v[stack].context].event;
}

static int by_text(const void *a, const void *b, void *arg)
{
    const struct sp_profile *p = arg;
    return sp_str_cmp(sp_pstr(p, *(const uint32_t *)a), sp_pstr(p, *(const uint32_t *)b));
}

/* "a, b and 3 more" */
static void put_names(const struct sp_profile *p, const uint32_t *v, size_t n, struct sp_buf *out)
{
    for (size_t i = 0; i < n && i < NAMED; i++) {
        struct sp_str s = sp_pstr(p, v[i]);
        sp_buf_puts(out, i ? ", " : "");
        sp_buf_add(out, s.n ? s.p : "none", s.n ? s.n : 4);
    }
    if (n > NAMED)
        sp_buf_printf(out, " and %zu more", n - NAMED);
}

size_t sp_states_of(const struct sp_profile *p, uint32_t event, struct sp_buf *names)
{
    unsigned char *seen = calloc(p->strs.strs.n + 1, 1);
    SP_VEC(uint32_t) states = {0};
    bool ok = seen != NULL;
    for (uint32_t s = 0; ok && s < p->stacks.n; s++) {
        uint32_t state = p->contexts.v[p->stacks.v[s].context].state;
        if (event_of(p, s) != event || seen[state])
            continue;
        seen[state] = 1;
        ok = sp_vec_push(&states, state);
    }
    if (ok && states.n > 1)
        qsort_r(states.v, states.n, sizeof *states.v, by_text, (void *)(uintptr_t)p);
    if (ok)
        put_names(p, states.v, states.n, names);
    size_t n = states.n;
    sp_vec_free(&states);
    free(seen);
    return ok && !names->failed ? n : SIZE_MAX;
}

spaa_status sp_say_states_added(const struct sp_profile *p, const struct sp_write_opts *opts, uint32_t event,
                                struct sp_diags *d)
{
    struct sp_buf names;
    size_t n = 0;
    sp_buf_init(&names, 0);
    for (uint32_t e = 0; e < p->events.n && n < 2 && !opts->add_states; e++) {
        sp_buf_clear(&names);
        if (event == SP_NONE || event == e)
            n = sp_states_of(p, e, &names);
    }
    if (n != SIZE_MAX && n > 1)
        sp_emit(d, SP_W313, SP_AT_NOTHING, "%s", sp_buf_cstr(&names));
    sp_buf_free(&names);
    return n == SIZE_MAX ? sp_nomem(d) : SPAA_OK;
}

spaa_status sp_say_events_left(const struct sp_profile *p, const struct sp_write_opts *opts, uint32_t written,
                               const char *what, struct sp_diags *d)
{
    unsigned char *seen = calloc(p->events.n + 1, 1);
    uint32_t *left = calloc(p->events.n + 1, sizeof *left);
    size_t n = 0;
    struct sp_buf names;
    sp_buf_init(&names, 0);
    bool ok = seen && left;
    for (uint32_t s = 0; ok && s < p->stacks.n; s++)
        if (event_of(p, s) != SP_NONE)
            seen[event_of(p, s)] = 1;
    for (uint32_t e = 0; ok && e < p->events.n; e++)
        if (seen[e] && e != written)
            left[n++] = p->events.v[e].name;
    if (n && opts->event == SP_NONE) {
        put_names(p, left, n, &names);
        ok = !names.failed;
        if (ok)
            sp_emit_hint(d, SP_I321, SP_AT_NOTHING, "--event NAME writes another one",
                         "%s holds one event: %s, not %s", what, sp_pstr(p, p->events.v[written].name).p,
                         sp_buf_cstr(&names));
    }
    sp_buf_free(&names);
    free(seen);
    free(left);
    return ok ? SPAA_OK : sp_nomem(d);
}
