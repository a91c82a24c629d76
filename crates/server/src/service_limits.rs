//! The limits of the service: connections, streams, uploads and bytes, in total and per key.
//!
//! Every limit has a default; `[limits]` in `countersign.toml` changes it.

use std::time::Duration;

/// What the service holds at the same time. It refuses a request above a limit per key with status
/// 429, and above a total limit with 503; both responses tell when to retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceLimits {
    /// Open connections. Above the limit, the server answers only `/v1/health` and `/v1/ready`.
    pub connections: usize,
    /// Event streams of all keys. At most half of the connections, so that other requests find a
    /// free one.
    pub streams: u64,
    /// Event streams of one key.
    pub streams_per_key: u64,
    /// Document uploads in progress, of all keys.
    pub uploads: u64,
    /// Document uploads in progress, of one key.
    pub uploads_per_key: u64,
    /// Bytes of unfinished uploads on disk, of all keys.
    pub upload_bytes: u64,
    /// Bytes of unfinished uploads on disk, of one key.
    pub upload_bytes_per_key: u64,
    /// Bytes of all other request bodies in memory, of all keys.
    pub body_bytes: u64,
    /// Bytes of all other request bodies in memory, of one key.
    pub body_bytes_per_key: u64,
    /// How long a client may send nothing in the middle of a body. The server then refuses the
    /// request with status 408.
    pub body_idle_timeout: Duration,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self {
            connections: 4_096,
            streams: 1_024,
            streams_per_key: 64,
            uploads: 64,
            uploads_per_key: 8,
            upload_bytes: 1 << 30,
            upload_bytes_per_key: 256 << 20,
            body_bytes: 128 << 20,
            body_bytes_per_key: 32 << 20,
            body_idle_timeout: Duration::from_secs(10),
        }
    }
}

impl ServiceLimits {
    /// The names of the limits in `[limits]`; the unit of `body_pause` is seconds.
    pub const NAMES: [&'static str; 10] = [
        "connections",
        "streams",
        "streams_per_key",
        "uploads",
        "uploads_per_key",
        "upload_bytes",
        "upload_bytes_per_key",
        "body_bytes",
        "body_bytes_per_key",
        "body_idle_timeout",
    ];

    /// Sets a limit by its name. Returns whether a limit has this name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        let count = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "connections" => self.connections = count,
            "streams" => self.streams = value,
            "streams_per_key" => self.streams_per_key = value,
            "uploads" => self.uploads = value,
            "uploads_per_key" => self.uploads_per_key = value,
            "upload_bytes" => self.upload_bytes = value,
            "upload_bytes_per_key" => self.upload_bytes_per_key = value,
            "body_bytes" => self.body_bytes = value,
            "body_bytes_per_key" => self.body_bytes_per_key = value,
            "body_idle_timeout" => self.body_idle_timeout = Duration::from_secs(value),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_sets_one_limit() {
        let usual = ServiceLimits::default();
        for name in ServiceLimits::NAMES {
            let mut limits = usual.clone();
            assert!(limits.set(name, 7), "{name}");
            assert_ne!(limits, usual, "{name}");
        }
        assert!(!usual.clone().set("made_up", 7));
    }
}
