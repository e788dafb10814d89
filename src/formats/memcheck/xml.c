/*
 * A log as XML: tags without attributes, one after the other. What counts is the text before the end of an
 * element, and which of a few elements it stands in; so nothing descends.
 */
#include "base/num.h"
#include "base/watch.h"
#include "formats/memcheck/memcheck.h"

#include <string.h>

enum { XML_TEXT, XML_IP, XML_OBJ, XML_FN, XML_DIR, XML_FILE, XML_LINE, XML_TEXTS };
static const char *const xml_names[] = {"text", "ip", "obj", "fn", "dir", "file", "line", NULL};
static const struct {
    const char *kind;
    enum sp_mc_kind is;
} xml_kinds[] = {{"Leak_DefinitelyLost", SP_MC_DEFINITE},
                 {"Leak_IndirectlyLost", SP_MC_INDIRECT},
                 {"Leak_PossiblyLost", SP_MC_POSSIBLE},
                 {"Leak_StillReachable", SP_MC_REACHABLE}};

struct mc_xml {
    struct sp_mc *m;
    const char *start, *at; /* of the text; of the tag in work */
    struct sp_mc_process *x;
    struct sp_buf texts[XML_TEXTS], command;
    bool in_args, in_argv, in_error, in_frame, leak, ended;
    unsigned stacks; /* of the error in work */
};

static struct sp_where mc_xml_here(const struct mc_xml *r)
{
    return SP_AT((uint64_t)(r->at - r->start));
}

static spaa_status mc_xml_bad(struct mc_xml *r, const char *why)
{
    sp_emit(r->m->d, SP_L302, mc_xml_here(r), "%s", why);
    return r->m->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}

/* One of "&lt;" and its like at p, appended; how long it is. */
static size_t mc_xml_entity(const char *p, const char *end, struct sp_buf *out)
{
    static const struct {
        const char *as;
        char is;
    } all[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t n = strlen(all[i].as);
        if ((size_t)(end - p) >= n && memcmp(p, all[i].as, n) == 0) {
            sp_buf_ch(out, all[i].is);
            return n;
        }
    }
    sp_buf_ch(out, *p);
    return 1;
}

/* Without white space around it. */
static void mc_xml_text(struct sp_str s, struct sp_buf *out)
{
    const char *p = s.p, *end = s.p + s.n;
    sp_buf_clear(out);
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    while (p < end && (unsigned char)end[-1] <= ' ')
        end--;
    while (p < end) {
        const char *amp = memchr(p, '&', (size_t)(end - p)), *stop = amp ? amp : end;
        sp_buf_add(out, p, (size_t)(stop - p));
        p = amp ? amp + mc_xml_entity(amp, end, out) : end;
    }
}

static struct sp_str mc_xml_str(const struct sp_buf *b)
{
    return (struct sp_str){b->len ? b->data : "", (uint32_t)b->len};
}

static spaa_status mc_xml_frame(struct mc_xml *r)
{
    struct sp_vg_frame f = {.name = mc_xml_str(&r->texts[XML_FN]), .object = mc_xml_str(&r->texts[XML_OBJ])};
    struct sp_str ip = mc_xml_str(&r->texts[XML_IP]), file = mc_xml_str(&r->texts[XML_FILE]),
                  line = mc_xml_str(&r->texts[XML_LINE]);
    struct sp_buf *at = &r->texts[XML_DIR];
    r->in_frame = false;
    if (!r->x || !r->x->open || r->stacks != 1)
        return SPAA_OK;
    if (!sp_parse_0x(ip.p, ip.n, &f.addr))
        return mc_xml_bad(r, "a frame without an address");
    if (file.n) {
        if (at->len)
            sp_buf_ch(at, '/');
        sp_buf_add(at, file.p, file.n);
        if (line.n) {
            sp_buf_ch(at, ':');
            sp_buf_add(at, line.p, line.n);
        }
        f.at = mc_xml_str(at);
    }
    for (int i = 0; i < XML_TEXTS; i++)
        if (r->texts[i].failed)
            return sp_nomem(r->m->d);
    return sp_mc_frame(r->m, r->x, &f);
}

/* <text> behind <kind>: only there stands what of it is direct. */
static spaa_status mc_xml_leak(struct mc_xml *r)
{
    struct sp_mc_leak leak;
    struct sp_str s = mc_xml_str(&r->texts[XML_TEXT]);
    if (!r->leak || !r->x || r->x->open)
        return SPAA_OK;
    if (!sp_mc_leak(s.p, s.n, &leak))
        return mc_xml_bad(r, "a leak that is not understood");
    return sp_mc_begin(r->m, r->x, &leak);
}

static spaa_status mc_xml_open(struct mc_xml *r, struct sp_str tag)
{
    if (sp_str_is(tag, "valgrindoutput")) {
        r->x = NULL;
        r->ended = false;
        sp_buf_clear(&r->command);
    } else if (sp_str_is(tag, "vargv")) {
        r->in_args = true;
    } else if (sp_str_is(tag, "argv")) {
        r->in_argv = true;
    } else if (sp_str_is(tag, "error")) {
        r->in_error = true;
        r->leak = false;
        r->stacks = 0;
        return r->x ? sp_mc_end(r->m, r->x) : SPAA_OK;
    } else if (sp_str_is(tag, "stack")) {
        r->stacks++;
    } else if (sp_str_is(tag, "frame")) {
        r->in_frame = true;
        for (int i = XML_IP; i < XML_TEXTS; i++)
            sp_buf_clear(&r->texts[i]);
    }
    return SPAA_OK;
}

