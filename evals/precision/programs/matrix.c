/* Multiplies matrices. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 500 };
static double a[N][N], b[N][N], c[N][N];
static void fill(double m[N][N], unsigned seed)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            m[i][k] = (double)((seed = seed * 1103515245 + 12345) >> 16 & 1023);
}
static void multiply(void)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++)
                c[i][j] += a[i][k] * b[k][j];
}
int main(int argc, char **argv)
{
    fill(a, 1), fill(b, 2);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 10); i++)
        multiply();
    printf("%g\n", c[3][4]);
}
