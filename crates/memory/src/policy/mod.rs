//! Memory policies: item caps, the injection matrix, age windows and budget shares of a packet.

mod memory_policy;
mod policy_limits;
mod load;
mod matrix;
mod similarity;

pub use load::{MIN_BUDGET_TOKENS, MemoryPolicyError};
pub use matrix::{InjectionMatrix, InjectionRow, InjectionStrength, StrengthWeights};
pub use memory_policy::{CitationMarkerStyle, MemoryPolicy, QuoteDateStyle, RenderOptions};
pub(crate) use policy_limits::limit_quotes;
pub use policy_limits::{ActivationWeights, AgeingPolicy, CandidateCaps, PacketCaps, TierShares};
pub use similarity::SimilarityPolicy;
