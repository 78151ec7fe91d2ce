//! What the highlighter knows of programming languages: where comments and strings begin and end,
//! and which words are keywords. That much tells most of a short piece of code apart, and takes one
//! pass over it. Grammars of editors (syntect, tree-sitter) tell more, but took 5 ms for each KiB
//! or a C compiler and megabytes of tables when they were tried.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A text between quotation marks.
#[derive(Clone, Copy)]
pub(super) struct Quotes {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) spans: Spans,
}

/// How far a string can reach.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spans {
    /// One character or escape, as the apostrophes of Rust, which begin lifetimes, too.
    Char,
    Line,
    Lines,
}

/// What a word or a string before a sign means in a language of data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeySign {
    None,
    /// `key: value`
    Colon,
    /// `key = value`
    Equals,
}

/// The rules by which the highlighter finds the parts of a language's code.
#[derive(Clone, Copy)]
pub(super) struct Syntax {
    /// As they stand behind a fence, in lower case.
    names: &'static str,
    keywords: &'static str,
    /// Whether keywords may be written in capitals.
    pub(super) ignores_case: bool,
    pub(super) line_comment: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    pub(super) strings: &'static [Quotes],
    pub(super) keys: KeySign,
    pub(super) form: SyntaxForm,
}

/// How the text of a language is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxForm {
    Words,
    /// Elements with attributes.
    Tags,
    /// Lines that were added and removed.
    Diff,
}

/// A language with its keywords ready to be looked up.
pub(super) struct CodeLanguage {
    pub(super) syntax: Syntax,
    keywords: HashSet<&'static str>,
}

impl CodeLanguage {
    /// The language with a name, as it stands behind a fence.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let at = *NAMES.get(name.to_ascii_lowercase().as_str())?;
        LANGUAGES.get(at)
    }

    pub(super) fn has_keyword(&self, word: &str) -> bool {
        if self.syntax.ignores_case {
            self.keywords.contains(word.to_ascii_lowercase().as_str())
        } else {
            self.keywords.contains(word)
        }
    }
}

static LANGUAGES: LazyLock<Vec<CodeLanguage>> = LazyLock::new(|| {
    let language = |syntax: &Syntax| CodeLanguage {
        syntax: *syntax,
        keywords: syntax.keywords.split_ascii_whitespace().collect(),
    };
    SYNTAXES.iter().map(language).collect()
});

static NAMES: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let names = |(at, syntax): (usize, &Syntax)| {
        let names = syntax.names.split_ascii_whitespace();
        names.map(move |name| (name, at))
    };
    SYNTAXES.iter().enumerate().flat_map(names).collect()
});

const fn quotes(mark: &'static str, spans: Spans) -> Quotes {
    Quotes {
        open: mark,
        close: mark,
        spans,
    }
}

const DOUBLE: Quotes = quotes("\"", Spans::Line);
const SINGLE: Quotes = quotes("'", Spans::Line);
const DOUBLE_LINES: Quotes = quotes("\"", Spans::Lines);
const SINGLE_LINES: Quotes = quotes("'", Spans::Lines);
const TRIPLE: Quotes = quotes("\"\"\"", Spans::Lines);
const TRIPLE_SINGLE: Quotes = quotes("'''", Spans::Lines);
const TEMPLATE: Quotes = quotes("`", Spans::Lines);
const CHARACTER: Quotes = quotes("'", Spans::Char);
const RAW: Quotes = Quotes {
    open: "r#\"",
    close: "\"#",
    spans: Spans::Lines,
};

/// A language like C, to begin with.
const BRACES: Syntax = Syntax {
    names: "",
    keywords: "",
    ignores_case: false,
    line_comment: &["//"],
    block_comment: Some(("/*", "*/")),
    strings: &[DOUBLE, SINGLE],
    keys: KeySign::None,
    form: SyntaxForm::Words,
};
/// A language like that of a shell, to begin with.
const HASHES: Syntax = Syntax {
    line_comment: &["#"],
    block_comment: None,
    ..BRACES
};

