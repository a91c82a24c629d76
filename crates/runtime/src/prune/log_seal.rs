//! The seal of a log, which verification recomputes after the bodies are removed.

use countersign_contract::json::sha256_hex;
use countersign_run::RunLogEntry;

/// Computes a digest over every version of a run, with its sequence numbers, its time and its hash.
pub(crate) fn compute_seal(run: &str, log: &[RunLogEntry]) -> String {
    let mut text = format!("countersign pruned log\n{run}\n");
    for one in log {
        let RunLogEntry { version, first_seq: first, last_seq: last, time, hash, .. } = one;
        text.push_str(&format!("{version} {first} {last} {} {hash}\n", time.0));
    }
    sha256_hex(&[text.as_bytes()])
}
