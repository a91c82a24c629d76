//! The three doors: `Parsed`, `Valid`, `Accepted`. Each can only be had through the one before it.
//!
//! All stand in this file and keep their fields to themselves, so nothing but the last door makes
//! an [`Accepted`], and whatever asks for one can rely on the contract.

use serde_json::Value;

use super::intake::{self, Candidate, Finish, Terms, not_an_object};
use super::place;
use super::scan::{self, Found};
use super::violation::{Code, Violation};
use crate::contract::{Contract, Likeness, Schema};
use crate::json::{Repair, RepairKind, RepairLevel, Span};

/// What a rule may look at beside the reply.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The document before the reply.
    pub state: Option<&'a Value>,
    /// The run: phase, counters, ids.
    pub run: Option<&'a Value>,
    /// The document as the reply's patch would leave it.
    pub new: Option<&'a Value>,
}

/// A text in which at least one candidate was found.
#[derive(Debug)]
pub struct Parsed<'t> {
    text: &'t str,
    found: Found,
    terms: Terms,
}

/// At least one candidate fits the schema.
#[derive(Debug)]
pub struct Valid<'t> {
    text: &'t str,
    fitting: Vec<Fitting>,
    /// Candidates that do not fit and yet look like attempts at the reply.
    rivals: Vec<Span>,
    level: RepairLevel,
}

#[derive(Debug)]
struct Fitting {
    value: Value,
    span: Span,
    repairs: Vec<Repair>,
    defaults: Vec<String>,
}

/// A value that its contract has let in.
///
/// There is no other way to one than through the doors:
///
/// ```compile_fail
/// let forged = countersign_core::reply::Accepted {
///     value: serde_json::json!({}),
///     span: None,
///     repairs: Vec::new(),
///     defaults: Vec::new(),
/// };
/// ```
///
/// ```
/// use countersign_core::contract::load_inline;
/// use countersign_core::reply::{Context, Finish};
///
/// let contract = load_inline("id: greeting\nversion: 1.0.0\nschema: { required: [hello] }").unwrap();
/// let verdict = contract.admit(r#"{"hello": "world"}"#, Finish::Stop, &Context::default());
/// assert_eq!(verdict.accepted().unwrap().value()["hello"], "world");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    value: Value,
    span: Option<Span>,
    repairs: Vec<Repair>,
    defaults: Vec<String>,
}

impl Accepted {
    /// The value, with declared defaults filled in.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Gives the value away.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Where it stood in the text, if it was text.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        self.span
    }

    /// What was mended on the way, in the order of the text.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// The pointers of the defaults that were filled in.
    #[must_use]
    pub fn defaults(&self) -> &[String] {
        &self.defaults
    }
}

impl<'t> Parsed<'t> {
    /// The first door: finds the candidates.
    pub fn from_text(text: &'t str, terms: Terms) -> Result<Self, Vec<Violation>> {
        Ok(Self { text, found: intake::candidates(text, terms)?, terms })
    }

