/**
 * Hand-written SQL of the bench: one statement that answers what the view of a reserve at par does, with the
 * figures of each asset and how each was computed. It holds where every asset has a price that counts and a
 * cap, and no cap binds what may be minted.
 */
export interface Figures {
  readonly required: number
  readonly counted: number
  readonly ratio: number | null
  readonly cover: string
  readonly mintable: number
  readonly supply: number
  readonly openOrders: number
  readonly assets: ReadonlyArray<{ readonly value: number; readonly counted: number }>
}

/** Texts of the answer: `Figures`, and the basis of each asset's figures and of those of the reserve. */
export interface Row {
  readonly figures: string
  readonly basis: string
}

/** Input of a basis, read from the reserve unless another record is named. */
const input = (name: string, value: string, kind = "'reserve'", id = "r.id") =>
  `json_build_object('name', '${name}', 'value', ${value}, 'resourceKind', ${kind}, 'id', ${id}, 'offset', $2::int8)`

/** Basis of one figure, whose steps each have a text, places, rounding and result. */
const basis = (entry: {
  readonly field: string
  readonly formula: string
  readonly inputs: string
  readonly steps: ReadonlyArray<
    readonly [op: string, places: number, rounding: string, value: string]
  >
}) =>
  `json_build_object('field', ${entry.field}, 'formula', '${entry.formula}', 'inputs', ${entry.inputs}, 'steps',
    json_build_array(${entry.steps
      .map(
        ([op, places, rounding, value]) =>
          `json_build_object('op', ${op}, 'places', ${places}, 'rounding', '${rounding}', 'value', ${value})`
      )
      .join(", ")}))`

const plain = (term: string) => `trim_scale(${term})::text`
const places = (term: string, count: number) => `trunc(${term}, ${count})::text`

/** Inputs of a formula over all assets: one list of amounts after another. */
const lists = (names: Readonly<Record<string, string>>, others: ReadonlyArray<string>) =>
  `(select json_agg(v order by k, i) from (
    ${Object.entries(names)
      .map(
        ([name, column], k) =>
          `select ${k} as k, i, ${input(name, plain(column), "'reserve'", "r.id || ':' || admin || '/' || asset_id")} as v from counted, r`
      )
      .join(" union all ")}
    ${others.map((other, n) => `union all select 9, ${n}, ${other} from r`).join(" ")}) l)`

const outstanding = input("outstanding", plain("r.outstanding"))
const par = input("parValue", plain("r.par"))
const minCover = input("minCover", plain("r.min_cover"))
const currency = input("currencyDecimals", "'2'")
const decimals = input("decimals", "r.decimals::text")

/** Inputs of the exact requirement, of which a cap is a part. */
const ofRequired = [minCover, outstanding, currency, par].join(", ")

const capped = {
  cappedUnits: "units",
  cappedPrice: "price",
  cappedHaircut: "haircut",
  cappedShare: "share"
}
const free = { freeUnits: "units", freePrice: "price", freeHaircut: "haircut" }

const sumOfCapped = `(select string_agg(format('min(%s * %s * (1 - %s), %s * %s * %s * %s)', ${[
  ...["units", "price", "haircut", "share", "r.min_cover", "r.outstanding", "r.par"].map(plain)
].join(", ")}), ', ' order by i) from counted)`
const sumOfFree = `(select string_agg(format('%s * %s * (1 - %s)', ${[
  ...["units", "price", "haircut"].map(plain)
].join(", ")}), ', ' order by i) from counted)`

const capStep = [
  `'cap = maxShare * minCover * outstanding * parValue = ' || concat_ws(' * ', ${[
    "share",
    "r.min_cover",
    "r.outstanding",
    "r.par"
  ]
    .map(plain)
    .join(", ")})`,
  2,
  "floor",
  places("cap", 2)
] as const

const ofCounted =
  "sum(freeUnits * freePrice * (1 - freeHaircut)) + sum(min(cappedUnits * cappedPrice * (1 - cappedHaircut), cappedShare * minCover * outstanding * parValue))"

