/** What a program that a test starts inherits: where programs lie, and the cache of compiled code. */
export const environment = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  // Off: the daily run comes by the real clock, and so by chance, amid a test that counts runs.
  BURSAR_RECONCILIATION_AT: ""
}
