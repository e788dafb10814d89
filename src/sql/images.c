/* images: binaries where they were loaded. */
#include "sql/internal.h"

/* Then the fields of sp_image_facts, in their order. */
enum { ID, FACTS, EXTRA_JSON = FACTS + 6 };

static const struct sql_column columns[] = {
    {"id", SQL_INTEGER, SQL_ASCENDING, 1, "number: process_images.image"},
    {"start", SQL_TEXT, 0, 0, "address of its first byte, in hex"},
    {"end", SQL_TEXT, 0, 0, "address of its last byte"},
    {"name", SQL_TEXT, SQL_KEY, 1, "what it calls itself"},
    {"path", SQL_TEXT, SQL_KEY, 1, "its file"},
    {"build_id", SQL_TEXT, SQL_KEY, 1, "hex: dsos.build_id"},
    {"kernel", SQL_INTEGER, 0, 0, "1: it is the kernel's"},
    {"extra_json", SQL_TEXT, 0, 0, "what there is no column for, as a JSON object"},
    {0},
};

static int sql_images_rows(struct sql_at *at, uint64_t *n)
{
    *n = at->q->profile->images.n;
    return SQLITE_OK;
}

static int sql_images_value(struct sql_at *at, int column, sqlite3_context *out)
{
    const struct sp_profile *p = at->q->profile;
    const struct sp_image *x = &p->images.v[at->row];
    if (column == EXTRA_JSON)
        sql_members(out, p, x->extra_json);
    else
        sql_fact(out, p, &sp_image_facts[column - FACTS], x);
    return SQLITE_OK;
}

static int64_t sql_images_key(struct sql_at *at, int column)
{
    uint32_t s = sp_fact_get_text(&sp_image_facts[column - FACTS], &at->q->profile->images.v[at->row]);
    return s == SP_STR_NONE ? SP_ABSENT : s;
}

const struct sql_table sql_images = {"images",
                                     "binaries where they were loaded, each once",
                                     columns,
                                     500,
                                     0,
                                     sql_images_rows,
                                     sql_images_value,
                                     NULL,
                                     sql_images_key,
                                     NULL};
