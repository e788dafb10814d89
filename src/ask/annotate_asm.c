/*
 * The instructions of the function with their weights, interleaved with lines and what is inlined.
 *
 * The weight of a leaf is at the instruction that it was recorded at, that of a caller at its call. Of a
 * function that is inlined itself, the instructions are those of its copies, wherever they are.
 */
#include "ask/annotate_asm.h"

#include <stdlib.h>

enum { STAY = 3 }; /* instructions that no budget leaves out, as far as they are asked for */

/* ---- instructions ---- */

/* Those of what a symbol covers that are of the function. */
static spaa_status assembly_take(struct sp_asm *z, uint32_t number)
{
    struct sp_asm_part *part = &z->parts.v[number];
    part->first = z->insns.n;
    for (size_t i = 0; i < part->text.insns.n; i++) {
        z->nr = sp_module_resolve(part->module, part->text.insns.v[i].addr, z->r, SP_ASM_DEEPEST);
        size_t depth = 0;
        while (depth < z->nr && !sp_annotate_is_asked(z->x, z->r[depth].func))
            depth++;
        if (depth == z->nr && z->nr)
            continue;
        struct sp_asm_insn x = {.part = number, .number = (uint32_t)i, .inlined = (uint32_t)depth};
        x.srcline = z->nr ? z->r[0].srcline : NULL;
        if (!sp_vec_push(&z->insns, x))
            return sp_nomem(z->x->asked.q->diags);
    }
    part->n = z->insns.n - part->first;
    return SPAA_OK;
}

/*
 * Addresses of a file at which instructions begin: those that ran when they were sampled, and those that
 * calls return to.
 */
static spaa_status assembly_starts(struct sp_asm *z, uint32_t dso)
{
    const struct sp_annotation *a = &z->x->a; /* its code is by DSO and address */
    z->starts.n = 0;
    for (size_t i = 0; i < a->code.n; i++)
        if (a->code.v[i].dso == dso && !sp_vec_push(&z->starts, a->code.v[i].at))
            return sp_nomem(z->x->asked.q->diags);
    return SPAA_OK;
}

static spaa_status assembly_part(struct sp_asm *z, struct sp_module *m, uint32_t dso, uint64_t at)
{
    struct sp_asm_part part = {.module = m};
    if (sp_module_is_doubtful(m)) { /* weights at instructions of others would be wrong */
        z->why = SP_DOUBTFUL_WHY ": they may be another build's";
        z->hint = "ask the recording itself, with --symfs DIR and the binary that ran";
        return SPAA_OK;
    }
    if (!sp_module_extent(m, at, &part.start, &part.end, &part.symbol) || part.end <= part.start) {
        part.symbol = NULL;
        if (!sp_module_unnamed(m, at, &part.start, &part.end) || part.end <= part.start) {
            z->why = z->why              ? z->why
                     : sp_module_file(m) ? "no symbol and no .eh_frame says where it begins and ends"
                                         : "its binary is not here, or is another build";
            return SPAA_OK;
        }
    }
    const char *why = NULL, *hint = NULL;
    spaa_status st = assembly_starts(z, dso);
    struct sp_known_starts known = {z->starts.v, z->starts.n};
    if (!st)
        st = sp_disassemble(m, part.start, part.end, &known, &part.text, &why, &hint);
    if (!st && why) {
        z->why = why;
        z->hint = hint;
    }
    if (st || !sp_vec_push(&z->parts, part)) {
        sp_code_text_free(&part.text);
        return st ? st : sp_nomem(z->x->asked.q->diags);
    }
    return assembly_take(z, (uint32_t)z->parts.n - 1);
}

static struct sp_asm_part *part_at(struct sp_asm *z, const struct sp_module *m, uint64_t at)
{
    for (size_t i = 0; i < z->parts.n; i++)
        if (z->parts.v[i].module == m && at >= z->parts.v[i].start && at < z->parts.v[i].end)
            return &z->parts.v[i];
    return NULL;
}

