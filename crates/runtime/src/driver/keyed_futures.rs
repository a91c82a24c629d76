//! Runs several futures in one task and yields each as it completes. Nothing is spawned, so
//! dropping the collection drops every future.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

type TaskFuture<'w, T> = Pin<Box<dyn Future<Output = T> + Send + 'w>>;

/// A collection of running futures, each with a key that identifies its result.
pub(super) struct KeyedFutures<'w, K, T> {
    tasks: Vec<(K, TaskFuture<'w, T>)>,
}

impl<K: PartialEq, T> KeyedFutures<'_, K, T> {
    /// Returns whether a future with this key is running.
    pub(super) fn contains_key(&self, key: &K) -> bool {
        self.tasks.iter().any(|(own, _)| own == key)
    }
}

impl<'w, K, T> KeyedFutures<'w, K, T> {
    /// Creates an empty collection.
    pub(super) fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// Adds a future to the collection.
    pub(super) fn push(&mut self, key: K, work: impl Future<Output = T> + Send + 'w) {
        self.tasks.push((key, Box::pin(work)));
    }

    /// Returns whether no future is running.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns the number of running futures.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns the next completed future; if several are ready, the one added first. Returns `None`
    /// if the collection is empty.
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
        // The first future can complete only after the second.
        works.push("first", async move { take.await.unwrap() });
        works.push("second", async move { give.send(7).map_or(0, |()| 1) });
        assert_eq!(works.next().await, Some(("second", 1)));
        assert_eq!(works.next().await, Some(("first", 7)));
        assert_eq!(works.next().await, None);
    }
}
