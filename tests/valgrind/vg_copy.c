#include <stdlib.h>
#include <string.h>
#include <valgrind/dhat.h>
char a[5000], b[5000];
static void copy(size_t n) { memcpy(a, b, n); memmove(a + 1, a, n / 2); }
static void note(int w) { DHAT_AD_HOC_EVENT(w); }
int main(void) { for (int i = 1; i < 20; i++) { copy(i * 100); note(i); strcpy(a, "hello"); } return 0; }
