//! The output of a workflow: the places of the document that are what its runs give in the end.

use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_pointer::read_pointer;

/// Reads the output of a workflow's own file: one pointer, or a list.
pub(super) fn read_workflow_output(file: &ProtocolFile, faults: &LoadDiagnostics) -> Vec<String> {
    let Some(section) = file.valid_member("output") else { return Vec::new() };
    let places = if section.text().is_some() { vec![section] } else { section.items() };
    places.iter().filter_map(|place| read_pointer(place, faults)).collect()
}
