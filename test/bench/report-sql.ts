/**
 * Hand-written SQL of the reports of a holder: what the engine's answers state, read from the same
 * tables, computed where a statement computes it, and shaped to be printed.
 */

/** Last offset before the instant of a parameter. */
const before = (instant: string): string => `(
  select u."offset" from bursar.ledger_update u where u.ledger_time < ${instant}
  order by u.ledger_time desc, u."offset" desc limit 1)`

const holder = `holder as materialized (
  select record_id as id, body::jsonb as b, body::json ->> 'party' as party from bursar.document
  where collection = 'holder' and record_id = $1 and to_offset is null)`

/** Look-up of the open version of a record by its id, by its primary key whatever the planner counts. */
const open = (collection: string, id: string): string => `
  (select d.body from bursar.document d where d.collection = '${collection}' and d.to_offset is null
   and d.record_id = ${id} offset 0)`

/** Positions with price, value, cost and restriction. Parameter: the holder's id. */
export const portfolio = `
with ${holder}
select i.record_id as "instrumentId", e.units, e.locked, q.price, q."valuationTime" as "priceAt",
  trunc(e.units::numeric * q.price::numeric, 2)::text as value, l.cost, null as accrued,
  i.m ->> 'currency' as currency,
  exists (select from bursar.document r where r.collection = 'restriction' and r.to_offset is null
    and r.filters ->> 'holderId' = $1) as restricted
from holder
cross join lateral (
  select d.record_id, b."instrumentId" as id, b.units, b.locked
  from bursar.document d
  cross join lateral json_to_record(d.body::json) as b("instrumentId" text, units text, locked text)
  where d.collection = 'register-entry' and d.to_offset is null
  and d.filters ->> 'party' = holder.party offset 0) e
cross join lateral (select e.id as record_id, d.body::json -> 'manifest' as m
  from ${open("instrument", "e.id")} d) i
left join lateral (select b.* from ${open("quote", "i.m ->> 'oracle' || '/' || e.id")} d
  cross join lateral json_to_record(d.body::json) as b(price text, "valuationTime" text)) q on true
cross join lateral (select sum((d.body::json ->> 'costLeft')::numeric)::text as cost
  from bursar.document d where d.collection = 'lot' and d.to_offset is null
  and d.filters ->> 'entry' = e.record_id collate "default") l
order by 1`

/**
 * Opening, closing, price, value and payments of each instrument in a month, and the ledger's time that
 * makes it final. Parameters: the holder's id, the first instant of the month and that after it.
 */
export const month = `
with ${holder},
ends as materialized (select ${before("$2")} as opens, ${before("$3")} as closes)
select e.id as "instrumentId", coalesce(opening.units, '0') as opening, closing.units as closing,
  p.price, p.at as "priceAt", trunc(closing.units::numeric * p.price::numeric, 2)::text as value,
  i.m ->> 'currency' as currency, v.payout, h.ledger_time,
  (select coalesce(json_agg(json_build_object('distributionId', l.b -> 'distributionId',
      'lineId', l.b -> 'lineId', 'month', l.b -> 'month', 'paidOn', l.b -> 'paidOn',
      'gross', l.b -> 'gross', 'equalisation', l.b -> 'equalisation', 'withheld', l.b -> 'withheld',
      'net', l.b -> 'net', 'payoutUnits', l.b -> 'payoutUnits')), '[]')
    from generate_series(-1, 2) n cross join lateral (
      select d.body::json as b from bursar.document d
      where d.collection = 'distribution-line' and d.to_offset is null and d.filters ->> 'paidIn' =
        $1 || ' ' || to_char($2::timestamptz at time zone 'UTC' + n * interval '1 month', 'YYYY-MM')
      offset 0) l
    where l.b ->> 'instrumentId' = e.id) as paid
from holder cross join ends cross join bursar.head h
cross join lateral (
  select distinct d.record_id, d.body::json ->> 'instrumentId' as id from bursar.document d
  where d.collection = 'register-entry' and d.to_offset is null
  and d.filters ->> 'party' = holder.party) e
cross join lateral (select d.body::json -> 'manifest' as m from ${open("instrument", "e.id")} d) i
left join lateral (select d.body::json ->> 'units' as units from bursar.document d
  where d.collection = 'register-entry' and d.record_id = e.record_id and d.from_offset <= ends.opens
  and (d.to_offset is null or d.to_offset > ends.opens) offset 0) opening on true
left join lateral (select d.body::json ->> 'units' as units from bursar.document d
  where d.collection = 'register-entry' and d.record_id = e.record_id and d.from_offset <= ends.closes
  and (d.to_offset is null or d.to_offset > ends.closes) offset 0) closing on true
left join lateral (
  select d.body::json ->> 'price' as price, d.filters ->> 'valuationTime' as at
  from bursar.document d where d.collection = 'price-point' and d.to_offset is null
  and d.filters ->> 'instrumentId' = e.id and d.filters ->> 'source' = i.m ->> 'oracle'
  and d.filters ->> 'valuationTime' < $3 order by d.filters ->> 'valuationTime' desc limit 1) p on true
left join lateral (
  select d.body::json -> 'manifest' -> 'distribution' ->> 'payout' as payout from bursar.document d
  where d.collection = 'policy-version' and d.to_offset is null
  and d.filters ->> 'instrumentId' = e.id order by d.sort_key desc limit 1) v on true`

