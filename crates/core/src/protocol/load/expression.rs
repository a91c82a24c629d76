//! Expressions and texts with places to fill, compiled where they stand.

use super::faults::Faults;
use super::member::Member;
use crate::expr::{Expr, ExprError};
use crate::protocol::Template;

/// Compiles the expression that stands here; `names` are what it may read.
pub(super) fn expression(member: &Member<'_>, names: &[&str], faults: &Faults) -> Option<Expr> {
    let text = member.text()?;
    Expr::compile(text, names).map_err(|error| tell(member, text, error, faults)).ok()
}

/// Compiles the text that stands here.
pub(super) fn template(member: &Member<'_>, names: &[&str], faults: &Faults) -> Option<Template> {
    let text = member.text()?;
    Template::compile(text, names).map_err(|error| tell(member, text, error, faults)).ok()
}

/// The expression of a member; `Err` where it has a fault.
pub(super) fn optional(
    member: Option<Member<'_>>,
    names: &[&str],
    faults: &Faults,
) -> Result<Option<Expr>, ()> {
    match member {
        None => Ok(None),
        Some(member) => expression(&member, names, faults).map(Some).ok_or(()),
    }
}

fn tell(member: &Member<'_>, text: &str, error: ExprError, faults: &Faults) {
    let origin = member.origin();
    let fault = origin.fault_within("invalid_expression", error.message, text, &error.span);
    faults.push(fault.hinting(error.hint));
}
