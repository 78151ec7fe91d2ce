// The server of the example in README.md, which includes this file: the client has nothing to say
// without one. The library itself does not know the server.

use eddyline_app::{App, NewFlow, NewOrganization, NewPerson};
use eddyline_http::serve::{Limits, Server, bind};

/// Serves an organization from memory until the program ends. Returns the address, and the API
/// token of a user of the flow `acme/main`.
async fn serve() -> Result<(String, String), Box<dyn std::error::Error>> {
    let store = eddyline_storage::Store::open("sqlite::memory:")?;
    let app = App::new(store, eddyline_app::Config::default()).await?;
    let background = app.start().await?;
    let token = set_up(&app).await?;
    let config = eddyline_http::Config {
        stream_prefix: Some("/stream".to_owned()),
        ..eddyline_http::Config::default()
    };
    let listener = bind(([127, 0, 0, 1], 0).into())?;
    let url = format!("http://{}", listener.local_addr()?);
    let site = eddyline_http::router(app, &config);
    tokio::spawn(async move {
        let server = Server::new(Limits::default()).listen(listener, site);
        server.run(std::future::pending()).await;
        drop(background);
    });
    Ok((url, token))
}

async fn set_up(app: &App) -> Result<String, Box<dyn std::error::Error>> {
    let operator = app.operator();
    let acme = NewOrganization {
        name: "Acme".into(),
        parameterized_name: None,
        user_limit: 50,
        parent: None,
    };
    operator.create_organization(acme).await?;
    let ada = NewPerson {
        id: None,
        organization: "acme".into(),
        email: "ada@acme.example".parse()?,
        name: "Ada Lovelace".into(),
        nick: "Ada".parse()?,
        password: None,
        admin: false,
        bot: true,
    };
    let (_, token) = operator.create_user(ada).await?;
    let main = NewFlow {
        organization: "acme".into(),
        name: "Main".parse()?,
    };
    operator.create_flow(main).await?;
    let email = "ada@acme.example".parse()?;
    operator.add_flow_user("acme", "main", &email).await?;
    Ok(token.expose().to_owned())
}
