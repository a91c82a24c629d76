//! Writes the seeds of every door below `fuzz/corpus`, where `cargo fuzz` looks for them.
//!
//! The readings of the public parsing suite come along where the data lies beside the workspace.

use std::fs;
use std::io;

fn main() -> io::Result<()> {
    for door in countersign_fuzz::doors() {
        let folder = testkit::workspace_root().join("fuzz/corpus").join(door.name);
        fs::create_dir_all(&folder)?;
        for (index, seed) in (door.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{index:04}")), seed)?;
        }
    }
    let Some(suite) = testkit::data("json-parsing/test_parsing") else { return Ok(()) };
    for file in fs::read_dir(suite)? {
        let file = file?;
        let folder = testkit::workspace_root().join("fuzz/corpus/read");
        fs::copy(file.path(), folder.join(file.file_name()))?;
    }
    Ok(())
}
