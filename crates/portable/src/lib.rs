#![doc = include_str!("../README.md")]

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::quote;
use syn::{Error, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Pat, Result, parse_macro_input};

/// Makes methods of the functions of an `impl` block.
///
/// The first parameter of each function is its connection, written `c: &mut Connection`; the method
/// has `&mut self` in its place. The attribute is for the area handles of the crate
/// `eddyline-storage`: the first field of the type must be a reference to a
/// `crate::reader::Connected`.
///
/// A body is compiled outside of the `impl` block, so it must not use type parameters of the block.
/// Attributes and where clauses, of the block and of its functions, stay.
#[proc_macro_attribute]
pub fn portable(_: TokenStream, block: TokenStream) -> TokenStream {
    let block = parse_macro_input!(block as ItemImpl);
    expand(block)
        .unwrap_or_else(Error::into_compile_error)
        .into()
}

fn expand(mut block: ItemImpl) -> Result<Tokens> {
    if let Some((_, of, _)) = &block.trait_ {
        return Err(Error::new_spanned(of, "only inherent methods are portable"));
    }
    let functions = std::mem::take(&mut block.items);
    let methods = functions
        .into_iter()
        .map(method)
        .collect::<Result<Vec<_>>>()?;
    let (attributes, of, generics) = (&block.attrs, &block.self_ty, &block.generics);
    let conditions = &generics.where_clause;
    Ok(quote! {
        #(#attributes)*
        impl #generics #of #conditions { #(#methods)* }
    })
}

fn method(item: ImplItem) -> Result<Tokens> {
    let ImplItem::Fn(ImplItemFn {
        attrs,
        vis,
        mut sig,
        block,
        ..
    }) = item
    else {
        return Err(Error::new_spanned(item, "only functions are portable"));
    };
    if let (Some(_), ..) | (_, Some(_), _) | (.., Some(_)) =
        (&sig.asyncness, &sig.constness, &sig.unsafety)
    {
        return Err(Error::new_spanned(
            &sig,
            "only plain functions are portable",
        ));
    }
    let inputs: Vec<FnArg> = std::mem::take(&mut sig.inputs).into_iter().collect();
    let Some((connection, arguments)) = inputs
        .split_first()
        .and_then(|(first, rest)| Some((name(first)?, rest)))
    else {
        return Err(Error::new_spanned(
            &sig,
            "the first parameter is `c: &mut Connection`",
        ));
    };
    let names = arguments.iter().map(|argument| {
        name(argument).ok_or_else(|| Error::new_spanned(argument, "a parameter needs a name"))
    });
    let names = names.collect::<Result<Vec<_>>>()?;
    let (ident, generics, output) = (&sig.ident, &sig.generics, &sig.output);
    let conditions = &generics.where_clause;
    let arm = |variant: &str, connection_type: Tokens| {
        let variant = Ident::new(variant, Span::call_site());
        quote! {
            crate::reader::Inner::#variant(c) => {
                fn run #generics (#connection: &mut #connection_type, #(#arguments),*) #output #conditions #block
                run(c, #(#names),*)
            }
        }
    };
    let sqlite = cfg!(feature = "sqlite").then(|| arm("Sqlite", quote!(diesel::SqliteConnection)));
    let postgres =
        cfg!(feature = "postgres").then(|| arm("Postgres", quote!(diesel::PgConnection)));
    Ok(quote! {
        #(#attrs)*
        #vis fn #ident #generics (&mut self, #(#arguments),*) #output #conditions {
            match crate::reader::Connected::connection(&mut *self.0) {
                #sqlite
                #postgres
            }
        }
    })
}

fn name(argument: &FnArg) -> Option<&Pat> {
    match argument {
        FnArg::Typed(typed) if matches!(*typed.pat, Pat::Ident(_)) => Some(&typed.pat),
        FnArg::Typed(_) | FnArg::Receiver(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> std::result::Result<String, String> {
        let block = syn::parse_str(text).expect("it is an impl block");
        expand(block)
            .map(|tokens| tokens.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_body_is_compiled_for_each_database() {
        let text =
            expanded("impl Reader<'_> { pub fn one(c: &mut Connection, id: i64) -> i64 { id } }")
                .unwrap();
        assert!(
            text.contains("pub fn one (& mut self , id : i64) -> i64"),
            "{text}"
        );
        assert!(
            text.contains("fn run (c : & mut diesel :: SqliteConnection , id : i64) -> i64 { id }"),
            "{text}"
        );
        assert!(
            text.contains("fn run (c : & mut diesel :: PgConnection , id : i64) -> i64 { id }"),
            "{text}"
        );
    }

    #[test]
    fn attributes_and_where_clauses_stay() {
        let text = expanded(
            "#[cfg(all())] impl<C> Users<'_, C> where C: Access {
                /// Text.
                #[must_use]
                pub fn one<T>(c: &mut Connection, id: T) -> i64 where T: Into<i64> { id.into() }
            }",
        )
        .unwrap();
        assert!(
            text.starts_with("# [cfg (all ())] impl < C > Users < '_ , C > where C : Access {"),
            "{text}"
        );
        assert!(
            text.contains("# [doc = \" Text.\"] # [must_use] pub fn one < T > (& mut self"),
            "{text}"
        );
        let function = "(c : & mut diesel :: SqliteConnection , id : T) -> i64 where T : Into < i64 > { id . into () }";
        assert!(text.contains(function), "{text}");
        assert!(
            text.contains("(& mut self , id : T) -> i64 where T : Into < i64 > { match"),
            "{text}"
        );
    }

    #[test]
    fn what_no_method_can_be_made_of_is_an_error() {
        let error = expanded("impl Clone for Users { fn one(c: &mut Connection) {} }").unwrap_err();
        assert_eq!(error, "only inherent methods are portable");
        let error = expanded("impl Users { async fn one(c: &mut Connection) {} }").unwrap_err();
        assert_eq!(error, "only plain functions are portable");
    }

    #[test]
    fn a_function_without_a_connection_is_an_error() {
        let error = expanded("impl Reader<'_> { fn one(&mut self) {} }").unwrap_err();
        assert_eq!(error, "the first parameter is `c: &mut Connection`");
        let error = expanded("impl Reader<'_> { const ONE: i64 = 1; }").unwrap_err();
        assert_eq!(error, "only functions are portable");
    }
}
