/* The copy button of a console block takes the commands alone: no prompts, no output. */
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-clipboard-target]");
  const code = button && document.querySelector(button.dataset.clipboardTarget);
  if (!code || !code.closest(".language-console")) return;
  const found = code.textContent.match(/^\$ (?:.*\\\n)*.*$/gm) || [];
  button.dataset.clipboardText = found.map((line) => line.slice(2)).join("\n");
}, true);
