#include "mcp/answer.h"

#include "mcp/words.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BUDGET = 600,
    SQL_JSON_BUDGET = 6000,
    TOKEN = 3, /* characters, as --budget counts them */
    ROWS = 1000,
    TRIES = 6
};

struct answering {
    struct sp_mcp *s;
    struct sp_mcp_call *call;
    struct sp_mcp_arguments args;
    struct sp_mcp_book **books; /* the call's, args.profiles.n */
    bool taken;
    struct sp_buf text; /* of the answer, or of what is wrong */
    bool is_json;       /* text is an object */
};

/* How the command went. */
struct ran {
    char *text;
    size_t n;
    struct spaa_run_result result;
    struct spaa_diagnostics *said;
    spaa_status status;
};

/* ---- the message ---- */

static void answer_message(const struct answering *x, bool error, struct sp_buf *out)
{
    sp_mcp_result_begin(out, &x->call->id);
    sp_buf_puts(out, x->call->modern ? "{\"resultType\":\"complete\"," : "{");
    sp_buf_puts(out, "\"content\":[{\"type\":\"text\",\"text\":");
    sp_json_string(out, x->text.data ? x->text.data : "", x->text.len);
    sp_buf_puts(out, "}]");
    if (x->is_json && !error) {
        sp_buf_puts(out, ",\"structuredContent\":");
        sp_buf_add(out, x->text.data, x->text.len);
    }
    sp_buf_puts(out, error ? ",\"isError\":true}}" : ",\"isError\":false}}");
    out->failed |= x->text.failed;
}

/* ---- what the answer itself does not say ---- */

/*
 * Losses, and of what the answer did not tell (the first `told`) warnings, and notes where they are wanted:
 * what the command line has on standard error.
 */
static void answer_said(const struct ran *r, bool notes, struct sp_buf *out)
{
    struct spaa_diagnostic d = {.size = sizeof d};
    for (size_t i = 0; spaa_diagnostics_get(r->said, i, &d) == SPAA_OK; i++) {
        bool note = strcmp(d.severity, "info") == 0, minor = note || strcmp(d.severity, "warning") == 0;
        char *line = NULL;
        if ((minor && i < r->result.told) || (note && !notes))
            continue;
        if (spaa_diagnostics_text(r->said, i, 0, &line) == SPAA_OK)
            sp_buf_puts(out, line);
        spaa_free(line);
    }
}

/* Whether profile i is named by its path, which has a handle now, and was not yet in this call. */
static bool is_path(const struct answering *x, size_t i)
{
    char handle[16];
    for (size_t k = 0; k < i; k++)
        if (x->books[k] == x->books[i])
            return false;
    snprintf(handle, sizeof handle, "p%u", x->books[i]->number);
    return strcmp(handle, x->args.profiles.v[i]) != 0;
}

static void answer_handles(struct answering *x, struct sp_buf *out)
{
    for (size_t i = 0; i < x->args.profiles.n; i++) {
        struct sp_mcp_book *b = x->books[i];
        if (b->reread)
            sp_buf_printf(out, "note: %s had changed, and was read again\n", b->path);
        b->reread = false;
        if (is_path(x, i) && !x->call->tool->opens)
            sp_buf_printf(out, "p%u is %s\n", b->number, b->path);
    }
}

/* ---- running ---- */

static void ran_free(struct ran *r)
{
    spaa_free(r->text);
    spaa_diagnostics_free(r->said);
    *r = (struct ran){0};
}

static struct sp_mcp_words answer_words(const struct answering *x)
{
    return (struct sp_mcp_words){&x->s->tools, x->call->tool, x->books, x->taken ? x->args.profiles.n : 0};
}

/* Profiles name source files, whoever made them: those are shown that lie where profiles do. */
static int answer_source(void *arg, const char *path)
{
    struct answering *x = arg;
    char real[PATH_MAX];
    struct sp_buf why;
    sp_buf_init(&why, 0);
    int fd = sp_mcp_roots_open(&x->s->roots, path, false, real, &why);
    sp_buf_free(&why);
    return fd;
}

