#include "model/callgraph.h"

#include <string.h>

static bool begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static enum sp_callgraph mode_of(struct sp_str s)
{
    return begins(s, "dwarf") ? SP_CALLGRAPH_COPIES
           : begins(s, "lbr") ? SP_CALLGRAPH_BRANCHES
                              : SP_CALLGRAPH_POINTERS;
}

/* -g, also among other letters without a value: -ag. */
static bool is_short(struct sp_str s)
{
    bool other = false;
    for (size_t i = 1; i < s.n; i++)
        other = other || !memchr("agdsTv", s.p[i], 6);
    return s.n > 1 && s.p[0] == '-' && s.p[1] != '-' && memchr(s.p, 'g', s.n) && !other;
}

static struct sp_str next_word(struct sp_str *s)
{
    const char *space = s->n ? memchr(s->p, ' ', s->n) : NULL;
    struct sp_str word = {s->p, space ? (uint32_t)(space - s->p) : s->n};
    uint32_t skip = word.n + (space != NULL);
    *s = (struct sp_str){s->p + skip, s->n - skip};
    return word;
}

enum sp_callgraph sp_callgraph_of(const struct sp_profile *p)
{
    static const char option[] = "--call-graph";
    enum sp_callgraph found = SP_CALLGRAPH_NOT_TOLD;
    struct sp_str rest = sp_pstr(p, p->header.command);
    if (!sp_str_is(sp_pstr(p, p->header.source_tool), "perf"))
        return found;
    while (rest.n) {
        struct sp_str word = next_word(&rest);
        if (is_short(word))
            found = SP_CALLGRAPH_POINTERS;
        else if (sp_str_is(word, option))
            found = mode_of(rest);
        else if (begins(word, "--call-graph="))
            found = mode_of((struct sp_str){word.p + sizeof option, word.n - (uint32_t)sizeof option});
    }
    return found;
}
