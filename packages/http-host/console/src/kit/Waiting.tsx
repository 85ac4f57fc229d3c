/** Whose move it is, as sentences with the instant by which it is due. */
import { moveOf, type WaitingOn } from "../words/Waiting.ts"
import { Deadline } from "./Values.tsx"

export const Waiting = ({ moves }: { readonly moves: unknown }) => {
  const all = Array.isArray(moves) ? (moves as ReadonlyArray<WaitingOn>) : []
  if (all.length === 0) return <span class="none">nobody's</span>
  return (
    <ul class="moves">
      {all.map((move, at) => (
        <li key={at}>
          {moveOf(move)}
          {move.by === null ? null : (
            <>
              , by <Deadline at={move.by} />
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
