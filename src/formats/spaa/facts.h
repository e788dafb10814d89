/*
 * Facts in SPAA files (model/facts.h; docs/spaa.md says what stands where): `x_spaa_process` and
 * `x_spaa_image` records, `x_spaa` of thread records, `x_wait` of contexts. facts.c takes and writes them,
 * fact_members.c is how; old_facts.c takes what files had before there were these: the objects and records of
 * hang reports, `x_spindump` and `x_sample`.
 */
#ifndef SP_SPAA_FACTS_H
#define SP_SPAA_FACTS_H

#include "formats/spaa/fact_values.h"
#include "formats/spaa/read.h"
#include "formats/spaa/write.h"
#include "model/facts.h"

/* ---- reading; all that return bool: false without memory, said in r->st ---- */

/* Moves what is a fact from the extra_json of a thread or context to its fields. */
bool sp_facts_of_thread(struct reader *r, struct sp_thread *t);
bool sp_facts_of_context(struct reader *r, struct sp_context *c);

/* Whose numbers the images of a process are. */
enum sp_image_numbers { SP_IMAGES_OURS, SP_IMAGES_SPINDUMP, SP_IMAGES_SAMPLE };

bool sp_take_fact(struct reader *r, enum sp_fact_record kind, struct sp_span json);
/* sources.c: a piece of source text; *taken false: it cannot be used, which was said. */
bool sp_take_source(struct reader *r, const struct sp_rec *rec, struct sp_span json, bool *taken);
/* After the last record: images of processes from what files call them to numbers of the table. */
spaa_status sp_settle_images(struct reader *r);

/* What the files share. */
/*
 * The members of an object (or members without braces) that are facts become fields of the row, the others
 * are appended to `rest`, as members. `ours`: values that are none of the field are reported. `leave`:
 * members that are neither, up to NULL.
 */
bool sp_facts_take(struct reader *r, struct sp_span text, const struct sp_fact *facts, void *row,
                   const char *const *leave, bool ours, struct sp_buf *rest);
/* The object that is member `name`, and the other members; *object.n 0: there is none. */
bool sp_facts_split(struct reader *r, struct sp_span text, const char *name, struct sp_span *object,
                    struct sp_buf *others);
bool sp_facts_str(struct reader *r, const struct sp_buf *b,
                  uint32_t *out); /* SP_STR_NONE where it is empty */
/* Adds a process whose images a file names in the raw array `images` (n 0: none). */
bool sp_facts_add_process(struct reader *r, const struct sp_process_fact *x, struct sp_span images,
                          enum sp_image_numbers numbers);
bool sp_facts_add_image(struct reader *r, const struct sp_image *x, struct sp_span id,
                        enum sp_image_numbers numbers);

/* old_facts.c */
bool sp_old_thread(struct reader *r, struct sp_thread *t);
bool sp_old_context(struct reader *r, struct sp_context *c);
bool sp_old_fact(struct reader *r, enum sp_fact_record kind, struct sp_span json);

/* ---- writing ---- */

void sp_write_thread_facts(struct writer *w, const struct sp_thread *t); /* and its extra_json */
void sp_write_wait(struct writer *w, const struct sp_wait_fact *x);
void sp_write_image(struct writer *w, uint32_t number); /* without the closing brace */
void sp_write_process(struct writer *w, const struct sp_process_fact *x);
void sp_write_source(struct writer *w, const struct sp_source_piece *x);

#endif
