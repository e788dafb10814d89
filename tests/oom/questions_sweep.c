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

/* At this time thread PREV leaves CPU 0 for thread NEXT. */
#define SWITCH(time, stack, prev, next)                                                                      \
    "{\"type\":\"sample\",\"timestamp\":" time ",\"pid\":1,\"tid\":" prev                                    \
    ",\"cpu\":0,\"event\":\"sched:sched_switch\",\"stack_id\":\"" stack                                      \
    "\",\"context\":{\"trace_fields\":{\"prev_comm\":\"t\",\"prev_pid\":" prev                               \
    ",\"prev_state\":1,\"next_comm\":\"t\",\"next_pid\":" next "}}}\n"

static const char text[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"source\":{"
    "\"tool\":\"perf\",\"command\":\"perf record -ag -e e env java t\"},\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"period\","
    "\"primary_metric\":\"period\"}},{\"name\":\"sched:sched_switch\",\"kind\":\"probe\",\"sampling\":{"
    "\"mode\":\"event\",\"primary_metric\":\"count\"}},{\"name\":\"m\",\"kind\":\"allocation\",\"sampling\":{"
    "\"mode\":"
    "\"period\",\"primary_metric\":\"live_bytes\",\"sample_period\":64}}],\"stack_id_mode\":\"local\"}\n"
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
    /* memory: lost, and of a function that is not the program's */
    "{\"type\":\"dso\",\"id\":3,\"name\":\"/usr/lib/l.so\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":10,\"func\":\"g\",\"dso\":3,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"m1\",\"frames\":[4,1,2],\"context\":{\"event\":\"m\",\"x_labels\":{\"leak_"
    "kind\":"
    "\"definite\"}},\"weights\":[{\"metric\":\"live_bytes\",\"value\":800},{\"metric\":\"live_count\","
    "\"value\":10}]}\n"
    "{\"type\":\"stack\",\"id\":\"m2\",\"frames\":[4,10],\"context\":{\"event\":\"m\"},\"weights\":[{"
    "\"metric\":"
    "\"alloc_bytes\",\"value\":900},{\"metric\":\"live_bytes\",\"value\":700},{\"metric\":\"live_count\","
    "\"value\":9}]}\n"
    /* a thread that waits for a lock, twice */
    "{\"type\":\"frame\",\"id\":9,\"func\":\"pthread_mutex_lock\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s7\",\"frames\":[9,1],\"context\":{\"event\":\"sched:sched_switch\","
    "\"pid\":1,"
    "\"tid\":2,\"comm\":\"t\",\"x_state\":\"WAITING\"},\"weights\":[{\"metric\":\"samples\",\"value\":2},{"
    "\"metric\":\"count\",\"value\":2}]}\n" SWITCH("1.1", "s7", "2", "0") SWITCH("1.2", "s7", "0", "2")
        SWITCH(
            "1.3", "s7", "2",
            "0") "{\"type\":\"sample\",\"timestamp\":1.5,\"event\":\"e\",\"period\":1,\"stack_id\":\"s3\"}\n"
                 "{\"type\":\"sample\",\"timestamp\":1.7,\"event\":\"e\",\"period\":1,\"stack_id\":\"s4\"}\n"
                 "{\"type\":\"sample\",\"timestamp\":1.9,\"event\":\"e\",\"period\":1,\"stack_id\":\"s3\"}\n";

/* What the scheduler did, as perf script says it. */
#define SWITCH_LINE(comm, tid, cpu, time, prev, state, next, to)                                             \
    comm " 7/" tid " [" cpu "] " time ": sched:sched_switch: prev_comm=" comm " prev_pid=" prev              \
         " prev_prio=120 prev_state=" state " ==> next_comm=" next " next_pid=" to " next_prio=120\n\n"
static const char switches[] = SWITCH_LINE("w-1", "11", "000", "1.010", "11", "R", "w-2", "12")
    SWITCH_LINE("x", "14", "001", "1.015", "14", "S", "swapper",
                "0") "w-2 7/12 [000] 1.020: sched:sched_waking: comm=w-3 pid=13 prio=120 "
                     "target_cpu=001\n\n" SWITCH_LINE("w-2", "12", "000", "1.030", "12", "S", "w-1", "11")
                         SWITCH_LINE("w-3", "13", "001", "1.040", "13", "D", "swapper", "0")
                             SWITCH_LINE("w-1", "11", "000", "1.050", "11", "S", "w-2", "12")
                                 SWITCH_LINE("x", "14", "001", "1.060", "14", "R", "w-3", "13")
                                     SWITCH_LINE("w-2", "12", "000", "1.070", "12", "S", "w-1", "11");

/* Memory over time, which the first of the questions are about. */
enum { OF_MEMORY = 6 };
static const char heap_events[] =
    "v 10400 1\nX ./app\nI 1000 1000\ns app\ns grow\ns keep\ni 1000 1 2\ni 1001 1 3\nt 1 0\nt 2 0\n"
    "a 1000 1\na 10 2\nc 0\n+ 0\n+ 1\nc 10\nR 20\n- 0\n+ 1\nc 20\n+ 1\nc 30\n";

static const struct {
    const char *question, *options;
} asked[] = {{"timeline", "--buckets 2"},
             {"timeline", "--focus grow --time 0.016..0.032"},
             {"timeline", "--metric alloc_count"},
             {"top", "--at peak"},
             {"top", "--at 0.032"},
             {"leaks", ""},
             {"top", ""},
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
             {"annotate", "/./"},
             {"annotate", "/./ --whole --context 0"},
             {"annotate", "/./ --asm"},
             {"annotate", "/./ --event e --ratio m/e"},
             {"function", "/./ --ratio m/1000*e"},
             {"top", "--event e --ratio m/e"},
             {"stacks", "-n 1"},
             {"timeline", "--buckets 2"},
             {"timeline", "--explain"},
             {"whatif", "/f/=2x /long/=0 self:/int/=50%"},
             {"info", ""},
             {"waits", ""},
             {"waits", "--idle --focus f"},
             {"waits", "--event e"},
             {"waits", "--event e --pid 1 --thread 3"},
             {"sched", ""},
             {"sched", "--no-pool --thread x --time 0.01..0.05"},
             {"summary", ""},
             {"summary", "--view all"},
             {"summary", "--budget 30"},
             {"summary", "--event m"}};

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

/* All questions about one of the texts. */
static int sweep_text(const char *bytes, size_t n, const char *format, bool of_switches, bool of_memory)
{
    struct sp_diags d;
    struct sp_input *in = NULL;
    struct sp_profile *p = NULL;
    struct sp_read_opts opts = {
        .frames = SP_FRAMES_ADDRESS, .samples = true, .windows = 8, .windows_do = of_memory};
    int wrong = 0;
    sp_diags_init(&d);
    spaa_status st = sp_input_memory(bytes, n, "questions", &d, &in);
    if (!st)
        st = sp_read_profile(in, sp_format_by_name(format), &opts, &d, &p);
    if (!st)
        st = sp_callees_split(p, &d);
    for (size_t i = 0; !st && i < sizeof asked / sizeof *asked; i++) {
        if (of_switches != (strcmp(asked[i].question, "sched") == 0) || of_memory != (i < OF_MEMORY))
            continue;
        for (int form = SP_FORM_TEXT; form <= SP_FORM_MARKDOWN; form++)
            wrong += sweep(p, i, (enum sp_answer_form)form, 0);
        wrong += sweep(p, i, SP_FORM_TEXT, 90);
    }
    sp_profile_free(p);
    sp_input_close(in);
    sp_diags_free(&d);
    return wrong + (st != SPAA_OK);
}

int main(void)
{
    int wrong = sweep_text(text, sizeof text - 1, "spaa", false, false);
    wrong += sweep_text(heap_events, sizeof heap_events - 1, "heaptrack", false, true);
    return wrong + sweep_text(switches, sizeof switches - 1, "perf-script", true, false) != 0;
}
