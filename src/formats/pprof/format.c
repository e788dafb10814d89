/* The format's entry. */
#include "formats/pprof/pprof.h"

const struct spaa_format spaa_format_pprof = {
    .name = "pprof",
    .title = "pprof protobuf (Go, C++, Java, Rust)",
    .extensions = "pprof pb pb.gz",
    .media_type = "application/protobuf",
    .comes_back = "equal content: samples, labels, mappings, lines, comments",
    .caps = SP_CAN_READ | SP_CAN_WRITE,
    .probe = sp_pprof_probe,
    .read = sp_pprof_read_file,
    .write = sp_pprof_write,
};
