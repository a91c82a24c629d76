//! Decodes text: by its byte-order mark, as UTF-8, as UTF-16 without a mark, or in the encoding that
//! its bytes are most likely in.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

use crate::document_text::TextCollector;
use crate::{DocumentError, DocumentFormat, DocumentPartKind, DocumentText};

/// How many bytes of a file are looked at to recognize UTF-16 without a mark.
const WIDE_PROBE_BYTES: usize = 4_096;

/// How many bytes of a file are given to the detector of encodings.
const DETECTED_BYTES: usize = 1024 * 1024;

/// Decodes a text file. Returns the text without a byte-order mark, the name of its encoding, and
/// whether some bytes are not valid in it.
#[must_use]
pub fn decode_text(bytes: &[u8]) -> (Cow<'_, str>, &'static str, bool) {
    decode_with_label(bytes, None)
}

/// Decodes a text whose author names its encoding, as HTML does. The name counts only if the bytes
/// have no mark and are not UTF-8.
pub(crate) fn decode_with_label<'b>(
    bytes: &'b [u8],
    label: Option<&[u8]>,
) -> (Cow<'b, str>, &'static str, bool) {
    let encoding = detect_encoding(bytes, label);
    let (text, used, has_errors) = encoding.decode(bytes);
    (text, used.name(), has_errors)
}

fn detect_encoding(bytes: &[u8], label: Option<&[u8]>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    if let Some(wide) = detect_wide_encoding(bytes) {
        return wide;
    }
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    if let Some(named) = label.and_then(Encoding::for_label)
        && named != REPLACEMENT
        && named != UTF_8
    {
        return widen(named);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(DETECTED_BYTES)], true);
    widen(detector.guess(None, Utf8Detection::Allow))
}

/// GB18030 contains GBK.
fn widen(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == GBK { GB18030 } else { encoding }
}

/// Recognizes UTF-16, with a mark or by the zeros in every other byte.
pub(crate) fn detect_wide_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (encoding != UTF_8).then_some(encoding);
    }
    let probe = &bytes[..bytes.len().min(WIDE_PROBE_BYTES) / 2 * 2];
    let (mut even, mut odd) = (0, 0);
    for pair in probe.chunks_exact(2) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
    }
    // Blanks, digits and line breaks are below 256 in every script.
    let many = (probe.len() / 2 / 10).max(1);
    match (even, odd) {
        (0, odd) if odd >= many => Some(UTF_16LE),
        (even, 0) if even >= many => Some(UTF_16BE),
        _ => None,
    }
}

/// Reads a text file.
pub(crate) fn extract_text(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let (text, encoding, has_errors) = decode_text(bytes);
    let mut collector = TextCollector::new(DocumentFormat::Text);
    collector.push(DocumentPartKind::Body, "", "");
    let mut document = collector.finish()?;
    let mut text = text.into_owned();
    if text.len() > crate::limits::MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(crate::limits::MAX_TEXT_BYTES));
        let most = crate::limits::MAX_TEXT_BYTES >> 20;
        document.notes.push(format!("the text is longer than {most} MiB; the rest was left out"));
    }
    if has_errors {
        document.notes.push(format!(
            "some bytes are not valid in {encoding}, the likeliest encoding; they show as U+FFFD"
        ));
    }
    // A text is what its author wrote, to the last blank.
    document.parts[0].text = text;
    document.encoding = Some(encoding.to_owned());
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUSSIAN: &str = "Договор аренды нежилого помещения. Арендатор обязан вносить плату не позднее пятого числа каждого месяца.";
    const CHINESE: &str = "租赁合同：承租人应当在每月五日之前支付租金，逾期须支付违约金。";
    const JAPANESE: &str =
        "賃貸借契約書。借主は毎月五日までに賃料を支払うものとします。ありがとうございます。";
    const KOREAN: &str = "임대차 계약서. 임차인은 매월 5일까지 임대료를 지급하여야 한다.";

    #[track_caller]
    fn check(label: &str, text: &str, name: &str) {
        let encoding = Encoding::for_label(label.as_bytes()).expect("a known label");
        let (bytes, ..) = encoding.encode(text);
        let (found, used, has_errors) = decode_text(&bytes);
        assert_eq!((found.as_ref(), used, has_errors), (text, name, false), "{label}");
    }

    #[test]
    fn usual_encodings_are_recognized() {
        check("utf-8", RUSSIAN, "UTF-8");
        check("windows-1251", RUSSIAN, "windows-1251");
        check("koi8-r", RUSSIAN, "KOI8-U");
        check("gb18030", CHINESE, "gb18030");
        check("shift_jis", JAPANESE, "Shift_JIS");
        check("euc-jp", JAPANESE, "EUC-JP");
        check("euc-kr", KOREAN, "EUC-KR");
        check("big5", "租賃合約：承租人應當在每月五日之前支付租金，逾期須支付違約金。", "Big5");
        check(
            "windows-1252",
            "Le locataire doit payer à la fin du mois, même s’il est à l’étranger.",
            "windows-1252",
        );
        check(
            "iso-8859-2",
            "Zażółć gęślą jaźń. Umowa najmu obowiązuje od pięciu dni.",
            "ISO-8859-2",
        );
        check("ibm866", RUSSIAN, "IBM866");
    }

    #[test]
    fn utf_16_is_recognized_with_and_without_a_mark() {
        for text in [RUSSIAN, "plain words", "a,b\r\n1,2\r\n"] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(decode_text(&little).0, text);
            assert_eq!(decode_text(&big).0, text);
            assert_eq!(decode_text(&[b"\xff\xfe", &little[..]].concat()).0, text);
            assert_eq!(decode_text(&[b"\xfe\xff", &big[..]].concat()).0, text);
        }
        assert_eq!(decode_text(b"\xef\xbb\xbfa").0, "a");
    }

    #[test]
    fn a_text_is_not_changed_and_invalid_bytes_are_said() {
        let text = extract_text(b"  a \r\n\n b\t\n").expect("a text");
        assert_eq!(text.parts[0].text, "  a \r\n\n b\t\n");
        assert_eq!(text.encoding.as_deref(), Some("UTF-8"));
        let half =
            extract_text("Привет, мир".as_bytes().split_last().expect("bytes").1).expect("a text");
        assert!(!half.notes.is_empty() || half.encoding.as_deref() != Some("UTF-8"), "{half:?}");
    }
}
