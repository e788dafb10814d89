#include "unwind/calls.h"

#include <string.h>

/* ---- x86-64 ---- */

/* What follows an opcode: M a ModRM byte; then an immediate. */
enum {
    M = 1,
    IB = 2,   /* 1 byte */
    IZ = 4,   /* 4, or 2 with an operand-size prefix */
    IW = 8,   /* 2 */
    IV = 16,  /* as IZ, or 8 with REX.W */
    MO = 32,  /* an address: 8, or 4 with an address-size prefix */
    GRP = 64, /* F6, F7: an immediate with /0 and /1 only */
    NO = 128, /* not known, or no instruction in 64-bit mode */
};

/* clang-format off */
static const uint8_t one_byte[256] = {
    /* 00 */ M, M, M, M, IB, IZ, NO, NO, M, M, M, M, IB, IZ, NO, NO,
    /* 10 */ M, M, M, M, IB, IZ, NO, NO, M, M, M, M, IB, IZ, NO, NO,
    /* 20 */ M, M, M, M, IB, IZ, NO, NO, M, M, M, M, IB, IZ, NO, NO,
    /* 30 */ M, M, M, M, IB, IZ, NO, NO, M, M, M, M, IB, IZ, NO, NO,
    /* 40 */ NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    /* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* 60 */ NO, NO, NO, M, NO, NO, NO, NO, IZ, M | IZ, IB, M | IB, 0, 0, 0, 0,
    /* 70 */ IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB, IB,
    /* 80 */ M | IB, M | IZ, NO, M | IB, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 90 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NO, 0, 0, 0, 0, 0,
    /* A0 */ MO, MO, MO, MO, 0, 0, 0, 0, IB, IZ, 0, 0, 0, 0, 0, 0,
    /* B0 */ IB, IB, IB, IB, IB, IB, IB, IB, IV, IV, IV, IV, IV, IV, IV, IV,
    /* C0 */ M | IB, M | IB, IW, 0, NO, NO, M | IB, M | IZ, IW | IB, 0, IW, 0, 0, IB, NO, 0,
    /* D0 */ M, M, M, M, NO, NO, NO, 0, M, M, M, M, M, M, M, M,
    /* E0 */ IB, IB, IB, IB, IB, IB, IB, IB, IZ, IZ, NO, IB, 0, 0, 0, 0,
    /* F0 */ NO, 0, NO, NO, 0, 0, M | GRP, M | GRP, 0, 0, 0, 0, 0, 0, M, M,
};
/* clang-format on */

