/* Folded (collapsed) stacks: what the format can do, and its own options. */
#include "formats/common/text/off_cpu_option.h"
#include "formats/folded/folded.h"

static const struct sp_format_option options[] = {
    {"value-metric", "NAME", "what the numbers count, e.g. samples (default: value)", SP_CAN_READ},
    SP_OFF_CPU_OPTION,
    {"with-pid", NULL, "the first frame is comm-PID", SP_CAN_WRITE},
    {"tid", NULL, "the first frame is comm-PID/TID", SP_CAN_WRITE},
    {"addrs", NULL, "unknown symbols with their address", SP_CAN_WRITE},
    {"mark-kernel", NULL, "kernel frames end in _[k]", SP_CAN_WRITE},
    {"jit", NULL, "frames of JIT-compiled code end in _[j]", SP_CAN_WRITE},
    {"inlines", NULL, "inlined frames end in _[i]", SP_CAN_WRITE},
    {"all", NULL, "--mark-kernel, --jit and --inlines", SP_CAN_WRITE},
    {"raw-names", NULL, "function names as they are in the profile, with parameters and quotes",
     SP_CAN_WRITE},
    {0},
};

const struct spaa_format spaa_format_folded = {
    .name = "folded",
    .title = "Folded (collapsed) stacks",
    .extensions = "folded collapsed",
    .media_type = "text/plain",
    .comes_back = "the same stacks and sums, sorted",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS,
    .options = options,
    .probe = sp_fold_probe,
    .read = sp_fold_read,
    .write = sp_fold_write,
};
