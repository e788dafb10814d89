/*
 * Makes every allocation of a query fail in turn, SQLite's own and ours: sql_sweep FILE-OR-FOLDER...
 *
 * On each SPAA file named, for each query below, the Nth allocation fails for N = 1, 2, 3, … with a stride
 * that grows, once alone and once with all that follow. Then the query either says that memory ran out, or
 * gives the rows that it gives without the failure. Nothing that was allocated may be left.
 */
#include "base/hash.h"
#include "heap.h"
#include "sql/sql.h"
#include "sweep.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 12 << 10, RUNS_MAX = 500 };

static const char *const queries[] = {
    "SELECT * FROM functions ORDER BY total DESC",
    "SELECT *, event, metric FROM frames WHERE func REGEXP 'a|e' ORDER BY self",
    "SELECT * FROM stacks s JOIN stack_frames f ON f.stack = s.id JOIN frames r ON r.id = f.frame",
    "SELECT function, count(DISTINCT stack) FROM stack_frames GROUP BY function",
    "SELECT * FROM nodes UNION ALL SELECT * FROM nodes(NULL, NULL, 1)",
    "SELECT n.id, count(c.id) FROM nodes n JOIN nodes c ON c.parent = n.id GROUP BY n.id",
    "SELECT e.*, f.name, f.self FROM events e JOIN functions f ON f.event = e.name",
    "SELECT * FROM samples ORDER BY stack",
    "SELECT * FROM windows w JOIN window_weights x ON x.window = w.id",
    "SELECT w.*, t.* FROM weights w JOIN stacks s ON s.id = w.stack LEFT JOIN threads t ON t.tid = s.tid",
    "SELECT * FROM header, selection, diagnostics, dsos",
    "SELECT comm, json_group_array(stack_id) FROM stacks GROUP BY comm",
    "SELECT * FROM processes p JOIN process_images x ON x.process = p.id JOIN images i ON i.id = x.image",
    "SELECT w.*, s.weight, t.* FROM stacks s JOIN waits w ON w.id = s.wait JOIN threads t ON t.tid = s.tid",
    "SELECT functon FROM functions",
    "SELECT functio(name) FROM functions WHERE name = :x",
};

struct run {
    spaa_status status;
    uint64_t rows; /* a digest */
    bool failed, said;
    long left;
};

static uint64_t digest(struct sp_sql *q, uint64_t so_far)
{
    for (int i = 0; i < sp_sql_columns(q); i++) {
        struct sp_sql_value v = sp_sql_value(q, i);
        so_far = sp_hash_mix(so_far + v.kind, (uint64_t)v.integer) + sp_hash64(&v.real, sizeof v.real);
        so_far = sp_hash_mix(so_far, v.n ? sp_hash64(v.p, v.n) : 0);
    }
    return so_far;
}

/* The first query fails from the opening on, the others from when it is open. */
static struct run run(struct sp_profile *p, int number, unsigned long fail_at, bool on_and_on)
{
    static const struct sp_select_opts all = {.view = "all"};
    struct sp_diags d;
    struct sp_sql *q = NULL;
    struct run r = {0};
    bool row = true;
    sp_diags_init(&d);
    long before = heap.live;
    if (!number)
        heap_arm(fail_at, on_and_on);
    r.status = sp_sql_open(&d, 0, &q);
    if (number)
        heap_arm(fail_at, on_and_on);
    if (!r.status)
        r.status = sp_sql_prepare(q, queries[number], strlen(queries[number]));
    if (!r.status)
        r.status = sp_sql_profile(q, p, &all);
    while (!r.status && row) {
        r.status = sp_sql_step(q, &row);
        if (!r.status && row)
            r.rows = digest(q, r.rows);
    }
    heap.fail_at = 0;
    r.failed = heap.failed;
    r.said = d.count[SP_E008] > 0;
    sp_sql_close(q);
    sp_diags_free(&d);
    r.left = heap.live - before;
    return r;
}

