//! Runs that remember: what a person said in one is told to the next, and the log stays the truth.

mod desk;
mod stories;
mod trouble;
mod versions;
