#include "mcp/words.h"

#include "mcp/command.h"
#include "mcp/message.h"
#include "json/find.h"

/* ---- texts ---- */

/* "--root-at" where an argument of the tool, or of `open`, is called so: its name. */
static bool words_flag(const struct sp_mcp_words *w, const char *p, const char *end,
                       struct spaa_command_option *out)
{
    size_t n = 2;
    while (n < (size_t)(end - p) && (p[n] == '-' || (p[n] >= 'a' && p[n] <= 'z')))
        n++;
    return n > 2 &&
           (sp_mcp_command_option(w->tool, p, n, out) || sp_mcp_command_option(&w->tools->v[0], p, n, out));
}

struct phrase {
    const char *shell, *tool;
};

static const struct phrase *words_phrase(const char *p, const char *end)
{
    static const struct phrase phrases[] = {{"a larger --budget", "a larger budget"},
                                            {"(-v says why)", "(verbose says why)"},
                                            {"more (-v)", "more (verbose)"},
                                            {"(spaa top)", "(top)"},
                                            {"(spaa leaks FILE LATER)", "(profiles: [FILE, LATER])"},
                                            {"-n 0 shows", "limit 0 shows"},
                                            {"-n 0 writes", "limit 0 writes"},
                                            {0}};
    for (const struct phrase *x = phrases; x->shell; x++)
        if ((size_t)(end - p) >= strlen(x->shell) && memcmp(p, x->shell, strlen(x->shell)) == 0)
            return x;
    return NULL;
}

/* Flags that hints of ours name, as arguments. What tells how to record is for a shell, and stays. */
static void words_plain(const struct sp_mcp_words *w, const char *p, const char *end, struct sp_buf *out)
{
    for (char before = ' '; p < end && !(end - p > 5 && memcmp(p, "perf ", 5) == 0);) {
        const struct phrase *x = words_phrase(p, end);
        struct spaa_command_option o;
        char name[64];
        bool flag =
            end - p > 2 && p[0] == '-' && p[1] == '-' && strchr(" (`", before) && words_flag(w, p, end, &o);
        before = *p;
        if (x) {
            sp_buf_puts(out, x->tool);
            p += strlen(x->shell);
        } else if (flag) {
            sp_mcp_argument_name(o.name, name, sizeof name);
            sp_buf_puts(out, name);
            p += 2 + strlen(o.name);
        } else {
            sp_buf_ch(out, *p++);
        }
    }
    sp_buf_add(out, p, (size_t)(end - p));
}

/* Where a command begins: "spaa " behind blanks, a colon and a blank, or a backquote. */
static const char *words_command(const char *line, const char *end)
{
    for (const char *p = line; end - p > 5; p++) {
        size_t before = (size_t)(p - line);
        bool first = strspn(line, " ") >= before,
             named = before > 1 && p[-1] == ' ' && (p[-2] == ' ' || p[-2] == ':');
        if (memcmp(p, "spaa ", 5) == 0 && (first || named || (before && p[-1] == '`')))
            return p;
    }
    return NULL;
}

static void words_line(const struct sp_mcp_words *w, const char *line, const char *end, struct sp_buf *out)
{
    const char *command = words_command(line, end);
    struct sp_buf call;
    if (!command) {
        words_plain(w, line, end, out);
        sp_buf_ch(out, '\n');
        return;
    }
    bool quoted = command > line && command[-1] == '`';
    const char *to = quoted ? memchr(command, '`', (size_t)(end - command)) : end;
    to = to ? to : end;
    sp_buf_init(&call, 0);
    bool done = sp_mcp_command_call(w, command, (size_t)(to - command), &call),
         alone = strspn(line, " ") == (size_t)(command - line);
    if (done || !alone) {
        words_plain(w, line, command, out);
        if (done)
            sp_buf_add(out, call.data, call.len);
        else
            sp_buf_add(out, command, (size_t)(to - command));
        words_plain(w, to, end, out);
        sp_buf_ch(out, '\n');
    }
    out->failed = out->failed || call.failed;
    sp_buf_free(&call);
}

/* Lines that were broken to fit, each ending in a backslash, are one again. */
void sp_mcp_words_text(const struct sp_mcp_words *w, const char *text, struct sp_buf *out)
{
    struct sp_buf line;
    sp_buf_init(&line, 0);
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n");
        bool goes_on = n > 1 && p[n - 1] == '\\' && p[n - 2] == ' ' && p[n];
        sp_buf_add(&line, p, n - goes_on);
        p += n + (p[n] != 0);
        if (goes_on) {
            p += strspn(p, " ");
            continue;
        }
        words_line(w, line.data ? line.data : "", (line.data ? line.data : "") + line.len, out);
        sp_buf_clear(&line);
    }
    out->failed |= line.failed;
    sp_buf_free(&line);
}

/* ---- JSON ---- */

static void words_next(const struct sp_mcp_words *w, struct sp_json *j, struct sp_buf *out)
{
    struct sp_span command;
    bool any = false;
    sp_buf_puts(out, "[");
    for (bool in = sp_json_array(j); in && sp_json_item(j) && sp_json_string_value(j, &command);) {
        struct sp_buf call;
        sp_buf_init(&call, 0);
        if (sp_mcp_command_call(w, command.p, command.n, &call)) {
            sp_buf_puts(out, any ? "," : "");
            sp_json_string(out, call.data, call.len);
            any = true;
        }
        out->failed = out->failed || call.failed;
        sp_buf_free(&call);
    }
    sp_buf_puts(out, "]");
}

/* A text of JSON from its quote on; returns what is behind it. */
static const char *json_text_end(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        p += *p == '\\' && p + 1 < end;
    return p < end ? p + 1 : end;
}

/* A value as it stands, but for texts that are commands: of findings, what shows more of them. */
static void words_value(const struct sp_mcp_words *w, struct sp_span raw, struct sp_buf *out)
{
    static const char begins[] = "\"spaa ";
    const char *end = raw.p + raw.n;
    for (const char *p = raw.p, *next; p < end; p = next) {
        struct sp_buf text, call;
        next = *p == '"' ? json_text_end(p, end) : p + 1;
        if (next - p < (ptrdiff_t)sizeof begins || memcmp(p, begins, sizeof begins - 1) != 0) {
            sp_buf_add(out, p, (size_t)(next - p));
            continue;
        }
        sp_buf_init(&text, 0);
        sp_buf_init(&call, 0);
        bool is = sp_json_text_to(&text, (struct sp_span){p, (size_t)(next - p)}) &&
                  sp_mcp_command_call(w, text.data, text.len, &call);
        if (is)
            sp_json_string(out, call.data, call.len);
        else
            sp_buf_add(out, p, (size_t)(next - p));
        out->failed = out->failed || text.failed || call.failed;
        sp_buf_free(&text);
        sp_buf_free(&call);
    }
}

bool sp_mcp_words_json(const struct sp_mcp_words *w, struct sp_span json, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, raw;
    bool any = false;
    sp_json_init(&j, json.p, json.n);
    sp_buf_puts(out, "{");
    for (bool in = sp_json_object(&j); in && sp_json_key(&j, &key); any = true) {
        bool next = sp_span_is(key, "next");
        sp_buf_puts(out, any ? "," : "");
        sp_json_string(out, key.p, key.n);
        sp_buf_puts(out, ":");
        if (next && sp_json_type(&j) == SP_JSON_ARRAY)
            words_next(w, &j, out);
        else if (sp_json_skip(&j, &raw))
            words_value(w, raw, out);
    }
    bool ok = sp_json_end(&j);
    sp_json_free(&j);
    return ok && !out->failed;
}
