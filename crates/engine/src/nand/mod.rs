//! The flash: geometry, wear of blocks, faults.

pub mod array;
pub mod geometry;
pub mod occupancy;

pub use array::{Array, Erased};
pub use geometry::Geometry;
