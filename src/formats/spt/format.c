/* SPT: what the format can do, and its own options. */
#include "formats/spt/spt_format.h"

static const struct sp_format_option options[] = {
    {"map", "[BINARY=]FILE", "names for addresses from a linker map (link /MAP); may be repeated",
     SP_CAN_READ},
    {"image", "FILE", "names for addresses from the PDB or the binary itself (PE, ELF); may be repeated",
     SP_CAN_READ},
    {"binary", "NAME,…", "write only these binaries; may be repeated", SP_CAN_WRITE},
    {"no-kernel", NULL, "leave out the kernel and its drivers", SP_CAN_WRITE},
    {0},
};

const struct spaa_format spaa_format_spt = {
    .name = "spt",
    .title = "SPT (Windows Sample Profile Trace)",
    .extensions = "spt",
    .comes_back = "equal hits of each binary, opcode and address, pair or call stack",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_NAMES_FROM_SYMBOLS | SP_CAN_VALIDATE | SP_CAN_DUMP,
    .options = options,
    .sections = sp_spt_sections,
    .probe = sp_spt_probe,
    .read = sp_spt_read,
    .write = sp_spt_write,
    .validate = sp_spt_validate,
    .dump = sp_spt_dump,
};
