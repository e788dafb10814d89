/*
 * An answer: what a question says, before anybody decides how it looks.
 *
 * A document, in order, of facts (`"whole": 2300000000`), tables of typed columns, and lines of words; then
 * quality, notes and next questions. Its tables are declared once (answer/column.h): the terminal, Markdown,
 * CSV and JSON (render/answer_*.c), SQL (sql/questions.c) and the library (spaa_ask) show the same cells.
 * Facts stand in JSON and in the library; lines are for people, and say nothing that facts and tables lack.
 *
 * Weights are exact integers at the scale of their measure. Texts are copied. A function that adds something
 * to an answer cannot fail: memory that is exhausted makes the answer `failed`, which sp_answer_status says
 * once at the end. Not thread-safe while it is filled.
 */
#ifndef SP_ANSWER_H
#define SP_ANSWER_H

#include "answer/column.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/strtab.h"
#include "base/vec.h"

#include <stdint.h>

/* What weights and percentages are of: a selection's metric. Number 0 is that of the question. */
struct sp_measure {
    struct sp_str event, metric, unit; /* unit "": none */
    unsigned scale;                    /* decimal digits after the point */
    bool cannot_add;                   /* values must not be added: weights and percentages are null */
    int64_t whole;                     /* what percentages are of */
};

enum sp_value_kind { SP_VALUE_NONE, SP_VALUE_INT, SP_VALUE_REAL, SP_VALUE_TEXT, SP_VALUE_TEXTS };
struct sp_value_text {
    const char *p;
    size_t n;
};
/* A cell or the value of a fact; what it means is said by its column's type. */
struct sp_cell {
    uint8_t kind;  /* enum sp_value_kind; NONE: null */
    uint8_t scale; /* of a NUMBER that is an INT: decimal digits after the point */
    uint32_t n;    /* bytes of TEXT, texts of TEXTS */
    union {
        int64_t i;
        double real;
        const char *text;
        const struct sp_value_text *texts;
    };
};

/*
 * Rows that are made when they are looked at, for tables of millions: there is room for one. What `arg` is of
 * has to live as long as the answer (sp_answer_keep). Texts are lent, of names as long as the answer, others
 * until the next row is made.
 */
struct sp_answer_table;
struct sp_row_maker {
    void *arg;
    /* Fills nulls, but for what `alike` fills. */
    void (*make)(void *arg, size_t row, struct sp_cell *cells);
    /*
     * The columns that are declared SP_COL_ALIKE: their cells are the same in all rows of one key, of
     * 0 … keys - 1, so that what is shown of them is put together once for each.
     */
    void (*alike)(void *arg, size_t key, struct sp_cell *cells);
    size_t (*key)(void *arg, size_t row);
    size_t keys;
    /* The answer is to show at most so many rows (SIZE_MAX: any): which, how many, and what is left out of
     * it. */
    void (*cut)(void *arg, struct sp_answer_table *t, size_t most);
    /*
     * Not NULL: the rows are there only while they are walked, each once and in order, of which `take` is
     * told one after another; then the table has its number of rows and what is left out. Instead of `cut`,
     * and only where the answer is shown but once (sp_ask.once). Errors are reported.
     */
    spaa_status (*walk)(void *arg, struct sp_answer_table *t, void (*take)(void *to, size_t row), void *to);
};

/* A table of the answer: its declaration, with what this answer adds to it. */
struct sp_answer_table {
    const struct sp_table_decl *decl;
    SP_VEC(struct sp_answer_column) columns; /* decl's, then those that were added */
    SP_VEC(uint32_t) measure;                /* per column */
    SP_VEC(uint32_t) row_measure;            /* per row, instead: rows in units of their own; else empty */
    SP_VEC(bool) absent;                     /* per column: this answer does not have it */
    SP_VEC(struct sp_cell) cells;            /* row by row, columns.n each */
    SP_VEC(uint32_t) depth; /* per row, of trees: how far names are indented for people; else empty */
    size_t rows;
    const struct sp_answer_table *of; /* of details (sp_answer_detail): the table whose rows they are of */
    SP_VEC(size_t) owner;             /* of details, per row: the row that it is of, ascending; else empty */
    const struct sp_row_maker *maker; /* lent; NULL: all rows are there */
    size_t *made;                     /* 1 + the row that is there; 0: none */
    size_t json_rows;                 /* so many first rows are in JSON only: the root of a tree */
    bool quiet;                       /* not shown to people: what it says stands elsewhere, too */
    size_t limit;    /* rows to show (--limit); SIZE_MAX: all. More may be there, to be told as omitted. */
    size_t left_out; /* rows that are not even here, told as omitted too */
    int64_t left_out_sum; /* of them, in the column that is SP_COL_OMITTED */
    const char *noun;     /* what rows are, instead of decl->noun; lent */
    bool fixed;           /* neither --limit nor --budget cuts it */
    size_t paragraph; /* 1 + column: in a terminal each row is a paragraph that begins with the text of this
                         column, and has a line for each detail; 0: a table */
    unsigned keep; /* 1, 2, …: --budget deals rows to these tables one by one, to the lowest number first, and
                      then again; 0: it leaves all tables as many rows */
};

