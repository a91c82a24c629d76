//! Plain BM25 over stems, each turn on its own: the baseline that shows what the ranking adds. Over
//! the person's turns alone it shows what it is worth to know who speaks.

use std::collections::BTreeMap;

use countersign_memory::rank::extract_terms;
use countersign_memory::record::SpeakerRole;

use super::recall_data::RecallConversation;

/// The turns of a conversation as bags of words.
pub(crate) struct Bm25Index {
    /// The terms of each turn; a turn that is left out has none.
    turns: Vec<Vec<String>>,
    indexed: usize,
    df: BTreeMap<String, f64>,
    mean: f64,
}

impl Bm25Index {
    /// Indexes the turns of a role, or all of them.
    pub(crate) fn build(conversation: &RecallConversation, role: Option<SpeakerRole>) -> Self {
        let turns: Vec<Vec<String>> = conversation
            .turns
            .iter()
            .map(|turn| match role {
                Some(role) if role != turn.role => Vec::new(),
                _ => extract_terms(&turn.to_prompt_line()),
            })
            .collect();
        let indexed = turns.iter().filter(|turn| !turn.is_empty()).count();
        let mut df = BTreeMap::new();
        for turn in &turns {
            let mut once = turn.clone();
            once.sort();
            once.dedup();
            for term in once {
                *df.entry(term).or_insert(0.0) += 1.0;
            }
        }
        let mean = turns.iter().map(Vec::len).sum::<usize>() as f64 / indexed.max(1) as f64;
        Self { turns, indexed, df, mean }
    }

    /// Returns the matching turns, best first.
    pub(crate) fn rank_turns(&self, question: &str) -> Vec<usize> {
        let mut terms = extract_terms(question);
        terms.sort();
        terms.dedup();
        let mut scored: Vec<(f64, usize)> = self
            .turns
            .iter()
            .enumerate()
            .map(|(at, turn)| (terms.iter().map(|term| self.score_turn(term, turn)).sum(), at))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        scored.into_iter().map(|(_, at)| at).collect()
    }

    fn score_turn(&self, term: &String, turn: &[String]) -> f64 {
        let tf = turn.iter().filter(|word| *word == term).count() as f64;
        if tf == 0.0 {
            return 0.0;
        }
        let df = self.df.get(term).copied().unwrap_or(0.0);
        let rarity = (1.0 + (self.indexed as f64 - df + 0.5) / (df + 0.5)).ln();
        rarity * tf * 2.2 / (tf + 0.3 + 0.9 * turn.len() as f64 / self.mean)
    }
}
