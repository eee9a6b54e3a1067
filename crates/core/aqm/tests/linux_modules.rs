//! Scripted arrivals for the kernel modules sch_dualred, sch_coupled and sch_dualq_coupled: what the models here do with them,
//! random numbers included, is what the modules must do (linux/modules/tests replays the files).

#[path = "../../../../tests/vectors/check.rs"]
mod vectors;

mod linux_modules {
    mod coupled;
    mod dual_red;
    mod script;
}
