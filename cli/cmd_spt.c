/*
 * spaa spt match: which binaries and PDBs an SPT file belongs to.
 *
 * SPDConvert and the linker refuse a profile whose GUID or age differs from the image's ("SPD version
 * incompatible"): this compares both sides before. Of a folder all images and PDBs in it are compared.
 */
#include "inside.h"

#include "run/heading.h"
#include "run/walk.h"

#include "answer/text.h"
#include "formats/common/spt/match.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const verdicts[] = {"match",   "age differs", "GUID differs",    "not in the trace",
                                       "no RSDS", "cut off",     "not a PE or PDB", "unreadable"};

struct matcher {
    struct sp_diags *d;
    struct sp_spt file;
    struct sp_spt_tallies tallies;
    struct sp_spt_sum *hits; /* by program: of all opcodes */
    bool *matched;
    SP_VEC(struct sp_spt_binary) found;
    SP_VEC(struct walk) folders; /* whose paths are used */
    size_t matches;
    bool unread; /* a file that was named */
};

/* A file; what is in a folder and is no image or PDB is passed over, but not what is a part of something. */
static spaa_status cmd_spt_judge(struct matcher *m, const char *path, bool named)
{
    struct sp_spt_binary x;
    sp_spt_judge(&m->file, path, m->d, m->matched, &x);
    if (x.why)
        sp_emit_hint(m->d, SP_W312, SP_AT_NOTHING, "", "%s is %s", path, x.why);
    else if (x.verdict == SP_SPT_CUT)
        sp_emit_hint(m->d, SP_W312, SP_AT_NOTHING, "whether it is of the trace cannot be told",
                     "%s is an image that was cut off at byte %llu: its headers say that it has %llu", path,
                     (unsigned long long)x.size, (unsigned long long)x.reach);
    if (!named && x.verdict > SP_SPT_NO_RSDS && x.verdict != SP_SPT_CUT)
        return SPAA_OK;
    m->matches += x.verdict == SP_SPT_MATCH;
    if (named && x.verdict == SP_SPT_UNREADABLE) {
        m->unread = true;
        sp_emit(m->d, access(path, F_OK) ? SP_E001 : SP_E002, SP_AT_NOTHING, "%s", path);
    }
    return sp_vec_push(&m->found, x) ? SPAA_OK : sp_nomem(m->d);
}

static spaa_status cmd_spt_folder(struct matcher *m, const char *path)
{
    struct walk w;
    spaa_status st = sp_walk_folder(path, m->d, &w);
    if (!st && !sp_vec_push(&m->folders, w))
        st = sp_nomem(m->d);
    else if (!st)
        for (size_t i = 0; i < w.paths.n && !st; i++)
            st = sp_leaving(m->d, i) ? SPAA_ERR_CANCELLED : cmd_spt_judge(m, w.paths.v[i], false);
    if (st && !(m->folders.n && m->folders.v[m->folders.n - 1].paths.v == w.paths.v))
        sp_walk_free(&w);
    return st;
}

/* Hits of each program, so that it shows which of the unmatched ones matter. */
static spaa_status cmd_spt_count(struct sp_run *run, struct matcher *m, struct sp_input *in)
{
    struct sp_spt_stream s;
    struct sp_spt_record r;
    spaa_status st = SPAA_OK;
    sp_spt_begin(&s, in, &m->file, run->diags);
    while (!(st = sp_spt_next(&s, &r)) && r.what != SP_SPT_END)
        if (!sp_spt_tally_add(&m->tallies, &r))
            return sp_nomem(run->diags);
    for (uint32_t i = 0; i < m->tallies.n && i < m->file.nprograms; i++)
        for (int k = 0; k < SP_SPT_KINDS; k++) {
            sp_spt_add(&m->hits[i], m->tallies.v[i].hits[k].low);
            m->hits[i].high += m->tallies.v[i].hits[k].high;
        }
    return st;
}

