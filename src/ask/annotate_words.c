/* The facts of annotate, and what people are told above its lines. */
#include "ask/annotate.h"

#include "analysis/short_name.h"
#include "symbols/source_path.h"

const struct sp_answer_column sp_annotate_facts[] = {
    {"asked", SP_COL_TEXT, .doc = "the name as it was given"},
    SP_FUNCTION_FACTS("function"),
    {"function.matches", SP_COL_COUNT,
     .doc = "how many functions the name fits; all of them are taken as one"},
    {"self", SP_COL_WEIGHT, .doc = "weight of stacks whose leaf is in its code, with what is inlined there"},
    {"self_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"own_self", SP_COL_WEIGHT, .doc = "of self: without what is inlined"},
    {"own_self_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"total", SP_COL_WEIGHT, .doc = "weight of stacks it is in, each once"},
    {"total_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"samples", SP_COL_COUNT, .doc = "samples of self"},
    {"total_samples", SP_COL_COUNT, .doc = "samples of total"},
    {"no_line", SP_COL_WEIGHT, .doc = "of self: whose line is not known"},
    {"no_line_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"no_line_total", SP_COL_WEIGHT, .doc = "of total: of stacks in which no line of it is known"},
    {"no_line_total_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"inferred", SP_COL_WEIGHT,
     .doc =
         "of no_line_total: it was inferred there, by which neither its line nor its instruction is known"},
    {"inferred_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"no_instructions", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: why there are none; null: there are some"},
    {"hint", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: what helps then; null: nothing is known to"},
    {"no_blocks", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: why branch stacks say nothing of blocks; null: they do"},
    {"blocks_lack", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: what branch stacks do not say of blocks; null: all is there"},
    {"runs_that_do_not_fit", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: runs that begin or end inside instructions of the function: the binary is another one"},
    {"precise", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: the event was asked to be at the instruction itself; else samples are behind it (skid)"},
    {"no_instruction", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: of self: at no instruction that is here"},
    {"no_instruction_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "its share of the whole"},
    {"inside_instructions", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: of self: at addresses within instructions, at which none begins"},
    {"bytes_not_decoded", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: bytes of the function that are no instruction which is known here"},
    {"instructions_with_weight", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: how many have weight"},
    {"instructions_shown", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc =
         "--asm: how many of these, the heaviest, were chosen: asked for, or --budget has room; those around "
         "them may have weight, too, and blocks that are `omitted` after all are counted"},
    {"instructions_around", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "--asm: how many stand before and behind each of them: twice --context, or as --budget has room"},
    {"lines_with_weight", SP_COL_COUNT, .doc = "how many lines have weight"},
    {"lines_shown", SP_COL_COUNT,
     .doc = "how many of these, the heaviest, were chosen: asked for, or --budget has room; ranges that are "
            "`omitted` after all are counted"},
    {"diff.base", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "--diff: what it is compared with"},
    {"diff.base_self", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "self of the function there"},
    {"diff.base_self_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "of the base's whole"},
    {"diff.base_total", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "total of the function there"},
    {"diff.base_total_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "of the base's whole"},
    {"diff.base_no_line_total", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "no_line_total there"},
    {"diff.base_inferred", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES, .doc = "inferred there"},
    {"diff.base_samples", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "samples of that self"},
    {"diff.by_number", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "lines of some file are paired by number, for want of the text as compiled: a guess"},
    {"diff.one_text", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "one file was found for two builds by --source-path: it is the text of one of them at most"},
    {"diff.partial", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "some file is carried by a profile in part: its lines are paired among what is there, a guess"},
    {"diff.cut", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "files differ so much that not all that is the same was looked for"},
    {"diff.file", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "the file that the function's lines are in, where the base has them in one of another name"},
    {"diff.base_file", SP_COL_TEXT, .flags = SP_COL_SOMETIMES, .doc = "that one"},
    {"diff.lines_with_weight", SP_COL_COUNT, .flags = SP_COL_SOMETIMES,
     .doc = "how many lines of either version have weight"},
    {"diff.lines_shown", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "how many of these are shown"},
    SP_RATIO_FACTS,
    SP_RATIO_PART_FACTS,
    SP_RATIO_ROWS("ranges.lines"),
    {0},
};

static void say_facts(struct sp_annotate *x)
{
    struct sp_answer *a = x->asked.out;
    const struct sp_annotation *v = &x->a;
    sp_fact_cstr(a, "asked", x->asked.q->argument);
    sp_fact_function(&x->asked, "function", x->lookup.first);
    sp_fact_count(a, "function.matches", (int64_t)x->lookup.n);
    sp_fact_weight(a, "self", 0, v->self);
    sp_fact_percent(a, "self_percent", 0, v->self);
    sp_fact_weight(a, "own_self", 0, v->own);
    sp_fact_percent(a, "own_self_percent", 0, v->own);
    sp_fact_weight(a, "total", 0, v->total);
    sp_fact_percent(a, "total_percent", 0, v->total);
    sp_fact_count(a, "samples", v->samples);
    sp_fact_count(a, "total_samples", v->total_samples);
    sp_fact_weight(a, "no_line", 0, v->unlined);
    sp_fact_percent(a, "no_line_percent", 0, v->unlined);
    sp_fact_weight(a, "no_line_total", 0, v->unlined_total);
    sp_fact_percent(a, "no_line_total_percent", 0, v->unlined_total);
    sp_fact_weight(a, "inferred", 0, v->inferred);
    sp_fact_percent(a, "inferred_percent", 0, v->inferred);
    sp_fact_count(a, "lines_with_weight", (int64_t)x->known);
    sp_fact_count(a, "lines_shown", (int64_t)x->chosen);
}

static void say_share(struct sp_annotate *x, const char *before, int64_t v, const char *behind)
{
    struct sp_buf *b = &x->asked.b;
    sp_buf_puts(b, before);
    sp_text_weight_of(b, &x->asked.s, v);
    sp_buf_puts(b, behind);
}

static void say_name(struct sp_annotate *x)
{
    const struct sp_profile *p = x->asked.s.profile;
    const struct sp_function *f = &p->functions.v[x->lookup.first];
    struct sp_buf *b = &x->asked.b;
    struct sp_str name = sp_pstr(p, f->name), dso = sp_dso_name(p, f->dso);
    char handle[32];
    sp_buf_clear(b);
    if (x->lookup.n > 1) {
        sp_buf_puts(b, x->asked.q->argument);
        sp_buf_printf(b, ": %zu functions as one", x->lookup.n);
    } else {
        bool full = sp_options_full_names(x->asked.q->options);
        sp_short_name(b, name.p, name.n, full ? SP_WHOLE_NAME : SP_SHORTEST);
        dso = full ? dso : sp_short_dso(dso.p, dso.n);
        sp_handle_text(&x->asked.handles, x->lookup.first, handle);
        sp_buf_printf(b, " in %.*s (%s)", (int)dso.n, dso.p, handle);
    }
    sp_answer_line_buf(x->asked.out, b);
    sp_buf_clear(b);
    say_share(x, "self ", x->a.self, "");
    if (x->a.own != x->a.self)
        say_share(x, ", of it ", x->a.self - x->a.own, " in functions inlined there");
    say_share(x, ", total ", x->a.total, "");
    sp_answer_line_buf(x->asked.out, b);
    sp_buf_clear(b);
}

/* "/src/app/shop.cpp (compiled in /src/app)" */
static void say_file(struct sp_annotate *x, const struct sp_source_place *at)
{
    struct sp_buf *b = &x->asked.b;
    if (at->path)
        sp_buf_puts(b, at->path);
    else
        sp_buf_add(b, at->file.p, at->file.n);
    if (at->comp_dir)
        sp_buf_printf(b, " (compiled in %s)", at->comp_dir);
    else if (!sp_path_is_absolute(at->file.p, at->file.n))
        sp_buf_puts(b, " (nobody knows where it was compiled)");
}

void sp_annotate_say_source(struct sp_annotate *x, const char *before, const struct sp_source_place *at,
                            const struct sp_source_text *t)
{
    struct sp_buf *b = &x->asked.b;
    if (!at->file.n && *before)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, before);
    say_file(x, at);
    bool elsewhere = t->found && (!at->path || strcmp(at->path, t->found) != 0);
    if (!t->from && t->several)
        sp_buf_puts(b, ": the profile carries several texts of it, and nothing tells which one this is; "
                       "--source-path DIR says where it is");
    else if (!t->from)
        sp_buf_puts(b, at->path ? ": not there; --source-path DIR or FROM=TO says where it is"
                                : ": --source-path DIR says where it is");
    else if (t->from == SP_SOURCE_EMBEDDED)
        sp_buf_puts(b, ", as it is in the debug information");
    else if (t->from == SP_SOURCE_KEPT)
        sp_buf_puts(b, ", lines that the profile carries");
    else if (elsewhere)
        sp_buf_printf(b, ", read from %s", t->found);
    sp_answer_line_buf(x->asked.out, b);
    sp_buf_clear(b);
    bool own = t->from == SP_SOURCE_KEPT && !t->undated; /* nothing is taken of the binary */
    bool doubtful = !own && at->module && sp_module_is_doubtful(at->module);
    if (doubtful)
        sp_answer_line(x->asked.out, "! " SP_DOUBTFUL_WHY ": names, lines and text may be another build's");
    if (t->newer)
        sp_answer_line(x->asked.out, "! the source was written after the binary: lines may be others");
    if (t->other)
        sp_answer_line(x->asked.out,
                       "! the profile carries lines of another text of this file: lines may be others");
    if (t->undated && t->from == SP_SOURCE_KEPT)
        sp_answer_line(x->asked.out,
                       "! whether the source was written after the binary was not known when the "
                       "profile took its text");
    else if (t->undated && (!at->module || !sp_module_file(at->module)))
        sp_answer_line(x->asked.out,
                       "! whether the source was written after the binary is not known: that is "
                       "not here");
    else if (t->undated && !doubtful)
        sp_answer_line(x->asked.out, "! whether the source was written after the binary is not known: that "
                                     "is a copy, whose time may be that of copying");
}

/* Lines that were asked for and of which the profile carries no text. */
static void say_missing(struct sp_annotate *x, uint32_t file)
{
    enum { MOST = 6 };
    struct sp_buf *b = &x->asked.b;
    size_t n = 0;
    sp_buf_clear(b);
    for (size_t i = 0; i < x->missing.n; i++) {
        const struct sp_annotate_range *r = &x->missing.v[i];
        if (r->file != file || n++ >= MOST)
            continue;
        sp_buf_printf(b, n > 1 ? ", %u" : "no text in the profile of lines %u", r->first);
        if (r->last > r->first)
            sp_buf_printf(b, "-%u", r->last);
    }
    if (n > MOST)
        sp_buf_printf(b, " and %zu more ranges", n - MOST);
    if (n)
        sp_buf_printf(b, " (the file has %u): --source-path shows them", x->texts.v[file].total);
    if (n)
        sp_answer_line_buf(x->asked.out, b);
    sp_buf_clear(b);
}

/* The files of lines that are shown. */
static void say_sources(struct sp_annotate *x)
{
    uint32_t last = SP_NONE;
    for (size_t i = 0; i < x->ranges.n; i++) {
        uint32_t file = x->ranges.v[i].file;
        const struct sp_source_text *t = &x->texts.v[file];
        if (file == last)
            continue;
        last = file;
        sp_annotate_say_source(x, "", &x->a.files.v[file], t);
        if (!x->asked.q->options->annotate_base && !x->asked.q->options->assembly)
            say_missing(x, file);
        for (size_t k = 0; k < x->a.lines.n; k++)
            if (t->from && x->a.lines.v[k].file == file && x->a.lines.v[k].line > t->total) {
                sp_answer_line(
                    x->asked.out,
                    "! that file ends before line %u, which has weight: it is not what was compiled",
                    x->a.lines.v[k].line);
                break;
            }
    }
}

void sp_annotate_say_inferred(struct sp_answer *a, struct sp_buf *b, const char *before,
                              const struct sp_annotate *x)
{
    if (!x->a.inferred || x->asked.s.cannot_add)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, before);
    sp_buf_puts(b, "at no known line: ");
    sp_text_weight_of(b, &x->asked.s, x->a.inferred);
    sp_buf_puts(b, " of total, where it left no frame but is proven to stand: [inferred]");
    sp_answer_line_buf(a, b);
    sp_buf_clear(b);
}

static void say_rest(struct sp_annotate *x)
{
    struct sp_buf *b = &x->asked.b;
    sp_annotate_say_inferred(x->asked.out, b, "", x);
    sp_buf_clear(b);
    if (!x->known && x->a.inferred < x->a.total)
        sp_answer_line(x->asked.out,
                       "no lines are known: its binary has no debug information here, or was not "
                       "found (`spaa info` says which)");
    if (!x->known)
        return;
    if (x->a.unlined && !x->asked.s.cannot_add) {
        say_share(x, "of unknown line: ", x->a.unlined, " of self");
        sp_answer_line_buf(x->asked.out, b);
        sp_buf_clear(b);
    }
    if (x->chosen < x->known && !x->asked.q->options->annotate_base && !x->asked.q->options->whole &&
        !x->asked.q->options->assembly)
        sp_answer_line(x->asked.out,
                       "the heaviest %zu of %zu lines with weight; -n N shows others, --whole all", x->chosen,
                       x->known);
}

void sp_annotate_say(struct sp_annotate *x)
{
    say_facts(x);
    say_name(x);
    sp_ratios_facts(&x->asked, &x->ratios, x->ratio_whole);
    sp_ratios_say(&x->asked, &x->ratios, x->ratio_whole);
    say_sources(x);
    say_rest(x);
}
