//! Compiles expressions and text templates, and reports errors at their location.

use countersign_contract::expr::{Expr, ExprError};

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use crate::TextTemplate;

/// Compiles an expression; `names` are the variables it may read.
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

/// Compiles a text template; `names` are the variables it may read.
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

/// Compiles the expression of an optional member; `Err` if it is invalid.
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
