//! Writes files atomically: readers see the old file or the new one, also after a crash.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read, Write as _};

use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};

/// How many names are tried for the temporary file.
const MAX_NAME_ATTEMPTS: usize = 16;

/// Writes a file in a folder: to a temporary file first, then by rename, both synced to disk.
///
/// An existing file keeps its permissions; an existing link is replaced, not followed. A crash may
/// leave a file `.countersign-….tmp`, which nothing reads.
pub(crate) fn write_atomic(folder: &Dir, name: &str, content: impl Read) -> io::Result<()> {
    replace(folder, name, content, cap_std::fs::File::sync_all)?;
    sync_folder(folder)
}

/// Like [`write_atomic`], for an internal file that only its owner may read.
pub(crate) fn write_private(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut options = new_file_options();
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    replace_with(folder, name, bytes, cap_std::fs::File::sync_all, &options)?;
    sync_folder(folder)
}

/// Like [`write_atomic`] without waiting for the disk, for content that can be written again.
/// Readers see the old file or the new one, also if the process dies; after a power failure, both
/// may be missing.
pub(crate) fn write_unsynced(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    replace(folder, name, bytes, |_| Ok(()))
}

fn replace(
    folder: &Dir,
    name: &str,
    content: impl Read,
    flush: impl FnOnce(&cap_std::fs::File) -> io::Result<()>,
) -> io::Result<()> {
    replace_with(folder, name, content, flush, &new_file_options())
}

fn replace_with(
    folder: &Dir,
    name: &str,
    mut content: impl Read,
    flush: impl FnOnce(&cap_std::fs::File) -> io::Result<()>,
    options: &OpenOptions,
) -> io::Result<()> {
    let (beside, mut file) = create_temp_file(folder, options)?;
    let written = (|| {
        if let Ok(old) = folder.symlink_metadata(name)
            && old.is_file()
        {
            file.set_permissions(mask_permissions(&old))?;
        }
        io::copy(&mut content, &mut file)?;
        flush(&file)?;
        folder.rename(&beside, folder, name)
    })();
    if written.is_err() {
        // Report the first error, not one from the cleanup; a temporary file that stays behind is
        // hidden.
        drop(folder.remove_file(&beside));
    }
    written
}

/// Writes a file that does not exist yet: to a temporary file first, then linked to its name,
/// unless another process created it first. Returns whether it was written.
pub(crate) fn write_new(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let (beside, mut file) = create_temp_file(folder, &new_file_options())?;
    let linked = (|| {
        file.write_all(bytes)?;
        file.sync_all()?;
        // Unlike a rename, a hard link never replaces another file.
        folder.hard_link(&beside, folder, name)
    })();
    let removed = folder.remove_file(&beside);
    match linked {
        Ok(()) => {
            removed?;
            sync_folder(folder)?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) if lacks_hard_links(&error) => write_in_place(folder, name, bytes),
        Err(error) => Err(error),
    }
}

/// Returns whether the file system does not support hard links.
fn lacks_hard_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Like [`write_new`], for file systems without hard links. A crash can leave a partial file, which
/// then counts as different content; that is better than overwriting another writer's file.
fn write_in_place(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut file = match folder.open_with(name, &options) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    };
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_folder(folder)?;
    Ok(true)
}

/// Returns the permissions of a file without the set-user-id and set-group-id bits, which applied
/// to the old content.
fn mask_permissions(old: &Metadata) -> Permissions {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}

fn new_file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

fn create_temp_file(
    folder: &Dir,
    options: &OpenOptions,
) -> io::Result<(String, cap_std::fs::File)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..MAX_NAME_ATTEMPTS {
        // The only random source in the standard library; sufficient for an unused name.
        let chance = RandomState::new().build_hasher().finish();
        let name = format!(".countersign-{chance:016x}.tmp");
        match folder.open_with(&name, options) {
            Ok(file) => return Ok((name, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Makes the names in a folder survive a crash.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Dir) -> io::Result<()> {
    // The handle itself may be path-only; a file opened on it can be synced.
    folder.open(".")?.sync_all()
}

/// Makes the names in a folder survive a crash; Windows does so by itself.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_folder: &Dir) -> io::Result<()> {
    Ok(())
}
