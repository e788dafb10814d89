#include "unwind/code.h"

#include "base/map.h"
#include "base/vec.h"
#include "dwarf/elf.h"
#include "io/file.h"
#include "unwind/calls.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 8 << 10, RELOCS_MAX = 1 << 24, EXPORTS_MAX = 1 << 24, TABLES_MAX = 8 };

struct slot {
    uint64_t addr, value; /* value: a place, or where the name stands */
    enum sp_slot what;
};
struct export
{
    uint32_t name; /* in strings */
    bool chosen;   /* an indirect function */
    uint64_t value;
};
struct block {
    uint64_t offset;
    size_t n;
    unsigned char *bytes;
};
struct range {
    uint64_t start, end;
};

struct sp_mcode {
    struct sp_elf elf;
    struct sp_diags *d;
    char *path;
    uint64_t size;
    unsigned machine;
    bool landings, surveyed, tabled;
    spaa_status failed;
    char *strings; /* of the dynamic symbols; each offset below nstrings is a string */
    size_t nstrings;
    struct range got[TABLES_MAX];
    size_t ngot;
    SP_VEC(struct slot) slots;     /* by address */
    SP_VEC(struct export) exports; /* by name */
    SP_VEC(struct block) blocks;
    struct sp_map block_map; /* by offset / BLOCK */
};

/* ---- what the file says ---- */

static bool in_got(const struct sp_mcode *c, uint64_t addr)
{
    for (size_t i = 0; i < c->ngot; i++)
        if (addr >= c->got[i].start && addr < c->got[i].end)
            return true;
    return false;
}

/* How a relocation fills its slot. */
static enum sp_slot slot_kind(unsigned machine, uint32_t type)
{
    if (machine == EM_X86_64)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ? SP_SLOT_NAME
               : type == R_X86_64_RELATIVE                             ? SP_SLOT_PLACE
                                                                       : SP_SLOT_UNKNOWN;
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ? SP_SLOT_NAME
           : type == R_AARCH64_RELATIVE                              ? SP_SLOT_PLACE
                                                                     : SP_SLOT_UNKNOWN;
}

static bool add_slots(struct sp_mcode *c, Elf_Scn *s, Elf_Data *syms)
{
    Elf_Data *d = elf_getdata(s, NULL);
    size_t each = sizeof(Elf64_Rela), n = d && d->d_buf ? d->d_size / each : 0;
    GElf_Rela r;
    GElf_Sym sym;
    for (size_t i = 0; i < n && i < RELOCS_MAX && gelf_getrela(d, (int)i, &r); i++) {
        struct slot x = {r.r_offset, (uint64_t)r.r_addend,
                         slot_kind(c->machine, (uint32_t)GELF_R_TYPE(r.r_info))};
        if (!in_got(c, x.addr))
            continue;
        if (x.what == SP_SLOT_NAME) {
            size_t number = GELF_R_SYM(r.r_info);
            bool named = syms && number && number <= INT32_MAX && gelf_getsym(syms, (int)number, &sym) &&
                         sym.st_name < c->nstrings;
            x.value = named ? sym.st_name : 0;
            x.what = named && c->strings[x.value] ? SP_SLOT_NAME : SP_SLOT_UNKNOWN;
        }
        if (!sp_vec_push(&c->slots, x))
            return false;
    }
    return true;
}

