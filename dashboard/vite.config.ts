import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // The policy of the page allows no script and no style but files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
