//! A part of a list, and where the rest begins.

use serde::Serialize;
use utoipa::ToSchema;

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CursorPage<T> {
    /// What there is, in the order of the list.
    pub items: Vec<T>,
    /// Where the rest begins: hand it in as `cursor`. Absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
