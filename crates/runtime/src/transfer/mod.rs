//! A run as one file: everything that proves it, a JSON value a line.
//!
//! ```text
//! {"format":"countersign-run","v":1,"run":…,"protocol":…,"head":…,"versions":…,"events":…,"blobs":…}
//! {"line":"protocol","text":…}              the files it is pinned to
//! {"line":"event","seq":1,"hash":…,"body":…}   every event, in order
//! {"line":"blob","digest":…,"text":…}       what its events speak of; `base64` where it is no text
//! ```
//!
//! The same run gives the same bytes, wherever it is kept. Not here: files and folders of the
//! workspace, which a run's log only names.

mod error;
mod line;
mod export;
mod packed;
mod import;

pub use error::{TransferError, Wrong};
pub use export::export;
pub use import::{ImportHalt, Imported, import, import_halted};
pub use packed::Packed;
