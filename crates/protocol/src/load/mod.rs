//! Loading: turns the texts of a folder into a [`super::Protocol`], or into all diagnostics with
//! their locations. Each file is parsed, its keys are checked, and it is validated against its
//! schema.
//!
//! ```text
//! ProtocolBundle ─► files ─► contracts, rules, agents, index ─► workflows ─► Protocol
//!                     └───────── diagnostics of all of them, at once ───┘
//! ```
//!
//! Loading does not examine how a protocol behaves when it runs; `check` does that.

mod load_diagnostics;
mod file_node;
mod symbol_table;
mod unknown_keys;
mod protocol_file;
mod load_protocol;
mod read_pointer;
mod confined_path;
mod read_expression;
mod read_duration;
mod read_localized;
mod protocol_contracts;
mod contract_records;
mod read_rules;
mod builtin_agents;
mod prompt_merge;
mod read_skills;
mod read_agents;
mod read_index;
mod read_document;
mod read_hooks;
mod read_policy;
mod read_mcp_servers;
mod read_memory_config;
mod read_host;
mod read_budget;
mod workflow_settings;
mod include_merger;
mod compile_workflow;
mod name_scope;
mod read_failure_handler;
mod read_for_each;
mod read_approval;
mod read_presentation;
mod read_call_approvals;
mod read_gate;
mod read_retry_policy;
mod read_phase;
mod read_work;
mod read_questions;
mod read_workflow_input;
mod read_workflow_output;
mod read_effect;
mod read_changes;
mod read_channels;

pub use confined_path::confine_path;
pub use contract_records::{CONTRACT_RECORD_FOLDER, check_contract_record, read_contract_record};
pub use load_protocol::{LoadedProtocol, load_protocol};
pub use protocol_file::{AGENT_SCHEMA, INDEX_SCHEMA, WORKFLOW_SCHEMA};
pub(crate) use read_pointer::is_within;
