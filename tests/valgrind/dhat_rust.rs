#[global_allocator]
static ALLOC: dhat::Alloc = dhat::Alloc;
struct Order { id: u32, name: String, lines: Vec<u64> }
#[inline(never)]
fn order(id: u32) -> Order {
    Order { id, name: format!("order number {id}"), lines: (0..100).collect() }
}
fn main() {
    let _profiler = dhat::Profiler::new_heap();
    let mut kept = Vec::new();
    for i in 0..50 {
        let o = order(i);
        if o.id % 5 == 0 { std::mem::forget(o.name); kept.push(o.lines); }
    }
    std::mem::forget(kept);
}
