//! Stories: scripted conversations with a shipped protocol, through the real engine and its driver, over
//! a database in a file. What became of each is under snapshot.
//!
//! A story is a YAML file, see [`story`]. After every version the document is held against its contract,
//! and at the end the log of every run is proved by replay.

mod again;
mod clock;
mod expected;
mod test_app;
mod story;
mod log_text;

pub(crate) use again::Again;
pub(crate) use story::tell;

/// A test for every story of a folder, named like its file; one more sees that none is forgotten, and one
/// lives the story after `again` once more, where that is said.
macro_rules! stories {
    ($protocol:literal, again $again:ident: $($name:ident),* $(,)?) => {
        #[test]
        fn the_inputs_of_a_story_make_the_same_run() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let again = $crate::stories::Again::of($protocol, stringify!($again)).await;
                let engine = $crate::stories::Again::engine(std::sync::Arc::new(
                    countersign_store::InMemoryStore::new(),
                ));
                let state = again.live(&engine, "once-more").await;
                assert_eq!((state.status(), &state.phase), (again.end.status(), &again.end.phase));
                assert_eq!(state.version, again.end.version);
            });
        }

        $crate::stories::stories!($protocol: $($name),*);
    };
    ($protocol:literal: $($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            $crate::stories::tell($protocol, stringify!($name));
        })*

        #[test]
        fn every_story_is_told() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join($protocol);
            let mut there: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            there.sort();
            let mut names = vec![$(stringify!($name)),*];
            names.sort_unstable();
            assert_eq!(there, names);
        }
    };
}
pub(crate) use stories;
