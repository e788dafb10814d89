// Builds a binary tree and walks it.
#include <cstdio>
#include <cstdlib>
#include <memory>
struct Node {
    int key;
    std::unique_ptr<Node> left, right;
};
static void insert(std::unique_ptr<Node> &n, int key)
{
    if (!n)
        n.reset(new Node{key, nullptr, nullptr});
    else
        insert(key < n->key ? n->left : n->right, key);
}
static long walk(const std::unique_ptr<Node> &n)
{
    return n ? n->key + walk(n->left) + walk(n->right) : 0;
}
int main(int argc, char **argv)
{
    std::unique_ptr<Node> root;
    srand(1);
    for (int i = 0; i < 300000; i++)
        insert(root, rand());
    long sum = 0;
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 20); i++)
        sum += walk(root);
    printf("%ld\n", sum);
}
