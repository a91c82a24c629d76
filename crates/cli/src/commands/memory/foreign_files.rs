//! Reads the files of a foreign export: one file, a folder, or a ZIP archive, within limits.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use countersign_memory::foreign::{ForeignOmission, ForeignSource, MAX_FOREIGN_FILE_BYTES};
use countersign_run::Timestamp;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::byte_format::format_bytes;
use crate::exit::CliError;

/// The maximum number of files in a folder or an archive.
const MAX_FILES: u64 = 100_000;

/// The maximum number of bytes of all files that are read, unpacked.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// The maximum depth of folders.
const MAX_FOLDER_DEPTH: usize = 32;

/// A file of an export that was read.
pub(super) struct ExportFile {
    /// The name of the file, with its folders inside the export.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    /// When the file was last modified, if that is known.
    pub(super) modified: Option<Timestamp>,
    /// Whether the export is this file alone, named by the user.
    pub(super) is_named: bool,
}

/// Reads the files of an export that a source may use, one after the other, and gives each to
/// `each`. Returns the files that are not read, with the reason.
pub(super) fn read_export_files(
    path: &Path,
    source: ForeignSource,
    each: &mut dyn FnMut(ExportFile) -> Result<(), CliError>,
) -> Result<Vec<ForeignOmission>, CliError> {
    let mut reader =
        ExportReader { source, each, left: MAX_TOTAL_BYTES, files: 0, omissions: Vec::new() };
    if path.as_os_str() == "-" {
        let bytes = reader.read_bounded("<stdin>", &mut std::io::stdin().lock())?;
        reader.give("<stdin>".to_owned(), bytes, None, true)?;
    } else if path.is_dir() {
        reader.read_folder(path, "", 0)?;
    } else {
        let shown = path.display().to_string();
        let mut file = File::open(path).map_err(|source| unreadable(&shown, source))?;
        if is_zip(&mut file).map_err(|source| unreadable(&shown, source))? {
            reader.read_archive(&shown, file)?;
        } else {
            let modified = modification_time(&file);
            let bytes = reader.read_bounded(&shown, &mut file)?;
            let name = path.file_name().map_or(shown.clone(), |name| name.to_string_lossy().into());
            reader.give(name, bytes, modified, true)?;
        }
    }
    Ok(reader.omissions)
}

struct ExportReader<'a> {
    source: ForeignSource,
    each: &'a mut dyn FnMut(ExportFile) -> Result<(), CliError>,
    /// How many more bytes may be read.
    left: u64,
    files: u64,
    omissions: Vec<ForeignOmission>,
}

