//! `#[derive(Kinds)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Variant};

use crate::docs;

/// Expands the derive macro.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let name = &item.ident;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new(name.span(), "kinds are the variants of an enumeration"));
    };
    let (mut kinds, mut sections) = (Vec::new(), Vec::new());
    for (index, variant) in data.variants.iter().enumerate() {
        kinds.push(kind(variant)?);
        let ident = &variant.ident;
        sections.push(quote!(Self::#ident(section) => (&Self::KINDS[#index], section.values())));
    }
    Ok(quote! {
        impl crate::field::Kinds for #name {
            const KINDS: &'static [crate::field::Kind<Self>] = &[#(#kinds),*];

            fn section(&self) -> (&'static crate::field::Kind<Self>, Vec<&dyn crate::field::AnyField>) {
                use crate::field::Section;
                match self { #(#sections),* }
            }
        }

        impl crate::field::Field for #name {
            fn read(node: &crate::tree::Node, report: &mut crate::report::Report) -> Option<Self> {
                crate::field::kinds::read(node, report)
            }
            fn write(&self) -> Option<serde_json::Value> {
                Some(crate::field::kinds::write(self))
            }
            fn schema() -> serde_json::Value {
                crate::field::kinds::schema::<Self>(&[])
            }
            fn key_docs_of(kind: &str) -> Option<Vec<crate::field::KeyDoc>> {
                crate::field::kinds::key_docs_of::<Self>(kind)
            }
            fn any_amount(&self, wanted: fn(crate::quantity::Amount) -> bool) -> bool {
                crate::field::Kinds::section(self).1.iter().any(|value| value.has_amount(wanted))
            }
        }
    })
}

/// The description of one kind.
fn kind(variant: &Variant) -> Result<TokenStream> {
    let ident = &variant.ident;
    let section = match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => &fields.unnamed[0].ty,
        _ => return Err(Error::new(ident.span(), "a kind holds one section, as in `Step(Step)`")),
    };
    let Some(attribute) = variant.attrs.iter().find(|attribute| attribute.path().is_ident("kind")) else {
        return Err(Error::new(ident.span(), "name the kind, as in #[kind(\"step\")]"));
    };
    let kind: LitStr = attribute.parse_args()?;
    let doc = docs::text(&variant.attrs, variant)?;
    Ok(quote! {
        crate::field::Kind::of::<#section>(#kind, #doc, |entries, mark, report| {
            <#section as crate::field::Section>::read_table(entries, &["kind"], mark, report).map(Self::#ident)
        })
    })
}
