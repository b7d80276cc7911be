//! How often data is updated, learned from its age when it is overwritten: without knowledge of the workload, and
//! without memory for each unit.
//!
//! Class 0 is the hottest. Under uniform writes the mean age of an overwritten unit is U host units, so the borders
//! between classes are U times powers of four around 1. One interval carries little information (it is exponentially
//! distributed), so data moves by at most one class at a time, starting from the class of its erase unit.

use super::Resident;
use crate::error::SpecificationError;

pub struct Classes {
    /// Ages below `borders[c]` belong to class c or hotter.
    borders: Vec<u64>,
}

impl Classes {
    pub fn new(key: &str, classes: u8, user_units: u32, classes_max: usize) -> Result<Self, SpecificationError> {
        if !(2..=classes_max).contains(&usize::from(classes)) {
            return Err(SpecificationError::new(key, classes, format!("a whole number from 2 to {classes_max}")));
        }
        let middle = (f64::from(classes) - 2.0) / 2.0;
        let border = |class: u8| f64::from(user_units) * 4f64.powf(f64::from(class) - middle);
        Ok(Self { borders: (0..classes - 1).map(|class| border(class) as u64).collect() })
    }

    pub fn count(&self) -> u8 {
        self.borders.len() as u8 + 1
    }

    pub fn name(&self, class: u8) -> String {
        match class {
            0 => "hottest".into(),
            last if last == self.coldest() => "coldest".into(),
            class => format!("class {}", class + 1),
        }
    }

    pub fn coldest(&self) -> u8 {
        self.borders.len() as u8
    }

    /// The class of data that was overwritten at the age `age`.
    #[inline]
    pub fn after_update(&self, class: u8, age: u64) -> u8 {
        let seen = self.class_of(age);
        class - u8::from(seen < class) + u8::from(seen > class)
    }

    /// The class of data that was still live at the age `age`: it can only be colder than assumed.
    pub fn after_survival(&self, class: u8, resident: Resident) -> u8 {
        class + u8::from(self.class_of(resident.age) > class)
    }

    #[inline]
    fn class_of(&self, age: u64) -> u8 {
        self.borders.iter().map(|&border| u8::from(age >= border)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::StreamId;

    #[test]
    fn borders_lie_around_the_uniform_interval_and_moves_are_single_steps() {
        let classes = Classes::new("frontiers", 4, 1000, 16).unwrap();
        assert_eq!(classes.borders, [250, 1000, 4000]);
        assert_eq!(classes.after_update(3, 10), 2);
        assert_eq!(classes.after_update(0, 10), 0);
        assert_eq!(classes.after_update(1, 100_000), 2);
        let old = Resident { stream: StreamId(1), age: 5000 };
        let young = Resident { stream: StreamId(1), age: 5 };
        assert_eq!((classes.after_survival(1, old), classes.after_survival(1, young)), (2, 1));
    }

    #[test]
    fn one_class_is_refused() {
        assert!(Classes::new("frontiers", 1, 1000, 16).is_err());
    }
}
