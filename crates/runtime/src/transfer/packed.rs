//! A run's file, read and proved: nothing is kept before this exists.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use countersign_core::contract::Registry;
use countersign_core::protocol::Protocol;
use countersign_core::run::{CorruptLog, Entry, Verification, verify};
use serde_json::Value;

use super::line::{FORMAT, Header, Line, VERSION};
use super::{TransferError, Wrong};
use crate::engine::Pinned;
use crate::proof::{chain, digest_of, spoken_of};

/// A run out of a file: its chain holds, every decision comes out the same, and all bytes have the
/// digests they are under.
#[derive(Debug)]
pub struct Packed {
    /// The run.
    pub run: String,
    /// What it is pinned to.
    pub protocol: Arc<Protocol>,
    /// What was proved.
    pub proof: Verification,
    pub(super) pinned: String,
    pub(super) log: Vec<Entry>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
}

impl Packed {
    /// Reads and proves a file.
    pub fn read(text: &str, shipped: &Registry) -> Result<Self, TransferError> {
        let mut lines = text.lines().zip(1_usize..);
        let header = header(lines.next().map_or("", |(line, _)| line))?;
        let mut pinned: Option<(String, Protocol)> = None;
        let mut log: Vec<Entry> = Vec::new();
        let mut blobs = BTreeMap::new();
        let mut last = 1;
        for (text, number) in lines {
            last = number;
            let line: Line = serde_json::from_str(text)
                .map_err(|error| Wrong::Unreadable(error.to_string()).at(number))?;
            let expected = if pinned.is_none() {
                "the protocol".to_owned()
            } else if (log.len() as u64) < header.versions {
                format!("version {}", log.len() + 1)
            } else if (blobs.len() as u64) < header.blobs {
                "bytes that a version speaks of".to_owned()
            } else {
                "the end of the file".to_owned()
            };
            let found = line.word();
            match line {
                Line::Protocol { text } if pinned.is_none() => {
                    let protocol = loaded(&text, &header, shipped).map_err(|w| w.at(number))?;
                    pinned = Some((text, protocol));
                }
                Line::Entry { hash, body, .. } if found == expected => {
                    let entry = Entry::of(body, hash);
                    let unreadable = |error: CorruptLog| Wrong::Unreadable(error.to_string());
                    log.push(entry.map_err(|error| unreadable(error).at(number))?);
                }
                Line::Blob { digest, text, base64 } if expected.starts_with("bytes") => {
                    let bytes = bytes(text, base64).map_err(|w| w.at(number))?;
                    let found = digest_of(&bytes);
                    if found != digest {
                        return Err(Wrong::Digest { expected: digest, found }.at(number));
                    }
                    blobs.insert(digest, bytes);
                }
                _ => return Err(Wrong::Order { expected, found }.at(number)),
            }
        }
        let Some((pinned, protocol)) = pinned else {
            return Err(ends("the protocol").at(last));
        };
        if (log.len() as u64) < header.versions {
            return Err(ends(&format!("version {}", log.len() + 1)).at(last));
        }
        let proof = proved(&protocol, &header, &log)?;
        let spoken: BTreeSet<String> =
            log.iter().flat_map(|one| spoken_of(&header.run, one)).collect();
        if let Some(lost) = spoken.iter().find(|digest| !blobs.contains_key(*digest)) {
            return Err(ends(&format!("the bytes {lost}, which a version speaks of")).at(last));
        }
        if let Some(stray) = blobs.keys().find(|digest| !spoken.contains(*digest)) {
            let (expected, found) =
                ("only what versions speak of".to_owned(), format!("the bytes {stray}"));
            return Err(Wrong::Order { expected, found }.at(last));
        }
        Ok(Self { run: header.run, protocol: Arc::new(protocol), proof, pinned, log, blobs })
    }
}

fn ends(expected: &str) -> Wrong {
    Wrong::Order { expected: expected.to_owned(), found: "the end of the file".to_owned() }
}

fn header(text: &str) -> Result<Header, TransferError> {
    let unreadable = |error: serde_json::Error| Wrong::Unreadable(error.to_string()).at(1);
    let value: Value = serde_json::from_str(text).map_err(unreadable)?;
    match value["format"].as_str() {
        Some(FORMAT) => {}
        found => return Err(Wrong::Format(found.unwrap_or("nothing").to_owned()).at(1)),
    }
    // A newer header may have other members: its version is asked first.
    let version = value["v"].as_u64().unwrap_or_default();
    if version != u64::from(VERSION) {
        return Err(Wrong::TooNew(u32::try_from(version).unwrap_or(u32::MAX)).at(1));
    }
    serde_json::from_value(value).map_err(unreadable)
}

fn loaded(text: &str, header: &Header, shipped: &Registry) -> Result<Protocol, Wrong> {
    let pinned: Pinned =
        serde_json::from_str(text).map_err(|error| Wrong::Unreadable(error.to_string()))?;
    let found = pinned.bundle.digest();
    if found != header.protocol {
        return Err(Wrong::Digest { expected: header.protocol.clone(), found });
    }
    pinned.protocol(shipped).map_err(Wrong::Protocol)
}

fn bytes(text: Option<String>, base64: Option<String>) -> Result<Vec<u8>, Wrong> {
    match (text, base64) {
        (Some(text), None) => Ok(text.into_bytes()),
        (None, Some(base64)) => {
            STANDARD.decode(base64).map_err(|error| Wrong::Unreadable(error.to_string()))
        }
        _ => Err(Wrong::Unreadable("expected either `text` or `base64`".to_owned())),
    }
}

fn proved(
    protocol: &Protocol,
    header: &Header,
    log: &[Entry],
) -> Result<Verification, TransferError> {
    let history = |flaw| TransferError::History { run: header.run.clone(), flaw: Box::new(flaw) };
    chain(&header.run, log).map_err(history)?;
    let proof = verify(protocol, &header.run, log).map_err(|fault| history(fault.into()))?;
    for (what, expected, found) in [
        ("the head", header.head.clone(), proof.hash.clone()),
        ("the number of versions", header.versions.to_string(), proof.versions.to_string()),
        ("the number of events", header.events.to_string(), proof.events.to_string()),
        ("the protocol of the run", header.protocol.clone(), proof.state.protocol.clone()),
    ] {
        if found != expected {
            let found = format!("{what} {found}");
            return Err(Wrong::Order { expected: format!("{what} {expected}"), found }.at(1));
        }
    }
    Ok(proof)
}
