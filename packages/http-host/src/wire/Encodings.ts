/** Negotiation of content encodings (RFC 9110 12.5.3): which form of a public document is sent. */

/** Encodings of a public document, the smallest first. */
const encodings = ["br", "gzip", "identity"] as const
export type Encoding = (typeof encodings)[number]

const weighted = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i

/**
 * The encoding that an Accept-Encoding header gives the largest weight; of equals the smallest
 * form. `identity` without a header, and where nothing is acceptable: an answer that the caller may
 * not understand helps it less than one that it did not ask for.
 */
export const preferred = (accepted: string | undefined): Encoding => {
  if (accepted === undefined) return "identity"
  const weights = new Map<string, number>()
  for (const element of accepted.split(",")) {
    const [coding = "", ...parameters] = element.split(";").map((part) => part.trim().toLowerCase())
    const written = parameters.find((parameter) => parameter.startsWith("q="))
    const [, weight] = written === undefined ? [null, "1"] : (weighted.exec(written) ?? [])
    // A weight that is none excludes its coding.
    if (coding !== "") weights.set(coding, Number(weight ?? 0))
  }
  const weightOf = (encoding: Encoding): number =>
    weights.get(encoding) ?? weights.get("*") ?? (encoding === "identity" ? leastWeight : 0)
  const [best] = encodings
    .map((encoding) => ({ encoding, weight: weightOf(encoding) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  return best?.encoding ?? "identity"
}

/** Weight of `identity` where it is not named: it is acceptable, after all that is named. */
const leastWeight = 0.0001
