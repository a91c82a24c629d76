//! Exports a run into a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::TransferError;
use super::run_file_line::{FORMAT, RunFileHeader, RunFileLine, VERSION};
use crate::engine::{Engine, EngineError};
use crate::integrity::collect_blob_digests;

/// Returns a run as the text of a file. The export does not verify the run; the import does.
pub async fn export_run(engine: &Engine, run: &str) -> Result<String, TransferError> {
    let id = engine.run_id(run);
    let missing = || EngineError::RunNotFound { run: run.to_owned(), version: None };
    let store = engine.store();
    let head = store.load_head(&id).await.map_err(EngineError::from)?.ok_or_else(missing)?;
    let protocol =
        store.load_protocol(&id.tenant, &head.protocol).await.map_err(EngineError::from)?;
    let protocol = protocol.ok_or_else(|| EngineError::ProtocolUnavailable {
        run: run.to_owned(),
        digest: head.protocol.clone(),
        reason: "its files are not in the store".to_owned(),
    })?;
    let log = engine.read_log(run).await?;
    let mut digests: Vec<String> = Vec::new();
    for digest in log.iter().flat_map(|one| collect_blob_digests(run, one)) {
        if !digests.contains(&digest) {
            digests.push(digest);
        }
    }
    let last = log.last().map_or_else(|| (String::new(), 0), |one| (one.hash.clone(), one.version));
    let mut text = String::new();
    write_line(
        &mut text,
        &RunFileHeader {
            format: FORMAT.to_owned(),
            v: VERSION,
            run: run.to_owned(),
            protocol: head.protocol,
            head: last.0,
            versions: last.1,
            events: log.last().map_or(0, |one| one.last_seq),
            blobs: digests.len() as u64,
        },
    );
    write_line(&mut text, &RunFileLine::Protocol { text: protocol });
    for one in log {
        let (version, hash, body) = (one.version, one.hash, one.body);
        write_line(&mut text, &RunFileLine::Entry { version, hash, body });
    }
    for digest in digests {
        let bytes = store.load_blob(&id.tenant, &digest).await.map_err(EngineError::from)?;
        let gone = || TransferError::MissingBlob { run: run.to_owned(), digest: digest.clone() };
        write_line(&mut text, &encode_blob(digest.clone(), bytes.ok_or_else(gone)?));
    }
    Ok(text)
}

fn encode_blob(digest: String, bytes: Vec<u8>) -> RunFileLine {
    match String::from_utf8(bytes) {
        Ok(text) => RunFileLine::Blob { digest, text: Some(text), base64: None },
        Err(error) => RunFileLine::Blob {
            digest,
            text: None,
            base64: Some(STANDARD.encode(error.as_bytes())),
        },
    }
}

fn write_line(text: &mut String, line: &impl Serialize) {
    text.push_str(&serde_json::to_string(line).expect("strings and numbers serialize to JSON"));
    text.push('\n');
}
