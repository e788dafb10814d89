static int helper(int x)
{
    return x + 9;
}
int cpart(int x)
{
    int s = 0;
    for (int i = 0; i < x; i++)
        s += helper(i) * x;
    return s;
}
