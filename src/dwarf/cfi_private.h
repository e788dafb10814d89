/* What the two halves of the CFI reader share. */
#ifndef SP_CFI_PRIVATE_H
#define SP_CFI_PRIVATE_H

#include "base/vec.h"
#include "dwarf/cfi.h"
#include "dwarf/elf.h"

/* A section's bytes in the table. */
struct sp_cfi_part {
    size_t at, n;  /* in `data` */
    uint64_t addr; /* of its first byte as linked */
    bool eh;       /* .eh_frame, else .debug_frame */
};

struct sp_cfi_fde {
    uint64_t start, end;
    uint32_t at; /* of the FDE in `data` */
    uint32_t part;
};

struct sp_cfi {
    struct sp_elf elf;
    unsigned machine;
    uint8_t word;
    bool swap, big_endian;
    SP_VEC(unsigned char) data;
    struct sp_cfi_part parts[4];
    uint32_t nparts;
    SP_VEC(struct sp_cfi_fde) fdes; /* by address, without overlap of equals */
};

/* Takes pieces off bytes; sticky `bad` once they run out. */
struct sp_cfi_cursor {
    const unsigned char *p, *end;
    bool swap, bad;
};

struct sp_cfi_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;
    uint8_t pointers; /* encoding of addresses in FDEs */
    bool signal, sized;
    const unsigned char *program, *end;
};

const unsigned char *sp_cfi_take(struct sp_cfi_cursor *c, uint64_t n);
uint64_t sp_cfi_fixed(struct sp_cfi_cursor *c, unsigned bytes);
uint64_t sp_cfi_uleb(struct sp_cfi_cursor *c);
int64_t sp_cfi_sleb(struct sp_cfi_cursor *c);
/* An encoded pointer; `bad` where the encoding needs what is not in the file. */
uint64_t sp_cfi_pointer(const struct sp_cfi *t, const struct sp_cfi_part *part, struct sp_cfi_cursor *c,
                        uint8_t encoding);
/* The FDE at `at` of the data: its CIE, and the cursor at its own program. */
bool sp_cfi_open_fde(const struct sp_cfi *t, const struct sp_cfi_fde *f, struct sp_cfi_cie *cie,
                     struct sp_cfi_cursor *program);

#endif
