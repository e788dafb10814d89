/* ELF files: build-id, load segments, symbols. Of Mach-O the same is said in the same words (macho.h). */
#ifndef SP_DWARF_ELF_H
#define SP_DWARF_ELF_H

#include "base/diag.h"
#include "dwarf/symtab.h"

#define SP_BUILD_ID_MAX 64 /* bytes */

struct sp_elf_load {
    uint64_t offset, filesz, vaddr;
    bool exec;
};

struct sp_elf {
    char build_id[2 * SP_BUILD_ID_MAX + 1]; /* lower-case hex; "" when there is none */
    char debuglink[256];                    /* a file name without directories; "" when there is none */
    uint32_t debuglink_crc;
    uint16_t machine;     /* EM_…; 0: not of an ELF file */
    bool go;              /* .gopclntab is there */
    uint64_t entry, text; /* where it begins to run; where .text is linked, 0: it has none */
    bool big;             /* big-endian */
    bool has_symtab;      /* .symtab with something in it */
    bool has_dwarf;
    bool has_mini; /* .gnu_debugdata, and no .symtab */
    bool codeless; /* its code is in another file: a separate debug file */
    bool macho;    /* an image of a Mach-O file: its UUID is the build-id, addresses count from its start */
    bool damaged;  /* Mach-O: not all that it should say is there */
    const char *damage; /* ELF: what is wrong with it as a whole ("it is cut off"); NULL: nothing */
    SP_VEC(struct sp_elf_load) loads;
};

/*
 * Reads what is said about the file as a whole, and with syms the functions, objects and labels of
 * its tables too (the PLT's as name@plt), at their virtual addresses. SPAA_ERR_NOT_FOUND when it cannot
 * be opened, SPAA_ERR_INPUT when it is no ELF file, SPAA_ERR_IO when it changed meanwhile (reported),
 * SPAA_ERR_NOMEM. What is damaged inside is left out.
 * The file is closed again: a recording may name more files than descriptors can be had.
 */
spaa_status sp_elf_read(const char *path, struct sp_diags *d, struct sp_elf *out, struct sp_symtab *syms);
void sp_elf_free(struct sp_elf *e); /* a zeroed one is fine */
/* The same of an ELF file in memory; out may be NULL. SPAA_ERR_INPUT, SPAA_ERR_NOMEM. */
spaa_status sp_elf_read_image(unsigned char *image, size_t n, struct sp_elf *out, struct sp_symtab *syms);
/*
 * The bytes of a section as they stand in the file, malloced; the size of the file unless that is NULL.
 * SPAA_ERR_NOT_FOUND, _LIMIT (more than max), _IO (reported), _NOMEM.
 */
spaa_status sp_elf_section(const char *path, const char *name, size_t max, struct sp_diags *d,
                           unsigned char **out, size_t *n, uint64_t *file_size);
/* So many bytes may the compressed sections of a file of this size hold in all. */
uint64_t sp_elf_inflatable(uint64_t file_size);
/* By the load segments, executable ones first. */
bool sp_elf_vaddr(const struct sp_elf *e, uint64_t offset, uint64_t *vaddr);

#endif
