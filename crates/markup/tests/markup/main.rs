//! What comes out of the sanitiser, seen with the eyes of a browser.

mod hostile;
mod judge;
mod ordinary;
mod size;