static bool add_exports(struct sp_mcode *c, Elf_Data *syms)
{
    size_t n = syms->d_size / sizeof(Elf64_Sym);
    GElf_Sym s;
    for (size_t i = 1; i < n && i < EXPORTS_MAX && gelf_getsym(syms, (int)i, &s); i++) {
        unsigned type = GELF_ST_TYPE(s.st_info), bind = GELF_ST_BIND(s.st_info);
        if (s.st_shndx == SHN_UNDEF || bind == STB_LOCAL || s.st_name >= c->nstrings || !s.st_value ||
            (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
            continue;
        struct export e = {s.st_name, type == STT_GNU_IFUNC, s.st_value};
        if (!sp_vec_push(&c->exports, e))
            return false;
    }
    return true;
}

/* A copy of the dynamic symbols' strings, cut behind the last NUL. False: out of memory. */
static bool copy_strings(struct sp_mcode *c, Elf *elf, const GElf_Shdr *dynsym)
{
    Elf_Scn *s = elf_getscn(elf, dynsym->sh_link);
    Elf_Data *d = s ? elf_getdata(s, NULL) : NULL;
    const char *last = d && d->d_buf ? memrchr(d->d_buf, '\0', d->d_size) : NULL;
    if (!last)
        return true;
    c->nstrings = (size_t)(last - (const char *)d->d_buf) + 1;
    c->strings = malloc(c->nstrings);
    if (!c->strings)
        return false;
    memcpy(c->strings, d->d_buf, c->nstrings);
    return true;
}

/* The sections that say where the tables are, before those that say what is in them. */
static Elf_Scn *survey(struct sp_mcode *c, Elf *elf, size_t names)
{
    GElf_Shdr sh;
    Elf_Scn *dynsym = NULL;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
        if (!name)
            continue;
        if (sh.sh_type == SHT_DYNSYM && !dynsym)
            dynsym = s;
        c->landings = c->landings || !strncmp(name, ".gcc_except_table", 17);
        if ((!strcmp(name, ".got") || !strcmp(name, ".got.plt")) && !c->surveyed && c->ngot < TABLES_MAX)
            c->got[c->ngot++] = (struct range){sh.sh_addr, sh.sh_addr + sh.sh_size};
    }
    c->surveyed = true;
    return dynsym;
}

static int code_by_addr(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return (x->addr > y->addr) - (x->addr < y->addr);
}

static int by_name(const void *va, const void *vb, void *arg)
{
    const struct sp_mcode *c = arg;
    const struct export *a = va, *b = vb;
    int order = strcmp(c->strings + a->name, c->strings + b->name);
    return order ? order : (a->value > b->value) - (a->value < b->value);
}

/* What the file is; false: nothing whose calls are known. */
static bool read_head(struct sp_mcode *c, Elf *elf, size_t *names)
{
    GElf_Ehdr eh;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
        eh.e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    if (eh.e_machine == SP_MACHINE_X86_64 || eh.e_machine == SP_MACHINE_AARCH64)
        c->machine = eh.e_machine;
    return c->machine && !elf_getshdrstrndx(elf, names);
}

/* The dynamic symbols and what the loader does with them; false: out of memory. */
static bool read_tables(struct sp_mcode *c, Elf *elf)
{
    size_t names;
    GElf_Shdr sh;
    if (!read_head(c, elf, &names))
        return true;
    Elf_Scn *dynsym = survey(c, elf, names);
    Elf_Data *syms = dynsym ? elf_getdata(dynsym, NULL) : NULL;
    syms = syms && syms->d_buf ? syms : NULL;
    if (syms && gelf_getshdr(dynsym, &sh) && (!copy_strings(c, elf, &sh) || !add_exports(c, syms)))
        return false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_RELA && sh.sh_flags & SHF_ALLOC &&
            !add_slots(c, s, syms))
            return false;
    if (c->slots.n)
        qsort(c->slots.v, c->slots.n, sizeof *c->slots.v, code_by_addr);
    if (c->exports.n)
        qsort_r(c->exports.v, c->exports.n, sizeof *c->exports.v, by_name, c);
    return true;
}

/* Only what is cheap: most files are asked for nothing but bytes. */
static bool read_little(struct sp_mcode *c, Elf *elf)
{
    size_t names;
    if (read_head(c, elf, &names))
        survey(c, elf, names);
    return true;
}

/* ---- life ---- */

/* Opens the file for a while. */
static spaa_status look(struct sp_mcode *c, bool (*read)(struct sp_mcode *, Elf *))
{
    int fd = sp_file_open(c->path, &c->size);
    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        if (fd >= 0)
            close(fd);
        return SPAA_OK;
    }
    errno = 0; /* libelf does not say that memory ran out, this does */
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool ok = read(c, elf);
    spaa_status st = ok && errno != ENOMEM ? sp_file_check(fd, c->size, c->path, c->d) : SPAA_ERR_NOMEM;
    elf_end(elf);
    close(fd);
    return st;
}

