/*
 * Mach-O, read natively by Apple's headers (mach-o/loader.h, fat.h): the fat header, which is big-endian, the
 * images and their load commands. Images of little-endian processors only: others are no longer made.
 *
 * No number of the file is believed: parts are checked against the image, the image against the file, load
 * commands against what holds them. A load command that cannot be right ends them; what came before counts.
 * What is kept is bounded by the bytes that the commands take.
 *
 * Not fit, and treated as if they were no Mach-O: object files and cores, which are not linked, and the
 * kernel and its extensions where they have code in __TEXT_EXEC: offsets of reports count from there.
 */
#include "dwarf/macho_private.h"

#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_MAX ((uint32_t)16 << 20)
#define SECTIONS_MAX 4096u

enum {
    MAGIC_32 = 0xfeedface,
    MAGIC_64 = 0xfeedfacf,
    FAT_32 = 0xcafebabe, /* which Java's classes begin with, too */
    FAT_64 = 0xcafebabf,
    TYPE_OBJECT = 1,
    TYPE_CORE = 4,
    TYPE_DSYM = 10,
    LC_SEGMENT_32 = 0x1,
    LC_SYMTAB = 0x2,
    LC_DYSYMTAB = 0xb,
    LC_SEGMENT_64 = 0x19,
    LC_UUID = 0x1b,
    LC_FUNCTION_STARTS = 0x26,
    EXECUTE = 4,
    SECTION_CODE = (int)0x80000400, /* S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS */
    SECTION_TYPE = 0xff,
    SYMBOL_STUBS = 8,
};

static uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t big64(const unsigned char *p)
{
    return (uint64_t)big32(p) << 32 | big32(p + 4);
}

static bool holds(uint64_t size, struct sp_macho_part part)
{
    return part.at <= size && part.size <= size - part.at;
}

static spaa_status macho_read(const struct sp_macho *m, uint64_t at, void *p, size_t n)
{
    return sp_file_read(m->fd, m->size, at, p, n, m->path, m->d);
}

spaa_status sp_macho_bytes(const struct sp_macho *m, struct sp_macho_part part, unsigned char **out)
{
    *out = NULL;
    if (!part.size || !holds(m->image.size, part) || part.size >= SIZE_MAX)
        return SPAA_OK;
    unsigned char *p = malloc((size_t)part.size + 1);
    if (!p)
        return SPAA_ERR_NOMEM;
    spaa_status st = macho_read(m, m->image.at + part.at, p, (size_t)part.size);
    p[part.size] = '\0';
    if (st)
        free(p);
    else
        *out = p;
    return st;
}

/* ---- load commands ---- */

static bool take_section(struct sp_macho *m, const unsigned char *p)
{
    struct sp_macho_section s = {0};
    uint32_t flags = sp_macho_u32(p + (m->is_64 ? 64 : 56));
    memcpy(s.name, p, 16);
    s.addr = m->is_64 ? sp_macho_u64(p + 32) : sp_macho_u32(p + 32);
    s.size = m->is_64 ? sp_macho_u64(p + 40) : sp_macho_u32(p + 36);
    s.offset = sp_macho_u32(p + (m->is_64 ? 48 : 40));
    s.code = flags & (uint32_t)SECTION_CODE && (flags & SECTION_TYPE) != SYMBOL_STUBS;
    s.dwarf = memcmp(p + 16, "__DWARF", 8) == 0;
    return m->sections.n >= SECTIONS_MAX || sp_vec_push(&m->sections, s);
}

/* False: out of memory. */
static bool take_segment(struct sp_macho *m, const unsigned char *p, uint32_t size)
{
    uint32_t head = m->is_64 ? 72 : 56, each = m->is_64 ? 80 : 68;
    if (size < head) {
        m->is.damaged = true;
        return true;
    }
    uint64_t addr = m->is_64 ? sp_macho_u64(p + 24) : sp_macho_u32(p + 24);
    uint64_t room = m->is_64 ? sp_macho_u64(p + 32) : sp_macho_u32(p + 28);
    uint64_t offset = m->is_64 ? sp_macho_u64(p + 40) : sp_macho_u32(p + 32);
    uint64_t bytes = m->is_64 ? sp_macho_u64(p + 48) : sp_macho_u32(p + 36);
    bool exec = p[m->is_64 ? 60 : 44] & EXECUTE, text = memcmp(p + 8, "__TEXT", 7) == 0;
    uint32_t n = sp_macho_u32(p + (m->is_64 ? 64 : 48)), most = (size - head) / each;
    m->kernel |= memcmp(p + 8, "__TEXT_EXEC", 12) == 0;
    if (text && !m->has_text) {
        m->has_text = true;
        m->text = addr;
        m->text_size = room;
    }
    m->is.damaged |= n > most;
    struct sp_elf_load load = {m->image.at + offset, bytes, addr, exec};
    bool kept =
        bytes && m->is.loads.n < SECTIONS_MAX && holds(m->image.size, (struct sp_macho_part){offset, bytes});
    bool ok = !kept || sp_vec_push(&m->is.loads, load);
    for (uint32_t i = 0; ok && i < n && i < most; i++)
        ok = take_section(m, p + head + (size_t)i * each);
    return ok;
}

