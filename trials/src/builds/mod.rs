//! The trial of builds: packets that were composed while their memory lived on, composed again from what
//! was kept of them, and compared byte for byte.
//!
//! ```text
//! Life: rows by chance, changing ─► found ─► compose ─► keep_build      (as a user does)
//! opened anew ─► build ─► again ─► the same bytes?                      after a restart
//! VACUUM, opened anew ─► build ─► again ─► the same bytes?              after VACUUM
//! ```
mod life;
mod trial;

pub(crate) use trial::{Settings, run};
