/*
 * What cannot be decoded, data among code, is shown as bytes. Where the machine has units, the next one is
 * tried; of x86 nobody knows where the next instruction begins, and what is decoded somewhere within one is
 * made up: the bytes up to the next address where one is known to begin are shown.
 * Where a jump leads is read from its operands' text: that of all machines ends with the address.
 */
#include "symbols/disasm.h"

#include "base/library.h"
#include "symbols/disasm_evex.h"
#include "symbols/internal.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_MAX ((uint64_t)4 << 20) /* bytes of one function */

void sp_code_text_free(struct sp_code_text *t)
{
    sp_vec_free(&t->insns);
    sp_vec_free(&t->texts);
}

#ifdef SP_CAPSTONE

#include <capstone.h>

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x
#define LIBRARY  "libcapstone.so." TEXT(CS_API_MAJOR)

struct capstone {
    void *library;
    __typeof__(&cs_open) open;
    __typeof__(&cs_option) option;
    __typeof__(&cs_malloc) malloc;
    __typeof__(&cs_disasm_iter) next;
    __typeof__(&cs_insn_group) group;
    __typeof__(&cs_free) free;
    __typeof__(&cs_close) close;
    csh h;
    cs_insn *in;
    struct sp_zydis *zydis; /* opened when it is first wanted; NULL: not, or it cannot be used */
    bool opened, x86, wide, asked_zydis;
};

static bool capstone_load(struct capstone *c)
{
    c->library = sp_library_open(LIBRARY);
    c->open = (__typeof__(c->open))sp_library_find(c->library, "cs_open");
    c->option = (__typeof__(c->option))sp_library_find(c->library, "cs_option");
    c->malloc = (__typeof__(c->malloc))sp_library_find(c->library, "cs_malloc");
    c->next = (__typeof__(c->next))sp_library_find(c->library, "cs_disasm_iter");
    c->group = (__typeof__(c->group))sp_library_find(c->library, "cs_insn_group");
    c->free = (__typeof__(c->free))sp_library_find(c->library, "cs_free");
    c->close = (__typeof__(c->close))sp_library_find(c->library, "cs_close");
    return c->open && c->option && c->malloc && c->next && c->group && c->free && c->close;
}

/* The machine as capstone names it; false: it does not know it. */
static bool machine_of(const struct sp_elf *e, cs_arch *arch, cs_mode *mode)
{
    unsigned big = e->big ? (unsigned)CS_MODE_BIG_ENDIAN : (unsigned)CS_MODE_LITTLE_ENDIAN, how = big;
    switch (e->machine) {
    case EM_X86_64:
        *arch = CS_ARCH_X86;
        how = CS_MODE_64;
        break;
    case EM_386:
        *arch = CS_ARCH_X86;
        how = CS_MODE_32;
        break;
    case EM_AARCH64:
        *arch = CS_ARCH_ARM64;
        break;
    case EM_ARM:
        *arch = CS_ARCH_ARM;
        break;
    case EM_PPC64:
        *arch = CS_ARCH_PPC;
        how |= CS_MODE_64;
        break;
    case EM_S390:
        *arch = CS_ARCH_SYSZ;
        how = (unsigned)CS_MODE_BIG_ENDIAN;
        break;
    default:
        return false;
    }
    *mode = (cs_mode)how;
    return true;
}

/* The address at the end of operands: "0x1234", "x0, #0x1234"; 0: they end otherwise. */
static uint64_t target_of(const char *operands)
{
    const char *last = strrchr(operands, ' ');
    last = last ? last + 1 : operands;
    last += *last == '#';
    char *end;
    uint64_t to = strncmp(last, "0x", 2) == 0 ? strtoull(last, &end, 16) : 0;
    return to && !*end ? to : 0;
}

static bool add_insn(struct sp_code_text *out, struct sp_insn x, const char *name, const char *operands)
{
    size_t n = strlen(name), m = strlen(operands);
    x.text = (uint32_t)out->texts.n;
    if (!sp_vec_reserve(&out->texts, out->texts.n + n + m + 2) || !sp_vec_push(&out->insns, x))
        return false;
    char *to = out->texts.v + out->texts.n;
    memcpy(to, name, n);
    to[n] = ' ';
    memcpy(to + n + 1, operands, m);
    to[n + (m ? 1 + m : 0)] = '\0';
    out->texts.n += n + m + 2;
    out->unknown += x.unknown ? x.size : 0;
    return true;
}

/* A function's bytes, from where it is decoded next. */
struct code {
    const unsigned char *bytes;
    size_t n;
    uint64_t addr;
};

static void code_pass(struct code *x, size_t n)
{
    x->bytes += n;
    x->n -= n;
    x->addr += n;
}

static bool add_decoded(struct sp_code_text *out, const struct capstone *c, const cs_insn *in)
{
    struct sp_insn x = {.addr = in->address, .size = in->size, .unknown = !in->id};
    if (in->id) { /* 0: what could not be decoded */
        x.call = c->group(c->h, in, CS_GRP_CALL);
        x.jump = c->group(c->h, in, CS_GRP_JUMP) && !x.call;
        x.target = x.call || x.jump ? target_of(in->op_str) : 0;
    }
    return add_insn(out, x, in->mnemonic, in->op_str);
}

