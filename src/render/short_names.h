/* Short names of what people are shown beside each other, in tables and pictures: as short as tells it apart.
 */
#ifndef SP_SHORT_NAMES_H
#define SP_SHORT_NAMES_H

#include "answer/answer.h"

/*
 * Names of functions, or of `files`, one for each of n whole ones (p NULL: none, which is ""): what would be
 * another's short name is longer. Texts are in the arena, or those of `whole`. NULL: memory is exhausted.
 */
struct sp_value_text *sp_names_apart(const struct sp_value_text *whole, size_t n, bool files,
                                     struct sp_arena *arena);
int sp_value_text_cmp(struct sp_value_text a, struct sp_value_text b);

#endif
