/*
 * Running the program of an FDE up to an address. A rule that this reader does not follow (registers
 * beyond SP_CFI_REGS, like those of vectors) is left out; an instruction that it does not know ends the table
 * row, since what follows cannot be placed.
 */
#include "dwarf/cfi_private.h"

#define REMEMBERED 16

struct rules {
    struct sp_cfi_rule cfa;
    struct sp_cfi_rule reg[SP_CFI_REGS];
};

struct machine {
    const struct sp_cfi *t;
    const struct sp_cfi_part *part;
    const struct sp_cfi_cie *cie;
    struct sp_cfi_cursor c;
    uint64_t at, want;
    struct rules now, start;
    struct rules kept[REMEMBERED];
    unsigned nkept;
};

static const struct sp_cfi_fde *cfi_row_find(const struct sp_cfi *t, uint64_t addr)
{
    size_t lo = 0, hi = t->fdes.n; /* FDEs before lo start at or below addr */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->fdes.v[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && addr < t->fdes.v[lo - 1].end ? &t->fdes.v[lo - 1] : NULL;
}

static void cfi_row_set(struct machine *m, uint64_t reg, enum sp_cfi_how how, int64_t off)
{
    if (reg >= SP_CFI_REGS)
        return;
    if (off < INT32_MIN || off > INT32_MAX)
        m->c.bad = true;
    else
        m->now.reg[reg] = (struct sp_cfi_rule){.reg = (uint8_t)reg, .how = (uint8_t)how, .off = (int32_t)off};
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
    if (reg >= SP_CFI_REGS || off < INT32_MIN || off > INT32_MAX)
        m->c.bad = true;
    else
        m->now.cfa = (struct sp_cfi_rule){.reg = (uint8_t)reg, .how = SP_CFI_REG, .off = (int32_t)off};
}

static int64_t factored(const struct machine *m, int64_t v)
{
    return (int64_t)((uint64_t)v * (uint64_t)m->cie->data_align);
}

static struct sp_cfi_rule expression(struct machine *m, uint64_t reg, enum sp_cfi_how how)
{
    struct sp_cfi_rule r = {.reg = (uint8_t)reg, .how = (uint8_t)how};
    uint64_t n = sp_cfi_uleb(&m->c);
    const unsigned char *p = sp_cfi_take(&m->c, n);
    if (!p || n > UINT16_MAX) {
        m->c.bad = true;
        return r;
    }
    r.len = (uint16_t)n;
    r.off = (int32_t)(p - m->t->data.v);
    return r;
}

static void set_expression(struct machine *m, enum sp_cfi_how how)
{
    uint64_t reg = sp_cfi_uleb(&m->c);
    struct sp_cfi_rule r = expression(m, reg, how);
    if (reg < SP_CFI_REGS && !m->c.bad)
        m->now.reg[reg] = r;
}

static void cfi_row_advance(struct machine *m, uint64_t by)
{
    m->at += by * m->cie->code_align;
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg < SP_CFI_REGS)
        m->now.reg[reg] = m->start.reg[reg];
}

/* What says where the CFA is; false: it is another instruction. */
static bool cfa_extended(struct machine *m, unsigned op)
{
    struct sp_cfi_cursor *c = &m->c;
    uint64_t reg;
    switch (op) {
    case 0x0c: /* def_cfa */
        reg = sp_cfi_uleb(c);
        set_cfa(m, reg, (int64_t)sp_cfi_uleb(c));
        return true;
    case 0x0d: /* def_cfa_register */
        set_cfa(m, sp_cfi_uleb(c), m->now.cfa.off);
        return true;
    case 0x0e: /* def_cfa_offset */
        set_cfa(m, m->now.cfa.reg, (int64_t)sp_cfi_uleb(c));
        return true;
    case 0x0f: /* def_cfa_expression */
        m->now.cfa = expression(m, 0, SP_CFI_IS_EXPR);
        return true;
    case 0x12: /* def_cfa_sf */
        reg = sp_cfi_uleb(c);
        set_cfa(m, reg, factored(m, sp_cfi_sleb(c)));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        set_cfa(m, m->now.cfa.reg, factored(m, sp_cfi_sleb(c)));
        return true;
    default:
        return false;
    }
}

/* Where a register is at an offset from the CFA, or is that value; false: another instruction. */
static bool offset_extended(struct machine *m, unsigned op)
{
    struct sp_cfi_cursor *c = &m->c;
    const bool is_value = op == 0x14 || op == 0x15, has_sign = op == 0x11 || op == 0x15,
               negative = op == 0x2f;
    if (op != 0x05 && !is_value && !has_sign && !negative)
        return false; /* offset_extended, _sf, val_offset, _sf, GNU_negative_offset_extended */
    uint64_t reg = sp_cfi_uleb(c);
    int64_t offset = factored(m, has_sign ? sp_cfi_sleb(c) : (int64_t)sp_cfi_uleb(c));
    cfi_row_set(m, reg, is_value ? SP_CFI_IS_CFA : SP_CFI_AT_CFA,
                negative ? (int64_t)(0 - (uint64_t)offset) : offset);
    return true;
}

