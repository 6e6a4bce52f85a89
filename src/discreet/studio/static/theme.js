// Before anything is drawn: the chosen look, so that a dark page never flashes white.
(() => {
  const chosen = localStorage.getItem("discreet-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
