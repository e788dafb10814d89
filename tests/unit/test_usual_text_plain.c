/* The same for machines without these instructions. */
#undef __SSE2__
#include "test_usual_text.c"
