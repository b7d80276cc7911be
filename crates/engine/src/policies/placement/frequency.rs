//! How often data is updated, learned from its age when it is overwritten: without knowledge of the workload, and
//! without memory for each unit.
//!
//! Class 0 is the hottest. Under uniform writes the mean age of an overwritten unit is U host units, so the borders
//! between classes are U times powers of four around 1. One interval carries little information (it is exponentially
//! distributed), so data moves by at most one class at a time, starting from the class of its erase unit.
//!
//! A real controller knows less than this, for example only a filter of recent addresses. An error share assigns that
//! share of the host's writes to one of the other classes. It is drawn by a hash of the address and the age, so that
//! the policy has no state.

use super::Resident;
use crate::error::SpecificationError;
use crate::random::{mix, scale};
use crate::units::Lpn;

pub struct Classes {
    /// Ages below `borders[c]` belong to class c or hotter.
    borders: Vec<u64>,
    /// Of 2^64 writes, how many are assigned to another class.
    errors: u64,
}

impl Classes {
    pub fn new(key: &str, classes: u8, user_units: u32, classes_max: usize) -> Result<Self, SpecificationError> {
        if !(2..=classes_max).contains(&usize::from(classes)) {
            return Err(SpecificationError::new(key, classes, format!("a whole number from 2 to {classes_max}")));
        }
        let middle = (f64::from(classes) - 2.0) / 2.0;
        let border = |class: u8| f64::from(user_units) * 4f64.powf(f64::from(class) - middle);
        Ok(Self { borders: (0..classes - 1).map(|class| border(class) as u64).collect(), errors: 0 })
    }

    /// Assigns a share of the writes to one of the other classes, each equally often.
    pub fn with_errors(self, key: &str, share: f64) -> Result<Self, SpecificationError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(SpecificationError::new(key, share, "a share from 0 to 1"));
        }
        Ok(Self { errors: (share * 2f64.powi(64)) as u64, ..self })
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

    /// The class to which the host's write of a unit is assigned, by the data that it overwrites.
    #[inline(always)]
    pub fn of_write(&self, lpn: Lpn, overwritten: Option<Resident>) -> u8 {
        let (class, age) = match overwritten {
            Some(old) => (self.after_update(old.stream.0, old.age), old.age),
            None => (self.coldest(), 0),
        };
        if self.errors == 0 { class } else { self.with_error(class, lpn, age) }
    }

    #[cold]
    fn with_error(&self, class: u8, lpn: Lpn, age: u64) -> u8 {
        let bits = mix(mix(u64::from(lpn.0)).wrapping_add(age));
        if bits >= self.errors {
            return class;
        }
        let other = scale(mix(bits), self.borders.len() as u64).0 as u8;
        other + u8::from(other >= class)
    }

    /// The class of data that was overwritten at the age `age`.
    #[inline]
    fn after_update(&self, class: u8, age: u64) -> u8 {
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

    /// The shares of classes to which 100,000 writes to different addresses are assigned.
    fn shares(classes: &Classes, overwritten: impl Fn(u32) -> Option<Resident>) -> Vec<f64> {
        let mut shares = vec![0.0; usize::from(classes.count())];
        for lpn in 0..100_000 {
            shares[usize::from(classes.of_write(Lpn(lpn), overwritten(lpn)))] += 1e-5;
        }
        shares
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        // Four standard deviations of a share of 100,000.
        let differs = |(found, expected): (&f64, &f64)| (found - expected).abs() > 4.0 * (expected / 1e5).sqrt();
        assert!(!found.iter().zip(expected).any(differs), "{found:?}, not {expected:?}");
    }

    #[test]
    fn a_share_of_the_writes_goes_to_the_other_classes_equally() {
        let with_errors = |share| Classes::new("frontiers", 4, 1000, 16).unwrap().with_errors("error_share", share);
        let old = |lpn| Some(Resident { stream: StreamId(1), age: 500 + u64::from(lpn % 100) });
        assert_near(&shares(&with_errors(0.3).unwrap(), old), &[0.1, 0.7, 0.1, 0.1]);
        assert_near(&shares(&with_errors(0.3).unwrap(), |_| None), &[0.1, 0.1, 0.1, 0.7]);
        assert_near(&shares(&with_errors(0.75).unwrap(), old), &[0.25; 4]);
        assert_near(&shares(&with_errors(1.0).unwrap(), old), &[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert_near(&shares(&with_errors(0.0).unwrap(), |_| None), &[0.0, 0.0, 0.0, 1.0]);
        assert!(with_errors(-0.1).is_err() && with_errors(1.1).is_err() && with_errors(f64::NAN).is_err());
    }

    /// Of two classes an error is corrected at the next update, so the hot writes in the cold class are the errors.
    #[test]
    fn of_two_classes_as_much_is_in_the_wrong_one_as_there_are_errors() {
        let classes = Classes::new("classes", 2, 1000, 16).unwrap().with_errors("error_share", 0.2).unwrap();
        let mut stream = [0; 100];
        let mut wrong = 0;
        for write in 0..100_000_usize {
            let old = Resident { stream: StreamId(stream[write % 100]), age: 50 + write as u64 % 7 };
            stream[write % 100] = classes.of_write(Lpn(write as u32 % 100 + 1000 * (write as u32 / 700)), Some(old));
            wrong += u32::from(stream[write % 100] == 1);
        }
        assert_near(&[f64::from(wrong) / 1e5], &[0.2]);
    }
}
