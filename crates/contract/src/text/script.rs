//! Scripts that need their own splitting rule; all other scripts are split at spaces.

/// How the letters of a script are split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptClass {
    /// Words separated by spaces, with English endings.
    Latin,
    /// Words separated by spaces, with Russian endings.
    Cyrillic,
    /// Words without spaces between them, or words that take particles: split into overlapping
    /// pairs.
    Unspaced,
    /// Words separated by spaces, without stemming.
    Other,
}

/// Returns the script class of a folded letter.
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
