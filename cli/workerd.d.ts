/** The npm package is CommonJS, exports the path of its binary, and ships no types. */
declare module "workerd" {
  const exported: { default: string };
  export default exported;
}
