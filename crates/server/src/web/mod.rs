//! The page in the binary: static files, served with a policy that lets nothing else run. What it shows it asks
//! of `/v1` as any other client does.

mod files;
mod pages;

pub use files::{ASSETS_DIGEST, WebAsset, asset_paths, find_asset, render_index};
pub use pages::{PAGE_PATHS, PAGE_SECURITY_POLICY, routes};
