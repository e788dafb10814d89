// Functions that are inlined and have code of their own, overloads of one name, a static function of a name that
// own_other.cpp has, too, and names that Rust's compilers would link.
int twice(int x)
{
    return x * 2 + (x >> 1);
}
int twice(double x)
{
    return (int)(x * 3) + 1;
}
static int (*volatile keep)(int);
static int hid(int x)
{
    return x * 9 + 1;
}
int caller(int x)
{
    keep = hid;
    return twice(x) * twice((double)x) + hid(x);
}
extern "C" int write(int x) __asm__("_ZN4core3fmt5write17h0123456789abcdefE");
extern "C" __attribute__((noinline)) int write(int x)
{
    return x * 17 - 3;
}
extern "C" int bar(int x) __asm__("_RNvNtCs1234_7mycrate3foo3bar");
extern "C" __attribute__((noinline)) int bar(int x)
{
    return x * 23 - 5;
}
extern "C" int _fltused = 0;
int viab(int);
extern "C" int main()
{
    return caller(3) + viab(2) + write(4) + bar(5);
}