    /// Bytes as text, or the violation that they are none.
    pub fn text_of(bytes: &'t [u8]) -> Result<&'t str, Vec<Violation>> {
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let found = format!("the byte 0x{:02x} at offset {at}", bytes[at]);
            vec![Violation::new(Code::NotUtf8, "", "UTF-8 text", found).at(Span::new(at, at + 1))]
        })
    }

    /// The second door: which candidates fit the schema.
    pub fn validate(self, contract: &Contract) -> Result<Valid<'t>, Vec<Violation>> {
        let Self { text, found, terms } = self;
        let level = terms.repairs;
        let alone = found.candidates.len() == 1;
        let mut fitting = Vec::new();
        let mut refused: Vec<Refused> = Vec::new();
        for candidate in found.candidates {
            let (span, unclosed) = (candidate.span, candidate.unclosed);
            // A lone candidate has nobody to be compared with.
            let likeness = if alone && !candidate.prose {
                Likeness::default()
            } else {
                likeness(text, &candidate, contract)
            };
            if candidate.prose && likeness.named == 0 {
                continue;
            }
            // Beside another candidate, one that the end of the text cut off is not to be guessed.
            let finish = if alone { terms.finish } else { stricter(&candidate, terms.finish) };
            let unclosed = unclosed || finish != terms.finish;
            match fit(text, candidate, finish, contract) {
                Ok(fit) => fitting.push(fit),
                Err(violations) => refused.push(Refused { span, unclosed, likeness, violations }),
            }
        }
        // A reply that ends inside an object was cut off, whatever stood before.
        let cut = refused.iter().position(|one| one.unclosed);
        if fitting.is_empty() || cut.is_some() {
            let told = match cut {
                Some(cut) => Some(refused.swap_remove(cut)),
                // The one that looks most like the reply; the last of equals.
                None => refused.into_iter().max_by_key(|one| one.likeness),
            };
            let Some(told) = told else { return Err(vec![scan::none(text)]) };
            return Err(place::fill(told.violations, text, told.span.start, level));
        }
        let mut rivals: Vec<Span> =
            refused.iter().filter(|one| one.likeness.rival()).map(|one| one.span).collect();
        rivals.extend(found.torn);
        let named =
            |prose: &Span| contract.schema.likeness(|field| keyed(&text[prose.range()], field));
        rivals.extend(found.prose.iter().filter(|prose| named(prose).rival()));
        Ok(Valid { text, fitting, rivals, level })
    }
}

struct Refused {
    span: Span,
    unclosed: bool,
    likeness: Likeness,
    violations: Vec<Violation>,
}

/// How much of the contract a candidate names, itself or anywhere inside: a reply in a wrapper is
/// still an attempt at the reply.
fn likeness(text: &str, candidate: &Candidate, contract: &Contract) -> Likeness {
    match &candidate.reading {
        Ok(reading) => deepest(&reading.value, &contract.schema),
        Err(_) => {
            let written = &text[candidate.span.range()];
            contract.schema.likeness(|field| written.contains(field))
        }
    }
}

fn deepest(value: &Value, schema: &Schema) -> Likeness {
    let own = schema.likeness(|field| value.get(field).is_some());
    let inside: &mut dyn Iterator<Item = &Value> = match value {
        Value::Array(items) => &mut items.iter(),
        Value::Object(members) => &mut members.values(),
        _ => return own,
    };
    inside.map(|member| deepest(member, schema)).fold(own, Ord::max)
}

/// Whether a text has the field as a key: in quotes of any kind, a colon after it.
fn keyed(text: &str, field: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(field) {
        let before = rest[..at].ends_with(['"', '\'', '“', '”']);
        rest = &rest[at + field.len()..];
        let after = rest.trim_start_matches(['"', '\'', '“', '”']);
        if before && after.len() < rest.len() && after.trim_start().starts_with(':') {
            return true;
        }
    }
    false
}

/// A candidate whose end was supplied was cut off, whatever the provider says.
fn stricter(candidate: &Candidate, finish: Finish) -> Finish {
    let supplied = |repair: &Repair| {
        matches!(
            repair.kind,
            RepairKind::UnterminatedString
                | RepairKind::UnterminatedObject
                | RepairKind::UnterminatedArray
        )
    };
    match &candidate.reading {
        Ok(reading) if reading.repairs.iter().any(supplied) => Finish::Length,
        _ => finish,
    }
}

