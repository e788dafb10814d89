__attribute__((noinline)) static unsigned long mix(unsigned long x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ul;
    return x ^ x >> 27;
}

unsigned long keys_of_orders(unsigned long n)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += mix(i);
    return sum;
}
