/*
 * Every command of the library, with every allocation failing in turn: it does what it does without the
 * failure, or says that memory ran out. Nothing that was allocated may be left.
 */
#include "heap.h"
#include "spaa/spaa.h"

#include <elf.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"period\","
    "\"primary_metric\":\"period\"}}],\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"v<int>::f(int)\",\"dso\":1,\"kind\":\"user\",\"srcline\":\"a.c:"
    "1\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"main\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1,2],\"context\":{\"event\":\"e\",\"pid\":1,\"tid\":2,"
    "\"comm\":\"t\",\"x_labels\":{\"k\":\"v\"}},\"weights\":[{\"metric\":\"samples\",\"value\":2},{"
    "\"metric\":"
    "\"period\",\"value\":3}]}\n"
    "{\"type\":\"x_spaa_source\",\"file\":\"a.c\",\"binary\":\"/bin/a\",\"lines\":9,\"older\":true,"
    "\"first\":1,\"text\":\"f\\n\ufffd\\n\",\"x_raw_hex\":{\"text\":\"660aff0a\"}}\n"
    "{\"type\":\"x_spaa_source\",\"file\":\"a.c\",\"binary\":\"/bin/a\",\"lines\":9,\"first\":3,\"text\":"
    "\"g\\n\"}\n"
    "{\"type\":\"x_spaa_source\",\"file\":\"b.c\",\"lines\":9,\"first\":3,\"text\":\"g\\nh\\n\"}\n"
    "{\"type\":\"x_spaa_source\",\"file\":\"b.c\",\"lines\":9,\"first\":4,\"text\":\"h\\n\"}\n";

