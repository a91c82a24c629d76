//! The output of a workflow: the places of the document that are what its runs give in the end.

use super::faults::Faults;
use super::file::File;
use super::place::pointer;

/// Reads the output of a workflow's own file: one pointer, or a list.
pub(super) fn output(file: &File, faults: &Faults) -> Vec<String> {
    let Some(section) = file.sound("output") else { return Vec::new() };
    let places = if section.text().is_some() { vec![section] } else { section.items() };
    places.iter().filter_map(|place| pointer(place, faults)).collect()
}
