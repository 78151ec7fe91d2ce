/* The filter of the reference of the API: it hides what does not have the words, and opens what a link names. */
{
  const field = document.querySelector("[data-filter]");
  const input = field.querySelector("input");
  const found = field.querySelector("[data-found]");
  const articles = [...document.querySelectorAll("[data-operation]")];
  const texts = articles.map((article) => article.textContent.toLowerCase());

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    articles.forEach((article, at) => {
      article.hidden = !words.every((word) => texts[at].includes(word));
      if (!article.hidden) count += 1;
    });
    for (const section of document.querySelectorAll("main section")) {
      section.hidden = !section.querySelector("[data-operation]:not([hidden])");
    }
    found.textContent = words.length ? `${count} of ${articles.length}` : "";
  };

  const open = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = named?.closest("[data-operation]")?.querySelector("details");
    if (details) details.open = true;
  };

  field.hidden = false;
  input.addEventListener("input", filter);
  window.addEventListener("hashchange", open);
  open();
}
