/* URLs in messages: whatever stands before an '@' may be a password, and is never shown. */
#ifndef SP_REMOTE_URL_H
#define SP_REMOTE_URL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The URL with *** for its user and password: all between "://" (or the beginning) and the last '@', also
 * where that is no user by the rules. What does not fit `size` is cut off; returns `out`.
 */
const char *sp_url_masked(const char *url, char *out, size_t size);

/*
 * Whether a message has a part of the URL's user or password in it as host, port or path: one of "/?#\\" and
 * blanks in them ends what the parser takes for them.
 */
bool sp_url_user_is_told(const char *url, const char *message);

#endif