/* Stand-ins for a file have its segments, and not what is in them. */
static bool is_whole(const struct sp_mcode *c)
{
    for (size_t i = 0; i < c->elf.loads.n; i++) {
        const struct sp_elf_load *l = &c->elf.loads.v[i];
        if (l->exec && (l->offset > c->size || l->filesz > c->size - l->offset))
            return false;
    }
    return true;
}

spaa_status sp_mcode_load(const char *path, const char *build_id, struct sp_diags *d, struct sp_mcode **out)
{
    struct sp_mcode *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return SPAA_ERR_NOMEM;
    c->d = d;
    c->path = malloc(strlen(path) + 1); /* not strdup: tests count what is allocated here */
    if (c->path)
        memcpy(c->path, path, strlen(path) + 1);
    spaa_status st = c->path ? sp_elf_read(path, d, &c->elf, NULL) : SPAA_ERR_NOMEM;
    bool same =
        !st && (!build_id || (c->elf.build_id[0] && !strncmp(c->elf.build_id, build_id, strlen(build_id))));
    st = sp_file_fatal(st);
    if (!st && same)
        st = look(c, read_little);
    if (st || !c->machine || !is_whole(c)) {
        sp_mcode_free(c);
        return st;
    }
    *out = c;
    return SPAA_OK;
}

void sp_mcode_free(struct sp_mcode *c)
{
    if (!c)
        return;
    sp_elf_free(&c->elf);
    free(c->path);
    free(c->strings);
    sp_vec_free(&c->slots);
    sp_vec_free(&c->exports);
    for (size_t i = 0; i < c->blocks.n; i++)
        free(c->blocks.v[i].bytes);
    sp_vec_free(&c->blocks);
    sp_map_free(&c->block_map);
    free(c);
}

unsigned sp_mcode_machine(const struct sp_mcode *c)
{
    return c->machine;
}

bool sp_mcode_has_landings(const struct sp_mcode *c)
{
    return c->landings;
}

spaa_status sp_mcode_failed(const struct sp_mcode *c)
{
    return c->failed;
}

/* ---- bytes ---- */

static const struct sp_elf_load *load_at(const struct sp_mcode *c, uint64_t addr)
{
    for (size_t i = 0; i < c->elf.loads.n; i++) {
        const struct sp_elf_load *l = &c->elf.loads.v[i];
        if (l->exec && addr >= l->vaddr && addr - l->vaddr < l->filesz)
            return l;
    }
    return NULL;
}

bool sp_mcode_at(const struct sp_mcode *c, uint64_t addr)
{
    return load_at(c, addr);
}

/* NULL: it cannot be read. */
static const struct block *block_of(struct sp_mcode *c, uint64_t number)
{
    struct sp_probe at = sp_map_probe(&c->block_map, number * 0x9e3779b97f4a7c15u);
    for (uint32_t i; (i = sp_map_next(&c->block_map, &at)) != SP_MAP_NONE;)
        if (c->blocks.v[i].offset == number * BLOCK)
            return &c->blocks.v[i];
    uint64_t size, offset = number * BLOCK;
    if (c->failed || offset >= c->size)
        return NULL;
    struct block b = {offset, c->size - offset < BLOCK ? (size_t)(c->size - offset) : BLOCK, malloc(BLOCK)};
    int fd = b.bytes ? sp_file_open(c->path, &size) : -1;
    if (!b.bytes)
        c->failed = SPAA_ERR_NOMEM;
    else if (fd < 0)
        b.n = 0; /* it is gone: nothing is known of it any more */
    else
        c->failed = sp_file_read(fd, size, offset, b.bytes, b.n, c->path, c->d);
    if (fd >= 0)
        close(fd);
    if (!c->failed && (!sp_vec_reserve(&c->blocks, c->blocks.n + 1) ||
                       !sp_map_add_at(&c->block_map, &at, (uint32_t)c->blocks.n)))
        c->failed = SPAA_ERR_NOMEM;
    if (c->failed) {
        free(b.bytes);
        return NULL;
    }
    c->blocks.v[c->blocks.n++] = b;
    return &c->blocks.v[c->blocks.n - 1];
}

