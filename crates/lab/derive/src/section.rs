//! `#[derive(Section)]`.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result, Token};

use crate::docs;

/// What `#[key(...)]` can say.
const FACTS: &str = "default, when, unless, otherwise, unit, source";

/// What `#[key(...)]` says of a field.
#[derive(Default)]
struct Facts {
    /// Value of an absent key: the tokens of a JSON value.
    default: Option<TokenTree>,
    condition: Option<Condition>,
    otherwise: Option<LitStr>,
    unit: Option<LitStr>,
    source: Option<LitStr>,
}

/// When a default applies.
enum Condition {
    /// If a key has a value at all, or has the given one.
    When(Ident, Option<LitStr>),
    /// If a key has no value.
    Unless(Ident),
}

/// Expands the derive macro.
pub(crate) fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let section = &item.ident;
    let fields = match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => fields.named.iter().collect::<Vec<_>>(),
            other => return Err(Error::new(other.span(), "name the fields: they are the keys")),
        },
        _ => return Err(Error::new(section.span(), "a section is a struct; for kinds, derive `Kinds`")),
    };
    let names: Vec<&Ident> = fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let (mut keys, mut reads) = (Vec::new(), Vec::new());
    // Mixed-site: no field can have the name of what the macro declares.
    let reader = Ident::new("reader", Span::mixed_site());
    for (index, (field, name)) in fields.iter().zip(&names).enumerate() {
        let facts = Facts::of(field, &names[..index])?;
        keys.push(facts.key(field, name)?);
        let referred = match &facts.condition {
            Some(Condition::When(key, _) | Condition::Unless(key)) => {
                quote!(#key.as_ref().and_then(crate::field::Field::write))
            }
            None => quote!(None),
        };
        reads.push(quote!(let #name = #reader.read(&Self::KEYS[#index], #referred);));
    }
    Ok(quote! {
        impl crate::field::Section for #section {
            const KEYS: &'static [crate::field::Key] = &[#(#keys),*];

            fn read_keys(#reader: &mut crate::field::Reader<'_>) -> Option<Self> {
                #(#reads)*
                Some(Self { #(#names: #names?),* })
            }
            fn values(&self) -> Vec<&dyn crate::field::AnyField> {
                vec![#(&self.#names),*]
            }
        }
    })
}

impl Facts {
    /// Reads the attributes of a field that stands below `earlier` ones.
    fn of(field: &Field, earlier: &[&Ident]) -> Result<Self> {
        let mut facts = Self::default();
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
            attribute.parse_nested_meta(|meta| facts.add(&meta, earlier))?;
        }
        if facts.condition.is_some() && facts.default.is_none() {
            return Err(Error::new(field.span(), "a condition needs a default to which it belongs"));
        }
        Ok(facts)
    }

    fn add(&mut self, meta: &ParseNestedMeta<'_>, earlier: &[&Ident]) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        let is_new = match name.as_str() {
            "default" => self.default.replace(meta.value()?.parse()?).is_none(),
            "otherwise" => self.otherwise.replace(meta.value()?.parse()?).is_none(),
            "unit" => self.unit.replace(meta.value()?.parse()?).is_none(),
            "source" => self.source.replace(meta.value()?.parse()?).is_none(),
            "when" | "unless" => self.condition.replace(Condition::read(meta, earlier)?).is_none(),
            _ => return Err(meta.error(format!("`{name}` is no fact about a key; known: {FACTS}"))),
        };
        if is_new { Ok(()) } else { Err(meta.error(format!("a second `{name}`"))) }
    }

    /// The description of the key.
    fn key(&self, field: &Field, name: &Ident) -> Result<TokenStream> {
        let (value, key, doc) = (&field.ty, name.to_string(), docs::text(&field.attrs, field)?);
        let default = self.default.as_ref().map(|json| quote!(.default(|| serde_json::json!(#json))));
        let condition = self.condition.as_ref().map(|condition| match condition {
            Condition::When(key, None) => (quote!(when), key.to_string(), None),
            Condition::When(key, Some(value)) => (quote!(when_equal), key.to_string(), Some(value)),
            Condition::Unless(key) => (quote!(unless), key.to_string(), None),
        });
        let condition = condition.map(|(method, key, value)| {
            let value = value.map(|value| quote!(, #value));
            quote!(.#method(#key #value))
        });
        let otherwise = self.otherwise.as_ref().map(|words| quote!(.otherwise(#words)));
        let unit = self.unit.as_ref().map(|words| quote!(.unit(#words)));
        let source = self.source.as_ref().map(|words| quote!(.source(#words)));
        Ok(quote! {
            crate::field::Key::of::<#value>(#key, #doc) #default #condition #otherwise #unit #source
        })
    }
}

impl Condition {
    /// Reads `when(key)`, `when(key = "value")` or `unless(key)`.
    fn read(meta: &ParseNestedMeta<'_>, earlier: &[&Ident]) -> Result<Self> {
        let content;
        syn::parenthesized!(content in meta.input);
        let key: Ident = content.parse()?;
        if !earlier.contains(&&key) {
            return Err(Error::new(key.span(), format!("`{key}` is no key above this one")));
        }
        if meta.path.is_ident("unless") {
            return Ok(Self::Unless(key));
        }
        let value = if content.is_empty() {
            None
        } else {
            content.parse::<Token![=]>()?;
            Some(content.parse()?)
        };
        Ok(Self::When(key, value))
    }
}
