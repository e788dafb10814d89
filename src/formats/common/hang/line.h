/*
 * Pieces of the lines of macOS' hang reports, spindump and sample(1): blanks and numbers, quantities as they
 * print them, and the JSON that is made of them.
 */
#ifndef SP_HANG_LINE_H
#define SP_HANG_LINE_H

#include "base/buf.h"
#include "model/profile.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool sp_hang_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool sp_hang_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}
static inline bool sp_hang_hex(char c)
{
    return sp_hang_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}
static inline struct sp_span sp_hang_span(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}
static inline struct sp_span sp_hang_trim(struct sp_span s) /* blanks at both ends */
{
    while (s.n && sp_hang_blank(*s.p)) {
        s.p++;
        s.n--;
    }
    while (s.n && sp_hang_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}
/* Inlined, so that the lengths of literals are known. */
static inline bool sp_hang_starts(struct sp_span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && memcmp(s.p, literal, n) == 0;
}
static inline bool sp_hang_ends(struct sp_span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && memcmp(s.p + s.n - n, literal, n) == 0;
}
static inline struct sp_span sp_hang_after(struct sp_span s, size_t n) /* without its first n bytes */
{
    n = n < s.n ? n : s.n;
    return (struct sp_span){s.p + n, s.n - n};
}
/* Where the group in parentheses that ends the text opens, balanced; NULL: none. */
const char *sp_hang_group(struct sp_span s);
/* Cuts " + 123" (no leading zeros) off the end of s. */
bool sp_hang_cut_offset(struct sp_span *s, uint64_t *off);
/* "name [12]": the last number in brackets, which ends the text; s keeps what stands before it. */
bool sp_hang_cut_pid(struct sp_span *s, int64_t *pid);

/* "0.922s", "<0.001s", "276319s", "12ms", in nanoseconds. The number of bytes used; 0: none. */
size_t sp_hang_seconds(struct sp_span s, int64_t *ns);
/* "51.3G cycles": a number with K, M, G, T (of 1000). */
size_t sp_hang_count(struct sp_span s, int64_t *v);
/* "6416 KB", "11.45 MB", "227.5M": of 1024. */
size_t sp_hang_bytes(struct sp_span s, int64_t *v);
/* "0.922s (3.2G cycles, 15.4G instructions, 0.21c/i)"; SP_ABSENT: not stated. */
struct sp_hang_cpu {
    int64_t ns, cycles, instructions;
};
struct sp_hang_cpu sp_hang_cpu(struct sp_span s);
/* "3 I/Os (48 KB)" as members io_count, io_bytes. */
void sp_hang_io_members(struct sp_buf *b, struct sp_span s);

/* `"key":"text"` and `"key":12`, with a comma where something stands before in the open object or array. */
static inline void sp_hang_comma(struct sp_buf *b)
{
    char last = b->len ? b->data[b->len - 1] : '{';
    if (last != '{' && last != '[')
        sp_buf_ch(b, ',');
}
void sp_hang_key(struct sp_buf *b, const char *key); /* `"key":` */
void sp_hang_member(struct sp_buf *b, const char *key, struct sp_span value);
void sp_hang_number(struct sp_buf *b, const char *key, int64_t v);
void sp_hang_item(struct sp_buf *b, struct sp_span value); /* a string of an array */
void sp_hang_pair(struct sp_buf *b, struct sp_span key,
                  struct sp_span value);                    /* ["key","value"] as an item */
void sp_hang_add_plain(struct sp_buf *b, struct sp_span s); /* appends it on one line */
/* Ends the object in b and keeps it as an extension record. */
bool sp_hang_extension(struct sp_profile *p, struct sp_buf *b);
uint32_t sp_hang_str(struct sp_profile *p, struct sp_span s);
uint32_t sp_hang_hex_str(struct sp_profile *p, uint64_t v); /* "0x1f" */
/* How wide tabs are, which editors make of four blanks or of eight: where a line begins with four, of eight.
 */
unsigned sp_hang_tab_width(const char *p, const char *end);
/* For probes: whether most lines are such as reports have, and not, for example, a program with one in it. */
bool sp_hang_is_report(const unsigned char *p, size_t n);

#endif
