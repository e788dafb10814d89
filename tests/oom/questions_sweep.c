/*
 * Every question, in every form, with every allocation failing in turn: it either says that memory ran out,
 * or writes what it writes without the failure. Nothing that was allocated may be left.
 */
#include "ask/option_words.h"
#include "ask/question.h"
#include "base/hash.h"
#include "formats/open.h"
#include "heap.h"
#include "io/input.h"
#include "model/callees.h"
#include "render/answer_render.h"

#include <stdio.h>

static const char text[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"source\":{"
    "\"tool\":\"perf\",\"command\":\"perf record -ag -e e env java t\"},\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"period\","
    "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"v<int>::f(int)\",\"dso\":1,\"kind\":\"user\",\"srcline\":\"a.c:"
    "1\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"v<long>::f(int)\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"thread\",\"pid\":1,\"tid\":2,\"comm\":\"t\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1,2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":2,"
    "\"comm\":\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":2},{\"metric\":\"period\",\"value\":3}]}"
    "\n"
    "{\"type\":\"stack\",\"id\":\"s2\",\"frames\":[2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":3,"
    "\"x_state\":\"BLOCKED\",\"x_wait\":{\"text\":\"unfair lock owned by t [1] thread 0x2\",\"on\":\"unfair "
    "lock\","
    "\"holder_name\":\"t\",\"holder_pid\":1,\"holder_tid\":2}},"
    "\"weights\":[{\"metric\":\"samples\",\"value\":1},{\"metric\":\"period\",\"value\":7}]}\n"
    /* what rules find: a regular expression, an allocation beneath it, a system call */
    "{\"type\":\"frame\",\"id\":3,\"func\":\"std::basic_regex<char>::basic_regex()\",\"dso\":1,\"kind\":"
    "\"user\"}\n"
    "{\"type\":\"frame\",\"id\":4,\"func\":\"malloc\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":5,\"func\":\"__x64_sys_write\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":6,\"func\":\"do_syscall_64\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s3\",\"frames\":[4,3,1,2,1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":"
    "2,"
    "\"comm\":\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":40},{\"metric\":\"period\",\"value\":60}]"
    "}\n"
    "{\"type\":\"stack\",\"id\":\"s4\",\"frames\":[5,6,1,2,1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":"
    "2,"
    "\"comm\":\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":40},{\"metric\":\"period\",\"value\":60}]"
    "}\n"
    "{\"type\":\"stack\",\"id\":\"s5\",\"frames\":[1,1],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":2,"
    "\"comm\":\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":40},{\"metric\":\"period\",\"value\":60}]"
    "}\n"
    /* just-in-time code that nobody named, a function of Python, a call that cannot be */
    "{\"type\":\"dso\",\"id\":2,\"name\":\"[anon]\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":7,\"func\":\"0x99\",\"func_resolved\":false,\"ip\":\"0x99\",\"dso\":2,"
    "\"kind\":"
    "\"user\"}\n"
    "{\"type\":\"frame\",\"id\":8,\"func\":\"py::f:/a/b.py\",\"dso\":2,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s6\",\"frames\":[7,8,1],\"x_edges\":[{\"at\":0,\"broken\":true}],"
    "\"context\":{"
    "\"event\":\"e\",\"pid\":1,\"tid\":2,\"comm\":\"t\"},\"weights\":[{\"metric\":\"samples\",\"value\":40},{"
    "\"metric\":\"period\",\"value\":60}]}\n"
    "{\"type\":\"sample\",\"timestamp\":1.5,\"event\":\"e\",\"period\":1,\"stack_id\":\"s3\"}\n"
    "{\"type\":\"sample\",\"timestamp\":1.7,\"event\":\"e\",\"period\":1,\"stack_id\":\"s4\"}\n"
    "{\"type\":\"sample\",\"timestamp\":1.9,\"event\":\"e\",\"period\":1,\"stack_id\":\"s3\"}\n";

static const struct {
    const char *question, *options;
} asked[] = {{"top", ""},
             {"top", "--by thread -n 1"},
             {"top", "--by event"},
             {"top", "--by dso"},
             {"top", "--with samples -n 1"},
             {"top", "--sum f"},
             {"top", "--rows f"},
             {"tree", ""},
             {"top", "--by line"},
             {"tree", "-n 2"},
             {"tree", "--min-percent 0 -n 0"},
             {"function", "/./"},
             {"stacks", "-n 1"},
             {"timeline", "--buckets 2"},
             {"timeline", "--explain"},
             {"whatif", "/f/=2x /long/=0 self:/int/=50%"},
             {"info", ""},
             {"waits", ""},
             {"waits", "--pid 1 --thread 3"},
             {"summary", ""},
             {"summary", "--view all"},
             {"summary", "--budget 30"}};

/* Asks and shows; *hash is of the bytes. */
static spaa_status run(struct sp_profile *p, size_t which, enum sp_answer_form form, size_t budget,
                       struct sp_diags *d, uint64_t *hash)
{
    struct sp_options options = {0};
    struct sp_arena words;
    struct sp_answer answer;
    struct sp_output *out = NULL;
    const char *name = "in";
    struct sp_ask q = {.question = sp_question_find(asked[which].question),
                       .options = &options,
                       .diags = d,
                       .profiles = &p,
                       .nprofiles = 1,
                       .names = &name,
                       .nnames = 1,
                       .brief = form == SP_FORM_TEXT};
    const struct sp_render_opts how = {
        .form = form, .width = 80, .notes = true, .budget = budget, .more = "-n 0"};
    sp_arena_init(&words, 0);
    sp_answer_init(&answer, q.question->schema, d);
    spaa_status st =
        sp_options_parse(&options, asked[which].options, q.question->groups, &words, &q.argument, d);
    if (!st)
        st = sp_ask(&q, &answer);
    if (!st)
        st = sp_output_memory(d, &out);
    if (!st)
        st = sp_render(&answer, &how, d, out);
    if (!st) {
        size_t n;
        const char *bytes = sp_output_data(out, &n);
        st = out->status ? sp_nomem(d) : SPAA_OK;
        *hash = sp_hash64(bytes, n);
    }
    sp_output_close(out);
    sp_answer_free(&answer);
    sp_options_free(&options);
    sp_arena_free(&words);
    return st;
}

static int sweep(struct sp_profile *p, size_t which, enum sp_answer_form form, size_t budget)
{
    int wrong = 0;
    uint64_t normal = 0, hash = 0;
    struct sp_diags d;
    sp_diags_init(&d);
    struct sp_diags *own = p->diags;
    p->diags = &d;
    spaa_status expected = run(p, which, form, budget, &d, &normal);
    sp_diags_free(&d);
    unsigned long at = 1;
    for (; expected == SPAA_OK && wrong < 5; at++) {
        long before = heap.live;
        sp_diags_init(&d);
        heap_arm(at, false);
        spaa_status st = run(p, which, form, budget, &d, &hash);
        bool said = d.count[SP_E008] > 0, failed = heap.failed, lost = d.lost > 0;
        heap_arm(0, false);
        sp_diags_free(&d);
        if (heap.live != before || (st == SPAA_ERR_NOMEM && !said) || (st && st != SPAA_ERR_NOMEM) ||
            (!st && hash != normal && !lost)) {
            printf("%s %s, form %d: allocation %lu: status %d, %ld left\n", asked[which].question,
                   asked[which].options, (int)form, at, (int)st, heap.live - before);
            wrong++;
        }
        if (!failed)
            break;
    }
    p->diags = own;
    printf("%s %s, form %d: %lu runs, status %d\n", asked[which].question, asked[which].options, (int)form,
           at, (int)expected);
    return wrong + (expected != SPAA_OK);
}

int main(void)
{
    struct sp_diags d;
    struct sp_input *in = NULL;
    struct sp_profile *p = NULL;
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS, .samples = true};
    int wrong = 0;
    sp_diags_init(&d);
    spaa_status st = sp_input_memory(text, sizeof text - 1, "questions", &d, &in);
    if (!st)
        st = sp_read_profile(in, sp_format_by_name("spaa"), &opts, &d, &p);
    if (!st)
        st = sp_callees_split(p, &d);
    for (size_t i = 0; !st && i < sizeof asked / sizeof *asked; i++) {
        for (int form = SP_FORM_TEXT; form <= SP_FORM_MARKDOWN; form++)
            wrong += sweep(p, i, (enum sp_answer_form)form, 0);
        wrong += sweep(p, i, SP_FORM_TEXT, 90);
    }
    sp_profile_free(p);
    sp_input_close(in);
    sp_diags_free(&d);
    return wrong != 0 || st;
}
