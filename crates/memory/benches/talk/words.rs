//! Words by how often they are said. The first are those of grammar, then some of every day, and behind
//! them made-up ones without end.

use testkit::SeededRng;

/// How many words a language has here.
const WORDS: f64 = 60_000.0;
/// Characters of Chinese, likewise.
const CHARACTERS: f64 = 3_000.0;

const ENGLISH: [&str; 20] = [
    "the", "to", "and", "a", "of", "I", "you", "in", "it", "that", "is", "was", "for", "on", "my",
    "we", "with", "at", "this", "have",
];
const RUSSIAN: [&str; 20] = [
    "и", "в", "не", "на", "я", "что", "с", "он", "а", "как", "это", "по", "к", "но", "мы", "за",
    "у", "из", "же", "так",
];
const CHINESE: [&str; 12] =
    ["的", "了", "是", "我", "不", "在", "有", "他", "这", "们", "就", "也"];
/// Said every day; kinds that questions ask for are among what they name.
const EVERY_DAY: [&str; 24] = [
    "time", "good", "work", "home", "week", "friend", "think", "dinner", "new", "day", "dog",
    "school", "game", "book", "mother", "doctor", "piano", "trip", "garden", "cake", "car",
    "beach", "soccer", "painting",
];
const LATIN: [&str; 20] = [
    "ba", "ro", "min", "ta", "lek", "su", "dor", "vi", "pan", "ki", "zu", "mer", "fo", "gal", "hi",
    "nos", "we", "jur", "ya", "cob",
];
const CYRILLIC: [&str; 20] = [
    "ба", "ро", "мин", "та", "лек", "су", "дор", "ви", "пан", "ки", "зу", "мер", "фо", "гал", "хи",
    "нос", "ве", "жур", "ля", "коб",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Russian,
    Chinese,
}

/// So many words by chance, the common ones more often.
pub(super) fn text(language: Language, words: usize, chance: &mut SeededRng) -> String {
    let (most, between) = match language {
        Language::English | Language::Russian => (WORDS, " "),
        Language::Chinese => (CHARACTERS, ""),
    };
    let words = (0..words).map(|_| word(language, rank(most, chance)));
    words.collect::<Vec<_>>().join(between)
}

/// A rank by Zipf's law: the hundredth word is said a hundred times less often than the first.
fn rank(most: f64, chance: &mut SeededRng) -> usize {
    let share = chance.next_below(1 << 30) as f64 / f64::from(1 << 30);
    most.powf(share) as usize
}

/// The word of a rank, from 1.
pub(super) fn word(language: Language, rank: usize) -> String {
    let (first, syllables): (&[&str], _) = match language {
        Language::English => (&ENGLISH, &LATIN),
        Language::Russian => (&RUSSIAN, &CYRILLIC),
        Language::Chinese => return character(rank),
    };
    if let Some(known) = first.get(rank - 1) {
        return (*known).to_owned();
    }
    if let (Language::English, Some(known)) = (language, EVERY_DAY.get(rank - 1 - first.len())) {
        return (*known).to_owned();
    }
    let mut rest = rank;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(syllables[rest % syllables.len()]);
        rest /= syllables.len();
    }
    word
}

fn character(rank: usize) -> String {
    match CHINESE.get(rank - 1) {
        Some(known) => (*known).to_owned(),
        None => char::from_u32(0x4e00 + (rank as u32 * 7) % 20_000)
            .map(String::from)
            .unwrap_or_default(),
    }
}
