//! A run as a single file that contains everything needed to verify it, one JSON value per line.
//!
//! ```text
//! {"format":"countersign-run","v":1,"run":…,"protocol":…,"head":…,   the header, on one line
//!  "versions":…,"events":…,"blobs":…}
//! {"line":"protocol","text":…}                     the files it is pinned to
//! {"line":"entry","version":1,"hash":…,"body":…}   every version, in order
//! {"line":"blob","digest":…,"text":…}              exchange bytes; `base64` if not text
//! ```
//!
//! The same run gives the same bytes from every store. Files of the workspace are not included; the
//! log of a run only names them.

mod transfer_error;
mod run_file_line;
mod export_run;
mod verified_run_file;
mod import_run;

pub use export_run::export_run;
pub use import_run::{ImportHalt, ImportOutcome, import_run, import_run_halted};
pub use transfer_error::{RunFileError, TransferError};
pub use verified_run_file::VerifiedRunFile;