/* Memory of a function behind a wrapper of malloc. */
static const char memory[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"t\",\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"m\",\"kind\":\"allocation\",\"sampling\":{\"mode\":\"event\","
    "\"primary_metric\":\"live_bytes\"}}],\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"malloc\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"checked\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":3,\"func\":\"keep\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1,2,3],\"context\":{\"event\":\"m\"},\"weights\":[{"
    "\"metric\":\"live_bytes\",\"value\":8}]}\n";

/* A thread that waits and runs, by its switches, and a sample of it. */
static const char switches[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_or"
    "der\":\"leaf_to_root\",\"events\":[{\"name\":\"sched:sched_switch\",\"kind\":\"probe\",\"samplin"
    "g\":{\"mode\":\"event\",\"primary_metric\":\"count\"}},{\"name\":\"cpu-clock\",\"kind\":\"softwa"
    "re\",\"sampling\":{\"mode\":\"period\",\"primary_metric\":\"period\"}}],\"time_range\":{\"start"
    "\":1,\"end\":4,\"unit\":\"seconds\"},\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/bin/a\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"g\",\"dso\":1,\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"s1\",\"frames\":[1,2],\"context\":{\"event\":\"sched:sched_switch\""
    ",\"pid\":1,\"tid\":2,\"comm\":\"t\"},\"weights\":[{\"metric\":\"count\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":\"s2\",\"frames\":[2],\"context\":{\"event\":\"cpu-clock\",\"pid\":1,"
    "\"tid\":2,\"comm\":\"t\"},\"weights\":[{\"metric\":\"period\",\"value\":7,\"unit\":\"ns\"}]}\n"
    "{\"type\":\"sample\",\"timestamp\":1,\"pid\":1,\"tid\":2,\"cpu\":0,\"event\":\"sched:sched_switc"
    "h\",\"stack_id\":\"s1\",\"context\":{\"trace_fields\":{\"prev_comm\":\"t\",\"prev_pid\":2,\"prev"
    "_state\":1,\"next_comm\":\"u\",\"next_pid\":3}}}\n"
    "{\"type\":\"sample\",\"timestamp\":2,\"pid\":1,\"tid\":2,\"cpu\":0,\"event\":\"cpu-clock\",\"per"
    "iod\":7,\"stack_id\":\"s2\"}\n"
    "{\"type\":\"sample\",\"timestamp\":2,\"pid\":1,\"tid\":3,\"cpu\":0,\"event\":\"sched:sched_switc"
    "h\",\"stack_id\":\"s1\",\"context\":{\"trace_fields\":{\"prev_comm\":\"t\",\"prev_pid\":3,\"prev"
    "_state\":1,\"next_comm\":\"u\",\"next_pid\":2}}}\n"
    "{\"type\":\"sample\",\"timestamp\":4,\"pid\":1,\"tid\":2,\"cpu\":0,\"event\":\"sched:sched_switc"
    "h\",\"stack_id\":\"s1\",\"context\":{\"trace_fields\":{\"prev_comm\":\"t\",\"prev_pid\":2,\"prev"
    "_state\":1,\"next_comm\":\"u\",\"next_pid\":3}}}\n";

/* Times off the CPU in a form that does not say so; and as bpftrace prints them. */
static const char times[] =
    "a;main;-;schedule 8\na;main;entry_SYSCALL_64;schedule 0.5\nb;lock;schedule_[k] 9\n";
static const char maps[] = "Attaching 1 probe...\n@[\n    schedule+3\n    do_syscall_64+1\n, a]: 12\n";

/* A hang report: a deadlock that begins, a thread that waits for it, one that has no CPU. */
static const char report[] =
    "Event: cpu usage\nPID: 1\nCPU: 90 seconds (69% cpu average), exceeding limit of 50% cpu over 180 "
    "seconds\n"
    "Duration Sampled: 1s (process was unresponsive for 3 seconds before sampling)\n"
    "Steps: 20 (10ms sampling interval, 3 samples lost)\n----------\nTimeline format: stacks are sorted "
    "chronologically\n----------\n\nProcess: a [1]\nFootprint: 5 MB -> 6 MB (+1 MB)\n\n"
    "  Thread 0x1    DispatchQueue \"com.apple.main-thread\"(1)    20 samples (1-20)\n"
    "    2   f + 1 (a + 2) [0x3] (running) 1-2\n"
    "    18  g + 1 (a + 9) [0x9] (unfair lock owned by a [1] thread 0x2) 3-20\n\n"
    "  Thread 0x2    Thread name \"w\"    20 samples (1-20)\n"
    "    20  h + 1 (a + 12) [0xc] (blocked by queue processed by a thread 0x1) 1-20\n\n"
    "Process: b [2]\n\n  Thread 0x3    20 samples (1-20)\n"
    "    15  x + 1 (b + 2) [0x3] (runnable) 1-15\n    5   x + 1 (b + 2) [0x3] (blocked by wait4 on a [1]) "
    "16-20\n";

/* States of threads without threads; and the same wrong in many ways. */
static const char states[] =
    "{\"start\":1711234567000,\"end\":1711234577000,\"agentMetadata\":{},\"callgraph\":{\"children\":{\"a\":{"
    "\"counts\":{\"WAITING\":2,\"IDLE\":1,\"RUNNABLE\":3},\"children\":{\"f\":{\"counts\":{\"BLOCKED\":1}}}}}"
    "}}";
static const char wrong[] =
    "{\"start\":1711234567000,\"end\":1711234577000.5,\"agentMetadata\":{\"sampleWeights\":{\"IDLE\":-1,"
    "\"x\":2},"
    "\"fleetInfo\":{\"hostType\":1},\"agentInfo\":{\"type\":\"profile-bee\"},\"numTimesSampled\":3},"
    "\"callgraph\":{\"children\":{\"a\":{\"counts\":{\"WAITING\":2,\"IDLE\":-1},\"line\":[2,1],\"children\":{"
    "\"f\":{\"counts\":{\"BLOCKED\":1}},\"f\":{\"counts\":{\"\\u0041\":0.5}},\"g\":[]}}}}}";

/* Memory over time. */
static const char heap_events[] =
    "v 10400 1\nX ./app\nI 1000 1000\ns app\ns grow\ns keep\ni 1000 1 2\ni 1001 1 3\nt 1 0\nt 2 0\n"
    "a 1000 1\na 10 2\nc 0\n+ 0\n+ 1\nc 10\nR 20\n- 0\n+ 1\nc 20\n+ 1\nc 30\n";

/* Branches, what ran between them, and a sample, for optimisers; an ELF file's build-id for SPT. */
static const char branches[] =
    "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"perf\",\"frame_order\":"
    "\"leaf_to_root\",\"events\":[{\"name\":\"cycles\",\"kind\":\"hardware\",\"sampling\":{\"mode\":"
    "\"period\","
    "\"primary_metric\":\"samples\"}},{\"name\":\"lbr\",\"kind\":\"hardware\",\"sampling\":{\"mode\":"
    "\"period\","
    "\"primary_metric\":\"branches\"}},{\"name\":\"lbr_trace\",\"kind\":\"hardware\",\"sampling\":{\"mode\":"
    "\"period\",\"primary_metric\":\"traces\"}}],\"stack_id_mode\":\"local\"}\n"
    "{\"type\":\"dso\",\"id\":1,\"name\":\"/a/b\",\"build_id\":\"0102030405060708090a0b0c0d0e0f1011121314\","
    "\"is_kernel\":false}\n{\"type\":\"dso\",\"id\":2,\"name\":\"/a/c\",\"is_kernel\":false}\n"
    "{\"type\":\"frame\",\"id\":1,\"func\":\"f\",\"dso\":1,\"ip\":\"0x10\",\"symoff\":\"0x4\",\"kind\":"
    "\"user\"}\n"
    "{\"type\":\"frame\",\"id\":2,\"func\":\"g\",\"dso\":1,\"ip\":\"0x20\",\"symoff\":\"0x0\",\"kind\":"
    "\"user\"}\n"
    "{\"type\":\"frame\",\"id\":3,\"func\":\"h\",\"dso\":2,\"ip\":\"0x20\",\"kind\":\"user\"}\n"
    "{\"type\":\"stack\",\"id\":\"a\",\"frames\":[1,2],\"context\":{\"event\":\"lbr\"},\"weights\":[{"
    "\"metric\":"
    "\"branches\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":\"b\",\"frames\":[2,1,3],\"context\":{\"event\":\"lbr_trace\"},\"weights\":[{"
    "\"metric\":\"traces\",\"value\":3}]}\n"
    "{\"type\":\"stack\",\"id\":\"c\",\"frames\":[3,1],\"context\":{\"event\":\"lbr\"},\"weights\":[{"
    "\"metric\":"
    "\"branches\",\"value\":2}]}\n"
    "{\"type\":\"stack\",\"id\":\"d\",\"frames\":[1,3,2,1],\"context\":{\"event\":\"cycles\"},\"weights\":[{"
    "\"metric\":\"samples\",\"value\":2}]}\n";

/* Their files, named by mkstemp. */
static char ht[] = "/tmp/spaa-sweep-XXXXXX",
            drawn[] = "-output=/tmp/spaa-sweep-XXXXXX.svg", *const picture = drawn + sizeof "-output=" - 1;
static char off[] = "/tmp/spaa-sweep-XXXXXX", bt[] = "/tmp/spaa-sweep-XXXXXX",
            sched[] = "/tmp/spaa-sweep-XXXXXX", hang[] = "/tmp/spaa-sweep-XXXXXX",
            guru[] = "/tmp/spaa-sweep-XXXXXX", calm[] = "/tmp/spaa-sweep-XXXXXX",
            lbr[] = "/tmp/spaa-sweep-XXXXXX";
static char in[] = "/tmp/spaa-sweep-XXXXXX", mem[] = "/tmp/spaa-sweep-XXXXXX";
static char against[sizeof "-diff=" + sizeof in];
static char install[] = "-install=/tmp/spaa-sweep-XXXXXX", *const folder = install + sizeof "-install=" - 1;
static char written[] = "-output=/tmp/spaa-sweep-XXXXXX", *const recordings = written + sizeof "-output=" - 1;

static char elf[] = "/tmp/spaa-sweep-XXXXXX", built[] = "/tmp/spaa-sweep-XXXXXX";
static char packed[] = "-output=/tmp/spaa-sweep-XXXXXX", *const archive = packed + sizeof "-output=" - 1;
static char kept[] = "-symbol-store=/tmp/spaa-sweep-XXXXXX", *const store =
                                                                 kept + sizeof "-symbol-store=" - 1;
static char fresh[] = "-symbol-store=/tmp/spaa-sweep-XXXXXX", *const emptied =
                                                                  fresh + sizeof "-symbol-store=" - 1;

/* Words that begin with a dash are options, NAME=VALUE. */
static const char *const commands[][6] = {
    {"top", in},
    {"top", in, in, "-by=label:k"},
    {"tree", in, "-tagroot=k", "-json"},
    {"function", in, "/./"},
    {"summary", in, "-format=csv"},
    {"diff", in, in},
    {"info", in},
    {"convert", in, "-output=-", "-to=folded"},
    {"convert", in, "-output=-", "-to=spaa", "-label=k=v"},
    {"merge", in, in, "-output=-", "-to=spaa"},
    {"symbolize", in, "-output=-", "-to=spaa"},
    {"flamegraph", in, "-output=-"},
    {"flamegraph", in, "-output=-", "-base-where=user", "-new-where=pid=1"},
    {"query", in, "SELECT name, self FROM functions"},
    {"query", in, "SELECT * FROM ask_top", "-json"},
    {"query", ".schema functions"},
    {"query", ".schema all"},
    {"query", ".schema", "ask_leaks"},
    {"query", in, "SELECT nam FROM functions"},
    {"function", "f", in},
    {"stacks", in},
    {"leaks", mem},
    {"summary", mem},
    {"leaks", mem, mem},
    {"leaks", mem, mem, "-by=stack", "-json"},
    {"timeline", mem, mem},
    {"top", off, "-off-cpu=us"},
    {"waits", off, "-off-cpu=us"},
    {"convert", bt, "-off-cpu=ns", "-to=folded", "-output=-", "-keys=kstack,comm"},
    {"skill"},
    {"skill", "sql"},
    {"skill", "nothing"},
    {"skill", install},
    {"demo"},
    {"demo", "orders-3"},
    {"demo", "orders-1", "-output=-"},
    {"demo", written},
    {"formats"},
    {"formats", "spaa", "-json"},
    {"validate", in},
    {"dump", in, "-from=spt"},
    {"help"},
    {"help", "top"},
    {"help", "options"},
    {"help", "diff", "-all"},
    {"flamegraph", sched, "-output=-", "-states"},
    {"flamegraph", sched, "-output=-", "-time-order"},
    {"top", sched, "-event=wall", "-by=state"},
    {"timeline", ht},
    {"timeline", ht, drawn},
    {"leaks", ht, "-at=0.02"},
    {"validate", guru},
    {"waits", calm, "-json"},
    {"waits", calm, "-idle"},
    {"waits", hang},
    {"waits", hang, "-json", "-thread=0x3"},
    {"waits", hang, "-json"},
    {"summary", hang},
    {"summary", hang, "-json"},
    {"summary", hang, "-pid=2"},
    {"convert", lbr, "-to=bolt", "-output=-"},
    {"convert", lbr, "-to=bolt", "-output=-", "-binary=bb"},
    {"convert", lbr, "-to=profgen", "-output=-", "-image=/proc/self/exe"},
    {"convert", lbr, "-to=autofdo", "-output=-"},
    {"convert", lbr, "-to=fdata", "-output=-"},
    {"convert", lbr, "-to=spt", "-output=-"},
    {"symbols", "add", elf, built, fresh},
    {"symbols", "add", elf, built, in, kept},
    {"symbols", "list", kept},
    {"symbols", "gc", kept, "-max-size=0", "-json"},
    {"symbols", "pack", built, "-output=-", "-symbol-store=none"},
    {"symbols", "pack", built, packed, kept, "-json"},
    {"symbols", "add", archive, fresh, "-json"},
    {"symbolize", built, kept, "-output=-", "-to=spaa"},
    {"annotate", in, "/./", against},
    {"annotate", in, "/./", against, "-json"},
    {"annotate", in, "/./", "-whole"},
    {"convert", in, "-to=spaa", "-output=-", "-embed-source=1"},
};

static int gone(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

/* The answer as a number. */
static spaa_status once(size_t which, struct spaa_profile *given, uint64_t *hash)
{
    const char *const *words = commands[which], *files[6];
    char names[6][16];
    for (size_t i = 1; i < 6 && words[i]; i++)
        if (words[i] == fresh)
            nftw(emptied, gone, 8, FTW_DEPTH | FTW_PHYS);
    struct spaa_ask_option options[6];
    struct spaa_run_options o = {.size = sizeof o, .command = words[0], .files = files, .options = options};
    struct spaa_run_result result = {.size = sizeof result};
    char *answer = NULL;
    size_t n = 0;
    for (size_t i = 1; i < 6 && words[i]; i++) {
        const char *eq = words[i][0] == '-' ? strchr(words[i], '=') : NULL;
        if (words[i][0] != '-') {
            files[o.file_count++] = words[i];
            continue;
        }
        int len = eq ? (int)(eq - words[i]) - 1 : (int)strlen(words[i]) - 1;
        snprintf(names[o.option_count], sizeof names[0], "%.*s", len, words[i] + 1);
        options[o.option_count] = (struct spaa_ask_option){names[o.option_count], eq ? eq + 1 : NULL};
        o.option_count++;
    }
    if (given) {
        o.profiles = &given;
        o.profile_count = 1;
        o.files++;
        o.file_count--;
    }
    spaa_status st = spaa_run_memory(&o, &answer, &n, &result, NULL);
    *hash = (uint64_t)result.exit_code;
    for (size_t i = 0; i < n; i++)
        *hash = (*hash ^ (unsigned char)answer[i]) * 0x100000001b3u;
    spaa_free(answer);
    return st;
}

/* All failures of one command; false: something is wrong, said. */
static int sweep(size_t which, struct spaa_profile *given)
{
    uint64_t expected, hash;
    once(which, given, &expected); /* from now on the files that it writes are there */
    spaa_status good = once(which, given, &expected);
    for (unsigned long at = 1;; at++) {
        long before = atomic_load(&heap.live);
        heap_arm(at, false);
        spaa_status st = once(which, given, &hash);
        bool failed = atomic_load(&heap.failed);
        heap_arm(0, false);
        long left = atomic_load(&heap.live) - before;
        bool same = st == good && hash == expected;
        if ((failed && !given && left) || (!same && (!failed || !st))) {
            printf("%s%s, allocation %lu: status %d, %ld left, %s answer\n", commands[which][0],
                   given ? " of a profile" : "", at, (int)st, left, same ? "the same" : "another");
            return 1;
        }
        if (!failed)
            return 0;
    }
}

static bool put(char *name, const char *what)
{
    int fd = mkstemp(name);
    return fd >= 0 && write(fd, what, strlen(what)) == (ssize_t)strlen(what) && !close(fd);
}

/* An ELF file of code and a build-id, and a profile of it. */
static bool put_elf(void)
{
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr code, note;
        Elf64_Nhdr id;
        char name[4];
        unsigned char bytes[20];
    } x = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = ET_EXEC,
                    .e_machine = EM_X86_64,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof x.head,
                    .e_ehsize = sizeof x.head,
                    .e_phentsize = sizeof x.code,
                    .e_phnum = 2},
           .code = {.p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = sizeof x, .p_memsz = sizeof x},
           .id = {4, sizeof x.bytes, NT_GNU_BUILD_ID},
           .name = "GNU",
           .bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}};
    x.note = (Elf64_Phdr){.p_type = PT_NOTE,
                          .p_offset = offsetof(__typeof__(x), id),
                          .p_filesz = sizeof x.id + sizeof x.name + sizeof x.bytes};
    char profile[2000];
    int fd = mkstemp(elf);
    if (fd < 0 || write(fd, &x, sizeof x) != (ssize_t)sizeof x || close(fd))
        return false;
    snprintf(
        profile, sizeof profile,
        "{\"type\":\"header\",\"format\":\"spaa\",\"version\":\"1.0\",\"source_tool\":\"t\",\"frame_order\":"
        "\"leaf_to_root\",\"events\":[{\"name\":\"e\",\"kind\":\"software\",\"sampling\":{\"mode\":\"event\","
        "\"primary_metric\":\"count\"}}],\"stack_id_mode\":\"local\"}\n"
        "{\"type\":\"dso\",\"id\":1,\"name\":\"%s\",\"build_id\":"
        "\"0102030405060708090a0b0c0d0e0f1011121314\","
        "\"is_kernel\":false}\n{\"type\":\"dso\",\"id\":2,\"name\":\"/none\",\"is_kernel\":false}\n"
        "{\"type\":\"frame\",\"id\":1,\"func\":\"0x10\",\"func_resolved\":false,\"dso\":1,\"ip\":\"0x10\","
        "\"kind\":"
        "\"user\"}\n{\"type\":\"frame\",\"id\":2,\"func\":\"f\",\"dso\":2,\"kind\":\"user\"}\n"
        "{\"type\":\"stack\",\"id\":\"a\",\"frames\":[1,2],\"context\":{\"event\":\"e\"},\"weights\":[{"
        "\"metric\":\"count\",\"value\":3}]}\n",
        elf);
    return put(built, profile);
}

