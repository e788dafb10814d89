/*
 * The public interface with somebody watching who leaves: every call is made over every fixture, and left at
 * the first, second, ... time that it asks. Then it gives nothing, says why, and leaves nothing behind, in
 * memory or as a file; the profile is as it was. While nobody leaves, the result is that of a call that
 * nobody watches, and progress goes forward.
 */
#include "heap.h"
#include "spaa/spaa.h"
#include "sweep.h"

#include "base/watch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/watch_sweepXXXXXX";

/* ---- who watches ---- */

struct viewer {
    unsigned long calls, leave_at; /* 0: never */
    char what[32], name[300];
    uint64_t done, whole;
    const char *wrong;
};

static int hear(void *arg, const struct spaa_progress *now)
{
    struct viewer *v = arg;
    bool same = strcmp(v->what, now->what) == 0 && strcmp(v->name, now->name) == 0 && v->whole == now->whole;
    if (now->size != sizeof *now || !*now->what || !now->unit)
        v->wrong = "progress without words";
    if (now->whole && now->done > now->whole)
        v->wrong = "more done than there is";
    if (same && now->done < v->done)
        v->wrong = "progress goes back";
    if (v->leave_at && v->calls >= v->leave_at)
        v->wrong = "asked again after it was left";
    snprintf(v->what, sizeof v->what, "%s", now->what);
    snprintf(v->name, sizeof v->name, "%s", now->name);
    v->done = now->done;
    v->whole = now->whole;
    return ++v->calls == v->leave_at;
}

/* ---- what is watched ---- */

struct subject {
    const struct sweep_file *file;
    struct spaa_profile *p; /* opened; NULL: the call opens it */
    char *spaa;             /* the same as SPAA; NULL: it cannot be written */
    size_t spaa_size;
    const char *function;
};

/* What a call gave, as text; NULL: nothing. */
struct result {
    char *text;
    size_t n;
    struct spaa_diagnostics *said;
};

struct call {
    const char *kind, *arg;
    spaa_status (*run)(const struct subject *s, const char *arg, const struct spaa_watch *w,
                       struct result *out);
};

static spaa_status result_of_profile(struct spaa_profile *p, struct result *out)
{
    struct spaa_write_options o = {.size = sizeof o, .format = "spaa"};
    spaa_status st = spaa_profile_write_memory(p, &out->text, &out->n, &o, NULL);
    spaa_profile_free(p);
    return st;
}

static spaa_status run_open(const struct subject *s, const char *arg, const struct spaa_watch *w,
                            struct result *out)
{
    struct spaa_open_options o = {
        .size = sizeof o, .samples = 1, .no_symbols = strcmp(arg, "names") != 0, .watch = w};
    struct spaa_profile *p = NULL;
    spaa_status st = spaa_profile_open_memory(s->file->bytes, s->file->n, "file", &o, &p, &out->said);
    return st ? st : result_of_profile(p, out);
}

static spaa_status run_coarse(const struct subject *s, const char *arg, const struct spaa_watch *w,
                              struct result *out)
{
    struct spaa_open_options o = {.size = sizeof o, .frames = "function", .group_by = arg, .watch = w};
    struct spaa_profile *p = NULL;
    spaa_status st = spaa_profile_open_memory(s->spaa, s->spaa_size, "file", &o, &p, &out->said);
    return st ? st : result_of_profile(p, out);
}

static spaa_status ask(struct spaa_profile **p, size_t n, struct spaa_ask_options *o, struct result *out)
{
    struct spaa_answer *a = NULL;
    spaa_status st = spaa_ask(p, n, o, &a, &out->said);
    if (!st)
        st = spaa_answer_render(a, NULL, &out->text, &out->n, NULL);
    spaa_answer_free(a);
    return st;
}

static spaa_status run_ask(const struct subject *s, const char *arg, const struct spaa_watch *w,
                           struct result *out)
{
    struct spaa_profile *p[2] = {s->p, s->p};
    struct spaa_ask_options o = {.size = sizeof o, .question = arg, .watch = w};
    o.argument = strcmp(arg, "function") == 0 ? s->function : NULL;
    o.split = strcmp(arg, "diff") == 0;
    return ask(p, o.split ? 2 : 1, &o, out);
}

