#include "queue.h"
static __attribute__((noinline)) int helper(int x)
{
    return x * 5 - 1;
}
static inline int first(int x)
{
    return eng::second(x) +
           eng::second(x + 3) * helper(x);
}
int other(int x)
{
    if (x < 0)
        return eng::third(x);
    eng::Queue<int, 8> q;
    q.push(x);
    return first(x) + helper(x) +
           q.sum();
}
