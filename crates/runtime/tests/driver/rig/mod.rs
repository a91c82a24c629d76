//! What the tests of the driver share: an app with a store, a clock, a protocol and a model.

mod clock;
mod manual_models;
mod receiver;
mod test_app;

pub(crate) use clock::{EPOCH, Manual};
pub(crate) use manual_models::{ManualModels, Question};
pub(crate) use receiver::{Answer, Received, Receiver};
pub(crate) use test_app::{Kind, TestApp, answer, protocol};

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
