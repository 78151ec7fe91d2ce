//! What an endpoint takes as the body of a request.

/// A body that is not parameters but one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBody {
    /// The types it may have; what it is without a type, its content tells.
    pub kinds: &'static [&'static str],
    /// The most bytes taken.
    pub bytes: usize,
}

/// What an endpoint takes as the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Parameters.
    Parameters,
    /// Parameters, and files beside them: as parts of a form, or as Base64 in JSON.
    Uploads,
    /// The same in the classic profile. In others a form with parts is a form like any other.
    OldUploads,
    /// A file. Credentials must stand elsewhere then.
    File(FileBody),
    /// What the handler reads itself.
    Raw,
    /// The same, of a SCIM resource.
    Resource,
}

impl BodyKind {
    /// Whether forms with parts are read.
    #[must_use]
    pub fn forms_with_parts(self) -> bool {
        matches!(self, Self::Uploads | Self::OldUploads)
    }

    /// Whether files may come with the parameters.
    #[must_use]
    pub fn files(self, is_classic: bool) -> bool {
        match self {
            Self::Uploads => true,
            Self::OldUploads => is_classic,
            Self::Parameters | Self::File(_) | Self::Raw | Self::Resource => false,
        }
    }
}
