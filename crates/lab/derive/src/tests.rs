//! What the macros write, and what they refuse.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{kinds, section};

/// What a macro says of a declaration that it refuses.
fn refusal(expand: fn(TokenStream) -> syn::Result<TokenStream>, item: TokenStream) -> String {
    expand(item).expect_err("refused").to_string()
}

/// Each fact is one call, in the order of `Key`; a key with a conditional default is read with the value of the key
/// that the condition names.
#[test]
fn a_section_is_a_list_of_keys_and_reads_them_in_order() {
    let written = section::expand(quote! {
        /// The queue of a link.
        pub struct Queue {
            /// Own law of the queue,
            /// a step or a ramp.
            #[key(default = "step", source = "RFC 9332")]
            pub native: Native,
            /// Delay beyond which packets are marked.
            #[key(default = "1 ms", when(native = "step"), unit = "time")]
            pub threshold: Option<Duration>,
            /// Name in reports.
            #[key(otherwise = "the law's")]
            pub name: Option<String>,
            /// Law of the queue behind it.
            #[key(default = { "kind": "fifo" }, unless(name))]
            pub next: Option<Law>,
        }
    });
    let wanted = quote! {
        impl crate::field::Section for Queue {
            const KEYS: &'static [crate::field::Key] = &[
                crate::field::Key::of::<Native>("native", "Own law of the queue, a step or a ramp.")
                    .default(|| serde_json::json!("step"))
                    .source("RFC 9332"),
                crate::field::Key::of::<Option<Duration> >("threshold", "Delay beyond which packets are marked.")
                    .default(|| serde_json::json!("1 ms"))
                    .when_equal("native", "step")
                    .unit("time"),
                crate::field::Key::of::<Option<String> >("name", "Name in reports.").otherwise("the law's"),
                crate::field::Key::of::<Option<Law> >("next", "Law of the queue behind it.")
                    .default(|| serde_json::json!({ "kind": "fifo" }))
                    .unless("name")
            ];

            fn read_keys(reader: &mut crate::field::Reader<'_>) -> Option<Self> {
                let native = reader.read(&Self::KEYS[0usize], None);
                let threshold =
                    reader.read(&Self::KEYS[1usize], native.as_ref().and_then(crate::field::Field::write));
                let name = reader.read(&Self::KEYS[2usize], None);
                let next = reader.read(&Self::KEYS[3usize], name.as_ref().and_then(crate::field::Field::write));
                Some(Self { native: native?, threshold: threshold?, name: name?, next: next? })
            }
            fn values(&self) -> Vec<&dyn crate::field::AnyField> {
                vec![&self.native, &self.threshold, &self.name, &self.next]
            }
        }
    };
    assert_eq!(written.expect("expanded").to_string(), wanted.to_string());
}

#[test]
fn a_declaration_that_says_too_little_or_too_much_of_a_key_is_refused() {
    let of_field = |field: TokenStream| {
        refusal(
            section::expand,
            quote! {
                struct Queue {
                    /// Law.
                    law: Law,
                    #field
                }
            },
        )
    };
    let cases = [
        (quote!(ecn: bool), "write a doc comment: users read it in the reference"),
        (
            quote!(#[doc = "Marks."] #[key(defualt = false)] ecn: bool),
            "`defualt` is no fact about a key; known: default, when, unless, otherwise, unit, source",
        ),
        (quote!(#[doc = "Marks."] #[key(unit = "s", unit = "ms")] ecn: u32), "a second `unit`"),
        (quote!(#[doc = "Marks."] #[key(default = 1, when(law), unless(law))] ecn: u32), "a second `unless`"),
        (
            quote!(#[doc = "Marks."] #[key(when(law))] ecn: Option<u32>),
            "a condition needs a default to which it belongs",
        ),
        // Keys are read from above: what stands below has no value yet.
        (
            quote!(#[doc = "Marks."] #[key(default = 1, when(late))] ecn: Option<u32>, late: bool),
            "`late` is no key above this one",
        ),
        (
            quote!(#[doc = "Marks."] #[key(default = 1, when(ecn))] ecn: Option<u32>),
            "`ecn` is no key above this one",
        ),
        (
            quote!(#[doc = "Marks."] #[key(default = 1, when(law = 3))] ecn: Option<u32>),
            "expected string literal",
        ),
    ];
    for (field, message) in cases {
        assert_eq!(of_field(field.clone()), message, "{field}");
    }
    assert_eq!(
        refusal(
            section::expand,
            quote!(
                struct Queue(u32);
            )
        ),
        "name the fields: they are the keys"
    );
    assert_eq!(
        refusal(
            section::expand,
            quote!(
                enum Queue {
                    Step,
                }
            )
        ),
        "a section is a struct; for kinds, derive `Kinds`"
    );
}

/// The literals arrive in invisible groups if a `macro_rules` macro hands them on, as `for_each_law!` does.
#[test]
fn a_kind_has_a_name_a_sentence_and_one_section() {
    let written = kinds::expand(quote! {
        enum Law {
            /// Marks above a threshold.
            #[kind("step")]
            Step(step::Keys),
        }
    });
    let text = written.expect("expanded").to_string();
    let wanted = quote! {
        crate::field::Kind::of::<step::Keys>("step", "Marks above a threshold.", |entries, mark, report| {
            <step::Keys as crate::field::Section>::read_table(entries, &["kind"], mark, report).map(Self::Step)
        })
    };
    assert!(text.contains(&wanted.to_string()), "{text}");
    assert!(
        text.contains(&quote!(Self::Step(section) => (&Self::KINDS[0usize], section.values())).to_string())
    );

    let cases = [
        (
            quote!(
                enum Law {
                    #[doc = "Marks."]
                    Step(Step),
                }
            ),
            "name the kind, as in #[kind(\"step\")]",
        ),
        (
            quote!(
                enum Law {
                    #[kind("step")]
                    Step(Step),
                }
            ),
            "write a doc comment: users read it in the reference",
        ),
        (
            quote!(
                enum Law {
                    #[kind("step")]
                    Step,
                }
            ),
            "a kind holds one section, as in `Step(Step)`",
        ),
        (
            quote!(
                struct Law {
                    step: Step,
                }
            ),
            "kinds are the variants of an enumeration",
        ),
    ];
    for (item, message) in cases {
        assert_eq!(refusal(kinds::expand, item.clone()), message, "{item}");
    }
}
