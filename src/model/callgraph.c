#include "model/callgraph.h"

#include <string.h>

const char *const sp_callgraph_names[] = {[SP_CALLGRAPH_NOT_TOLD] = "",
                                          [SP_CALLGRAPH_POINTERS] = "fp",
                                          [SP_CALLGRAPH_COPIES] = "dwarf",
                                          [SP_CALLGRAPH_BRANCHES] = "lbr"};

static bool callgraph_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static struct sp_str next_word(struct sp_str *s)
{
    const char *space = s->n ? memchr(s->p, ' ', s->n) : NULL;
    struct sp_str word = {s->p, space ? (uint32_t)(space - s->p) : s->n};
    uint32_t skip = word.n + (space != NULL);
    *s = (struct sp_str){s->p + skip, s->n - skip};
    return word;
}

static enum sp_callgraph mode_of(struct sp_str s)
{
    return callgraph_begins(s, "dwarf") ? SP_CALLGRAPH_COPIES
           : callgraph_begins(s, "lbr") ? SP_CALLGRAPH_BRANCHES
                                        : SP_CALLGRAPH_POINTERS;
}

/* Letters of `perf record` behind one dash, up to one that takes a value: *g is among them; true: its value
 * is the next word. */
static bool read_letters(struct sp_str word, bool *g)
{
    static const char flags[] = "abBdgiInNPqRsSTvWz", valued[] = "cCDeFGjkmoprtu";
    uint32_t i = 1;
    *g = false;
    for (; i < word.n && memchr(flags, word.p[i], sizeof flags - 1); i++)
        *g = *g || word.p[i] == 'g';
    return i + 1 == word.n && memchr(valued, word.p[i], sizeof valued - 1);
}

/* Whether the value of a long option is the next word. */
static bool takes_next(struct sp_str word)
{
    static const char *const options[] = {
        "--event",    "--filter",  "--freq",    "--count",         "--output",   "--pid",        "--tid",
        "--uid",      "--cpu",     "--cgroup",  "--mmap-pages",    "--clockid",  "--realtime",   "--delay",
        "--max-size", "--vmlinux", "--control", "--branch-filter", "--affinity", "--call-graph", NULL};
    for (const char *const *o = options; *o; o++)
        if (sp_str_is(word, *o))
            return true;
    return false;
}

enum sp_callgraph sp_callgraph_of(const struct sp_profile *p)
{
    static const char option[] = "--call-graph";
    enum sp_callgraph found = SP_CALLGRAPH_NOT_TOLD;
    struct sp_str rest = sp_pstr(p, p->header.command);
    if (!sp_str_is(sp_pstr(p, p->header.source_tool), "perf"))
        return found;
    while (rest.n && !sp_str_is(next_word(&rest), "record"))
        continue;
    while (rest.n && rest.p[0] == '-') { /* what follows is the program, whose options say nothing */
        struct sp_str word = next_word(&rest);
        bool g = false, next = callgraph_begins(word, "--") ? takes_next(word) : read_letters(word, &g);
        if (sp_str_is(word, "--"))
            break;
        if (sp_str_is(word, option))
            found = mode_of(rest);
        else if (callgraph_begins(word, "--call-graph="))
            found = mode_of((struct sp_str){word.p + sizeof option, word.n - (uint32_t)sizeof option});
        else if (g)
            found = SP_CALLGRAPH_POINTERS;
        if (next)
            next_word(&rest);
    }
    return found;
}
