/* What leaks says in words. */
#ifndef SP_LEAKS_WORDS_H
#define SP_LEAKS_WORDS_H

#include "analysis/leaks_callers.h"
#include "base/buf.h"
#include "base/strtab.h"

struct sp_leaks_asked;

/*
 * "copy_of < remember < main 96.00%; 2 other callers": for whom a function allocates, how much of the row
 * goes that way, and what doubts it. full: names whole, and all of them.
 */
void sp_leak_callers_text(struct sp_buf *b, const struct sp_profile *p, const struct sp_leak_callers *c,
                          bool full);
/* "growing +1.18 MiB/s ± 0.02", "never freed, flat from 0.1 s on", "partly freed, 27 % left". */
void sp_leak_state_text(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r);
/* Likewise without since when, how sure, and how many samples it is of. */
void sp_leak_state_brief(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r);
/* It is known since when what the row holds is about what it is at the end. */
bool sp_leak_is_flat(const struct sp_leak_row *r);
/* " leaky.cpp:24 +2 lines", of_callers: " for leaky.cpp:24": behind the name of the function; nothing where
 * lines are not known. */
void sp_leak_lines_text(struct sp_buf *b, const struct sp_leaks *l, const struct sp_leak_row *r,
                        bool of_callers);
/* "std::vector +2" of its push_back and two other functions: of templates what stands before their arguments.
 */
void sp_leak_through_text(struct sp_buf *b, struct sp_str name, size_t others, bool full);
/*
 * Bytes by time: "+1.18 MiB/s ± 0.02", with as many digits as the doubt leaves (< 0: not known); of little
 * that was watched for long by the hour.
 */
void sp_leak_rate_text(struct sp_buf *b, double per_second, double doubt, int64_t watched_ns);

/* What of it casts doubt on all rows, each with how to record it. */
void sp_leaks_say_doubts(struct sp_leaks_asked *x);
/* The sums, and what of them is lost; then what is not known of the rows, and what would settle it. */
void sp_leaks_say_totals(struct sp_leaks_asked *x);
void sp_leaks_say_notes(struct sp_leaks_asked *x);

#endif
