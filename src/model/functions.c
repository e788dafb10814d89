#include "model/functions.h"

uint32_t sp_function_tells(struct sp_profile *p, uint32_t info)
{
    (void)p;
    (void)info;
    return SP_STR_NONE;
}
