//! A protocol out of its files, and everything that is wrong with them.

use std::sync::Arc;

use countersign_core::contract::Registry;
use countersign_core::json::Span;
use countersign_core::protocol::{Bundle, Loaded, Protocol, load};
use countersign_core::spec::{Diagnostic, Source};
use countersign_memory::policy::PolicyError;

use crate::recall::policy_of;

/// Loads the files of a protocol, its policy of memory included: the protocol, and what is to be
/// remarked about it.
///
/// # Errors
/// Every fault, with its place.
pub fn load_protocol(
    bundle: Bundle,
    shipped: &Registry,
) -> Result<(Arc<Protocol>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let Loaded { protocol, warnings } = load(bundle, shipped)?;
    if let Err(fault) = policy_of(&protocol) {
        return Err(vec![of_policy(&protocol, fault)]);
    }
    Ok((Arc::new(protocol), warnings))
}

/// What is wrong with the policy of memory, at its file.
fn of_policy(protocol: &Protocol, fault: PolicyError) -> Diagnostic {
    if let PolicyError::Unreadable(diagnostic) = fault {
        return *diagnostic;
    }
    let path = protocol.memory.policy.as_deref().unwrap_or_default();
    let text = protocol.bundle.files.get(path).map_or("", String::as_str);
    let source = Arc::new(Source::new(path, text));
    Diagnostic::new("schema", fault.to_string(), &source, Span::default())
}
