//! Reading ahead: pages that a question will need are asked of the disk side by side.
//!
//! `SQLite` asks for one page after the other, and a disk that answers eighty of them in half a millisecond when it
//! is asked for all at once takes four or five when it is asked for each in turn. So where a file turns out not to lie in the
//! system's memory, whoever knows what keys it will look up says so beforehand. The pages on the way to them
//! are found in the trees of the file itself, one level of all trees at a time.
//!
//! All this is a hint. The pages are read past `SQLite`, without its locks and without its log, so that what is seen here
//! may be old or torn: it decides what is fetched, and nothing else.

mod trees;
mod fetch;
mod page;
mod record;
mod pages;

pub use fetch::Sought;
pub use trees::Trees;
