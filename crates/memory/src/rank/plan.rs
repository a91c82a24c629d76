//! Which postings to read for a question: so many at most, however large the store.

/// How many postings are read for a question.
pub const MAX_POSTINGS: usize = 32_768;

/// What to read of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostingRead {
    /// The term.
    pub term: String,
    /// In how many events it stands.
    pub df: u32,
    /// How many of its postings to read: those of the newest places.
    pub newest: usize,
}

/// Which postings to read, given in how many events each term of the question stands: the rarest terms
/// whole, of the first that is too common for what is left of [`MOST_POSTINGS`] the newest, and of the
/// others none.
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
    /// Whether some of its postings are not read.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.newest < self.df as usize
    }
}
