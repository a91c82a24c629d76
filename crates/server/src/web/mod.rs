//! The web page: static files in the binary, served with a security policy that allows only the
//! page's own scripts. The page gets its data from `/v1`, as any other client does.

mod files;
mod pages;

pub use files::{ASSETS_DIGEST, WebAsset, asset_paths, find_asset, render_index};
pub use pages::{PAGE_PATHS, PAGE_SECURITY_POLICY, routes};
