//! Memory on `PostgreSQL`, against a real server: the one suite, and what is special to it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod site;
mod tables;
mod walls;
mod writers;

use std::sync::Arc;

use countersign_memory::memory_suite;
use countersign_memory::store::Memory;

memory_suite!(in_postgres, {
    let Some(site) = site::Site::fresh("the suite of memory").await else { return };
    let memory: Arc<dyn Memory> = Arc::new(site.memory());
    (memory, site)
});
