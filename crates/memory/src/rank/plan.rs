//! Plans which postings to read for a query. The number is limited, however large the store is.

/// The maximum number of postings that are read for a query.
pub const MAX_POSTINGS: usize = 32_768;

/// The postings to read for a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostingRead {
    /// The term to read.
    pub term: String,
    /// The document frequency: the number of events that contain the term.
    pub df: u32,
    /// The number of postings to read, newest locations first.
    pub newest: usize,
}

/// Plans the reads from the document frequency of each term. The rarest terms are read completely.
/// Of the first term that exceeds the rest of [`MAX_POSTINGS`] the newest postings are read, and of
/// more common terms none.
#[must_use]
pub fn plan_reads<'t>(df: impl IntoIterator<Item = (&'t str, u32)>) -> Vec<PostingRead> {
    let mut known: Vec<(u32, &str)> =
        df.into_iter().filter(|(_, df)| *df > 0).map(|(term, df)| (df, term)).collect();
    known.sort_unstable();
    let mut left = MAX_POSTINGS;
    let read = |(df, term): (u32, &str)| {
        let newest = left.min(df as usize);
        left -= newest;
        PostingRead { term: term.to_owned(), df, newest }
    };
    known.into_iter().map(read).collect()
}

impl PostingRead {
    /// Returns whether some postings of the term are not read.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.newest < self.df as usize
    }
}
