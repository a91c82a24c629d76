//! Expressions and texts with places to fill, compiled where they stand.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use crate::expr::{Expr, ExprError};
use crate::protocol::TextTemplate;

/// Compiles the expression that stands here; `names` are what it may read.
pub(super) fn read_expression(
    member: &FileNode<'_>,
    names: &[&str],
    faults: &LoadDiagnostics,
) -> Option<Expr> {
    let text = member.text()?;
    Expr::compile(text, names)
        .map_err(|error| report_expression_error(member, text, error, faults))
        .ok()
}

/// Compiles the text that stands here.
pub(super) fn read_template(
    member: &FileNode<'_>,
    names: &[&str],
    faults: &LoadDiagnostics,
) -> Option<TextTemplate> {
    let text = member.text()?;
    TextTemplate::compile(text, names)
        .map_err(|error| report_expression_error(member, text, error, faults))
        .ok()
}

/// The expression of a member; `Err` where it has a fault.
pub(super) fn read_optional_expression(
    member: Option<FileNode<'_>>,
    names: &[&str],
    faults: &LoadDiagnostics,
) -> Result<Option<Expr>, ()> {
    match member {
        None => Ok(None),
        Some(member) => read_expression(&member, names, faults).map(Some).ok_or(()),
    }
}

fn report_expression_error(
    member: &FileNode<'_>,
    text: &str,
    error: ExprError,
    faults: &LoadDiagnostics,
) {
    let origin = member.origin();
    let fault = origin.diagnose_within("invalid_expression", error.message, text, &error.span);
    faults.push(fault.with_hint(error.hint));
}