/** Movements of a month in their order. Parameters: as of \`month\`. */
export const movements = `
with ${holder}
select d.body from holder, lateral (
  select d.body, d.sort_key from bursar.document d
  where d.collection = 'party-movement' and d.to_offset is null
  and d.filters ->> 'party' = holder.party
  and d.sort_key > lpad(coalesce(${before("$2")}, 0)::text, 16, '0') || ';'
  and d.sort_key < lpad(coalesce(${before("$3")}, 0)::text, 16, '0') || ';'
  order by d.sort_key offset 0) d
order by d.sort_key`

export interface MonthRow {
  readonly instrumentId: string
  readonly payout: string | null
  readonly ledger_time: string
}

interface Movement extends Readonly<Record<string, unknown>> {
  readonly instrumentId: string
  readonly to: string | null
  readonly party: string
  readonly units: string
}

/** Shapes the month as it is printed. */
export const monthOf = (
  period: { readonly month: string; readonly graceEnd: string },
  rows: ReadonlyArray<MonthRow>,
  moved: ReadonlyArray<{ readonly body: string }>
) => {
  const byInstrument = Map.groupBy(
    moved.map(({ body }): Movement => JSON.parse(body)),
    ({ instrumentId }) => instrumentId
  )
  return {
    month: period.month,
    zone: "UTC",
    final: rows.every(({ ledger_time }) => ledger_time > period.graceEnd),
    instruments: rows.map(({ ledger_time: _, payout: __, ...row }) => {
      const movements = byInstrument.get(row.instrumentId) ?? []
      return {
        ...row,
        movements: movements.map(
          ({ seq, at, ledgerTime, kind, units, to, party, balanceAfter, reference }) => ({
            ...{ seq, at, ledgerTime, kind, units: to === party ? units : `-${units}` },
            ...{ balanceAfter, reference }
          })
        ),
        movementCount: movements.length
      }
    })
  }
}

const figures = ["gross", "equalisation", "withheld", "net"] as const

/** A figure of a payment, with the sums of its row and of all in its currency. */
const columnsOf = (figure: string) => `l.${figure}::text,
  (sum(l.${figure}) over of_row)::text as "${figure}OfRow",
  (sum(l.${figure}) over of_all)::text as "${figure}OfAll"`

/**
 * Payments of a year with currency, income code and exemption, the sums of their row and of all.
 * Parameters: the holder's id and the year.
 */
