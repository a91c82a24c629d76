//! What a run is pinned to: the files of its protocol, and the shipped contracts they rely on.

use std::collections::BTreeMap;

use countersign_contract::contract::{Contract, ContractRegistry};
use countersign_protocol::{
    AnswerShape, LoadedProtocol, PhaseWork, Protocol, ProtocolBundle, load_protocol,
};
use serde::{Deserialize, Serialize};

/// A protocol as it is stored beside its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedProtocol {
    /// The files of the protocol folder.
    pub bundle: ProtocolBundle,
    /// The contracts that its phases use, as a map from id to digest.
    pub contracts: BTreeMap<String, String>,
}

impl PinnedProtocol {
    /// Captures the files and contract digests of a protocol.
    #[must_use]
    pub fn from_protocol(protocol: &Protocol) -> Self {
        let named =
            collect_contracts(protocol).into_iter().map(|one| (one.id.clone(), one.digest.clone()));
        Self { bundle: protocol.bundle.clone(), contracts: named.collect() }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings serialize to JSON")
    }

    /// Compiles the protocol again. Fails if a contract that it relies on has changed.
    pub fn into_protocol(self, shipped: &ContractRegistry) -> Result<Protocol, String> {
        let LoadedProtocol { protocol, .. } =
            load_protocol(self.bundle, shipped).map_err(|faults| {
                let told = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                format!("this program cannot load it: {told}")
            })?;
        let now: BTreeMap<&str, &str> = collect_contracts(&protocol)
            .into_iter()
            .map(|one| (one.id.as_str(), one.digest.as_str()))
            .collect();
        let changed = self
            .contracts
            .iter()
            .find(|(id, digest)| now.get(id.as_str()).is_none_or(|known| known != digest));
        match changed {
            None => Ok(protocol),
            Some((id, digest)) => Err(format!(
                "it needs contract `{id}` with digest {digest}, but this program has a different one"
            )),
        }
    }
}

/// Returns every contract that a run of the protocol can be validated against.
fn collect_contracts(protocol: &Protocol) -> Vec<&Contract> {
    let mut used: Vec<&Contract> = protocol.document.contract.iter().map(AsRef::as_ref).collect();
    for workflow in protocol.workflows.values() {
        let document = workflow.document.iter().flat_map(|document| &document.contract);
        used.extend(document.map(AsRef::as_ref));
        let given = workflow.input.iter().map(|input| input.answer.as_ref());
        used.extend(given.filter(|contract| contract.id != "answer"));
    }
    for phase in protocol.workflows.values().flat_map(|workflow| &workflow.phases) {
        match &phase.work {
            PhaseWork::Agent(work) => used.push(&work.contract),
            PhaseWork::Effect { contract: Some(contract), .. } => used.push(contract),
            PhaseWork::Ask(questions) => used.extend(questions.iter().filter_map(|question| {
                match &question.shape {
                    // A contract defined inside the question has no id of its own.
                    AnswerShape::Value(contract) if contract.id != "answer" => {
                        Some(contract.as_ref())
                    }
                    _ => None,
                }
            })),
            _ => {}
        }
    }
    used
}
