/*
 * Java's heap profiles, and the names that all of its profiles end with:
 *
 *     --- heapz 1 ---
 *     format = java
 *     resolution = bytes
 *       7048 1 @ 0x00000003 0x00000004         BYTES COUNT @ numbers of names
 *        0x00000003 com.example.f (File.java:12)
 *        0x00000004 memcpy (/lib/libc.so)
 */
#include "base/num.h"
#include "formats/common/text/lines.h"
#include "formats/gperftools/gperftools.h"

#define JAVA_RATE 524288 /* the agent's, which the file does not say */

/* "function (file:line)", "function (library)", or a name alone. */
static spaa_status gperftools_java_name(struct sp_gp *gp, uint64_t id, struct sp_str text)
{
    struct sp_str none = {"", 0}, func = text, srcline = none, dso = none;
    const char *open = text.n && text.p[text.n - 1] == ')' ? memrchr(text.p, '(', text.n) : NULL;
    if (open && open > text.p && (open[-1] == ' ' || open[-1] == '\t')) {
        struct sp_str in = {open + 1, (uint32_t)(text.p + text.n - 1 - (open + 1))};
        const char *colon = in.n ? memrchr(in.p, ':', in.n) : NULL;
        int64_t line = 0;
        func = sp_mapped_trim(text.p, (size_t)(open - text.p));
        bool has_line = colon && colon > in.p &&
                        sp_parse_i64(colon + 1, in.p + in.n, &line) == (size_t)(in.p + in.n - colon - 1);
        if (has_line) {
            srcline = (struct sp_str){in.p, (uint32_t)(colon - in.p)};
            if (line > 0) {
                struct sp_buf *b = &gp->m.text;
                sp_buf_clear(b);
                sp_buf_add(b, srcline.p, srcline.n);
                sp_buf_ch(b, ':');
                sp_buf_i64(b, line);
                if (b->failed)
                    return sp_nomem(gp->d);
                srcline = (struct sp_str){b->data, (uint32_t)b->len};
            }
        } else {
            dso = in;
        }
    } else if (memmem(text.p, text.n, "generated stub/JIT", 18)) {
        func = (struct sp_str){"STUB", 4};
        dso = (struct sp_str){"[jit]", 5};
    }
    spaa_status st = sp_mapped_name(&gp->m, id, func, srcline, dso);
    sp_mapped_close_name(&gp->m);
    return st;
}

spaa_status sp_gp_java_names(struct sp_gp *gp)
{
    spaa_status st = SPAA_OK;
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        uint64_t id = 0;
        size_t n = s.n > 2 && s.p[0] == '0' && s.p[1] == 'x' ? sp_parse_hex(s.p + 2, s.p + s.n, &id) : 0;
        struct sp_str text = n ? sp_mapped_trim(s.p + 2 + n, s.n - 2 - n) : (struct sp_str){"", 0};
        if (!s.n)
            continue;
        if (text.n && text.p > s.p + 2 + n)
            st = gperftools_java_name(gp, id, text);
        else
            sp_emit(gp->d, SP_L766, sp_gp_here(gp), "among the names");
        if (gp->at == gp->end && gp->end[-1] != '\n')
            sp_lines_say_cut(gp->d, gp->line.number, (uint64_t)(gp->line.p - gp->in));
    }
    return st;
}

static spaa_status gperftools_java_row(struct sp_gp *gp, struct sp_str s, bool *known)
{
    const char *p = s.p, *end = s.p + s.n;
    int64_t bytes, count;
    double all_count, all_bytes;
    *known = sp_mapped_int(&p, end, &bytes) && sp_mapped_int(&p, end, &count);
    spaa_status st = sp_gp_stack(gp, &p, end, SP_MAPPED_EXACT, known);
    if (st || !*known)
        return st;
    if (!count && bytes)
        sp_emit(gp->d, SP_W772, sp_gp_here(gp), "bytes of no objects");
    sp_mapped_unbias(count, bytes, JAVA_RATE, &all_count, &all_bytes);
    int64_t v[4] = {sp_mapped_cut(all_count), sp_mapped_cut(all_bytes), count, bytes};
    uint32_t context = sp_gp_block_context(gp, count ? bytes / count : 0);
    return context != SP_NONE && sp_mapped_row(&gp->m, context, v) ? SPAA_OK : sp_nomem(gp->d);
}

spaa_status sp_gp_java_heap(struct sp_gp *gp)
{
    static const struct sp_gp_event event = {
        .name = "heap",
        .kind = SP_ALLOCATION,
        .period = JAVA_RATE,
        .period_type = "space",
        .period_unit = "bytes",
        .tracking = "{\"tracks_frees\":true,\"has_timestamps\":false}",
        .types = {{"inuse_objects", "count", "live_count", "count"},
                  {"inuse_space", "bytes", "live_bytes", "bytes"}},
        .ntypes = 2,
        .primary = 1,
        .more = {{"samples", NULL}, {"x_raw_live_bytes", "bytes"}},
        .nmore = 2,
    };
    gp->kind = "heap";
    gp->tool = "pprof";
    gp->m.plain = true;
    spaa_status st = sp_gp_declare(gp, &event);
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        bool known;
        if (!s.n || (memchr(s.p, '=', s.n) && !memchr(s.p, '@', s.n)))
            continue;
        st = gperftools_java_row(gp, s, &known);
        if (!st && !known) {
            sp_gp_back(gp);
            return sp_gp_java_names(gp);
        }
    }
    return st;
}
