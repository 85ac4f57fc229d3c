/**
 * Law of every played story: a write is refused by what it declares alone, by a slug of its kind and a
 * condition of its kind.
 */
import { CallRefusals, Catalogue } from "@bursar/engine-core"

/** Slugs whose `check` is a row of the table of conditions; others name a set of states, or the ledger's code. */
const byCondition: ReadonlySet<string> = new Set(["rule-refused", "already-exists"])

/** Breaches of the law by a refusal of a write of a kind; a kind that the catalogue lacks declares nothing here. */
export const undeclared = (
  kind: string,
  refusal: { readonly slug: string; readonly check?: string | null | undefined }
): ReadonlyArray<string> => {
  const operation = Catalogue.operations.find((declared) => declared.kind === kind)
  if (operation === undefined) return []
  const { check = null, slug } = refusal
  const slugs: ReadonlySet<string> = CallRefusals.slugsOf(operation)
  const isNamed =
    check === null || !byCondition.has(slug) || CallRefusals.conditionsOf(operation).includes(check)
  return [
    ...(slugs.has(slug) ? [] : [`${kind} is refused with ${slug}, which it does not declare`]),
    ...(isNamed ? [] : [`${kind} is refused by ${check}, which is none of its conditions`])
  ]
}
