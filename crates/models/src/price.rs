//! Computes the cost of a call in whole millionths of a currency unit; money is never a fraction
//! here.

use crate::TokenUsage;

/// Prices per million tokens, in millionths of a currency unit: 2.50 is `2_500_000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenPrice {
    /// Price of input tokens.
    pub input_per_million: u64,
    /// Price of output tokens.
    pub output_per_million: u64,
    /// Price of input tokens that come from a cache; `None` means the price of other input.
    pub cached_per_million: Option<u64>,
}

/// Returns the cost in millionths of a currency unit, rounded up so that a budget is never charged
/// too little.
#[must_use]
pub fn compute_cost(usage: TokenUsage, price: TokenPrice) -> u64 {
    let cached = usage.cached_tokens.unwrap_or_default().min(usage.input_tokens);
    let cached_price = price.cached_per_million.unwrap_or(price.input_per_million);
    let parts = [
        (usage.input_tokens - cached, price.input_per_million),
        (cached, cached_price),
        (usage.output_tokens, price.output_per_million),
    ];
    let sum = parts.iter().fold(0u128, |sum, (tokens, each)| {
        sum.saturating_add(u128::from(*tokens) * u128::from(*each))
    });
    u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: TokenPrice = TokenPrice {
        input_per_million: 2_500_000,
        output_per_million: 10_000_000,
        cached_per_million: None,
    };

    #[test]
    fn tokens_cost_their_price() {
        let usage = TokenUsage { input_tokens: 1_000, output_tokens: 200, cached_tokens: None };
        assert_eq!(compute_cost(usage, PRICE), 2_500 + 2_000);
        assert_eq!(compute_cost(TokenUsage::default(), PRICE), 0);
    }

    #[test]
    fn cached_input_has_its_own_price() {
        let usage = TokenUsage { input_tokens: 1_000, output_tokens: 0, cached_tokens: Some(400) };
        let price = TokenPrice { cached_per_million: Some(250_000), ..PRICE };
        assert_eq!(compute_cost(usage, price), 1_500 + 100);
        assert_eq!(compute_cost(usage, PRICE), 2_500);
    }

    #[test]
    fn fractions_are_rounded_up_and_nothing_overflows() {
        let usage = TokenUsage { input_tokens: 1, output_tokens: 0, cached_tokens: None };
        assert_eq!(compute_cost(usage, PRICE), 3);
        let usage =
            TokenUsage { input_tokens: u64::MAX, output_tokens: u64::MAX, cached_tokens: None };
        let price = TokenPrice {
            input_per_million: u64::MAX,
            output_per_million: u64::MAX,
            cached_per_million: None,
        };
        assert_eq!(compute_cost(usage, price), u64::MAX);
    }
}