/* Two as one, and one told apart anew by what its samples know. */
static spaa_status run_ask_joined(const struct subject *s, const char *arg, const struct spaa_watch *w,
                                  struct result *out)
{
    struct spaa_profile *p[2] = {s->p, s->p};
    struct spaa_ask_options o = {.size = sizeof o, .question = arg, .watch = w};
    return ask(p, 2, &o, out);
}

static spaa_status open_spaa(const struct subject *s, struct spaa_profile **p)
{
    struct spaa_open_options how = {.size = sizeof how, .samples = 1};
    return spaa_profile_open_memory(s->spaa, s->spaa_size, "file", &how, p, NULL);
}

/* A profile that a question left answers as one that nobody asked before. SPAA_ERR_BUG: it does not. */
static spaa_status answers_as_new(const struct subject *s, struct spaa_profile *left,
                                  struct spaa_ask_options o)
{
    struct spaa_profile *fresh = NULL;
    struct result x = {0}, y = {0};
    o.watch = NULL;
    spaa_status st = open_spaa(s, &fresh);
    if (!st)
        st = ask(&fresh, 1, &o, &x);
    if (!st)
        st = ask(&left, 1, &o, &y);
    if (!st && (x.n != y.n || memcmp(x.text, y.text, x.n) != 0))
        st = SPAA_ERR_BUG;
    spaa_free(x.text);
    spaa_free(y.text);
    spaa_diagnostics_free(x.said);
    spaa_diagnostics_free(y.said);
    spaa_profile_free(fresh);
    return st;
}

static spaa_status run_ask_regrouped(const struct subject *s, const char *arg, const struct spaa_watch *w,
                                     struct result *out)
{
    struct spaa_ask_option by = {"by", arg};
    struct spaa_ask_options o = {
        .size = sizeof o, .question = "top", .options = &by, .option_count = 1, .watch = w};
    struct spaa_profile *p = NULL;
    spaa_status st = open_spaa(s, &p);
    if (!st)
        st = ask(&p, 1, &o, out);
    if (st == SPAA_ERR_CANCELLED) {
        spaa_status again = answers_as_new(s, p, o);
        st = again == SPAA_ERR_BUG ? again : st;
    }
    spaa_profile_free(p);
    return st;
}

static spaa_status run_write(const struct subject *s, const char *arg, const struct spaa_watch *w,
                             struct result *out)
{
    struct spaa_write_options o = {.size = sizeof o, .format = arg, .watch = w};
    return spaa_profile_write_memory(s->p, &out->text, &out->n, &o, &out->said);
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n == 2; /* . and .. */
}

static spaa_status run_write_file(const struct subject *s, const char *arg, const struct spaa_watch *w,
                                  struct result *out)
{
    char path[100];
    struct spaa_write_options o = {.size = sizeof o, .watch = w};
    snprintf(path, sizeof path, "%s/%s", folder, arg);
    spaa_status st = spaa_profile_write(s->p, path, &o, &out->said);
    if (st == SPAA_OK)
        unlink(path);
    return is_empty(folder) ? st : SPAA_ERR_BUG;
}

static spaa_status run_merge(const struct subject *s, const char *arg, const struct spaa_watch *w,
                             struct result *out)
{
    struct spaa_profile *p[2] = {s->p, s->p}, *merged = NULL;
    struct spaa_merge_options o = {.size = sizeof o, .samples = *arg != 0, .watch = w};
    spaa_status st = spaa_merge(p, 2, &o, &merged, &out->said);
    return st ? st : result_of_profile(merged, out);
}

static spaa_status run_merge_files(const struct subject *s, const char *arg, const struct spaa_watch *w,
                                   struct result *out)
{
    const char *paths[] = {s->file->path, s->file->path, s->file->path};
    struct spaa_open_options how = {.size = sizeof how, .no_symbols = 1, .jobs = *arg == '2' ? 2 : 1};
    struct spaa_merge_options o = {.size = sizeof o, .skip_bad = *arg != '2', .watch = w};
    struct spaa_profile *merged = NULL;
    spaa_status st = spaa_merge_files(paths, 3, &how, &o, &merged, &out->said);
    return st ? st : result_of_profile(merged, out);
}

