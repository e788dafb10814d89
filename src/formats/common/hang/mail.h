/* What mail clients make of a report on its way that must be undone before it is read. */
#ifndef SP_HANG_MAIL_H
#define SP_HANG_MAIL_H

#include <stddef.h>

/* NULL: nothing. *advice: how it is undone. */
const char *sp_hang_mail(const char *p, size_t n, const char **advice);

#endif
