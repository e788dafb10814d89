// Shortest paths in a made graph, with a heap and hash maps.
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

fn graph(n: u64) -> HashMap<u64, Vec<(u64, u64)>> {
    let mut g: HashMap<u64, Vec<(u64, u64)>> = HashMap::new();
    let mut x = 1u64;
    for i in 0..n {
        for _ in 0..5 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            g.entry(i).or_default().push(((x >> 33) % n, (x >> 40) % 100 + 1));
        }
    }
    g
}

#[inline(never)]
fn distances(g: &HashMap<u64, Vec<(u64, u64)>>, from: u64) -> HashMap<u64, u64> {
    let mut best = HashMap::new();
    let mut heap = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((d, n))) = heap.pop() {
        if best.contains_key(&n) {
            continue;
        }
        best.insert(n, d);
        for &(to, w) in &g[&n] {
            heap.push(Reverse((d + w, to)));
        }
    }
    best
}

fn main() {
    let times: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10);
    let g = graph(50000);
    println!("{}", (0..times).map(|i| distances(&g, i).values().sum::<u64>()).sum::<u64>());
}