size_t sp_mcode_read(struct sp_mcode *c, uint64_t addr, unsigned char *out, size_t n)
{
    const struct sp_elf_load *l = load_at(c, addr);
    size_t done = 0;
    if (!l)
        return 0;
    uint64_t offset = addr - l->vaddr + l->offset, left = l->filesz - (addr - l->vaddr);
    n = n < left ? n : (size_t)left;
    while (done < n) {
        const struct block *b = block_of(c, (offset + done) / BLOCK);
        size_t from = (size_t)((offset + done) % BLOCK);
        if (!b || from >= b->n)
            break;
        size_t some = b->n - from < n - done ? b->n - from : n - done;
        memcpy(out + done, b->bytes + from, some);
        done += some;
    }
    return done;
}

/* ---- where tables lead ---- */

static bool have_tables(struct sp_mcode *c)
{
    if (!c->tabled && !c->failed)
        c->failed = look(c, read_tables);
    c->tabled = true;
    return !c->failed;
}

enum sp_slot sp_mcode_slot(struct sp_mcode *c, uint64_t slot, const char **name, uint64_t *place)
{
    struct slot key = {.addr = slot};
    const struct slot *s = have_tables(c) && c->slots.n
                               ? bsearch(&key, c->slots.v, c->slots.n, sizeof *c->slots.v, code_by_addr)
                               : NULL;
    if (!s)
        return SP_SLOT_UNKNOWN;
    *place = s->value;
    *name = s->what == SP_SLOT_NAME ? c->strings + s->value : NULL;
    return s->what;
}

static uint32_t word_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* adrp x16, PAGE; ldr x17, [x16, OFFSET]; …: perhaps behind a landing mark (bti c). */
static bool arm64_stub(const unsigned char *p, size_t n, uint64_t addr, uint64_t *slot)
{
    if (n >= 4 && word_at(p) == 0xd503245f) {
        p += 4;
        n -= 4;
        addr += 4;
    }
    if (n < 8 || (word_at(p) & 0x9f00001f) != 0x90000010 || (word_at(p + 4) & 0xffc003ff) != 0xf9400211)
        return false;
    uint64_t pages = (uint64_t)(word_at(p) >> 5 & 0x7ffff) << 2 | (word_at(p) >> 29 & 3);
    int64_t page = (int64_t)(pages << 43) >> 43;
    *slot = (addr & ~(uint64_t)4095) + (uint64_t)(page * 4096) + ((word_at(p + 4) >> 10 & 0xfff) << 3);
    return true;
}

bool sp_mcode_stub(struct sp_mcode *c, uint64_t addr, uint64_t *slot)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    unsigned char bytes[32], *p = bytes;
    size_t n = sp_mcode_read(c, addr, bytes, sizeof bytes);
    struct sp_insn x;
    if (c->machine == SP_MACHINE_AARCH64)
        return arm64_stub(p, n, addr, slot) && in_got(c, *slot);
    if (n >= 4 && !memcmp(p, endbr64, 4)) {
        p += 4;
        n -= 4;
        addr += 4;
    }
    if (!sp_insn_read(c->machine, p, n, addr, &x) || x.kind != SP_INSN_JUMP_INDIRECT || !x.slotted)
        return false;
    *slot = x.slot;
    return in_got(c, x.slot);
}

size_t sp_mcode_exports(struct sp_mcode *c, const char *name, uint64_t *out, size_t max, bool *chosen)
{
    size_t from = 0, to = have_tables(c) ? c->exports.n : 0, n = 0;
    *chosen = false;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (strcmp(c->strings + c->exports.v[mid].name, name) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    for (; !c->failed && from < c->exports.n && !strcmp(c->strings + c->exports.v[from].name, name); from++) {
        *chosen = *chosen || c->exports.v[from].chosen;
        if (n < max && (!n || out[n - 1] != c->exports.v[from].value))
            out[n++] = c->exports.v[from].value;
    }
    return n;
}
