/** What a write would change, member by member: old, new, and whether it tightens or loosens. */
import { label } from "../words/Words.ts"
import { Value } from "./Values.tsx"

export interface Change {
  /** The member, as a JSON pointer. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
  /** Null: the member has no order. */
  readonly direction: string | null
}

const directions: Readonly<Record<string, string>> = {
  tighten: "▲ tightens",
  loosen: "▽ loosens"
}

const lastName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

export const ChangeList = ({ changes }: { readonly changes: ReadonlyArray<Change> }) => (
  <div class="scroll">
    <table class="changes">
      <caption>What changes</caption>
      <thead>
        <tr>
          <th scope="col">Member</th>
          <th scope="col">Old</th>
          <th scope="col">New</th>
          <th scope="col">Direction</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ direction, from, path, to }, at) => (
          // A term that changes at two instants has two rows.
          <tr key={at}>
            <th scope="row">{label(path)}</th>
            <td>
              <Value member={lastName(path)} value={from} />
            </td>
            <td>
              <Value member={lastName(path)} value={to} />
            </td>
            <td>{direction === null ? "= neither" : (directions[direction] ?? direction)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
