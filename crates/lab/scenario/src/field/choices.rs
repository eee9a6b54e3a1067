//! Names for the values of an enumeration.

/// Names for the values of an enumeration, which is declared here or elsewhere.
macro_rules! choices {
    ($type:ty { $($name:literal => $variant:path,)+ }) => {
        impl $crate::field::Field for $type {
            fn read(node: &$crate::tree::Node, report: &mut $crate::report::Report) -> Option<Self> {
                $crate::field::choice(node, "value", &[$(($name, $variant)),+], report)
            }
            fn write(&self) -> Option<serde_json::Value> {
                match self { $($variant => Some($name.into()),)+ }
            }
            fn schema() -> serde_json::Value {
                serde_json::json!({ "enum": [$($name),+] })
            }
        }
    };
}

pub(crate) use choices;
