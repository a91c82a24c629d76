//! The scripts that are read by a rule of their own; every other one is read by its spaces.

/// How a letter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptClass {
    /// Words between spaces, English endings.
    Latin,
    /// Words between spaces, Russian endings.
    Cyrillic,
    /// Words that no space divides, or that grow particles: read as overlapping pairs.
    Unspaced,
    /// Words between spaces, taken as they are.
    Other,
}

/// The script of a folded letter.
pub(super) fn classify_script(character: char) -> ScriptClass {
    match character {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => {
            ScriptClass::Latin
        }
        '\u{400}'..='\u{52f}' => ScriptClass::Cyrillic,
        // Thai, Lao; Myanmar; Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => {
            ScriptClass::Unspaced
        }
        // Hangul letters; kana; bopomofo.
        '\u{1100}'..='\u{11ff}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{31ff}' => {
            ScriptClass::Unspaced
        }
        // Han, and Hangul syllables.
        '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' => {
            ScriptClass::Unspaced
        }
        '\u{20000}'..='\u{3ffff}' => ScriptClass::Unspaced,
        _ => ScriptClass::Other,
    }
}
