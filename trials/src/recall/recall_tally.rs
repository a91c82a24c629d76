//! Computes the share of the answering turns that were included.

use std::collections::BTreeMap;

/// Means over questions, for each budget.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecallMean {
    pub(crate) questions: u64,
    recall: Vec<f64>,
    complete: Vec<u64>,
}

/// The results of a system: overall, by category, and by conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecallTally {
    pub(crate) all: RecallMean,
    pub(crate) by_category: BTreeMap<String, RecallMean>,
    pub(crate) by_conversation: BTreeMap<String, RecallMean>,
}

impl RecallTally {
    /// Adds a question: how many turns answer it, and how many of them were included for each
    /// budget.
    pub(crate) fn add(
        &mut self,
        conversation: &str,
        category: &str,
        gold: usize,
        inside: &[usize],
    ) {
        self.all.add(gold, inside);
        self.by_category.entry(category.to_owned()).or_default().add(gold, inside);
        self.by_conversation.entry(conversation.to_owned()).or_default().add(gold, inside);
    }
}

impl RecallMean {
    fn add(&mut self, gold: usize, inside: &[usize]) {
        self.questions += 1;
        self.recall.resize(inside.len(), 0.0);
        self.complete.resize(inside.len(), 0);
        for (number, inside) in inside.iter().enumerate() {
            self.recall[number] += *inside as f64 / gold as f64;
            self.complete[number] += u64::from(*inside == gold);
        }
    }

    /// Returns the mean share of included turns, in percent, for each budget.
    pub(crate) fn recall_percentages(&self) -> impl Iterator<Item = f64> {
        self.recall.iter().map(|sum| 100.0 * sum / self.questions as f64)
    }

    /// Returns the share of questions with all turns included, in percent, for each budget.
    pub(crate) fn complete_percentages(&self) -> impl Iterator<Item = f64> {
        self.complete.iter().map(|count| 100.0 * *count as f64 / self.questions as f64)
    }
}
