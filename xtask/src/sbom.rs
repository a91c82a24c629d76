//! `cargo xtask sbom`: writes the bill of materials of the binary as `CycloneDX` 1.5.
//!
//! It is generated from `cargo metadata` and `Cargo.lock`, so that it lists exactly the packages
//! that are compiled in, each with its licence and the checksum under which it was fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::process;

/// The package whose binary is distributed.
const ROOT: &str = "countersign";

/// Writes the bill of materials; returns whether it succeeded.
pub(crate) fn write_sbom(path: &Path) -> bool {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let metadata = process::capture_output("cargo", &arguments)
        .and_then(|text| serde_json::from_str(&text).ok());
    let lock = fs::read_to_string(process::workspace_root().join("Cargo.lock")).unwrap_or_default();
    let Some(bill) = metadata.and_then(|metadata: Value| build_sbom(&metadata, &lock)) else {
        println!("sbom: `cargo metadata` lists no package `{ROOT}`");
        return false;
    };
    let count = bill["components"].as_array().map_or(0, Vec::len);
    let written = serde_json::to_string_pretty(&bill).map(|text| fs::write(path, text + "\n"));
    let written = matches!(written, Ok(Ok(())));
    if written {
        println!("sbom: {count} components in {}", path.display());
    } else {
        println!("sbom: {} cannot be written", path.display());
    }
    written
}

fn build_sbom(metadata: &Value, lock: &str) -> Option<Value> {
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()?
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, Vec<&str>> = metadata["resolve"]["nodes"]
        .as_array()?
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, list_compiled_dependencies(node))))
        .collect();
    let root = packages.values().find(|package| package["name"] == ROOT)?;
    let root_id = root["id"].as_str()?;
    let reached = collect_reachable(root_id, &nodes);
    let checksums = parse_checksums(lock);
    let others = reached.iter().filter(|id| **id != root_id);
    let components: Vec<Value> = others
        .filter_map(|id| packages.get(id))
        .map(|package| build_component(package, &checksums))
        .collect();
    let dependencies: Vec<Value> = reached
        .iter()
        .filter_map(|id| {
            let on: Vec<String> = nodes
                .get(id)?
                .iter()
                .filter_map(|id| packages.get(id))
                .map(|one| format_purl(one))
                .collect();
            Some(json!({"ref": format_purl(packages.get(id)?), "dependsOn": on}))
        })
        .collect();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": build_component(root, &checksums)},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Returns the dependencies of a node that are compiled into a binary, without those of tests and
/// build scripts.
fn list_compiled_dependencies(node: &Value) -> Vec<&str> {
    let normal = |one: &&Value| {
        let kinds = one["dep_kinds"].as_array();
        kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
    };
    let on = node["deps"].as_array().into_iter().flatten();
    on.filter(normal).filter_map(|one| one["pkg"].as_str()).collect()
}

fn collect_reachable<'m>(
    root: &'m str,
    nodes: &BTreeMap<&'m str, Vec<&'m str>>,
) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(nodes.get(id).into_iter().flatten());
        }
    }
    reached
}

fn build_component(package: &Value, checksums: &BTreeMap<String, String>) -> Value {
    let kind = if package["name"] == ROOT { "application" } else { "library" };
    let mut component = json!({
        "type": kind,
        "bom-ref": format_purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": format_purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    let name = format!("{} {}", as_text(&package["name"]), as_text(&package["version"]));
    if let Some(checksum) = checksums.get(&name) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

fn format_purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", as_text(&package["name"]), as_text(&package["version"]))
}

fn as_text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Parses the checksum of every fetched package, by `name version`.
fn parse_checksums(lock: &str) -> BTreeMap<String, String> {
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.strip_prefix(" = ")?.trim_matches('"').to_owned())
    };
    lock.split("[[package]]")
        .filter_map(|package| {
            let name = format!("{} {}", field(package, "name")?, field(package, "version")?);
            Some((name, field(package, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_named_and_nothing_else() {
        let dep = |id: &str, kind: Value| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        let package = |name: &str| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0"});
        let metadata = json!({
            "packages": [package("countersign"), package("used"), package("tested"), package("deep")],
            "resolve": {"nodes": [
                {"id": "countersign", "deps": [dep("used", Value::Null), dep("tested", json!("dev"))]},
                {"id": "used", "deps": [dep("deep", Value::Null)]},
                {"id": "deep", "deps": []},
                {"id": "tested", "deps": []},
            ]},
        });
        let lock = "[[package]]\nname = \"deep\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let bill = build_sbom(&metadata, lock).unwrap();
        let names: Vec<&str> = bill["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| as_text(&one["name"]))
            .collect();
        assert_eq!(names, ["deep", "used"]);
        assert_eq!(bill["components"][0]["hashes"][0]["content"], "abc");
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["dependencies"][0]["dependsOn"], json!(["pkg:cargo/used@1.0.0"]));
    }
}
