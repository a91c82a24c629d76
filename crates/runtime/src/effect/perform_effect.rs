//! Performs an effect under the id of its action.
//!
//! Repetition is safe: a file is written atomically with the same content each time, retrieval
//! changes nothing, and a program or request that is known to have succeeded is answered from the
//! journal. If the outcome is unknown, the effect is performed again (at least once in total), and
//! its id is passed to the other side.

use countersign_contract::json::sha256_hex;
use countersign_protocol::{ProtocolPolicy, WriteFormat};
use countersign_run::EffectCall;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::docx::render_docx;
use super::effect_http_request::EffectHttpRequest;
use super::{
    EffectError, EffectErrorKind, EffectJournal, EffectJournalError, RetrieverRegistry, run_program,
};
use crate::workspace::{Workspace, WrittenFile};

/// The resources that effects can use.
#[derive(Debug, Clone, Copy)]
pub struct EffectContext<'a> {
    /// What the protocol's owner allows.
    pub policy: &'a ProtocolPolicy,
    /// Where files are written and programs run.
    pub workspace: &'a Workspace,
    /// The retrieval sources of the protocol.
    pub sources: &'a RetrieverRegistry,
    /// Results of effects that were performed before.
    pub journal: &'a EffectJournal,
}

/// Performs an effect, or returns its recorded result if it was performed before.
pub async fn perform_effect(
    order: &EffectCall,
    id: &str,
    world: EffectContext<'_>,
) -> Result<Value, EffectError> {
    match order {
        EffectCall::Write { path, content, once, format } => {
            write_file(path, content, *once, *format, world.workspace).await
        }
        EffectCall::Copy { from, to, once, digest } => {
            copy_file(from, to, *once, digest.clone(), world.workspace).await
        }
        EffectCall::Retrieve { source, query } => world.sources.retrieve(source, query).await,
        EffectCall::Run { program: name, args, input } => {
            let prepare = || {
                let program = run_program::find_program(name, world.policy)?;
                Ok(run_program::run_program(
                    name,
                    program,
                    args,
                    input.as_ref(),
                    id,
                    world.workspace,
                ))
            };
            perform_once(order, id, world.journal, prepare).await
        }
        EffectCall::Http { method, url, body } => {
            let prepare = || {
                Ok(EffectHttpRequest::prepare(method, url, body.as_ref(), id, world.policy)?.send())
            };
            perform_once(order, id, world.journal, prepare).await
        }
    }
}

async fn write_file(
    path: &str,
    content: &str,
    once: bool,
    format: Option<WriteFormat>,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let (workspace, path, content) = (workspace.clone(), path.to_owned(), content.to_owned());
    let write = move || -> Result<WrittenFile, EffectError> {
        let bytes = match format {
            Some(WriteFormat::Docx) => render_docx(&content)?,
            None => content.into_bytes(),
        };
        Ok(if once {
            workspace.write_once(&path, &bytes)?
        } else {
            workspace.write_atomic(&path, &bytes)?
        })
    };
    run_blocking(write).await.map(|written| file_to_json(&written))
}

/// Maximum size of a copied file, in bytes: a file is read completely before it is written.
const MAX_COPY_BYTES: u64 = 64 * 1024 * 1024;

async fn copy_file(
    from: &str,
    to: &str,
    once: bool,
    digest: Option<String>,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let (workspace, from, to) = (workspace.clone(), from.to_owned(), to.to_owned());
    let copy = move || -> Result<WrittenFile, EffectError> {
        let content = workspace.read(&from, MAX_COPY_BYTES)?;
        if content.truncated {
            let (size, most) = (content.size >> 20, MAX_COPY_BYTES >> 20);
            let message = format!("the file to copy has {size} MiB; the limit is {most} MiB");
            return Err(EffectError::new_permanent(EffectErrorKind::TooLarge, message));
        }
        let mut bytes = content.bytes;
        if let Some(expected) = digest
            && digest_bytes(&bytes) != expected
        {
            // A crash repeats a copy that was made before the file changed.
            let made = workspace.read(&to, MAX_COPY_BYTES).ok().map(|made| made.bytes);
            let Some(made) = made.filter(|made| digest_bytes(made) == expected) else {
                let found = digest_bytes(&bytes);
                let message = format!(
                    "`{from}` changed since the copy was requested: expected a file with the digest {expected}, found {found}"
                );
                return Err(EffectError::new_permanent(EffectErrorKind::Changed, message));
            };
            bytes = made;
        }
        Ok(if once {
            workspace.write_once(&to, &bytes)?
        } else {
            workspace.write_atomic(&to, &bytes)?
        })
    };
    run_blocking(copy).await.map(|written| file_to_json(&written))
}

fn digest_bytes(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(&[bytes]))
}

fn file_to_json(written: &WrittenFile) -> Value {
    json!({ "path": written.path, "bytes": written.bytes, "sha256": written.sha256 })
}

/// Performs work that the journal does not record as done. Work that `prepare` refuses is never
/// recorded as started.
async fn perform_once<F>(
    order: &EffectCall,
    id: &str,
    journal: &EffectJournal,
    prepare: impl FnOnce() -> Result<F, EffectError>,
) -> Result<Value, EffectError>
where
    F: Future<Output = Result<Value, EffectError>>,
{
    let known =
        access_journal(journal, order, id, |journal, order, id| journal.load_result(id, order));
    if let Some(known) = known.await? {
        return Ok(known);
    }
    let doing = prepare()?;
    access_journal(journal, order, id, |journal, order, id| journal.record_start(id, order))
        .await?;
    let result = doing.await?;
    let kept = result.clone();
    let note = move |journal: &EffectJournal, order: &EffectCall, id: &str| {
        journal.record_result(id, order, &kept)
    };
    // The effect was performed. Reporting a journal failure here would cause a second execution.
    drop(access_journal(journal, order, id, note).await);
    Ok(result)
}

async fn access_journal<T: Send + 'static>(
    journal: &EffectJournal,
    order: &EffectCall,
    id: &str,
    note: impl FnOnce(&EffectJournal, &EffectCall, &str) -> Result<T, EffectJournalError>
    + Send
    + 'static,
) -> Result<T, EffectError> {
    let (journal, order, id) = (journal.clone(), order.clone(), id.to_owned());
    run_blocking(move || note(&journal, &order, &id)).await
}

/// Runs disk operations on a blocking thread, so that they do not delay other tasks.
async fn run_blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, EffectError>
where
    T: Send + 'static,
    E: Into<EffectError> + Send + 'static,
{
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => {
            let message = "the work was cancelled because the runtime is shutting down";
            Err(EffectError::new_transient(EffectErrorKind::Unavailable, message))
        }
    }
}
