/*
 * Foreign text made fit to be shown.
 *
 * Names in a profile are written by strangers. The *safe form* of any bytes is valid UTF-8 on one line,
 * without control characters, bidirectional controls, invisible characters or noncharacters: what is
 * not shown as itself is spelled out, visibly,
 *
 *     \n \t \r        newline, tab, carriage return
 *     \x1b \xff       another ASCII control, or a byte that is no UTF-8
 *     \u{202e}        any other character that would not show, or would reorder what is shown
 *
 * It is for people, not for reading back: a backslash stands for itself. Making it safe again changes
 * nothing, so every function here takes raw bytes or the safe form alike. All append to `out` and return
 * false only when the buffer failed (base/buf.h).
 */
#ifndef SP_TEXT_H
#define SP_TEXT_H

#include "answer/words.h"
#include "base/buf.h"

bool sp_text_safe(struct sp_buf *out, const char *p, size_t n);
/* One word of a shell's command, quoted where it needs to be. */
void sp_shell_word(struct sp_buf *b, const char *s);
/* The safe form with & < > " ' escaped: for XML and HTML text and attribute values. */
bool sp_xml_text(struct sp_buf *out, const char *p, size_t n);
/* The safe form as what stands between the quotes of a JSON string, and without < > & as such, so that it
 * may stand in a script element of XML and HTML. */
bool sp_json_text(struct sp_buf *out, const char *p, size_t n);

/* Columns that safe text takes in a terminal or a monospaced font: wide characters 2, combining 0. */
size_t sp_text_width(const char *p, size_t n);
/* The bytes of the first characters that take at most so many columns. */
size_t sp_text_within(const char *p, size_t n, size_t columns);
/* The safe form, its middle replaced by one "…" where it is wider than `columns`; below 12 columns its end.
 */
bool sp_text_fit(struct sp_buf *out, const char *p, size_t n, size_t columns);

#endif
