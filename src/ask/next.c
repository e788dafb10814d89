#include "ask/next.h"

#include <string.h>

void sp_shell_word(struct sp_buf *b, const char *s)
{
    if (*s &&
        strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+:,@%=") == strlen(s)) {
        sp_buf_puts(b, s);
        return;
    }
    sp_buf_ch(b, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            sp_buf_puts(b, "'\\''");
        else
            sp_buf_ch(b, *s);
    }
    sp_buf_ch(b, '\'');
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
        if (!v || !(o->groups & groups) || strcmp(o->name, "jobs") == 0)
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
