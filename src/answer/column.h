/*
 * What a table of an answer is made of, declared once: the heading that people see, the member of JSON, the
 * column of SQL and of the library, and the words of docs/json.md.
 */
#ifndef SP_COLUMN_H
#define SP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>

enum sp_column_type {
    SP_COL_NAME,   /* text that names a function; shortened for people unless --names full. JSON rows have the
                      short form of what is called "function" too, as "short" beside it */
    SP_COL_DSO,    /* text that names a binary; its base name for people, likewise */
    SP_COL_HANDLE, /* text: what the next command takes, f:1a2b3c */
    SP_COL_WEIGHT, /* integer at the scale of the column's measure */
    SP_COL_PERCENT, /* share of the measure's whole: of the weight in column `of`, which has no cells of its
                       own; without `of`, its cells are weights */
    SP_COL_COUNT,   /* integer */
    SP_COL_TEXT,
    SP_COL_TIME,   /* integer, ns */
    SP_COL_NUMBER, /* real, or integer with decimals (sp_put_scaled) */
    SP_COL_BOOL,   /* integer, 0 or 1 */
    SP_COL_TEXTS,  /* a list of texts */
};

extern const char *const sp_column_type_names[]; /* by type: "name", "dso", ... */

enum sp_column_flag {
    SP_COL_CSV = 1 << 0,      /* in CSV, though people are not shown it */
    SP_COL_NO_JSON = 1 << 1,  /* for people alone */
    SP_COL_OPTIONAL = 1 << 2, /* JSON: left out where it is null, instead of null */
    SP_COL_FLEXIBLE = 1 << 3, /* may be cut to fit the width */
    SP_COL_OMITTED = 1 << 4,  /* its sum over rows that are not shown is told */
    SP_COL_LEFT = 1 << 5,     /* numbers that stand at the left */
    SP_COL_SUFFIX = 1 << 6, /* text that people see right behind the column before it, not as one of its own;
                           in CSV only with SP_COL_CSV */
    SP_COL_RIGHT = 1 << 8,  /* text that stands at the right: numbers in words */
    SP_COL_SPARE = 1 << 9,  /* left out of a text that has no room for it: others say nearly the same */
    SP_COL_WHOLE_NAME = 1 << 7, /* its name is no path, whatever stands in it */
    SP_COL_SOMETIMES = 1 << 10, /* answers may be without it: sp_table_without, a fact that is not said */
    SP_COL_ASKED = 1 << 12,     /* somebody asked for it by name: it is left out of a text after all others */
    SP_COL_STAYS = 1 << 13,     /* rows are nothing without it, such as the number of a line */
    SP_COL_ALIKE = 1 << 11, /* of rows that are made: the same in all rows of one key (struct sp_row_maker) */
};

struct sp_answer_column {
    const char *name; /* JSON; a path "base.self" is member self of object base; SQL has "base_self" */
    enum sp_column_type type;
    const char *title; /* heading in text, Markdown, CSV; NULL: not shown there (but SP_COL_CSV) */
    const char *of;    /* PERCENT: name of the weight's column */
    unsigned flags;    /* enum sp_column_flag */
    const char *doc;   /* one sentence without its point */
};

struct sp_table_decl {
    const char *name; /* member of JSON: "rows" */
    const struct sp_answer_column *columns;
    size_t ncolumns;
    const char *doc;
    const char *of;   /* of details: the table whose rows have them as a list; NULL: it stands for itself */
    const char *more; /* what shows more of them; NULL: a larger limit */
    const char *noun; /* what rows are: "5 more stacks with 1.20% of weight"; NULL: "rows" */
    bool joined;      /* not in JSON, where other tables say the same, one inside the other */
};

#endif