/* The instructions whose operand is not in their own byte. */
static void cfi_row_extended(struct machine *m, unsigned op)
{
    struct sp_cfi_cursor *c = &m->c;
    switch (op) {
    case 0x00: /* nop */
    case 0x2d: /* negate_ra_state of AArch64 (window_save elsewhere): signatures are stripped anyway */
        break;
    case 0x01: /* set_loc */
        m->at = sp_cfi_pointer(m->t, m->part, c, m->cie->pointers);
        break;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        cfi_row_advance(m, sp_cfi_fixed(c, 1u << (op - 2)));
        break;
    case 0x06: /* restore_extended */
        restore(m, sp_cfi_uleb(c));
        break;
    case 0x07: /* undefined */
        cfi_row_set(m, sp_cfi_uleb(c), SP_CFI_UNDEFINED, 0);
        break;
    case 0x08: /* same_value */
        cfi_row_set(m, sp_cfi_uleb(c), SP_CFI_SAME, 0);
        break;
    case 0x09: { /* register */
        uint64_t reg = sp_cfi_uleb(c);
        uint64_t from = sp_cfi_uleb(c);
        cfi_row_set(m, reg, from < SP_CFI_REGS ? SP_CFI_REG : SP_CFI_UNDEFINED,
                    from < SP_CFI_REGS ? (int64_t)from : 0);
        break;
    }
    case 0x0a: /* remember_state */
        if (m->nkept < REMEMBERED)
            m->kept[m->nkept++] = m->now;
        else
            c->bad = true;
        break;
    case 0x0b: /* restore_state */
        if (m->nkept)
            m->now = m->kept[--m->nkept];
        else
            c->bad = true;
        break;
    case 0x10: /* expression */
        set_expression(m, SP_CFI_AT_EXPR);
        break;
    case 0x16: /* val_expression */
        set_expression(m, SP_CFI_IS_EXPR);
        break;
    case 0x2e: /* GNU_args_size */
        sp_cfi_uleb(c);
        break;
    default:
        if (!cfa_extended(m, op) && !offset_extended(m, op))
            c->bad = true;
    }
}

/* Runs until the wanted address is passed or the program ends. */
static bool cfi_row_run(struct machine *m)
{
    while (m->c.p < m->c.end && !m->c.bad) {
        unsigned op = *m->c.p++, low = op & 63;
        switch (op >> 6) {
        case 1:
            cfi_row_advance(m, low);
            break;
        case 2:
            cfi_row_set(m, low, SP_CFI_AT_CFA, factored(m, (int64_t)sp_cfi_uleb(&m->c)));
            break;
        case 3:
            restore(m, low);
            break;
        default:
            cfi_row_extended(m, op);
        }
        /* What passes the address changes nothing else. */
        if (m->at > m->want)
            return true;
    }
    return !m->c.bad;
}

bool sp_cfi_extent(const struct sp_cfi *t, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
    const struct sp_cfi_fde *f = cfi_row_find(t, vaddr);
    if (!f)
        return false;
    *start = f->start;
    *end = f->end;
    return true;
}

bool sp_cfi_row(const struct sp_cfi *t, uint64_t vaddr, struct sp_cfi_row *out)
{
    const struct sp_cfi_fde *f = cfi_row_find(t, vaddr);
    struct sp_cfi_cie cie;
    struct sp_cfi_cursor own;
    if (!f || !sp_cfi_open_fde(t, f, &cie, &own))
        return false;
    struct machine m = {.t = t, .part = &t->parts[f->part], .cie = &cie};
    m.c = (struct sp_cfi_cursor){cie.program, cie.end, t->swap, false};
    m.want = UINT64_MAX;
    if (!cfi_row_run(&m))
        return false;
    m.start = m.now;
    m.c = own;
    m.at = f->start;
    m.want = vaddr;
    if (!cfi_row_run(&m) || (m.now.cfa.how != SP_CFI_REG && m.now.cfa.how != SP_CFI_IS_EXPR))
        return false;
    *out = (struct sp_cfi_row){.cfa = m.now.cfa, .ra = (uint8_t)cie.ra, .signal = cie.signal};
    for (unsigned i = 0; i < SP_CFI_REGS; i++)
        if (m.now.reg[i].how != SP_CFI_SAME)
            out->rules[out->n++] = m.now.reg[i];
    return true;
}

const unsigned char *sp_cfi_expression(const struct sp_cfi *c, const struct sp_cfi_rule *r)
{
    return c->data.v + r->off;
}
