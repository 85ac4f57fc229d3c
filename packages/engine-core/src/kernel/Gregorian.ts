/** The proleptic Gregorian calendar as counting: days since 1970-01-01, years 0001 to 9999. */

export interface Civil {
  readonly year: number
  readonly month: number
  readonly day: number
}

/** The day's count since 1970-01-01, which is 0. Years are shifted to start in March. */
export const toEpochDay = ({ year, month, day }: Civil): number => {
  const y = month > 2 ? year : year - 1
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

export const fromEpochDay = (epochDay: number): Civil => {
  const shifted = epochDay + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  }
}

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeapYear = (year: number): boolean =>
  year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** Number of days of the month; 0 for a month outside 1 to 12. */
export const lengthOfMonth = (month: { readonly year: number; readonly month: number }): number =>
  month.month === 2 && isLeapYear(month.year) ? 29 : (LENGTHS[month.month - 1] ?? 0)

export const isDay = ({ year, month, day }: Civil): boolean =>
  year >= 1 && year <= 9999 && day >= 1 && day <= lengthOfMonth({ year, month })

export const EPOCH_DAY_MIN = toEpochDay({ year: 1, month: 1, day: 1 })
export const EPOCH_DAY_MAX = toEpochDay({ year: 9999, month: 12, day: 31 })

export const digits = (value: number, width: number): string =>
  value.toString().padStart(width, "0")
