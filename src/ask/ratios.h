/* --ratio: columns and facts of ratios of two events (analysis/ratio.h), for the questions that have them. */
#ifndef SP_ASK_RATIOS_H
#define SP_ASK_RATIOS_H

#include "analysis/ratio.h"
#include "ask/common.h"

enum { SP_RATIOS = 3 };
struct sp_ratios {
    size_t n;
    bool total; /* people are shown the ratio of totals, not of self */
    struct sp_ratio_asked {
        struct sp_ratio r;
        struct sp_selection of, per; /* the question's, of these events */
        bool has_of, has_per;
    } v[SP_RATIOS];
};

/* Those that the options ask for. Zeroed where there are none. Errors are reported; free it all the same. */
spaa_status sp_ratios_of(const struct sp_asked *x, struct sp_ratios *out);
void sp_ratios_free(struct sp_ratios *r);

/* Sums of self and total of one thing in both events. */
struct sp_ratio_part {
    struct sp_ratio_sums self, total;
};

/* Facts and lines: of the whole, and where `parts` is not NULL of parts[k] of each. */
#define SP_RATIO_FACT(name, type, words)                                                                     \
    {                                                                                                        \
        "ratios." name, type, .flags = SP_COL_SOMETIMES, .doc = words                                        \
    }
#define SP_RATIO_FACTS                                                                                       \
    SP_RATIO_FACT("name", SP_COL_TEXT, "--ratio: as it was asked for"),                                      \
        SP_RATIO_FACT("of", SP_COL_TEXT, "the event above the line"),                                        \
        SP_RATIO_FACT("per", SP_COL_TEXT, "the event below it"),                                             \
        SP_RATIO_FACT("times", SP_COL_NUMBER, "for so many of these"),                                       \
        SP_RATIO_FACT(                                                                                       \
            "of_ran_percent", SP_COL_NUMBER,                                                                 \
            "how long it was counted, of the time it was wanted; values are scaled by that; null: the "      \
            "recording does not say"),                                                                       \
        SP_RATIO_FACT("per_ran_percent", SP_COL_NUMBER, "likewise, of the event below"),                     \
        SP_RATIO_FACT("whole", SP_COL_NUMBER, "of all that is kept; null: of too few samples"),              \
        SP_RATIO_FACT("whole_low", SP_COL_NUMBER, "where it begins that chance leaves, at 95 %"),            \
        SP_RATIO_FACT("whole_high", SP_COL_NUMBER, "where that ends; without a value: it is at most that")
#define SP_RATIO_PART_FACTS                                                                                  \
    SP_RATIO_FACT("self", SP_COL_NUMBER, "of the function's self; likewise"),                                \
        SP_RATIO_FACT("self_low", SP_COL_NUMBER, "likewise"),                                                \
        SP_RATIO_FACT("self_high", SP_COL_NUMBER, "likewise"),                                               \
        SP_RATIO_FACT("total", SP_COL_NUMBER, "of its total; likewise"),                                     \
        SP_RATIO_FACT("total_low", SP_COL_NUMBER, "likewise"),                                               \
        SP_RATIO_FACT("total_high", SP_COL_NUMBER, "likewise")
/* The columns of rows of a table, as docs name them: "rows." */
#define SP_RATIO_ROW(name, words)                                                                            \
    {                                                                                                        \
        name, SP_COL_NUMBER, .flags = SP_COL_SOMETIMES, .doc = words                                         \
    }
#define SP_RATIO_ROWS(table)                                                                                 \
    SP_RATIO_ROW(table ".ratio.self", "--ratio: of the row's self; null: of too few samples"),               \
        SP_RATIO_ROW(table ".ratio.self_low", "where it begins that chance leaves, at 95 %"),                \
        SP_RATIO_ROW(table ".ratio.self_high", "where that ends; without a value: it is at most that"),      \
        SP_RATIO_ROW(table ".ratio.total", "likewise, of the row's total"),                                  \
        SP_RATIO_ROW(table ".ratio.total_low", "likewise"),                                                  \
        SP_RATIO_ROW(table ".ratio.total_high", "likewise")
void sp_ratios_facts(struct sp_asked *x, const struct sp_ratios *r, const struct sp_ratio_part *parts);
void sp_ratios_say(struct sp_asked *x, const struct sp_ratios *r, const struct sp_ratio_part *parts);

/* Columns "ratio.0.self", …; number of the first. */
size_t sp_ratios_columns(struct sp_asked *x, const struct sp_ratios *r, struct sp_answer_table *t);
/* In the last row. */
void sp_ratios_put(struct sp_asked *x, const struct sp_ratios *r, struct sp_answer_table *t, size_t first,
                   size_t k, const struct sp_ratio_part *part);

#endif
