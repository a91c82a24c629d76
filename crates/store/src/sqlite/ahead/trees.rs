//! The trees of one file, and the disk that they lie on.

use std::collections::BTreeSet;
use std::fs::File;
use std::sync::Arc;

use rusqlite::Connection;

use super::fetch::{self, Roots, Sought};
use super::pages::{Disk as _, Pages};
use crate::StoreError;

/// Where the trees of a file begin.
#[derive(Debug)]
pub struct Trees {
    pages: Pages,
    roots: Roots,
    /// The roots move when the file is written anew, and it has another version then.
    version: i64,
}

impl Trees {
    /// The trees of a file as it is seen now.
    pub(in super::super) fn of(file: Arc<File>, db: &Connection) -> Result<Self, StoreError> {
        let size = db.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let mut trees =
            db.prepare("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0")?;
        let trees = trees.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let roots = trees.collect::<Result<_, _>>()?;
        Ok(Self { pages: Pages { file, size }, roots, version: version(db)? })
    }

    /// Whether the file has not been written anew since.
    pub(in super::super) fn still(&self, db: &Connection) -> Result<bool, StoreError> {
        Ok(self.version == version(db)?)
    }

    /// Has the first page of every tree fetched, and does not wait.
    pub(in super::super) fn fetch_roots(&self) {
        self.pages.will_need(&self.roots.values().copied().collect());
    }

    /// Has the pages below the roots fetched too, where these are few; waits for the roots. Most ways lead over
    /// them.
    pub(in super::super) fn fetch_below_roots(&self) {
        self.pages.will_need(&fetch::below_roots(&self.roots, &self.pages));
    }

    /// Whether the way to this leads over a page that the system does not have in its memory.
    #[must_use]
    pub fn is_cold(&self, sought: &Sought<'_>) -> bool {
        fetch::is_cold(&self.roots, &self.pages, sought)
    }

    /// Has the pages fetched that these lie on, and says which they are. What cannot be found is left out. Waits
    /// only for pages that the way leads on from; while the disk works for the first time, something else can
    /// be done.
    pub fn fetch(&self, sought: &[Sought<'_>], meanwhile: impl FnOnce()) -> BTreeSet<u32> {
        fetch::fetch(&self.roots, &self.pages, sought, meanwhile)
    }
}

/// It changes whenever the trees do.
fn version(db: &Connection) -> Result<i64, StoreError> {
    Ok(db.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?)
}