static void json_id(struct sp_jw *w, const struct sp_rsds *r)
{
    char t[SP_RSDS_KEY_ROOM];
    sp_guid_text(r->guid, t);
    sp_jw_cstr(w, "guid", t);
    sp_jw_u64(w, "age", r->age);
    sp_rsds_key(r, true, t);
    sp_jw_cstr(w, "pdb_key", t);
    sp_rsds_key(r, false, t);
    sp_jw_cstr(w, "build_id", t);
}

static void json_program(struct sp_jw *w, const char *key, const struct matcher *m, uint32_t program)
{
    const struct sp_spt_program *p = &m->file.programs[program];
    struct sp_buf b;
    sp_jw_open(w, key, '{');
    sp_jw_u64(w, "id", program);
    sp_jw_str(w, "name", p->name.p, p->name.n);
    json_id(w, &p->rsds);
    sp_buf_init(&b, 0);
    sp_spt_sum_text(&b, m->hits[program]);
    sp_jw_raw(w, "hits", b.data, b.len);
    sp_buf_free(&b);
    sp_jw_close(w, '}');
}

static int cmd_spt_answer_json(struct sp_run *run, const struct matcher *m)
{
    static const char *const words[] = {"match",   "age_differs", "guid_differs", "not_in_trace",
                                        "no_rsds", "cut_off",     "not_pe",       "unreadable"};
    struct sp_jw w;
    sp_jw_init(&w, run->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.spt_match/1");
    sp_jw_cstr(&w, "file", run->files.v[1]);
    sp_jw_u64(&w, "matches", m->matches);
    sp_jw_open(&w, "binaries", '[');
    for (size_t i = 0; i < m->found.n; i++) {
        const struct sp_spt_binary *x = &m->found.v[i];
        sp_jw_open(&w, NULL, '{');
        sp_jw_cstr(&w, "path", x->path);
        sp_jw_cstr(&w, "verdict", words[x->verdict]);
        sp_jw_cstr(&w, "machine", x->machine);
        if (x->has_rsds)
            json_id(&w, &x->rsds);
        if (x->has_rsds && !x->is_pdb)
            sp_jw_cstr(&w, "pdb", x->pdb);
        if (x->program != UINT32_MAX)
            json_program(&w, "program", m, x->program);
        else
            sp_jw_null(&w, "program");
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "unmatched", '[');
    for (uint32_t i = 0; i < m->file.nprograms; i++)
        if (!m->matched[i])
            json_program(&w, NULL, m, i);
    sp_jw_close(&w, ']');
    sp_run_json_close(run, &w);
    return SP_EXIT_FINE;
}

static void id_cell(struct sp_table *t, const struct sp_rsds *r)
{
    char guid[SP_GUID_ROOM];
    sp_guid_text(r->guid, guid);
    sp_table_printf(t, "%s age %u", guid, r->age);
}

static int cmd_spt_answer_rows(struct sp_run *run, const struct matcher *m)
{
    /* Into a pipe or a file paths go whole: scripts take them from there. */
    const enum sp_table_cut cut = run->width ? SP_CUT_FIRST : SP_CUT_NEVER;
    const struct sp_table_column columns[] = {{"verdict", false, SP_CUT_NEVER},
                                              {"binary", false, cut},
                                              {"its GUID and age", false, SP_CUT_NEVER},
                                              {"in the trace", false, cut},
                                              {"GUID and age there", false, SP_CUT_NEVER}};
    struct sp_table t;
    sp_table_init(&t, columns, 5);
    for (size_t i = 0; i < m->found.n; i++) {
        const struct sp_spt_binary *x = &m->found.v[i];
        sp_table_printf(&t, "%s", verdicts[x->verdict]);
        sp_table_cell(&t, x->path, strlen(x->path));
        if (x->has_rsds)
            id_cell(&t, &x->rsds);
        else
            sp_table_cell(&t, "-", 1);
        if (x->program == UINT32_MAX) {
            sp_table_cell(&t, "-", 1);
            sp_table_cell(&t, "-", 1);
        } else {
            const struct sp_spt_program *p = &m->file.programs[x->program];
            sp_table_cell(&t, p->name.p, p->name.n);
            if (x->verdict == SP_SPT_MATCH)
                sp_table_printf(&t, "the same");
            else
                id_cell(&t, &p->rsds);
        }
    }
    int rc = sp_run_table_write(run, &t);
    sp_table_free(&t);
    return rc;
}

/* The binaries of the trace that none of the files is. */
static void answer_unmatched(struct sp_run *run, const struct matcher *m)
{
    struct sp_buf b;
    char guid[SP_GUID_ROOM];
    if (run->form != SP_FORM_TEXT)
        return;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < m->file.nprograms; i++) {
        const struct sp_spt_program *p = &m->file.programs[i];
        if (m->matched[i])
            continue;
        sp_buf_puts(&b, b.len ? "  " : "\nin the trace, without a match:\n  ");
        sp_text_safe(&b, p->name.p, p->name.n);
        sp_guid_text(p->rsds.guid, guid);
        sp_buf_printf(&b, "  %s age %u, ", guid, p->rsds.age);
        sp_spt_sum_text(&b, m->hits[i]);
        sp_buf_puts(&b, " hits\n");
    }
    sp_write(run->out, b.data, b.len);
    sp_buf_free(&b);
}