impl ExportReader<'_> {
    fn give(
        &mut self,
        path: String,
        bytes: Vec<u8>,
        modified: Option<Timestamp>,
        is_named: bool,
    ) -> Result<(), CliError> {
        (self.each)(ExportFile { path, bytes, modified, is_named })
    }

    /// Reads a folder in the order of its names. Hidden files and links are not followed.
    fn read_folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), CliError> {
        let shown = folder.display().to_string();
        if depth > MAX_FOLDER_DEPTH {
            return Err(CliError::Usage(format!(
                "`{shown}` is nested more than {MAX_FOLDER_DEPTH} folders deep"
            )));
        }
        let entries = fs::read_dir(folder).map_err(|source| unreadable(&shown, source))?;
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.map_err(|source| unreadable(&shown, source))?.file_name());
            self.count_file(&shown)?;
        }
        names.sort();
        for name in names {
            let (path, shown) = (folder.join(&name), name.to_string_lossy().into_owned());
            if shown.starts_with('.') {
                continue;
            }
            let inner = if prefix.is_empty() { shown } else { format!("{prefix}/{shown}") };
            let kind = fs::symlink_metadata(&path).map_err(|source| unreadable(&inner, source))?;
            if kind.is_dir() {
                self.read_folder(&path, &inner, depth + 1)?;
            } else if !kind.is_file() {
                self.omit(inner, "it is a link or no ordinary file");
            } else if self.source.reads_file(&inner) {
                let mut file = File::open(&path).map_err(|source| unreadable(&inner, source))?;
                let modified = modification_time(&file);
                let bytes = self.read_bounded(&inner, &mut file)?;
                self.give(inner, bytes, modified, false)?;
            } else {
                self.omit(inner, self.describe_unread());
            }
        }
        Ok(())
    }

    fn read_archive(&mut self, shown: &str, mut file: File) -> Result<(), CliError> {
        let damaged = |error: &ZipError| {
            CliError::Usage(format!("`{shown}` is a damaged ZIP archive: {error}"))
        };
        // The library reads the whole directory of the archive, so its size is checked before.
        let entries = count_entries(&mut file).map_err(|source| unreadable(shown, source))?;
        if entries > MAX_FILES {
            return Err(too_many_files(shown));
        }
        let mut archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
        for index in 0..archive.len() {
            self.count_file(shown)?;
            let entry = match archive.by_index(index) {
                Ok(entry) => entry,
                Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                    let said = format!("`{shown}` has a password; unpack it first");
                    return Err(CliError::Usage(said));
                }
                Err(error) => return Err(damaged(&error)),
            };
            let name = entry.name().map_err(|error| damaged(&error))?.into_owned();
            let hidden = name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
            if entry.is_dir() || hidden {
                continue;
            }
            if !self.source.reads_file(&name) {
                self.omit(name, self.describe_unread());
                continue;
            }
            let modified = entry.last_modified().and_then(to_timestamp);
            let mut entry = entry;
            let bytes = self.read_bounded(&name, &mut entry)?;
            self.give(name, bytes, modified, false)?;
        }
        Ok(())
    }

    /// Reads a file up to the limits, whatever size it claims to have.
    fn read_bounded(&mut self, name: &str, from: &mut dyn Read) -> Result<Vec<u8>, CliError> {
        let limit = self.left.min(MAX_FOREIGN_FILE_BYTES as u64);
        let mut bytes = Vec::new();
        from.take(limit + 1).read_to_end(&mut bytes).map_err(|source| unreadable(name, source))?;
        if bytes.len() as u64 > limit {
            let (file, total) =
                (format_bytes(MAX_FOREIGN_FILE_BYTES as u64), format_bytes(MAX_TOTAL_BYTES));
            return Err(CliError::Usage(format!(
                "`{name}` is too large: a file may have {file} and all files together {total}, unpacked"
            )));
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }

    fn count_file(&mut self, shown: &str) -> Result<(), CliError> {
        self.files += 1;
        if self.files > MAX_FILES { Err(too_many_files(shown)) } else { Ok(()) }
    }

    fn omit(&mut self, place: String, reason: impl Into<String>) {
        self.omissions.push(ForeignOmission { place, reason: reason.into() });
    }

    fn describe_unread(&self) -> String {
        format!("the import from `{}` does not read this file", self.source.name())
    }
}

fn too_many_files(shown: &str) -> CliError {
    CliError::Usage(format!("`{shown}` has more than {MAX_FILES} files"))
}

fn unreadable(name: &str, source: std::io::Error) -> CliError {
    CliError::Unreadable { what: format!("`{name}`"), source }
}

fn is_zip(file: &mut File) -> std::io::Result<bool> {
    let mut first = Vec::new();
    Read::by_ref(file).take(4).read_to_end(&mut first)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(matches!(&first[..], b"PK\x03\x04" | b"PK\x05\x06"))
}

/// Reads the number of entries from the end of a ZIP archive; 0 if there is no valid end, which the
/// library reports.
fn count_entries(file: &mut File) -> std::io::Result<u64> {
    const END: usize = 22;
    const LONGEST_COMMENT: u64 = 65_535;
    let length = file.seek(SeekFrom::End(0))?;
    // The record of large archives and its locator are before the end record.
    let tail = length.min(END as u64 + LONGEST_COMMENT + 20 + 56);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = Vec::new();
    Read::by_ref(file).take(tail).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(0))?;
    let find = |signature: &[u8]| bytes.windows(4).rposition(|window| window == signature);
    let Some(end) = find(b"PK\x05\x06").filter(|end| bytes.len() - end >= END) else {
        return Ok(0);
    };
    let short = u16::from_le_bytes([bytes[end + 10], bytes[end + 11]]);
    let large = find(b"PK\x06\x06").and_then(|at| bytes.get(at + 32..at + 40));
    let large = large.and_then(|count| count.try_into().ok()).map(u64::from_le_bytes);
    Ok(match large {
        Some(count) if short == u16::MAX => count,
        _ => short.into(),
    })
}

fn modification_time(file: &File) -> Option<Timestamp> {
    let modified = file.metadata().ok()?.modified().ok()?;
    let millis = modified.duration_since(UNIX_EPOCH).ok()?.as_millis();
    i64::try_from(millis).ok().map(Timestamp)
}

/// Converts the time of an archive entry, which has no time zone, as UTC.
fn to_timestamp(time: zip::DateTime) -> Option<Timestamp> {
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second().min(59));
    Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}
