#include "analysis/heap_weights.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

const char *const sp_leak_metric_names[] = {"live_bytes",        "live_count", "alloc_bytes",
                                            "alloc_count",       "free_bytes", "free_count",
                                            "x_temporary_count", "peak_bytes", NULL};

void sp_heap_metrics(const struct sp_profile *p, uint32_t out[SP_LEAK_METRICS])
{
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        out[m] = sp_metric_find(p, sp_leak_metric_names[m], strlen(sp_leak_metric_names[m]));
}

int64_t sp_heap_weight(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    int64_t v = metric == SP_NONE ? SP_ABSENT : sp_weight(p, stack, metric);
    if (v != SP_DECIMAL)
        return v;
    struct sp_str t = sp_weight_text(p, stack, metric);
    double x = sp_text_double(t.p, t.n);
    return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? -INT64_MAX : llround(x);
}

struct sp_leak_sums sp_heap_weights(const struct sp_profile *p, const uint32_t metric[SP_LEAK_METRICS],
                                    uint32_t stack)
{
    struct sp_leak_sums w;
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        w.v[m] = sp_heap_weight(p, stack, metric[m]);
    for (int m = 0; m < 2; m++) {
        int64_t all = w.v[SP_LEAK_ALLOC_BYTES + m], freed = w.v[SP_LEAK_FREE_BYTES + m], left;
        if (w.v[SP_LEAK_LIVE_BYTES + m] == SP_ABSENT && all != SP_ABSENT && freed != SP_ABSENT &&
            !__builtin_sub_overflow(all, freed, &left))
            w.v[SP_LEAK_LIVE_BYTES + m] = left;
    }
    return w;
}

double sp_heap_chance(int64_t period, double bytes, double blocks)
{
    return -expm1(-bytes / blocks / (double)period);
}

bool sp_heap_is_of_go(const struct sp_profile *p)
{
    static const char *const names[] = {
        "runtime.main",   "runtime.goexit", "runtime.mstart",   "runtime.malg",        "runtime.allocm",
        "runtime.doInit", "runtime.mcall",  "runtime.mallocgc", "runtime.systemstack", NULL};
    if (!sp_str_is(sp_pstr(p, p->header.source_tool), "pprof"))
        return false;
    for (size_t i = 0; i < p->functions.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[i].name);
        if (sp_name_index(names, name.p, name.n) >= 0)
            return true;
    }
    return false;
}
