//! Answers a wait with a document: checks the document, saves it, and submits the answer. A document
//! whose answer is refused is removed again.

use std::io::Read;

use countersign_run::{
    AttributedInput, InputKind, InputRejection, InputSender, RunInputs, WaitKind,
};
use thiserror::Error;
use tokio::task::spawn_blocking;

use super::{Engine, EngineError, InputOutcome};
use crate::workspace::{IncomingDocument, SavedDocument, WorkspaceError, check_content};

/// A document that a person provides for a wait.
pub struct DocumentAnswer<R> {
    /// Id of the run.
    pub run: String,
    /// Id of the wait that asks for the document.
    pub wait: String,
    /// Name of the person who provides it.
    pub by: String,
    /// How the door that took the document knows its sender; `None` if it does not say.
    pub sender: Option<InputSender>,
    /// The document, whose name has no folders.
    pub document: IncomingDocument<R>,
    /// Idempotency key: the same document under the same key is one answer.
    pub idempotency_key: Option<String>,
    /// The version that the run must be at; any version if absent.
    pub expected_version: Option<u64>,
}

impl<R> DocumentAnswer<R> {
    /// Separates the content from its description.
    fn split_content(self) -> (DocumentAnswer<()>, R) {
        let Self { run, wait, by, sender, document, idempotency_key, expected_version } = self;
        let IncomingDocument { name, bytes, sha256, content } = document;
        let document = IncomingDocument { name, bytes, sha256, content: () };
        let answer =
            DocumentAnswer { run, wait, by, sender, document, idempotency_key, expected_version };
        (answer, content)
    }

    /// Returns whether an input is the answer to the same wait, by the same person, with the same
    /// document.
    fn is_same_answer(&self, input: &InputKind) -> bool {
        let InputKind::Answered { wait, value, by } = input else { return false };
        let described = self.document.to_answer("");
        let same = |member: &str| value.get(member) == described.get(member);
        *wait == self.wait && *by == self.by && ["name", "bytes", "sha256"].into_iter().all(same)
    }
}

/// Why a document does not answer a wait. It leaves no file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DocumentAnswerError {
    /// The run does not take the answer.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The document cannot be written into the workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The name of the document contains folders, or is empty.
    #[error("a document needs a file name without folders, found `{name}`")]
    InvalidName {
        /// The name as it was given.
        name: String,
    },
}

impl Engine {
    /// Checks whether a run would take a document of this name now. Reads no content, and changes
    /// nothing.
    ///
    /// # Errors
    /// The error that [`Engine::submit_document`] would return. A key that was used before passes.
    pub async fn check_document<R>(
        &self,
        answer: &DocumentAnswer<R>,
    ) -> Result<(), DocumentAnswerError> {
        check_file_name(&answer.document.name)?;
        if let Some(key) = &answer.idempotency_key
            && self
                .store()
                .find_key_version(&self.run_id(&*answer.run), key)
                .await
                .map_err(EngineError::from)?
                .is_some()
        {
            return Ok(());
        }
        self.choose_document_path(answer).await?;
        Ok(())
    }

    /// Answers a wait with a document. The file gets a path of its own, below the folder of the run,
    /// that no wait and no other document has; it stays only if the answer is accepted.
    ///
    /// Do not drop the future before it is complete, because the answer may be stored already; spawn
    /// it if its caller can disappear. If the process ends or the store fails in between, a file can
    /// stay that answers nothing.
    pub async fn submit_document<R: Read + Send + 'static>(
        &self,
        answer: DocumentAnswer<R>,
    ) -> Result<InputOutcome, DocumentAnswerError> {
        let (answer, content) = answer.split_content();
        check_file_name(&answer.document.name)?;
        if let Some(key) = &answer.idempotency_key
            && let Some(outcome) = self
                .find_repeated_input(&answer.run, key, |kept| answer.is_same_answer(kept))
                .await?
        {
            return Ok(outcome);
        }
        let path = self.choose_document_path(&answer).await?;
        let saved = self.save_document(&answer, &path, content).await?;
        let DocumentAnswer { run, wait, by, sender, document, .. } = answer;
        let payload = InputKind::Answered { wait, value: document.to_answer(&path), by };
        let input = AttributedInput { payload: payload.clone(), sender };
        let key = answer.idempotency_key;
        let submitted =
            self.submit_input_if(&run, input, key.clone(), answer.expected_version).await;
        let is_refused = match (&submitted, &key) {
            // Another request with the same key may have been accepted in between.
            (Ok(outcome), Some(key)) if outcome.events.is_empty() => matches!(
                self.find_repeated_input(&run, key, |kept| *kept == payload).await,
                Err(EngineError::KeyReused { .. })
            ),
            // After an error of the store, it is unknown whether the answer was stored.
            (Ok(_) | Err(EngineError::Store(_)), _) => false,
            (Err(_), _) => true,
        };
        if is_refused {
            drop(spawn_blocking(move || saved.discard()).await);
        }
        Ok(submitted?)
    }

    /// Writes a document whose content is of the type that its name claims.
    async fn save_document<R: Read + Send + 'static>(
        &self,
        answer: &DocumentAnswer<()>,
        path: &str,
        content: R,
    ) -> Result<SavedDocument, DocumentAnswerError> {
        let live = self.get_run(&answer.run).await?;
        let workspace = self.workspace().ok_or_else(|| {
            let source = std::io::Error::other("this engine has no workspace");
            WorkspaceError::from_io(path, source)
        })?;
        let workspace = workspace.with_policy(&live.protocol.policy).with_run(&live.state);
        let (target, name) = (path.to_owned(), answer.document.name.clone());
        let save = move || {
            let checked = check_content(&name, content);
            match checked.map_err(|source| WorkspaceError::from_io(&target, source))? {
                Err(violation) => Ok(Err(violation)),
                Ok(content) => SavedDocument::create(&workspace, &target, content).map(Ok),
            }
        };
        let Ok(saved) = spawn_blocking(save).await else {
            let source = std::io::Error::other("saving the document was interrupted");
            return Err(WorkspaceError::from_io(path, source).into());
        };
        saved?.map_err(|violation| {
            let (wait, violations) = (answer.wait.clone(), vec![violation]);
            EngineError::from(InputRejection::AnswerMismatch { wait, violations }).into()
        })
    }

    /// Chooses the path of a document, if the run would take its answer now.
    async fn choose_document_path<R>(
        &self,
        answer: &DocumentAnswer<R>,
    ) -> Result<String, DocumentAnswerError> {
        let DocumentAnswer { run, wait, by, sender, document, expected_version, .. } = answer;
        let state = self.get_run(run).await?.state;
        if let Some(open) = state.waits.get(wait)
            && open.kind != WaitKind::Document
        {
            let (wait, kind) = (wait.clone(), open.kind.as_str());
            let expected = "this wait does not ask for a document";
            return Err(
                EngineError::from(InputRejection::WrongKind { wait, kind, expected }).into()
            );
        }
        let path = document.choose_path(&RunInputs::for_run(&state), wait);
        let value = document.to_answer(&path);
        let payload = InputKind::Answered { wait: wait.clone(), value, by: by.clone() };
        let input = AttributedInput { payload, sender: sender.clone() };
        self.check_input(run, input, *expected_version).await?;
        Ok(path)
    }
}

fn check_file_name(name: &str) -> Result<(), DocumentAnswerError> {
    let is_plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\']);
    if is_plain { Ok(()) } else { Err(DocumentAnswerError::InvalidName { name: name.to_owned() }) }
}
