//! Expression language of gates and rules: the side-effect-free subset of JavaScript.
//!
//! An expression is compiled when its protocol is loaded, and has the same meaning as in
//! JavaScript. Compilation refuses unsupported syntax with a span. An expression reads only the
//! roots that the caller passes: it has no clock, no randomness and no assignment. Each evaluation
//! has a budget of steps and of bytes.
//!
//! ```text
//! source ─ lexer ─► tokens ─ parser, parse_calls ─► resolved tree ─ eval, eval_callbacks ─► value
//!                                                    ├─ read_paths ─► paths, for analysis
//!                                                    └─ analysis, narrowing ─► possible values
//! ```
//!
//! `tests/expr_oracle.rs` compares every operator and method with a real engine, QuickJS.

mod compiled_expr;
mod expr_error;
mod token;
mod lexer;
mod ast;
mod vocabulary;
mod expr_scope;
mod parser;
mod parse_calls;
mod parse_literals;
mod parse_errors;
mod read_paths;
mod literals;
mod inherited_names;
mod abstract_value;
mod analysis;
mod narrowing;
mod abstract_ops;
mod expr_value;
mod expr_object;
mod expr_string;
pub mod js_number;
mod eval_budget;
mod coerce;
mod property;
mod eval;
mod eval_condition;
mod eval_callbacks;
mod eval_literals;
mod methods;
mod eval_sort;
mod builtins;
mod json_functions;
mod text_functions;
mod pointer_functions;
#[cfg(test)]
mod tests;

pub use abstract_value::{AbstractValue, NumberSet, PlainValue, StringSet};
pub use analysis::{Analysis, TypeEnv, UnsatisfiableComparison};
pub use compiled_expr::Expr;
pub use expr_error::{EvalError, ExprError};
pub use expr_object::ExprObject;
pub use expr_string::ExprString;
pub use expr_value::{ExprList, ExprValue};
pub use inherited_names::InheritedName;
pub use read_paths::{ReadPath, ReadStep};
