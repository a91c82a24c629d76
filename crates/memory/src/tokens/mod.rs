//! Token counting. Token counts decide what fits, so a packet names the counter that produced them.

mod counter;

pub use counter::{CharCounter, TiktokenCounter, TokenCounter, UnknownTokenizer, find_counter};
