//! The seal of a log: what a check makes again when the bodies are gone.

use countersign_core::json::sha256;
use countersign_core::run::Entry;

/// A digest of every version of a run, with its places, its time and its hash.
pub(crate) fn seal(run: &str, log: &[Entry]) -> String {
    let mut text = format!("countersign pruned log\n{run}\n");
    for one in log {
        let Entry { version, first, last, time, hash, .. } = one;
        text.push_str(&format!("{version} {first} {last} {} {hash}\n", time.0));
    }
    sha256(&[text.as_bytes()])
}
