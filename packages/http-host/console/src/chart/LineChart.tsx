/** A line over time, drawn; its figures stand as text in the table beside it. */
import { Figure } from "../kit/Values.tsx"
import { type ChartPoint, drawnOf, height, width } from "./Line.ts"

export const LineChart = ({
  name,
  points
}: {
  readonly name: string
  readonly points: ReadonlyArray<ChartPoint>
}) => {
  const { least, most, paths } = drawnOf(points)
  if (least === null || most === null) return <p class="none">No figure in this time.</p>
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={name}
        preserveAspectRatio="none"
      >
        {paths.map((path, at) => (
          <path key={at} d={path} />
        ))}
      </svg>
      <figcaption class="fine">
        least <Figure value={least} />, most <Figure value={most} />
      </figcaption>
    </figure>
  )
}
