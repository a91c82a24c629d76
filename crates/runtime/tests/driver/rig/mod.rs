//! What the tests of the driver share: a house with a store, a clock, a protocol and a model.

mod clock;
mod desk;
mod house;

pub(crate) use clock::{EPOCH, Manual};
pub(crate) use desk::{Desk, Question};
pub(crate) use house::{House, Kind, answer, protocol};

/// Runs each of these over both stores.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::rig::Kind::Memory).await;
            })*
        }
        mod on_sqlite {
            $(#[tokio::test]
            async fn $name() {
                super::$name($crate::rig::Kind::Sqlite).await;
            })*
        }
    };
}
