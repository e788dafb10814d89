/*
 * Texts for agents, embedded in the program: the skill (skill/spaa/SKILL.md and its references), and prompts.
 * `spaa skill --install` writes them, `spaa mcp` serves them as resources and prompts. Static; a list ends
 * with a NULL name.
 */
#ifndef SP_GUIDE_H
#define SP_GUIDE_H

#include <stddef.h>

struct sp_guide_text {
    const char *name;  /* "SKILL.md", "references/recording.md": beneath the folder of the skill */
    const char *title; /* in words */
    const char *text;  /* ends in a NUL, which n does not count */
    size_t n;
};
extern const struct sp_guide_text sp_guide_texts[];

/* A text by its name, or by what is short for it: "recording"; NULL: there is none. */
const struct sp_guide_text *sp_guide_find(const char *name);
/* The short name, n bytes of it; lent. */
const char *sp_guide_short(const struct sp_guide_text *t, size_t *n);

struct sp_guide_argument {
    const char *name, *title;
    int required;
};
/* A prompt: a text in which {NAME} stands for the value of an argument ("" where it is not given). */
struct sp_guide_prompt {
    const char *name;  /* "diagnose", "compare", "leak" */
    const char *title; /* in words */
    const struct sp_guide_argument *arguments;
    const char *text;
};
extern const struct sp_guide_prompt sp_guide_prompts[];

#endif
