//! The names an expression may use where it stands: the roots of the place, and the parameters of the
//! arrow functions round it.

use super::vocabulary::globals;
use crate::nearest::nearest;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Root(usize),
    Local(usize),
}

/// The names in sight; parameters hide roots, inner parameters hide outer ones.
#[derive(Debug)]
pub(super) struct Scope<'n> {
    roots: &'n [&'n str],
    locals: Vec<String>,
    most: usize,
    used: Vec<bool>,
}

impl<'n> Scope<'n> {
    pub(super) fn new(roots: &'n [&'n str]) -> Self {
        Self { roots, locals: Vec::new(), most: 0, used: vec![false; roots.len()] }
    }

    pub(super) fn find(&self, name: &str) -> Option<Binding> {
        if let Some(slot) = self.locals.iter().rposition(|local| local == name) {
            return Some(Binding::Local(slot));
        }
        self.roots.iter().position(|root| *root == name).map(Binding::Root)
    }

    /// Remembers that a root is read.
    pub(super) fn mark(&mut self, root: usize) {
        self.used[root] = true;
    }

    /// Takes a slot for a parameter.
    pub(super) fn declare(&mut self, name: &str) -> usize {
        self.locals.push(name.to_owned());
        self.most = self.most.max(self.locals.len());
        self.locals.len() - 1
    }

    /// Whether a parameter of this name was declared since the scope was this deep.
    pub(super) fn has_since(&self, depth: usize, name: &str) -> bool {
        self.locals[depth..].iter().any(|local| local == name)
    }

    pub(super) fn depth(&self) -> usize {
        self.locals.len()
    }

    /// Forgets the parameters declared since the scope was this deep.
    pub(super) fn close(&mut self, depth: usize) {
        self.locals.truncate(depth);
    }

    /// How many slots an evaluation needs.
    pub(super) fn slots(&self) -> usize {
        self.most
    }

    /// Which roots are read.
    pub(super) fn into_used(self) -> Vec<bool> {
        self.used
    }

    /// The name that was probably meant, or the names there are.
    pub(super) fn hint(&self, name: &str) -> String {
        let globals = globals();
        let locals = self.locals.iter().map(String::as_str);
        let known: Vec<&str> = locals.chain(self.roots.iter().copied()).collect();
        match nearest(name, known.iter().copied().chain(globals)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if known.is_empty() => "no names are known here".to_owned(),
            None => format!("known here: {}", list(&known)),
        }
    }
}

/// Names in backticks, with commas.
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut scope = Scope::new(&["state", "t"]);
        assert_eq!(scope.find("t"), Some(Binding::Root(1)));
        scope.declare("t");
        assert_eq!(scope.find("t"), Some(Binding::Local(0)));
        scope.declare("t");
        assert_eq!(scope.find("t"), Some(Binding::Local(1)));
        scope.close(0);
        assert_eq!(scope.find("t"), Some(Binding::Root(1)));
        assert_eq!(scope.slots(), 2);
    }
}
