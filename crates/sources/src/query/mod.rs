//! Named queries: the statements that an author declares, and the parameters that a caller may fill
//! in.

mod statement_template;
mod param_value;
mod declared_query;
mod query_call;

pub(crate) use declared_query::{DeclaredQueries, QueryLanguage};
pub(crate) use param_value::{ParamType, ParamValue};
pub(crate) use query_call::QueryCall;
