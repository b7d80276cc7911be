//! Optional features of flash, as types: code compiled for plain flash contains none of them.
//!
//! `Flash` determines its kind when it is built, and everything below is compiled for that kind.

pub(super) trait Kind {
    /// Whether suspension, blocks in SLC mode or waiting erases are possible; tested at run time.
    const HAS_EXTRAS: bool;
    /// Whether only the ends of chains have events; None: tested at run time.
    const IS_FUSED: Option<bool>;
    /// Whether every end is known when an operation is queued.
    const KNOWS_ENDS: bool = false;
}

/// The kind of a flash, of which the types below are the compiled forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlashKind {
    KnownEnds,
    PlainFused,
    PlainUnfused,
    Any,
}

/// Plain flash, each die of which has a private channel and each unit of which is a program group.
pub(super) enum KnownEnds {}

/// Plain flash, each die of which has a private channel.
pub(super) enum PlainFused {}
/// Plain flash with an event for every operation.
pub(super) enum PlainUnfused {}
/// Any flash.
pub(super) enum Any {}

impl Kind for KnownEnds {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(true);
    const KNOWS_ENDS: bool = true;
}

impl Kind for PlainFused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(true);
}

impl Kind for PlainUnfused {
    const HAS_EXTRAS: bool = false;
    const IS_FUSED: Option<bool> = Some(false);
}

impl Kind for Any {
    const HAS_EXTRAS: bool = true;
    const IS_FUSED: Option<bool> = None;
}

/// Calls a method for the kind of a flash.
macro_rules! for_kind {
    ($flash:ident . $method:ident ( $($argument:expr),* )) => {
        match $flash.kind {
            $crate::timing::flash::kind::FlashKind::KnownEnds => {
                $flash.$method::<$crate::timing::flash::kind::KnownEnds>($($argument),*)
            }
            $crate::timing::flash::kind::FlashKind::PlainFused => {
                $flash.$method::<$crate::timing::flash::kind::PlainFused>($($argument),*)
            }
            $crate::timing::flash::kind::FlashKind::PlainUnfused => {
                $flash.$method::<$crate::timing::flash::kind::PlainUnfused>($($argument),*)
            }
            $crate::timing::flash::kind::FlashKind::Any => {
                $flash.$method::<$crate::timing::flash::kind::Any>($($argument),*)
            }
        }
    };
}
pub(super) use for_kind;
