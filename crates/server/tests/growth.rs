//! The law of growth at the HTTP door: on every route that takes a body, the time and the memory of
//! the whole process grow linearly with it. A program of its own: other tests would be measured along.

#![expect(clippy::unwrap_used, reason = "a test stumbles loudly")]

#[path = "http/rig/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the rig is made for the tests of `http`")]
mod rig;

use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use testkit::{GrowthTarget, ResourceMeter, process_time};
use tokio::runtime::Runtime;

use rig::{Client, serve, sound_bodies};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const METER: ResourceMeter = ResourceMeter {
    time: process_time,
    reset: || ALLOCATOR.reset_peak_usage(),
    current: || ALLOCATOR.current_usage(),
    peak: || ALLOCATOR.peak_usage(),
};

/// Eight times this is a quarter of a mebibyte. Larger documents no longer fit into the caches of the
/// processor, and their time would measure the machine's memory instead of our work.
const BASE: usize = 32 << 10;

/// A way to make a hostile value of about so many bytes.
type Family = (&'static str, fn(usize) -> Value);

const FAMILIES: [Family; 4] = [
    ("a long list", |size| vec![0; size / 2].into()),
    ("many members", |size| (0..size / 12).map(|n| (format!("m{n:06}"), json!(0))).collect()),
    ("one long key around a list", |size| json!({"k".repeat(size / 2): vec![0; size / 4]})),
    ("a text of braces", |size| "{x} ".repeat(size / 4).into()),
];

/// The members that a body is made hostile at: those that hold a model's or a person's words, and
/// one that no route knows.
const MEMBERS: [&str; 6] = ["never", "text", "document", "value", "message", "examples"];

#[test]
fn bodies_of_every_route() {
    let runtime = Runtime::new().unwrap();
    let rig = runtime.block_on(serve());
    let client = rig.client();
    let mut door = GrowthTarget::new("http_body", &METER);
    for (path, body) in sound_bodies() {
        for member in MEMBERS {
            if member != "never" && body.get(member).is_none() {
                continue;
            }
            for (family, make) in FAMILIES {
                let make = |size: usize| {
                    let mut body = body.clone();
                    body[member] = make(size);
                    body.to_string().into_bytes()
                };
                let run = |body: &Vec<u8>| runtime.block_on(send(&client, path, body.clone()));
                door.measure_family(&format!("{path} {member}: {family}"), BASE, make, run);
            }
        }
    }
    door.assert_linear();
    drop(runtime.block_on(rig.end()));
}

/// Sends one body; whatever the answer is, it is not a breakdown.
async fn send(client: &Client, path: &str, body: Vec<u8>) {
    let path = path.replace("{run}", "run-that-is-not-there");
    let request = client
        .request("POST", &path)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(body);
    let response = request.send().await.unwrap();
    let status = response.status();
    let _ = response.bytes().await.unwrap();
    assert!(status.as_u16() < 500, "{path}: {status}");
}
