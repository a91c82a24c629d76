//! The three stages of admission: [`ParsedReply`], [`ValidatedReply`] and [`AcceptedValue`]. Each
//! stage can be built only from the one before it.
//!
//! All three types are in this file and keep their fields private, so only the last stage creates
//! an [`AcceptedValue`], and code that takes one can rely on the contract.

use serde_json::Value;

use super::intake::{self, AdmissionOptions, FinishReason, ReplyCandidate, describe_non_object};
use super::plain_text;
use super::quotation;
use super::reply_scanner::{self, ScanResult};
use super::rival_reply::{self, FieldOverlap, RivalReply};
use super::violation::{Violation, ViolationCode};
use super::violation_list::ViolationList;
use super::violation_spans;
use super::wrapper;
use crate::contract::{self, Contract};
use crate::json::{self, JsonDataLossKind, Repair, RepairKind, RepairLevel, TextSpan};

/// The values that rules may read in addition to the reply. A rule that needs an absent value is
/// skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleContext<'a> {
    /// The document before the reply, which rules read as `state`.
    pub state: Option<&'a Value>,
    /// The run with its phase, counters and ids, which rules read as `run`.
    pub run: Option<&'a Value>,
    /// The document as the reply's patch would leave it, which rules read as `new`.
    pub new: Option<&'a Value>,
}

/// The first stage: a text that contains at least one candidate.
#[derive(Debug)]
pub struct ParsedReply<'t> {
    text: &'t str,
    scan: ScanResult,
    options: AdmissionOptions,
}

/// The second stage: at least one candidate is valid against the schema.
#[derive(Debug)]
pub struct ValidatedReply<'t> {
    text: &'t str,
    fitting: Vec<FittingCandidate>,
    /// Invalid candidates, and pieces of text outside candidates, that look like attempts at the
    /// reply.
    rivals: Vec<RivalReply>,
    /// The scan of the text without its candidates.
    scan: ScanResult,
    repair_level: RepairLevel,
}

#[derive(Debug)]
struct FittingCandidate {
    value: Value,
    span: TextSpan,
    /// The span including the wrapper; equal to `span` if there is no wrapper.
    outer_span: TextSpan,
    repairs: Vec<Repair>,
    defaults: Vec<String>,
}

/// The last stage: a value that its contract has accepted.
///
/// The stages of admission are the only way to create one:
///
/// ```compile_fail
/// let forged = countersign_contract::reply::AcceptedValue {
///     value: serde_json::json!({}),
///     span: None,
///     repairs: Vec::new(),
///     defaults: Vec::new(),
/// };
/// ```
///
/// ```
/// use countersign_contract::contract::load_inline_contract;
/// use countersign_contract::reply::{FinishReason, RuleContext};
///
/// let text = "id: greeting\nversion: 1.0.0\nschema: { required: [hello] }";
/// let contract = load_inline_contract(text).unwrap();
/// let verdict =
///     contract.admit(r#"{"hello": "world"}"#, FinishReason::Stop, &RuleContext::default());
/// assert_eq!(verdict.as_accepted().unwrap().value()["hello"], "world");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedValue {
    value: Value,
    span: Option<TextSpan>,
    repairs: Vec<Repair>,
    defaults: Vec<String>,
}

impl AcceptedValue {
    /// Accepts a reply of plain text as the value of the contract's `text_field`; `None` if the
    /// contract has none, or if the reply is not plain text.
    pub(crate) fn from_plain_text(
        text: &str,
        finish: FinishReason,
        contract: &Contract,
        context: &RuleContext<'_>,
    ) -> Option<Result<Self, Vec<Violation>>> {
        let field = contract.text_field.as_ref()?;
        let span = plain_text::find_plain_text(text, field, finish)?;
        let value = serde_json::json!({ field.as_str(): &text[span.range()] });
        let accepted = ValidatedReply::from_value(value, contract)
            .and_then(|valid| valid.accept(contract, context));
        let repairs = vec![Repair::new(RepairKind::PlainText, span)];
        Some(accepted.map(|accepted| Self { span: Some(span), repairs, ..accepted }))
    }

    /// Returns the value with the declared defaults filled in.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the owned value and drops the rest.
    #[must_use]
    pub fn into_value(self) -> Value {
        self.value
    }

