//! Documents that foreign programs wrote, documents that want to do harm, and how long reading takes.

mod foreign_files;
mod hostile_files;
mod measurements;
mod written_files;
