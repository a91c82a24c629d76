//! Folders for tests: texts with `--- path` lines between the files, and the contracts that ship.

use std::path::Path;

use countersign_contract::contract::{self, ContractRegistry};
use countersign_contract::source::{DiagnosticSeverity, SourceFile};
use countersign_protocol::{LoadedProtocol, Protocol, ProtocolBundle, load_protocol};

/// An index that is enough.
pub(crate) const INDEX: &str = "--- index.yaml\nname: t\nversion: 1.0.0\ndefault_workflow: main\n";

/// A workflow that is enough.
pub(crate) const MAIN: &str =
    "--- workflows/main.yaml\nid: main\nphases: [{ id: only }]\ntransitions: []\n";

/// A contract that takes any object.
pub(crate) const ANY: &str =
    "--- contracts/any.yaml\nid: any\nversion: 1.0.0\nschema: { type: object }\n";

/// Cuts a text into files.
pub(crate) fn bundle(text: &str) -> ProtocolBundle {
    let mut bundle = ProtocolBundle::default();
    for file in text.split("--- ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        bundle.files.insert(path.trim().to_owned(), content.to_owned());
    }
    bundle
}

/// The contracts that ship, read from the files beside this crate, which it must not depend on.
pub(crate) fn shipped() -> ContractRegistry {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shipped-contracts/contracts");
    let mut registry = ContractRegistry::default();
    for id in ["protocol_index", "workflow", "agent", "state"] {
        let text = std::fs::read_to_string(folder.join(format!("{id}.yaml"))).expect("a contract");
        let read = |path: &str| {
            std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
        };
        let contract =
            contract::load_contract(SourceFile::new(id, text), &read).expect("a sound contract");
        registry.add(contract).expect("one contract an id");
    }
    registry
}

/// Loads a text that must be sound, with nothing to remark.
#[track_caller]
pub(crate) fn sound(text: &str) -> Protocol {
    match load_protocol(bundle(text), &shipped()) {
        Ok(LoadedProtocol { protocol, warnings }) => {
            assert!(warnings.is_empty(), "{warnings:#?}");
            protocol
        }
        Err(faults) => {
            let messages: Vec<String> = faults.iter().map(ToString::to_string).collect();
            panic!("{}", messages.join("\n"));
        }
    }
}

/// Everything wrong with a text, a line each: severity where it is a warning, place, message, code, hint.
pub(crate) fn faults(text: &str) -> Vec<String> {
    let found = match load_protocol(bundle(text), &shipped()) {
        Ok(loaded) => loaded.warnings,
        Err(faults) => faults,
    };
    let messages = found.iter().map(|fault| {
        let warning = if fault.severity == DiagnosticSeverity::Warning { "warning: " } else { "" };
        let hint = fault.hint.as_ref().map_or_else(String::new, |hint| format!(" ({hint})"));
        format!("{warning}{fault}{hint}")
    });
    messages.collect()
}

/// A folder with an index, a contract `any`, and one workflow `main`, whose faults must be just these.
#[track_caller]
pub(crate) fn main_has(workflow: &str, expected: &[&str]) {
    let text = format!("{INDEX}{ANY}--- workflows/main.yaml\n{workflow}");
    assert_eq!(faults(&text), expected);
}
