//! The door: a source compiled once, evaluated many times.

use serde_json::Value;

use super::ast::Node;
use super::error::{EvalError, ExprError};
use super::eval::Evaluation;
use super::inherited::{InheritedName, inherited_names};
use super::literals::literals;
use super::outlook::{Known, Outlook, outlook};
use super::parser::{Tree, parse};
use super::reads::{ReadPath, read_paths};
use super::value::Val;

/// A compiled expression.
///
/// ```
/// use countersign_core::expr::Expr;
/// use serde_json::json;
///
/// let gate = Expr::compile("state.tasks.some(t => t.status !== 'done')", &["state"])?;
/// let state = json!({"tasks": [{"status": "done"}, {"status": "open"}]});
/// assert!(gate.test(&[Some(&state)])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Expr {
    source: String,
    root: Node,
    locals: usize,
    uses: Vec<bool>,
    reads: Vec<ReadPath>,
    inherited: Vec<InheritedName>,
}

impl Expr {
    /// Compiles a source; `names` are the root variables of this place, and their order gives the slots.
    pub fn compile(source: &str, names: &[&str]) -> Result<Self, ExprError> {
        let Tree { root, locals, uses } = parse(source, names)?;
        let reads = read_paths(&root, locals);
        let inherited = inherited_names(&root);
        Ok(Self { source: source.to_owned(), root, locals, uses, reads, inherited })
    }

    /// The text it was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it reads the root variable in this slot.
    #[must_use]
    pub fn uses(&self, slot: usize) -> bool {
        self.uses.get(slot).copied().unwrap_or(false)
    }

    /// The paths it reads, as far as they are written out in the source.
    #[must_use]
    pub fn reads(&self) -> &[ReadPath] {
        &self.reads
    }

    /// What it may come to, told from what is known of the paths of its roots.
    #[must_use]
    pub fn outlook(&self, known: Known<'_>) -> Outlook {
        outlook(&self.root, self.locals, known)
    }

    /// The names it reads, or asks for with `in`, that JavaScript would find on every object.
    #[must_use]
    pub fn inherited_names(&self) -> &[InheritedName] {
        &self.inherited
    }

    /// The strings, numbers and truth values that are written out in it.
    #[must_use]
    pub fn literals(&self) -> Vec<Value> {
        literals(&self.root)
    }

    /// Evaluates it; borrows the roots and copies none of them. To read a root that is `None` is an error.
    pub fn eval<'a>(&self, roots: &[Option<&'a Value>]) -> Result<Val<'a>, EvalError> {
        Evaluation::new(&self.source, roots, self.locals).eval(&self.root).map_err(EvalError::from)
    }

    /// Evaluates it and demands `true` or `false`; anything else is an error that says what it was.
    pub fn test(&self, roots: &[Option<&Value>]) -> Result<bool, EvalError> {
        self.test_counting(roots, &mut 0)
    }

    /// The same, and adds the steps it took to `spent`: who evaluates often can bound the whole.
    pub fn test_counting(
        &self,
        roots: &[Option<&Value>],
        spent: &mut usize,
    ) -> Result<bool, EvalError> {
        let mut evaluation = Evaluation::new(&self.source, roots, self.locals);
        let value = evaluation.eval(&self.root);
        *spent = spent.saturating_add(evaluation.budget.spent());
        match value.map_err(EvalError::from)? {
            Val::Bool(truth) => Ok(truth),
            other => Err(EvalError {
                message: format!("expected true or false, found {}", other.describe()),
                span: 0..self.source.len(),
            }),
        }
    }
}
