/* The tables of annotate --asm: instructions in order for people, blocks of most weight for programs. */
#include "ask/annotate_asm.h"

#include "analysis/short_name.h"
#include "answer/text.h"

#include <stdio.h>
#include <stdlib.h>

#define WEIGHTS                                                                                              \
    [SELF] = {"self", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks whose leaf is there"},    \
    [SELF + 1] = {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "its share of the whole"},         \
    [TOTAL] = {"total", SP_COL_WEIGHT, .flags = SP_COL_CSV, .doc = "weight of stacks that go through it"},   \
    [TOTAL + 1] = {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "its share of the whole"}
#define INSN(title)                                                                                          \
    [SAMPLES] = {"samples", SP_COL_COUNT, .doc = "samples of self"},                                         \
    [ADDRESS] = {"address", SP_COL_TEXT, title, .flags = SP_COL_RIGHT | SP_COL_STAYS,                        \
                 .doc = "of the instruction, as linked"},                                                    \
    [MARK] = {"jumped_to", SP_COL_BOOL, .doc = "a jump of the function leads there"},                        \
    [TARGET] = {"target", SP_COL_TEXT, .doc = "where it jumps to, or what it calls; null: it does not"},     \
    [INSN_FILE] = {"file", SP_COL_TEXT, .doc = "as the compiler was told, of the innermost function"},       \
    [INSN_LINE] = {"line", SP_COL_COUNT, .doc = "in it; null: not known"},                                   \
    [INLINED] = {"inlined", SP_COL_TEXTS,                                                                    \
                 .doc = "functions inlined there, the innermost first: as `short` of other tables; --names " \
                        "full: whole"}
enum {
    SELF,
    TOTAL = 2,
    SAMPLES = 4,
    ADDRESS,
    MARK,
    TARGET,
    INSN_FILE,
    INSN_LINE,
    INLINED,
    INSN_TEXT,
    INSN_N
};

static const struct sp_answer_column code_columns[] = {
    WEIGHTS,
    INSN("address"),
    [INSN_TEXT] = {"text", SP_COL_TEXT, "instruction", .flags = SP_COL_FLEXIBLE,
                   .doc = "the instruction; in text a line of source or a function inlined, too"},
};
static const struct sp_answer_column insn_columns[] = {
    WEIGHTS,
    INSN(NULL),
    [INSN_TEXT] = {"text", SP_COL_TEXT, .doc = "the instruction"},
};
enum { BLOCK_DSO = 4, BLOCK_SYMBOL, BLOCK_START, BLOCK_END, BLOCK_N };
static const struct sp_answer_column block_columns[] = {
    WEIGHTS,
    [BLOCK_DSO] = {"binary", SP_COL_TEXT, .doc = "the file that the bytes are from"},
    [BLOCK_SYMBOL] = {"symbol", SP_COL_TEXT, .doc = "what covers them, as linked; null: nothing names it"},
    [BLOCK_START] = {"start", SP_COL_TEXT, .doc = "address of its first instruction"},
    [BLOCK_END] = {"end", SP_COL_TEXT, .doc = "address behind its last"},
};
const struct sp_table_decl
    sp_annotate_code = {"instructions_listed", code_columns,           INSN_N,
                        .joined = true,        .noun = "instructions", .doc = "--asm: in order of address"},
    sp_annotate_blocks = {"blocks", block_columns, BLOCK_N, .noun = "blocks",
                          .doc = "--asm: instructions of most weight with those around "
                                 "them, the heaviest first; total: of the heaviest"},
    sp_annotate_insns = {"instructions", insn_columns, INSN_N, .of = "blocks", .doc = "its instructions"};

/* ---- rows ---- */

static void put_hex(struct sp_asm *z, struct sp_answer_table *t, size_t column, uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    sp_put_text(z->x->asked.out, t, column, text, (size_t)n);
}

static void put_line(struct sp_asm *z, struct sp_answer_table *t, const char *srcline)
{
    const char *colon = srcline ? strrchr(srcline, ':') : NULL;
    if (!colon)
        return;
    sp_put_text(z->x->asked.out, t, INSN_FILE, srcline, (size_t)(colon - srcline));
    sp_put_int(t, INSN_LINE, strtol(colon + 1, NULL, 10));
}

size_t sp_asm_inlined(struct sp_asm *z, const struct sp_asm_insn *i,
                      struct sp_value_text names[SP_ASM_DEEPEST])
{
    struct sp_buf *b = &z->x->asked.b;
    enum sp_shortness how = sp_options_full_names(z->x->asked.q->options) ? SP_WHOLE_NAME : SP_SHORTEST;
    z->nr = i->inlined
                ? sp_module_resolve(z->parts.v[i->part].module, sp_asm_insn(z, i)->addr, z->r, SP_ASM_DEEPEST)
                : 0;
    size_t n = i->inlined < z->nr ? i->inlined : z->nr, start = 0;
    sp_buf_clear(b);
    for (size_t k = 0; k < n; k++) {
        sp_short_name(b, z->r[k].func, strlen(z->r[k].func), how);
        names[k].n = b->len - start;
        start = b->len;
    }
    start = 0;
    for (size_t k = 0; k < n; k++) {
        names[k].p = b->data + start;
        start += names[k].n;
    }
    z->x->asked.out->failed |= b->failed;
    return b->failed ? 0 : n;
}

static void put_insn(struct sp_asm *z, struct sp_answer_table *t, const struct sp_asm_insn *i, bool people)
{
    struct sp_answer *out = z->x->asked.out;
    const struct sp_insn *in = sp_asm_insn(z, i);
    struct sp_value_text names[SP_ASM_DEEPEST];
    struct sp_buf *b = &z->x->asked.b;
    sp_table_row(out, t);
    if (!people || i->self || i->total) {
        sp_put_int(t, SELF, i->self);
        sp_put_int(t, TOTAL, i->total);
        sp_put_int(t, SAMPLES, i->samples);
    }
    put_hex(z, t, ADDRESS, in->addr);
    sp_put_int(t, MARK, i->target);
    if (in->target)
        put_hex(z, t, TARGET, in->target);
    put_line(z, t, i->srcline);
    sp_put_texts(out, t, INLINED, names, sp_asm_inlined(z, i, names));
    sp_buf_clear(b);
    if (people)
        sp_buf_puts(b, i->target ? "→ " : "  ");
    sp_buf_puts(b, sp_asm_text(z, i));
    out->failed |= b->failed;
    sp_put_text(out, t, INSN_TEXT, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

/* "price, inlined at shop.cpp:14: shop.cpp:7  return …": where the next instructions are from. */
static void put_place(struct sp_asm *z, struct sp_answer_table *t, const struct sp_asm_insn *i)
{
    struct sp_buf *b = &z->x->asked.b;
    const struct sp_annotate *x = z->x;
    sp_buf_clear(b);
    z->nr = sp_module_resolve(z->parts.v[i->part].module, sp_asm_insn(z, i)->addr, z->r, SP_ASM_DEEPEST);
    for (size_t k = i->inlined < z->nr ? i->inlined + 1 : z->nr; k-- > 0;) {
        const char *line = z->r[k].srcline, *slash = line ? strrchr(line, '/') : NULL;
        if (k < i->inlined) {
            sp_buf_puts(b, " > ");
            sp_short_name(b, z->r[k].func, (uint32_t)strlen(z->r[k].func), SP_SHORTEST);
            sp_buf_ch(b, ' ');
        }
        sp_buf_puts(b, slash ? slash + 1 : line ? line : "?");
    }
    const char *line = i->srcline, *colon = line ? strrchr(line, ':') : NULL;
    for (size_t f = 0; colon && f < x->a.files.n; f++) {
        struct sp_str file = x->a.files.v[f].file;
        if (file.n != (size_t)(colon - line) || memcmp(file.p, line, file.n) != 0)
            continue;
        struct sp_str text = sp_source_line(&x->texts.v[f], (uint32_t)strtoul(colon + 1, NULL, 10));
        while (text.n && (*text.p == ' ' || *text.p == '\t'))
            text.p++, text.n--;
        sp_buf_puts(b, "  ");
        sp_buf_add(b, text.p ? text.p : "", text.n);
        break;
    }
    x->asked.out->failed |= b->failed;
    if (!b->len) /* nothing says anything of it */
        return;
    sp_table_row(x->asked.out, t);
    sp_put_text(x->asked.out, t, INSN_TEXT, b->data, b->len);
    sp_buf_clear(b);
}

static void put_block_row(struct sp_asm *z, struct sp_answer_table *t, struct sp_buf *b)
{
    z->x->asked.out->failed |= b->failed;
    sp_table_row(z->x->asked.out, t);
    sp_put_text(z->x->asked.out, t, INSN_TEXT, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

/*
 * What branch stacks say of the block that begins, or is gone on with: in as many rows as it takes, since
 * what is cut of a number is another number.
 */
static void put_block_text(struct sp_asm *z, struct sp_answer_table *t, const struct sp_asm_block *k)
{
    enum { ROOM = 48 }; /* columns that narrow terminals leave to instructions */
    struct sp_buf said, *b = &z->x->asked.b;
    sp_buf_init(&said, 0);
    sp_annotate_lbr_text(z, k, &said);
    sp_buf_clear(b);
    for (const char *p = sp_buf_cstr(&said), *end; *p; p = *end ? end + 1 : end) {
        end = p + strcspn(p, "\n");
        bool fits = sp_text_width(b->data, b->len) + 2 + sp_text_width(p, (size_t)(end - p)) <= ROOM;
        if (b->len && !fits)
            put_block_row(z, t, b);
        sp_buf_puts(b, b->len ? ", " : "-- ");
        sp_buf_add(b, p, (size_t)(end - p));
    }
    put_block_row(z, t, b);
    z->x->asked.out->failed |= said.failed;
    sp_buf_free(&said);
}

static void put_code(struct sp_asm *z)
{
    struct sp_answer_table *t = sp_answer_table(z->x->asked.out, &sp_annotate_code);
    const struct sp_asm_insn *before = NULL;
    bool brief = z->x->asked.q->brief;
    if (!t)
        return;
    t->limit = SIZE_MAX;
    t->fixed = true;
    t->quiet = !z->chosen && !z->x->asked.q->options->whole;
    for (size_t i = 0; i < z->insns.n; i++) {
        const struct sp_asm_insn *in = &z->insns.v[i];
        if (!in->shown)
            continue;
        bool follows = before == in - 1 && before->part == in->part;
        if (brief && before && !follows) {
            sp_table_row(z->x->asked.out, t);
            sp_put_text(z->x->asked.out, t, INSN_TEXT, "⋮", strlen("⋮"));
        }
        if (brief && (!follows || before->srcline != in->srcline || before->inlined != in->inlined))
            put_place(z, t, in);
        if (brief && in->block && (!follows || before->block != in->block))
            put_block_text(z, t, &z->lbr.blocks.v[in->block - 1]);
        put_insn(z, t, in, brief);
        before = in;
    }
}

/* Instructions that are shown, one after the other. */
struct block {
    size_t first, last;
    int64_t self, total;
};

static int block_by_weight(const void *va, const void *vb)
{
    const struct block *x = va, *y = vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void put_block(struct sp_asm *z, struct sp_answer_table *t, struct sp_answer_table *details,
                      const struct block *k)
{
    const struct sp_asm_insn *first = &z->insns.v[k->first], *last = &z->insns.v[k->last];
    const struct sp_asm_part *part = &z->parts.v[first->part];
    const char *file = sp_module_file(part->module);
    sp_table_row(z->x->asked.out, t);
    sp_put_int(t, SELF, k->self);
    sp_put_int(t, TOTAL, k->total);
    if (file)
        sp_put_text(z->x->asked.out, t, BLOCK_DSO, file, strlen(file));
    if (part->symbol)
        sp_put_text(z->x->asked.out, t, BLOCK_SYMBOL, part->symbol, strlen(part->symbol));
    put_hex(z, t, BLOCK_START, sp_asm_insn(z, first)->addr);
    put_hex(z, t, BLOCK_END, sp_asm_insn(z, last)->addr + sp_asm_insn(z, last)->size);
    for (size_t i = k->first; details && i <= k->last; i++)
        put_insn(z, details, &z->insns.v[i], false);
}

static bool put_blocks(struct sp_asm *z)
{
    struct sp_answer_table *t = sp_answer_table(z->x->asked.out, &sp_annotate_blocks);
    struct sp_answer_table *details = t ? sp_answer_detail(z->x->asked.out, &sp_annotate_insns, t) : NULL;
    SP_VEC(struct block) blocks = {0};
    bool ok = t != NULL;
    for (size_t i = 0; ok && i < z->insns.n; i++) {
        const struct sp_asm_insn *in = &z->insns.v[i];
        struct block *last = blocks.n ? &blocks.v[blocks.n - 1] : NULL;
        if (!in->shown)
            continue;
        if (!last || last->last + 1 != i || z->insns.v[last->last].part != in->part) {
            struct block new = {i, i, 0, 0};
            ok = sp_vec_push(&blocks, new);
            last = ok ? &blocks.v[blocks.n - 1] : NULL;
        }
        if (!last)
            break;
        last->last = i;
        last->self += in->self;
        last->total = in->total > last->total ? in->total : last->total;
    }
    if (ok) {
        t->quiet = true; /* the listing has them */
        t->keep = 1;
        t->limit = SIZE_MAX;
    }
    if (ok && blocks.n)
        qsort(blocks.v, blocks.n, sizeof *blocks.v, block_by_weight);
    for (size_t i = 0; ok && i < blocks.n; i++)
        put_block(z, t, details, &blocks.v[i]);
    sp_vec_free(&blocks);
    return ok;
}

bool sp_annotate_asm_put(struct sp_asm *z)
{
    put_code(z);
    sp_annotate_lbr_put(z);
    return put_blocks(z);
}
