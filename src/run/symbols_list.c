/* spaa symbols list: what is in the store. */
#include "run/symbols.h"

#include "answer/words.h"
#include "io/file.h"
#include "run/heading.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const char *const kinds[] = {"file", "debug", "pdb", "kallsyms"};
enum { KINDS = 4 };

void sp_run_symbols_store_free(struct symbols_store *x)
{
    sp_vec_free(&x->v);
    sp_walk_free(&x->walk);
}

static spaa_status read_from(struct sp_run *run, const char *path, struct symbols_store *x,
                             struct symbols_build *b)
{
    char *text;
    size_t n;
    spaa_status st = sp_file_slurp(path, PATH_MAX, run->diags, &text, &n);
    if (st)
        return st == SPAA_ERR_NOMEM ? sp_nomem(run->diags) : SPAA_OK;
    b->from = sp_arena_dup(&x->walk.arena, text, strcspn(text, "\n"));
    free(text);
    return b->from ? SPAA_OK : sp_nomem(run->diags);
}

static spaa_status read_file(struct sp_run *run, size_t number, const char *part, struct symbols_store *x,
                             struct symbols_build *b)
{
    const char *path = x->walk.paths.v[number];
    struct stat is, other;
    if (stat(path, &is) != 0) /* removed meanwhile */
        return SPAA_OK;
    if (strcmp(part, SP_STORE_FROM) == 0)
        return read_from(run, path, x, b);
    bool twice = false; /* a binary that is its own debug file */
    for (size_t i = b->first; i < number && !twice; i++)
        twice =
            stat(x->walk.paths.v[i], &other) == 0 && other.st_ino == is.st_ino && other.st_dev == is.st_dev;
    b->bytes += twice ? 0 : (uint64_t)is.st_size;
    b->used = is.st_atime > b->used ? is.st_atime : b->used;
    for (unsigned k = 1; k < KINDS; k++)
        if (strncmp(part + (*part == '.'), kinds[k], strlen(kinds[k])) == 0)
            b->parts |= 1u << k;
    b->parts |= *part ? 0u : 1u << SYMBOLS_FILE;
    return SPAA_OK;
}

static int by_use(const void *a, const void *b)
{
    const struct symbols_build *x = a, *y = b;
    return x->used != y->used ? (x->used < y->used ? 1 : -1) : strcmp(x->id, y->id);
}

static spaa_status read_all(struct sp_run *run, size_t skip, struct symbols_store *x)
{
    spaa_status st = SPAA_OK;
    char id[SP_STORE_ID_ROOM], part[SP_STORE_PART_ROOM];
    for (size_t i = 0; i < x->walk.paths.n && !st; i++) {
        if (!sp_store_name(x->walk.paths.v[i] + skip, id, part))
            continue;
        struct symbols_build *last = x->v.n ? &x->v.v[x->v.n - 1] : NULL;
        if (!last || strcmp(last->id, id) != 0) {
            struct symbols_build fresh = {.first = i};
            memcpy(fresh.id, id, sizeof id);
            if (!sp_vec_push(&x->v, fresh))
                return sp_nomem(run->diags);
            last = &x->v.v[x->v.n - 1];
        }
        st = read_file(run, i, part, x, last);
        last->n = i + 1 - last->first;
    }
    size_t n = 0; /* what others removed meanwhile is gone */
    for (size_t i = 0; i < x->v.n; i++)
        if (x->v.v[i].parts)
            x->v.v[n++] = x->v.v[i];
    x->v.n = n;
    for (size_t i = 0; i < n; i++)
        x->bytes += x->v.v[i].bytes;
    if (n)
        qsort(x->v.v, n, sizeof *x->v.v, by_use);
    return st;
}

spaa_status sp_run_symbols_read(struct sp_run *run, const char *store, struct symbols_store *out)
{
    struct sp_buf b;
    struct stat is;
    spaa_status st = SPAA_OK;
    *out = (struct symbols_store){0};
    sp_buf_init(&b, PATH_MAX);
    sp_buf_printf(&b, "%s/.build-id", store);
    if (b.failed)
        st = sp_nomem(run->diags);
    else if (stat(sp_buf_cstr(&b), &is) == 0) {
        st = sp_walk_folder(b.data, run->diags, &out->walk);
        st = st ? st : read_all(run, b.len + 1, out);
    }
    sp_buf_free(&b);
    return st;
}

/* ---- shown ---- */

static void time_text(int64_t seconds, bool json, char out[static 32])
{
    time_t t = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(out, 32, json ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &tm))
        snprintf(out, 32, "?");
}

