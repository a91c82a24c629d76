//! Names that an expression can use: the roots, and the parameters of the enclosing arrow
//! functions.

use super::vocabulary::list_globals;
use crate::similar_name::find_similar_name;

/// What a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameBinding {
    Root(usize),
    Local(usize),
}

/// Visible names. Parameters hide roots, and inner parameters hide outer ones.
#[derive(Debug)]
pub(super) struct ExprScope<'n> {
    roots: &'n [&'n str],
    locals: Vec<String>,
    max_locals: usize,
    used_roots: Vec<bool>,
}

impl<'n> ExprScope<'n> {
    pub(super) fn new(roots: &'n [&'n str]) -> Self {
        Self { roots, locals: Vec::new(), max_locals: 0, used_roots: vec![false; roots.len()] }
    }

    pub(super) fn resolve_name(&self, name: &str) -> Option<NameBinding> {
        if let Some(slot) = self.locals.iter().rposition(|local| local == name) {
            return Some(NameBinding::Local(slot));
        }
        self.roots.iter().position(|root| *root == name).map(NameBinding::Root)
    }

    /// Records that the expression reads a root.
    pub(super) fn mark_root_used(&mut self, root: usize) {
        self.used_roots[root] = true;
    }

    /// Declares a parameter and returns its slot.
    pub(super) fn declare_local(&mut self, name: &str) -> usize {
        self.locals.push(name.to_owned());
        self.max_locals = self.max_locals.max(self.locals.len());
        self.locals.len() - 1
    }

    /// Returns whether a parameter of this name was declared since the scope had this depth.
    pub(super) fn has_local_since(&self, depth: usize, name: &str) -> bool {
        self.locals[depth..].iter().any(|local| local == name)
    }

    pub(super) fn depth(&self) -> usize {
        self.locals.len()
    }

    /// Removes the parameters declared since the scope had this depth.
    pub(super) fn truncate_locals(&mut self, depth: usize) {
        self.locals.truncate(depth);
    }

    /// Returns the number of local slots that an evaluation needs.
    pub(super) fn slot_count(&self) -> usize {
        self.max_locals
    }

    /// Returns for each root whether the expression reads it.
    pub(super) fn into_used_roots(self) -> Vec<bool> {
        self.used_roots
    }

    /// Returns a hint with the most similar known name, or with all known names.
    pub(super) fn suggest_name(&self, name: &str) -> String {
        let globals = list_globals();
        let locals = self.locals.iter().map(String::as_str);
        let known: Vec<&str> = locals.chain(self.roots.iter().copied()).collect();
        match find_similar_name(name, known.iter().copied().chain(globals)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => "no names are known here".to_owned(),
            None => format!("known here: {}", quote_names(&known)),
        }
    }
}

/// Formats names in backticks, separated by commas.
pub(super) fn quote_names(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut scope = ExprScope::new(&["state", "t"]);
        assert_eq!(scope.resolve_name("t"), Some(NameBinding::Root(1)));
        scope.declare_local("t");
        assert_eq!(scope.resolve_name("t"), Some(NameBinding::Local(0)));
        scope.declare_local("t");
        assert_eq!(scope.resolve_name("t"), Some(NameBinding::Local(1)));
        scope.truncate_locals(0);
        assert_eq!(scope.resolve_name("t"), Some(NameBinding::Root(1)));
        assert_eq!(scope.slot_count(), 2);
    }
}
