//! What a worker tells whoever started it. It changes nothing.

use countersign_store::RunId;

use crate::driver::Rest;

/// Something that happened to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It began.
    Began,
    /// It took a run.
    Took(RunId),
    /// A run came to rest.
    Rested(RunId, Rest),
    /// A run was lost to another worker: the lease ran out. Nothing was kept after that.
    Lost(RunId),
    /// A run cannot be worked on. It is looked at again in a while.
    Failed(RunId, String),
    /// The store cannot be reached; told once.
    Away(String),
    /// The store is back, after so many milliseconds.
    Back(i64),
    /// It was told to stop, with so many runs under way.
    Stopping(usize),
    /// It has stopped; so many runs were given back in the middle of a step.
    Stopped(usize),
}

/// Hears the news.
pub trait Report: Send + Sync {
    /// Something happened.
    fn told(&self, news: News);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Report for Silent {
    fn told(&self, _: News) {}
}