static void show_json(struct sp_run *run, const char *store, const struct symbols_store *x, bool gc)
{
    struct sp_jw w;
    char used[32];
    sp_jw_init(&w, run->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.symbols/1");
    sp_jw_cstr(&w, "store", store);
    sp_jw_u64(&w, "bytes", x->bytes);
    if (gc)
        sp_jw_bool(&w, "dry_run", run->v.gc_dry_run != NULL);
    sp_jw_open(&w, gc ? "removed" : "builds", '[');
    for (size_t i = 0; i < x->v.n; i++) {
        const struct symbols_build *b = &x->v.v[i];
        if (gc && !b->removed)
            continue;
        time_text(b->used, true, used);
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "build_id", b->id);
        sp_jw_u64(&w, "bytes", b->bytes);
        sp_jw_cstr(&w, "used", used);
        sp_jw_cstr(&w, "from", b->from);
        sp_jw_open(&w, "parts", '[');
        for (unsigned k = 0; k < KINDS; k++)
            if (b->parts & 1u << k)
                sp_jw_cstr(&w, NULL, kinds[k]);
        sp_jw_close(&w, ']');
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_run_json_close(run, &w);
}

static void show_row(struct sp_table *t, const struct symbols_build *s, bool csv, struct sp_buf *b)
{
    char used[32];
    time_text(s->used, false, used);
    sp_table_printf(t, "%s", s->id);
    sp_buf_clear(b);
    if (csv)
        sp_buf_u64(b, s->bytes);
    else
        sp_text_bytes(b, (int64_t)s->bytes, 0);
    t->failed |= b->failed;
    sp_table_cell(t, b->data, b->len);
    sp_table_printf(t, "%s", used);
    sp_buf_clear(b);
    for (unsigned k = 0; k < KINDS; k++)
        if (s->parts & 1u << k)
            sp_buf_printf(b, "%s%s", b->len ? "," : "", kinds[k]);
    t->failed |= b->failed;
    sp_table_cell(t, b->data, b->len);
    sp_table_printf(t, "%s", s->from ? s->from : "-");
}

static int show_table(struct sp_run *run, const struct symbols_store *x, bool gc)
{
    static const struct sp_table_column columns[] = {{"build-id", false, SP_CUT_LAST},
                                                     {"size", true, SP_CUT_NEVER},
                                                     {"last used (UTC)", false, SP_CUT_NEVER},
                                                     {"parts", false, SP_CUT_NEVER},
                                                     {"from", false, SP_CUT_FIRST}};
    struct sp_table t;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_table_init(&t, columns, 5);
    for (size_t i = 0; i < x->v.n; i++)
        if (!gc || x->v.v[i].removed)
            show_row(&t, &x->v.v[i], run->form == SP_FORM_CSV, &b);
    int rc = sp_run_table_write(run, &t);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

/* "2 builds, 3.10 MiB in /home/a/.cache/spaa/symbols". */
static int show_sum(struct sp_run *run, const char *store, const struct symbols_store *x, bool gc)
{
    struct sp_buf b;
    size_t removed = 0, in_use = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < x->v.n; i++) {
        removed += x->v.v[i].removed;
        in_use += x->v.v[i].in_use;
        bytes += x->v.v[i].removed ? x->v.v[i].bytes : 0;
    }
    sp_buf_init(&b, 0);
    sp_text_bytes(&b, (int64_t)(gc ? bytes : x->bytes), 0);
    size_t n = gc ? removed : x->v.n;
    sp_buf_printf(&b, " in %zu build%s", n, n == 1 ? "" : "s");
    if (gc)
        sp_buf_puts(&b, run->v.gc_dry_run ? " would be removed, " : " removed, ");
    if (gc) {
        sp_text_bytes(&b, (int64_t)(x->bytes - bytes), 0);
        sp_buf_puts(&b, " left");
    }
    if (in_use)
        sp_buf_printf(&b, "; %zu used within the last hour stay%s", in_use, in_use == 1 ? "s" : "");
    if (!b.failed)
        sp_printf(run->out, "%s; the store is %s\n", sp_buf_cstr(&b), store);
    int rc = b.failed ? sp_run_exit(run, sp_nomem(run->diags)) : SP_EXIT_FINE;
    sp_buf_free(&b);
    return rc;
}

int sp_run_symbols_show(struct sp_run *run, const char *store, const struct symbols_store *x, bool gc)
{
    int rc = sp_run_stdout(run);
    bool any = !gc && x->v.n;
    for (size_t i = 0; i < x->v.n; i++)
        any |= x->v.v[i].removed;
    if (rc)
        return rc;
    if (run->form == SP_FORM_JSON) {
        show_json(run, store, x, gc);
        return SP_EXIT_FINE;
    }
    if (any || run->form != SP_FORM_TEXT)
        rc = show_table(run, x, gc);
    return rc || run->form != SP_FORM_TEXT ? rc : show_sum(run, store, x, gc);
}

int sp_run_symbols_list(struct sp_run *run, const char *store)
{
    struct symbols_store x;
    spaa_status st = sp_run_symbols_read(run, store, &x);
    int rc = st ? sp_run_exit(run, st) : sp_run_symbols_show(run, store, &x, false);
    sp_run_symbols_store_free(&x);
    return rc;
}
