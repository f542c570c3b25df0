// What the theme leaves without a name, or out of the keyboard's reach.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
for (const toggle of document.querySelectorAll(".md-toggle"))
  toggle.setAttribute("aria-label", `Open the ${toggle.dataset.mdToggle}`);
document$.subscribe(() => {
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
});
