#include <stdlib.h>
int main(void) { for (int i = 0; i < 10; i++) free(malloc(100)); return 0; }
