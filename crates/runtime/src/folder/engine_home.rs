//! The engine's own folder, `.countersign`, found upwards as git finds its own.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::FolderError;
use crate::private_files;

const HOME_FOLDER: &str = ".countersign";

/// Where the engine keeps its database, its artifacts and its journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineHome {
    workspace: PathBuf,
    folder: PathBuf,
}

impl EngineHome {
    /// The nearest one at a place or above it.
    pub fn find(start: &Path) -> Result<Option<Self>, FolderError> {
        let start = start.canonicalize().map_err(|source| to_folder_error(start, source))?;
        for above in start.ancestors() {
            let path = above.join(HOME_FOLDER);
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() && private_files::is_owned_by_us(&found) => {
                    return Ok(Some(Self { workspace: above.to_owned(), folder: path }));
                }
                // Whoever made it could read all that is kept there, and let themselves in.
                Ok(found) if found.is_dir() && above == start => {
                    return Err(FolderError::NotOwned { path });
                }
                // Above, it is as good as absent: anybody may put one into a folder for all.
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(FolderError::NotAFolder { path }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(to_folder_error(&path, error)),
            }
        }
        Ok(None)
    }

    /// The one in a folder itself, made where it is missing.
    ///
    /// It tells git to leave it alone.
    pub fn create(dir: &Path) -> Result<Self, FolderError> {
        let dir = dir.canonicalize().map_err(|source| to_folder_error(dir, source))?;
        let folder = dir.join(HOME_FOLDER);
        if folder.exists() && !folder.is_dir() {
            return Err(FolderError::NotAFolder { path: folder });
        }
        let home = Self { workspace: dir, folder };
        for folder in [home.artifacts_path(), home.effects_path()] {
            private_files::create_folder(&folder)
                .map_err(|source| to_folder_error(&folder, source))?;
        }
        let ignore = home.folder.join(".gitignore");
        if !ignore.exists() {
            let made = private_files::create_file(&ignore);
            // Another process may have been faster.
            if let Err(source) = made.and_then(|mut file| file.write_all(b"*\n"))
                && source.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(to_folder_error(&ignore, source));
            }
        }
        Ok(home)
    }

    /// The nearest one, or a new one in the folder itself.
    pub fn find_or_create(dir: &Path) -> Result<Self, FolderError> {
        match Self::find(dir)? {
            // One that lost a part gets it back.
            Some(home) => Self::create(home.workspace()),
            None => Self::create(dir),
        }
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of work it belongs to.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The file of the database.
    #[must_use]
    pub fn database_path(&self) -> PathBuf {
        self.folder.join("countersign.db")
    }

    /// The file of the memory, apart from the log of runs: a person can be erased from it.
    #[must_use]
    pub fn memory_path(&self) -> PathBuf {
        self.folder.join("memory.db")
    }

    /// The folder of artifacts.
    #[must_use]
    pub fn artifacts_path(&self) -> PathBuf {
        self.folder.join("artifacts")
    }

    /// The folder of the journal of effects.
    #[must_use]
    pub fn effects_path(&self) -> PathBuf {
        self.folder.join("effects")
    }
}

fn to_folder_error(path: &Path, source: io::Error) -> FolderError {
    FolderError::Io { path: path.display().to_string(), source }
}
