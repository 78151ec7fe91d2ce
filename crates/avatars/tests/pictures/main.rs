//! What the pictures of users promise: drawn ones, uploaded ones, and what is refused.

mod accepting;
mod drawing;
mod hostile;
mod metadata;
mod samples;
mod scaling;
