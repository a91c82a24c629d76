//! Writing a file so that readers, and a crash, see the old one or the new one.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Read, Write as _};

use cap_std::fs::{Dir, Metadata, OpenOptions, Permissions};

/// How many names are tried for the file that is being written.
const MAX_NAME_ATTEMPTS: usize = 16;

/// Writes a file of a folder: beside it first, then over it, both times to the disk.
///
/// A file that was there keeps its permissions; a link that was there is replaced, not followed.
/// A crash may leave a file `.countersign-….tmp`, which nothing reads.
pub(crate) fn write_atomic(folder: &Dir, name: &str, content: impl Read) -> io::Result<()> {
    replace(folder, name, content, cap_std::fs::File::sync_all)?;
    sync_folder(folder)
}

/// The same for a file that only its owner may read, which is a note of ours.
pub(crate) fn write_private(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut options = new_file_options();
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    replace_with(folder, name, bytes, cap_std::fs::File::sync_all, &options)?;
    sync_folder(folder)
}

/// The same without waiting for the disk, for what can be written again: readers, and a process that dies,
/// see the old file or the new one. A machine that loses its power may have neither.
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
        // The first error is the one to tell; a file that stays behind is hidden.
        drop(folder.remove_file(&beside));
    }
    written
}

/// Writes a file of a folder that is not there yet: beside it first, then under its name, unless somebody was
/// faster. Whether it was written.
pub(crate) fn write_new(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let (beside, mut file) = create_temp_file(folder, &new_file_options())?;
    let linked = (|| {
        file.write_all(bytes)?;
        file.sync_all()?;
        // Unlike a rename, a second name never takes the place of another file.
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

/// Whether a file system gives a file one name only.
fn lacks_hard_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// The same where a file has one name only. A crash in the middle leaves a part of it, which then counts as
/// something else: better than to write over what somebody else put there.
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

/// The permissions of a file without what would make it act as its owner: that was said of the old
/// content.
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
        // The only chance the standard library gives; enough for a name that is still free.
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
    // The handle itself may be one that only names; a file opened on it can be flushed.
    folder.open(".")?.sync_all()
}

/// Makes the names in a folder survive a crash; Windows does so by itself.
#[cfg(not(unix))]
pub(crate) fn sync(_folder: &Dir) -> io::Result<()> {
    Ok(())
}