    /// Returns the byte span of the object in the reply text, or `None` if the value was not text.
    #[must_use]
    pub fn span(&self) -> Option<TextSpan> {
        self.span
    }

    /// Returns the repairs that were made, in the order of the text.
    #[must_use]
    pub fn repairs(&self) -> &[Repair] {
        &self.repairs
    }

    /// Returns the pointers of the defaults that were filled in.
    #[must_use]
    pub fn defaults(&self) -> &[String] {
        &self.defaults
    }
}

impl<'t> ParsedReply<'t> {
    /// Finds the candidates of a text; the first stage.
    pub fn from_text(text: &'t str, terms: AdmissionOptions) -> Result<Self, Vec<Violation>> {
        tracing::trace!("admitting the reply");
        Ok(Self { text, scan: intake::find_candidates(text, terms)?, options: terms })
    }

    /// Decodes bytes as UTF-8, or returns the violation that names the first invalid byte.
    pub fn decode_utf8(bytes: &'t [u8]) -> Result<&'t str, Vec<Violation>> {
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let found = format!("the byte 0x{:02x} at offset {at}", bytes[at]);
            vec![
                Violation::new(ViolationCode::NotUtf8, "", "UTF-8 text", found)
                    .with_span(TextSpan::new(at, at + 1)),
            ]
        })
    }

    /// Finds the candidates that are valid against the schema; the second stage.
    pub fn validate(self, contract: &Contract) -> Result<ValidatedReply<'t>, Vec<Violation>> {
        let Self { text, scan: mut found, options: terms } = self;
        let level = terms.repairs;
        let candidates = std::mem::take(&mut found.candidates);
        let alone = candidates.len() == 1;
        let mut fitting = Vec::new();
        let mut refused: Vec<RefusedCandidate> = Vec::new();
        for candidate in candidates {
            let (span, unclosed) = (candidate.span, candidate.is_unclosed);
            // A single candidate needs no comparison with others.
            let likeness = if alone && !candidate.is_prose {
                FieldOverlap::default()
            } else {
                rival_reply::measure_overlap(text, &candidate, contract.schema.top_level_fields())
            };
            if candidate.is_prose && !likeness.is_attempt() {
                continue;
            }
            // A candidate before a closing reasoning mark counts as reasoning, unless it stands
            // there as a reply would.
            let reasoned = found.reasoning_end.is_some_and(|end| span.end <= end);
            if reasoned && quotation::find_quotation(text, span, &found).is_some() {
                continue;
            }
            // Beside other candidates, one that the end of the text cut off must not be completed
            // by repairs.
            let finish =
                if alone { terms.finish } else { infer_finish_reason(&candidate, terms.finish) };
            let unclosed = unclosed || finish != terms.finish;
            let says = candidate.reading.as_ref().ok().filter(|_| !alone);
            let says = says.map(|reading| reading.value.clone());
            match fit_or_unwrap(text, candidate, level, finish, contract) {
                Ok(fit) => fitting.push(fit),
                Err(violations) => {
                    refused.push(RefusedCandidate {
                        span,
                        is_unclosed: unclosed,
                        field_overlap: likeness,
                        value: says,
                        violations,
                    });
                }
            }
        }
        // A reply that ends inside an object was cut off, even if complete objects precede it.
        let cut = refused.iter().position(|one| one.is_unclosed);
        if fitting.is_empty() || cut.is_some() {
            let nearest = match cut {
                Some(cut) => Some(refused.swap_remove(cut)),
                // Report the candidate that names most fields of the contract; the last one if
                // several tie.
                None => refused.into_iter().max_by_key(|one| one.field_overlap),
            };
            let Some(nearest) = nearest else {
                return Err(vec![reply_scanner::describe_no_object(text)]);
            };
            return Err(violation_spans::fill_spans(
                nearest.violations,
                text,
                nearest.span.start,
                level,
            ));
        }
        let rivals = find_rivals(text, &found, refused, contract);
        Ok(ValidatedReply { text, fitting, rivals, scan: found, repair_level: level })
    }
}

struct RefusedCandidate {
    span: TextSpan,
    is_unclosed: bool,
    field_overlap: FieldOverlap,
    /// The parsed value, if the candidate could be parsed and is not the only one.
    value: Option<Value>,
    violations: Vec<Violation>,
}

