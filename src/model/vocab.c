#include "model/vocab.h"

#include <string.h>

const char *const sp_event_kind_names[] = {"hardware", "software", "allocation", "deallocation",
                                           "timer",    "probe",    NULL};
const char *const sp_mode_names[] = {"period", "frequency", "event", NULL};
const char *const sp_frame_kind_names[] = {"user", "kernel", "unknown", NULL};
const char *const sp_stack_type_names[] = {"unified", "user", "kernel", NULL};
const char *const sp_granularity_names[] = {"foreign", "address", "line", "function", NULL};
const char *const sp_ips_names[] = {"", "return", "call", NULL};
const char *const sp_text_symbol_names[] = {"", "_text", "_stext", NULL};
const char *const sp_group_names[] = {"pid", "tid", "comm", "cpu", "state", NULL};
const char *const sp_known_tools[] = {
    "perf",    "dtrace",     "bpftrace", "bcc",       "spindump", "sample",    "pmp",
    "spt",     "codeguru",   "pprof",    "heaptrack", "jemalloc", "tcmalloc",  "chrome-devtools",
    "firefox", "speedscope", "folded",   "otlp",      "spaa",     "turbopack", "node",
    "v8",      "lsan",       "valgrind", NULL};

int sp_name_index(const char *const *names, const char *s, size_t n)
{
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == n && memcmp(names[i], s, n) == 0)
            return i;
    return -1;
}

static const struct sp_metric_info metrics[] = {
    {"samples", SP_OP_SUM, NULL},
    {"period", SP_OP_SUM, NULL},
    {"count", SP_OP_SUM, NULL},
    {"value", SP_OP_SUM, NULL},
    {"alloc_bytes", SP_OP_SUM, "bytes"},
    {"alloc_count", SP_OP_SUM, "count"},
    {"free_bytes", SP_OP_SUM, "bytes"},
    {"free_count", SP_OP_SUM, "count"},
    {"live_bytes", SP_OP_SUM, "bytes"},
    {"live_count", SP_OP_SUM, "count"},
    {"peak_bytes", SP_OP_NONE, "bytes"},
    {"x_peak_count", SP_OP_NONE, "count"},
    {"x_temporary_count", SP_OP_SUM, "count"},
    {"cpu_time_ns", SP_OP_SUM, "ns"},
    {"offcpu_ns", SP_OP_SUM, "ns"},
    {"runqueue_ns", SP_OP_SUM, "ns"},
    {"waits", SP_OP_SUM, "count"},
    {"longest_ns", SP_OP_MAX, "ns"},
    {"unfinished_ns", SP_OP_SUM, "ns"},
    {"cache_misses", SP_OP_SUM, NULL},
    {"branch_misses", SP_OP_SUM, NULL},
    {"branches", SP_OP_SUM, NULL},
    {"traces", SP_OP_SUM, NULL},
    {"min", SP_OP_MIN, NULL},
    {"max", SP_OP_MAX, NULL},
    {"avg", SP_OP_NONE, NULL},
    {"stddev", SP_OP_NONE, NULL},
};

const char *const sp_metric_op_names[] = {"sum", "max", "min", "none", NULL};

const struct sp_metric_info *sp_metric_info_own(enum sp_metric_op op)
{
    static const struct sp_metric_info own[] = {
        [SP_OP_SUM] = {"", SP_OP_SUM, NULL},
        [SP_OP_MAX] = {"", SP_OP_MAX, NULL},
        [SP_OP_MIN] = {"", SP_OP_MIN, NULL},
        [SP_OP_NONE] = {"", SP_OP_NONE, NULL},
    };
    return &own[op];
}

const struct sp_metric_info *sp_metric_info(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (strlen(metrics[i].name) == n && memcmp(metrics[i].name, name, n) == 0)
            return &metrics[i];
    return sp_metric_info_own(SP_OP_SUM);
}

bool sp_metric_is_derived(const char *name, size_t n)
{
    static const char *const names[] = {"cpu_time_ns", "cache_misses", "branch_misses", NULL};
    return sp_name_index(names, name, n) >= 0;
}

size_t sp_metric_place(const struct sp_metric_info *info)
{
    size_t n = sizeof metrics / sizeof *metrics;
    return *info->name ? (size_t)(info - metrics) : n;
}
