//! Spools uploads to disk while they arrive: each into a private, unlinked file in the engine's own
//! folder.
//!
//! Memory holds only one block of each upload. The file disappears as soon as it is closed, even if
//! the process is killed. The system's temporary folder is not used, because it is often held in
//! memory.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::HeaderMap;
use bytes::BytesMut;
use countersign_contract::json::Sha256Hasher;
use countersign_contract::limits::MAX_DOCUMENT_BYTES;
use countersign_runtime::engine::generate_run_name;
use countersign_runtime::private_files;
use countersign_runtime::workspace::IncomingDocument;

use super::request_body::BodyChunks;
use super::{ApiError, HttpState};
use crate::access::Caller;

/// Number of bytes that are collected before a write.
const BLOCK_BYTES: usize = 256 << 10;

/// Spools a document. The bytes count against the caller's quota until the returned share is
/// dropped.
pub(super) async fn spool_document(
    app: &HttpState,
    caller: &Caller,
    name: String,
    headers: &HeaderMap,
    body: Body,
) -> Result<(IncomingDocument<File>, super::quota::QuotaShare), ApiError> {
    let mut share = app.quotas.upload_bytes.new_share(caller);
    let mut pieces = BodyChunks::new(headers, body, MAX_DOCUMENT_BYTES, app.body_idle_timeout)?;
    let folder = app.app_state.deps().home.folder().join("uploads");
    let mut spool = spawn_disk_io(move || UploadSpool::create(&folder)).await?;
    let mut block = BytesMut::new();
    loop {
        let piece = pieces.next_chunk().await?;
        if let Some(piece) = &piece {
            share.acquire(piece.len() as u64)?;
            block.extend_from_slice(piece);
        }
        if block.len() >= BLOCK_BYTES || (piece.is_none() && !block.is_empty()) {
            let full = block.split().freeze();
            spool = spawn_disk_io(move || {
                spool.write_block(&full)?;
                Ok(spool)
            })
            .await?;
        }
        if piece.is_none() {
            break;
        }
    }
    let UploadSpool { file, bytes, digest } = spool;
    let content = spawn_disk_io(move || {
        let mut file = file;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    })
    .await?;
    Ok((IncomingDocument { name, bytes, sha256: digest.finish(), content }, share))
}

/// Runs file operations on a thread that may block on disk.
async fn spawn_disk_io<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|_| {
        ApiError::internal("internal_error", "buffering the document on disk failed")
    })?;
    done.map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let detail = "there is not enough disk space for the document";
            ApiError::new(axum::http::StatusCode::INSUFFICIENT_STORAGE, "store_full", detail)
        }
        _ => ApiError::internal("folder", format!("cannot buffer the document on disk: {error}")),
    })
}

struct UploadSpool {
    file: File,
    bytes: u64,
    digest: Sha256Hasher,
}

impl UploadSpool {
    fn create(folder: &Path) -> io::Result<Self> {
        private_files::create_folder(folder)?;
        let path: PathBuf = folder.join(format!("{}-{}", std::process::id(), generate_run_name()));
        let file = private_files::create_file(&path)?;
        // An unlinked file cannot be opened by others and disappears with this process. If the
        // system cannot remove an open file, it stays until the folder is swept.
        drop(fs::remove_file(&path));
        Ok(Self { file, bytes: 0, digest: Sha256Hasher::default() })
    }

    fn write_block(&mut self, block: &[u8]) -> io::Result<()> {
        self.file.write_all(block)?;
        self.bytes += block.len() as u64;
        self.digest.update(block);
        Ok(())
    }
}
