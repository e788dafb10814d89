/*
 * Symbols in .gnu_debugdata ("mini debug info"): an ELF file of little more than a symbol table, compressed
 * with xz, inside a stripped one. Fedora and its relatives put it into every binary.
 *
 * Unpacked by liblzma, opened when the first such section is met, so that nothing else depends on it. Source:
 * the GDB manual, "MiniDebugInfo"; lzma/container.h for the function's form. It is told how much memory it
 * may take, and what it gives may be no more than a file of this size may hold (SPAA-W805).
 */
#include "base/library.h"
#include "io/file.h"
#include "symbols/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKED_MAX   ((size_t)64 << 20)
#define UNPACKED_MAX ((size_t)256 << 20)
#define MEMORY_MAX   ((uint64_t)256 << 20)

enum { LZMA_OK = 0, LZMA_MEM_ERROR = 5, LZMA_BUF_ERROR = 10 };

/* memory limit, flags, allocator, input with position and size, output with position and size */
typedef int (*decode_fn)(uint64_t *, uint32_t, const void *, const uint8_t *, size_t *, size_t, uint8_t *,
                         size_t *, size_t);

/* liblzma's decoder, loaded once. SPAA_ERR_UNSUPPORTED: it is not there; SPAA_ERR_NOMEM. */
static spaa_status decoder(struct sp_symbols *s, decode_fn *out)
{
    errno = 0;
    if (!s->lzma_tried)
        s->lzma = sp_library_open("liblzma.so.5");
    s->lzma_tried = true;
    *out = (decode_fn)sp_library_find(s->lzma, "lzma_stream_buffer_decode");
    return *out ? SPAA_OK : errno == ENOMEM ? SPAA_ERR_NOMEM : SPAA_ERR_UNSUPPORTED;
}

void sp_minidebug_end(struct sp_symbols *s)
{
    sp_library_close(s->lzma);
    s->lzma = NULL;
}

/*
 * Into a malloced block, tried with twice the room until it fits. SPAA_ERR_INPUT, _LIMIT (most), _NOMEM.
 * liblzma says LZMA_BUF_ERROR of input that is cut, too: then the end of the room is as it was.
 */
static spaa_status minidebug_unpack(decode_fn decode, const unsigned char *p, size_t n, size_t most,
                                    unsigned char **out, size_t *size)
{
    static const char unused[] = "nothing was written here";
    for (size_t room = 8 * n + 4096;; room *= 2) {
        uint64_t memory = MEMORY_MAX;
        size_t in = 0, at = 0;
        room = room < most ? room : most;
        unsigned char *block = malloc(room);
        if (!block)
            return SPAA_ERR_NOMEM;
        unsigned char *last = memcpy(block + room - sizeof unused, unused, sizeof unused);
        int st = decode(&memory, 0, NULL, p, &in, n, block, &at, room);
        if (st == LZMA_OK) {
            *out = block;
            *size = at;
            return SPAA_OK;
        }
        bool filled = memcmp(last, unused, sizeof unused) != 0;
        free(block);
        if (st != LZMA_BUF_ERROR || !filled)
            return st == LZMA_MEM_ERROR ? SPAA_ERR_NOMEM : SPAA_ERR_INPUT;
        if (room == most)
            return SPAA_ERR_LIMIT;
    }
}

static void minidebug_tell(struct sp_module *m, const char *what, const char *hint)
{
    sp_emit_hint(m->owner->d, SP_W835, SP_AT_NOTHING, hint, "%s: %s", m->file, what);
}

spaa_status sp_minidebug_add(struct sp_module *m)
{
    unsigned char *packed, *image = NULL;
    size_t n, size = 0, before = m->tab.syms.n;
    uint64_t file_size;
    spaa_status st =
        sp_elf_section(m->file, ".gnu_debugdata", PACKED_MAX, m->owner->d, &packed, &n, &file_size);
    if (st)
        return sp_file_fatal(st);
    decode_fn decode;
    st = decoder(m->owner, &decode);
    uint64_t most = sp_elf_inflatable(file_size);
    most = most < UNPACKED_MAX ? most : UNPACKED_MAX;
    if (!st)
        st = minidebug_unpack(decode, packed, n, most, &image, &size);
    free(packed);
    if (!st)
        st = sp_elf_read_image(image, size, NULL, &m->tab);
    free(image);
    if (st == SPAA_ERR_UNSUPPORTED)
        minidebug_tell(m, "liblzma.so.5 cannot be used", sp_library_hint("install liblzma5"));
    else if (st == SPAA_ERR_LIMIT)
        sp_emit(m->owner->d, SP_W805, SP_AT_NOTHING, "%s: .gnu_debugdata", m->file);
    else if (st && st != SPAA_ERR_NOMEM)
        minidebug_tell(m, "they are damaged", "");
    if (m->tab.syms.n > before)
        m->why = SP_WHY_NONE;
    return st == SPAA_ERR_NOMEM ? st : SPAA_OK;
}
