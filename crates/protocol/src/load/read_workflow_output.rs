//! Reads the output of a workflow: the pointers of the document that form the result of its runs.

use super::load_diagnostics::LoadDiagnostics;
use super::read_pointer::read_pointer;
use super::workflow_settings::WorkflowSettings;

/// Reads the output from the settings of the workflow: one pointer, or a list.
pub(super) fn read_workflow_output(
    settings: &WorkflowSettings<'_>,
    faults: &LoadDiagnostics,
) -> Vec<String> {
    let Some(section) = settings.valid_member("output") else { return Vec::new() };
    let nodes = if section.text().is_some() { vec![section] } else { section.items() };
    nodes.iter().filter_map(|node| read_pointer(node, faults)).collect()
}