/* After 0F. Of 20 to 23 the ModRM byte names registers only. */
/* clang-format off */
static const uint8_t two_bytes[256] = {
    /* 00 */ M, M, M, M, NO, 0, 0, 0, 0, 0, NO, 0, NO, M, 0, M | IB,
    /* 10 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 20 */ IB, IB, IB, IB, NO, NO, NO, NO, M, M, M, M, M, M, M, M,
    /* 30 */ 0, 0, 0, 0, 0, 0, NO, 0, NO, NO, NO, NO, NO, NO, NO, NO,
    /* 40 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 50 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 60 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* 70 */ M | IB, M | IB, M | IB, M | IB, M, M, M, 0, NO, NO, NO, NO, M, M, M, M,
    /* 80 */ IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ, IZ,
    /* 90 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* A0 */ 0, 0, 0, M, M | IB, M, NO, NO, 0, 0, 0, M, M | IB, M, M, M,
    /* B0 */ M, M, M, M, M, M, M, M, M, M, M | IB, M, M, M, M, M,
    /* C0 */ M, M, M | IB, M, M | IB, M | IB, M | IB, M, 0, 0, 0, 0, 0, 0, 0, 0,
    /* D0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* E0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
    /* F0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};
/* clang-format on */

struct x86 {
    const unsigned char *start, *p, *end;
    uint64_t addr;
    bool small, narrow; /* operand-size and address-size prefixes */
    bool wide, rex;     /* REX.W; any REX */
    bool notrack;
    bool bad;
};

static unsigned calls_take(struct x86 *x)
{
    if (x->p < x->end)
        return *x->p++;
    x->bad = true;
    return 0;
}

static void skip(struct x86 *x, size_t n)
{
    if ((size_t)(x->end - x->p) < n)
        x->bad = true;
    else
        x->p += n;
}

/* A signed number of n bytes. */
static int64_t calls_number(struct x86 *x, size_t n)
{
    uint64_t v = 0;
    if ((size_t)(x->end - x->p) < n) {
        x->bad = true;
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)x->p[i] << 8 * i;
    x->p += n;
    unsigned shift = (unsigned)(64 - 8 * n);
    return (int64_t)(v << shift) >> shift;
}

static uint64_t here(const struct x86 *x)
{
    return x->addr + (uint64_t)(x->p - x->start);
}

/* Behind a ModRM byte: the SIB byte and the displacement. *relative: it counts from the next instruction. */
static void calls_operand(struct x86 *x, unsigned modrm, int64_t *relative, bool *is_relative)
{
    unsigned mod = modrm >> 6, rm = modrm & 7;
    *is_relative = false;
    if (mod == 3)
        return;
    if (rm == 4) {
        unsigned base = calls_take(x) & 7;
        if (mod == 0 && base == 5)
            skip(x, 4);
    } else if (mod == 0 && rm == 5) {
        *is_relative = true;
        *relative = calls_number(x, 4);
    }
    skip(x, mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static size_t immediate(const struct x86 *x, unsigned what)
{
    size_t n = what & IB ? 1 : 0, word = x->small && !x->wide ? 2 : 4;
    n += what & IW ? 2 : 0;
    n += what & IZ ? word : 0;
    n += what & IV ? (x->wide ? 8 : word) : 0;
    n += what & MO ? (x->narrow ? 4 : 8) : 0;
    return n;
}

/* Legacy prefixes and REX, which counts right before the opcode only. Returns the opcode. */
static unsigned prefixes(struct x86 *x)
{
    for (;;) {
        unsigned b = calls_take(x);
        switch (b) {
        case 0x66:
            x->small = true;
            break;
        case 0x67:
            x->narrow = true;
            break;
        case 0x3e:
            x->notrack = true;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x64:
        case 0x65:
        case 0xf0:
        case 0xf2:
        case 0xf3:
            break;
        default:
            if ((b & 0xf0) != 0x40 || x->bad)
                return b;
            x->rex = true;
            x->wide = b & 8;
            b = calls_take(x);
            /* Another prefix would make it void. */
            x->bad = x->bad || (b & 0xf0) == 0x40 || b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 ||
                     b == 0xf3 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0x26 || b == 0x64 || b == 0x65;
            return b;
        }
    }
}

/* Maps of VEX and EVEX: 1 is that of 0F, 2 of 0F 38, 3 of 0F 3A; 5 and 6 have half floats. */
static unsigned vector_map(unsigned map, unsigned opcode, bool evex)
{
    static const uint8_t with_byte[] = {0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6};
    if (map == 3)
        return M | IB;
    if (map == 2 || (evex && (map == 5 || map == 6)))
        return M;
    if (map != 1)
        return NO;
    if (opcode == 0x77 && !evex)
        return 0;
    for (size_t i = 0; i < sizeof with_byte; i++)
        if (with_byte[i] == opcode)
            return M | IB;
    return M;
}

/* At the byte behind C4, C5 or 62; these have no other prefixes of their own. */
static bool vector(struct x86 *x, unsigned lead, struct sp_insn *out)
{
    unsigned first = calls_take(x), map = 1;
    int64_t relative;
    bool is_relative;
    if (x->rex)
        return false;
    if (lead == 0xc4) {
        map = first & 31;
        calls_take(x);
    } else if (lead == 0x62) {
        map = first & 15;
        unsigned second = calls_take(x);
        calls_take(x);
        if (!(second & 4) || first & 8)
            return false;
    }
    unsigned opcode = calls_take(x), what = vector_map(map, opcode, lead == 0x62);
    if (what & NO)
        return false;
    if (what & M)
        calls_operand(x, calls_take(x), &relative, &is_relative);
    skip(x, what & IB ? 1 : 0);
    out->kind = SP_INSN_OTHER;
    return !x->bad;
}

static void aim(struct x86 *x, struct sp_insn *out, enum sp_insn_kind kind, int64_t distance)
{
    out->kind = (uint8_t)kind;
    out->target = here(x) + (uint64_t)distance;
}

/* FF: calls and jumps through a register or memory. */
static void group5(struct x86 *x, unsigned modrm, int64_t relative, bool is_relative, struct sp_insn *out)
{
    unsigned reg = modrm >> 3 & 7;
    if (reg < 2 || reg > 5)
        return;
    out->kind = reg < 4 ? SP_INSN_CALL_INDIRECT : x->notrack ? SP_INSN_JUMP_WITHIN : SP_INSN_JUMP_INDIRECT;
    out->slotted = is_relative && !x->narrow && !(reg & 1);
    out->slot = here(x) + (uint64_t)relative;
}

static void calls_classify(const struct x86 *x, unsigned opcode, struct sp_insn *out)
{
    (void)x;
    switch (opcode) {
    case 0xc2: /* ret */
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcc: /* int3 */
    case 0xcf:
    case 0xf4: /* hlt */
        out->kind = SP_INSN_STOP;
        break;
    default:
        break;
    }
}

/* A jump or call with a distance, if the opcode is one; false: it is none. */
static bool direct(struct x86 *x, unsigned opcode, struct sp_insn *out)
{
    if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0) {
        int64_t distance = calls_number(x, 1);
        aim(x, out, SP_INSN_BRANCH, distance);
    } else if (opcode == 0xeb) {
        int64_t distance = calls_number(x, 1);
        aim(x, out, SP_INSN_JUMP, distance);
    } else if (opcode == 0xe8 || opcode == 0xe9) {
        /* Processors differ in what an operand-size prefix alone does. */
        x->bad = x->bad || (x->small && !x->wide);
        int64_t distance = calls_number(x, 4);
        aim(x, out, opcode == 0xe8 ? SP_INSN_CALL : SP_INSN_JUMP, distance);
    } else {
        return false;
    }
    return true;
}

static bool after_0f(struct x86 *x, struct sp_insn *out)
{
    unsigned opcode = calls_take(x), what;
    int64_t relative;
    bool is_relative;
    if (opcode == 0x38 || opcode == 0x3a) {
        calls_take(x);
        what = opcode == 0x38 ? M : M | IB;
    } else {
        what = two_bytes[opcode];
        if ((opcode & 0xf0) == 0x80) {
            x->bad = x->bad || x->small;
            int64_t distance = calls_number(x, 4);
            aim(x, out, SP_INSN_BRANCH, distance);
            return !x->bad;
        }
        if (opcode == 0x0b || opcode == 0xb9 || opcode == 0xff || opcode == 0x07 || opcode == 0x35)
            out->kind = SP_INSN_STOP; /* ud2, ud1, ud0, sysret, sysexit */
    }
    if (what & NO)
        return false;
    if (what & M)
        calls_operand(x, calls_take(x), &relative, &is_relative);
    skip(x, immediate(x, what));
    return !x->bad;
}

static bool x86_read(struct x86 *x, struct sp_insn *out)
{
    unsigned opcode = prefixes(x);
    int64_t relative = 0;
    bool is_relative = false;
    if (x->bad)
        return false;
    if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62)
        return vector(x, opcode, out);
    if (opcode == 0x0f)
        return after_0f(x, out);
    unsigned what = one_byte[opcode], modrm = 0;
    if (what & NO)
        return false;
    if (direct(x, opcode, out))
        return !x->bad;
    if (what & M) {
        modrm = calls_take(x);
        if (opcode == 0x8f && modrm & 0x38) /* AMD's XOP */
            return false;
        calls_operand(x, modrm, &relative, &is_relative);
    }
    if (what & GRP && !(modrm & 0x30))
        skip(x, opcode == 0xf6 ? 1 : immediate(x, IZ));
    skip(x, immediate(x, what));
    if (opcode == 0xff)
        group5(x, modrm, relative, is_relative, out);
    else
        calls_classify(x, opcode, out);
    return !x->bad;
}

/* ---- AArch64 ---- */

static uint64_t branch_to(uint64_t addr, uint32_t word, unsigned low, unsigned bits)
{
    int64_t v = (int64_t)((uint64_t)(word >> low) << (64 - bits)) >> (64 - bits);
    return addr + (uint64_t)(v * 4);
}

static void arm64_read(uint32_t w, uint64_t addr, struct sp_insn *out)
{
    if (w >> 26 == 0x25 || w >> 26 == 0x05) { /* bl, b */
        out->kind = w >> 31 ? SP_INSN_CALL : SP_INSN_JUMP;
        out->target = branch_to(addr, w, 0, 26);
    } else if (w >> 24 == 0x54 || (w & 0x7e000000) == 0x34000000) { /* b.cond, cbz, cbnz */
        out->kind = SP_INSN_BRANCH;
        out->target = branch_to(addr, w, 5, 19);
    } else if ((w & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
        out->kind = SP_INSN_BRANCH;
        out->target = branch_to(addr, w, 5, 14);
    } else if ((w & 0xfe000000) == 0xd6000000) { /* through a register, with its authentication or without */
        unsigned op = w >> 21 & 0xf;
        out->kind = op == 1 || op == 9   ? SP_INSN_CALL_INDIRECT
                    : op == 0 || op == 8 ? SP_INSN_JUMP_INDIRECT
                                         : SP_INSN_STOP;
    } else if (!(w >> 16) || (w & 0xffe0001f) == 0xd4200000) { /* udf, brk */
        out->kind = SP_INSN_STOP;
    }
}

bool sp_insn_read(unsigned machine, const unsigned char *p, size_t n, uint64_t addr, struct sp_insn *out)
{
    *out = (struct sp_insn){0};
    if (machine == SP_MACHINE_AARCH64) {
        if (n < 4)
            return false;
        out->len = 4;
        arm64_read((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24, addr,
                   out);
        return true;
    }
    if (machine != SP_MACHINE_X86_64)
        return false;
    struct x86 x = {.start = p, .p = p, .end = p + (n < SP_INSN_MAX ? n : SP_INSN_MAX), .addr = addr};
    if (!x86_read(&x, out))
        return false;
    out->len = (uint8_t)(x.p - p);
    return true;
}

/* Whether k bytes have what every call has in its place: its opcode behind prefixes and before an operand. */
static bool may_be_call(const unsigned char *p, size_t k)
{
    if (k >= 5 && p[k - 5] == 0xe8)
        return true;
    for (size_t i = k > 7 ? k - 7 : 0; i + 1 < k; i++)
        if (p[i] == 0xff && (p[i + 1] & 0x30) == 0x10) /* /2 and /3 */
            return true;
    return false;
}

enum sp_call sp_call_before(unsigned machine, const unsigned char *before, size_t n, uint64_t returns,
                            struct sp_insn *out)
{
    bool direct = false, indirect = false;
    size_t least = machine == SP_MACHINE_AARCH64 ? 4 : 2, most = n < SP_INSN_MAX ? n : SP_INSN_MAX;
    *out = (struct sp_insn){0};
    for (size_t k = least; k <= most; k++) {
        struct sp_insn at;
        if (machine == SP_MACHINE_X86_64 && !may_be_call(before + n - k, k))
            continue;
        if (!sp_insn_read(machine, before + n - k, k, returns - k, &at) || at.len != k ||
            (at.kind != SP_INSN_CALL && at.kind != SP_INSN_CALL_INDIRECT))
            continue;
        if (at.kind == SP_INSN_CALL || !direct)
            *out = at;
        direct = direct || at.kind == SP_INSN_CALL;
        indirect = indirect || at.kind == SP_INSN_CALL_INDIRECT;
    }
    return direct && indirect ? SP_CALL_EITHER
           : direct           ? SP_CALL_DIRECT
           : indirect         ? SP_CALL_INDIRECT
                              : SP_CALL_NONE;
}
