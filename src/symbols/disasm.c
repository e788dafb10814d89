/*
 * What cannot be decoded, data among code, is passed over in steps of the machine's unit and shown as bytes.
 * Where a jump leads is read from its operands' text: that of all machines ends with the address.
 */
#include "symbols/disasm.h"

#include "base/library.h"
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

static bool add_insn(struct sp_code_text *out, const struct capstone *c, csh h, const cs_insn *in)
{
    size_t name = strlen(in->mnemonic), operands = strlen(in->op_str);
    struct sp_insn x = {.addr = in->address, .size = (uint8_t)in->size, .text = (uint32_t)out->texts.n};
    if (in->id) { /* 0: what could not be decoded */
        x.call = c->group(h, in, CS_GRP_CALL);
        x.jump = c->group(h, in, CS_GRP_JUMP) && !x.call;
        x.target = x.call || x.jump ? target_of(in->op_str) : 0;
    }
    if (!sp_vec_reserve(&out->texts, out->texts.n + name + operands + 2) || !sp_vec_push(&out->insns, x))
        return false;
    char *to = out->texts.v + out->texts.n;
    memcpy(to, in->mnemonic, name);
    to[name] = ' ';
    memcpy(to + name + 1, in->op_str, operands);
    to[name + (operands ? 1 + operands : 0)] = '\0';
    out->texts.n += name + operands + 2;
    return true;
}

static bool decode(const struct capstone *c, csh h, const unsigned char *bytes, size_t n, uint64_t addr,
                   struct sp_code_text *out)
{
    cs_insn *in = c->malloc(h);
    bool ok = in != NULL;
    while (ok && n && c->next(h, &bytes, &n, &addr, in))
        ok = add_insn(out, c, h, in);
    if (in)
        c->free(in, 1);
    return ok;
}

spaa_status sp_disassemble(struct sp_module *m, uint64_t start, uint64_t end, struct sp_code_text *out,
                           const char **why, const char **hint)
{
    struct capstone c = {0};
    cs_arch arch;
    cs_mode mode;
    csh h;
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
    } else if (!st && (!capstone_load(&c) || c.open(arch, mode, &h) != CS_ERR_OK)) {
        *why = LIBRARY " cannot be used";
        *hint = sp_library_hint("install libcapstone4");
    } else if (!st) {
        c.option(h, CS_OPT_SKIPDATA, CS_OPT_ON);
        c.option(h, CS_OPT_DETAIL, CS_OPT_ON);
        if (arch == CS_ARCH_X86)
            c.option(h, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT); /* as perf and objdump show it */
        st = decode(&c, h, bytes, n, start, out) ? SPAA_OK : sp_nomem(m->owner->d);
        c.close(&h);
    }
    sp_library_close(c.library);
    free(bytes);
    return st;
}

#else

spaa_status sp_disassemble(struct sp_module *m, uint64_t start, uint64_t end, struct sp_code_text *out,
                           const char **why, const char **hint)
{
    (void)m;
    (void)start;
    (void)end;
    (void)out;
    *why = "this spaa was built without capstone";
    *hint = "install libcapstone-dev and libcapstone4, and build spaa again";
    return SPAA_OK;
}

#endif
