/** Points of a line as a chart draws them: the one place where a figure becomes a float, for its height alone. */

/** A point: its instant as text, its figure as text; null: there is none. */
export interface ChartPoint {
  readonly at: string
  readonly value: string | null
}

export interface DrawnLine {
  /** Stretches of the line; a point without a figure breaks it. */
  readonly paths: ReadonlyArray<string>
  /** Texts of the least and the greatest figure; null: there is no figure. */
  readonly least: string | null
  readonly most: string | null
}

export const width = 640
export const height = 140
const margin = 6

/** Line through points at equal steps, scaled to its own least and greatest figure. */
export const drawnOf = (points: ReadonlyArray<ChartPoint>): DrawnLine => {
  const figures = points.flatMap(({ value }) =>
    value === null ? [] : [{ text: value, size: Number(value) }]
  )
  const [first] = figures
  if (first === undefined) return { paths: [], least: null, most: null }
  const least = figures.reduce((low, one) => (one.size < low.size ? one : low), first)
  const most = figures.reduce((high, one) => (one.size > high.size ? one : high), first)
  const span = most.size - least.size
  const x = (at: number): string =>
    (points.length === 1
      ? width / 2
      : margin + (at / (points.length - 1)) * (width - 2 * margin)
    ).toFixed(1)
  const y = (size: number): string =>
    (span === 0
      ? height / 2
      : height - margin - ((size - least.size) / span) * (height - 2 * margin)
    ).toFixed(1)
  const paths: Array<string> = []
  let open = ""
  points.forEach(({ value }, at) => {
    if (value === null) {
      if (open !== "") paths.push(open)
      open = ""
      return
    }
    // A point alone is drawn as a short dash.
    open += open === "" ? `M${x(at)} ${y(Number(value))}h0.1` : `L${x(at)} ${y(Number(value))}`
  })
  if (open !== "") paths.push(open)
  return { paths, least: least.text, most: most.text }
}
