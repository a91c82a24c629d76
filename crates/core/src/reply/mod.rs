//! A reply's way through the door: text, then candidates, then one accepted value or violations.
//!
//! ```text
//! text ── intake ──► Parsed ── schema ──► Valid ── rules ──► Accepted
//!            │                   │                  │
//!            └───────────── Vec<Violation> ─────────┘
//! ```

mod violation;
mod intake;
mod marks;
mod scan;
mod wrapper;
mod rival;
mod reported;
mod standing;
mod doors;
mod verdict;
mod place;
mod violation_list;
mod reask;

pub use doors::{Accepted, Context, Parsed, Valid};
pub use intake::{Candidate, Finish, Intake, Terms};
pub use reask::{Reask, reask};
pub use verdict::Verdict;
pub use violation::{Code, Violation, show};
pub use violation_list::{ViolationList, count_violations};
