/**
 * Environment of a program that a test starts: the path of programs, and the cache of compiled
 * code.
 */
export const environment = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"]
}

/** Settings of a host that a test starts: the daily run would come by the real clock, by chance. */
export const hostEnvironment = { ...environment, BURSAR_RECONCILIATION_AT: "" }
