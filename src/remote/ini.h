/*
 * The INI files of AWS tools, as botocore reads them: Python's configparser (strict), UTF-8 without a byte
 * order mark, and settings nested in a value that begins on the line below its key.
 */
#ifndef SP_INI_H
#define SP_INI_H

#include "base/diag.h"
#include "json/json.h"

enum sp_ini_what { SP_INI_END, SP_INI_SECTION, SP_INI_SETTING, SP_INI_WRONG };

/* A cursor; begin with {.p = text, .end = text + n}. */
struct sp_ini {
    const char *p, *end;
    uint64_t line;                      /* where what was read last begins, 1-based */
    uint64_t next;                      /* lines before p */
    struct sp_span section, key, value; /* a nested value begins with an end of a line */
    const char *wrong;                  /* why a line is neither */
};
enum sp_ini_what sp_ini_next(struct sp_ini *i);

/*
 * What configparser would not read: SPAA_ERR_INPUT with the line and a text that repeats nothing of the file
 * (it may be a secret), else line 0. SPAA_ERR_UNSUPPORTED: the same of what it reads, and perhaps not as we
 * do. SPAA_ERR_NOMEM: not reported.
 */
spaa_status sp_ini_check(const char *text, size_t n, uint64_t *line, const char **why);

/*
 * The setting of a section, "NAME", or "KIND NAME" where a kind is given (words as in a shell; the default
 * profile needs no kind, and of sections of one name the last counts), else of [DEFAULT]. key NULL: whether
 * there is the section; "": any setting.
 */
bool sp_ini_find(const char *text, size_t n, const char *kind, const char *name, const char *key,
                 struct sp_span *value);
/* The same of a nested value. */
bool sp_ini_nested(struct sp_span nested, const char *key, struct sp_span *value);

#endif
