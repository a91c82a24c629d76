//! Decides when an insight may become knowledge.

use countersign_shipped_contracts::memory::insight::InsightValidationState;

use super::MemoryRefusal;
use crate::record::{MemoryClaim, MemoryInsight};

/// Checks that an insight may become this claim: the insight must be validated, and the claim must
/// be a fact or a procedure.
pub fn check_learning(insight: &MemoryInsight, claim: &MemoryClaim) -> Result<(), MemoryRefusal> {
    if insight.validation != InsightValidationState::Validated {
        let (insight, found) = (insight.id.clone(), insight.validation);
        return Err(MemoryRefusal::NotValidated { insight, found });
    }
    let found = match claim {
        MemoryClaim::Fact(_) | MemoryClaim::Procedure(_) => return Ok(()),
        MemoryClaim::Episode(_) => "episode",
        MemoryClaim::Insight(_) => "insight",
    };
    Err(MemoryRefusal::NotLearnable { found: found.to_owned() })
}

#[cfg(test)]
mod tests {
    use InsightValidationState::{Rejected, Testing, Unvalidated, Validated};
    use countersign_contract::Timestamp;
    use countersign_shipped_contracts::memory::insight::{InsightKind, InsightTrigger};

    use super::*;
    use crate::record::{MemoryExpiry, MemoryProcedure};

    fn insight(validation: InsightValidationState) -> MemoryInsight {
        MemoryInsight {
            id: "i".to_owned(),
            revision: 1,
            run: "r".to_owned(),
            kind: InsightKind::Pattern,
            statement: "s".to_owned(),
            trigger: InsightTrigger::Synthesis,
            confidence: 0.3,
            validation,
            tests: Vec::new(),
            expires: MemoryExpiry::RunEnd,
            sources: Vec::new(),
            recorded_at: Timestamp(1),
        }
    }

    #[test]
    fn only_a_validated_insight_becomes_a_fact_or_a_procedure() {
        let procedure = MemoryClaim::Procedure(Box::new(MemoryProcedure {
            id: "p".to_owned(),
            revision: 1,
            task_type: "t".to_owned(),
            content: serde_json::Map::new(),
            priority: 0,
            usage: 0,
            sources: Vec::new(),
            applicability: serde_json::Map::new(),
            recorded_at: Timestamp(1),
        }));
        assert_eq!(check_learning(&insight(Validated), &procedure), Ok(()));
        for state in [Rejected, Testing, Unvalidated] {
            let refused = check_learning(&insight(state), &procedure).unwrap_err();
            assert!(matches!(refused, MemoryRefusal::NotValidated { .. }), "{refused}");
        }
        let guess = MemoryClaim::Insight(Box::new(insight(Validated)));
        let refused = check_learning(&insight(Validated), &guess).unwrap_err();
        let text = "an insight can become only a fact or a procedure, found `insight`";
        assert_eq!(refused.to_string(), text);
    }
}
