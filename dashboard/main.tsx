import { render } from "preact";
import "@picocss/pico/css/pico.min.css";
import "./style.css";
import { Dashboard } from "./dashboard.tsx";

const root = document.getElementById("app");
if (root !== null) render(<Dashboard />, root);
