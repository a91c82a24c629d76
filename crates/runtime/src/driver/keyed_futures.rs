//! Several works under way in one task: whichever is done first is told first. Nothing is spawned, so that
//! whoever drops the whole drops every part.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// One of them.
type TaskFuture<'w, T> = Pin<Box<dyn Future<Output = T> + Send + 'w>>;

/// Works under way, each with what it is told by.
pub(super) struct KeyedFutures<'w, K, T> {
    tasks: Vec<(K, TaskFuture<'w, T>)>,
}

impl<'w, K, T> KeyedFutures<'w, K, T> {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// Begins one more.
    pub(super) fn push(&mut self, key: K, work: impl Future<Output = T> + Send + 'w) {
        self.tasks.push((key, Box::pin(work)));
    }

    /// The next that is done; of several the one that began first. `Empty` where none is under way.
    pub(super) async fn next(&mut self) -> Option<(K, T)> {
        if self.tasks.is_empty() {
            return None;
        }
        poll_fn(|context| {
            for index in 0..self.tasks.len() {
                if let Poll::Ready(done) = self.tasks[index].1.as_mut().poll(context) {
                    let (key, _) = self.tasks.remove(index);
                    return Poll::Ready(Some((key, done)));
                }
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn works_go_on_beside_one_another() {
        let (give, take) = oneshot::channel();
        let mut works = KeyedFutures::new();
        // The first can only be done once the second is.
        works.push("first", async move { take.await.unwrap() });
        works.push("second", async move { give.send(7).map_or(0, |()| 1) });
        assert_eq!(works.next().await, Some(("second", 1)));
        assert_eq!(works.next().await, Some(("first", 7)));
        assert_eq!(works.next().await, None);
    }
}