/* What a line is, which Markdown shows. */
enum sp_line_style {
    SP_LINE_PLAIN,
    SP_LINE_HEAD,    /* the answer in one line */
    SP_LINE_WARNING, /* what changes what may be concluded */
    SP_LINE_STRONG,  /* of a list, what stands before its first three blanks being its title */
    SP_LINE_ITEM,    /* one of a list */
    SP_LINE_TITLE,   /* of what follows */
    SP_LINE_COMMAND, /* one of a list of what a shell takes */
};

enum sp_item_kind { SP_ITEM_FACT, SP_ITEM_TABLE, SP_ITEM_LINE, SP_ITEM_OPEN, SP_ITEM_CLOSE };
struct sp_item {
    enum sp_item_kind kind;
    const char *name; /* FACT, OPEN: member of JSON; OPEN: "" inside a list */
    enum sp_column_type type;
    uint32_t measure;
    enum sp_line_style style; /* LINE */
    bool list;                /* OPEN: of a list, not an object */
    struct sp_cell value;     /* FACT; LINE: its text */
    struct sp_answer_table *table;
};

/* A question to ask next: `spaa QUESTION FILES [ARGUMENT] [options of this selection] [TAIL]`. */
struct sp_next {
    const char *question, *argument, *tail; /* NULL: none */
    const char *command; /* all of it, as a shell takes it; made by ask/next.c, unless it is given */
};

struct sp_kept {
    void *p;
    void (*free)(void *p);
};

enum sp_answer_verdict { SP_VERDICT_FINE = 0, SP_VERDICT_NO = 1, SP_VERDICT_UNSURE = 5 };

struct sp_answer {
    const char *schema; /* "spaa.top/3" */
    struct sp_arena arena;
    SP_VEC(struct sp_measure) measures;
    SP_VEC(struct sp_item) items;
    SP_VEC(struct sp_next) next;
    SP_VEC(struct sp_kept) kept; /* what rows that are made are made of */
    struct sp_diags *diags;      /* lent; notes of the answer are what it holds */
    SP_VEC(enum sp_code) told;   /* of them, what its lines say already */
    struct sp_buf scratch;
    /* Bytes that its texts, and what shows it, may have; 0: any. `aside`: names are so long that it may be
     * more. */
    uint64_t most;
    bool aside;
    int verdict; /* exit code of a question that judges (diff --fail-on): enum sp_answer_verdict */
    bool failed;
};

void sp_answer_init(struct sp_answer *a, const char *schema, struct sp_diags *d);
void sp_answer_free(struct sp_answer *a);
/* Of what the profile it is about may have (model/extent.h). */
void sp_answer_at_most(struct sp_answer *a, uint64_t most, bool aside);
spaa_status sp_answer_too_long(const struct sp_answer *a); /* SPAA_ERR_LIMIT, reported */
spaa_status sp_answer_status(
    const struct sp_answer *a); /* SPAA_ERR_NOMEM or SPAA_ERR_LIMIT, reported, when something was lost */

/* Number of the measure; 0 when memory is exhausted. */
uint32_t sp_answer_measure(struct sp_answer *a, const struct sp_measure *m);

/* Facts. Names may be paths: "profile.event" is member event of the object profile. */
void sp_fact_text(struct sp_answer *a, const char *name, const char *p, size_t n);
void sp_fact_cstr(struct sp_answer *a, const char *name, const char *s);           /* NULL: null */
void sp_fact_name(struct sp_answer *a, const char *name, const char *p, size_t n); /* of a function */
void sp_fact_count(struct sp_answer *a, const char *name, int64_t v);              /* SP_ABSENT: null */
void sp_fact_bool(struct sp_answer *a, const char *name, bool v);
void sp_fact_weight(struct sp_answer *a, const char *name, uint32_t measure, int64_t v);
void sp_fact_percent(struct sp_answer *a, const char *name, uint32_t measure, int64_t v); /* of its whole */
/* 100 * v / of with two decimals, where the whole of no measure is meant; null when `of` is 0. */
void sp_fact_share(struct sp_answer *a, const char *name, int64_t v, int64_t of);
void sp_fact_real(struct sp_answer *a, const char *name, double v);
void sp_fact_scaled(struct sp_answer *a, const char *name, int64_t v, unsigned scale); /* SP_ABSENT: null */
void sp_fact_null(struct sp_answer *a, const char *name);
/* An object or a list ("[") of what follows, up to sp_answer_close. */
void sp_answer_open(struct sp_answer *a, const char *name, char kind);
void sp_answer_close(struct sp_answer *a);