/* The command of the tool, once, with one more option (name NULL: none). */
static void answer_run(struct answering *x, struct spaa_ask_option more, struct ran *r)
{
    const struct sp_mcp_tool *tool = x->call->tool;
    size_t n = x->args.profiles.n;
    struct spaa_profile **profiles = calloc(n + 1, sizeof *profiles);
    const struct spaa_diagnostics **said = calloc(n + 1, sizeof *said);
    *r = (struct ran){.status = SPAA_ERR_NOMEM, .result = {.size = sizeof r->result}};
    if (!profiles || !said || !sp_vec_push(&x->args.options, more)) {
        free(profiles);
        free(said);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        profiles[i] = x->books[i]->profile;
        said[i] = x->books[i]->said;
    }
    const char *path = n ? x->books[0]->real : NULL;
    bool file = strcmp(tool->name, "convert") == 0; /* it reads by itself, all there is */
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = tool->command.name,
                                 .files = file ? &path : &x->args.word,
                                 .file_count = file || x->args.word ? 1 : 0,
                                 .profiles = profiles,
                                 .profile_count = file ? 0 : n,
                                 .said = said,
                                 .has_split = tool->command.two_sides && x->args.split < n,
                                 .split = x->args.split,
                                 .options = x->args.options.v,
                                 .option_count = x->args.options.n - !more.name,
                                 .form = x->args.json ? "json" : "table",
                                 .watch = &x->call->watch,
                                 .open_source = answer_source,
                                 .open_source_arg = x};
    if (tool->command.writes) {
        o.temporary = x->s->options->temporary;
        o.temporary_arg = x->s->options->temporary_arg;
    }
    r->status = spaa_run_memory(&o, &r->text, &r->n, &r->result, &r->said);
    x->args.options.n--;
    free(profiles);
    free(said);
}

static size_t lines_of(const struct ran *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        n += r->text[i] == '\n';
    return n;
}

/* SQL knows no budget: fewer rows are asked for until the answer fits. It says how many it leaves out. */
static void answer_fit(struct answering *x, long budget, struct ran *r)
{
    const char *asked = sp_mcp_argument(&x->args, "limit");
    long limit = asked ? strtol(asked, NULL, 10) : ROWS;
    size_t most = (size_t)budget * TOKEN;
    char number[32];
    for (int i = 0; i < TRIES && !r->status && budget && r->n > most && limit != 1; i++) {
        size_t rows = x->args.json ? (limit ? (size_t)limit : ROWS) : lines_of(r);
        rows = limit && rows > (size_t)limit ? (size_t)limit : rows;
        limit = (long)(rows * most / r->n);
        limit = limit < 1 || i == TRIES - 1 ? 1 : limit;
        snprintf(number, sizeof number, "%ld", limit);
        ran_free(r);
        answer_run(x, (struct spaa_ask_option){"limit", number}, r);
    }
}

static void answer_ask(struct answering *x, struct ran *r)
{
    const struct sp_mcp_tool *tool = x->call->tool;
    char number[32];
    long json =
        tool->command.is_question ? 0 : SQL_JSON_BUDGET; /* answers of questions are short by themselves */
    long budget = x->args.budget >= 0 ? x->args.budget : x->args.json ? json : BUDGET;
    snprintf(number, sizeof number, "%ld", budget);
    bool own = tool->command.is_question && budget;
    answer_run(x, (struct spaa_ask_option){own ? "budget" : NULL, own ? number : NULL}, r);
    if (strcmp(tool->name, "query") == 0)
        answer_fit(x, budget, r);
}

/* ---- the answer in words ---- */

static void answer_failed(struct answering *x, const struct ran *r)
{
    struct sp_mcp_words w = answer_words(x);
    struct sp_buf said;
    sp_buf_init(&said, 0);
    sp_mcp_say_errors(r->said, &said);
    if (said.len)
        sp_mcp_words_text(&w, sp_buf_cstr(&said), &x->text);
    else
        sp_buf_puts(&x->text, spaa_status_name(r->status));
    sp_buf_free(&said);
}

/* {"p1":"PATH"}, and what had changed since it was read, stand behind the answer's own members. */
static void answer_json(struct answering *x, const struct ran *r)
{
    struct sp_mcp_words w = answer_words(x);
    x->is_json = sp_mcp_words_json(&w, (struct sp_span){r->text, r->n}, &x->text);
    sp_buf_puts(&x->text, ",\"profiles\":{");
    for (size_t i = 0; i < x->args.profiles.n; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again = again || x->books[k] == x->books[i];
        if (again)
            continue;
        sp_buf_printf(&x->text, "%s\"p%u\":", i ? "," : "", x->books[i]->number);
        sp_mcp_string(&x->text, x->books[i]->path);
    }
    sp_buf_puts(&x->text, "}");
    bool any = false;
    for (size_t i = 0; i < x->args.profiles.n; i++) {
        struct sp_mcp_book *b = x->books[i];
        if (!b->reread)
            continue;
        sp_buf_puts(&x->text, any ? "," : ",\"read_again\":[");
        sp_mcp_string(&x->text, b->path);
        b->reread = false;
        any = true;
    }
    sp_buf_puts(&x->text, any ? "]}" : "}");
}

static void answer_text(struct answering *x, const struct ran *r)
{
    struct sp_mcp_words w = answer_words(x);
    bool opens = x->call->tool->opens;
    struct sp_buf said;
    sp_buf_init(&said, 0);
    for (size_t i = 0; opens && i < x->args.profiles.n; i++)
        sp_buf_printf(&x->text, "p%u = %s\n", x->books[i]->number, x->books[i]->path);
    sp_buf_add(&said, r->text, r->n);
    if (x->call->tool->command.writes)
        sp_buf_printf(&said, "wrote %s\n", sp_mcp_argument(&x->args, "output"));
    answer_said(r, sp_mcp_argument(&x->args, "verbose") != NULL, &said);
    answer_handles(x, &said);
    sp_mcp_words_text(&w, sp_buf_cstr(&said), &x->text);
    sp_buf_free(&said);
}

