/*
 * What perf was asked to start, by the command line that its header keeps: its own options, then the command.
 *
 * A command that is a driver runs others: what is measured are those, and no process is another than meant.
 * One that only sets something up (env, taskset) becomes the next in its own process. The header parts words
 * by blanks alone, so a command with what a shell would read differently cannot be given again.
 */
#include "ask/summary.h"

#include "model/identity.h"

static struct sp_str command_word(struct sp_str *rest)
{
    while (rest->n && *rest->p == ' ')
        *rest = (struct sp_str){rest->p + 1, rest->n - 1};
    const char *space = rest->n ? memchr(rest->p, ' ', rest->n) : NULL;
    struct sp_str word = {rest->p, space ? (uint32_t)(space - rest->p) : rest->n};
    *rest = (struct sp_str){rest->p + word.n, rest->n - word.n};
    return word;
}

static bool command_is_one(const char *const *names, struct sp_str word)
{
    return word.n && sp_name_index(names, word.p, word.n) >= 0;
}

static bool command_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* How much of "-agF999" is flags, up to the letter that takes a value. */
static uint32_t command_flags(struct sp_str option)
{
    static const char letters[] = "eptrCcoFmGDujk";
    uint32_t i = 1;
    while (i < option.n && !memchr(letters, option.p[i], sizeof letters - 1))
        i++;
    return i;
}

/* Whether an option of `perf record` takes the next word: short ones without a value behind them, and long
 * ones. */
static bool command_takes_word(struct sp_str option)
{
    static const char *const with[] = {"--event",
                                       "--filter",
                                       "--pid",
                                       "--tid",
                                       "--realtime",
                                       "--cpu",
                                       "--count",
                                       "--output",
                                       "--freq",
                                       "--mmap-pages",
                                       "--call-graph",
                                       "--cgroup",
                                       "--delay",
                                       "--uid",
                                       "--branch-filter",
                                       "--clockid",
                                       "--max-size",
                                       "--switch-max-files",
                                       "--affinity",
                                       "--control",
                                       "--mmap-flush",
                                       "--proc-map-timeout",
                                       "--vmlinux",
                                       "--clang-path",
                                       "--off-cpu-thresh",
                                       "--synth",
                                       "--num-thread-synthesize",
                                       NULL};
    if (option.n > 2 && option.p[1] == '-')
        return command_is_one(with, option);
    uint32_t flags = command_flags(option);
    return flags + 1 == option.n;
}

static bool command_is_all_cpus(struct sp_str option)
{
    bool whole = option.n > 1 && option.p[1] == '-';
    return sp_str_is(option, "--all-cpus") || (!whole && memchr(option.p, 'a', command_flags(option)));
}

/* To a process that runs: nothing was started. */
static bool command_attaches(struct sp_str option)
{
    uint32_t flags = command_flags(option);
    if (option.n > 2 && option.p[1] == '-')
        return command_begins(option, "--pid") || command_begins(option, "--tid");
    return flags < option.n && (option.p[flags] == 'p' || option.p[flags] == 't');
}

/* Shells, builds, tests: what they start is what is looked at. */
static bool command_is_driver(struct sp_str base, struct sp_str rest)
{
    static const char *const drivers[] = {
        "sh",    "bash",  "dash",   "zsh",   "ksh",      "fish",   "make",      "gmake", "ninja",
        "cmake", "ctest", "meson",  "gcc",   "g++",      "cc",     "c++",       "clang", "clang++",
        "cargo", "rustc", "go",     "npm",   "npx",      "yarn",   "pnpm",      "mvn",   "gradle",
        "bazel", "tox",   "pytest", "xargs", "parallel", "ccache", "hyperfine", NULL};
    static const char *const modules[] = {"pytest", "unittest", "tox", "nox", "pip", "build", NULL};
    if (command_is_one(drivers, base))
        return true;
    return command_begins(base, "python") && sp_str_is(command_word(&rest), "-m") &&
           command_is_one(modules, command_word(&rest));
}

static bool command_is_setter(struct sp_str base)
{
    static const char *const setters[] = {
        "env",   "taskset", "nice", "ionice",  "chrt",    "numactl", "setarch", "stdbuf",  "timeout", "sudo",
        "nohup", "setsid",  "time", "prlimit", "unshare", "nsenter", "setpriv", "runuser", "doas",    NULL};
    return command_is_one(setters, base);
}

/* Whether a shell would read it as it was: one of a shell's own arguments cannot be told from others. */
static bool command_is_plain(struct sp_str c, bool driver)
{
    if (driver && memmem(c.p, c.n, " -c ", 4))
        return false;
    for (uint32_t i = 0; i < c.n; i++)
        if (strchr("|&;<>()$`\\\"'*?[]#~{}!\n", c.p[i]))
            return false;
    return true;
}

/* Behind a setter: the first word that something recorded is called, or a driver. */
static struct sp_str command_of_setter(const struct sp_summary *x, struct sp_str rest,
                                       sp_was_recorded_fn *recorded, const void *arg, bool *driver)
{
    for (struct sp_str word; (word = command_word(&rest)).n;) {
        struct sp_str base = sp_base_name(word);
        *driver = command_is_driver(base, rest);
        if (*driver || (*word.p != '-' && recorded(x, arg, base)))
            return base;
    }
    return (struct sp_str){"", 0};
}

void sp_summary_command(struct sp_summary *x, struct sp_str rest, sp_was_recorded_fn *recorded,
                        const void *arg)
{
    struct sp_str word;
    bool driver;
    while (rest.n && !sp_str_is(command_word(&rest), "record"))
        continue;
    while ((word = command_word(&rest)).n && *word.p == '-' && !sp_str_is(word, "--")) {
        x->all_cpus = x->all_cpus || command_is_all_cpus(word);
        if (command_attaches(word))
            return;
        if (command_takes_word(word))
            command_word(&rest);
    }
    if (sp_str_is(word, "--"))
        word = command_word(&rest);
    if (!word.n)
        return;
    struct sp_str base = sp_base_name(word), whole = {word.p, (uint32_t)(rest.p + rest.n - word.p)};
    driver = command_is_driver(base, rest);
    if (!driver && command_is_setter(base))
        base = command_of_setter(x, rest, recorded, arg, &driver);
    if (command_is_plain(whole, driver))
        x->command = whole;
    if (!driver && base.n && recorded(x, arg, base))
        x->program = base;
    x->driver = driver;
}
