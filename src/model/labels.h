/*
 * Labels: what a source says of an observation beside who ran and what, as pairs of a key and a text or a
 * number: labels of pprof, fields of tracepoints, the cgroup, where data came from.
 *
 * They stand in interned sets, sorted by key: a key may have several values, in the order they came. A
 * context has a set (sp_context.labels) where its stacks are told apart by them. A sample has its labels
 * among the members of its context, from which sp_labels_of_sample makes a set.
 *
 * In SPAA labels are the member `x_labels` of the context of a stack or a sample: an object of
 * `"KEY":VALUE`, sorted by key, a value being a string, a number, {"num":N,"unit":"U"}, {"hex":"…"} (bytes
 * that are no UTF-8), or a list of these. The specification's `trace_fields` are labels too; they stay what
 * they are, and have SP_LABEL_FIELD. Numbers keep their text.
 *
 * Numbers of sets are 1 + an index, 0: no labels. Functions that make sets are not thread-safe.
 */
#ifndef SP_LABELS_H
#define SP_LABELS_H

#include "base/buf.h"
#include "model/profile.h"
#include "model/samples.h"
#include "json/json.h"

struct sp_label_list {
    SP_VEC(struct sp_label) list;
};

/* Keys, as they are asked for. Lent. */
struct sp_label_keys {
    const char *const *v;
    size_t n;
};
bool sp_label_keys_have(const struct sp_label_keys *keys, struct sp_str key);

/* The labels of a set, in order; none for 0. */
const struct sp_label *sp_labels_of(const struct sp_profile *p, uint32_t set, size_t *n);
/* The set of these labels, which are sorted in place; 0 for none, SP_NONE when memory is out. */
uint32_t sp_labels_intern(struct sp_profile *p, struct sp_label *v, size_t n);
/* Of a set, the labels with these keys that are not there already in `base`, and `base`. SP_NONE: no memory.
 */
uint32_t sp_labels_with(struct sp_profile *p, uint32_t base, uint32_t set, const struct sp_label_keys *keys);

/*
 * Labels that nothing in the input carries, made of what is known of a thread or of the whole input where
 * they are asked for by name (keys NULL: none are); those that are not are offered. False: out of memory.
 */
bool sp_labels_ask(struct sp_profile *p, const struct sp_label_keys *keys, const char *key,
                   struct sp_str value, struct sp_label_list *out);
/* A label of that key can be asked for; a key that was offered stays one. False: out of memory. */
bool sp_labels_offer(struct sp_profile *p, struct sp_str key);
/* The label `queue` of a thread, by what a hang report says of its dispatch queue, and a set `base`: a set.
 */
uint32_t sp_labels_with_queue(struct sp_profile *p, uint32_t base, const struct sp_label_keys *keys,
                              struct sp_str queue);

/* Adds the members of an object's text; false: out of memory. flags: SP_LABEL_FIELD or 0. */
bool sp_labels_parse(struct sp_profile *p, struct sp_span object, uint8_t flags, struct sp_label_list *out);
/* The same of what the members of a context (extra_json) say: x_labels and trace_fields. */
bool sp_labels_members(struct sp_profile *p, struct sp_span members, struct sp_label_list *out);
/* Appends the object of a set, without fields. The buffer tells of lack of memory. */
void sp_labels_json(const struct sp_profile *p, uint32_t set, struct sp_buf *b);
bool sp_labels_any(const struct sp_profile *p, uint32_t set); /* the object would not be empty */

/* The set of a sample, whose context is as read; SP_NONE: out of memory. The same text is looked at once. */
uint32_t sp_labels_of_sample(struct sp_profile *p, const struct sp_sample *x);

/* What a label says: its text, or the number with its unit behind a blank. */
void sp_label_say(const struct sp_profile *p, const struct sp_label *l, struct sp_buf *b);
/*
 * The same of the labels of a context with a key, several joined by commas, appended; false: it has none. The
 * number of the first is sp_labels_find(…)->value, if its flags have SP_LABEL_NUMBER.
 */
bool sp_context_label(const struct sp_profile *p, uint32_t context, struct sp_str key, struct sp_buf *b);
/* The first label of a key in a set, or NULL. */
const struct sp_label *sp_labels_find(const struct sp_profile *p, uint32_t set, struct sp_str key);
/* One label, whatever it says, of each key that stacks have, fields left out, sorted; false: out of memory.
 */
bool sp_labels_keys(const struct sp_profile *p, struct sp_label_list *out);
/* Whether some context has a label of that key. */
bool sp_labels_have(const struct sp_profile *p, struct sp_str key);

#endif
