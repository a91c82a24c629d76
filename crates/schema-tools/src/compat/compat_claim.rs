//! Holds what a version of a contract claims about the version before against what it is.

use countersign_contract::contract::{CompatibilityLevel, Contract};
use serde_json::Value;
use thiserror::Error;

use super::compare_contracts::compare;
use super::comparison::CompatOutcome;

/// Why a version of a contract cannot follow another one as it claims.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CompatClaimError {
    /// A value shows that the claim is false.
    #[error(
        "{new} claims `{}`, but {direction}: {witness}{}",
        declared.as_str(),
        violations.first().map_or_else(String::new, |first| format!(" ({first})"))
    )]
    Refuted {
        /// Name and version of the contract.
        new: String,
        /// The compatibility that it claims.
        declared: CompatibilityLevel,
        /// Which of the two refuses the value, in words.
        direction: String,
        /// The value that one version accepts and the other refuses.
        witness: Box<Value>,
        /// Why it is refused, one line each.
        violations: Vec<String>,
    },
    /// The version claims to be the first one.
    #[error("{new} claims `initial`, but {old} is there before it")]
    NotInitial {
        /// Name and version of the contract.
        new: String,
        /// Name and version of the one before.
        old: String,
    },
    /// A breaking version says nothing about how to migrate.
    #[error("{new} is `breaking` and has no `migration_notes`")]
    MissingNotes {
        /// Name and version of the contract.
        new: String,
    },
}

/// Checks what a version claims in `compatibility` about the version before it. A claim that can
/// neither be proven nor refuted is accepted.
pub fn check_compat_claim(old: &Contract, new: &Contract) -> Result<(), CompatClaimError> {
    let name = |contract: &Contract| format!("`{}` {}", contract.id, contract.version);
    match new.compatibility {
        CompatibilityLevel::Initial => {
            return Err(CompatClaimError::NotInitial { new: name(new), old: name(old) });
        }
        CompatibilityLevel::Breaking if new.migration_notes.trim().is_empty() => {
            return Err(CompatClaimError::MissingNotes { new: name(new) });
        }
        CompatibilityLevel::Breaking => return Ok(()),
        CompatibilityLevel::Backward | CompatibilityLevel::Forward | CompatibilityLevel::Full => {}
    }
    let comparison = compare(old, new);
    let refuted = |outcome: &CompatOutcome, accepts: &Contract, refuses: &Contract| match outcome {
        CompatOutcome::No { witness, violations, .. } => Err(CompatClaimError::Refuted {
            new: name(new),
            declared: new.compatibility,
            direction: format!(
                "{} refuses a value that {} accepts",
                refuses.version, accepts.version
            ),
            witness: Box::new(witness.clone()),
            violations: violations.clone(),
        }),
        CompatOutcome::Yes | CompatOutcome::Unknown { .. } => Ok(()),
    };
    if new.compatibility != CompatibilityLevel::Forward {
        refuted(&comparison.backward, old, new)?;
    }
    if new.compatibility != CompatibilityLevel::Backward {
        refuted(&comparison.forward, new, old)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use countersign_contract::contract::load_inline_contract;

    use super::*;

    fn claim(old: &str, new: &str, rest: &str) -> Result<(), String> {
        let contract = |version: &str, schema: &str, rest: &str| {
            let text = format!("id: note\nversion: {version}\nschema: {schema}\n{rest}");
            load_inline_contract(&text).unwrap()
        };
        let (old, new) = (contract("1.0.0", old, ""), contract("1.1.0", new, rest));
        check_compat_claim(&old, &new).map_err(|error| error.to_string())
    }

    #[test]
    fn a_claim_holds_or_a_value_refutes_it() {
        let (long, short) = ("{ type: string, maxLength: 9 }", "{ type: string, maxLength: 2 }");
        assert_eq!(claim(short, long, "compatibility: backward"), Ok(()));
        assert_eq!(claim(long, short, "compatibility: forward"), Ok(()));
        assert_eq!(claim(long, long, "compatibility: full"), Ok(()));
        let refuted = claim(long, short, "compatibility: backward").unwrap_err();
        let said = "`note` 1.1.0 claims `backward`, but 1.1.0 refuses a value that 1.0.0 accepts: ";
        assert!(refuted.starts_with(said), "{refuted}");
        let refuted = claim(short, long, "compatibility: full").unwrap_err();
        assert!(refuted.contains("but 1.0.0 refuses a value that 1.1.0 accepts"), "{refuted}");
    }

    #[test]
    fn a_break_is_explained_and_only_the_first_is_initial() {
        let breaking = "compatibility: breaking";
        assert_eq!(
            claim("true", "{ type: string }", breaking).unwrap_err(),
            "`note` 1.1.0 is `breaking` and has no `migration_notes`"
        );
        let explained = "compatibility: breaking\nmigration_notes: Quote it.";
        assert_eq!(claim("true", "{ type: string }", explained), Ok(()));
        assert_eq!(
            claim("true", "true", "").unwrap_err(),
            "`note` 1.1.0 claims `initial`, but `note` 1.0.0 is there before it"
        );
    }
}
