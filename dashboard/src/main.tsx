import { render } from "preact";
import { Frame } from "./frame";

const root = document.getElementById("app");
if (root) {
  root.textContent = "";
  render(<Frame />, root);
}