/* Bytes up to where the next instruction is known to begin. */
static bool add_unknown(struct sp_code_text *out, struct code *x, const struct sp_known_starts *known)
{
    enum { SHOWN = 16 };
    char text[SHOWN * 6 + 40] = "";
    size_t n = x->n, at = 0, lo = 0, hi = known->n;
    while (lo < hi) { /* the first behind this one */
        size_t mid = lo + (hi - lo) / 2;
        if (known->at[mid] <= x->addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < known->n && known->at[lo] - x->addr < n)
        n = (size_t)(known->at[lo] - x->addr);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s0x%02x", i ? ", " : "", x->bytes[i]);
    if (n > SHOWN)
        snprintf(text + at, sizeof text - at, ", … %zu bytes in all", n);
    struct sp_insn in = {.addr = x->addr, .size = (uint32_t)n, .unknown = true};
    code_pass(x, n);
    return add_insn(out, in, ".byte", text);
}

/* The next of x86: by capstone, or by Zydis where capstone knows it wrongly or not at all. */
static bool decode_x86(struct capstone *c, struct code *x, const struct sp_known_starts *known,
                       struct sp_code_text *out)
{
    char text[256];
    bool beyond = sp_is_beyond_capstone(x->bytes, x->n, c->wide);
    struct code behind = *x;
    if (!beyond && c->next(c->h, &behind.bytes, &behind.n, &behind.addr, c->in)) {
        *x = behind;
        return add_decoded(out, c, c->in);
    }
    if (!c->asked_zydis && !sp_zydis_open(c->wide, &c->zydis))
        return false;
    c->asked_zydis = true;
    size_t n = c->zydis ? sp_zydis_decode(c->zydis, x->bytes, x->n, text, sizeof text) : 0;
    out->lacks_zydis |= !c->zydis;
    if (!n)
        return add_unknown(out, x, known);
    struct sp_insn in = {.addr = x->addr, .size = (uint32_t)n};
    code_pass(x, n);
    return add_insn(out, in, text, "");
}

static bool decode(struct capstone *c, struct code x, const struct sp_known_starts *known,
                   struct sp_code_text *out)
{
    bool ok = true;
    while (ok && x.n && c->x86)
        ok = decode_x86(c, &x, known, out);
    while (ok && x.n && c->next(c->h, &x.bytes, &x.n, &x.addr, c->in))
        ok = add_decoded(out, c, c->in);
    return ok;
}

/* NULL, or why it cannot be used. */
static const char *capstone_prepare(struct capstone *c, cs_arch arch, cs_mode mode)
{
    if (!capstone_load(c) || c->open(arch, mode, &c->h) != CS_ERR_OK)
        return LIBRARY " cannot be used";
    c->opened = true;
    c->x86 = arch == CS_ARCH_X86;
    c->wide = mode == CS_MODE_64;
    c->option(c->h, CS_OPT_SKIPDATA, c->x86 ? CS_OPT_OFF : CS_OPT_ON);
    c->option(c->h, CS_OPT_DETAIL, CS_OPT_ON);
    if (c->x86)
        c->option(c->h, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT); /* as perf and objdump show it */
    return NULL;
}

static void capstone_end(struct capstone *c)
{
    if (c->in)
        c->free(c->in, 1);
    if (c->opened)
        c->close(&c->h);
    sp_zydis_close(c->zydis);
    sp_library_close(c->library);
}

spaa_status sp_disassemble(struct sp_module *m, uint64_t start, uint64_t end,
                           const struct sp_known_starts *known, struct sp_code_text *out, const char **why,
                           const char **hint)
{
    struct capstone c = {0};
    cs_arch arch;
    cs_mode mode;
    size_t size = end - start < CODE_MAX ? (size_t)(end - start) : (size_t)CODE_MAX;
    *why = *hint = NULL;
    if (!machine_of(&m->elf, &arch, &mode)) {
        *why = "its machine is none whose instructions are known here";
        return SPAA_OK;
    }
    unsigned char *bytes = malloc(size + 1);
    size_t n = bytes ? sp_module_bytes(m, start, bytes, size) : 0;
    spaa_status st = bytes ? SPAA_OK : sp_nomem(m->owner->d);
    if (!st && !n) {
        *why = "the bytes of its code are not at hand";
    } else if (!st && (*why = capstone_prepare(&c, arch, mode))) {
        *hint = sp_library_hint("install libcapstone4");
    } else if (!st) {
        c.in = c.malloc(c.h);
        st = c.in && decode(&c, (struct code){bytes, n, start}, known, out) ? SPAA_OK : sp_nomem(m->owner->d);
    }
    capstone_end(&c);
    free(bytes);
    return st;
}

#else

spaa_status sp_disassemble(struct sp_module *m, uint64_t start, uint64_t end,
                           const struct sp_known_starts *known, struct sp_code_text *out, const char **why,
                           const char **hint)
{
    (void)m;
    (void)start;
    (void)end;
    (void)known;
    (void)out;
#ifdef SP_STATIC_PROGRAM
    *why = "the static program has no disassembler";
    *hint = "use a spaa that is not linked statically, or `objdump -d` of the binary";
#else
    *why = "this spaa was built without capstone";
    *hint = "install libcapstone-dev and libcapstone4, and build spaa again";
#endif
    return SPAA_OK;
}

#endif
