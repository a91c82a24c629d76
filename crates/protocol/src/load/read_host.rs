//! Reads hosts that may be called, and checks URLs against them.
//!
//! This check catches authors' mistakes. The runtime checks the URL again once every placeholder is
//! filled in.

use super::file_node::FileNode;
use super::load_diagnostics::LoadDiagnostics;
use super::name_scope::NameScope;
use super::symbol_table::unknown_name_diagnostic;

/// Reads a host of the policy: a name or an address, with the port if it is not the default one.
pub(super) fn read_host(member: &FileNode<'_>, faults: &LoadDiagnostics) -> Option<String> {
    let text = member.text()?;
    let (name, port) = split_host_port(text);
    let plain = !name.is_empty()
        && !name.contains(|c: char| c.is_whitespace() || c.is_control())
        && !name.contains(['/', '@', '*', '?', '#', '{', '}'])
        && (!name.contains(':') || name.starts_with('['));
    if plain && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0)) {
        return Some(text.to_lowercase());
    }
    let hint = "write `api.example.org` or `127.0.0.1:8080`: no scheme, no path, no wildcards";
    let fault = member.diagnose("invalid_host", format!("`{text}` is not a host"));
    faults.push(fault.with_hint(Some(hint.to_owned())));
    None
}

/// Reports an invalid URL, or one whose host the policy does not allow, as far as the file shows
/// it.
pub(super) fn check_host_allowed(url: &FileNode<'_>, scope: &NameScope<'_>) -> Option<()> {
    let text = url.text()?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else {
        if !text.starts_with("{{") {
            let fault = url.diagnose("invalid_host", format!("`{text}` is not a web address"));
            let hint = "begin with `https://` or `http://`".to_owned();
            scope.faults.push(fault.with_hint(Some(hint)));
            return None;
        }
        return Some(());
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default().to_lowercase();
    let Some(hosts) = scope.names.hosts.as_ref().filter(|_| !authority.contains("{{")) else {
        return Some(());
    };
    let (name, _) = split_host_port(&authority);
    let set = &scope.names.host_set;
    if set.contains(&authority) || set.contains(name) {
        return Some(());
    }
    scope.faults.push_with("unknown_host", url, || {
        let fault =
            unknown_name_diagnostic("host", url, &authority, hosts.iter().map(String::as_str));
        let hint = fault.hint.clone().filter(|_| !hosts.is_empty());
        let hint =
            hint.unwrap_or_else(|| format!("allow it: `policy: {{ hosts: [\"{authority}\"] }}`"));
        fault.with_hint(Some(hint))
    });
    None
}

/// Splits an authority into host and port.
fn split_host_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (authority, None),
    }
}
