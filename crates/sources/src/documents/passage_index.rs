//! Finds the passages that are most relevant to a question: BM25 over the words that `core::text`
//! finds.

use std::collections::{BTreeMap, BTreeSet};

use countersign_contract::text::split_words;

use super::split::DocumentPassage;

/// BM25 parameters: how soon repetitions of a word stop counting, and how much long passages are
/// penalized.
const BM25_K1: f64 = 1.2;
const BM25_B: f64 = 0.75;

/// Minimum share of the question that a passage must cover; below it, the passage is about
/// something else.
const MIN_COVERAGE: f64 = 0.2;

/// Weight of a character pair that no passage has.
const UNKNOWN_BIGRAM_WEIGHT: f64 = 0.3;

/// Words of a question that do not say what it is about. They match nothing and do not lower the
/// confidence.
const STOP_WORDS: &str = "a an the is are was were be have has had do does did can could may must should would will \
    what which who whom whose when where why how much many i me my we our us you your he she it its \
    they their them this that these those there here of in on at to for from with by as and or not \
    no if than then about into over under please tell show give list \
    что кто где когда как какой какая какие какое каков сколько почему зачем чей это этот эта эти \
    тот та те и или не на в во с со к ко по о об от до за из у для при ли же бы мне нам я мы вы он \
    она они его ее их кому чему чем \
    什么 怎么 如何 哪些 哪个 多少 为什 什麼 怎麼 是什 么是 的是 吗 呢 是 的 了 谁 \
    무엇 누가 언제 어디 어떻 떻게 얼마 얼마나 마나 나요 가요 까요 니까 습니 합니 입니 인가 는지 왜";

/// An index over passages. The result of a search depends on nothing else.
#[derive(Debug, Default)]
pub(super) struct PassageIndex {
    passages: Vec<(String, DocumentPassage)>,
    lengths: Vec<f64>,
    average: f64,
    /// For each word, the passages that contain it, and how often.
    postings: BTreeMap<String, Vec<(usize, f64)>>,
}

/// A passage that matches a question.
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageHit<'i> {
    pub(super) path: &'i str,
    pub(super) passage: &'i DocumentPassage,
    /// BM25 score, for sorting passages.
    pub(super) score: f64,
    /// How much of the question it covers, from 0 to 1.
    pub(super) confidence: f64,
}

impl PassageIndex {
    /// Builds an index over passages, each with the path of its file.
    pub(super) fn build(passages: Vec<(String, DocumentPassage)>) -> Self {
        let mut index = Self { passages, ..Self::default() };
        for (number, (path, passage)) in index.passages.iter().enumerate() {
            let name = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
            let above = passage.headings.join("\n");
            let all = [name, above.as_str(), passage.text.as_str()].map(split_words);
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            let mut length = 0.0;
            for word in all.into_iter().flatten() {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            index.lengths.push(length);
            for (word, count) in counts {
                index.postings.entry(word).or_default().push((number, count));
            }
        }
        index.average = index.lengths.iter().sum::<f64>() / (index.lengths.len().max(1) as f64);
        index
    }

    /// Returns the most relevant passages, best first, and whether there are more.
    pub(super) fn search(&self, question: &str, limit: usize) -> (Vec<PassageHit<'_>>, bool) {
        let words = question_words(question);
        let mut scores: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        let mut whole = 0.0;
        for word in &words {
            let postings = self.postings.get(word).map_or(&[][..], Vec::as_slice);
            let rarity = self.inverse_frequency(postings.len());
            if postings.is_empty() && is_bigram(word) {
                // Most likely the end of one word and the beginning of the next.
                whole += rarity * UNKNOWN_BIGRAM_WEIGHT;
                continue;
            }
            whole += rarity;
            for (passage, count) in postings {
                let long = 1.0 - BM25_B + BM25_B * self.lengths[*passage] / self.average;
                let weight = count * (BM25_K1 + 1.0) / (count + BM25_K1 * long);
                let (score, covered) = scores.entry(*passage).or_default();
                *score += rarity * weight;
                *covered += rarity;
            }
        }
        let mut found: Vec<(usize, f64, f64)> = scores
            .into_iter()
            .map(|(passage, (score, covered))| (passage, score, covered / whole))
            .filter(|(_, _, share)| *share >= MIN_COVERAGE)
            .collect();
        found.sort_by(|(one, a, _), (other, b, _)| b.total_cmp(a).then(one.cmp(other)));
        let more = found.len() > limit;
        let hits = found.into_iter().take(limit).map(|(passage, score, share)| {
            let (path, passage) = &self.passages[passage];
            // The square root, because a question rarely uses exactly the words of the answer.
            PassageHit { path, passage, score, confidence: share.sqrt() }
        });
        (hits.collect(), more)
    }

    /// Weight of a word: a word in few passages says more than one in all of them.
    fn inverse_frequency(&self, passages: usize) -> f64 {
        let (all, with) = (self.passages.len() as f64, passages as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

/// Whether a word belongs to a script that is split into character pairs, where not every pair is a
/// word.
fn is_bigram(word: &str) -> bool {
    word.chars().all(|letter| letter >= '\u{e00}')
}

/// Returns the words that say what a question is about, each once; all words if there are none.
pub(super) fn question_words(question: &str) -> BTreeSet<String> {
    let asking: BTreeSet<String> = split_words(STOP_WORDS).into_iter().collect();
    let all: BTreeSet<String> = split_words(question).into_iter().collect();
    let topic: BTreeSet<String> = all.difference(&asking).cloned().collect();
    if topic.is_empty() { all } else { topic }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> PassageIndex {
        let passage = |text: &&str| DocumentPassage {
            anchor: String::new(),
            headings: Vec::new(),
            text: (*text).to_owned(),
        };
        let named = texts.iter().enumerate().map(|(at, text)| (format!("{at}.md"), passage(text)));
        PassageIndex::build(named.collect())
    }

    #[track_caller]
    fn check(index: &PassageIndex, question: &str, expected: &[&str]) {
        let (found, _) = index.search(question, 10);
        let paths: Vec<&str> = found.iter().map(|found| found.path).collect();
        assert_eq!(paths, expected, "{question}");
    }

    #[test]
    fn words_are_found_in_every_script() {
        let index = index(&[
            "A budget change is approved by the sponsor.",
            "Изменение бюджета утверждает заказчик.",
            "预算变更由项目发起人批准。",
            "예산 변경은 후원자가 승인한다.",
            "The team meets on Mondays.",
        ]);
        check(&index, "Who approves changes of the budget?", &["0.md"]);
        check(&index, "Кто утверждает изменения бюджета?", &["1.md"]);
        check(&index, "谁批准预算变更？", &["2.md"]);
        check(&index, "예산 변경을 누가 승인합니까?", &["3.md"]);
        check(&index, "unicorn", &[]);
        check(&index, "the", &["4.md", "0.md"]);
    }

    #[test]
    fn the_same_question_gets_the_same_answer_and_limits_hold() {
        let index = index(&["risk risk", "risk", "risk of loss", "other"]);
        let (found, more) = index.search("risk", 2);
        assert!(more && found.len() == 2);
        assert!(found[0].score >= found[1].score);
        assert!(found.iter().all(|found| (0.0..=1.0).contains(&found.confidence)));
        assert!(PassageIndex::default().search("risk", 2).0.is_empty());
    }
}