/// Collects everything besides the valid candidates that could be the real reply.
fn find_rivals(
    text: &str,
    found: &ScanResult,
    refused: Vec<RefusedCandidate>,
    contract: &Contract,
) -> Vec<RivalReply> {
    let fields = contract.schema.top_level_fields();
    let mut rivals = Vec::new();
    let mut said = Vec::new();
    for one in refused {
        let span = one.span;
        if one.field_overlap.is_attempt() {
            let quoted = || quotation::find_quotation(text, span, found).is_some();
            rivals.push(match &one.value {
                Some(value) if quoted() => RivalReply::from_restatement(span, value.clone()),
                _ => RivalReply::new(span),
            });
        }
        said.push((span, one.value));
    }
    rivals.extend(found.torn_bracket.map(RivalReply::new));
    let reasoned = found.reasoning_end.unwrap_or(0);
    for prose in found.prose.iter().filter(|prose| prose.end > reasoned) {
        let prose = TextSpan::new(prose.start.max(reasoned), prose.end);
        rivals.extend(rival_reply::find_claims(text, prose, fields, &said));
    }
    rivals
}

/// Returns `Length` for a candidate whose end a repair supplied: it was cut off, even if the
/// provider reports otherwise.
fn infer_finish_reason(candidate: &ReplyCandidate, finish: FinishReason) -> FinishReason {
    let supplied = |repair: &Repair| {
        matches!(
            repair.kind,
            RepairKind::UnterminatedString
                | RepairKind::UnterminatedObject
                | RepairKind::UnterminatedArray
        )
    };
    match &candidate.reading {
        Ok(reading) if reading.repairs.iter().any(supplied) => FinishReason::Length,
        _ => finish,
    }
}

/// Validates the candidate; if it is a lone wrapper and only its content is valid, validates the
/// content instead.
fn fit_or_unwrap(
    text: &str,
    mut candidate: ReplyCandidate,
    level: RepairLevel,
    finish: FinishReason,
    contract: &Contract,
) -> Result<FittingCandidate, Vec<Violation>> {
    let outer = candidate.span;
    if let Ok(reading) = &candidate.reading
        && let Some(inner) = wrapper::unwrap_lone_wrapper(text, reading, level, contract)
    {
        candidate.span = inner.span;
        candidate.reading = Ok(inner);
    }
    fit_candidate(text, candidate, finish, contract)
        .map(|fitting| FittingCandidate { outer_span: outer, ..fitting })
}

fn fit_candidate(
    text: &str,
    candidate: ReplyCandidate,
    finish: FinishReason,
    contract: &Contract,
) -> Result<FittingCandidate, Vec<Violation>> {
    let span = candidate.span;
    let reading = candidate.reading.map_err(|violation| vec![*violation])?;
    if !reading.value.is_object() {
        return Err(vec![describe_non_object(&reading.value, span)]);
    }
    let inside = |repair: &&Repair| {
        !matches!(repair.kind, RepairKind::CodeFence | RepairKind::ByteOrderMark)
    };
    if finish == FinishReason::Length
        && let Some(repair) = reading.repairs.iter().find(inside)
    {
        let found = format!("a truncated reply that needs the repair `{}`", repair.kind.as_str());
        return Err(vec![
            Violation::new(ViolationCode::Truncated, "", "the whole object", found)
                .with_hint("send the whole object again, shorter")
                .with_span(repair.span),
        ]);
    }
    let mut violations: ViolationList =
        reading.data_losses.iter().map(|flaw| intake::describe_flaw(text, flaw)).collect();
    violations.count_more(reading.data_loss_count - reading.data_losses.len());
    let mut value = reading.value;
    let level = contract.repairs;
    let mut repairs = reading.repairs;
    // What is left out of a reply that was cut off may be what its end would have been.
    if finish == FinishReason::Stop {
        repairs.extend(leave_out_fields(text, span, level, &mut value, contract));
    }
    let (defaults, broken) = fill_and_validate(&mut value, contract);
    // A number that could not be read exactly is missing from the value, so the schema result would
    // be misleading.
    if !reading.data_losses.iter().any(|flaw| flaw.kind == JsonDataLossKind::LossyNumber) {
        violations.extend(broken);
    }
    if violations.count() == 0 {
        Ok(FittingCandidate { value, span, outer_span: span, repairs, defaults })
    } else {
        Err(violations.finish())
    }
}

