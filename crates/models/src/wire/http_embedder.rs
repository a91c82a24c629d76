//! Embeddings over HTTP, in the format that `OpenAI` defined and others adopted.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{ProviderEndpoint, SecretRedactor};
use crate::{Embedder, ModelError, ModelErrorKind, ModelFuture, ResponseDefect, TimeoutStage};

/// An embedder behind an HTTP endpoint.
pub(crate) struct HttpEmbedder {
    /// Model specification that the user wrote.
    pub(crate) spec: String,
    /// Name of the model, as it is sent.
    pub(crate) model: String,
    /// Removes secrets from error messages.
    pub(crate) redactor: SecretRedactor,
    /// Endpoint that receives the requests.
    pub(crate) endpoint: ProviderEndpoint,
}

impl Embedder for HttpEmbedder {
    fn name(&self) -> &str {
        &self.model
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> ModelFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            let after = self.endpoint.timeouts.total;
            let outcome = match timeout(after, self.request_vectors(texts)).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    Err(ModelErrorKind::TimedOut { stage: TimeoutStage::Total, limit: after })
                }
            };
            outcome.map_err(|fault| ModelError {
                model: self.spec.clone(),
                kind: fault.map_texts(&|text| self.redactor.sanitize_message(text)),
                exchange: None,
            })
        })
    }
}

impl HttpEmbedder {
    async fn request_vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelErrorKind> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let mut kept = Vec::new();
        let mut response = self.endpoint.send(body.to_string().into_bytes(), &mut kept).await?;
        while self.endpoint.read_chunk(&mut response, &mut kept).await? {}
        let answer: Value = serde_json::from_slice(&kept)
            .map_err(|_| unexpected_format("JSON", "something else".to_owned()))?;
        parse_vectors(&answer, texts.len())
    }
}

/// Reads the vectors of a response, in the order of the texts.
fn parse_vectors(answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, ModelErrorKind> {
    let list = answer["data"].as_array();
    let list = list.ok_or_else(|| unexpected_format("a list `data`", "none".to_owned()))?;
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
    for (position, item) in list.iter().enumerate() {
        // Some servers omit the index and keep the order.
        let index = match &item["index"] {
            Value::Null => position,
            index => index.as_u64().map_or(usize::MAX, |index| index as usize),
        };
        let slot = vectors.get_mut(index).filter(|slot| slot.is_empty());
        let slot = slot
            .ok_or_else(|| unexpected_format("one vector per text", format!("`index` {index}")))?;
        let numbers = item["embedding"].as_array();
        let numbers = numbers.filter(|numbers| !numbers.is_empty());
        let numbers =
            numbers.ok_or_else(|| unexpected_format("a list `embedding`", "none".to_owned()))?;
        for number in numbers {
            let number = number
                .as_f64()
                .ok_or_else(|| unexpected_format("numbers", "something else".to_owned()))?;
            slot.push(number as f32);
        }
    }
    let length = vectors.first().map_or(0, Vec::len);
    if let Some(other) = vectors.iter().find(|vector| vector.len() != length || vector.is_empty()) {
        let found = format!("vectors of {length} and {} numbers", other.len());
        return Err(unexpected_format("vectors of one length, one per text", found));
    }
    Ok(vectors)
}

fn unexpected_format(expected: &'static str, found: String) -> ModelErrorKind {
    ModelErrorKind::InvalidResponse { defect: ResponseDefect::UnexpectedFormat { expected, found } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer = json!({"data": [
            {"index": 1, "embedding": [0.5, 1]}, {"index": 0, "embedding": [1, 2]},
        ]});
        assert_eq!(parse_vectors(&answer, 2), Ok(vec![vec![1.0, 2.0], vec![0.5, 1.0]]));
        let bare = json!({"data": [{"embedding": [1]}, {"embedding": [2]}]});
        assert_eq!(parse_vectors(&bare, 2), Ok(vec![vec![1.0], vec![2.0]]));
    }

    #[test]
    fn what_is_no_answer_is_told() {
        let refused = |answer: Value| parse_vectors(&answer, 2).unwrap_err().to_string();
        let one = |item: Value| json!({"data": [item, {"index": 1, "embedding": [1]}]});
        for (answer, expected) in [
            (json!({}), "expected a list `data`, found none"),
            (
                one(json!({"index": 7, "embedding": [1]})),
                "expected one vector per text, found `index` 7",
            ),
            (
                one(json!({"index": 1, "embedding": [1]})),
                "expected one vector per text, found `index` 1",
            ),
            (one(json!({"index": 0, "embedding": []})), "expected a list `embedding`, found none"),
            (
                one(json!({"index": 0, "embedding": ["x"]})),
                "expected numbers, found something else",
            ),
            (
                one(json!({"index": 0, "embedding": [1, 2]})),
                "expected vectors of one length, one per text, found vectors of 2 and 1 numbers",
            ),
            (
                json!({"data": [{"index": 0, "embedding": [1]}]}),
                "expected vectors of one length, one per text, found vectors of 1 and 0 numbers",
            ),
        ] {
            assert_eq!(refused(answer), format!("the answer cannot be used: {expected}"));
        }
    }
}
