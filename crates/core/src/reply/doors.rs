//! The three doors: `Parsed`, `Valid`, `Accepted`. Each can only be had through the one before it.
//!
//! All stand in this file and keep their fields to themselves, so nothing but the last door makes
//! an [`Accepted`], and whatever asks for one can rely on the contract.

use serde_json::Value;

use super::intake::{self, Candidate, Finish, Terms, not_an_object};
use super::place;
use super::rival::{self, Likeness, Rival};
use super::scan::{self, Found};
use super::standing;
use super::violation::{Code, Violation};
use super::violation_list::ViolationList;
use super::wrapper;
use crate::contract::Contract;
use crate::json::{FlawKind, Repair, RepairKind, RepairLevel, Span};

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
    /// Candidates that do not fit, and pieces outside, that look like attempts at the reply.
    rivals: Vec<Rival>,
    /// What else the text holds.
    found: Found,
    level: RepairLevel,
}

#[derive(Debug)]
struct Fitting {
    value: Value,
    span: Span,
    /// Where it stands with its wrapper, if it has one.
    outer: Span,
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
        let Self { text, mut found, terms } = self;
        let level = terms.repairs;
        let candidates = std::mem::take(&mut found.candidates);
        let alone = candidates.len() == 1;
        let mut fitting = Vec::new();
        let mut refused: Vec<Refused> = Vec::new();
        for candidate in candidates {
            let (span, unclosed) = (candidate.span, candidate.unclosed);
            // A lone candidate has nobody to be compared with.
            let likeness = if alone && !candidate.prose {
                Likeness::default()
            } else {
                rival::measure_likeness(text, &candidate, contract.schema.own_fields())
            };
            if candidate.prose && !likeness.is_attempt() {
                continue;
            }
            // What a closing mark makes reasoning is none where it stands as a reply would.
            let reasoned = found.reasoned.is_some_and(|end| span.end <= end);
            if reasoned && standing::find_quotation(text, span, &found).is_some() {
                continue;
            }
            // Beside another candidate, one that the end of the text cut off is not to be guessed.
            let finish = if alone { terms.finish } else { stricter(&candidate, terms.finish) };
            let unclosed = unclosed || finish != terms.finish;
            let says = candidate.reading.as_ref().ok().filter(|_| !alone);
            let says = says.map(|reading| reading.value.clone());
            match fit_or_unwrap(text, candidate, level, finish, contract) {
                Ok(fit) => fitting.push(fit),
                Err(violations) => {
                    refused.push(Refused { span, unclosed, likeness, says, violations });
                }
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
        let rivals = find_rivals(text, &found, refused, contract);
        Ok(Valid { text, fitting, rivals, found, level })
    }
}

struct Refused {
    span: Span,
    unclosed: bool,
    likeness: Likeness,
    /// What it says, where it could be read.
    says: Option<Value>,
    violations: Vec<Violation>,
}

/// What beside the fitting candidates could be the real reply.
fn find_rivals(
    text: &str,
    found: &Found,
    refused: Vec<Refused>,
    contract: &Contract,
) -> Vec<Rival> {
    let fields = contract.schema.own_fields();
    let mut rivals = Vec::new();
    let mut said = Vec::new();
    for one in refused {
        let span = one.span;
        if one.likeness.is_attempt() {
            let quoted = || standing::find_quotation(text, span, found).is_some();
            rivals.push(match &one.says {
                Some(value) if quoted() => Rival::restating(span, value.clone()),
                _ => Rival::new(span),
            });
        }
        said.push((span, one.says));
    }
    rivals.extend(found.torn.map(Rival::new));
    let reasoned = found.reasoned.unwrap_or(0);
    for prose in found.prose.iter().filter(|prose| prose.end > reasoned) {
        let prose = Span::new(prose.start.max(reasoned), prose.end);
        rivals.extend(rival::find_claims(text, prose, fields, &said));
    }
    rivals
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

/// The candidate as it is; or, where only that fits, what its lone wrapper holds.
fn fit_or_unwrap(
    text: &str,
    mut candidate: Candidate,
    level: RepairLevel,
    finish: Finish,
    contract: &Contract,
) -> Result<Fitting, Vec<Violation>> {
    let outer = candidate.span;
    if let Ok(reading) = &candidate.reading
        && let Some(inner) = wrapper::unwrap(text, reading, level, contract)
    {
        candidate.span = inner.span;
        candidate.reading = Ok(inner);
    }
    fit(text, candidate, finish, contract).map(|fitting| Fitting { outer, ..fitting })
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
    let mut violations: ViolationList =
        reading.flaws.iter().map(|flaw| intake::flawed(text, flaw)).collect();
    violations.count_more(reading.flaw_count - reading.flaws.len());
    let mut value = reading.value;
    let (defaults, broken) = against_schema(&mut value, contract);
    // A number that could not be read is not there to be validated.
    if !reading.flaws.iter().any(|flaw| flaw.kind == FlawKind::LossyNumber) {
        violations.extend(broken);
    }
    if violations.count() == 0 {
        Ok(Fitting { value, span, outer: span, repairs: reading.repairs, defaults })
    } else {
        Err(violations.finish())
    }
}

/// Fills in defaults, and holds the value against the schema.
fn against_schema(value: &mut Value, contract: &Contract) -> (Vec<String>, Vec<Violation>) {
    let completion = contract.schema.complete(value);
    (completion.defaults, completion.violations)
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
        let span = Span::default();
        let whole = Fitting { value, span, outer: span, repairs: Vec::new(), defaults };
        let (rivals, found) = (Vec::new(), Found::default());
        Ok(Valid { text: "", fitting: vec![whole], rivals, found, level: RepairLevel::None })
    }

    /// The third door: the rules, and the demand that exactly one candidate passes them.
    pub fn accept(
        self,
        contract: &Contract,
        context: &Context<'_>,
    ) -> Result<Accepted, Vec<Violation>> {
        let Self { text, fitting, mut rivals, found, level } = self;
        let rules: Vec<_> = contract.rules.iter().filter(|rule| !rule.lacks(context)).collect();
        let mut passed: Vec<Fitting> = Vec::new();
        let mut failed = (0, Vec::new());
        for fit in fitting {
            let mut violations = ViolationList::default();
            for rule in &rules {
                rule.check(&fit.value, context, &mut violations);
            }
            if violations.count() == 0 {
                passed.push(fit);
            } else {
                rivals.push(Rival::new(fit.span));
                failed = (fit.span.start, violations.finish());
            }
        }
        let Some(first) = passed.first() else {
            let (start, violations) = failed;
            return Err(place::fill(violations, text, start, level));
        };
        let other = passed.iter().find(|other| other.value != first.value).map(|other| other.span);
        let rival = rivals.iter().find(|rival| !rival.agrees_with(&first.value));
        if let Some(rival) = other.or(rival.map(|rival| rival.span)) {
            return Err(vec![ambiguous(first.span, rival)]);
        }
        // They all say the same; one of them has to stand as a reply.
        let mut quotation = None;
        let standing = passed.iter().position(|fit| {
            let quoted = standing::find_quotation(text, fit.outer, &found);
            let stands = quoted.is_none();
            quotation = quoted.map(|quoted| quoted.into_violation(fit.outer));
            stands
        });
        if let (None, Some(violation)) = (standing, quotation) {
            return Err(vec![violation]);
        }
        let taken = passed.swap_remove(standing.unwrap_or_default());
        let Fitting { value, span, repairs, defaults, .. } = taken;
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
