/* Base64, RFC 4648 section 4, with padding. */
#ifndef SP_BASE64_H
#define SP_BASE64_H

#include "base/buf.h"

/* Appends the text of n bytes. False: out of memory. */
bool sp_base64_encode(struct sp_buf *b, const unsigned char *p, size_t n);
/* Appends the bytes of a text. False: out of memory (b->nomem), or it is no base64. */
bool sp_base64_decode(struct sp_buf *b, const char *p, size_t n);

#endif
