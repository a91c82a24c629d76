//! The store on `PostgreSQL`, against a real server: the one suite, and what is special to it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod site;
mod backup;
mod clock;
mod migrations;
mod notices;
mod lost_answers;
mod outages;
mod walls;
mod writes;

use countersign_store::store_suite;

store_suite!(in_postgres, {
    let Some(site) = site::Site::fresh("the suite of the store").await else { return };
    (site.store(), site)
});
