//! The workspace, and operations on single files in it.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use sha2::{Digest as _, Sha256};

use super::hidden_paths::{is_one_of, path_components};
use super::workspace_policy::TrustedCommands;
use crate::document::DocumentReader;
use countersign_contract::json::sha256_hex;
use countersign_documents::{DocumentError, DocumentErrorKind, DocumentText, limits};

use super::{
    HiddenPaths, WorkspaceError, WorkspacePath, WorkspacePathError, sync_folder, write_atomic,
    write_new,
};

/// Default maximum size of a read, in bytes.
pub const MAX_READ_BYTES: u64 = 1024 * 1024;

/// The folder that paths of the specification begin with. It means the workspace itself; a folder
/// of this name in it is read where the workspace has nothing at the rest of the path.
pub(crate) const SPECIFIED_FOLDER: &str = "workspace";

/// A folder that runs may access. Cheap to clone.
#[derive(Clone)]
pub struct Workspace {
    pub(super) root: Arc<Dir>,
    pub(super) hidden: HiddenPaths,
    pub(super) path: PathBuf,
    /// Returns commands whose files are protected in addition to those of the protocol.
    pub(super) trusted_commands: Option<TrustedCommands>,
    pub(super) documents: DocumentReader,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The content of a file, up to a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The file or its beginning.
    pub bytes: Vec<u8>,
    /// Size of the whole file, in bytes.
    pub size: u64,
    /// Whether the file is longer than what was read.
    pub truncated: bool,
}

/// A file that has the requested content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// Path relative to the workspace, with `/` between names.
    pub path: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// SHA-256 digest of the content, as 64 hexadecimal digits.
    pub sha256: String,
}

impl Workspace {
    /// Opens an existing folder as a workspace.
    pub fn open(dir: &Path) -> Result<Self, WorkspaceError> {
        let named = dir.display().to_string();
        let fault = |source| WorkspaceError::from_io(&named, source);
        let path = dir.canonicalize().map_err(fault)?;
        let root = Dir::open_ambient_dir(&path, ambient_authority()).map_err(fault)?;
        Ok(Self {
            root: Arc::new(root),
            hidden: HiddenPaths::default(),
            path,
            trusted_commands: None,
            documents: DocumentReader::in_process(),
        })
    }

    /// Hides folders or files from runs; paths are relative to the workspace, or absolute.
    ///
    /// A path outside the workspace is ignored, because runs cannot reach it.
    pub fn hide<P: AsRef<Path>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, WorkspaceError> {
        for path in paths {
            let whole = self.path.join(path.as_ref());
            let real = canonicalize_existing(&whole);
            let Ok(inside) = real.strip_prefix(&self.path) else { continue };
            let names: Vec<String> = path_components(inside).collect();
            if names.is_empty() {
                let path = path.as_ref().display().to_string();
                return Err(WorkspaceError::HidesRoot { path });
            }
            self.hidden.add(&names);
        }
        Ok(self)
    }

    /// Sets how the text of documents is read; inside this process by default.
    #[must_use]
    pub fn with_document_reader(self, documents: DocumentReader) -> Self {
        Self { documents, ..self }
    }

    /// Reads the text of a document, or of any file with text. Blocks until it is read.
    ///
    /// # Errors
    /// The outer error concerns the path, the inner one the content of the file.
    pub fn read_document(
        &self,
        path: &str,
    ) -> Result<Result<Arc<DocumentText>, DocumentError>, WorkspaceError> {
        let content = self.read(path, limits::MAX_DOCUMENT_BYTES)?;
        if content.truncated {
            let most = limits::MAX_DOCUMENT_BYTES >> 20;
            let message = format!("has {} bytes; files up to {most} MiB are read", content.size);
            return Ok(Err(DocumentError::new(DocumentErrorKind::TooLarge, message)));
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(self.documents.read_blocking(name, &content.bytes))
    }

    /// Returns the path of the workspace, for a program that works in it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a file or a folder exists. A path that leads out is an error, not `false`.
    pub fn exists(&self, path: &str) -> Result<bool, WorkspaceError> {
        let resolved = self.resolve_path(path)?;
        match self.root.metadata(resolved.to_path_buf()) {
            Ok(_) => Ok(true),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
                _ => Err(WorkspaceError::from_io(path, error)),
            },
        }
    }

    /// Returns the size and the modification time of a file, to detect changes, or `None` if there
    /// is no such file.
    #[must_use]
    pub fn read_file_stamp(&self, path: &str) -> Option<(u64, Option<SystemTime>)> {
        let resolved = self.resolve_path(path).ok()?;
        let found = self.root.metadata(resolved.to_path_buf()).ok().filter(Metadata::is_file)?;
        Some((found.len(), found.modified().ok().map(cap_std::time::SystemTime::into_std)))
    }

