// Templates and inlined functions that several modules share.
namespace eng {
inline int third(int x)
{
    return x * 7 + (x >> 2);
}
inline int second(int x)
{
    int r = 0;
    for (int i = 0; i < x; i++)
        r += third(i + x);
    return r;
}
template <class T, int N> struct Queue {
    T v[N];
    int n;
    Queue();
    ~Queue();
    __attribute__((noinline)) void push(T x);
    static int mix(T x)
    {
        return (int)(x * 31) ^ (int)(x / 7);
    }
    int sum() const
    {
        int s = 0;
        for (int i = 0; i < n; i++)
            s += mix(v[i]);
        return s;
    }
};
template <class T, int N> __attribute__((noinline)) void Queue<T, N>::push(T x)
{
    if (n < N)
        v[n++] = x;
}
template <class T, int N> __attribute__((noinline)) Queue<T, N>::Queue() : n(0)
{
}
template <class T, int N> __attribute__((noinline)) Queue<T, N>::~Queue()
{
    n = second(n);
}
} // namespace eng
