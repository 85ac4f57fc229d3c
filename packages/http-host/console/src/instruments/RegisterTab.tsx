/** Register of an instrument: who holds how much, and whether it is what the ledger has. */
import { useLocation } from "preact-iso"
import { Amount, Loaded, Recomputed, Rows } from "../kit/Sheet.tsx"
import { PartyText, State } from "../kit/Values.tsx"
import { useRead } from "../reads/Cache.ts"
import { valueRead } from "../reads/Lists.ts"
import { CsvButton } from "../record/Csv.tsx"
import { Sheet } from "../record/Page.tsx"
import { RecordLink } from "../record/RecordLink.tsx"
import { parametersOf, sameWith } from "../shell/Links.ts"
import { addsUp, isWhole, type Register, type RegisterLine } from "./Instrument.ts"

/** Lines that are drawn at once. */
const linesShown = 50

export const RegisterTab = ({ id }: { readonly id: string }) => {
  const state = useRead({
    ...valueRead("instruments.register", { instrumentId: id }),
    kinds: ["*"]
  })
  return (
    <Loaded state={state}>
      {({ value }) => <RegisterView id={id} register={value as unknown as Register} />}
    </Loaded>
  )
}

const RegisterView = ({ id, register }: { readonly id: string; readonly register: Register }) => {
  const { route, url } = useLocation()
  const { head, lines } = register
  // The party of the last line before the page, so that a link shows the same lines.
  const after = parametersOf(url).get("after")
  const from = lines.findIndex(({ party }) => party === after) + 1
  const go = (party: string | null) => route(sameWith(url, { after: party }))
  const figure = (name: string, member: keyof RegisterLine) => ({
    name,
    isFigure: true,
    draw: (line: RegisterLine) => <Amount value={line[member]} />
  })
  return (
    <>
      <Sheet
        title="Register against the ledger"
        about={
          <CsvButton
            read="instruments.register"
            params={{ instrumentId: id }}
            file={`register-${id}`}
          />
        }
      >
        <dl class="sums">
          <div>
            <dt>Units of the register</dt>
            <dd>
              <Amount value={head.totalUnits} unit="units" />
            </dd>
          </div>
          <div>
            <dt>Supply on the ledger</dt>
            <dd>
              <Amount value={head.supplyOnLedger} unit="units" />
            </dd>
          </div>
          <div>
            <dt>Difference</dt>
            <dd class={isWhole(register) ? undefined : "overdue"}>
              <Amount value={head.difference} /> {isWhole(register) ? null : "they differ"}
            </dd>
          </div>
          <div>
            <dt>Holders</dt>
            <dd>{String(head.holders)}</dd>
          </div>
        </dl>
        <p>
          Σ of the lines <Recomputed isSame={addsUp(register)} />
        </p>
      </Sheet>
      <Rows
        caption="Lines"
        order={
          lines.length > linesShown
            ? `${String(from + 1)} to ${String(from + linesShown < lines.length ? from + linesShown : lines.length)} of ${String(lines.length)}`
            : ""
        }
        cells={[
          {
            name: "Holder",
            draw: ({ holderId }) =>
              holderId === null ? (
                <span class="none">no holder of this venue</span>
              ) : (
                <RecordLink id={holderId} href={`holders/${encodeURIComponent(holderId)}`} />
              )
          },
          { name: "Party", draw: ({ party }) => <PartyText value={party} /> },
          figure("Units", "units"),
          figure("Locked", "locked"),
          figure("Pending in", "pendingIn"),
          figure("Pending out", "pendingOut"),
          figure("Share", "share"),
          {
            name: "Admission",
            draw: ({ admissionState }) =>
              admissionState === null ? (
                <span class="none">none</span>
              ) : (
                <State value={admissionState} />
              )
          },
          { name: "Since", draw: ({ since }) => since }
        ]}
        rows={lines.slice(from, from + linesShown)}
        empty="Nobody holds a unit."
      />
      {lines.length > linesShown ? (
        <nav class="turn" aria-label="Pages of the lines">
          {from === 0 ? null : (
            <button type="button" onClick={() => go(null)}>
              First page
            </button>
          )}
          {from + linesShown >= lines.length ? null : (
            <button type="button" onClick={() => go(lines[from + linesShown - 1]?.party ?? null)}>
              Next
            </button>
          )}
        </nav>
      ) : null}
    </>
  )
}