    /// Reads at most `limit` bytes of a file.
    pub fn read(&self, path: &str, limit: u64) -> Result<FileContent, WorkspaceError> {
        let resolved = self.resolve_path(path)?;
        let resolved = self.find_literal_file(path, &resolved).unwrap_or(resolved);
        self.read_at(&resolved, limit)
    }

    /// Returns the file that lies exactly at `path`, if the path means another place for the run and
    /// nothing is there: `workspace/inputs/brief.md` in a folder `workspace`.
    fn find_literal_file(&self, path: &str, resolved: &WorkspacePath) -> Option<WorkspacePath> {
        let literal = WorkspacePath::parse(path).ok()?;
        let is_alias = literal != *resolved && literal.names().first()? == SPECIFIED_FOLDER;
        if !is_alias || self.root.metadata(resolved.to_path_buf()).is_ok() {
            return None;
        }
        let is_hidden = self.hidden.covers_file(&self.root, &literal).unwrap_or(true);
        (!is_hidden && self.root.is_file(literal.to_path_buf())).then_some(literal)
    }

    /// Computes the SHA-256 of a file in constant memory, as `sha256:` and hexadecimal digits; `None`
    /// if the file has more than `limit` bytes.
    pub fn digest_file(&self, path: &str, limit: u64) -> Result<Option<String>, WorkspaceError> {
        let (file, size) = self.open_file(path)?;
        if size > limit {
            return Ok(None);
        }
        let fault = |source| WorkspaceError::from_io(path, source);
        let mut rest = file.take(limit.saturating_add(1));
        let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
        loop {
            let read = rest.read(&mut buffer).map_err(fault)?;
            if read == 0 {
                break;
            }
            hash.update(&buffer[..read]);
            size += read as u64;
        }
        let mut digest = "sha256:".to_owned();
        for byte in hash.finalize() {
            let _ = write!(digest, "{byte:02x}");
        }
        Ok((size <= limit).then_some(digest))
    }

    /// Opens a file for reading; returns it with its size in bytes.
    pub fn open_file(&self, path: &str) -> Result<(File, u64), WorkspaceError> {
        let resolved = self.resolve_path(path)?;
        let fault = |source| WorkspaceError::from_io(path, source);
        // Checked before opening, because opening a pipe would wait for a writer.
        let found = self.root.metadata(resolved.to_path_buf()).map_err(fault)?;
        if !found.is_file() {
            let (path, found) = (resolved.to_string(), describe_kind(&found));
            return Err(WorkspaceError::NotAFile { path, found });
        }
        let file = self.root.open(resolved.to_path_buf()).map_err(fault)?.into_std();
        let size = file.metadata().map_err(fault)?.len();
        Ok((file, size))
    }

    pub(super) fn read_at(
        &self,
        resolved: &WorkspacePath,
        limit: u64,
    ) -> Result<FileContent, WorkspaceError> {
        let path = resolved.to_string();
        let fault = |source| WorkspaceError::from_io(&path, source);
        // Checked before opening, because opening a pipe would wait for a writer.
        let found = self.root.metadata(resolved.to_path_buf()).map_err(fault)?;
        if !found.is_file() {
            return Err(WorkspaceError::NotAFile { path, found: describe_kind(&found) });
        }
        let file = self.root.open(resolved.to_path_buf()).map_err(fault)?;
        let size = file.metadata().map_err(fault)?.len();
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(fault)?;
        let truncated = bytes.len() as u64 > limit;
        bytes.truncate(limit as usize);
        Ok(FileContent { size: size.max(bytes.len() as u64), bytes, truncated })
    }

    /// Writes a file atomically, and creates its missing parent folders.
    pub fn write_atomic(&self, path: &str, content: &[u8]) -> Result<WrittenFile, WorkspaceError> {
        let path = self.write_from(path, content)?;
        Ok(WrittenFile { path, bytes: content.len() as u64, sha256: sha256_hex(&[content]) })
    }

    /// Writes a file atomically from a reader, without keeping all of it in memory. Returns its
    /// path.
    pub fn write_from(&self, path: &str, content: impl Read) -> Result<String, WorkspaceError> {
        let resolved = self.resolve_writable_path(path)?;
        let fault = |source| WorkspaceError::from_io(path, source);
        if let Ok(found) = self.root.metadata(resolved.to_path_buf())
            && !found.is_file()
        {
            return Err(WorkspaceError::NotAFile {
                path: path.to_owned(),
                found: describe_kind(&found),
            });
        }
        let Some((above, name)) = resolved.split() else {
            return Err(WorkspaceError::BadPath {
                path: path.to_owned(),
                fault: WorkspacePathError::Empty,
            });
        };
        self.create_folders(&above).map_err(fault)?;
        let folder = self.root.open_dir(above.to_path_buf()).map_err(fault)?;
        write_atomic(&folder, name, content).map_err(fault)?;
        Ok(resolved.to_string())
    }

