// Counts words. Planted: for each word the whole list of stop words is cloned (stop_words), which is most of its time.
use std::collections::HashMap;

#[inline(never)]
fn stop_words(all: &[String]) -> Vec<String> {
    all.to_vec()
}

#[inline(never)]
fn is_stop(word: &str, all: &[String]) -> bool {
    stop_words(all).iter().any(|w| w == word)
}

#[inline(never)]
fn count<'a>(text: &'a str, all: &[String], into: &mut HashMap<&'a str, usize>) {
    for word in text.split(' ') {
        if !is_stop(word, all) {
            *into.entry(word).or_insert(0) += 1;
        }
    }
}

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2000);
    let all: Vec<String> = (0..60).map(|i| format!("stop{i}")).collect();
    let text: String = (0..500).map(|i| format!("word{} ", i % 97)).collect();
    let mut counts = HashMap::new();
    for _ in 0..rounds {
        count(&text, &all, &mut counts);
    }
    println!("{}", counts.len());
}
