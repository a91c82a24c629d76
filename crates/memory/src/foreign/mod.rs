//! Imports what other memories and chat programs leave behind: reads their exports and converts
//! them to export lines of this product, which [`import`](crate::store::MemoryMaintenance::import)
//! stores with the origin `imported`. Pure: the caller reads the files.
//!
//! ```text
//! file of an export ──► convert_foreign_file ──► ForeignConversion: items, omissions
//!                                                each with its place in the file
//! ```
//!
//! Ids are derived from the ids of the source, so importing a file again adds nothing. What is not
//! taken is listed with its place and the reason. One element that has an unexpected shape does not
//! affect the others.

mod foreign_source;
mod foreign_conversion;
mod item_collector;
mod json_elements;
mod foreign_text;
mod chatgpt_export;
mod claude_export;
mod mem0_export;
mod zep_export;
mod letta_agent_file;
mod markdown_notes;

pub use foreign_conversion::{ForeignConversion, ForeignItem, ForeignOmission};
pub use foreign_source::{
    ForeignFile, ForeignFileError, ForeignSource, MAX_FOREIGN_FILE_BYTES, convert_foreign_file,
};
