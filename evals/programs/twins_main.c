/* Two static functions named mix, in twins_a.c and twins_b.c. Planted: that of twins_b.c costs about three times
   as much as the other. */
#include <stdio.h>
#include <stdlib.h>

unsigned long keys_of_orders(unsigned long n);
unsigned long keys_of_users(unsigned long n);

int main(int argc, char **argv)
{
    unsigned long rounds = argc > 1 ? strtoul(argv[1], 0, 10) : 300, sum = 0;
    for (unsigned long i = 0; i < rounds; i++)
        sum += keys_of_orders(1000000) + keys_of_users(3000000);
    printf("%lu\n", sum);
    return 0;
}
