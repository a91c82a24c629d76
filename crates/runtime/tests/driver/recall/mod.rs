//! Runs that remember: what a person said in one is told to the next, and the log stays the truth.

mod fixtures;
mod stories;
mod trouble;
mod versions;
