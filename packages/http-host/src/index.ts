/** The reference host: everything that serves the engine over HTTP. */
export type { Tables } from "./api/Route.ts"
export type { Tenant } from "./api/SystemApi.ts"
export { layer, type Options } from "./Host.ts"
export * as Authentication from "./middleware/Authentication.ts"
export * as Jwks from "./outbound/Jwks.ts"
export * as Readiness from "./Readiness.ts"
