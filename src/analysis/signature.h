/*
 * What a function's name has besides its name, in C++'s and Rust's spelling: the type that it returns,
 * parameters, template arguments, scopes. Sources differ in how much of it they tell.
 *
 *     as it stands      int shop::price<float>(float, int)
 *     SP_NAME_PLAIN     shop::price<float>
 *     SP_NAME_BARE      shop::price
 *     SP_NAME_LAST      price
 */
#ifndef SP_SIGNATURE_H
#define SP_SIGNATURE_H

#include "base/buf.h"
#include "base/strtab.h"

enum sp_name_form { SP_NAME_PLAIN, SP_NAME_BARE, SP_NAME_LAST, SP_NAME_FORMS };

/* Whether there is a list of parameters. */
bool sp_has_parameters(struct sp_str name);
/* Appends the name in that form; a part of `name` but for SP_NAME_BARE. */
void sp_name_form(struct sp_buf *out, struct sp_str name, enum sp_name_form form);
/*
 * Bytes of what stands at i as one word although it holds brackets: "operator<<", "operator()", "->",
 * "(anonymous namespace)"; 0: something else.
 */
size_t sp_name_word(struct sp_str name, size_t i);

#endif