export const tax = `
with ${holder},
line as materialized (
  select b.*, p."instrumentId" || ':' || p."policyVersion" as version
  from generate_series(-1, 13) n
  cross join lateral (
    select d.body from bursar.document d
    where d.collection = 'distribution-line' and d.to_offset is null and d.filters ->> 'paidIn' =
      $1 || ' ' || to_char(make_date($2::int4, 1, 1) + n * interval '1 month', 'YYYY-MM') offset 0) d
  cross join lateral json_to_record(d.body::json) as b("instrumentId" text, "distributionId" text,
    "lineId" text, "holderId" text, "paidOn" text, rate text,
    ${figures.map((figure) => `${figure} numeric`).join(", ")})
  cross join lateral ${open("distribution", 'b."distributionId"')} paying
  cross join lateral json_to_record(paying.body::json)
    as p("instrumentId" text, "policyVersion" text)
  where b."paidOn" >= $2 || '-01-01' and b."paidOn" <= $2 || '-12-31'),
instrument as materialized (
  select asked.id, d.body::json -> 'manifest' ->> 'currency' as currency
  from (select distinct "instrumentId" as id from line) asked
  cross join lateral ${open("instrument", "asked.id")} d),
policy as materialized (
  select asked.id, d.body::json -> 'manifest' -> 'distribution' ->> 'incomeCode' as code
  from (select distinct version as id from line) asked
  cross join lateral ${open("policy-version", "asked.id")} d)
select l."instrumentId", i.currency, c.code, x.exemption, l.rate, l."distributionId", l."lineId",
  l."holderId", l."paidOn",
  ${figures.map(columnsOf).join(",\n  ")}
from line l join instrument i on i.id = l."instrumentId" join policy c on c.id = l.version
cross join lateral (select (select a ->> 'value' from holder, jsonb_array_elements(holder.b -> 'attributes') a
  where a ->> 'name' = 'tax-exemption' limit 1) as exemption) x
window of_row as (partition by l."instrumentId", c.code, x.exemption, l.rate),
  of_all as (partition by i.currency)
order by i.currency, l."instrumentId", c.code, x.exemption, l.rate, l."paidOn", l."lineId"`

export type TaxLine = Readonly<Record<(typeof figures)[number] | "lineId", string>> &
  Readonly<Record<string, string | null>>

/** The sum of a figure, and how it comes about: the lines that it adds up. */
const basisOf = (lines: ReadonlyArray<TaxLine>, at: string, rows: "Row" | "All") =>
  figures.map((figure) => {
    const inputs = lines.map((line) => ({
      ...{ name: figure, value: line[figure], resourceKind: "distribution-line" },
      ...{ id: line.lineId, offset: 1 }
    }))
    const op = `${figure} = ${lines.map((line) => line[figure]).join(" + ")}`
    const steps = [{ op, places: 10, rounding: "floor", value: lines[0]?.[`${figure}Of${rows}`] }]
    return { field: `${at}.${figure}`, formula: "tax-sum", inputs, steps }
  })

const amountsOf = (line: TaxLine | undefined, rows: "Row" | "All") =>
  Object.fromEntries(figures.map((figure) => [figure, line?.[`${figure}Of${rows}`] ?? "0"]))

/** Shapes the statement of a year as it is printed, with the basis of each figure. */
export const taxOf = (lines: ReadonlyArray<TaxLine>) => {
  const basis: Array<unknown> = []
  const currencies = [...Map.groupBy(lines, ({ currency }) => currency)].map(
    ([currency, all], nth) => {
      const at = `currencies.${nth}`
      const keyOf = (line: TaxLine) =>
        [line["instrumentId"], line["code"], line["exemption"], line["rate"]].join(" ")
      const rows = [...Map.groupBy(all, keyOf).values()].map((lines, place) => {
        basis.push(...basisOf(lines, `${at}.rows.${place}`, "Row"))
        const [first] = lines
        return {
          instrumentId: first?.["instrumentId"],
          incomeCode: first?.["code"],
          chapter: null,
          exemptionCode: first?.["exemption"],
          rate: first?.["rate"],
          ...amountsOf(first, "Row"),
          repaid: "0",
          payments: lines.map(
            ({ distributionId, lineId, holderId, paidOn, gross, equalisation, withheld, net }) => ({
              ...{ holderId, distributionId, lineId, paidOn, gross, equalisation, withheld, net }
            })
          )
        }
      })
      // Whole units are sums too, rounded, each with its lines.
      basis.push(...basisOf(all, `${at}.totals`, "All"), ...basisOf(all, `${at}.wholeUnits`, "All"))
      const totals = amountsOf(all[0], "All")
      const wholeUnits = Object.fromEntries(
        Object.entries(totals).map(([figure, sum]) => [figure, Number(sum).toFixed(0)])
      )
      return { currency, rows, totals: { ...totals, repaid: "0" }, wholeUnits }
    }
  )
  return { version: 1, corrects: null, currencies, disposals: [], transfersOut: [], basis }
}