/// Leaves out the fields that the contract does not mean, and returns a repair for each.
fn leave_out_fields(
    text: &str,
    span: TextSpan,
    level: RepairLevel,
    value: &mut Value,
    contract: &Contract,
) -> Vec<Repair> {
    let (extra, empty) = (contract.extra_fields, contract.empty_fields);
    let left_out = contract::leave_out_fields(value, &contract.schema, extra, empty);
    if left_out.is_empty() {
        return Vec::new();
    }
    let pointers: Vec<&str> = left_out.iter().map(|(_, pointer)| pointer.as_str()).collect();
    let spans = json::locate_pointers(text, span.start, level, &pointers);
    let repairs = left_out.iter().zip(spans);
    let repairs = repairs.map(|((kind, _), found)| Repair::new(*kind, found.unwrap_or(span)));
    json::limit_repairs(repairs.collect())
}

/// Fills in defaults and validates the value against the schema.
fn fill_and_validate(value: &mut Value, contract: &Contract) -> (Vec<String>, Vec<Violation>) {
    let completion = contract.schema.fill_and_validate(value);
    (completion.defaults, completion.violations)
}

impl ValidatedReply<'_> {
    /// Validates a value that was never text; replaces the first two stages.
    pub fn from_value(
        mut value: Value,
        contract: &Contract,
    ) -> Result<ValidatedReply<'static>, Vec<Violation>> {
        let (defaults, violations) = fill_and_validate(&mut value, contract);
        if !violations.is_empty() {
            return Err(violations);
        }
        let span = TextSpan::default();
        let whole =
            FittingCandidate { value, span, outer_span: span, repairs: Vec::new(), defaults };
        let (rivals, found) = (Vec::new(), ScanResult::default());
        Ok(ValidatedReply {
            text: "",
            fitting: vec![whole],
            rivals,
            scan: found,
            repair_level: RepairLevel::None,
        })
    }

    /// Checks the rules and requires that exactly one candidate passes them; the last stage.
    pub fn accept(
        self,
        contract: &Contract,
        context: &RuleContext<'_>,
    ) -> Result<AcceptedValue, Vec<Violation>> {
        let Self { text, fitting, mut rivals, scan: found, repair_level: level } = self;
        let rules: Vec<_> =
            contract.rules.iter().filter(|rule| !rule.lacks_context(context)).collect();
        let mut passed: Vec<FittingCandidate> = Vec::new();
        let mut failed = (0, Vec::new());
        for fit in fitting {
            let mut violations = ViolationList::default();
            for rule in &rules {
                rule.check(&fit.value, context, &mut violations);
            }
            if violations.count() == 0 {
                passed.push(fit);
            } else {
                rivals.push(RivalReply::new(fit.span));
                failed = (fit.span.start, violations.finish());
            }
        }
        let Some(first) = passed.first() else {
            let (start, violations) = failed;
            return Err(violation_spans::fill_spans(violations, text, start, level));
        };
        let other =
            passed[1..].iter().find(|other| other.value != first.value).map(|other| other.span);
        let rival = rivals.iter().find(|rival| !rival.agrees_with(&first.value));
        if let Some(rival) = other.or(rival.map(|rival| rival.span)) {
            return Err(vec![describe_ambiguity(first.span, rival)]);
        }
        // All passed candidates are equal; at least one of them must stand as a reply.
        let mut quotation = None;
        let unquoted = passed.iter().position(|fit| {
            let quoted = quotation::find_quotation(text, fit.outer_span, &found);
            let stands = quoted.is_none();
            quotation = quoted.map(|quoted| quoted.into_violation(fit.outer_span));
            stands
        });
        if let (None, Some(violation)) = (unquoted, quotation) {
            return Err(vec![violation]);
        }
        let taken = passed.swap_remove(unquoted.unwrap_or_default());
        let FittingCandidate { value, span, repairs, defaults, .. } = taken;
        let span = (!text.is_empty()).then_some(span);
        Ok(AcceptedValue { value, span, repairs, defaults })
    }
}

fn describe_ambiguity(first: TextSpan, rival: TextSpan) -> Violation {
    let found = format!(
        "one at bytes {} to {} and another at bytes {} to {}",
        first.start, first.end, rival.start, rival.end
    );
    Violation::new(ViolationCode::Ambiguous, "", "one object that could be the reply", found)
        .with_hint("send one object only; do not quote others")
        .with_span(rival)
}
