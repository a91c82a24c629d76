//! A run file that was parsed and verified; nothing is stored before that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_contract::contract::ContractRegistry;
use countersign_protocol::Protocol;
use countersign_run::{CorruptLogError, LogVerification, RunLogEntry, verify};
use serde_json::Value;

use super::run_file_line::{FORMAT, RunFileHeader, RunFileLine, VERSION};
use super::{RunFileError, TransferError};
use crate::engine::PinnedProtocol;
use crate::integrity::{check_hash_chain, collect_blob_digests, compute_blob_digest};

/// A run from a file: its hash chain holds, every decision was reproduced, and all bytes match
/// their digests.
#[derive(Debug)]
pub struct VerifiedRunFile {
    /// Id of the run.
    pub run: String,
    /// The protocol that the run is pinned to.
    pub protocol: Arc<Protocol>,
    /// The result of the verification.
    pub verification: LogVerification,
    pub(super) pinned_json: String,
    pub(super) log: Vec<RunLogEntry>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
}

impl VerifiedRunFile {
    /// Parses and verifies a file.
    pub fn parse_and_verify(text: &str, shipped: &ContractRegistry) -> Result<Self, TransferError> {
        let mut lines = text.lines().zip(1_usize..);
        let header = parse_header(lines.next().map_or("", |(line, _)| line))?;
        let mut pinned: Option<(String, Protocol)> = None;
        let mut log: Vec<RunLogEntry> = Vec::new();
        let mut blobs = BTreeMap::new();
        let mut last = 1;
        for (text, number) in lines {
            last = number;
            let line: RunFileLine = serde_json::from_str(text)
                .map_err(|error| RunFileError::Unreadable(error.to_string()).at_line(number))?;
            let expected = if pinned.is_none() {
                "the protocol".to_owned()
            } else if (log.len() as u64) < header.versions {
                format!("version {}", log.len() + 1)
            } else if (blobs.len() as u64) < header.blobs {
                "bytes that a version refers to".to_owned()
            } else {
                "the end of the file".to_owned()
            };
            let found = line.describe();
            match line {
                RunFileLine::Protocol { text } if pinned.is_none() => {
                    let protocol =
                        load_pinned(&text, &header, shipped).map_err(|w| w.at_line(number))?;
                    pinned = Some((text, protocol));
                }
                RunFileLine::Entry { hash, body, .. } if found == expected => {
                    let entry = RunLogEntry::from_body(body, hash);
                    let unreadable =
                        |error: CorruptLogError| RunFileError::Unreadable(error.to_string());
                    log.push(entry.map_err(|error| unreadable(error).at_line(number))?);
                }
                RunFileLine::Blob { digest, text, base64 } if expected.starts_with("bytes") => {
                    let bytes = decode_bytes(text, base64).map_err(|w| w.at_line(number))?;
                    let found = compute_blob_digest(&bytes);
                    if found != digest {
                        return Err(RunFileError::DigestMismatch { expected: digest, found }
                            .at_line(number));
                    }
                    blobs.insert(digest, bytes);
                }
                _ => return Err(RunFileError::UnexpectedLine { expected, found }.at_line(number)),
            }
        }
        let Some((pinned, protocol)) = pinned else {
            return Err(build_end_error("the protocol").at_line(last));
        };
        if (log.len() as u64) < header.versions {
            return Err(build_end_error(&format!("version {}", log.len() + 1)).at_line(last));
        }
        let proof = verify_history(&protocol, &header, &log)?;
        let referenced: BTreeSet<String> =
            log.iter().flat_map(|one| collect_blob_digests(&header.run, one)).collect();
        if let Some(lost) = referenced.iter().find(|digest| !blobs.contains_key(*digest)) {
            return Err(build_end_error(&format!("the bytes {lost}, which a version refers to"))
                .at_line(last));
        }
        if let Some(stray) = blobs.keys().find(|digest| !referenced.contains(*digest)) {
            let (expected, found) =
                ("only bytes that versions refer to".to_owned(), format!("the bytes {stray}"));
            return Err(RunFileError::UnexpectedLine { expected, found }.at_line(last));
        }
        Ok(Self {
            run: header.run,
            protocol: Arc::new(protocol),
            verification: proof,
            pinned_json: pinned,
            log,
            blobs,
        })
    }
}

fn build_end_error(expected: &str) -> RunFileError {
    RunFileError::UnexpectedLine {
        expected: expected.to_owned(),
        found: "the end of the file".to_owned(),
    }
}

fn parse_header(text: &str) -> Result<RunFileHeader, TransferError> {
    let unreadable =
        |error: serde_json::Error| RunFileError::Unreadable(error.to_string()).at_line(1);
    let value: Value = serde_json::from_str(text).map_err(unreadable)?;
    match value["format"].as_str() {
        Some(FORMAT) => {}
        found => {
            return Err(RunFileError::WrongFormat(found.unwrap_or("nothing").to_owned()).at_line(1));
        }
    }
    // A newer header may have other members, so the version is checked first.
    let version = value["v"].as_u64().unwrap_or_default();
    if version != u64::from(VERSION) {
        return Err(
            RunFileError::UnsupportedVersion(u32::try_from(version).unwrap_or(u32::MAX)).at_line(1)
        );
    }
    serde_json::from_value(value).map_err(unreadable)
}

fn load_pinned(
    text: &str,
    header: &RunFileHeader,
    shipped: &ContractRegistry,
) -> Result<Protocol, RunFileError> {
    let pinned: PinnedProtocol =
        serde_json::from_str(text).map_err(|error| RunFileError::Unreadable(error.to_string()))?;
    let found = pinned.bundle.compute_digest();
    if found != header.protocol {
        return Err(RunFileError::DigestMismatch { expected: header.protocol.clone(), found });
    }
    pinned.into_protocol(shipped).map_err(RunFileError::Protocol)
}

fn decode_bytes(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, RunFileError> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => {
            STANDARD.decode(base64).map_err(|error| RunFileError::Unreadable(error.to_string()))
        }
        _ => Err(RunFileError::Unreadable("expected either `text` or `base64`".to_owned())),
    }
}

fn verify_history(
    protocol: &Protocol,
    header: &RunFileHeader,
    log: &[RunLogEntry],
) -> Result<LogVerification, TransferError> {
    let history =
        |flaw| TransferError::InvalidHistory { run: header.run.clone(), problem: Box::new(flaw) };
    check_hash_chain(&header.run, log).map_err(history)?;
    let proof = verify(protocol, &header.run, log).map_err(|fault| history(fault.into()))?;
    for (what, expected, found) in [
        ("the head", header.head.clone(), proof.hash.clone()),
        ("the number of versions", header.versions.to_string(), proof.versions.to_string()),
        ("the number of events", header.events.to_string(), proof.events.to_string()),
        ("the protocol of the run", header.protocol.clone(), proof.state.protocol.clone()),
    ] {
        if found != expected {
            let found = format!("{what} {found}");
            return Err(RunFileError::UnexpectedLine {
                expected: format!("{what} {expected}"),
                found,
            }
            .at_line(1));
        }
    }
    Ok(proof)
}
