//! Checks that the evidence of a claim exists and contains the quoted words.

use super::{MemoryRefusal, needs_quote};
use crate::record::{FactEvidence, MemoryOrigin};

/// Checks the evidence of a claim. Every cited event must exist and contain its quote verbatim, and
/// a claim from a model or a web page must quote at least one event. `words` returns the text of an
/// event.
pub fn check_evidence<'a>(
    evidence: &[FactEvidence],
    origin: MemoryOrigin,
    words: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), MemoryRefusal> {
    for piece in evidence {
        let event = || piece.event.clone();
        let Some(text) = words(&piece.event) else {
            return Err(MemoryRefusal::UnknownEvent { event: event() });
        };
        // Every text contains an empty quote, so it proves nothing.
        if piece.quote.as_ref().is_some_and(|quote| quote.is_empty() || !text.contains(&**quote)) {
            return Err(MemoryRefusal::QuoteNotInEvent { event: event() });
        }
    }
    if needs_quote(origin) && evidence.iter().all(|piece| piece.quote.is_none()) {
        return Err(MemoryRefusal::NoQuote { origin });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(origin: MemoryOrigin, evidence: &[(&str, Option<&str>)], refused: Option<&str>) {
        let evidence: Vec<FactEvidence> = evidence
            .iter()
            .map(|(event, quote)| FactEvidence {
                event: (*event).to_owned(),
                quote: quote.map(str::to_owned),
            })
            .collect();
        let words = |id: &str| (id == "e1").then_some("The price is 12 €. 价格是十二元。");
        let found = check_evidence(&evidence, origin, words).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), refused);
    }

    #[test]
    fn a_quote_stands_letter_for_letter() {
        let no = Some("its quote does not occur exactly in event `e1`");
        check(MemoryOrigin::User, &[("e1", Some("The price is 12 €."))], None);
        check(MemoryOrigin::User, &[("e1", Some("价格是十二"))], None);
        check(MemoryOrigin::User, &[("e1", Some("the price is 12 €."))], no);
        check(MemoryOrigin::User, &[("e1", Some("The price  is 12"))], no);
        check(MemoryOrigin::User, &[("e1", Some("The price is 13"))], no);
        check(MemoryOrigin::User, &[("e1", Some(""))], no);
    }

    #[test]
    fn a_cited_event_is_there() {
        let unknown = Some("it cites event `e2`, which does not exist");
        check(MemoryOrigin::User, &[("e2", None)], unknown);
        check(MemoryOrigin::System, &[("e1", None), ("e2", Some("The price"))], unknown);
    }

    #[test]
    fn a_model_and_a_page_must_quote() {
        let no =
            |origin| format!("a claim of origin `{origin}` must quote the event that supports it");
        check(MemoryOrigin::Model, &[], Some(&no("model")));
        check(MemoryOrigin::Web, &[("e1", None)], Some(&no("web")));
        check(MemoryOrigin::Model, &[("e1", None), ("e1", Some("价格"))], None);
        for origin in
            [MemoryOrigin::User, MemoryOrigin::Tool, MemoryOrigin::System, MemoryOrigin::Imported]
        {
            check(origin, &[], None);
        }
    }
}