static int judge(const char *path, int number, unsigned long at, bool on_and_on, struct run r,
                 struct run normal)
{
    const char *wrong = NULL;
    if (r.left != normal.left)
        wrong = "memory is left";
    else if (r.status == SPAA_ERR_NOMEM)
        wrong = r.said ? NULL : "out of memory, and no message";
    else if (r.status != normal.status)
        wrong = "another status";
    else if (r.rows != normal.rows)
        wrong = "other rows, without an error";
    if (wrong)
        printf("%s: %s: allocation %lu%s: %s (status %d, normally %d; %ld left)\n", path, queries[number], at,
               on_and_on ? " and on" : "", wrong, (int)r.status, (int)normal.status, r.left - normal.left);
    return wrong != NULL;
}

static int sweep(const char *path, struct sp_profile *p)
{
    int wrong = 0;
    for (int number = 0; number < (int)(sizeof queries / sizeof *queries); number++) {
        run(p, number, 0, false); /* what SQLite keeps is there from now on */
        struct run normal = run(p, number, 0, false);
        int runs = 0;
        for (unsigned long at = 1; runs < RUNS_MAX && wrong < 5; at += sweep_part() + at / 40) {
            struct run once = run(p, number, at, false), on = run(p, number, at, true);
            if (!once.failed)
                break;
            wrong += judge(path, number, at, false, once, normal) + judge(path, number, at, true, on, normal);
            runs += 2;
        }
        printf("%s: %s: %d runs\n", path, queries[number], runs);
    }
    return wrong;
}

static int each(const struct sweep_file *f)
{
    const struct spaa_format *format = sweep_probe(f);
    struct sp_read_opts opts = {.frames = SP_FRAMES_ADDRESS, .group_by = SP_BY_DEFAULT, .samples = true};
    struct sp_diags d;
    struct sp_input *in = NULL;
    struct sp_profile *p = NULL;
    int wrong = 0;
    if (!format || strcmp(format->name, "spaa") != 0 || !strstr(f->path, "fixtures"))
        return 0;
    sp_diags_init(&d);
    if (sp_input_memory(f->bytes, f->n, f->path, &d, &in) || sp_profile_new(&d, &p) ||
        format->read(in, &opts, &d, p))
        wrong = printf("%s: cannot be read\n", f->path) > 0;
    else
        wrong = sweep(f->path, p);
    sp_profile_free(p);
    sp_input_close(in);
    sp_diags_free(&d);
    return wrong;
}

/* SQLite's memory is ours, with its size before it. */
enum { BEFORE = 16 };

static void *sql_malloc(int n)
{
    char *p = malloc((size_t)n + BEFORE);
    if (!p)
        return NULL;
    memcpy(p, &n, sizeof n);
    return p + BEFORE;
}

static void sql_free(void *p)
{
    if (p)
        free((char *)p - BEFORE);
}

static int sql_size(void *p)
{
    int n = 0;
    if (p)
        memcpy(&n, (char *)p - BEFORE, sizeof n);
    return n;
}

static void *sql_realloc(void *p, int n)
{
    char *q = realloc(p ? (char *)p - BEFORE : NULL, (size_t)n + BEFORE);
    if (!q)
        return NULL;
    memcpy(q, &n, sizeof n);
    return q + BEFORE;
}

static int sql_roundup(int n)
{
    return (n + 7) / 8 * 8;
}

static int sql_init(void *unused)
{
    (void)unused;
    return SQLITE_OK;
}

static void sql_shutdown(void *unused)
{
    (void)unused;
}

int main(int argc, char **argv)
{
    static const sqlite3_mem_methods memory = {sql_malloc,  sql_free, sql_realloc,  sql_size,
                                               sql_roundup, sql_init, sql_shutdown, NULL};
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) != SQLITE_OK)
        return 1;
    int wrong = sweep_files(argc, argv, FILE_MAX, each);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
