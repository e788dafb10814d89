#include "symbols/disasm_evex.h"

#include <string.h>

bool sp_is_beyond_capstone(const unsigned char *bytes, size_t n, bool wide)
{
    size_t i = 0;
    bool prefixed = false;
    for (; i < n && bytes[i] && strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", bytes[i]); i++)
        prefixed |= bytes[i] == 0x66 || bytes[i] >= 0xf2;
    if (n - i > 5 && bytes[i] == 0x62 && (wide || bytes[i + 1] >= 0xc0)) /* else BOUND */
        return true;
    i += wide && i < n && bytes[i] >> 4 == 4; /* REX */
    if (n - i < 3 || bytes[i] != 0x0f)
        return false;
    unsigned opcode = bytes[i + 1]; /* ud1; waiting, shadow stacks, ptwrite; rdpid, senduipi */
    return opcode == 0xb9 || (prefixed && (opcode == 0xae || opcode == 0xc7));
}

#ifdef SP_ZYDIS

#include "base/library.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>

struct sp_zydis {
    void *library;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    __typeof__(&ZydisDecoderInit) init;
    __typeof__(&ZydisFormatterInit) init_text;
    __typeof__(&ZydisFormatterSetProperty) set;
    __typeof__(&ZydisDecoderDecodeFull) decode;
    __typeof__(&ZydisFormatterFormatInstruction) format;
    __typeof__(&ZydisMnemonicGetString) name;
};

static bool zydis_load(struct sp_zydis *z)
{
    char soname[48];
    snprintf(soname, sizeof soname, "libZydis.so.%u.%u", (unsigned)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
             (unsigned)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    z->library = sp_library_open(soname);
    z->init = (__typeof__(z->init))sp_library_find(z->library, "ZydisDecoderInit");
    z->init_text = (__typeof__(z->init_text))sp_library_find(z->library, "ZydisFormatterInit");
    z->set = (__typeof__(z->set))sp_library_find(z->library, "ZydisFormatterSetProperty");
    z->decode = (__typeof__(z->decode))sp_library_find(z->library, "ZydisDecoderDecodeFull");
    z->format = (__typeof__(z->format))sp_library_find(z->library, "ZydisFormatterFormatInstruction");
    z->name = (__typeof__(z->name))sp_library_find(z->library, "ZydisMnemonicGetString");
    return z->init && z->init_text && z->set && z->decode && z->format && z->name;
}

/* Numbers as capstone and objdump write them. */
static bool zydis_prepare(struct sp_zydis *z, bool wide)
{
    ZydisMachineMode mode = wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
    ZydisStackWidth stack = wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32;
    return ZYAN_SUCCESS(z->init(&z->decoder, mode, stack)) &&
           ZYAN_SUCCESS(z->init_text(&z->formatter, ZYDIS_FORMATTER_STYLE_ATT)) &&
           ZYAN_SUCCESS(z->set(&z->formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE)) &&
           ZYAN_SUCCESS(z->set(&z->formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED)) &&
           ZYAN_SUCCESS(z->set(&z->formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED));
}

bool sp_zydis_open(bool wide, struct sp_zydis **out)
{
    struct sp_zydis *z = calloc(1, sizeof *z);
    bool usable = z && zydis_load(z) && zydis_prepare(z, wide);
    *out = usable ? z : NULL;
    if (z && !usable)
        sp_zydis_close(z);
    return z != NULL;
}

void sp_zydis_close(struct sp_zydis *z)
{
    if (z)
        sp_library_close(z->library);
    free(z);
}

size_t sp_zydis_decode(const struct sp_zydis *z, const unsigned char *bytes, size_t n, char *text,
                       size_t size)
{
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char said[256];
    if (!ZYAN_SUCCESS(z->decode(&z->decoder, bytes, n, &in, operands)) ||
        !ZYAN_SUCCESS(z->format(&z->formatter, &in, operands, in.operand_count_visible, said, sizeof said,
                                ZYDIS_RUNTIME_ADDRESS_NONE, NULL)))
        return 0;
    /* It writes the size of what is in memory behind every name, which no assembler takes of vectors: the
     * name itself. */
    const char *name = z->name(in.mnemonic), *at = name ? strstr(said, name) : NULL;
    const char *rest = at ? at + strcspn(at, " ") : said;
    snprintf(text, size, "%.*s%s%s", at ? (int)(at - said) : 0, said, at ? name : "", rest);
    return in.length;
}

#else

bool sp_zydis_open(bool wide, struct sp_zydis **out)
{
    (void)wide;
    *out = NULL;
    return true;
}

void sp_zydis_close(struct sp_zydis *z)
{
    (void)z;
}

size_t sp_zydis_decode(const struct sp_zydis *z, const unsigned char *bytes, size_t n, char *text,
                       size_t size)
{
    (void)z;
    (void)bytes;
    (void)n;
    (void)text;
    (void)size;
    return 0;
}

#endif