int main(void)
{
    struct spaa_profile *given = NULL;
    int bad = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool named = put(in, text);
    snprintf(against, sizeof against, "-diff=%s", in);
    if (!named || !put(mem, memory) || !put(off, times) || !put(bt, maps) || !put(sched, switches) ||
        !put(ht, heap_events) || !put(hang, report) || !put(guru, wrong) || !put(calm, states) ||
        !put(lbr, branches) || !put_elf() || !mkdtemp(store) || !mkdtemp(emptied) || mkstemp(archive) < 0 ||
        mkstemps(picture, 4) < 0 || !mkdtemp(folder) || !mkdtemp(recordings) ||
        spaa_profile_open(in, NULL, &given, NULL))
        return 1;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        bad += sweep(i, NULL);
    static const size_t of_profiles[] = {0, 2, 3, 4, 11, 13};
    for (size_t i = 0; i < sizeof of_profiles / sizeof *of_profiles; i++)
        bad += sweep(of_profiles[i], given);
    spaa_profile_free(given);
    unlink(in);
    unlink(lbr);
    unlink(mem);
    unlink(off);
    unlink(bt);
    unlink(sched);
    unlink(ht);
    unlink(hang);
    unlink(guru);
    unlink(calm);
    unlink(picture);
    unlink(elf);
    unlink(built);
    unlink(archive);
    nftw(emptied, gone, 8, FTW_DEPTH | FTW_PHYS);
    bad += nftw(store, gone, 8, FTW_DEPTH | FTW_PHYS) != 0;
    bad += nftw(folder, gone, 8, FTW_DEPTH | FTW_PHYS) != 0;
    bad += nftw(recordings, gone, 8, FTW_DEPTH | FTW_PHYS) != 0;
    return bad > 0;
}
