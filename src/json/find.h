/*
 * Single members of JSON texts that are kept as they are: records of other types, and the `extra_json`
 * members of the model (members without the braces of their object).
 */
#ifndef SP_JSON_FIND_H
#define SP_JSON_FIND_H

#include "json/json.h"

/* The raw value of a member of `text`, an object or the members of one; false: there is none, *raw is as it
 * was. */
bool sp_json_find(struct sp_span text, const char *key, struct sp_span *raw);
/* The same through two objects: "x_spindump", "state". */
bool sp_json_find2(struct sp_span text, const char *outer, const char *key, struct sp_span *raw);
bool sp_json_find_i64(struct sp_span text, const char *key, int64_t *v);
/* Whether the member is `true`. */
bool sp_json_find_true(struct sp_span text, const char *key);
/* A raw value that is a string, decoded and appended; false: it is none, or memory is out. */
bool sp_json_text_to(struct sp_buf *out, struct sp_span raw);
/*
 * Members of the object at the cursor by their names, in one walk: for tables whose parts need each other in
 * an order that the text need not have. Of keys that stand twice the first counts. False: the object is
 * damaged or cut off, as the cursor says; the value in which that is reaches to the end of the text, for who
 * can use the part before it.
 */
struct sp_json_member {
    const char *key;
    struct sp_span raw; /* n 0: it is not there */
};
bool sp_json_members(struct sp_json *j, struct sp_json_member *want, size_t n);
/*
 * The next item of a raw array, from *rest (at first the array's text); false at its end. Items that are no
 * valid JSON end it.
 */
bool sp_json_next(struct sp_span *rest, struct sp_span *item);

#endif
