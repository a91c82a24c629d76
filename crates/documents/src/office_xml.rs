//! Walks the XML of an Office file with a limit on its depth. Entities other than the five of XML
//! are not expanded, so that no definition can grow.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::DocumentError;
use crate::limits::MAX_XML_DEPTH;

/// What the walk meets. Names are without their prefix.
pub(crate) enum XmlToken<'t> {
    Open(&'t str, &'t BytesStart<'t>),
    Close(&'t str),
    Text(&'t str),
}

/// Visits the elements and texts of a part until the visitor returns `false`.
pub(crate) fn walk_xml(
    xml: &str,
    part: &str,
    mut visit: impl FnMut(XmlToken<'_>) -> bool,
) -> Result<(), DocumentError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0;
    loop {
        let event = reader.read_event().map_err(|error| {
            let at = reader.error_position();
            DocumentError::broken(format!("has a damaged part `{part}`: byte {at}: {error}"))
        })?;
        let goes_on = match event {
            Event::Start(tag) => {
                depth += 1;
                if depth > MAX_XML_DEPTH {
                    return Err(DocumentError::too_large(format!(
                        "has a part `{part}` whose elements nest deeper than {MAX_XML_DEPTH}"
                    )));
                }
                visit(XmlToken::Open(tag.local_name().as_ref(), &tag))
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                visit(XmlToken::Close(tag.local_name().as_ref()))
            }
            Event::Text(text) => visit(XmlToken::Text(&text)),
            Event::CData(text) => visit(XmlToken::Text(&text)),
            Event::GeneralRef(reference) => {
                let sign = match &*reference {
                    "amp" => Some('&'),
                    "lt" => Some('<'),
                    "gt" => Some('>'),
                    "quot" => Some('"'),
                    "apos" => Some('\''),
                    _ => reference.resolve_char_ref().ok().flatten(),
                };
                match sign {
                    Some(sign) => visit(XmlToken::Text(sign.encode_utf8(&mut [0; 4]))),
                    None => visit(XmlToken::Text(&format!("&{};", &*reference))),
                }
            }
            Event::Eof if depth > 0 => {
                return Err(DocumentError::broken(format!(
                    "has a damaged part `{part}`: it ends inside an element"
                )));
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
            Event::Empty(_) => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
}

/// Returns an attribute by its name without the prefix.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().with_checks(false).flatten().find(|one| {
        let key: &str = one.key.local_name().into_inner();
        key == name
    })?;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| found.value.to_string(), |value| value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(xml: &str) -> Result<String, DocumentError> {
        let mut found = String::new();
        walk_xml(xml, "a.xml", |token| {
            match token {
                XmlToken::Open(name, tag) => {
                    found.push_str(&format!("<{name} {:?}>", attribute(tag, "v")));
                }
                XmlToken::Close(name) => found.push_str(&format!("</{name}>")),
                XmlToken::Text(text) => found.push_str(text),
            }
            true
        })?;
        Ok(found)
    }

    #[test]
    fn elements_are_visited_without_prefixes() {
        let found = collect("<w:a w:v='1&amp;2'>x&lt;&#1044;<b/><![CDATA[<]]></w:a>");
        assert_eq!(found.as_deref(), Ok("<a Some(\"1&2\")>x<Д<b None></b><</a>"));
    }

    #[test]
    fn entities_do_not_expand_and_depth_is_limited() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'aaaaaaaa'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>";
        assert_eq!(collect(bomb).as_deref(), Ok("<a None>&y;</a>"));
        let deep = collect(&"<a>".repeat(100_000)).expect_err("too deep");
        assert_eq!(deep.message, "has a part `a.xml` whose elements nest deeper than 256");
        let cut = collect("<a><b>").expect_err("cut");
        assert_eq!(cut.message, "has a damaged part `a.xml`: it ends inside an element");
        assert!(collect("<a></b>").is_err());
    }
}