    /// Writes a file that does not exist yet. A file with the same content counts as written, so
    /// that the call can be repeated after a crash; a file with other content stays unchanged and
    /// is an error.
    pub fn write_once(&self, path: &str, content: &[u8]) -> Result<WrittenFile, WorkspaceError> {
        let resolved = self.resolve_writable_path(path)?;
        let fault = |source| WorkspaceError::from_io(path, source);
        let Some((above, name)) = resolved.split() else {
            return Err(WorkspaceError::BadPath {
                path: path.to_owned(),
                fault: WorkspacePathError::Empty,
            });
        };
        self.create_folders(&above).map_err(fault)?;
        let folder = self.root.open_dir(above.to_path_buf()).map_err(fault)?;
        let there = folder.symlink_metadata(name).is_ok();
        if there || !write_new(&folder, name, content).map_err(fault)? {
            let found = self.read_at(&resolved, content.len() as u64)?;
            if found.truncated || found.bytes != content {
                return Err(WorkspaceError::AlreadyExists { path: path.to_owned() });
            }
        }
        Ok(WrittenFile {
            path: resolved.to_string(),
            bytes: content.len() as u64,
            sha256: sha256_hex(&[content]),
        })
    }

    /// Removes a file, and the folders above it that are empty then. What cannot be removed stays.
    pub(crate) fn remove_with_empty_folders(&self, path: &str) {
        let Ok(resolved) = self.resolve_writable_path(path) else { return };
        drop(self.root.remove_file(resolved.to_path_buf()));
        let mut below = resolved;
        while let Some((above, _)) = below.split() {
            if above.names().is_empty() || self.root.remove_dir(above.to_path_buf()).is_err() {
                return;
            }
            below = above;
        }
    }

    /// Creates missing folders from the workspace down, and syncs each new name to disk.
    fn create_folders(&self, folder: &WorkspacePath) -> io::Result<()> {
        let mut above = WorkspacePath::root();
        for name in folder.names() {
            let here = above.join(name);
            match self.root.create_dir(here.to_path_buf()) {
                Ok(()) => sync_folder(&self.root.open_dir(above.to_path_buf())?)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            above = here;
        }
        Ok(())
    }

    /// Resolves a path that runs may access.
    fn resolve_path(&self, path: &str) -> Result<WorkspacePath, WorkspaceError> {
        let resolved = WorkspacePath::parse(path)
            .map_err(|fault| WorkspaceError::BadPath { path: path.to_owned(), fault })?;
        let resolved = self.hidden.resolve_inputs(resolved);
        let is_hidden = self.hidden.covers_file(&self.root, &resolved);
        reject_hidden(resolved, is_hidden)
    }

    /// Resolves a path that runs may write to.
    fn resolve_writable_path(&self, path: &str) -> Result<WorkspacePath, WorkspaceError> {
        let resolved = self.resolve_path(path)?;
        let commands =
            self.trusted_commands.as_ref().map(|commands| commands()).unwrap_or_default();
        let trusted: Vec<WorkspacePath> =
            commands.iter().flat_map(|command| self.find_program_files(command)).collect();
        let protected = match self.hidden.protects(&self.root, &resolved) {
            Ok(false) => is_one_of(&self.root, &resolved, &trusted),
            known => known,
        };
        match protected {
            Ok(false) => Ok(resolved),
            Ok(true) => Err(WorkspaceError::Protected { path: path.to_owned() }),
            Err(error) => Err(WorkspaceError::from_io(path, error)),
        }
    }

    /// Resolves a folder that runs may list.
    pub(super) fn resolve_folder(&self, path: &str) -> Result<WorkspacePath, WorkspaceError> {
        let resolved = WorkspacePath::parse_folder(path)
            .map_err(|fault| WorkspaceError::BadPath { path: path.to_owned(), fault })?;
        let resolved = self.hidden.resolve_inputs(resolved);
        let is_hidden = self.hidden.covers_folder(&self.root, &resolved);
        reject_hidden(resolved, is_hidden)
    }
}

fn reject_hidden(
    path: WorkspacePath,
    is_hidden: io::Result<bool>,
) -> Result<WorkspacePath, WorkspaceError> {
    match is_hidden {
        Ok(false) => Ok(path),
        Ok(true) => Err(WorkspaceError::Hidden { path: path.to_string() }),
        Err(error) => Err(WorkspaceError::from_io(&path.to_string(), error)),
    }
}

/// Returns a path with its links followed, as far down as it exists.
fn canonicalize_existing(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

fn describe_kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "neither a file nor a folder" }
}
