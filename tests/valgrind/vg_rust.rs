#[inline(never)]
fn order(id: u32) -> (String, Vec<u64>) {
    (format!("order number {id}"), (0..100).collect())
}
fn main() {
    for i in 0..10 {
        let (name, lines) = order(i);
        if i % 2 == 0 { std::mem::forget(name); std::mem::forget(lines); }
    }
}
