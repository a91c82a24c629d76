//! The runtime does what the core decided: it drives runs, performs actions, and keeps files.
