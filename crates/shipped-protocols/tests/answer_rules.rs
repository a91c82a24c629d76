//! What holds of the answer protocol beyond any one story: its tables are the seed's, its tickets cannot
//! be skipped, and its contract outweighs a model's PASS.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[path = "answer_rules/evidence.rs"]
mod evidence;
#[path = "answer_rules/numbers.rs"]
mod numbers;
#[path = "answer_rules/protocol.rs"]
mod protocol;
#[path = "answer_rules/routes.rs"]
mod routes;
#[path = "answer_rules/tables.rs"]
mod tables;
#[path = "answer_rules/tickets.rs"]
mod tickets;
#[path = "answer_rules/verdicts.rs"]
mod verdicts;