static void take_uuid(struct sp_macho *m, const unsigned char *p)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++) {
        m->image.uuid[2 * i] = digits[p[i] >> 4];
        m->image.uuid[2 * i + 1] = digits[p[i] & 15];
    }
}

static void take_symtab(struct sp_macho *m, const unsigned char *p)
{
    uint32_t each = m->is_64 ? 16 : 12;
    m->nsymbols = sp_macho_u32(p + 12);
    m->symbols = (struct sp_macho_part){sp_macho_u32(p + 8), (uint64_t)m->nsymbols * each};
    m->strings = (struct sp_macho_part){sp_macho_u32(p + 16), sp_macho_u32(p + 20)};
    if (!holds(m->image.size, m->strings) || !holds(m->image.size, m->symbols)) {
        m->is.damaged = true;
        m->symbols.size = m->strings.size = m->nsymbols = 0;
    }
}

/* False: out of memory. */
static bool take_command(struct sp_macho *m, uint32_t cmd, const unsigned char *p, uint32_t size)
{
    if (cmd == (m->is_64 ? LC_SEGMENT_64 : LC_SEGMENT_32))
        return take_segment(m, p, size);
    if (cmd == LC_SYMTAB && size >= 24)
        take_symtab(m, p);
    else if (cmd == LC_DYSYMTAB && size >= 16)
        m->locals = sp_macho_u32(p + 12);
    else if (cmd == LC_UUID && size >= 24)
        take_uuid(m, p + 8);
    else if (cmd == LC_FUNCTION_STARTS && size >= 16) {
        m->starts = (struct sp_macho_part){sp_macho_u32(p + 8), sp_macho_u32(p + 12)};
        m->is.damaged |= !holds(m->image.size, m->starts);
    }
    return true;
}

/* False: out of memory. */
static bool take_commands(struct sp_macho *m, const unsigned char *p, uint32_t left, uint32_t n)
{
    for (; n && left >= 8; n--) {
        uint32_t size = sp_macho_u32(p + 4);
        if (size < 8 || size > left)
            break;
        if (!take_command(m, sp_macho_u32(p), p, size))
            return false;
        p += size;
        left -= size;
    }
    m->is.damaged |= n != 0;
    return true;
}

/* From the first byte of the image to the last load command. */
static spaa_status read_image(struct sp_macho *m)
{
    unsigned char h[32] = {0};
    if (m->image.size < sizeof h || macho_read(m, m->image.at, h, sizeof h))
        return m->image.size < sizeof h ? SPAA_ERR_INPUT : SPAA_ERR_IO;
    uint32_t magic = sp_macho_u32(h), n = sp_macho_u32(h + 16), bytes = sp_macho_u32(h + 20);
    if (magic != MAGIC_32 && magic != MAGIC_64)
        return SPAA_ERR_INPUT;
    m->is_64 = magic == MAGIC_64;
    m->image.type = sp_macho_u32(h + 12);
    m->image.debug = m->image.type == TYPE_DSYM;
    uint64_t head = m->is_64 ? 32 : 28, most = m->image.size - head;
    if (bytes > most || bytes > COMMANDS_MAX) {
        m->is.damaged = true;
        bytes = most < COMMANDS_MAX ? (uint32_t)most : COMMANDS_MAX;
    }
    unsigned char *p = NULL;
    spaa_status st = sp_macho_bytes(m, (struct sp_macho_part){head, bytes}, &p);
    if (!st && p && !take_commands(m, p, bytes, n))
        st = SPAA_ERR_NOMEM;
    free(p);
    bool fit = m->has_text && !m->kernel && m->image.type != TYPE_OBJECT && m->image.type != TYPE_CORE;
    return st ? st : fit ? SPAA_OK : SPAA_ERR_INPUT;
}

