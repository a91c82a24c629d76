//! When a guess becomes knowledge.

use countersign_contracts::memory::insight::ValidationState;

use super::Refusal;
use crate::record::{Claim, Insight};

/// Whether a guess may become this: only a validated one, and only a fact or a procedure.
pub fn check_learning(insight: &Insight, claim: &Claim) -> Result<(), Refusal> {
    if insight.validation != ValidationState::Validated {
        let (insight, found) = (insight.id.clone(), insight.validation);
        return Err(Refusal::NotValidated { insight, found });
    }
    let found = match claim {
        Claim::Fact(_) | Claim::Procedure(_) => return Ok(()),
        Claim::Episode(_) => "episode",
        Claim::Insight(_) => "insight",
    };
    Err(Refusal::NotLearnable { found: found.to_owned() })
}

#[cfg(test)]
mod tests {
    use ValidationState::{Rejected, Testing, Unvalidated, Validated};
    use countersign_contracts::memory::insight::{InsightKind, Trigger};
    use countersign_core::run::Time;

    use super::*;
    use crate::record::{Expiry, Procedure};

    fn insight(validation: ValidationState) -> Insight {
        Insight {
            id: "i".to_owned(),
            revision: 1,
            run: "r".to_owned(),
            kind: InsightKind::Pattern,
            statement: "s".to_owned(),
            trigger: Trigger::Synthesis,
            confidence: 0.3,
            validation,
            tests: Vec::new(),
            expires: Expiry::RunEnd,
            sources: Vec::new(),
            recorded_at: Time(1),
        }
    }

    #[test]
    fn only_a_validated_guess_becomes_a_fact_or_a_procedure() {
        let procedure = Claim::Procedure(Box::new(Procedure {
            id: "p".to_owned(),
            revision: 1,
            task_type: "t".to_owned(),
            content: serde_json::Map::new(),
            priority: 0,
            usage: 0,
            sources: Vec::new(),
            applicability: serde_json::Map::new(),
            recorded_at: Time(1),
        }));
        assert_eq!(check_learning(&insight(Validated), &procedure), Ok(()));
        for state in [Rejected, Testing, Unvalidated] {
            let refused = check_learning(&insight(state), &procedure).unwrap_err();
            assert!(matches!(refused, Refusal::NotValidated { .. }), "{refused}");
        }
        let guess = Claim::Insight(Box::new(insight(Validated)));
        let refused = check_learning(&insight(Validated), &guess).unwrap_err();
        let text = "an insight becomes a fact or a procedure, found `insight`";
        assert_eq!(refused.to_string(), text);
    }
}