static spaa_status run_query(const struct subject *s, const char *arg, const struct spaa_watch *w,
                             struct result *out)
{
    struct spaa_query_options o = {.size = sizeof o, .sql = arg, .watch = w};
    struct spaa_result *r = NULL;
    spaa_status st = spaa_query(s->p, &o, &r, &out->said);
    struct spaa_result_column c = {.size = sizeof c};
    if (!st && spaa_result_column_get(r, 0, &c) == SPAA_OK && (out->text = calloc(c.rows + 1, 20))) {
        for (size_t i = 0; i < c.rows; i++)
            out->n += (size_t)snprintf(out->text + out->n, 20, "%.3g %.10s;", c.reals[i],
                                       c.texts[i] ? c.texts[i] : "");
    }
    spaa_result_free(r);
    return st;
}

static spaa_status run_validate(const struct subject *s, const char *arg, const struct spaa_watch *w,
                                struct result *out)
{
    struct spaa_validate_options o = {.size = sizeof o, .watch = w};
    struct spaa_verdict v = {.size = sizeof v};
    (void)arg;
    spaa_status st = spaa_validate(s->file->path, &o, &v, &out->said);
    if (!st && (out->text = calloc(1, 100)))
        out->n = (size_t)snprintf(out->text, 100, "%d %llu %llu", v.valid, (unsigned long long)v.errors,
                                  (unsigned long long)v.warnings);
    return st;
}

static const struct call calls[] = {
    {"open", "", run_open},
    {"open", "names", run_open},
    {"coarsen", "pid", run_coarse},
    {"ask", "summary", run_ask},
    {"ask", "top", run_ask},
    {"ask", "tree", run_ask},
    {"ask", "function", run_ask},
    {"ask", "stacks", run_ask},
    {"ask", "timeline", run_ask},
    {"ask", "leaks", run_ask},
    {"ask", "diff", run_ask},
    {"ask", "waits", run_ask},
    {"ask", "info", run_ask},
    {"ask two", "top", run_ask_joined},
    {"ask again", "cpu", run_ask_regrouped},
    {"ask again", "label:k", run_ask_regrouped},
    {"write", "spaa", run_write},
    {"write", "folded", run_write},
    {"write", "pprof", run_write},
    {"write", "perf-script", run_write},
    {"write", "codeguru", run_write},
    {"write", "dtrace", run_write},
    {"write", "bpftrace", run_write},
    {"write", "spindump", run_write},
    {"write", "sample", run_write},
    {"write", "spt", run_write},
    {"file", "a.spaa", run_write_file},
    {"file", "a.spaa.zst", run_write_file},
    {"file", "a.folded.gz", run_write_file},
    {"merge", "", run_merge},
    {"merge", "samples", run_merge},
    {"merge files", "", run_merge_files},
    {"merge files", "2", run_merge_files},
    {"query", "select name from functions order by total, name", run_query},
    {"query", "select count(*) from nodes a, frames b", run_query},
    {"query", "select self_percent from ask_top", run_query},
    {"query", "select time from samples order by time", run_query},
    {"validate", "", run_validate},
};

/* ---- each call, left at each time ---- */

static void result_free(struct result *r)
{
    spaa_free(r->text);
    spaa_diagnostics_free(r->said);
    *r = (struct result){0};
}

static bool same_result(const struct result *a, const struct result *b)
{
    return a->n == b->n && (!a->n || memcmp(a->text, b->text, a->n) == 0);
}

static int complain(const struct subject *s, const struct call *c, unsigned long at, spaa_status st,
                    const char *what)
{
    printf("%s: %s %s, left at %lu: %s: %s\n", s->file->path, c->kind, c->arg, at, spaa_status_name(st),
           what);
    return 1;
}

/* How often a code stands in what was said. */
static size_t said(const struct result *r, const char *code)
{
    size_t found = 0;
    for (size_t i = 0; i < spaa_diagnostics_count(r->said); i++) {
        struct spaa_diagnostic d = {.size = sizeof d};
        if (spaa_diagnostics_get(r->said, i, &d) == SPAA_OK)
            found += strcmp(d.code, code) == 0;
    }
    return found;
}