/* ---- files ---- */

static void macho_clear(struct sp_macho *m)
{
    sp_elf_free(&m->is);
    sp_vec_free(&m->sections);
    *m = (struct sp_macho){.path = m->path, .d = m->d, .fd = m->fd, .size = m->size};
}

/* Where the images of the file are, by its fat header; one, the whole file, where it has none. */
static spaa_status find_images(struct sp_macho *m, struct sp_macho_part out[SP_MACHO_IMAGES_MAX], size_t *n)
{
    unsigned char h[8], entry[32];
    *n = 0;
    if (m->size < sizeof h)
        return SPAA_ERR_INPUT;
    spaa_status st = macho_read(m, 0, h, sizeof h);
    uint32_t magic = big32(h), count = big32(h + 4), each = magic == FAT_64 ? 32 : 20;
    if (st)
        return st;
    if (magic != FAT_32 && magic != FAT_64) {
        out[(*n)++] = (struct sp_macho_part){0, m->size};
        return SPAA_OK;
    }
    for (uint32_t i = 0; i < count && i < SP_MACHO_IMAGES_MAX; i++) {
        uint64_t at = sizeof h + (uint64_t)i * each;
        if (!holds(m->size, (struct sp_macho_part){at, each}))
            break;
        st = macho_read(m, at, entry, each);
        if (st)
            return st;
        struct sp_macho_part part = {big32(entry + 8), big32(entry + 12)};
        if (magic == FAT_64)
            part = (struct sp_macho_part){big64(entry + 8), big64(entry + 16)};
        if (holds(m->size, part))
            out[(*n)++] = part;
    }
    return SPAA_OK;
}

/* Opens the file; parts are its images, fit or not. */
static spaa_status macho_begin(const char *path, struct sp_diags *d, struct sp_macho *m,
                               struct sp_macho_part parts[SP_MACHO_IMAGES_MAX], size_t *n)
{
    *m = (struct sp_macho){.path = path, .d = d};
    m->fd = sp_file_open(path, &m->size);
    return m->fd < 0 ? SPAA_ERR_NOT_FOUND : find_images(m, parts, n);
}

static spaa_status take_image(struct sp_macho *m, struct sp_macho_part part)
{
    macho_clear(m);
    m->image.at = part.at;
    m->image.size = part.size;
    return read_image(m);
}

spaa_status sp_macho_close(struct sp_macho *m, spaa_status st)
{
    if (m->fd >= 0) {
        if (!sp_file_fatal(st) && sp_file_check(m->fd, m->size, m->path, m->d))
            st = SPAA_ERR_IO;
        close(m->fd);
    }
    m->fd = -1;
    macho_clear(m);
    return st;
}

spaa_status sp_macho_open(const char *path, const char *uuid, struct sp_diags *d, struct sp_macho *m)
{
    struct sp_macho_part parts[SP_MACHO_IMAGES_MAX];
    size_t n, first = SIZE_MAX;
    spaa_status st = macho_begin(path, d, m, parts, &n);
    for (size_t i = 0; !st && i < n; i++) {
        st = take_image(m, parts[i]);
        if (!st && uuid && strcmp(m->image.uuid, uuid) == 0)
            return SPAA_OK;
        if (!st && first == SIZE_MAX)
            first = i;
        st = sp_file_fatal(st);
    }
    if (st)
        return st;
    return first == SIZE_MAX ? SPAA_ERR_INPUT : take_image(m, parts[first]);
}

spaa_status sp_macho_images(const char *path, struct sp_diags *d,
                            struct sp_macho_image out[SP_MACHO_IMAGES_MAX], size_t *n)
{
    struct sp_macho m;
    struct sp_macho_part parts[SP_MACHO_IMAGES_MAX];
    size_t count;
    *n = 0;
    spaa_status st = macho_begin(path, d, &m, parts, &count);
    for (size_t i = 0; !st && i < count; i++) {
        st = take_image(&m, parts[i]);
        if (!st)
            out[(*n)++] = m.image;
        st = sp_file_fatal(st);
    }
    return sp_macho_close(&m, st || *n ? st : SPAA_ERR_INPUT);
}
