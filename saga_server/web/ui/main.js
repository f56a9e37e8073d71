import { html, render } from "./lib/dom.js";
import { follow } from "./lib/live.js";
import { Shell } from "./parts/shell.js";

render(html`<${Shell} />`, document.getElementById("app"));
follow();
