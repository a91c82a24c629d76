//! How long a text is to a model. Counts decide what fits, so a packet names what counted them.

mod counter;

pub use counter::{CharCounter, TiktokenCounter, TokenCounter, UnknownTokenizer, find_counter};
