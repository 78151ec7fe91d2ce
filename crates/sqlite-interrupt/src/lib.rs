#![doc = include_str!("../README.md")]
//!
//! SQLite calls a *progress handler* while it executes a statement, on the thread that executes it,
//! and ends the statement with an error ("interrupted") when the handler says so. Diesel does not
//! expose the handle that the registration needs. SQLite itself gives it to *automatic extensions*,
//! which it calls for each connection it opens: [`install`] registers one, and that registers the
//! handler.
//!
//! This is the only crate of the workspace with unsafe code. The handler has no context pointer and
//! keeps no handle, so there is no memory whose lifetime matters: what it asks is one plain
//! function, which decides by what its own thread is doing.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use libsqlite3_sys as ffi;

/// After how many steps of SQLite's virtual machine the handler is called: some 20 µs.
const STEPS: c_int = 1000;

static SHOULD_END: OnceLock<fn() -> bool> = OnceLock::new();

/// Has every SQLite connection that this process opens from now on ask `should_end` while a
/// statement runs, on the thread that runs it. The statement ends with an error once that is
/// `true`. The first call decides; later ones change nothing.
///
/// `should_end` must not panic, which would end the process, and must not use the database.
pub fn install(should_end: fn() -> bool) {
    SHOULD_END.get_or_init(|| {
        register();
        should_end
    });
}

#[expect(unsafe_code, reason = "a call of the C library")]
fn register() {
    // SAFETY: `on_open` has the signature of an extension's entry point, is a function of this
    // program and so stays valid for as long as the process runs. The call may be made at any time
    // and from any thread.
    unsafe { ffi::sqlite3_auto_extension(Some(on_open)) };
}

#[expect(unsafe_code, reason = "a call of the C library, and called by it")]
unsafe extern "C" fn on_open(
    connection: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: SQLite passes the handle of the connection it is opening. The handler is a function
    // of this program, and takes no context.
    unsafe { ffi::sqlite3_progress_handler(connection, STEPS, Some(on_progress), ptr::null_mut()) };
    ffi::SQLITE_OK
}

#[expect(
    unsafe_code,
    reason = "called by the C library; it does nothing unsafe itself"
)]
unsafe extern "C" fn on_progress(_: *mut c_void) -> c_int {
    c_int::from(SHOULD_END.get().is_some_and(|should_end| should_end()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use diesel::prelude::*;

    use super::*;

    thread_local! {
        static END: Cell<bool> = const { Cell::new(false) };
    }

    const COUNT: &str = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000000) \
                         select 1 from n where i < 0";

    #[test]
    fn a_statement_ends_when_its_thread_says_so_and_the_connection_goes_on() {
        install(|| END.get());
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        assert!(diesel::sql_query(COUNT).execute(&mut connection).is_ok());
        END.set(true);
        let error = diesel::sql_query(COUNT)
            .execute(&mut connection)
            .unwrap_err();
        assert_eq!(error.to_string(), "interrupted");
        END.set(false);
        assert!(diesel::sql_query(COUNT).execute(&mut connection).is_ok());
    }
}