static spaa_status mc_xml_kind(struct mc_xml *r, struct sp_str text)
{
    r->leak = false;
    for (size_t i = 0; i < sizeof xml_kinds / sizeof *xml_kinds; i++)
        r->leak = r->leak || sp_str_is(text, xml_kinds[i].kind);
    if (r->x && !r->leak)
        r->x->errors++;
    return SPAA_OK;
}

static spaa_status mc_xml_process(struct mc_xml *r, struct sp_str text)
{
    int64_t pid;
    if (sp_parse_i64(text.p, text.p + text.n, &pid) != text.n || !text.n || pid < 0)
        return mc_xml_bad(r, "a process without a number");
    r->x = sp_mc_process(r->m, pid);
    return r->x ? SPAA_OK : sp_nomem(r->m->d);
}

/* The arguments of valgrind, and the command. */
static spaa_status mc_xml_argument(struct mc_xml *r, struct sp_str text)
{
    static const char *const all[] = {"--show-leak-kinds=all", "--show-reachable=yes", NULL};
    if (r->in_args && sp_name_index(all, text.p, text.n) >= 0)
        r->m->all_kinds = true;
    if (!r->in_argv)
        return SPAA_OK;
    if (r->command.len)
        sp_buf_ch(&r->command, ' ');
    sp_buf_add(&r->command, text.p, text.n);
    return r->command.failed ? sp_nomem(r->m->d) : SPAA_OK;
}

static spaa_status mc_xml_end_argv(struct mc_xml *r)
{
    r->in_argv = false;
    if (r->x && r->command.len)
        r->x->command = sp_profile_text(r->m->p, r->command.data, r->command.len);
    return r->x && r->x->command == SP_STR_FAIL ? sp_nomem(r->m->d) : SPAA_OK;
}

/* The end of an element; raw: the text since the tag before. */
static spaa_status mc_xml_close(struct mc_xml *r, struct sp_str tag, struct sp_str raw)
{
    struct sp_buf *to = &r->texts[XML_TEXT];
    int number = sp_name_index(xml_names, tag.p, tag.n);
    if (sp_str_is(tag, "frame"))
        return mc_xml_frame(r);
    if (sp_str_is(tag, "argv"))
        return mc_xml_end_argv(r);
    if (sp_str_is(tag, "vargv"))
        r->in_args = false;
    if (sp_str_is(tag, "valgrindoutput"))
        r->ended = true;
    if (sp_str_is(tag, "error")) {
        r->in_error = false;
        return r->x ? sp_mc_end(r->m, r->x) : SPAA_OK;
    }
    if (number > XML_TEXT && r->in_frame)
        to = &r->texts[number];
    mc_xml_text(raw, to);
    if (to->failed)
        return sp_nomem(r->m->d);
    struct sp_str text = mc_xml_str(to);
    if (number == XML_TEXT && r->in_error)
        return mc_xml_leak(r);
    if (sp_str_is(tag, "kind") && r->in_error)
        return mc_xml_kind(r, text);
    if (sp_str_is(tag, "pid") && !r->in_error)
        return mc_xml_process(r, text);
    if (sp_str_is(tag, "ppid") && r->x && !sp_parse_i64(text.p, text.p + text.n, &r->x->parent))
        r->x->parent = SP_ABSENT;
    if (sp_str_is(tag, "arg") || sp_str_is(tag, "exe"))
        return mc_xml_argument(r, text);
    if (sp_str_is(tag, "state") && sp_str_is(text, "FINISHED") && r->x)
        sp_mc_exit(r->x);
    return SPAA_OK;
}

static spaa_status mc_xml_read(struct mc_xml *r, const char *p, const char *end)
{
    spaa_status st = SPAA_OK;
    const char *text = p;
    for (uint64_t i = 0; !st && (r->at = memchr(p, '<', (size_t)(end - p))) != NULL; i++) {
        const char *close = memchr(r->at, '>', (size_t)(end - r->at)), *tag = r->at + 1;
        if (sp_leaving(r->m->d, i))
            return SPAA_ERR_CANCELLED;
        if (!close)
            break;
        struct sp_str raw = {text, (uint32_t)(r->at - text)};
        if (tag < close && *tag == '/')
            st = mc_xml_close(r, (struct sp_str){tag + 1, (uint32_t)(close - tag - 1)}, raw);
        else if (tag < close && *tag != '?' && *tag != '!')
            st = mc_xml_open(r, (struct sp_str){tag, (uint32_t)(close - tag)});
        p = text = close + 1;
    }
    return st;
}

spaa_status sp_mc_read_xml(struct sp_mc *m, const char *p, size_t n)
{
    struct mc_xml r = {.m = m, .start = p, .at = p};
    if (n > UINT32_MAX) {
        sp_emit(m->d, SP_E007, SP_AT_NOTHING, "XML of more than 4 GiB");
        return SPAA_ERR_INPUT;
    }
    for (int i = 0; i < XML_TEXTS; i++)
        sp_buf_init(&r.texts[i], 0);
    sp_buf_init(&r.command, 0);
    spaa_status st = mc_xml_read(&r, p, p + n);
    if (!st && r.x && !r.ended) {
        m->cut = true;
        r.x->open = false; /* its stack may not be whole */
    }
    for (int i = 0; i < XML_TEXTS; i++)
        sp_buf_free(&r.texts[i]);
    sp_buf_free(&r.command);
    return st;
}
