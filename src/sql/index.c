/*
 * Indexes that a query makes when it first looks a column up: the rows of each value, by counting.
 *
 * The first few values that are looked up only list their own rows, by a scan: most queries ask for no more.
 *
 * Values are numbers (of strings, frames, threads, …). Where they are dense they number the lists
 * themselves, else a hash map numbers them. Values ascend, as texts where they are texts; so do the rows of
 * each.
 */
#include "sql/internal.h"

#include "base/hash.h"

struct sql_index {
    const struct sql_table *table;
    const struct sql_view *view; /* only where all of the table is of the selection */
    int column;
    bool inverted, dense;
    bool single; /* has the rows of one value, `key`, only */
    int64_t key;
    uint32_t n;           /* single: how many rows */
    SP_VEC(int64_t) keys; /* of the lists; empty when dense */
    struct sp_map map;
    uint32_t lists;
    uint32_t *first,
        *rows; /* list i: rows[first[i]] to rows[first[i + 1]]; before list 0: rows without one */
};

static void index_free(struct sql_index *x)
{
    if (!x)
        return;
    sp_vec_free(&x->keys);
    sp_map_free(&x->map);
    free(x->first);
    free(x->rows);
    free(x);
}

void sql_indexes_free(struct sp_sql *q)
{
    for (size_t i = 0; i < q->indexes.n; i++)
        index_free(q->indexes.v[i]);
    sp_vec_free(&q->indexes);
}

static uint64_t sql_index_hash_of(int64_t key)
{
    return sp_hash_mix((uint64_t)key, 0);
}

static uint32_t list_find(const struct sql_index *x, int64_t key)
{
    if (x->dense)
        return key >= 0 && key < x->lists ? (uint32_t)key : SP_NONE;
    struct sp_probe at = sp_map_probe(&x->map, sql_index_hash_of(key));
    uint32_t i;
    while ((i = sp_map_next(&x->map, &at)) != SP_MAP_NONE && x->keys.v[i] != key)
        ;
    return i == SP_MAP_NONE ? SP_NONE : i;
}

