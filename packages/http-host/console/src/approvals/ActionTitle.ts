/** Title of an action: what the operation does, and to which record. */
import table from "virtual:interface"
import { word } from "../words/Words.ts"

export const titleOf = (
  kind: string,
  { id, kind: resourceKind }: { readonly kind: string; readonly id: string }
): string => {
  const title = table.writes[kind]?.title
  return title === undefined ? `${word(kind)}: ${word(resourceKind)} ${id}` : `${title} · ${id}`
}
