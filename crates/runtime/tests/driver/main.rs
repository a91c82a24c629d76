//! Runs as a driver drives them: over both stores, with a clock that stands still until it is moved.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[macro_use]
mod rig;
mod replies;
mod waits;
mod deliveries;
mod effects;
mod trust;
mod family;
mod brood;
mod documents;
mod holds;
mod workers;
mod calls;
mod keys;
mod simulation;
mod storage;
mod bounds;
mod parking;
mod tampering;
mod pruning;
mod mcp;
mod recall;
