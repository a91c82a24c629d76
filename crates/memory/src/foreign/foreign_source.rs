//! The programs whose exports can be imported, and the conversion of one of their files.

use countersign_contract::Timestamp;

use super::item_collector::ItemCollector;
use super::{
    ForeignConversion, chatgpt_export, claude_export, letta_agent_file, markdown_notes,
    mem0_export, zep_export,
};
use crate::MemorySubject;

/// Maximum size of one file of an export, in bytes.
pub const MAX_FOREIGN_FILE_BYTES: usize = 256 << 20;

/// A program whose exports can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignSource {
    /// Memories of Mem0: the results of `get_all`, or a memory export.
    Mem0,
    /// A graph of Zep or Graphiti: edges, nodes and episodes, or the messages of a thread.
    Zep,
    /// An agent file (`.af`) of Letta.
    Letta,
    /// The data export of ChatGPT.
    Chatgpt,
    /// The data export of Claude.
    Claude,
    /// Notes in Markdown.
    Markdown,
}

/// One file of an export.
#[derive(Debug, Clone, Copy)]
pub struct ForeignFile<'a> {
    /// The name of the file, with its folders inside the export.
    pub path: &'a str,
    /// The contents of the file.
    pub bytes: &'a [u8],
    /// When the file was last modified, for notes that name no date.
    pub modified: Option<Timestamp>,
}

/// Error for a file that cannot be read as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignFileError {
    /// The file is not JSON, or is nested too deeply.
    #[error("`{path}` is not JSON that can be read: {problem}")]
    Json {
        /// The name of the file.
        path: String,
        /// The problem, with its line and column.
        problem: String,
    },
    /// The file is JSON of another shape.
    #[error("`{path}` is not {expected}; found {found}")]
    Shape {
        /// The name of the file.
        path: String,
        /// What the file should contain.
        expected: &'static str,
        /// What the file contains.
        found: String,
    },
    /// The file is not text.
    #[error("`{path}` is not text in UTF-8")]
    Text {
        /// The name of the file.
        path: String,
    },
    /// The file is too large.
    #[error("`{path}` has more than {MAX_FOREIGN_FILE_BYTES} bytes")]
    TooLarge {
        /// The name of the file.
        path: String,
    },
}

impl ForeignSource {
    /// Every source, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Mem0, Self::Zep, Self::Letta, Self::Chatgpt, Self::Claude, Self::Markdown];

    /// Returns the name by which commands refer to the source.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mem0 => "mem0",
            Self::Zep => "zep",
            Self::Letta => "letta",
            Self::Chatgpt => "chatgpt",
            Self::Claude => "claude",
            Self::Markdown => "markdown",
        }
    }

    /// Finds a source by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Returns whether a file of an archive or folder may contain something of this source.
    #[must_use]
    pub fn reads_file(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let has = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        match self {
            Self::Mem0 => has(&[".json", ".jsonl"]),
            Self::Zep => has(&[".json"]),
            Self::Letta => has(&[".af", ".json"]),
            Self::Chatgpt => name.starts_with("conversations") && has(&[".json"]),
            Self::Claude => {
                let known = ["conversations", "memories", "projects"];
                let project = path.split('/').rev().nth(1) == Some("projects");
                has(&[".json"]) && (project || known.iter().any(|known| name.starts_with(known)))
            }
            Self::Markdown => has(&[".md", ".markdown"]),
        }
    }
}

/// Converts a file of an export to rows of `owner`. `now` is the time at which rows are recorded.
///
/// # Errors
/// If the file as a whole has another format. Single elements that cannot be converted are omissions.
pub fn convert_foreign_file(
    source: ForeignSource,
    file: ForeignFile<'_>,
    owner: &MemorySubject,
    now: Timestamp,
) -> Result<ForeignConversion, ForeignFileError> {
    if file.bytes.len() > MAX_FOREIGN_FILE_BYTES {
        return Err(ForeignFileError::TooLarge { path: file.path.to_owned() });
    }
    let mut collector = ItemCollector::new(source, file.path, owner, now);
    match source {
        ForeignSource::Mem0 => mem0_export::convert(file, &mut collector),
        ForeignSource::Zep => zep_export::convert(file, &mut collector),
        ForeignSource::Letta => letta_agent_file::convert(file, &mut collector),
        ForeignSource::Chatgpt => chatgpt_export::convert(file, &mut collector),
        ForeignSource::Claude => claude_export::convert(file, &mut collector),
        ForeignSource::Markdown => markdown_notes::convert(file, &mut collector),
    }?;
    Ok(collector.into_conversion())
}
