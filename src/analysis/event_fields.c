#include "analysis/event_fields.h"

#include "analysis/names.h"
#include "base/num.h"
#include "model/events.h"
#include "model/off_cpu.h"
#include "model/sched_events.h"

#include <string.h>

enum { FIELDS_MOST = 3, X86_64 = 0, AARCH64 = 1 };

struct fields_key {
    const char *field; /* NULL: the thread's name */
    enum sp_by_say say;
    const char *words;
};

struct fields {
    const char *event, *what;
    struct fields_key keys[FIELDS_MOST]; /* words NULL ends */
};

static const struct fields fields[] = {
#define COMM(words)                                                                                          \
    {                                                                                                        \
        NULL, SP_SAY_TEXT, words                                                                             \
    }
#define FIELD(name, say, words)                                                                              \
    {                                                                                                        \
        "label:" name, SP_SAY_##say, words                                                                   \
    }
#define SP_FIELDS(name, what, ...) {name, what, {__VA_ARGS__}},
#include "analysis/event_fields.def"
#undef SP_FIELDS
#undef FIELD
#undef COMM
};

/* "sched:sched_switch", "sched:sched_switch:u"; "kmem:*". */
static bool fields_fit(const char *pattern, struct sp_str event)
{
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*')
        return event.n >= n - 1 && memcmp(event.p, pattern, n - 1) == 0;
    return event.n >= n && memcmp(event.p, pattern, n) == 0 && (event.n == n || event.p[n] == ':');
}

static struct sp_by_key fields_by(const struct fields_key *k)
{
    const uint32_t lead = 6; /* "label:" */
    const char *title = k->field ? k->field : sp_by_names[SP_TOP_COMM];
    struct sp_by_key key = {.kind = k->field ? SP_TOP_LABEL : SP_TOP_COMM,
                            .title = {title, (uint32_t)strlen(title)},
                            .say = k->say,
                            .words = k->words};
    if (k->field)
        key.label = (struct sp_str){title + lead, key.title.n - lead};
    return key;
}

bool sp_event_fields(struct sp_str event, struct sp_by_list *out, const char **what)
{
    *out = (struct sp_by_list){.n = 0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields_fit(fields[i].event, event))
            continue;
        *what = fields[i].what;
        for (size_t k = 0; k < FIELDS_MOST && fields[i].keys[k].words; k++)
            out->v[out->n++] = fields_by(&fields[i].keys[k]);
        return true;
    }
    return false;
}

uint32_t sp_event_of_fields(const struct sp_profile *p, const char *event, const char *metric)
{
    if (event)
        return sp_event_find(p, event, strlen(event));
    return metric ? sp_metric_event(p, metric) : sp_default_event(p);
}

/* ---- values in words ---- */

static void say_state(const struct sp_profile *p, struct sp_str v, struct sp_buf *b)
{
    static const char *const words[] = {[SP_TASK_RUNNABLE] = "put off (it could go on)",
                                        [SP_TASK_SLEEPING] = "to sleep",
                                        [SP_TASK_UNINTERRUPTIBLE] = "to wait uninterruptibly",
                                        [SP_TASK_STOPPED] = "stopped",
                                        [SP_TASK_IDLE] = "without work (kernel thread)",
                                        [SP_TASK_DEAD] = "exited",
                                        [SP_TASK_UNKNOWN] = "?"};
    int64_t bits;
    (void)p;
    bool number = v.n && sp_parse_i64(v.p, v.p + v.n, &bits) == v.n;
    enum sp_task_state s = number ? sp_task_state_of_bits((uint64_t)bits) : sp_task_state_of_text(v.p, v.n);
    if (s == SP_TASK_UNKNOWN)
        sp_buf_add(b, v.p, v.n);
    else
        sp_buf_puts(b, words[s]);
}

/* The numbers of calls differ by architecture: of others than these they stay numbers. */
static void say_syscall(const struct sp_profile *p, int64_t number, struct sp_buf *b)
{
    static const struct {
        int16_t number[2];
        const char *name;
    } calls[] = {
#define SP_SYSCALL(x86_64, aarch64, name) {{x86_64, aarch64}, #name},
#include "analysis/syscall_names.def"
#undef SP_SYSCALL
    };
    struct sp_str arch = sp_pstr(p, p->header.host.arch);
    int side = sp_str_is(arch, "x86_64")                                ? X86_64
               : sp_str_is(arch, "aarch64") || sp_str_is(arch, "arm64") ? AARCH64
                                                                        : -1;
    for (size_t i = 0; side >= 0 && number >= 0 && i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[side] == number) {
            sp_buf_puts(b, calls[i].name);
            return;
        }
    sp_buf_printf(b, "call %lld", (long long)number);
}