static unsigned long left_calls;

static int leave_at(const struct subject *s, const struct call *c, unsigned long at)
{
    struct viewer v = {.leave_at = at};
    struct spaa_watch w = {.size = sizeof w, .progress = hear, .arg = &v, .every_ms = SP_WATCH_ALL};
    struct result r = {0};
    int bad = 0;
    spaa_status st = c->run(s, c->arg, &w, &r);
    bool left = v.calls >= at; /* threads do not always ask as often */
    if (v.wrong)
        bad = complain(s, c, at, st, v.wrong);
    else if (left && (st != SPAA_ERR_CANCELLED || r.text))
        bad = complain(s, c, at, st, "it was left and went on");
    else if (left && (said(&r, "SPAA-I329") != 1 || said(&r, "SPAA-E008")))
        bad = complain(s, c, at, st, "it does not say that it was left");
    left_calls += left;
    result_free(&r);
    return bad;
}

static int try_call(const struct subject *s, const struct call *c)
{
    struct viewer v = {0};
    struct spaa_watch w = {.size = sizeof w, .progress = hear, .arg = &v, .every_ms = SP_WATCH_ALL};
    struct result alone = {0}, watched = {0}, after = {0};
    spaa_status st = c->run(s, c->arg, NULL, &alone), again = c->run(s, c->arg, &w, &watched);
    int bad = 0;
    if (v.wrong)
        bad += complain(s, c, 0, again, v.wrong);
    if (st != again || !same_result(&alone, &watched))
        bad += complain(s, c, 0, again, "another result than when nobody watches");
    if (!st && !v.calls)
        bad += complain(s, c, 0, again, "it never asks");
    for (unsigned long at = 1; at <= v.calls && bad < 3;
         at = at < 4 ? at + sweep_part() : at * 7 / 4 * sweep_part())
        bad += leave_at(s, c, at);
    if (v.calls && bad < 3)
        bad += leave_at(s, c, v.calls);
    if (c->run(s, c->arg, NULL, &after) != st || !same_result(&alone, &after))
        bad += complain(s, c, 0, st, "another result after it was left");
    result_free(&alone);
    result_free(&watched);
    result_free(&after);
    return bad;
}

static int watch_file(const struct sweep_file *f)
{
    struct spaa_open_options o = {.size = sizeof o, .samples = 1, .no_symbols = 1};
    struct spaa_function first = {.size = sizeof first};
    struct subject s = {.file = f};
    int bad = 0;
    if (spaa_profile_open_memory(f->bytes, f->n, "file", &o, &s.p, NULL))
        return 0;
    s.function = spaa_profile_function(s.p, 0, &first) == SPAA_OK ? first.name : "none";
    spaa_profile_write_memory(s.p, &s.spaa, &s.spaa_size, NULL, NULL);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        long before = atomic_load(&heap.live);
        bool opens = strncmp(calls[i].kind, "open", 4) == 0 || strcmp(calls[i].kind, "coarsen") == 0 ||
                     strcmp(calls[i].kind, "validate") == 0 || strcmp(calls[i].kind, "merge files") == 0;
        int now = try_call(&s, &calls[i]);
        if (!now && opens && atomic_load(&heap.live) != before)
            now = complain(&s, &calls[i], 0, SPAA_OK, "memory is left");
        bad += now;
    }
    spaa_free(s.spaa);
    spaa_profile_free(s.p);
    return bad;
}

/* What libraries keep is there after the first time. */
static int watch_file_twice(const struct sweep_file *f)
{
    int bad = watch_file(f);
    long before = atomic_load(&heap.live);
    bad += watch_file(f);
    if (!bad && atomic_load(&heap.live) != before) {
        printf("%s: %ld pieces left\n", f->path, atomic_load(&heap.live) - before);
        bad++;
    }
    return bad;
}

int main(int argc, char **argv)
{
    if (!mkdtemp(folder))
        return 1;
    int bad = sweep_files(argc, argv, 64 << 10, watch_file_twice);
    rmdir(folder);
    printf("%lu calls left, %d failures\n", left_calls, bad);
    return bad || left_calls < 100;
}
