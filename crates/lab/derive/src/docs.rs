//! Doc comments as text.

use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Lit, Meta, Result};

/// The doc comment among `attributes` as one line; an error at `item` if there is none.
pub(crate) fn text(attributes: &[Attribute], item: &impl Spanned) -> Result<String> {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => literal(&doc.value),
        _ => None,
    });
    let text = lines.collect::<String>().trim().to_owned();
    if text.is_empty() {
        return Err(Error::new(item.span(), "write a doc comment: users read it in the reference"));
    }
    Ok(text)
}

/// A literal string, also if a `macro_rules` macro has handed it on.
fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}
