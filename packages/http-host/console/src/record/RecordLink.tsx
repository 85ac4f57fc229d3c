/** Id of a record, as a link where the person may open its page. */
import { IdLink } from "../kit/Values.tsx"
import { mayRead } from "../reads/Lists.ts"
import * as Session from "../shell/Session.ts"
import { mayOpen } from "./Open.ts"

export const RecordLink = ({ href, id }: { readonly id: string; readonly href: string | null }) => {
  const roles = Session.person.value?.roles ?? []
  const isOpen = href !== null && mayOpen(href, (read) => mayRead(read, roles))
  return <IdLink id={id} href={isOpen ? href : null} />
}