/* Words for people: one line, without its end; foreign text in it is made safe when it is shown. */
void sp_answer_line(struct sp_answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sp_answer_line_buf(struct sp_answer *a, const struct sp_buf *b);
void sp_answer_line_of(struct sp_answer *a, enum sp_line_style style, const struct sp_buf *b);
/* Lines say what this note says: people are not told again beneath the answer. */
void sp_answer_tells(struct sp_answer *a, enum sp_code code);

/* Tables. The declaration is lent and must outlive the answer. */
struct sp_answer_table *sp_answer_table(struct sp_answer *a, const struct sp_table_decl *decl);
/*
 * Details of the rows of a table, a list each: the rows that are added are of the last row of `of`, and in
 * JSON a member of it. People are not shown them; CSV has none. They are cut with the rows that they are of.
 */
struct sp_answer_table *sp_answer_detail(struct sp_answer *a, const struct sp_table_decl *decl,
                                         const struct sp_answer_table *of);
/* A column that only this answer has; its texts are copied. Its number, to be used as those of the
 * declaration. */
size_t sp_table_add_column(struct sp_answer *a, struct sp_answer_table *t, const struct sp_answer_column *c,
                           uint32_t measure);
/* Another title in this answer, copied; NULL: not shown to people. */
void sp_table_title(struct sp_answer *a, struct sp_answer_table *t, size_t column, const char *title);
/* The last row's weights are of this measure. Said of all rows or of none. */
void sp_table_row_measure(struct sp_answer *a, struct sp_answer_table *t, uint32_t measure);
/* Before the first row: a declared column that this answer does not have. */
void sp_table_without(struct sp_answer_table *t, size_t column);
void sp_table_row(struct sp_answer *a, struct sp_answer_table *t); /* a row of nulls */
/* Cells of the last row, by column number. */
void sp_put_int(struct sp_answer_table *t, size_t column,
                int64_t v); /* weights, counts, times, bools; SP_ABSENT: null */
void sp_put_real(struct sp_answer_table *t, size_t column, double v);
void sp_put_scaled(struct sp_answer_table *t, size_t column, int64_t v, unsigned scale);
void sp_put_text(struct sp_answer *a, struct sp_answer_table *t, size_t column, const char *p, size_t n);
/* Instead of rows: `rows` of them, made by the maker. */
void sp_table_made(struct sp_answer *a, struct sp_answer_table *t, const struct sp_row_maker *maker,
                   size_t rows);
/* To be freed with the answer; at once where memory is exhausted, then false. */
bool sp_answer_keep(struct sp_answer *a, void *p, void (*free)(void *p));
void sp_row_make(const struct sp_answer_table *t, size_t row); /* of a table with a maker */
/* Of a table with a maker: without what is alike in rows of one key, which is null. */
const struct sp_cell *sp_row_own_cells(const struct sp_answer_table *t, size_t row);
/* The cells of a row, columns.n: lent until another row of a table with a maker is looked at. */
const struct sp_cell *sp_row_cells(const struct sp_answer_table *t, size_t row);
/* The first n rows, in order; all of them where they are walked. */
spaa_status sp_rows_take(struct sp_answer_table *t, size_t n, void (*take)(void *to, size_t row), void *to);
void sp_put_texts(struct sp_answer *a, struct sp_answer_table *t, size_t column,
                  const struct sp_value_text *v, size_t n);
static inline const struct sp_cell *sp_cell_at(const struct sp_answer_table *t, size_t row, size_t column)
{
    if (t->maker)
        sp_row_make(t, row);
    return &t->cells.v[(t->maker ? 0 : row * t->columns.n) + column];
}

/* What the cell's weight is of. */
const struct sp_measure *sp_cell_measure(const struct sp_answer *a, const struct sp_answer_table *t,
                                         size_t row, size_t column);
size_t sp_column_of(const struct sp_answer_table *t, size_t column); /* the weight of a percentage */
/* The cell, or of a percentage that of its weight. */
const struct sp_cell *sp_shown_cell(const struct sp_answer_table *t, size_t row, size_t column);

/* The table of this name, or NULL: of what is named "rows", "threads", … */
const struct sp_answer_table *sp_answer_find(const struct sp_answer *a, const char *name);

/* Texts are copied. */
void sp_answer_next(struct sp_answer *a, const char *question, const char *argument, const char *tail);
/* The whole command, where it is not about the same inputs. */
void sp_answer_next_command(struct sp_answer *a, const char *question, const struct sp_buf *command);

#endif
