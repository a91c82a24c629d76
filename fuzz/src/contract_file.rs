//! Contract files: the bytes as YAML, and as JSON.

use countersign_contract::contract::load_contract;
use countersign_contract::reply::{FinishReason, RuleContext};
use countersign_contract::source::SourceFile;

use super::text_ranges::assert_inside;

/// Replies for whatever contract comes out.
const REPLIES: [&str; 3] = ["{}", r#"{"a": 1, "b": [null, {"c": "x"}]}"#, "Sure: {\"score\": 101}"];

/// Loads a file under both names; it may refer to no other.
///
/// # Panics
/// Where an invariant of contract files is broken.
pub fn contract_file(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for name in ["fuzz.yaml", "fuzz.json"] {
        match load_contract(SourceFile::new(name, text), &|path| {
            Err(format!("`{path}`: no files here"))
        }) {
            Ok(contract) => {
                assert!(contract.digest.starts_with("sha256:"));
                for reply in REPLIES {
                    let verdict =
                        contract.admit(reply, FinishReason::Stop, &RuleContext::default());
                    assert!(verdict.as_accepted().is_some() || !verdict.violations().is_empty());
                }
            }
            Err(faults) => {
                assert!(!faults.is_empty(), "refused without a fault");
                for fault in &faults {
                    assert_eq!(fault.source.text, text);
                    assert!(!fault.message.is_empty() && !fault.to_string().is_empty());
                    assert_inside(text, fault.span.range(), fault);
                }
            }
        }
    }
}
