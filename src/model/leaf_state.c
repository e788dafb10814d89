#include "model/leaf_state.h"

#include <string.h>

enum leaf_where { SYSTEM, TRAP, KERNEL, THREAD };

static const struct leaf_rule {
    enum leaf_where where;
    const char *name; /* a `*` at the end: any rest */
    const char *state;
} leaf_rules[] = {
#define LEAF_STATE(where, name, state) {where, name, #state},
#include "model/leaf_states.def"
#undef LEAF_STATE
};

static bool leaf_fits(const char *rule, struct sp_str name)
{
    size_t n = strlen(rule);
    if (rule[n - 1] == '*')
        return name.n >= n - 1 && memcmp(rule, name.p, n - 1) == 0;
    return sp_str_is(name, rule);
}

static const char *leaf_find(enum leaf_where where, struct sp_str name)
{
    for (size_t i = 0; i < sizeof leaf_rules / sizeof *leaf_rules; i++)
        if (leaf_rules[i].where == where && leaf_fits(leaf_rules[i].name, name))
            return leaf_rules[i].state;
    return NULL;
}

/* libsystem_kernel.dylib, libsystem_pthread.dylib, libSystem.B.dylib before 10.7. *unknown: none is named. */
static bool leaf_is_system(struct sp_str dso, bool *unknown)
{
    static const char *const libraries[] = {"libsystem_", "libSystem"};
    struct sp_str base = dso;
    const char *slash = dso.n ? memrchr(dso.p, '/', dso.n) : NULL;
    if (slash)
        base = (struct sp_str){slash + 1, (uint32_t)(dso.p + dso.n - slash - 1)};
    *unknown = !base.n || sp_str_is(base, "[unknown]") || sp_str_is(base, "<unknown binary>");
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(libraries[i]);
        if (base.n >= n && memcmp(base.p, libraries[i], n) == 0)
            return true;
    }
    return false;
}

const char *sp_leaf_state(struct sp_str function, struct sp_str dso, bool kernel)
{
    if (!function.n)
        return NULL;
    if (kernel)
        return leaf_find(KERNEL, function);
    bool unknown, system = leaf_is_system(dso, &unknown);
    const char *state = system || unknown ? leaf_find(TRAP, function) : NULL;
    return state || !system ? state : leaf_find(SYSTEM, function);
}

bool sp_is_idle_thread(struct sp_str name)
{
    return leaf_find(THREAD, name) != NULL;
}
