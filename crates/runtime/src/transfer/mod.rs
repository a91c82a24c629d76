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

mod transfer_error;
mod run_file_line;
mod export_run;
mod verified_run_file;
mod import_run;

pub use export_run::export_run;
pub use import_run::{ImportHalt, ImportOutcome, import_run, import_run_halted};
pub use transfer_error::{RunFileError, TransferError};
pub use verified_run_file::VerifiedRunFile;