static spaa_status assembly_weigh(struct sp_asm *z)
{
    const struct sp_annotation *a = &z->x->a;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < a->code.n; i++) {
        const struct sp_annotated_code *c = &a->code.v[i];
        struct sp_module *m;
        uint64_t at = c->at - c->call;
        st = sp_places_module(z->x->a.places, c->dso, &m);
        if (!st && m && !part_at(z, m, at))
            st = assembly_part(z, m, c->dso, at);
        const struct sp_asm_part *part = !st && m ? part_at(z, m, at) : NULL;
        struct sp_asm_insn *in = part ? sp_asm_insn_at(z, part, at) : NULL;
        if (!in)
            continue;
        if (!c->call && sp_asm_insn(z, in)->addr != at && !sp_asm_insn(z, in)->unknown)
            z->inside += c->self;
        in->self += c->self;
        in->total = in->total + c->total < a->total ? in->total + c->total : a->total;
        if (c->samples != SP_ABSENT)
            in->samples += c->samples;
    }
    z->lost = a->self;
    for (size_t i = 0; i < z->insns.n; i++)
        z->lost -= z->insns.v[i].self < z->lost ? z->insns.v[i].self : z->lost;
    return st;
}

static void assembly_jumps(struct sp_asm *z)
{
    for (size_t i = 0; i < z->insns.n; i++) {
        const struct sp_insn *from = sp_asm_insn(z, &z->insns.v[i]);
        struct sp_asm_part *part = &z->parts.v[z->insns.v[i].part];
        struct sp_asm_insn *to = from->jump && from->target ? sp_asm_insn_at(z, part, from->target) : NULL;
        if (to && sp_asm_insn(z, to)->addr == from->target)
            to->target = true;
    }
}

/* ---- which are shown ---- */

