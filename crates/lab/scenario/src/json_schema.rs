//! JSON Schema of the scenario file, generated from the declarations that also read it.

use serde_json::{Value as Json, json};
use shoal_tcp::Profile;

use crate::field::object_schema;
use crate::schema::{self, Scenario};

/// The schema (draft 2020-12): description, form and default of every key.
pub fn json_schema() -> Json {
    let mut schema = object_schema::<Scenario>();
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "shoal scenario".into();
    schema["description"] = "An experiment: flows through queues. Quantities are strings with units.".into();
    let group = &mut schema["properties"]["flows"]["items"]["properties"];
    group["cc"]["enum"] = json!(schema::cc_names());
    group["stack"]["enum"] = Profile::ALL.iter().map(|profile| profile.name).collect();
    schema
}
