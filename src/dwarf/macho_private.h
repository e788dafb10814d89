/* An open Mach-O file and one image in it, for the parts that read it (macho.c, macho_symbols.c, file.c). */
#ifndef SP_DWARF_MACHO_PRIVATE_H
#define SP_DWARF_MACHO_PRIVATE_H

#include "base/vec.h"
#include "dwarf/macho.h"

struct sp_macho_section {
    char name[17]; /* 16 bytes of it, where it has more */
    uint64_t addr, size, offset;
    bool code, dwarf;
};

/* A part of the image, by offset and size in it. */
struct sp_macho_part {
    uint64_t at, size;
};

struct sp_macho {
    const char *path;
    struct sp_diags *d;
    int fd;
    uint64_t size; /* of the file */
    struct sp_macho_image image;
    struct sp_elf is; /* what is said of the image */
    bool is_64, has_text;
    bool kernel; /* its code is not in __TEXT */
    uint64_t text, text_size;
    uint32_t locals; /* symbols that others do not see */
    SP_VEC(struct sp_macho_section) sections;
    struct sp_macho_part symbols, strings, starts;
    uint32_t nsymbols;
};

/* The image with a UUID, or else the first one. Fails as sp_macho_read; sp_macho_close either way. */
spaa_status sp_macho_open(const char *path, const char *uuid, struct sp_diags *d, struct sp_macho *m);
/* Whether the file became shorter meanwhile is known now: SPAA_ERR_IO; else what was passed. */
spaa_status sp_macho_close(struct sp_macho *m, spaa_status st);
/* Bytes of the image with a NUL behind them, malloced; *out NULL: the image does not have them. */
spaa_status sp_macho_bytes(const struct sp_macho *m, struct sp_macho_part part, unsigned char **out);

static inline uint32_t sp_macho_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t sp_macho_u64(const unsigned char *p)
{
    return sp_macho_u32(p) | (uint64_t)sp_macho_u32(p + 4) << 32;
}

#endif
