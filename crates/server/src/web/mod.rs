//! The page in the binary: static files, served with a policy that lets nothing else run. What it shows it asks
//! of `/v1` as any other client does.

mod files;
mod pages;

pub use files::{Asset, EDITION, asset, assets, page};
pub use pages::{PAGES, POLICY, routes};
