__attribute__((noinline)) static unsigned long mix(unsigned long x)
{
    x ^= x >> 31;
    x *= 0x81dadef4bc2dd44dul;
    return x ^ x >> 27;
}

unsigned long keys_of_users(unsigned long n)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += mix(i);
    return sum;
}
