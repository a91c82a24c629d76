//! The archive that an Office file is, with a limit on what it unpacks to.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use quick_xml::events::BytesStart;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::limits::{MAX_ARCHIVE_ENTRIES, MAX_UNPACKED_BYTES, MAX_UNPACKED_PART_BYTES};
use crate::office_xml::{XmlToken, attribute, walk_xml};
use crate::plain_text::decode_text;
use crate::{DocumentError, DocumentErrorKind};

/// Which program an Office file belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfficeKind {
    Word,
    Excel,
    PowerPoint,
}

/// A relationship from one part to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relationship {
    /// The last name of its type, such as `worksheet`.
    pub(crate) kind: String,
    /// Path of the other part in the archive, or an address outside.
    pub(crate) target: String,
    pub(crate) is_external: bool,
}

/// An Office file that is open.
pub(crate) struct OfficeArchive<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    /// How much more may be unpacked.
    remaining_bytes: u64,
}

impl<'b> OfficeArchive<'b> {
    pub(crate) fn open(bytes: &'b [u8]) -> Result<Self, DocumentError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
            DocumentError::broken(format!(
                "is a damaged ZIP archive: {}",
                describe_zip_error(&error)
            ))
        })?;
        if zip.len() > MAX_ARCHIVE_ENTRIES {
            let message = format!(
                "is an archive with {} entries; the limit is {MAX_ARCHIVE_ENTRIES}",
                zip.len()
            );
            return Err(DocumentError::too_large(message));
        }
        Ok(Self { zip, remaining_bytes: MAX_UNPACKED_BYTES })
    }

    /// Finds the part that the document begins with; `None` if the archive is no Office file.
    pub(crate) fn find_main_part(&mut self) -> Result<Option<(OfficeKind, String)>, DocumentError> {
        let known = [
            (OfficeKind::Word, "word/document.xml", "document"),
            (OfficeKind::Excel, "xl/workbook.xml", "workbook"),
            (OfficeKind::PowerPoint, "ppt/presentation.xml", "presentation"),
        ];
        let roots = self.read_relationships("")?;
        let main = roots.into_values().find(|relation| relation.kind == "officeDocument");
        if let Some(main) = main
            && let Some(text) = self.read_part(&main.target)?
        {
            let mut root = String::new();
            walk_xml(&text, &main.target, |token| {
                if let XmlToken::Open(name, _) = token
                    && root.is_empty()
                {
                    name.clone_into(&mut root);
                }
                // The rest is read later, or is damaged and reported then.
                root.is_empty()
            })?;
            let kind = known.iter().find(|(_, _, name)| *name == root);
            return Ok(kind.map(|(kind, ..)| (*kind, main.target)));
        }
        let found = known.into_iter().find(|(_, path, _)| self.zip.index_for_name(path).is_some());
        Ok(found.map(|(kind, path, _)| (kind, path.to_owned())))
    }

    /// Reads a part as text; `None` if there is no such part.
    pub(crate) fn read_part(&mut self, path: &str) -> Result<Option<String>, DocumentError> {
        let Some(index) = self.zip.index_for_name(path) else { return Ok(None) };
        let broken = |error: &ZipError| match error {
            ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => DocumentError::new(
                DocumentErrorKind::PasswordProtected,
                "is an archive with a password",
            ),
            error => DocumentError::broken(format!(
                "has a damaged part `{path}`: {}",
                describe_zip_error(error)
            )),
        };
        let entry = self.zip.by_index(index).map_err(|error| broken(&error))?;
        let limit = self.remaining_bytes.min(MAX_UNPACKED_PART_BYTES);
        let mut bytes = Vec::new();
        let unpacked = entry.take(limit + 1).read_to_end(&mut bytes);
        unpacked.map_err(|error| broken(&ZipError::Io(error)))?;
        if bytes.len() as u64 > limit {
            let (part, total) = (MAX_UNPACKED_PART_BYTES >> 20, MAX_UNPACKED_BYTES >> 20);
            return Err(DocumentError::too_large(format!(
                "unpacks to more than the limits allow: part `{path}` exceeds {part} MiB, or all parts exceed {total} MiB"
            )));
        }
        self.remaining_bytes -= bytes.len() as u64;
        Ok(Some(match String::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
            Err(error) => decode_text(error.as_bytes()).0.into_owned(),
        }))
    }

    /// Reads the relationships of a part, by id; those of the archive for an empty path.
    pub(crate) fn read_relationships(
        &mut self,
        part: &str,
    ) -> Result<BTreeMap<String, Relationship>, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = match folder {
            "" => format!("_rels/{name}.rels"),
            folder => format!("{folder}/_rels/{name}.rels"),
        };
        let mut relations = BTreeMap::new();
        let Some(text) = self.read_part(&path)? else { return Ok(relations) };
        walk_xml(&text, &path, |token| {
            if let XmlToken::Open("Relationship", tag) = token
                && let Some((id, relation)) = read_relationship(tag, folder)
            {
                relations.insert(id, relation);
            }
            true
        })?;
        Ok(relations)
    }
}

fn read_relationship(tag: &BytesStart<'_>, folder: &str) -> Option<(String, Relationship)> {
    let kind = attribute(tag, "Type")?;
    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
    let is_external = attribute(tag, "TargetMode").as_deref() == Some("External");
    let target = attribute(tag, "Target")?;
    let target = if is_external { target } else { resolve_target(folder, &target) };
    Some((attribute(tag, "Id")?, Relationship { kind, target, is_external }))
}

/// Resolves the path of a part that another names.
fn resolve_target(folder: &str, target: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let whole = match target.strip_prefix('/') {
        Some(target) => target.to_owned(),
        None => format!("{folder}/{target}"),
    };
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

fn describe_zip_error(error: &ZipError) -> String {
    match error {
        ZipError::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_stay_inside_the_archive() {
        assert_eq!(resolve_target("ppt", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve_target("ppt/slides", "../notes/n.xml"), "ppt/notes/n.xml");
        assert_eq!(resolve_target("xl", "/xl/sheet.xml"), "xl/sheet.xml");
        assert_eq!(resolve_target("", "../../etc/passwd"), "etc/passwd");
    }
}
