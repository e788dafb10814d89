/*
 * Steps, and the expressions of CFI.
 *
 * Source: DWARF 5 chapters 2.5 and 6.4; register numbers of the processors' ABI supplements; perf's from the
 * kernel's uapi/asm/perf_regs.h of each architecture.
 */
#include "unwind/unwind.h"

#include "base/word.h"

#include <string.h>

#define STACK_SPAN      ((uint64_t)64 << 20) /* an address this far behind the copy is still of its stack */
#define EXPRESSION_DEEP 64
#define EXPRESSION_LONG 4096 /* instructions */

#define NO UINT8_MAX
static const uint8_t x86_64[] = {0,  3,  2,  1,  4, 5, 6,  7,  16, NO, NO, NO,
                                 NO, NO, NO, NO, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t i386[] = {0, 3, 1, 2, 6, 7, 5, 4, 8};
static const uint8_t arm64[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
static const uint8_t arm[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#undef NO

static const struct sp_unwind_arch archs[] = {
    {"x86_64", 62, 8, 7, 6, 8, sizeof x86_64, x86_64, UINT64_MAX},
    {"i386", 3, 4, 4, 5, 8, sizeof i386, i386, UINT32_MAX},
    {"aarch64", 183, 8, 31, 29, 32, sizeof arm64, arm64, ((uint64_t)1 << 52) - 1},
    {"arm", 40, 4, 13, 11, 15, sizeof arm, arm, UINT32_MAX & ~(uint64_t)1},
};

const struct sp_unwind_arch *sp_unwind_arch(const char *name, size_t n, bool narrow)
{
    if (n == 6 && !memcmp(name, "x86_64", 6))
        return &archs[narrow ? 1 : 0];
    if (n == 4 && name[0] == 'i' && !memcmp(name + 2, "86", 2))
        return &archs[1];
    if ((n >= 7 && !memcmp(name, "aarch64", 7)) || (n >= 5 && !memcmp(name, "arm64", 5)))
        return &archs[narrow ? 3 : 2];
    if (n >= 3 && !memcmp(name, "arm", 3))
        return &archs[3];
    return NULL;
}

static bool knows(const struct sp_unwind_regs *r, unsigned reg)
{
    return reg < SP_CFI_REGS && r->known >> reg & 1;
}

bool sp_unwind_regs_set(const struct sp_unwind_arch *a, uint64_t mask, const unsigned char *values, bool swap,
                        struct sp_unwind_regs *out)
{
    bool pc = false;
    out->known = 0;
    for (unsigned bit = 0; mask; bit++, mask >>= 1) {
        if (!(mask & 1))
            continue;
        uint64_t v = sp_load_swapped(values, 8, swap);
        values += 8;
        if (bit == a->pc_bit) {
            out->pc = v;
            pc = true;
        }
        if (bit < a->nbits && a->dwarf[bit] < SP_CFI_REGS) {
            out->v[a->dwarf[bit]] = v;
            out->known |= (uint64_t)1 << a->dwarf[bit];
        }
    }
    return pc && knows(out, a->sp);
}

/* Reads of the copied stack. */
static enum sp_step read_stack(const struct sp_unwind_stack *s, uint64_t addr, unsigned bytes, uint64_t *out)
{
    uint64_t at = addr - s->base;
    if (addr >= s->base && at <= s->n && s->n - at >= bytes) {
        *out = sp_load_swapped(s->p + at, bytes, s->swap);
        return SP_STEP_OK;
    }
    return addr >= s->base && at < s->n + STACK_SPAN ? SP_STEP_TRUNCATED : SP_STEP_LOST;
}

/* A running expression. */
struct expression {
    const struct sp_unwind_arch *a;
    const struct sp_unwind_regs *regs;
    const struct sp_unwind_stack *stack;
    const unsigned char *p, *start, *end;
    uint64_t v[EXPRESSION_DEEP];
    unsigned n;
    bool swap; /* of the ELF file */
    enum sp_step state;
};

static void unwind_push(struct expression *e, uint64_t v)
{
    if (e->n < EXPRESSION_DEEP)
        e->v[e->n++] = v;
    else
        e->state = SP_STEP_LOST;
}

static uint64_t pop(struct expression *e)
{
    if (e->n)
        return e->v[--e->n];
    e->state = SP_STEP_LOST;
    return 0;
}

static uint64_t unwind_operand(struct expression *e, unsigned bytes)
{
    if ((size_t)(e->end - e->p) < bytes) {
        e->state = SP_STEP_LOST;
        return 0;
    }
    e->p += bytes;
    return sp_load_swapped(e->p - bytes, bytes, e->swap);
}

static uint64_t leb(struct expression *e, bool is_signed)
{
    uint64_t v = 0;
    for (unsigned shift = 0; e->p < e->end; shift += 7) {
        unsigned char b = *e->p++;
        if (shift < 64)
            v |= (uint64_t)(b & 127) << shift;
        if (b & 128)
            continue;
        if (is_signed && b & 64 && shift + 7 < 64)
            v |= ~(uint64_t)0 << (shift + 7);
        return v;
    }
    e->state = SP_STEP_LOST;
    return 0;
}

static void push_register(struct expression *e, uint64_t reg, uint64_t off)
{
    if (knows(e->regs, reg < SP_CFI_REGS ? (unsigned)reg : SP_CFI_REGS))
        unwind_push(e, e->regs->v[reg] + off);
    else
        e->state = SP_STEP_LOST;
}

static void dereference(struct expression *e, unsigned bytes)
{
    uint64_t v = 0, addr = pop(e);
    if (e->state == SP_STEP_OK)
        e->state = bytes && bytes <= 8 && !(bytes & (bytes - 1)) ? read_stack(e->stack, addr, bytes, &v)
                                                                 : SP_STEP_LOST;
    unwind_push(e, v);
}

static void jump(struct expression *e, bool taken)
{
    int16_t by = (int16_t)unwind_operand(e, 2);
    if (!taken || e->state != SP_STEP_OK)
        return;
    if (by < e->start - e->p || by > e->end - e->p)
        e->state = SP_STEP_LOST;
    else
        e->p += by;
}

static uint64_t combined(unsigned op, uint64_t a, uint64_t b, bool *ok)
{
    int64_t x = (int64_t)a, y = (int64_t)b;
    switch (op) {
    case 0x1a:
        return a & b;
    case 0x1b:
        if (!b || (y == -1 && x == INT64_MIN)) {
            *ok = false;
            return 0;
        }
        return (uint64_t)(x / y);
    case 0x1c:
        return a - b;
    case 0x1d:
        *ok = b != 0;
        return b ? a % b : 0;
    case 0x1e:
        return a * b;
    case 0x21:
        return a | b;
    case 0x22:
        return a + b;
    case 0x24:
        return b < 64 ? a << b : 0;
    case 0x25:
        return b < 64 ? a >> b : 0;
    case 0x26:
        return (uint64_t)(x >> (b < 64 ? b : 63));
    case 0x27:
        return a ^ b;
    case 0x29:
        return x == y;
    case 0x2a:
        return x >= y;
    case 0x2b:
        return x > y;
    case 0x2c:
        return x <= y;
    case 0x2d:
        return x < y;
    case 0x2e:
        return x != y;
    default:
        *ok = false;
        return 0;
    }
}

/* Operations that move or change what is on the expression's own stack. */
static void on_stack(struct expression *e, unsigned op)
{
    uint64_t a, b, c;
    bool ok = true;
    switch (op) {
    case 0x12: /* dup */
        a = pop(e);
        unwind_push(e, a);
        unwind_push(e, a);
        break;
    case 0x13: /* drop */
        pop(e);
        break;
    case 0x14: /* over */
    case 0x15: /* pick */
        a = op == 0x14 ? 1 : unwind_operand(e, 1);
        if (a < e->n)
            unwind_push(e, e->v[e->n - 1 - a]);
        else
            e->state = SP_STEP_LOST;
        break;
    case 0x16: /* swap */
        a = pop(e);
        b = pop(e);
        unwind_push(e, a);
        unwind_push(e, b);
        break;
    case 0x17: /* rot */
        a = pop(e);
        b = pop(e);
        c = pop(e);
        unwind_push(e, a);
        unwind_push(e, c);
        unwind_push(e, b);
        break;
    case 0x19: /* abs */
        a = pop(e);
        unwind_push(e, (int64_t)a < 0 ? 0 - a : a);
        break;
    case 0x1f: /* neg */
        unwind_push(e, 0 - pop(e));
        break;
    case 0x20: /* not */
        unwind_push(e, ~pop(e));
        break;
    default:
        b = pop(e);
        a = pop(e);
        unwind_push(e, combined(op, a, b, &ok));
        if (!ok)
            e->state = SP_STEP_LOST;
    }
}

static void operation(struct expression *e, unsigned op)
{
    if (op >= 0x30 && op <= 0x4f)
        unwind_push(e, op - 0x30);
    else if (op >= 0x70 && op <= 0x8f)
        push_register(e, op - 0x70, leb(e, true));
    else if (op == 0x03)
        unwind_push(e, unwind_operand(e, e->a->word));
    else if (op >= 0x08 && op <= 0x0f) {
        unsigned bytes = 1u << (op - 8) / 2, shift = 64 - 8 * bytes;
        uint64_t v = unwind_operand(e, bytes);
        unwind_push(e, op & 1 ? (uint64_t)((int64_t)(v << shift) >> shift) : v);
    } else if (op == 0x10 || op == 0x11)
        unwind_push(e, leb(e, op == 0x11));
    else if (op == 0x06)
        dereference(e, e->a->word);
    else if (op == 0x94)
        dereference(e, (unsigned)unwind_operand(e, 1));
    else if (op == 0x23)
        unwind_push(e, pop(e) + leb(e, false));
    else if (op == 0x2f)
        jump(e, true);
    else if (op == 0x28)
        jump(e, pop(e) != 0);
    else if (op == 0x92) {
        uint64_t reg = leb(e, false);
        push_register(e, reg, leb(e, true));
    } else if (op == 0x96)
        return;
    else if (op >= 0x12 && op <= 0x2e)
        on_stack(e, op);
    else
        e->state = SP_STEP_LOST;
}

/* first: what stands on the expression's stack at the start, or NULL. */
static enum sp_step evaluate(const struct sp_unwind_arch *a, const struct sp_cfi *c,
                             const struct sp_cfi_rule *r, const struct sp_unwind_stack *stack,
                             const struct sp_unwind_regs *regs, const uint64_t *first, uint64_t *out)
{
    static const uint16_t one = 1;
    const unsigned char *p = sp_cfi_expression(c, r);
    struct expression e = {.a = a, .regs = regs, .stack = stack, .p = p, .start = p, .end = p + r->len};
    e.swap = sp_cfi_big_endian(c) == (*(const unsigned char *)&one == 1);
    if (first)
        unwind_push(&e, *first);
    for (unsigned i = 0; e.p < e.end && e.state == SP_STEP_OK; i++) {
        if (i == EXPRESSION_LONG)
            return SP_STEP_LOST;
        operation(&e, *e.p++);
    }
    *out = pop(&e);
    return e.state;
}

static enum sp_step apply(const struct sp_unwind_arch *a, const struct sp_cfi *c, const struct sp_cfi_rule *r,
                          const struct sp_unwind_stack *stack, const struct sp_unwind_regs *regs,
                          uint64_t cfa, uint64_t *v)
{
    enum sp_step st;
    switch (r->how) {
    case SP_CFI_AT_CFA:
        return read_stack(stack, cfa + (uint64_t)(int64_t)r->off, a->word, v);
    case SP_CFI_IS_CFA:
        *v = cfa + (uint64_t)(int64_t)r->off;
        return SP_STEP_OK;
    case SP_CFI_REG:
        *v = knows(regs, (unsigned)r->off) ? regs->v[r->off] : 0;
        return knows(regs, (unsigned)r->off) ? SP_STEP_OK : SP_STEP_LOST;
    case SP_CFI_AT_EXPR:
        st = evaluate(a, c, r, stack, regs, &cfa, v);
        return st == SP_STEP_OK ? read_stack(stack, *v, a->word, v) : st;
    case SP_CFI_IS_EXPR:
        return evaluate(a, c, r, stack, regs, &cfa, v);
    default:
        return SP_STEP_LOST;
    }
}

/* The caller's pc and sp are there: is it one, and does it bring us further? */
static enum sp_step arrive(const struct sp_unwind_arch *a, struct sp_unwind_regs *regs,
                           const struct sp_unwind_regs *next, bool signal)
{
    if (!next->pc)
        return SP_STEP_END;
    if (next->v[a->sp] == regs->v[a->sp] && next->pc == regs->pc)
        return SP_STEP_LOST;
    *regs = *next;
    return signal ? SP_STEP_SIGNAL : SP_STEP_OK;
}

enum sp_step sp_unwind_step(const struct sp_unwind_arch *a, const struct sp_cfi *c,
                            const struct sp_cfi_row *row, const struct sp_unwind_stack *stack,
                            struct sp_unwind_regs *regs)
{
    struct sp_unwind_regs next = *regs;
    uint64_t cfa = 0;
    enum sp_step st = SP_STEP_OK, ra = SP_STEP_OK;
    if (row->cfa.how == SP_CFI_IS_EXPR)
        st = evaluate(a, c, &row->cfa, stack, regs, NULL, &cfa);
    else if (!knows(regs, row->cfa.reg))
        st = SP_STEP_LOST;
    else
        cfa = regs->v[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.off;
    if (st != SP_STEP_OK)
        return st;
    if (a->word == 4)
        cfa &= UINT32_MAX;
    next.v[a->sp] = cfa;
    for (unsigned i = 0; i < row->n; i++) {
        const struct sp_cfi_rule *r = &row->rules[i];
        uint64_t bit = (uint64_t)1 << r->reg, v = 0;
        next.known &= ~bit;
        if (r->how == SP_CFI_UNDEFINED) {
            if (r->reg == row->ra)
                ra = SP_STEP_END;
            continue;
        }
        st = apply(a, c, r, stack, regs, cfa, &v);
        if (st == SP_STEP_OK) {
            next.v[r->reg] = v;
            next.known |= bit;
        } else if (r->reg == row->ra || r->reg == a->sp) {
            ra = st;
        }
    }
    if (ra != SP_STEP_OK)
        return ra;
    if (!knows(&next, row->ra))
        return SP_STEP_LOST;
    next.pc = next.v[row->ra] & a->address;
    return arrive(a, regs, &next, row->signal);
}

enum sp_step sp_unwind_frame_pointer(const struct sp_unwind_arch *a, const struct sp_unwind_stack *stack,
                                     struct sp_unwind_regs *regs)
{
    struct sp_unwind_regs next = *regs;
    if (!knows(regs, a->fp))
        return SP_STEP_LOST;
    uint64_t fp = regs->v[a->fp], caller, pc;
    if (!fp)
        return SP_STEP_END;
    if (fp % a->word || fp < regs->v[a->sp])
        return SP_STEP_LOST;
    enum sp_step st = read_stack(stack, fp, a->word, &caller);
    if (st == SP_STEP_OK)
        st = read_stack(stack, fp + a->word, a->word, &pc);
    if (st != SP_STEP_OK)
        return st;
    next.v[a->fp] = caller;
    next.v[a->sp] = fp + 2u * a->word;
    next.pc = pc & a->address;
    return arrive(a, regs, &next, false);
}
