/** workerd compiles an imported .wasm file at start; the import is the module. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