static int insn_by_weight(const void *va, const void *vb)
{
    const struct sp_asm_insn *x = *(const struct sp_asm_insn *const *)va,
                             *y = *(const struct sp_asm_insn *const *)vb;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* What each instruction takes of a budget, in characters. */
static void assembly_costs(struct sp_asm *z)
{
    enum { TEXT = 40, JSON = 240, JSON_NAME = 3 };
    struct sp_value_text names[SP_ASM_DEEPEST];
    for (size_t i = 0; i < z->insns.n; i++) {
        struct sp_asm_insn *in = &z->insns.v[i];
        size_t cost = strlen(sp_asm_text(z, in)) + (z->x->asked.q->brief ? TEXT : JSON);
        size_t n = z->x->asked.q->brief ? 0 : sp_asm_inlined(z, in, names);
        for (size_t k = 0; k < n; k++)
            cost += names[k].n + JSON_NAME;
        in->cost = (uint32_t)(cost < UINT32_MAX ? cost : UINT32_MAX);
    }
}

/* An instruction and so many around it, of its part. */
static void insns_around(const struct sp_asm *z, const struct sp_asm_insn *i, size_t around, size_t *first,
                         size_t *last)
{
    const struct sp_asm_part *part = &z->parts.v[i->part];
    size_t at = (size_t)(i - z->insns.v), end = part->first + part->n - 1;
    *first = at - part->first > around ? at - around : part->first;
    *last = end - at > around ? at + around : end;
}

/* What those of them take of a budget that are not shown yet. */
static size_t insns_cost(const struct sp_asm *z, size_t first, size_t last)
{
    size_t cost = 0;
    for (size_t k = first; k <= last; k++)
        cost += z->insns.v[k].shown ? 0 : z->insns.v[k].cost;
    return cost;
}

/* How many around each: fewer where a budget has no room for those around the few that always stay. */
static size_t choose_context(const struct sp_asm *z, struct sp_asm_insn *const *order, size_t n, size_t room)
{
    size_t around = (size_t)z->x->context * 2;
    for (; around; around--) {
        size_t cost = 0, first, last;
        for (size_t i = 0; i < n && i < STAY && i < z->x->limit; i++) {
            insns_around(z, order[i], around, &first, &last);
            cost += insns_cost(z, first, last);
        }
        if (cost <= room)
            break;
    }
    return around;
}

static bool assembly_choose(struct sp_asm *z, size_t room)
{
    bool whole = z->x->asked.q->options->whole;
    size_t n = 0, first, last;
    struct sp_asm_insn **order = malloc((z->insns.n + 1) * sizeof *order);
    for (size_t i = 0; order && i < z->insns.n; i++) {
        z->insns.v[i].shown = whole;
        if (z->insns.v[i].total || z->insns.v[i].self)
            order[n++] = &z->insns.v[i];
    }
    if (order && n)
        qsort(order, n, sizeof *order, insn_by_weight);
    z->known = n;
    z->chosen = whole ? n : 0;
    if (room != SIZE_MAX)
        assembly_costs(z);
    z->around = order && !whole ? choose_context(z, order, n, room) : 0;
    for (size_t i = 0; order && !whole && i < n && i < z->x->limit; i++) {
        insns_around(z, order[i], z->around, &first, &last);
        size_t cost = insns_cost(z, first, last);
        if (i >= STAY && cost > room)
            break;
        room -= cost < room ? cost : room;
        z->chosen++;
        for (size_t k = first; k <= last; k++)
            z->insns.v[k].shown = true;
    }
    bool ok = order != NULL;
    free(order);
    return ok;
}

/* ---- words ---- */

/* Events whose samples are at the instruction itself, where the processor could do that. */
static bool is_precise(struct sp_str event)
{
    const char *colon = event.n ? memrchr(event.p, ':', event.n) : NULL;
    size_t n = colon ? (size_t)(event.p + event.n - colon) : 0;
    bool clock =
        (event.n > 4 && !memcmp(event.p, "cpu-", 4)) || (event.n > 5 && !memcmp(event.p, "task-", 5));
    return n && !clock && (memmem(colon, n, "pp", 2) || memchr(colon, 'P', n));
}

static void say_blocks(struct sp_asm *z)
{
    const struct sp_asm_lbr *x = &z->lbr;
    struct sp_answer *out = z->x->asked.out;
    if (x->why)
        sp_answer_line(out, "no counts or cycles of blocks: %s", x->why);
    else if (x->less)
        sp_answer_line(out, "of blocks is not known: %s", x->less);
    if (x->odd)
        sp_answer_line(out, "! %lld runs of branch stacks do not fit these instructions", (long long)x->odd);
}

/* Samples stand at the beginning of an instruction; the exception is a prefix that a jump passes over. */
static void say_inside(struct sp_asm *z)
{
    struct sp_answer *out = z->x->asked.out;
    struct sp_buf *b = &z->x->asked.b;
    sp_fact_weight(out, "inside_instructions", 0, z->inside);
    if (!z->inside)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, "! within instructions, not where they begin: ");
    sp_text_weight_of(b, &z->x->asked.s, z->inside);
    sp_buf_puts(
        b,
        " of self: unless a jump passes over a prefix there (lock), the binary is another build or there is "
        "data among the code, and these are no instructions that ran");
    sp_answer_line_buf(out, b);
    sp_buf_clear(b);
}

/* Bytes that could not be decoded, of the function's own code. */
static void say_unknown(struct sp_asm *z)
{
    struct sp_answer *out = z->x->asked.out;
    int64_t bytes = 0;
    bool lacks = false;
    for (size_t i = 0; i < z->insns.n; i++) {
        const struct sp_insn *in = sp_asm_insn(z, &z->insns.v[i]);
        bytes += in->unknown ? in->size : 0;
        lacks |= in->unknown && z->parts.v[z->insns.v[i].part].text.lacks_zydis;
    }
    sp_fact_count(out, "bytes_not_decoded", bytes);
    if (bytes)
        sp_answer_line(
            out, "! %lld bytes are shown as .byte: instructions that are not known here, or data%s",
            (long long)bytes,
            lacks ? "; for AVX-512 and newer ones install libzydis4.0 (spaa must be built with it)" : "");
}