static spaa_status cmd_spt_match(struct sp_run *run, struct matcher *m, struct sp_input *in)
{
    spaa_status st = sp_spt_open(in, run->diags, &m->file);
    if (st)
        return st;
    size_t programs = (size_t)m->file.nprograms + 1;
    m->hits = calloc(programs, sizeof *m->hits);
    m->matched = calloc(programs, sizeof *m->matched);
    if (!m->hits || !m->matched)
        return sp_nomem(run->diags);
    st = cmd_spt_count(run, m, in);
    for (size_t i = 2; i < run->files.n && !st; i++) {
        struct stat is;
        if (!stat(run->files.v[i], &is) && S_ISDIR(is.st_mode))
            st = cmd_spt_folder(m, run->files.v[i]);
        else
            st = cmd_spt_judge(m, run->files.v[i], true);
    }
    return st;
}

int cmd_spt(void *cli, struct sp_run *run)
{
    (void)cli;
    struct matcher m = {.d = run->diags};
    struct sp_input *in = NULL;
    if (!run->files.n || strcmp(run->files.v[0], "match") != 0)
        return sp_run_usage(run, "spaa spt match FILE.spt BINARY|PDB|FOLDER…",
                            run->files.n ? "spt has no command %s" : "spt needs a command%.0s",
                            run->files.n ? run->files.v[0] : "");
    if (run->files.n < 3)
        return sp_run_usage(run, "spaa spt match FILE.spt BINARY|PDB|FOLDER…",
                            "spt match needs an SPT file, and binaries, PDBs or folders");
    sp_diags_source(run->diags, run->files.v[1], "spt");
    spaa_status st = sp_input_open(run->files.v[1], run->diags, &in);
    if (!st)
        st = cmd_spt_match(run, &m, in);
    if (!st)
        st = sp_input_failed(in);
    sp_input_close(in);
    sp_diags_source(run->diags, NULL, NULL);
    int rc = st ? sp_run_exit(run, st) : sp_run_stdout(run);
    if (!rc)
        rc = run->form == SP_FORM_JSON ? cmd_spt_answer_json(run, &m) : cmd_spt_answer_rows(run, &m);
    if (!rc && run->form != SP_FORM_JSON)
        answer_unmatched(run, &m);
    if (!rc && m.unread)
        rc = SP_EXIT_IO;
    if (!rc && !m.matches)
        rc = SP_EXIT_NO;
    sp_spt_tallies_free(&m.tallies);
    sp_spt_close(&m.file);
    free(m.hits);
    free(m.matched);
    for (size_t i = 0; i < m.folders.n; i++)
        sp_walk_free(&m.folders.v[i]);
    sp_vec_free(&m.folders);
    sp_vec_free(&m.found);
    return rc;
}
