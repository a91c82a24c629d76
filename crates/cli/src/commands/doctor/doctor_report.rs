//! The report of `countersign doctor`, as text and as JSON.

use serde_json::{Value, json};

use crate::render::{BAD, DIM, GOOD, HEADING};
use crate::table::render_table;

/// The results of all checks.
#[derive(Default)]
pub(super) struct DoctorReport {
    sections: Vec<(&'static str, Vec<DoctorCheck>)>,
    pub(super) settings: Vec<[String; 3]>,
    /// Pairs of a problem and its remedy.
    pub(super) problems: Vec<(String, String)>,
}

/// The result of one check.
struct DoctorCheck {
    name: &'static str,
    text: String,
    /// Whether the check passed; `None` if the entry is informational.
    passed: Option<bool>,
    value: Value,
}

impl DoctorReport {
    pub(super) fn add(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        value: impl Into<Value>,
    ) {
        self.push(DoctorCheck { name, text: detail.into(), passed: None, value: value.into() });
    }

    pub(super) fn add_passed(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        value: impl Into<Value>,
    ) {
        self.push(DoctorCheck {
            name,
            text: detail.into(),
            passed: Some(true),
            value: value.into(),
        });
    }

    pub(super) fn add_problem(
        &mut self,
        name: &'static str,
        detail: impl Into<String>,
        way_out: impl Into<String>,
    ) {
        let detail = detail.into();
        self.problems.push((detail.clone(), way_out.into()));
        self.push(DoctorCheck {
            name,
            value: detail.clone().into(),
            text: detail,
            passed: Some(false),
        });
    }

    fn push(&mut self, fact: DoctorCheck) {
        if let Some((_, facts)) = self.sections.last_mut() {
            facts.push(fact);
        }
    }

    pub(super) fn start_section(&mut self, name: &'static str) {
        self.sections.push((name, Vec::new()));
    }

    pub(super) fn to_json(&self) -> Value {
        let mut whole = json!({ "ok": self.problems.is_empty() });
        for (name, facts) in &self.sections {
            let mut section = json!({});
            for fact in facts {
                section[fact.name.replace(' ', "_")] = fact.value.clone();
            }
            whole[*name] = section;
        }
        let settings = self.settings.iter().map(|[name, value, origin]| {
            let value = Some(value).filter(|value| !value.is_empty());
            json!({ "name": name, "value": value, "origin": origin })
        });
        whole["settings"] = settings.collect();
        let problems = self.problems.iter();
        whole["problems"] =
            problems.map(|(what, way_out)| json!({ "problem": what, "fix": way_out })).collect();
        whole
    }

    pub(super) fn to_text(&self) -> String {
        let mut page = String::new();
        for (name, facts) in &self.sections {
            page.push_str(&format!("{HEADING}{name}{HEADING:#}\n"));
            for fact in facts {
                let mark = match fact.passed {
                    Some(true) => format!("{GOOD}✓{GOOD:#}"),
                    Some(false) => format!("{BAD}✗{BAD:#}"),
                    None => " ".to_owned(),
                };
                page.push_str(&format!("{mark} {DIM}{:<12}{DIM:#}{}\n", fact.name, fact.text));
            }
            page.push('\n');
        }
        let rows: Vec<[String; 3]> = self
            .settings
            .iter()
            .map(|[name, value, origin]| {
                let value = if value.is_empty() { "–".to_owned() } else { value.clone() };
                [name.clone(), value, origin.clone()]
            })
            .collect();
        if !rows.is_empty() {
            page.push_str(&render_table(["SETTING", "VALUE", "FROM"], &rows));
            page.push('\n');
        }
        if self.problems.is_empty() {
            page.push_str(&format!("{GOOD}No problems found.{GOOD:#}\n"));
        }
        for (what, way_out) in &self.problems {
            page.push_str(&format!("{BAD}problem{BAD:#}: {what}\n  {way_out}\n"));
        }
        page
    }
}