/* ---- files that are written ---- */

/* Only a name in the folder, of a file that is new or a file: no link leads out of it. */
static bool answer_output(struct answering *x)
{
    const char *name = x->args.name;
    size_t room = strlen(x->s->out) + strlen(name) + 2;
    struct stat is;
    char *path = *name && *name != '.' && *name != '-' && !strchr(name, '/') && strlen(name) < 200
                     ? sp_arena_alloc(&x->args.texts, room)
                     : NULL;
    if (path)
        snprintf(path, room, "%s/%s", x->s->out, name);
    if (!path || (lstat(path, &is) == 0 && !S_ISREG(is.st_mode))) {
        sp_buf_printf(&x->text, "\"name\" is the name of a file in %s, without folders and links", x->s->out);
        return false;
    }
    struct spaa_ask_option output = {"output", path};
    return sp_vec_push(&x->args.options, output);
}

/* ---- a call ---- */

/* Stacks are told apart by CPU only for who asks for that: there are many more of them then. */
static bool asks_for_cpus(const struct sp_mcp_arguments *a)
{
    const char *by = sp_mcp_argument(a, "by");
    return (by && strcasestr(by, "cpu")) || (a->word && strcasestr(a->word, "cpu"));
}

/* How `open` reads lies in the folders that may be opened, too. */
static bool answer_wish(struct answering *x, struct sp_mcp_wish *wish)
{
    char real[PATH_MAX];
    *wish = (struct sp_mcp_wish){.names = x->args.profiles.v,
                                 .n = x->args.profiles.n,
                                 .watch = &x->call->watch,
                                 .cancelled = &x->call->cancelled};
    wish->cpus = asks_for_cpus(&x->args);
    if (!x->call->tool->opens)
        return true;
    wish->from = sp_mcp_argument(&x->args, "from");
    wish->symfs = sp_mcp_argument(&x->args, "symfs");
    wish->debug_dir = sp_mcp_argument(&x->args, "debug-dir");
    wish->dsym = sp_mcp_argument(&x->args, "dsym");
    wish->off_cpu = sp_mcp_argument(&x->args, "off-cpu");
    const char *folders[] = {wish->symfs, wish->debug_dir, wish->dsym};
    for (size_t i = 0; i < 3; i++)
        if (folders[i] && sp_mcp_roots_open(&x->s->roots, folders[i], true, real, &x->text) < 0)
            return false;
    x->args.options.n = 0; /* they are of the file that is read now */
    return true;
}

/* Opening speaks to a shell, too. */
static void answer_refused(struct answering *x)
{
    struct sp_mcp_words w = answer_words(x);
    struct sp_buf said = x->text;
    sp_buf_init(&x->text, 0);
    sp_mcp_words_text(&w, sp_buf_cstr(&said), &x->text);
    x->text.failed = x->text.failed || said.nomem;
    sp_buf_free(&said);
}

/* True: x->text is an answer; false: it says what is wrong. */
static bool answer_call(struct answering *x)
{
    const struct sp_mcp_tool *tool = x->call->tool;
    struct sp_span raw = {x->call->arguments.data, x->call->arguments.len};
    struct sp_mcp_wish wish;
    struct ran r;
    if (!sp_mcp_arguments_read(tool, raw, &x->args, &x->text) ||
        (tool->command.writes && !answer_output(x)) || !answer_wish(x, &wish))
        return false;
    x->books = calloc(wish.n + 1, sizeof(struct sp_mcp_book *));
    x->taken = x->books && sp_mcp_shelf_take(&x->s->shelf, &wish, x->books, &x->text);
    if (!x->taken) {
        answer_refused(x);
        return false;
    }
    if (tool->command.writes)
        pthread_mutex_lock(&x->s->writing);
    answer_ask(x, &r);
    if (tool->command.writes)
        pthread_mutex_unlock(&x->s->writing);
    if (r.status)
        answer_failed(x, &r);
    else if (x->args.json)
        answer_json(x, &r);
    else
        answer_text(x, &r);
    bool ok = !r.status;
    ran_free(&r);
    return ok;
}

void sp_mcp_answer(void *arg, struct sp_mcp_call *call, struct sp_buf *out)
{
    struct answering x = {.s = arg, .call = call};
    sp_buf_init(&x.text, 0);
    bool ok = answer_call(&x);
    if (!ok && !x.text.len)
        sp_buf_puts(&x.text, "out of memory");
    answer_message(&x, !ok, out);
    if (x.taken)
        sp_mcp_shelf_return(&x.s->shelf, x.books, x.args.profiles.n);
    free(x.books);
    sp_mcp_arguments_free(&x.args);
    sp_buf_free(&x.text);
}
