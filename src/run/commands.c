/* The commands and their options, from the tables. */
#include "run/run.h"

static const struct sp_command own_commands[] = {
#define SPAA_COMMAND(name, args, groups, title, examples) {#name, args, groups, title, examples, NULL, false},
#define SPAA_PROGRAM(name, args, groups, title, examples) {#name, args, groups, title, examples, NULL, true},
#include "run/commands.def"
#undef SPAA_COMMAND
#undef SPAA_PROGRAM
};

bool sp_command_at(size_t i, struct sp_command *out)
{
    size_t n = 0;
    for (; sp_questions[n]; n++)
        if (n == i) {
            const struct sp_question *q = sp_questions[n];
            uint64_t groups = q->groups | G_QUESTION | G_ANSWER | G_BUDGET;
            *out = (struct sp_command){q->name, q->args, groups, q->title, q->examples, q, false};
            return true;
        }
    if (i - n >= sizeof own_commands / sizeof *own_commands)
        return false;
    *out = own_commands[i - n];
    return true;
}

bool sp_command_find(const char *name, struct sp_command *out)
{
    for (size_t i = 0; sp_command_at(i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* When a command hands an option of a format to it: SP_CAN_READ, SP_CAN_WRITE, both or neither. */
static unsigned own_when(const struct sp_command *command)
{
    uint64_t writing = G_CONVERT | G_MERGE | G_UPLOAD | G_SYMBOLIZE;
    return (command->groups & G_READ ? SP_CAN_READ : 0u) | (command->groups & writing ? SP_CAN_WRITE : 0u);
}

static const char *const group_titles[] = {
#define SPAA_GROUP(name, title) title,
#include "ask/groups.def"
#undef SPAA_GROUP
};

/* Option k of those of a group that are of no earlier one; *k goes down by how many there are. */
static bool option_of_group(const struct sp_command *command, uint64_t group, const char *title, size_t *k,
                            struct sp_command_option *out)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++) {
        uint64_t mine = o->groups & (command->groups | G_ALL);
        if (!(mine & group) || mine & (group - 1))
            continue;
        if (!(*k)--) {
            *out = (struct sp_command_option){o->name, o->letter,        o->value, o->help,
                                              title,   group >= G_EVENT, o,        NULL};
            return true;
        }
    }
    return false;
}

/* What formats declare as their own, in the order of the formats. */
static bool option_of_formats(const struct sp_command *command, size_t k, struct sp_command_option *out)
{
    for (size_t i = 0; spaa_formats[i]; i++)
        for (const struct sp_format_option *o = spaa_formats[i]->options; o && o->name; o++)
            if (o->when & own_when(command) && !k--) {
                *out = (struct sp_command_option){
                    o->name, 0, o->value, o->help, "options of one format", true, NULL, spaa_formats[i]};
                return true;
            }
    return false;
}

bool sp_command_option(const struct sp_command *command, size_t k, struct sp_command_option *out)
{
    for (size_t g = 0; g < sizeof group_titles / sizeof *group_titles; g++)
        if (option_of_group(command, (uint64_t)1 << g, group_titles[g], &k, out))
            return true;
    return option_of_formats(command, k, out);
}

bool sp_command_option_find(const struct sp_command *command, const char *name, struct sp_command_option *out)
{
    for (size_t k = 0; sp_command_option(command, k, out); k++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}
