/* What became of the files that were to be kept. */
#include "run/symbols.h"

#include "answer/text.h"
#include "answer/words.h"
#include "run/heading.h"

#include <stdio.h>

enum { TOLD_MAX = 10 };

static const char *status_name(enum symbols_status status, bool packing)
{
    static const char *const names[] = {"added", "already there", "not found", "not kept"};
    return packing && status == SYMBOLS_ADDED ? "packed" : names[status];
}

/* What a part is called: "file", "debug", "kallsyms". */
static const char *part_name(const char *part, char out[static SP_STORE_PART_ROOM])
{
    snprintf(out, SP_STORE_PART_ROOM, "%s", *part ? part + 1 : "file");
    out[strcspn(out, ".")] = '\0';
    return out;
}

static void answer_json(struct sp_run *run, const struct symbols_files *x, const char *store,
                        const char *packed)
{
    static const char *const names[] = {"added", "there", "missing", "refused"};
    struct sp_jw w;
    char part[SP_STORE_PART_ROOM];
    sp_jw_init(&w, run->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.symbols/1");
    if (store)
        sp_jw_cstr(&w, "store", store);
    else
        sp_jw_cstr(&w, "archive", packed);
    sp_jw_open(&w, "files", '[');
    for (size_t i = 0; i < x->v.n; i++) {
        const struct symbols_file *f = &x->v.v[i];
        bool kept = f->status <= SYMBOLS_THERE;
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "status", !store && kept ? "packed" : names[f->status]);
        sp_jw_cstr(&w, "name", f->name);
        sp_jw_cstr(&w, "build_id", f->id);
        sp_jw_cstr(&w, "part", f->path ? part_name(f->part, part) : NULL);
        sp_jw_cstr(&w, "path", f->path);
        if (kept)
            sp_jw_u64(&w, "bytes", f->bytes);
        if (!kept)
            sp_jw_cstr(&w, "why", f->why);
        if (!kept)
            sp_jw_cstr(&w, "hint", f->hint);
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_run_json_close(run, &w);
}

/* False: out of memory. */
static bool answer_row(struct sp_table *t, const struct symbols_file *f, bool packing, bool csv,
                       struct sp_buf *b)
{
    char part[SP_STORE_PART_ROOM];
    bool kept = f->status <= SYMBOLS_THERE;
    sp_buf_clear(b);
    if (kept && csv)
        sp_buf_u64(b, f->bytes);
    else if (kept)
        sp_text_bytes(b, (int64_t)f->bytes, 0);
    sp_table_printf(t, "%s", status_name(f->status, packing));
    sp_table_printf(t, "%s", f->id ? f->id : "-");
    sp_table_printf(t, "%s", f->path ? part_name(f->part, part) : "-");
    sp_table_cell(t, kept ? b->data : "-", kept ? b->len : 1);
    sp_table_printf(t, "%s", f->name);
    if (t->ncolumns > 5)
        sp_table_printf(t, "%s", kept ? "" : f->why);
    return !b->failed;
}

/* Why the others are not kept, a line each. */
static bool answer_why(struct sp_run *run, const struct symbols_files *x, struct sp_buf *b)
{
    size_t told = 0;
    sp_buf_clear(b);
    for (size_t i = 0; i < x->v.n; i++) {
        const struct symbols_file *f = &x->v.v[i];
        if (f->status <= SYMBOLS_THERE || told++ >= TOLD_MAX)
            continue;
        sp_text_safe(b, f->name, strlen(f->name));
        sp_buf_puts(b, ": ");
        sp_text_safe(b, f->why, strlen(f->why));
        if (f->hint && *f->hint) {
            sp_buf_puts(b, "; ");
            sp_text_safe(b, f->hint, strlen(f->hint));
        }
        sp_buf_ch(b, '\n');
    }
    if (told > TOLD_MAX)
        sp_buf_printf(b, "%zu more: --json says why\n", told - TOLD_MAX);
    if (!b->failed)
        sp_write(run->out, b->data, b->len);
    return !b->failed;
}

static int answer_table(struct sp_run *run, const struct symbols_files *x, bool packing)
{
    static const struct sp_table_column columns[] = {
        {"", false, SP_CUT_NEVER},    {"build-id", false, SP_CUT_NEVER}, {"part", false, SP_CUT_NEVER},
        {"size", true, SP_CUT_NEVER}, {"file", false, SP_CUT_FIRST},     {"why", false, SP_CUT_LAST}};
    struct sp_table t;
    struct sp_buf b;
    bool text = run->form == SP_FORM_TEXT; /* reasons have lines of their own there */
    sp_buf_init(&b, 0);
    sp_table_init(&t, columns, text ? 5 : 6);
    bool ok = true;
    for (size_t i = 0; i < x->v.n && ok; i++)
        ok = answer_row(&t, &x->v.v[i], packing, run->form == SP_FORM_CSV, &b);
    int rc = ok ? sp_run_table_write(run, &t) : SP_EXIT_FINE;
    if (ok && !rc && text)
        ok = answer_why(run, x, &b);
    sp_buf_free(&b);
    sp_table_free(&t);
    return ok ? rc : sp_run_exit(run, sp_nomem(run->diags));
}

int sp_run_symbols_answer(struct sp_run *run, const struct symbols_files *x, const char *store,
                          const char *packed)
{
    size_t n[4] = {0};
    int rc = sp_run_stdout(run);
    for (size_t i = 0; i < x->v.n; i++)
        n[x->v.v[i].status]++;
    if (rc)
        return rc;
    if (run->form == SP_FORM_JSON)
        answer_json(run, x, store, packed);
    else if (x->v.n)
        rc = answer_table(run, x, !store);
    if (!rc && run->form == SP_FORM_TEXT && store)
        sp_printf(run->out, "%zu added, %zu already there, %zu not kept; the store is %s\n", n[SYMBOLS_ADDED],
                  n[SYMBOLS_THERE], n[SYMBOLS_MISSING] + n[SYMBOLS_REFUSED], store);
    else if (!rc && run->form == SP_FORM_TEXT)
        sp_printf(run->out, "%zu packed into %s, %zu not\n", n[SYMBOLS_ADDED], packed,
                  n[SYMBOLS_MISSING] + n[SYMBOLS_REFUSED]);
    return rc || n[SYMBOLS_ADDED] + n[SYMBOLS_THERE] ? rc : SP_EXIT_NO;
}
