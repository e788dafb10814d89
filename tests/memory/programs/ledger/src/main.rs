//! A ledger whose memory is known (../../../truth.py): 3000 steps, 5 ms of sleep after each 10. With the feature
//! `jemalloc` it dumps its heap after each third.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[derive(Clone, Copy)]
struct Line([u8; 64]);

struct Account {
    other: RefCell<Option<Rc<Account>>>,
    name: [u8; 64],
}

#[derive(Default)]
struct Books {
    index: HashMap<u64, String>,
    history: Vec<Line>,
    rates: BTreeMap<u64, u64>,
    table: Vec<u8>,
}

/// Leaks: 256 bytes.
#[inline(never)]
fn book_entry(i: u64) {
    let mut b = Box::new([0u8; 256]);
    b[0] = i as u8;
    black_box(Box::leak(b));
}

/// Grows: a string of 48 bytes, and the map.
#[inline(never)]
fn index_entry(books: &mut Books, i: u64) {
    let mut s = String::with_capacity(48);
    s.push_str("entry");
    books.index.insert(i, s);
}

/// Grows: 64 bytes in a vector.
#[inline(never)]
fn push_history(books: &mut Books, i: u64) {
    books.history.push(Line([i as u8; 64]));
    black_box(books.history[0].0[0]);
}

/// Held: 100 rates.
#[inline(never)]
fn cache_rate(books: &mut Books, i: u64) {
    books.rates.insert(i % 100, i);
}

/// Held: 1 MiB.
#[inline(never)]
fn load_table(books: &mut Books) {
    books.table = black_box(vec![1u8; 1 << 20]);
}

/// Churn.
#[inline(never)]
fn format_lines(i: u64) -> usize {
    (0..20).map(|k| black_box(format!("entry {i} of {k}: balance {:>300}", i * k)).len()).sum()
}

/// Leaks: two accounts that hold each other, 96 bytes each.
#[inline(never)]
fn link_accounts(i: u64) {
    let a = Rc::new(Account { other: RefCell::new(None), name: [i as u8; 64] });
    let b = Rc::new(Account { other: RefCell::new(Some(a.clone())), name: [i as u8; 64] });
    black_box(b.name[0]);
    *a.other.borrow_mut() = Some(b);
}

/// The peak: 8 MiB for a moment.
#[inline(never)]
fn year_end() -> u8 {
    let pages = black_box(vec![7u8; 8 << 20]);
    pages[12345]
}

#[cfg(feature = "jemalloc")]
fn dump() {
    let _ = unsafe { tikv_jemalloc_ctl::raw::write(b"prof.dump\0", std::ptr::null::<std::ffi::c_char>()) };
}
#[cfg(not(feature = "jemalloc"))]
fn dump() {}

fn main() {
    let steps = 3000u64;
    let books = Box::leak(Box::<Books>::default());
    let mut total = 0usize;
    load_table(books);
    for i in 0..steps {
        book_entry(i);
        index_entry(books, i);
        push_history(books, i);
        cache_rate(books, i);
        total += format_lines(i);
        if i % 10 == 0 {
            link_accounts(i);
            std::thread::sleep(Duration::from_millis(5));
        }
        if i == steps / 2 {
            total += year_end() as usize;
        }
        if (i + 1) % (steps / 3) == 0 {
            dump();
        }
    }
    black_box(total);
}
