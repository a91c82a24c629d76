//! Composing: rows that may be seen, a request and a policy become a packet. Pure.
//!
//! ```text
//! filter    who may see it, does it hold, is it in the window        one file a kind
//! activate  cues that it answers                                     cues
//! order     score, time, id; caps; duplicates                        one file a kind
//! budget    shares by purpose; what is complete passes the rest on   budget
//! fill      whole, then short, then references                       fill
//! account   citations, degradations, omissions, explanation          citations, ledger, explain
//! ```
//!
//! A larger budget never loses an item: each share of a section takes the longest beginning of the
//! ranked list that fits, so its end only ever moves forward.

mod error;
mod moment;
mod normal;
mod shorten;
mod cues;
mod scattered;
mod guard;
mod ledger;
mod evidence;
mod context;
mod fill;
mod budget;
mod facts;
mod procedures;
mod episodes;
mod quotes;
mod window;
mod summary;
mod insights;
mod working;
mod sections;
mod explain;
mod packet;

pub use error::ComposeError;
pub use explain::ANALYSER;
pub(crate) use guard::{guess, tells_guess, words_of_guess};
pub(crate) use normal::normal;
pub use packet::compose;
pub(crate) use shorten::shorten_chars;
