#include "ask/next.h"

#include "answer/text.h"

#include <string.h>

/* Whether the tail of a command has the option. */
static bool next_has_option(const char *tail, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = tail; at && (at = strstr(at, "--")); at += 2)
        if ((at == tail || at[-1] == ' ') && strncmp(at + 2, name, n) == 0 &&
            (at[2 + n] == '\0' || at[2 + n] == ' '))
            return true;
    return false;
}

/* What the tail says stands for what was given: a view for states, too, which exclude it. */
static bool next_replaces(const struct sp_next *next, const struct sp_option *o)
{
    bool states = strcmp(o->name, "view") == 0 || strcmp(o->name, "state") == 0;
    return states ? next_has_option(next->tail, "view") || next_has_option(next->tail, "state")
                  : strcmp(o->name, "label") != 0 && next_has_option(next->tail, o->name);
}

void sp_command_text(struct sp_buf *out, const struct sp_next *next, const char *const *inputs,
                     size_t ninputs, const struct sp_options *options, uint64_t groups)
{
    sp_buf_printf(out, "spaa %s", next->question);
    for (size_t i = 0; i < ninputs; i++) {
        sp_buf_ch(out, ' ');
        sp_shell_word(out, inputs[i]);
    }
    if (next->argument) {
        sp_buf_ch(out, ' ');
        sp_shell_word(out, next->argument);
    }
    for (const struct sp_option *o = sp_option_table; o->name; o++) {
        const char *v = *(const char *const *)(const void *)((const char *)options + o->offset);
        if (!v || !(o->groups & groups) || strcmp(o->name, "jobs") == 0 || next_replaces(next, o))
            continue;
        sp_buf_printf(out, " --%s", o->name);
        if (o->value) {
            sp_buf_ch(out, ' ');
            sp_shell_word(out, v);
        }
    }
    if (next->tail)
        sp_buf_printf(out, " %s", next->tail);
}

uint64_t sp_next_groups(const char *command)
{
    bool drawing = strcmp(command, "flamegraph") == 0; /* colours all functions alike */
    if (strcmp(command, "query") == 0)                 /* SQL has filters of its own */
        return G_READ;
    return G_READ | G_EVENT | G_SELECT | G_TIME | (drawing ? (uint64_t)0 : (uint64_t)G_OWN);
}

void sp_next_commands(const struct sp_ask *q, struct sp_answer *out)
{
    for (size_t i = 0; i < out->next.n; i++) {
        struct sp_next *next = &out->next.v[i];
        if (next->command)
            continue;
        sp_buf_clear(&out->scratch);
        sp_command_text(&out->scratch, next, q->names, q->nnames, q->options, sp_next_groups(next->question));
        next->command = out->scratch.failed
                            ? NULL
                            : sp_arena_dup(&out->arena, sp_buf_cstr(&out->scratch), out->scratch.len + 1);
        out->failed |= !next->command;
    }
}
