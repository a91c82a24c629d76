//! How the parts of a subject are shown to the person who decides.

use serde::{Deserialize, Serialize};

/// One part of the document that an approval shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentationRule {
    /// Pointer of the part; it is within the subject of the approval.
    pub pointer: String,
    /// The format; text for strings and JSON for other values if absent.
    pub format: Option<PresentationFormat>,
    /// The heading of the part; the last name of the pointer if absent.
    pub title: Option<String>,
}

/// The format in which a part is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PresentationFormat {
    /// Plain text, line by line.
    Text,
    /// Markdown, rendered without HTML.
    Markdown,
    /// A list of objects as a table.
    Table,
    /// A JSON value.
    Json,
    /// An image: the value is the path of a file in the workspace.
    Image,
    /// A file: the value is the path of a file in the workspace.
    File,
    /// The difference to the value that was approved last.
    Difference,
}

impl PresentationFormat {
    /// Every format, in the order of declaration.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Markdown,
        Self::Table,
        Self::Json,
        Self::Image,
        Self::File,
        Self::Difference,
    ];

    /// The name in protocol files and in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Table => "table",
            Self::Json => "json",
            Self::Image => "image",
            Self::File => "file",
            Self::Difference => "difference",
        }
    }

    /// Parses the name in protocol files.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Whether the value is the path of a file, whose content is part of the subject.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(self, Self::Image | Self::File)
    }
}
