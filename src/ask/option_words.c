#include "ask/option_words.h"

#include "ask/usage.h"
#include "base/buf.h"

#include <string.h>

/* The next word in the arena; *at goes behind it. NULL: there is none, or *st says why. */
static const char *option_word(const char **at, struct sp_arena *arena, struct sp_diags *d, spaa_status *st)
{
    const char *p = *at + strspn(*at, " \t\n");
    struct sp_buf word;
    char quote = 0;
    if (!*p)
        return NULL;
    sp_buf_init(&word, 0);
    for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
        if (quote ? *p == quote : *p == '\'' || *p == '"')
            quote = quote ? '\0' : *p;
        else
            sp_buf_ch(&word, *p);
    }
    *at = p;
    const char *text = word.failed ? NULL : sp_arena_dup(arena, sp_buf_cstr(&word), word.len + 1);
    if (quote)
        *st = sp_usage(d, NULL, "a quote of the options is not closed");
    else if (!text)
        *st = sp_nomem(d);
    sp_buf_free(&word);
    return *st ? NULL : text;
}

static const struct sp_option *option_find(const char *word, uint64_t groups)
{
    const char *name = word + strspn(word, "-");
    bool is_long = name - word == 2, is_letter = name - word == 1;
    size_t n = is_letter ? 1 : strcspn(name, "=");
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (o->groups & groups && ((is_long && strlen(o->name) == n && memcmp(o->name, name, n) == 0) ||
                                   (is_letter && o->letter && o->letter == *name)))
            return o;
    return NULL;
}

/* The value that stands in the word itself: --name=value, -n5. */
static const char *option_inside(const char *word)
{
    const char *eq = strchr(word, '=');
    if (strncmp(word, "--", 2) == 0)
        return eq ? eq + 1 : NULL;
    return word[1] && word[2] ? word + 2 : NULL;
}

/* Words that are no options are one argument: "operator new". NULL: out of memory. */
static const char *joined_words(struct sp_arena *arena, const char *first, const char *word)
{
    struct sp_buf b;
    if (!first)
        return word;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "%s %s", first, word);
    const char *text = b.failed ? NULL : sp_arena_dup(arena, sp_buf_cstr(&b), b.len + 1);
    sp_buf_free(&b);
    return text;
}

spaa_status sp_options_parse(struct sp_options *o, const char *text, uint64_t groups, struct sp_arena *arena,
                             const char **argument, struct sp_diags *d)
{
    spaa_status st = SPAA_OK;
    for (const char *word; !st && (word = option_word(&text, arena, d, &st));) {
        if (argument && *word != '-') {
            if (!(*argument = joined_words(arena, *argument, word)))
                return sp_nomem(d);
            continue;
        }
        const struct sp_option *option = option_find(word, groups);
        if (!option)
            return sp_usage(d, "options stand as on the command line: '--by dso'", "there is no option %s",
                            word);
        const char *value = option_inside(word);
        if (!option->value && value)
            return sp_usage(d, NULL, "--%s takes no value", option->name);
        if (option->value && !value)
            value = option_word(&text, arena, d, &st);
        if (option->value && !value && !st)
            return sp_usage(d, NULL, "--%s needs a value: %s", option->name, option->value);
        if (!st && !sp_option_set(o, option, value ? value : ""))
            st = sp_nomem(d);
    }
    return st;
}
