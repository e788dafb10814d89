#include "model/go_fatal.h"

#include "json/find.h"

#include <string.h>

bool sp_go_fatal(const struct sp_profile *p, struct sp_buf *out)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span raw;
    return sp_json_find2((struct sp_span){more.p, more.n}, "x_go", "fatal", &raw) &&
           sp_json_text_to(out, raw);
}

bool sp_go_is_deadlock(const struct sp_profile *p)
{
    static const char words[] = "all goroutines are asleep - deadlock";
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool is = sp_go_fatal(p, &b) && b.len && memmem(b.data, b.len, words, sizeof words - 1);
    sp_buf_free(&b);
    return is;
}