static int sql_index_cmp_number(const void *a, const void *b, void *unused)
{
    (void)unused;
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int cmp_text(const void *a, const void *b, void *p)
{
    return sp_str_cmp(sp_pstr(p, (uint32_t) * (const int64_t *)a),
                      sp_pstr(p, (uint32_t) * (const int64_t *)b));
}

/* Lists of a hash map in ascending order of their values, as those of dense numbers are. */
static bool sort_lists(struct sql_index *x, struct sp_profile *p)
{
    bool text = x->table->columns[x->column].type == SQL_TEXT;
    if (x->keys.n)
        qsort_r(x->keys.v, x->keys.n, sizeof *x->keys.v, text ? cmp_text : sql_index_cmp_number, p);
    sp_map_clear(&x->map);
    for (uint32_t i = 0; i < x->keys.n; i++)
        if (!sp_map_add(&x->map, sql_index_hash_of(x->keys.v[i]), i))
            return false;
    x->lists = (uint32_t)x->keys.n;
    return true;
}

/* Dense when there are not many more possible values than rows. */
static bool number_lists(struct sql_index *x, struct sql_at at, uint32_t n)
{
    int64_t low = 0, high = -1;
    for (at.row = 0; at.row < n; at.row++) {
        int64_t key = x->table->key(&at, x->column);
        if (key == SP_ABSENT)
            continue;
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    x->dense = x->table->columns[x->column].type == SQL_INTEGER && low >= 0 &&
               high < (int64_t)n * 4 + 65536 && high < UINT32_MAX - 1;
    x->lists = x->dense ? (uint32_t)(high + 1) : 0;
    for (at.row = 0; !x->dense && at.row < n; at.row++) {
        int64_t key = x->table->key(&at, x->column);
        if (key == SP_ABSENT || list_find(x, key) != SP_NONE)
            continue;
        if (!sp_map_add(&x->map, sql_index_hash_of(key), (uint32_t)x->keys.n) || !sp_vec_push(&x->keys, key))
            return false;
    }
    return x->dense || sort_lists(x, at.q->profile);
}

static bool sql_index_fill(struct sql_index *x, struct sql_at at, uint32_t n)
{
    x->first = calloc((size_t)x->lists + 3, sizeof *x->first);
    x->rows = malloc(((size_t)n + 1) * sizeof *x->rows);
    if (!x->first || !x->rows)
        return false;
    /* List i is counted two further on, and rows without a value before all; filling moves them into place.
     */
    uint32_t *count = x->first + 2;
    for (at.row = 0; at.row < n; at.row++) {
        int64_t key = x->table->key(&at, x->column);
        count[key == SP_ABSENT ? -1 : (ptrdiff_t)list_find(x, key)]++;
    }
    for (uint32_t i = 0; i < x->lists; i++)
        x->first[i + 2] += x->first[i + 1];
    /* Now first[i + 1] is where list i starts, and the rows without a value start at 0. */
    uint32_t none = 0;
    for (at.row = 0; at.row < n; at.row++) {
        int64_t key = x->table->key(&at, x->column);
        if (key == SP_ABSENT)
            x->rows[none++] = (uint32_t)at.row;
        else
            x->rows[x->first[list_find(x, key) + 1]++] = (uint32_t)at.row;
    }
    x->first[0] = none;
    return true;
}

enum { SINGLES = 3 };

/* The index of all values, or of this one; *singles: how many there are of one value. */
static struct sql_index *sql_index_find(struct sql_at *at, int column, const int64_t *key, int *singles)
{
    bool selected = at->table->flags & SQL_SELECTED;
    *singles = 0;
    for (size_t i = 0; i < at->q->indexes.n; i++) {
        struct sql_index *x = at->q->indexes.v[i];
        if (x->table != at->table || x->column != column ||
            (selected && (x->view != at->view || x->inverted != at->inverted)))
            continue;
        if (!x->single || (key && x->key == *key))
            return x;
        ++*singles;
    }
    return NULL;
}

static struct sql_index *index_new(struct sql_at *at, int column)
{
    struct sql_index *x = calloc(1, sizeof *x);
    if (x)
        *x = (struct sql_index){
            .table = at->table, .view = at->view, .column = column, .inverted = at->inverted};
    return x;
}

static bool scan(struct sql_index *x, struct sql_at at, uint32_t n)
{
    SP_VEC(uint32_t) rows = {0};
    bool ok = sp_vec_reserve(&rows, 16);
    for (at.row = 0; ok && at.row < n; at.row++)
        if (x->table->key(&at, x->column) == x->key)
            ok = sp_vec_push(&rows, (uint32_t)at.row);
    x->rows = rows.v;
    x->n = (uint32_t)rows.n;
    return ok;
}

/* key NULL: of all values. */
static int get(struct sql_at *at, int column, const int64_t *key, struct sql_index **out)
{
    int singles;
    uint64_t n = 0;
    struct sql_index *x = *out = sql_index_find(at, column, key, &singles);
    int rc = x ? SQLITE_OK : at->table->rows(at, &n);
    if (x || rc)
        return rc;
    x = index_new(at, column);
    if (x && key && singles < SINGLES) {
        x->single = true;
        x->key = *key;
    }
    bool ok = x && n < SP_NONE;
    if (ok)
        ok = x->single ? scan(x, *at, (uint32_t)n)
                       : number_lists(x, *at, (uint32_t)n) && sql_index_fill(x, *at, (uint32_t)n);
    if (!ok || !sp_vec_push(&at->q->indexes, x)) {
        index_free(x);
        return SQLITE_NOMEM;
    }
    *out = x;
    return SQLITE_OK;
}

int sql_index_rows(struct sql_at *at, int column, int64_t key, const uint32_t **rows, uint64_t *n)
{
    static const uint32_t nothing;
    struct sql_index *x;
    int rc = get(at, column, &key, &x);
    if (rc)
        return rc;
    if (x->single) {
        *rows = x->rows;
        *n = x->n;
        return SQLITE_OK;
    }
    uint32_t list = list_find(x, key);
    *rows = list == SP_NONE ? &nothing : x->rows + x->first[list];
    *n = list == SP_NONE ? 0 : x->first[list + 1] - x->first[list];
    return SQLITE_OK;
}

int sql_index_order(struct sql_at *at, int column, const uint32_t **rows)
{
    struct sql_index *x;
    int rc = get(at, column, NULL, &x);
    if (!rc)
        *rows = x->rows;
    return rc;
}

int sql_runs_make(struct sql_runs *r, const struct sp_profile *p, uint32_t n,
                  uint32_t (*length)(const struct sp_profile *p, uint32_t i))
{
    if (r->start)
        return SQLITE_OK;
    r->start = malloc(((size_t)n + 1) * sizeof *r->start);
    if (!r->start)
        return SQLITE_NOMEM;
    r->n = n;
    r->start[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        r->start[i + 1] = r->start[i] + length(p, i);
    return SQLITE_OK;
}

uint32_t sql_run_of(struct sql_at *at, const struct sql_runs *r, uint64_t *in)
{
    uint32_t i = at->hint;
    if (at->row < r->start[i] || at->row >= r->start[i + 1]) {
        uint32_t low = 0, high = r->n;
        if (at->row >= r->start[i + 1] && i + 2 <= r->n && at->row < r->start[i + 2]) {
            low = i + 1;
            high = i + 2;
        }
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (r->start[middle] <= at->row)
                low = middle;
            else
                high = middle;
        }
        at->hint = i = low;
    }
    *in = at->row - r->start[i];
    return i;
}
