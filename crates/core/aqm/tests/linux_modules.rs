//! Scripted arrivals for the kernel modules sch_dualred, sch_coupled and sch_dualq_coupled. The decisions of the models
//! here, with the random numbers that they draw, are those that the modules must take (linux/modules/tests replays the
//! files).

#[path = "../../../../tests/vectors/check.rs"]
mod vectors;

mod linux_modules {
    mod coupled;
    mod dual_red;
    mod script;
}
