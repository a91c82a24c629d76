//! Loads a protocol from its files, and reports everything that is wrong with them.

use std::sync::Arc;

use countersign_contract::contract::ContractRegistry;
use countersign_contract::json::TextSpan;
use countersign_contract::source::{Diagnostic, SourceFile};
use countersign_memory::policy::MemoryPolicyError;
use countersign_protocol::{self as protocol, LoadedProtocol, Protocol, ProtocolBundle};

use crate::memory_recorder::load_memory_policy;

/// Loads the files of a protocol, including its memory policy. Returns the protocol and its
/// warnings.
///
/// # Errors
/// Every fault, with its location.
pub fn load_protocol(
    bundle: ProtocolBundle,
    shipped: &ContractRegistry,
) -> Result<(Arc<Protocol>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let LoadedProtocol { protocol, warnings } = protocol::load_protocol(bundle, shipped)?;
    if let Err(fault) = load_memory_policy(&protocol) {
        return Err(vec![build_policy_diagnostic(&protocol, fault)]);
    }
    Ok((Arc::new(protocol), warnings))
}

/// Converts a fault of the memory policy into a diagnostic at its file.
fn build_policy_diagnostic(protocol: &Protocol, fault: MemoryPolicyError) -> Diagnostic {
    if let MemoryPolicyError::Unreadable(diagnostic) = fault {
        return *diagnostic;
    }
    let path = protocol.memory.policy.as_deref().unwrap_or_default();
    let text = protocol.bundle.files.get(path).map_or("", String::as_str);
    let source = Arc::new(SourceFile::new(path, text));
    Diagnostic::new("schema", fault.to_string(), &source, TextSpan::default())
}
