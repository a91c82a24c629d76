//! How long a packet takes from the request to the text, by how many events its subject has, on a real
//! file: finding the rows, composing, rendering.
//!
//! ```text
//! cargo bench -p countersign-memory --bench found -- 1000 10000 100000 1000000
//! ```
//!
//! Warm is the second time that a set of questions is asked. Opened is one question after the file was opened
//! anew, with its pages in the system's memory. Cold is one question after the file was dropped from that too
//! (`dd iflag=nocache`, looked after with `fincore`); what a disk or a host keeps in its own memory stays
//! there. First the subject has its events alone, then beside them a working state, a summary, 100 facts, 40
//! episodes, 12 procedures and 10 guesses.

#![expect(clippy::print_stdout, reason = "a bench shows its table")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[path = "../talk/mod.rs"]
mod talk;
mod cold;
mod fill;
mod measure;
mod times;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|one| one.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000] } else { sizes };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for size in sizes {
        let path = folder.path().join(format!("{size}.db"));
        runtime.block_on(measure::measure(&path, size));
        std::fs::remove_file(&path).unwrap();
    }
}
