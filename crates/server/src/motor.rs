//! Keeps runs going: the worker that lives in the server, and takes whatever is due of any tenant.
//!
//! It is a worker like every other: others may work on the same store, here and on other machines. Not here:
//! how runs are taken, and how one is driven.

use std::sync::Arc;
use std::time::Duration;

use countersign_runtime::driver::Driver;
use countersign_runtime::worker::{Crew, Ending, News, Report, Stopper, Terms, Worker};
use countersign_store::TenantId;

use crate::house::House;
use crate::stop::Stopping;

/// How many runs are driven at once.
const AT_ONCE: usize = 64;

/// Keeps runs going until the server is to end. What is under way then may end within the grace; what does not
/// is done again under the same id.
pub(crate) async fn keep_going(house: Arc<House>, mut stopping: Stopping, grace: Duration) {
    let furniture = house.furniture();
    let terms = Terms {
        host: "serve".to_owned(),
        capacity: AT_ONCE,
        grace: i64::try_from(grace.as_millis()).unwrap_or(i64::MAX),
        ..Terms::new(house.worker())
    };
    let (store, clock) = (Arc::clone(&furniture.store), Arc::clone(&furniture.clock));
    let desks = Arc::new(Desks(Arc::clone(&house)));
    let report = Arc::new(Warnings(Arc::clone(&house)));
    let worker = Worker::new(store, clock, desks, report, terms);
    let worker = match house.presence() {
        Some(presence) => worker.present(Arc::clone(presence)),
        None => worker,
    };
    let (stopper, stop) = Stopper::new();
    let told = async {
        stopping.said().await;
        stopper.stop();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        outcome = worker.work(Ending::Told, stop) => {
            if let Err(error) = outcome {
                furniture.watch.warned("", &format!("runs are worked on no more: {error}"));
            }
        }
        () = told => {}
    }
}

/// The drivers of a house's desks.
struct Desks(Arc<House>);

impl Crew for Desks {
    fn driver(&self, tenant: &TenantId) -> Result<Arc<Driver>, String> {
        let desk = self.0.desk(tenant).map_err(|error| error.to_string())?;
        Ok(Arc::clone(&desk.driver))
    }

    fn drivers(&self) -> Vec<Arc<Driver>> {
        self.0.desks().into_iter().map(|desk| Arc::clone(&desk.driver)).collect()
    }
}

/// Tells what goes wrong, and nothing else: the rest is seen by whoever follows a run.
struct Warnings(Arc<House>);

impl Report for Warnings {
    fn told(&self, news: News) {
        let watch = &self.0.furniture().watch;
        match news {
            News::Failed(run, why) => {
                watch.warned(&run.id, &format!("it cannot be driven now: {why}"));
            }
            News::Away(why) => {
                watch.warned("", &format!("the store is away: {why}; waiting for it"));
            }
            News::Back(_) => watch.warned("", "the store is back"),
            _ => {}
        }
    }
}