const SYNTAXES: &[Syntax] = &[
    Syntax {
        names: "rust rs",
        keywords: "as async await box break const continue crate dyn else enum extern false fn for \
                   if impl in let loop match mod move mut pub ref return self Self static struct \
                   super trait true type union unsafe use where while yield",
        strings: &[RAW, DOUBLE_LINES, CHARACTER],
        ..BRACES
    },
    Syntax {
        names: "javascript js jsx mjs cjs typescript ts tsx",
        keywords: "abstract any as async await boolean break case catch class const continue debugger \
                   declare default delete do else enum export extends false finally for from \
                   function get if implements import in instanceof interface keyof let namespace new \
                   null number of private protected public readonly return satisfies set static \
                   string super switch this throw true try type typeof undefined unknown var void \
                   while with yield",
        strings: &[DOUBLE, SINGLE, TEMPLATE],
        ..BRACES
    },
    Syntax {
        names: "python py python3",
        keywords: "and as assert async await break case class continue def del elif else except \
                   False finally for from global if import in is lambda match None nonlocal not or \
                   pass raise return self True try while with yield",
        strings: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        ..HASHES
    },
    Syntax {
        names: "ruby rb",
        keywords: "alias and begin break case class def defined? do else elsif end ensure false for \
                   if in module next nil not or private raise redo require rescue retry return self \
                   super then true undef unless until when while yield",
        ..HASHES
    },
    Syntax {
        names: "go golang",
        keywords: "any bool break byte case chan const continue default defer else error fallthrough \
                   false for func go goto if import int interface map nil package range return \
                   select string struct switch true type var",
        strings: &[DOUBLE, SINGLE, TEMPLATE],
        ..BRACES
    },
    Syntax {
        names: "java",
        keywords: "abstract assert boolean break byte case catch char class const continue default \
                   do double else enum extends false final finally float for if implements import \
                   instanceof int interface long new null package private protected public record \
                   return short static super switch synchronized this throw throws true try var void \
                   volatile while yield",
        strings: &[TRIPLE, DOUBLE, SINGLE],
        ..BRACES
    },
    Syntax {
        names: "kotlin kt kts scala",
        keywords: "abstract as break by case catch class companion const continue data def do else \
                   enum extends false final finally for fun given if implicit import in init inner \
                   interface internal is lateinit lazy match new null object open operator override \
                   package private protected public return sealed super suspend then this throw \
                   trait true try type using val var when while with yield",
        strings: &[TRIPLE, DOUBLE, SINGLE],
        ..BRACES
    },
    Syntax {
        names: "swift",
        keywords: "actor as associatedtype async await break case catch class continue default defer \
                   deinit do else enum extension fallthrough false fileprivate for func guard if \
                   import in init inout internal is let nil open operator override private protocol \
                   public repeat rethrows return self Self some static struct subscript super switch \
                   throw throws true try typealias var where while",
        strings: &[TRIPLE, DOUBLE],
        ..BRACES
    },
    Syntax {
        names: "c h cpp c++ cc cxx hpp objc zig",
        keywords: "alignas alignof auto bool break case catch char class comptime const constexpr \
                   continue decltype default defer define delete do double else endif enum errdefer \
                   explicit extern false float fn for friend goto if ifdef ifndef include inline int \
                   long mutable namespace new noexcept NULL nullptr operator override pragma private \
                   protected pub public register return short signed sizeof static static_cast \
                   struct switch template this throw true try typedef typename union unsigned using \
                   var virtual void volatile while",
        ..BRACES
    },
    Syntax {
        names: "csharp cs c# dart",
        keywords: "abstract as async await base bool break byte case catch char class const continue \
                   decimal default delegate do double else enum event extends external false final \
                   finally float for foreach get if implements import in int interface internal is \
                   late lock long mixin namespace new null object out override params private \
                   protected public readonly record ref required return sealed set short static \
                   string struct super switch this throw true try typeof using var virtual void \
                   where while with yield",
        ..BRACES
    },
    Syntax {
        names: "php",
        keywords: "abstract and array as break case catch class clone const continue declare default \
                   do echo else elseif empty enum extends false final finally fn for foreach function \
                   global if implements include instanceof interface isset match namespace new null \
                   or private protected public readonly require return static switch this throw \
                   trait true try unset use var while yield",
        line_comment: &["//", "#"],
        ..BRACES
    },
    Syntax {
        names: "shell sh bash zsh fish console",
        keywords: "alias break case cd continue do done echo elif else esac eval exec exit export fi \
                   for function if in local read readonly return set shift source sudo then trap \
                   unset until while",
        strings: &[DOUBLE_LINES, SINGLE_LINES],
        ..HASHES
    },
    Syntax {
        names: "sql postgres postgresql mysql sqlite plpgsql",
        keywords: "add all alter and any as asc begin between by case cast check collate column \
                   commit conflict constraint create cross declare default delete desc distinct do \
                   drop else end except exists explain false foreign from full function grant group \
                   having if in index inner insert intersect into is join key lateral left like \
                   limit materialized natural not nothing null offset on or order outer over \
                   partition primary references returning right rollback select set table temporary \
                   then transaction trigger true union unique update using values view when where \
                   with",
        ignores_case: true,
        line_comment: &["--"],
        ..BRACES
    },
    Syntax {
        names: "json jsonc json5",
        keywords: "true false null",
        strings: &[DOUBLE],
        keys: KeySign::Colon,
        ..BRACES
    },
    Syntax {
        names: "yaml yml",
        keywords: "true false null yes no on off",
        keys: KeySign::Colon,
        ..HASHES
    },
    Syntax {
        names: "toml ini conf cfg properties env nix",
        keywords: "true false let in with rec inherit import null",
        strings: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        line_comment: &["#", ";"],
        keys: KeySign::Equals,
        ..HASHES
    },
    Syntax {
        names: "css scss less",
        keywords: "important media supports layer import keyframes container",
        keys: KeySign::Colon,
        line_comment: &[],
        ..BRACES
    },
    Syntax {
        names: "html xml svg xhtml vue svelte",
        line_comment: &[],
        block_comment: Some(("<!--", "-->")),
        form: SyntaxForm::Tags,
        ..BRACES
    },
    Syntax {
        names: "diff patch",
        form: SyntaxForm::Diff,
        ..HASHES
    },
    Syntax {
        names: "dockerfile docker containerfile makefile make",
        keywords: "ADD ARG AS CMD COPY define else endef endif ENTRYPOINT ENV EXPOSE export FROM \
                   HEALTHCHECK ifdef ifeq ifndef ifneq include LABEL ONBUILD override RUN SHELL \
                   STOPSIGNAL USER VOLUME WORKDIR",
        ..HASHES
    },
    Syntax {
        names: "lua",
        keywords: "and break do else elseif end false for function goto if in local nil not or \
                   repeat return then true until while",
        line_comment: &["--"],
        block_comment: Some(("--[[", "]]")),
        ..BRACES
    },
    Syntax {
        names: "haskell hs elm",
        keywords: "as case class data deriving do else exposing foreign forall hiding if import in \
                   infix infixl infixr instance let module newtype of port qualified then type where",
        line_comment: &["--"],
        block_comment: Some(("{-", "-}")),
        strings: &[TRIPLE, DOUBLE, CHARACTER],
        ..BRACES
    },
    Syntax {
        names: "elixir ex exs erlang",
        keywords: "after alias and case catch cond def defimpl defmodule defmacro defp defprotocol \
                   defstruct do else end false fn for if import in nil not or quote raise receive \
                   require rescue true try unless unquote use when with",
        strings: &[TRIPLE, DOUBLE, SINGLE],
        ..HASHES
    },
    Syntax {
        names: "perl pl r powershell ps1 graphql gql terraform tf hcl",
        keywords: "break continue data do else elsif enum extends FALSE for foreach fragment function \
                   if implements in input interface last library local module my mutation next our \
                   output param package provider query resource return scalar schema sub \
                   subscription then TRUE true type union unless until use variable while false null",
        ..HASHES
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_language() {
        let names = SYNTAXES
            .iter()
            .flat_map(|syntax| syntax.names.split_ascii_whitespace());
        assert_eq!(names.count(), NAMES.len());
        assert!(CodeLanguage::named("Rust").is_some_and(|rust| rust.has_keyword("fn")));
        assert!(CodeLanguage::named("SQL").is_some_and(|sql| sql.has_keyword("Select")));
        assert!(CodeLanguage::named("klingon").is_none());
    }
}
