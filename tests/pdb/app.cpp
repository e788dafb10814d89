#include "queue.h"
namespace eng {
namespace {
__attribute__((noinline)) int hidden(int x)
{
    return x * x + 3;
}
inline int tiny(int x)
{
    return x ^ hidden(x);
}
} // namespace
int run(int k)
{
    Queue<int, 8> q;
    for (int i = 0; i < k; i++)
        q.push(tiny(i));
    return q.sum();
}
double run(double d)
{
    Queue<double, 4> q;
    q.push(d);
    return q.sum();
}
struct Base {
    virtual int f(int);
};
int Base::f(int x)
{
    return tiny(x) +
           second(x);
}
bool operator==(const Base &a, const Base &b)
{
    return &a == &b;
}
} // namespace eng
static __attribute__((noinline)) int helper(int x)
{
    return x / 3 + 1;
}
int other(int);
extern "C" int cpart(int);
extern "C" int cfunc(int x)
{
    auto scaled = [&](int y) __attribute__((noinline)) {
        return y * x + helper(y);
    };
    return scaled(x) + scaled(x + 1);
}
extern "C" int _fltused = 0;
extern "C" int __stdcall stdcalled(int a, int b)
{
    return a + b * helper(a);
}
extern "C" int main()
{
    return eng::run(5) + other(3) + cfunc(2) + (int)eng::run(2.5) +
           stdcalled(1, 2) + cpart(4);
}
