//! Pointers into the document as authors write them, and the places among them that are the engine's.

use super::faults::Faults;
use super::member::Member;
use crate::json;
use crate::protocol::EnginePlace;

/// Reads a pointer.
pub(super) fn pointer(member: &Member<'_>, faults: &Faults) -> Option<String> {
    named(member.text()?, member, faults)
}

/// The same for a pointer that is a key.
pub(super) fn named(text: &str, place: &Member<'_>, faults: &Faults) -> Option<String> {
    let (wrong, hint) = if text == "/" {
        ("names a member whose name is empty", "the whole document is `\"\"`".to_owned())
    } else if !text.is_empty() && !text.starts_with('/') {
        let meant = text.trim_start_matches("state.").replace('.', "/");
        ("does not begin with `/`", format!("did you mean `/{meant}`?"))
    } else if text.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
        ("has a `~` that is no escape", "write `~0` for `~` and `~1` for `/`".to_owned())
    } else {
        return Some(text.to_owned());
    };
    let message = format!("`{text}` is no JSON Pointer: it {wrong}");
    faults.push(place.fault("invalid_pointer", message).hinting(Some(hint)));
    None
}

/// Reads a dotted path or a pointer.
pub(super) fn dotted(member: &Member<'_>, faults: &Faults) -> Option<String> {
    let text = member.text()?;
    if text.starts_with('/') {
        return pointer(member, faults);
    }
    if text.split('.').any(|name| name.trim().is_empty()) {
        let message = format!("`{text}` is no path: a name between the dots is empty");
        let hint = "write `a.b` or `/a/b`".to_owned();
        faults.push(member.fault("invalid_pointer", message).hinting(Some(hint)));
        return None;
    }
    Some(text.split('.').fold(String::new(), |pointer, name| json::child(&pointer, name)))
}

/// Whether a place is another, or inside it.
pub(super) fn is_within(place: &str, whole: &str) -> bool {
    place.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The engine's place that this one is, or is inside of.
pub(super) fn engine_above<'e>(place: &str, engine: &'e [EnginePlace]) -> Option<&'e EnginePlace> {
    engine.iter().find(|own| is_within(place, &own.at))
}

/// The engine's place that whoever writes here would overwrite.
pub(super) fn engine_at<'e>(place: &str, engine: &'e [EnginePlace]) -> Option<&'e EnginePlace> {
    engine.iter().find(|own| is_within(place, &own.at) || is_within(&own.at, place))
}

/// A place in a sentence.
pub(super) fn shown(place: &str) -> String {
    if place.is_empty() { "the whole document".to_owned() } else { format!("`{place}`") }
}

/// Tells that a place is the engine's.
pub(super) fn tell_engine(member: &Member<'_>, place: &str, own: &EnginePlace, faults: &Faults) {
    let message = if is_within(place, &own.at) {
        format!("`{place}` is the engine's: it keeps `{}` there", own.name)
    } else {
        let shown = shown(place);
        format!("{shown} holds `{}`, where the engine keeps `{}`", own.at, own.name)
    };
    let hint = "the engine writes it after every step; let this write other places".to_owned();
    faults.push(member.fault("engine_place", message).hinting(Some(hint)));
}
