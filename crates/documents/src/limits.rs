//! What a document may be at most. A document that exceeds a limit is an error or is read in part;
//! both are said.

/// Maximum size of a file, in bytes: 32 MiB.
pub const MAX_DOCUMENT_BYTES: u64 = 32 * 1024 * 1024;

/// Maximum size that one compressed part may unpack to, in bytes: 64 MiB.
pub const MAX_UNPACKED_PART_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum size that all parts that are read may unpack to, in bytes: 128 MiB.
pub const MAX_UNPACKED_BYTES: u64 = 128 * 1024 * 1024;

/// Maximum size of the extracted text, in bytes: 4 MiB. The rest is left out, and a note says so.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Maximum number of pages, sheets, slides or attachments; the rest is left out, with a note.
pub const MAX_PARTS: usize = 5_000;

/// Maximum number of entries in an archive.
pub const MAX_ARCHIVE_ENTRIES: usize = 20_000;

/// Maximum depth of nested elements in a part of an Office file.
pub const MAX_XML_DEPTH: usize = 256;

/// How deeply a document may be attached to another: a mail in a mail in a mail.
pub const MAX_ATTACHMENT_DEPTH: usize = 3;

/// Memory limit of the reading process, in bytes: 512 MiB.
pub const MEMORY_LIMIT_BYTES: u64 = 512 * 1024 * 1024;

/// Limit on the CPU time of the reading process, in seconds.
pub const CPU_LIMIT_SECONDS: u64 = 20;
