/** What a write would change, member by member: old, new, and whether it tightens or loosens. */
import { label } from "../words/Words.ts"
import { Value } from "./Values.tsx"

export interface Change {
  readonly term: string
  readonly from: unknown
  readonly to: unknown
  readonly direction: string | null
}

const directions: Readonly<Record<string, string>> = {
  tightens: "▲ tightens",
  loosens: "▽ loosens",
  neither: "= neither"
}

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
        {changes.map(({ direction, from, term, to }) => (
          <tr key={term}>
            <th scope="row">{label(term)}</th>
            <td>
              <Value member={term} value={from} />
            </td>
            <td>
              <Value member={term} value={to} />
            </td>
            <td>
              {direction === null ? (
                <span class="none">none</span>
              ) : (
                (directions[direction] ?? direction)
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