static void assembly_say(struct sp_asm *z)
{
    struct sp_answer *out = z->x->asked.out;
    const struct sp_selection *s = &z->x->asked.s;
    struct sp_buf *b = &z->x->asked.b;
    if (!z->why && z->x->a.total && z->x->a.inferred == z->x->a.total)
        z->why = "the function is inferred as a caller everywhere: none of its addresses was recorded";
    z->why = z->why ? z->why : "frames have no addresses in a file that is here";
    sp_fact_cstr(out, "no_instructions", z->insns.n ? NULL : z->why);
    sp_fact_cstr(out, "hint", z->insns.n ? NULL : z->hint);
    sp_fact_cstr(out, "no_blocks", z->insns.n ? z->lbr.why : NULL);
    sp_fact_cstr(out, "blocks_lack", z->insns.n ? z->lbr.less : NULL);
    sp_fact_count(out, "runs_that_do_not_fit", z->lbr.odd);
    sp_fact_bool(out, "precise", is_precise(sp_pstr(s->profile, s->profile->events.v[s->event].name)));
    sp_fact_weight(out, "no_instruction", 0, z->lost);
    sp_fact_percent(out, "no_instruction_percent", 0, z->lost);
    sp_fact_count(out, "instructions_with_weight", (int64_t)z->known);
    sp_fact_count(out, "instructions_shown", (int64_t)z->chosen);
    if (!z->x->asked.q->options->whole)
        sp_fact_count(out, "instructions_around", (int64_t)z->around);
    if (!z->insns.n) {
        sp_answer_line(out, "no instructions: %s%s%s", z->why, z->hint ? ": " : "", z->hint ? z->hint : "");
        return;
    }
    if (!is_precise(sp_pstr(s->profile, s->profile->events.v[s->event].name)))
        sp_answer_line(
            out, "skid: samples land some instructions behind the costly one, unless the event is precise "
                 "(`perf record -e cycles:pp`)");
    if (z->lost) {
        sp_buf_clear(b);
        sp_buf_puts(b, "at no instruction that is here: ");
        sp_text_weight_of(b, s, z->lost);
        sp_buf_puts(b, " of self");
        sp_answer_line_buf(out, b);
        sp_buf_clear(b);
    }
    if (z->chosen < z->known)
        sp_answer_line(out,
                       "the heaviest %zu of %zu instructions with weight; -n N shows others, --whole all",
                       z->chosen, z->known);
    if (!z->x->asked.q->options->whole && z->around < (size_t)z->x->context * 2)
        sp_answer_line(out, "--budget has room for %zu around each of them, not %zu", z->around,
                       (size_t)z->x->context * 2);
    say_inside(z);
    say_unknown(z);
    say_blocks(z);
}

static void assembly_free(struct sp_asm *z)
{
    for (size_t i = 0; i < z->parts.n; i++)
        sp_code_text_free(&z->parts.v[i].text);
    sp_annotate_lbr_free(&z->lbr);
    sp_vec_free(&z->parts);
    sp_vec_free(&z->insns);
    sp_vec_free(&z->starts);
}

spaa_status sp_annotate_asm(struct sp_annotate *x)
{
    struct sp_asm *z = calloc(1, sizeof *z);
    size_t room;
    if (!z)
        return sp_nomem(x->asked.q->diags);
    z->x = x;
    spaa_status st = sp_annotate_room(x, &room) ? assembly_weigh(z) : SPAA_ERR_USAGE;
    if (!st) {
        assembly_jumps(z);
        st = sp_annotate_lbr(z);
    }
    if (!st)
        st = assembly_choose(z, room) ? SPAA_OK : sp_nomem(x->asked.q->diags);
    if (!st) {
        assembly_say(z);
        st = sp_annotate_asm_put(z) ? SPAA_OK : sp_nomem(x->asked.q->diags);
    }
    assembly_free(z);
    free(z);
    return st;
}
