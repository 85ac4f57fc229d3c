/** Kinds of records whose events make a read stale. */

/** Any event. */
const any = ["*"] as const

/**
 * Reads that show records of few kinds, by the noun of their name. Every other read is stale after any event:
 * a record's state follows from prices, holds, lines, runs and facts of the ledger besides its own events.
 */
const narrow: Readonly<Record<string, ReadonlyArray<string>>> = {
  webhooks: ["webhook", "operation"],
  "external-accounts": ["external-account", "operation"],
  restrictions: ["restriction", "holder", "operation"]
}

export const kindsOf = (name: string): ReadonlyArray<string> => {
  const [noun = ""] = name.split(".")
  return Object.hasOwn(narrow, noun) ? (narrow[noun] ?? any) : any
}
