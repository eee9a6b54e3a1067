#![doc = include_str!("../README.md")]

mod docs;
mod kinds;
mod section;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Declares the keys of a table: one a field, described by the field's doc comment and by `#[key(...)]`.
///
/// - `default = VALUE`: value of an absent key, as JSON; `when(KEY)`, `when(KEY = "value")` and `unless(KEY)` restrict
///   it to tables in which a key above this one has a value, has that value, or has none;
/// - `otherwise = "..."`: what an absent key without a fixed value means, in words;
/// - `unit = "..."`: what a number counts, if the type does not say it;
/// - `source = "..."`: where the law has the key from.
#[proc_macro_derive(Section, attributes(key))]
pub fn section(item: TokenStream) -> TokenStream {
    section::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Declares the kinds of a table: one a variant, which holds a section and is named by `#[kind("name")]`.
#[proc_macro_derive(Kinds, attributes(kind))]
pub fn kinds(item: TokenStream) -> TokenStream {
    kinds::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
