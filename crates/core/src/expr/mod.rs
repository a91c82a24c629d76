//! The expression language of gates and rules: the side-effect-free part of JavaScript.
//!
//! An expression is compiled when its protocol is loaded and means what JavaScript means; what we do
//! not have is refused then, with a span. It reads the roots it is given and nothing else: no clock, no
//! randomness, no assignment, no way out. Each evaluation has a budget of steps and of bytes.
//!
//! ```text
//! source ─ lexer ─► tokens ─ parser, calls ─► resolved tree ─ eval, each ─► value
//!                                                  ├─ reads ─► paths, for analysis
//!                                                  └─ outlook, narrow ─► what it may come to, for analysis
//! ```
//!
//! The judge is a real engine: `tests/expr_oracle.rs` compares every operator and method with QuickJS.

mod compiled;
mod error;
mod token;
mod lexer;
mod ast;
mod vocabulary;
mod scope;
mod parser;
mod calls;
mod compound;
mod refusal;
mod reads;
mod literals;
mod inherited;
mod may;
mod outlook;
mod narrow;
mod set_ops;
mod value;
mod object;
mod text;
pub mod number;
mod budget;
mod coerce;
mod property;
mod eval;
mod truth;
mod each;
mod making;
mod methods;
mod sorting;
mod builtins;
mod json_text;
mod natural;
mod pointers;
#[cfg(test)]
mod tests;

pub use compiled::Expr;
pub use error::{EvalError, ExprError};
pub use inherited::InheritedName;
pub use may::{May, Numbers, Plain, Texts};
pub use object::Object;
pub use outlook::{Known, NeverHolds, Outlook};
pub use reads::{ReadPath, ReadStep};
pub use text::Text;
pub use value::{List, Val};
