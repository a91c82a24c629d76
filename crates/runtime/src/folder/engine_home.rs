//! The engine's own folder, `.countersign`, found by searching upwards as git finds `.git`.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::FolderError;
use crate::private_files;

const HOME_FOLDER: &str = ".countersign";

/// The folder where the engine keeps its databases, artifacts and effect journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineHome {
    workspace: PathBuf,
    folder: PathBuf,
}

impl EngineHome {
    /// Returns the nearest engine folder at `start` or above it.
    pub fn find(start: &Path) -> Result<Option<Self>, FolderError> {
        let start = start.canonicalize().map_err(|source| to_folder_error(start, source))?;
        for above in start.ancestors() {
            let path = above.join(HOME_FOLDER);
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() && private_files::is_owned_by_us(&found) => {
                    return Ok(Some(Self { workspace: above.to_owned(), folder: path }));
                }
                // The owner of such a folder could read everything stored in it, and grant
                // themselves access.
                Ok(found) if found.is_dir() && above == start => {
                    return Err(FolderError::NotOwned { path });
                }
                // In a parent folder it is ignored, because any user may create one in a shared
                // folder.
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(FolderError::NotAFolder { path }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(to_folder_error(&path, error)),
            }
        }
        Ok(None)
    }

    /// Returns the engine folder inside `dir`, created if missing.
    ///
    /// It contains a `.gitignore` that excludes it from git.
    pub fn create(dir: &Path) -> Result<Self, FolderError> {
        let dir = dir.canonicalize().map_err(|source| to_folder_error(dir, source))?;
        let folder = dir.join(HOME_FOLDER);
        match fs::metadata(&folder) {
            Ok(found) if !found.is_dir() => return Err(FolderError::NotAFolder { path: folder }),
            // Its owner could read everything stored in it, and grant themselves access.
            Ok(found) if !private_files::is_owned_by_us(&found) => {
                return Err(FolderError::NotOwned { path: folder });
            }
            // A folder that cannot be examined cannot be created either, which is the error.
            Ok(_) | Err(_) => {}
        }
        let home = Self { workspace: dir, folder };
        for folder in [home.artifacts_path(), home.effects_path()] {
            private_files::create_folder(&folder)
                .map_err(|source| to_folder_error(&folder, source))?;
        }
        let ignore = home.folder.join(".gitignore");
        if !ignore.exists() {
            let made = private_files::create_file(&ignore);
            // Another process may have created it first.
            if let Err(source) = made.and_then(|mut file| file.write_all(b"*\n"))
                && source.kind() != io::ErrorKind::AlreadyExists
            {
                return Err(to_folder_error(&ignore, source));
            }
        }
        Ok(home)
    }

    /// Returns the nearest engine folder, or creates one in `dir`.
    pub fn find_or_create(dir: &Path) -> Result<Self, FolderError> {
        match Self::find(dir)? {
            // Restores missing parts of an existing folder.
            Some(home) => Self::create(home.workspace()),
            None => Self::create(dir),
        }
    }

    /// Returns the path of the `.countersign` folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the working folder that contains it.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns the path of the run database.
    #[must_use]
    pub fn database_path(&self) -> PathBuf {
        self.folder.join("countersign.db")
    }

    /// Returns the path of the memory database. It is separate from the run log, so that a person
    /// can be erased from it.
    #[must_use]
    pub fn memory_path(&self) -> PathBuf {
        self.folder.join("memory.db")
    }

    /// Returns the path of the artifacts folder.
    #[must_use]
    pub fn artifacts_path(&self) -> PathBuf {
        self.folder.join("artifacts")
    }

    /// Returns the path of the effect journal.
    #[must_use]
    pub fn effects_path(&self) -> PathBuf {
        self.folder.join("effects")
    }
}

fn to_folder_error(path: &Path, source: io::Error) -> FolderError {
    FolderError::Io { path: path.display().to_string(), source }
}
