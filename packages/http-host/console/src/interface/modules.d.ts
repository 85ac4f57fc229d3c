/** Modules that the build makes of openapi.json, and stylesheets that come with a chunk. */
declare module "*.css" {}
declare module "virtual:interface" {
  const table: import("../../../scripts/console-interface.ts").InterfaceTable
  export default table
}
declare module "virtual:requests" {
  const schemas: import("../../../scripts/console-interface.ts").RequestSchemas
  export default schemas
}