export const view = `
with kept as (
  select record_id as id, body::jsonb as b from bursar.document
  where collection = 'reserve' and record_id = $1 and to_offset is null),
asset as (
  select n - 1 as i, t -> 'asset' ->> 'admin' as admin, t -> 'asset' ->> 'id' as asset_id,
    t ->> 'priceSource' as source, (t ->> 'haircut')::numeric as haircut,
    (t ->> 'maxShare')::numeric as share, (l ->> 'amount')::numeric as units
  from kept, jsonb_array_elements(b -> 'terms' -> 'assets') with ordinality as terms(t, n)
  left join jsonb_array_elements(b -> 'locked') as l on l -> 'asset' = t -> 'asset'),
priced as (
  select a.*, (q.body::jsonb ->> 'price')::numeric as price, q.body::jsonb ->> 'valuationTime' as priced_at,
    q.body::jsonb ->> 'contractId' as point
  from asset a join bursar.document q on q.collection = 'asset-quote' and q.to_offset is null
    and q.record_id = a.source || '/' || a.admin || '/' || a.asset_id),
r as (
  select k.id, k.b, (b ->> 'outstanding')::numeric as outstanding, (b ->> 'parValue')::numeric as par,
    (b -> 'terms' ->> 'minCover')::numeric as min_cover, (b ->> 'decimals')::int as decimals,
    (b -> 'terms' ->> 'minCover')::numeric * (b ->> 'outstanding')::numeric
      * (b ->> 'parValue')::numeric as required,
    coalesce((select (s.body::jsonb ->> 'units')::numeric from bursar.document s
      where s.collection = 'supply' and s.to_offset is null
      and s.record_id = (b ->> 'issuer') || '/' || (b ->> 'instrumentId')), 0) as supply
  from kept k),
counted as (
  select p.*, units * price * (1 - haircut) as exact, trunc(units * price * (1 - haircut), 2) as value,
    trunc(share * r.required, 2) as cap
  from priced p, r),
summed as (
  select sum(least(exact, share * r.required)) as counted, sum(exact) as free from counted, r)
select (r.b || jsonb_build_object(
  'required', r.required, 'counted', trunc(s.counted, 2), 'supply', r.supply,
  'ratio', trunc(s.counted / (r.outstanding * r.par), 10),
  'cover', case when s.counted >= r.required then 'covered' else 'low' end,
  'mintable', trunc(greatest(0, s.free / (r.min_cover * r.par) - r.outstanding), r.decimals),
  'openOrders', (select count(*) from bursar.document o where o.to_offset is null
    and o.collection in ('mint', 'reserve-redemption')
    and o.filters @> jsonb_build_object('openOf', r.id)),
  'liveAmendment', (select max(m.record_id) from bursar.document m where m.to_offset is null
    and m.collection = 'amendment' and m.filters ->> 'reserveId' = r.id
    and m.filters ->> 'state' in ('proposed', 'accepted')),
  'assets', (select jsonb_agg(jsonb_build_object('units', units, 'price', price, 'pricedAt', priced_at,
    'pointCid', point, 'fresh', true, 'value', value, 'cap', cap, 'counted', least(value, cap))
    order by i) from counted)))::text as figures,
  json_build_array(
    (select json_agg(json_build_array(
      ${basis({
        field: "'assets.' || i || '.value'",
        formula: "reserve-value",
        inputs: `json_build_array(${input("units", plain("units"))}, ${input("price", plain("price"), "'contract'", "point")},
          ${input("haircut", plain("haircut"))}, ${input("freshness", "'fresh'", "'contract'", "point")}, ${currency})`,
        steps: [
          [
            `'value = (units * price * (1 - haircut) since freshness is fresh) = ' || format('(%s * %s * (1 - %s) since fresh)', ${plain("units")}, ${plain("price")}, ${plain("haircut")})`,
            2,
            "floor",
            places("exact", 2)
          ]
        ]
      })},
      ${basis({
        field: "'assets.' || i || '.cap'",
        formula: "reserve-cap-par",
        inputs: `json_build_array(${input("maxShare", plain("share"))}, ${ofRequired})`,
        steps: [capStep]
      })},
      ${basis({
        field: "'assets.' || i || '.counted'",
        formula: "reserve-cap-par",
        inputs: `json_build_array(${input("value", plain("value"))}, ${input("maxShare", plain("share"))}, ${ofRequired})`,
        steps: [
          capStep,
          [
            `format('counted = min(value, cap) = min(%s, %s)', ${places("value", 2)}, ${places("cap", 2)})`,
            2,
            "floor",
            places("least(value, cap)", 2)
          ]
        ]
      })}) order by i) from counted),
    ${basis({
      field: "'required'",
      formula: "reserve-cover-par",
      inputs: `json_build_array(${outstanding}, ${par}, ${minCover}, ${currency})`,
      steps: [
        [
          `format('required = minCover * outstanding * parValue = %s * %s * %s', ${plain("r.min_cover")}, ${plain("r.outstanding")}, ${plain("r.par")})`,
          2,
          "ceiling",
          places("r.required", 2)
        ]
      ]
    })},
    ${basis({
      field: "'counted'",
      formula: "reserve-cover-par",
      inputs: lists(capped, [outstanding, par, minCover, currency]),
      steps: [
        [
          `'counted = ${ofCounted} = sum() + sum(' || ${sumOfCapped} || ')'`,
          2,
          "floor",
          places("s.counted", 2)
        ]
      ]
    })},
    ${basis({
      field: "'cover.ratio'",
      formula: "reserve-cover-par",
      inputs: lists(capped, [outstanding, par, minCover]),
      steps: [
        [
          `'ratio = ((${ofCounted}) / (outstanding * parValue) since outstanding * parValue > 0) = ((sum() + sum(' || ${sumOfCapped} || ')) / (' || ${plain("r.outstanding")} || ' * ' || ${plain("r.par")} || ') since ' || ${plain("r.outstanding")} || ' * ' || ${plain("r.par")} || ' > 0)'`,
          10,
          "floor",
          places("s.counted / (r.outstanding * r.par)", 10)
        ]
      ]
    })},
    ${basis({
      field: "'mintable'",
      formula: "mintable-par",
      inputs: lists(free, [minCover, outstanding, decimals, par]),
      steps: [
        [
          `'mintable = max(0, sum(freeUnits * freePrice * (1 - freeHaircut)) / (1 - sum(bindingShare)) / (minCover * parValue) - outstanding) = max(0, sum(' || ${sumOfFree} || ') / (1 - sum()) / (' || ${plain("r.min_cover")} || ' * ' || ${plain("r.par")} || ') - ' || ${plain("r.outstanding")} || ')'`,
          6,
          "floor",
          places("greatest(0, s.free / (r.min_cover * r.par) - r.outstanding)", 6)
        ]
      ]
    })}
  )::text as basis
from r, summed s`