/* The kernel's numbers of errors, which are those of asm-generic/errno.h on x86_64 and aarch64. */
static void say_result(int64_t ret, struct sp_buf *b)
{
    static const struct {
        int number;
        const char *name;
    } errors[] = {{1, "EPERM"},
                  {2, "ENOENT"},
                  {3, "ESRCH"},
                  {4, "EINTR"},
                  {5, "EIO"},
                  {6, "ENXIO"},
                  {7, "E2BIG"},
                  {9, "EBADF"},
                  {10, "ECHILD"},
                  {11, "EAGAIN"},
                  {12, "ENOMEM"},
                  {13, "EACCES"},
                  {14, "EFAULT"},
                  {16, "EBUSY"},
                  {17, "EEXIST"},
                  {18, "EXDEV"},
                  {19, "ENODEV"},
                  {20, "ENOTDIR"},
                  {21, "EISDIR"},
                  {22, "EINVAL"},
                  {23, "ENFILE"},
                  {24, "EMFILE"},
                  {25, "ENOTTY"},
                  {27, "EFBIG"},
                  {28, "ENOSPC"},
                  {29, "ESPIPE"},
                  {30, "EROFS"},
                  {31, "EMLINK"},
                  {32, "EPIPE"},
                  {34, "ERANGE"},
                  {35, "EDEADLK"},
                  {36, "ENAMETOOLONG"},
                  {38, "ENOSYS"},
                  {39, "ENOTEMPTY"},
                  {40, "ELOOP"},
                  {61, "ENODATA"},
                  {75, "EOVERFLOW"},
                  {88, "ENOTSOCK"},
                  {95, "EOPNOTSUPP"},
                  {98, "EADDRINUSE"},
                  {104, "ECONNRESET"},
                  {106, "EISCONN"},
                  {107, "ENOTCONN"},
                  {110, "ETIMEDOUT"},
                  {111, "ECONNREFUSED"},
                  {113, "EHOSTUNREACH"},
                  {114, "EALREADY"},
                  {115, "EINPROGRESS"},
                  {512, "interrupted (restarts)"},
                  {513, "interrupted (restarts)"},
                  {514, "interrupted (restarts)"},
                  {516, "interrupted (restarts)"}};
    const int64_t most = 4095; /* MAX_ERRNO */
    if (ret >= 0 || ret < -most) {
        sp_buf_puts(b, "ok");
        return;
    }
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == -ret) {
            sp_buf_puts(b, errors[i].name);
            return;
        }
    sp_buf_printf(b, "error %lld", (long long)-ret);
}

static void say_softirq(int64_t vec, struct sp_buf *b)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    if (vec >= 0 && vec < (int64_t)(sizeof names / sizeof *names))
        sp_buf_puts(b, names[vec]);
    else
        sp_buf_printf(b, "%lld", (long long)vec);
}

/* The error code of a page fault of x86: bit 0 the page was there, 1 a write, 2 of user code, 4 a fetch. */
static void say_fault(int64_t code, struct sp_buf *b)
{
    sp_buf_puts(b, code & 16 ? "fetch" : code & 2 ? "write" : "read");
    sp_buf_puts(b, code & 1 ? ", not allowed" : ", page not there");
}

/* "WS", "RA", "FWFS": a flush before it, the operation, and flags. */
static void say_block(struct sp_str v, struct sp_buf *b)
{
    static const struct {
        char letter;
        const char *word;
    } ops[] = {{'R', "read"},  {'W', "write"}, {'D', "discard"},
               {'E', "erase"}, {'F', "flush"}, {'N', "none"}};
    struct sp_str op = v;
    if (op.n > 1 && op.p[0] == 'F' && (op.p[1] == 'W' || op.p[1] == 'R' || op.p[1] == 'F'))
        op = (struct sp_str){v.p + 1, v.n - 1};
    for (size_t i = 0; op.n && i < sizeof ops / sizeof *ops; i++)
        if (ops[i].letter == op.p[0]) {
            sp_buf_printf(b, "%s (%.*s)", ops[i].word, (int)v.n, v.p);
            return;
        }
    sp_buf_add(b, v.p, v.n);
}

void sp_event_field_say(const struct sp_profile *p, enum sp_by_say say, struct sp_str v, struct sp_buf *b)
{
    int64_t number;
    if (say == SP_SAY_STATE) {
        say_state(p, v, b);
        return;
    }
    if (say == SP_SAY_BLOCK_OP) {
        say_block(v, b);
        return;
    }
    if (say == SP_SAY_TEXT || say == SP_SAY_COMM || !v.n ||
        sp_parse_i64(v.p, v.p + v.n, &number) != v.n) { /* names, as perf script prints some */
        sp_buf_add(b, v.p, v.n);
        return;
    }
    if (say == SP_SAY_SYSCALL)
        say_syscall(p, number, b);
    else if (say == SP_SAY_RESULT)
        say_result(number, b);
    else if (say == SP_SAY_SOFTIRQ)
        say_softirq(number, b);
    else if (say == SP_SAY_FAULT)
        say_fault(number, b);
    else
        sp_buf_printf(b, "%lld:%lld", (long long)(number >> 20), (long long)(number & 0xfffff));
}