fn fit(
    text: &str,
    candidate: Candidate,
    finish: Finish,
    contract: &Contract,
) -> Result<Fitting, Vec<Violation>> {
    let span = candidate.span;
    let reading = candidate.reading.map_err(|violation| vec![*violation])?;
    if !reading.value.is_object() {
        return Err(vec![not_an_object(&reading.value, span)]);
    }
    let inside = |repair: &&Repair| {
        !matches!(repair.kind, RepairKind::CodeFence | RepairKind::ByteOrderMark)
    };
    if finish == Finish::Length
        && let Some(repair) = reading.repairs.iter().find(inside)
    {
        let found = format!("a reply that was cut off and needs `{}`", repair.kind.as_str());
        return Err(vec![
            Violation::new(Code::Truncated, "", "the whole object", found)
                .hinting("send the whole object again, shorter")
                .at(repair.span),
        ]);
    }
    let mut violations: Vec<Violation> =
        reading.flaws.iter().map(|flaw| intake::flawed(text, flaw)).collect();
    let mut value = reading.value;
    let (defaults, broken) = against_schema(&mut value, contract);
    // A number that could not be read is not there to be validated.
    if !violations.iter().any(|one| one.code == Code::LossyNumber) {
        violations.extend(broken);
    }
    if violations.is_empty() {
        Ok(Fitting { value, span, repairs: reading.repairs, defaults })
    } else {
        Err(violations)
    }
}

/// Fills in defaults, and holds the value against the schema. A fault in a value nobody wrote
/// gets a word about where it came from.
fn against_schema(value: &mut Value, contract: &Contract) -> (Vec<String>, Vec<Violation>) {
    let defaults = contract.schema.fill(value);
    let mut violations = contract.schema.violations(value);
    for violation in violations.iter_mut().filter(|one| defaults.contains(&one.pointer)) {
        let origin = "the field was not given; its default was filled in";
        violation.hint.get_or_insert(origin.to_owned());
    }
    (defaults, violations)
}

impl Valid<'_> {
    /// The second door for a value that never was text.
    pub fn from_value(
        mut value: Value,
        contract: &Contract,
    ) -> Result<Valid<'static>, Vec<Violation>> {
        let (defaults, violations) = against_schema(&mut value, contract);
        if !violations.is_empty() {
            return Err(violations);
        }
        let whole = Fitting { value, span: Span::default(), repairs: Vec::new(), defaults };
        let level = RepairLevel::None;
        Ok(Valid { text: "", fitting: vec![whole], rivals: Vec::new(), level })
    }

    /// The third door: the rules, and the demand that exactly one candidate passes them.
    pub fn accept(
        self,
        contract: &Contract,
        context: &Context<'_>,
    ) -> Result<Accepted, Vec<Violation>> {
        let Self { text, fitting, mut rivals, level } = self;
        let rules: Vec<_> = contract.rules.iter().filter(|rule| !rule.lacks(context)).collect();
        let mut passed: Vec<Fitting> = Vec::new();
        let mut failed = (0, Vec::new());
        for fit in fitting {
            let mut violations = Vec::new();
            for rule in &rules {
                rule.check(&fit.value, context, &mut violations);
            }
            if violations.is_empty() {
                passed.push(fit);
            } else {
                rivals.push(fit.span);
                failed = (fit.span.start, violations);
            }
        }
        let Some(first) = passed.first() else {
            let (start, violations) = failed;
            return Err(place::fill(violations, text, start, level));
        };
        let other = passed.iter().find(|other| other.value != first.value).map(|other| other.span);
        if let Some(rival) = other.or_else(|| rivals.first().copied()) {
            return Err(vec![ambiguous(first.span, rival)]);
        }
        let Fitting { value, span, repairs, defaults } = passed.swap_remove(0);
        let span = (!text.is_empty()).then_some(span);
        Ok(Accepted { value, span, repairs, defaults })
    }
}

fn ambiguous(first: Span, rival: Span) -> Violation {
    let found = format!(
        "one at bytes {} to {} and another at bytes {} to {}",
        first.start, first.end, rival.start, rival.end
    );
    Violation::new(Code::Ambiguous, "", "one object that could be the reply", found)
        .hinting("send one object only; do not quote others")
        .at(rival)
}
